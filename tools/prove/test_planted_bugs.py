# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test that all tests and files named by the mutation tools exist.

``make planted``, ``make mutants`` and ``make sanitize`` require much time. These tests
immediately detect renamed tests and patches that no longer apply.
"""

import ast
import shutil
import subprocess

import pytest

from tools import ROOT
from tools.generate.promises import missing_part
from tools.prove.cursor_mutants import EQUIVALENT, TESTS, plant
from tools.prove.engine_copy import bugs
from tools.prove.sanitize import LEFT_OUT

BUGS = {bug.patch.stem: bug for bug in bugs()}


def split_arguments(bug):
    """Return the tests of a bug, and the expression of ``-k`` or ""."""
    tests, _, word = bug.arguments.partition(" -k ")
    return tests.split(), word


@pytest.mark.parametrize("name", [n for n in BUGS if BUGS[n].harness == "pytest"])
def test_a_bug_is_noticed_by_tests_that_exist(name):
    """The tests of a bug exist. Their files contain the word that ``-k`` selects."""
    tests, word = split_arguments(BUGS[name])
    assert tests
    assert not [missing for test in tests if (missing := missing_part(test))]
    sources = [ROOT / test.partition("::")[0] for test in tests]
    assert all(word in source.read_text(encoding="utf-8") for source in sources)


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_can_be_planted(name, tmp_path):
    """The patch of a bug applies without fuzz to the files of this tree."""
    patch = BUGS[name].patch
    for line in patch.read_text(encoding="utf-8").splitlines():
        if line.startswith("+++ b/"):
            target = tmp_path / line.removeprefix("+++ b/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / line.removeprefix("+++ b/"), target)
    command = ["patch", "-p1", "--fuzz=0", "--batch", "-i", str(patch)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_mutants_are_tried_by_tests_that_exist():
    """Every test file and test function in ``TESTS`` exists."""
    tests = {test for chosen in TESTS.values() for test in chosen}
    assert not [missing for test in tests if (missing := missing_part(test))]


def test_every_listed_file_has_mutants_and_every_equivalent_mutant_exists():
    """All listed files contain comparisons that can be mutated.

    Every mutant in ``equivalent_mutants.txt`` still exists.
    """
    texts, mutants = plant()
    assert {mutant.path for mutant in mutants} == TESTS.keys()
    assert all("kwire_mutant ==" in texts[str(path)] for path in TESTS)
    assert {mutant.key for mutant in mutants} >= EQUIVALENT


def test_the_sanitizers_leave_out_tests_that_exist():
    """Each excluded test exists. A test that has moved would run and fail."""
    assert not [missing for test in LEFT_OUT if (missing := missing_part(test))]


def test_the_sanitizers_leave_out_tests_that_bound_time():
    """Tests with time limits are excluded.

    The sanitizers slow the tests down, especially on a busy machine.
    """
    bounding = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            if isinstance(node, ast.FunctionDef) and "least_seconds" in names:
                bounding.append((str(path.relative_to(ROOT)), node.name))
    assert len(bounding) > 3
    assert not [
        f"{path}::{name}"
        for path, name in bounding
        if not {path, f"{path}::{name}"} & LEFT_OUT.keys()
    ]
