# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Looks for races of threads on a free-threaded CPython.

The tests in which threads share messages, classes and columns run again and again for
``--minutes``. With ``--sanitize`` CPython and the engine are compiled with
ThreadSanitizer, which reports two accesses to memory that nothing orders, and the tests
run once. A report on an access of the engine fails; others are CPython's own, and are
counted.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tools.platforms import platforms, sources
from tools.platforms.roots import WORK

# Plain Python has no races that are not CPython's.
TESTS = ("tests/safety/test_threads.py", "-k", "fast")
# It takes ten times as long and needs no luck: two accesses are enough for a report.
SANITIZED_ROUNDS = "4"
# The C of the engine in a frame of a report.
ENGINE = re.compile(r"/_engine/fast/\w+\.c:")
REPORT = re.compile(r"^WARNING: ThreadSanitizer: .*?^={18}$", re.M | re.S)
# Where the two accesses of a report were, the innermost frames first.
ACCESS = re.compile(r"^  \S.* of size .*\n((?:    #\d+ .*\n)+)", re.M)
# A frame of CPython above so many others of the engine is the engine's to answer for:
# it passed what CPython read.
DEPTH = 3


class Races:
    """A free-threaded CPython and the engine for it."""

    def __init__(self, is_sanitized: bool) -> None:
        """Compile both, where that is not done yet."""
        one = next(each for each in platforms.PLATFORMS if each.name == "python3.13t")
        name = "3.13t-sanitized" if is_sanitized else "3.13t"
        self.python = sources.build(name)
        self.tree = platforms.copy_tree(f"races-{name}")
        self.reports = WORK / f"races-{name}"
        self.reports.mkdir(exist_ok=True)
        options = ["-fsanitize=thread", "-g"] if is_sanitized else []
        headers = [platforms.find_headers(self.python)]
        platforms.compile_engine(self.tree, "gcc", headers, *options)
        wheels, _ = platforms.install_wheels(one, False)
        plain = platforms.install_plain()
        paths = (
            [self.tree / "src", plain]
            if is_sanitized
            else [self.tree / "src", wheels, plain]
        )
        suppressions = self.python.parents[1] / Path(sources.SUPPRESSIONS).name
        rounds = {"KWIRE_THREAD_ROUNDS": SANITIZED_ROUNDS} if is_sanitized else {}
        self.environment = rounds | {
            "KWIRE_BACKEND": "fast",
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHON_GIL": "0",
            "TSAN_OPTIONS": f"log_path={self.reports}/report:exitcode=0:"
            f"suppressions={suppressions}:history_size=4",
        }

    def run(self) -> int:
        """Run the tests once; return how many passed."""
        done = subprocess.run(
            [self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS],
            cwd=self.tree,
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        found = re.search(r"(\d+) passed", done.stdout)
        if done.returncode or not found:
            sys.exit(f"{done.stdout[-4000:]}\nended with {done.returncode}")
        return int(found.group(1))

    def read_reports(self) -> tuple[list[str], int]:
        """Return the reports on the engine, and how many there are on CPython alone."""
        every = [
            report
            for path in sorted(self.reports.glob("report.*"))
            for report in REPORT.findall(path.read_text(errors="replace"))
        ]
        ours = [report for report in every if is_ours(report)]
        return ours, len(every) - len(ours)


def is_ours(report: str) -> bool:
    """Whether the engine made one of the two accesses, or called what made it."""
    return any(
        ENGINE.search("\n".join(frames.splitlines()[:DEPTH]))
        for frames in ACCESS.findall(report)
    )


def main() -> int:
    """Run the tests until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=0, help="again for so long")
    parser.add_argument("--sanitize", action="store_true", help="by ThreadSanitizer")
    asked = parser.parse_args()
    races = Races(asked.sanitize)
    for path in races.reports.glob("report.*"):
        path.unlink()
    end = time.monotonic() + 60 * asked.minutes
    runs = passed = 0
    while not runs or time.monotonic() < end:
        passed += races.run()
        runs += 1
    print(f"{passed:,} tests passed in {runs} runs")
    if asked.sanitize:
        ours, others = races.read_reports()
        print(*ours, sep="\n")
        print(f"{len(ours)} reports on the engine, {others} on CPython alone")
        return 1 if ours else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
