# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests on a copy of the tree without the compiled engine.

Only tests that compare the two engines may be left out there, and those that a newer
Python runs; ``--record`` notes how many ran.
"""

from __future__ import annotations

import argparse
import re
import sys

from tools.generate.promises import Figure, record
from tools.prove.engine_copy import Copy

ONE_ENGINE = "this build has one engine"
NEWER_PYTHON = "work from CPython"
SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] (.*)$", re.MULTILINE)
PASSED = re.compile(r"\b(\d+) passed")
SUITE = ("-m", "pytest", "-q", "--numprocesses", "2", "--dist", "loadscope")
LEAST = 7_500


def main() -> int:
    """Run the suite, and count what passed and what was left out."""
    parser = argparse.ArgumentParser(description="The tests with no compiled engine")
    parser.add_argument("--record", action="store_true", help="note the figures")
    asked = parser.parse_args()
    copy = Copy("pure", "KWIRE_BUILD_PURE")
    copy.refresh()
    done = copy.run(
        [*SUITE, "--no-loadscope-reorder", "-p", "no:cacheprovider"],
        log=copy.root / "suite.txt",
    )
    print(done.stdout[done.stdout.rfind("=== short") :])
    if done.returncode:
        print(done.stdout[-6000:])
        return 1
    skipped = [(int(count), why) for count, why in SKIPPED.findall(done.stdout)]
    twins = sum(count for count, why in skipped if ONE_ENGINE in why)
    others = sum(
        count
        for count, why in skipped
        if ONE_ENGINE not in why and NEWER_PYTHON not in why
    )
    counted = PASSED.search(done.stdout)
    passed = int(counted.group(1)) if counted else 0
    rows = [
        ("tests passed with nothing compiled", passed, LEAST, None),
        ("tests that compare engines, left out", twins, None, None),
        ("other tests skipped", others, None, 0),
    ]
    figures = [
        Figure("P20", what, count, "make pure", least, most)
        for what, count, least, most in rows
    ]
    for figure in figures:
        print(figure.text())
    if asked.record:
        record("pure", figures)
    return 0 if all(figure.is_kept() for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
