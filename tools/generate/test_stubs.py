# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test that the generator of ``messages.pyi`` reports an outdated stub."""

import subprocess
import sys

from tools import ROOT
from tools.generate.stubs import STUB


def run_tool(*arguments):
    """Run ``tools.generate.stubs`` with arguments. Returns the completed process."""
    command = [sys.executable, "-m", "tools.generate.stubs", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_the_stub_is_what_the_definitions_say():
    """The check also fails if someone changes a definition and forgets the stub."""
    done = run_tool("--check")
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_stale_stub_is_told_by_its_first_wrong_line(tmp_path):
    """The check fails for a changed type, a missing last part, and a missing file."""
    lines = STUB.read_text().splitlines(keepends=True)
    number = next(
        n for n, line in enumerate(lines) if "throttle_time_ms: Final" in line
    )
    copy = tmp_path / "messages.pyi"
    changed = lines[number].replace("int", "str")
    for stale in (
        [*lines[:number], changed, *lines[number + 1 :]],
        lines[:number],
    ):
        copy.write_text("".join(stale))
        done = run_tool("--check", "--output", str(copy))
        assert done.returncode == 1
        assert f"messages.pyi is stale from line {number + 1}:" in done.stderr
        assert "run python -m tools.generate.stubs" in done.stderr
    copy.unlink()
    assert "stale from line 1:" in run_tool("--check", "--output", str(copy)).stderr
    assert run_tool("--output", str(copy)).returncode == 0
    assert copy.read_text() == STUB.read_text()
