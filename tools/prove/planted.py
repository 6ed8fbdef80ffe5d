# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Plant known bugs in a tree copy, and run the tests that must fail.

The header of every patch in ``tools/prove/bugs`` describes the bug and the harness that
detects it. All harnesses must first pass on an unmodified copy of the tree. Then every
patch is applied, its harness must fail, and the patch is reverted. Every promise in
SECURITY.md requires a patch that verifies it. ``--only`` selects patches by name.
``--go-on`` skips bugs that the previous run has detected, if the tree has not changed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from tools import ROOT
from tools.generate.promises import PROMISES, Figure, figures, record
from tools.prove.breaks import PYTEST, Change, name_failure, try_changes
from tools.prove.engine_copy import PLANTED, Bug, Copy, bugs
from tools.prove.sanitize import Sanitized

OTHERS = {"sanitizer": "tools.prove.sanitize", "clock": "benchmarks"}
"""Module or directory of the harnesses that patches refer to by one word."""

INPUTS = {"KWIRE_HOSTILE_INPUTS": "50000"}

CLOCK = """
import sys
import kwire
from benchmarks.safety import linear
linear.SIZES[:] = [32_000, 64_000, 128_000]
first, _, last = linear.curve(kwire, sys.argv[1])
growth = (last / first) ** 0.5
print(f"{growth:.2f} times as long for twice the input")
sys.exit(growth > 2.3)
"""
"""``python -m benchmarks safety time`` with its bound, for one family and few sizes."""

WITHOUT_A_PATCH = {
    "P18": "this tool is its harness, and so are mutants, which are planted bugs too;"
    " coverage takes a quarter of an hour; test_unreached_lines.py is what it found",
}
"""Reasons why no patch breaks a promise, by promise."""

STAND_INS = {
    "P4": "make interop needs Java; test_deviations.py asks the same of the same page",
    "P20": "make pure and make wheels run the whole suite; test_layers.py is in it",
}
"""Replacements for promises whose figures require more than a patch can run."""


def unshown(every: list[Bug], rows: list[Figure]) -> Iterator[str]:
    """Yield an error for each promise that no patch verifies.

    If a promise has figures, a patch must use the harness that recorded the figures.
    """
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8")
    for promise in PROMISES.keys() - WITHOUT_A_PATCH.keys():
        mine = [bug for bug in every if promise in bug.shows]
        if not mine:
            yield f"no patch shows {promise}: {PROMISES[promise]}"
            continue
        tests = {row.test for row in rows if row.promise == promise}
        if not tests or promise in STAND_INS:
            continue
        harnesses = {name for bug in mine for name in harnesses_of(bug)}
        if not any(recorded(test, recipes) & harnesses for test in tests):
            yield f"{promise} is shown by none of the harnesses that have its figures"
    for bug in every:
        for name in set(bug.shows) - PROMISES.keys():
            yield f"{bug.patch.name} shows {name}, which is no promise"


def harnesses_of(bug: Bug) -> set[str]:
    """Return the test files or the module that the harness of a bug uses."""
    if bug.harness == "pytest":
        return set(re.findall(r"[\w/]+\.py", bug.arguments))
    return {OTHERS.get(bug.harness, bug.harness)}


def recorded(test: str, recipes: str) -> set[str]:
    """Return the files and modules that a test or make target runs.

    ``recipes`` is the text of the Makefile.
    """
    if not test.startswith("make "):
        return {test.partition("::")[0]}
    recipe = re.search(rf"^{test[5:]}:.*\n((?:\t.*\n)+)", recipes, re.MULTILINE)
    return set(re.findall(r"[\w/]+\.py|(?<=-m )[\w.]+", recipe[1])) if recipe else set()


def command(bug: Bug) -> list[str]:
    """Return the arguments for Python that run the harness of a bug."""
    if bug.harness == "pytest":
        return [*PYTEST, *bug.arguments.split()]
    if bug.harness == "clock":
        return ["-c", CLOCK, bug.arguments]
    return ["-m", bug.harness, *bug.arguments.split()]


def change(copy: Copy, bug: Bug) -> Change:
    """Return the change that plants a bug in a copy and runs the bug's harness."""
    if isinstance(copy, Sanitized):
        return copy.change(bug)

    def judge(done: subprocess.CompletedProcess[str]) -> str:
        if bug.harness == "pytest" and done.returncode > 1:
            raise SystemExit(f"{bug.name}: the tests did not run\n{done.stdout}")
        return name_failure(done)

    plant = partial(copy.patched, bug)
    name = bug.patch.stem
    return Change(name, bug.name, [command(bug)], INPUTS, apply=plant, judge=judge)


def main() -> int:
    """Plant all bugs, or the bugs that ``--only`` names.

    Returns the exit code: 1 if a harness does not detect its bug.
    """
    parser = argparse.ArgumentParser(description="bugs that the harnesses must notice")
    parser.add_argument("--only", metavar="NAME", action="append", help="this one")
    parser.add_argument("--go-on", action="store_true", help="where the last run ended")
    parser.add_argument("--record", action="store_true", help="note the figures")
    asked = parser.parse_args()
    if asked.record and asked.only:
        parser.error("--record is for a run over all")
    every = bugs()
    names = {bug.patch.stem: bug for bug in every}
    if unknown := set(asked.only or ()) - names.keys():
        raise SystemExit(f"no patch {', '.join(sorted(unknown))} in {PLANTED.name}")
    if not asked.only and (lacking := sorted(unshown(every, figures()))):
        raise SystemExit("\n".join(lacking))
    chosen = [names[name] for name in asked.only or names]
    noticed: dict[str, str] = {}
    for copy in (Copy("planted", "KWIRE_BUILD_QUICK"), Sanitized()):
        is_sanitized = isinstance(copy, Sanitized)
        mine = [bug for bug in chosen if (bug.harness == "sanitizer") == is_sanitized]
        if mine:
            copy.refresh()
            copy.build()
            changes = [change(copy, bug) for bug in mine]
            noticed |= try_changes(copy, changes, asked.go_on)
    missed = [bug for bug in chosen if not noticed[bug.patch.stem]]
    print(f"{len(chosen) - len(missed)} planted bugs noticed, {len(missed)} not")
    if asked.record and not missed:
        text = "planted bugs noticed by the harness that has to"
        test = "make planted"
        record("planted", [Figure("P18", text, len(chosen), test, least=len(every))])
    return min(1, len(missed))


if __name__ == "__main__":
    sys.exit(main())
