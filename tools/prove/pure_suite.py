# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the tests in a tree copy without the compiled engine.

Only tests that compare both engines, and tests that require a newer Python, may be
skipped. ``--record`` stores the number of tests.
"""

from __future__ import annotations

import argparse
import re
import sys
from typing import NamedTuple

from tools.generate.promises import Figure, record
from tools.prove.engine_copy import Copy

ONE_ENGINE = "this build has one engine"
NEWER_PYTHON = "work from CPython"
SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] (.*)$", re.MULTILINE)
PASSED = re.compile(r"\b(\d+) passed")
SUITE = ("-m", "pytest", "-q", "--numprocesses", "2", "--dist", "loadscope")
LEAST = 7_500


class Counts(NamedTuple):
    """Numbers of tests in a run.

    * ``one_engine``: tests that were skipped because they compare both engines.
    * ``skipped``: tests that were skipped for an unexpected reason.
    """

    passed: int
    one_engine: int
    skipped: int


def count_tests(output: str) -> Counts:
    """Count the tests in the summary of ``pytest -rs``."""
    passed, skips = PASSED.search(output), SKIPPED.findall(output)
    one_engine = sum(int(count) for count, why in skips if ONE_ENGINE in why)
    expected = (ONE_ENGINE, NEWER_PYTHON)
    skipped = sum(
        int(count)
        for count, why in skips
        if not any(reason in why for reason in expected)
    )
    return Counts(int(passed[1]) if passed else 0, one_engine, skipped)


def main() -> int:
    """Run the tests without the compiled engine.

    Returns the exit code: 1 if a test fails or is skipped for an unexpected reason.
    """
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
    counts = count_tests(done.stdout)
    rows = [
        ("tests passed with nothing compiled", counts.passed, LEAST, None),
        ("tests that compare engines, left out", counts.one_engine, None, None),
        ("other tests skipped", counts.skipped, None, 0),
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
