# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Search for thread races with a free-threaded CPython.

Tests that share messages, classes and columns between threads are repeated for
``--minutes``. With ``--sanitize``, CPython and the engine are compiled with
ThreadSanitizer, and the tests run once. ThreadSanitizer reports unsynchronized memory
accesses. If the engine is responsible for a reported access, the program fails. Reports
that only involve CPython are counted.
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

# Test the fast engine only. A data race in the Python engine would be a race inside
# CPython.
TESTS = ("tests/safety/test_threads.py", "-k", "fast")
# ThreadSanitizer makes the tests ten times slower. It also reports accesses that do not
# collide in the run, so repetitions add little.
SANITIZED_ROUNDS = "4"
# Line of a stack frame in the generated C code of the engine.
ENGINE = re.compile(r"/_engine/fast/\w+\.c:")
REPORT = re.compile(r"^WARNING: ThreadSanitizer: .*?^={18}$", re.M | re.S)
# Stack frames of the two accesses in a report. The innermost frame is first.
ACCESS = re.compile(r"^  \S.* of size .*\n((?:    #\d+ .*\n)+)", re.M)
# Maximum number of inspected frames. If the engine calls CPython with an object and
# CPython accesses it, the engine is responsible for the access.
DEPTH = 3


class Races:
    """Free-threaded CPython, and an engine that is compiled for it."""

    def __init__(self, is_sanitized: bool) -> None:
        """Compile CPython and the engine, unless they are already compiled."""
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
        """Run the tests once. Returns the number of passed tests.

        Exits with the end of the output if a test fails.
        """
        done = subprocess.run(
            [self.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS],
            cwd=self.tree,
            env=os.environ | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        summary = re.search(r"(\d+) passed", done.stdout)
        if done.returncode or not summary:
            sys.exit(f"{done.stdout[-4000:]}\nended with {done.returncode}")
        return int(summary.group(1))

    def read_reports(self) -> tuple[list[str], int]:
        """Return the reports for which the engine is responsible.

        The second result is the number of reports that only involve CPython.
        """
        every = [
            report
            for path in sorted(self.reports.glob("report.*"))
            for report in REPORT.findall(path.read_text(errors="replace"))
        ]
        ours = [report for report in every if is_ours(report)]
        return ours, len(every) - len(ours)


def is_ours(report: str) -> bool:
    """Return whether the engine made an access, directly or through CPython.

    A report describes two accesses.
    """
    return any(
        ENGINE.search("\n".join(frames.splitlines()[:DEPTH]))
        for frames in ACCESS.findall(report)
    )


def main() -> int:
    """Repeat the tests until ``--minutes`` have passed.

    Returns the exit code: 1 if the engine has data races.
    """
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
