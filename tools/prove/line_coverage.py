# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the lines and branches of both engines that the tests execute.

Lines and branches are measured for the Python engine, and lines for the compiled
engine. A copy of the compiled engine is built with line tracing. Its lines are
determined from the trace calls in the generated C files, because coverage's own report
does not support ``.pxd`` files, which have no C file.

Some lines of ``.pxd`` and ``.pyx`` files are excluded: function headers, because a call
does not trace them, the first line after ``finally:``, because it is traced only if the
end of the ``try`` block is reached, and code that handles a failed allocation, because
the tracer would fail too.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import coverage

from tools import ROOT
from tools.generate.promises import Figure, record
from tools.prove.engine_copy import Copy

TREE = ROOT / "build" / "coverage"
PURE, FAST = "src/kwire/_engine/pure", "src/kwire/_engine/fast"
LEFT_OUT = (
    "spark",
    "jobs",
    "cli",
    "project/typing",
    "recording",
    "client/requests",
    "safety/faults",
    "log",
    "drafts",
    "connection/negotiation",
    "explain",
    "testing",
    "schema/test_releases.py",
    "safety/test_failing_allocations.py",
    "safety/test_single_allocations.py",
)
"""Tests that use the engines only through functions that other tests call directly."""
ALLOCATIONS = "tests/safety/test_failing_allocations.py"
"""Tests with failing allocations. The tracer also allocates, and may not survive."""
COUNTED = (
    "not (thread or nothing_grows or no_object or nothing_behind or memory "
    "or interpreter or linear or no_round)"
)
"""Tests that the tracer would disturb.

If tests count objects, measure time or switch threads quickly, they would measure the
tracer. In addition, the tracer hangs in a second interpreter.
"""
INPUTS = "50000"
"""Hostile input count, as in ``make test``. Tracing makes every input slower."""
SETTINGS = f"""\
[run]
plugins = Cython.Coverage
branch = true
source =
    {PURE}
    {FAST}
[report]
exclude_also =
    if TYPE_CHECKING:
"""

OUT_OF_MEMORY = re.compile(
    r"(raise MemoryError|return MemoryError\(\)|except MemoryError:|return NO_MEMORY"
    r"|(reason|outcome) = (AT_)?NO_MEMORY)$"
)
"""Lines that are reached only if an allocation fails. See ``is_untraced``."""

TRACE = re.compile(r" *__Pyx_TraceLine\(([0-9]+),")
PLACE = re.compile(r' */[*] +"kwire/_engine/fast/(.*)":([0-9]+)$')
HEAD = re.compile(r"^\s*(cdef|cpdef|def|class|\)|@)\b.*(\(|:)\s*$|^\s*\).*:$")


def build() -> None:
    """Build the engine with line tracing.

    The generated C files are copied next to their sources, from where the tool reads
    the traced lines.
    """
    copy = Copy("coverage", "KWIRE_BUILD_DEBUG")
    copy.refresh()
    copy.build()
    for path in (TREE / "build" / "cython" / FAST).glob("*.c"):
        shutil.copy2(path, TREE / FAST)
    (TREE / ".coveragerc").write_text(SETTINGS, encoding="utf-8")


def run_tests() -> int:
    """Run the tests with the tracer in the copy. Returns pytest's exit code."""
    ignored = [f"--ignore=tests/{name}" for name in LEFT_OUT]
    command = [sys.executable, "-m", "coverage", "run", "-m", "pytest", "-q"]
    command += ["-p", "no:randomly", "--durations=15", "-k", COUNTED, *ignored, "tests"]
    hostile = {"KWIRE_HOSTILE_INPUTS": INPUTS, "PYTHONPATH": f"src{os.pathsep}."}
    return subprocess.run(command, cwd=TREE, env=os.environ | hostile).returncode


def run_allocations() -> None:
    """Run the tests with failing allocations, each in its own traced process."""
    alone = os.environ | {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": f"src{os.pathsep}.",
    }
    listing = [sys.executable, "-m", "pytest", "--collect-only", "-q", ALLOCATIONS]
    done = subprocess.run(listing, cwd=TREE, env=alone, capture_output=True, text=True)
    tests = [line for line in done.stdout.splitlines() if "::" in line]
    traced = [sys.executable, "-m", "coverage", "run", "--parallel-mode"]

    def trace(test: str) -> None:
        # Ignore the exit code, because a failing allocation can hit the tracer instead.
        command = [*traced, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
        subprocess.run(command, cwd=TREE, env=alone, capture_output=True, timeout=300)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(trace, tests))


def lines_of_c_files() -> tuple[dict[str, set[int]], int]:
    """Return the traced lines of every Cython source from the generated C files.

    The second result is the number of excluded lines that handle failed allocations.
    """
    lines_by_source = defaultdict(set)
    for path in (TREE / FAST).glob("*.c"):
        source = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := PLACE.match(line):
                source = match[1]
            elif line.lstrip().startswith('/* "'):
                source = ""
            elif source and (match := TRACE.match(line)):
                lines_by_source[source].add(int(match[1]))
    answers = 0
    for source, numbers in lines_by_source.items():
        text = (TREE / FAST / source).read_text(encoding="utf-8").splitlines()
        answers += sum(
            OUT_OF_MEMORY.match(text[n - 1].strip()) is not None for n in numbers
        )
        numbers -= {n for n in numbers if n == 1 or is_untraced(text, n)}
    return lines_by_source, answers


def is_untraced(text: list[str], number: int) -> bool:
    """Return whether the tracer does not report the line when it is executed."""
    line, above = text[number - 1], text[number - 2].strip()
    is_answer = OUT_OF_MEMORY.match(line.strip()) is not None
    return above == "finally:" or is_answer or HEAD.match(line) is not None


def fast_lines(found: dict[str, set[int]]) -> tuple[int, int]:
    """Print the lines of the compiled engine that no test has reached.

    ``found`` contains the traced lines by source. Returns the reached and the total
    number of lines.
    """
    reached = total = 0
    paths = [TREE / ".coverage", *TREE.glob(".coverage.*")]
    runs = [coverage.CoverageData(str(path)) for path in paths]
    for run in runs:
        run.read()
    for source, numbers in sorted(found.items()):
        path = str(TREE / FAST / source)
        seen = {line for run in runs for line in run.lines(path) or ()}
        missed = sorted(numbers - seen)
        total += len(numbers)
        reached += len(numbers) - len(missed)
        text = (TREE / FAST / source).read_text(encoding="utf-8").splitlines()
        for number in missed:
            print(f"_engine/fast/{source}:{number}: {text[number - 1].strip()}"[:79])
    return reached, total


def pure_lines(measured: coverage.Coverage) -> tuple[int, int]:
    """Print the lines and branches of the Python engine that no test has reached.

    Returns the reached and the total number of lines and branches.
    """
    reached = total = 0
    for path in sorted((TREE / PURE).glob("*.py")):
        analysis = measured._analyze(str(path))
        numbers = analysis.numbers
        total += numbers.n_statements + numbers.n_branches
        reached += numbers.n_executed + numbers.n_executed_branches
        for number in sorted(analysis.missing):
            print(f"_engine/pure/{path.name}:{number}: never run")
        for number, targets in sorted(analysis.missing_branch_arcs().items()):
            goals = ", ".join(str(t) if t > 0 else "the end" for t in targets)
            print(f"_engine/pure/{path.name}:{number}: never goes on to {goals}")
    return reached, total


def main() -> int:
    """Run the tests, print the missed lines, and compare the totals with the promise.

    Returns the exit code: 1 if a test fails or the coverage is too low.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="note the figures")
    parser.add_argument("--report", action="store_true", help="of the last run, again")
    asked = parser.parse_args()
    if not asked.report:
        build()
        for path in TREE.glob(".coverage.*"):
            path.unlink()
        if run_tests():
            return 1
        run_allocations()
    os.chdir(TREE)
    measured = coverage.Coverage(config_file=".coveragerc")
    measured.load()
    lines_by_source, answers = lines_of_c_files()
    what = "lines of `_engine/fast` that answer a failing allocation, left out"
    rows = [Figure("P18", what, answers, "make coverage", most=60)]
    for what, (reached, wanted), least in (
        ("lines and branches of `_engine/pure`", pure_lines(measured), 100.0),
        ("lines of `_engine/fast`", fast_lines(lines_by_source), 98.0),
    ):
        percent = 100 * reached / wanted
        print(f"{what}: {reached:,} of {wanted:,}, {percent:.2f} %")
        rows.append(Figure("P18", what, percent, "make coverage", least, None, " %"))
    if asked.record:
        record("coverage", rows)
    return 0 if all(row.is_kept() for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
