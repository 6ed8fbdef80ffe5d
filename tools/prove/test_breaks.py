# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the loop over broken engine copies, using a copy that runs no commands."""

import contextlib
import subprocess

import pytest

from tools.prove.breaks import Change, name_failure, try_changes


class FakeCopy:
    """Copy whose harness fails while the change is applied."""

    def __init__(self, root):
        (root / "build").mkdir()
        self.root, self.is_broken, self.runs = root, False, 0

    def state(self):
        return "the same files"

    def run(self, command, environment, prefix):
        self.runs += 1
        fails = "blind" not in command and (self.is_broken or "KWIRE_X" in environment)
        return subprocess.CompletedProcess(
            command, int(fails), "FAILED tests/a.py::b\n"
        )

    @contextlib.contextmanager
    def broken(self):
        self.is_broken = True
        yield
        self.is_broken = False


@pytest.fixture
def copy(tmp_path):
    return FakeCopy(tmp_path)


def test_patches_and_switches_are_noticed(copy, capsys):
    patch = Change("patch", "a patch", [["x"]], {}, apply=copy.broken)
    mutant = Change("mutant", "a mutant", [["x"]], {}, switch={"KWIRE_X": "1"})
    blind = Change("blind", "unseen", [["blind"]], {}, apply=copy.broken)
    noticed = try_changes(copy, [patch, mutant, blind])
    assert noticed == {"patch": "a.py::b", "mutant": "a.py::b", "blind": ""}
    assert "unseen: NOT NOTICED" in capsys.readouterr().out
    assert copy.runs == 2 + 3


def test_harness_that_fails_without_a_change_ends_the_run(copy):
    failing = Change("any", "a change", [["x"]], {"KWIRE_X": "1"})
    with pytest.raises(SystemExit, match=r"without a change the harness fails: a\.py"):
        try_changes(copy, [failing])


def test_interrupted_run_is_continued(copy):
    patch = Change("patch", "a patch", [["x"]], {}, apply=copy.broken)
    first = try_changes(copy, [patch])
    runs = copy.runs
    assert try_changes(copy, [patch], go_on=True) == first
    assert copy.runs == runs


@pytest.mark.parametrize(
    ("code", "output", "failure"),
    [
        (0, "FAILED tests/a.py::b", ""),
        (1, "FAILED tests/a.py::b", "a.py::b"),
        (-11, "", "ended by signal 11"),
        (1, "rows\n2.5 times as long\n", "2.5 times as long"),
        (1, "", "no output"),
    ],
)
def test_failure_is_named_by_test_signal_or_last_line(code, output, failure):
    done = subprocess.CompletedProcess([], code, output)
    assert name_failure(done) == failure
