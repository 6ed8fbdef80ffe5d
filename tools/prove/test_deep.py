# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test that deep runs continue, stop in time, and report failures.

The inputs of the parts are tested by the gate, which uses the same functions.
"""

import itertools
import json
import sys
import time
from types import SimpleNamespace

import pytest

from tools.generate.promises import Figure
from tools.prove.deep import __main__ as runner
from tools.prove.deep import messages
from tools.prove.deep import twins as agreement

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither fork nor mprotect"
)

LATER = 600.0


def states(part, state, count):
    """Run ``count`` steps of a part, starting with ``state``.

    Returns the last state, converted to JSON and back.
    """
    until = time.monotonic() + LATER
    for reached in itertools.islice(part.run(state, until), count):
        state = reached
    return json.loads(json.dumps(state))


@pytest.mark.parametrize("part", [messages, agreement])
def test_a_part_goes_on_where_it_was(part, monkeypatch):
    """Two runs of one step have the same result as one run of two steps."""
    monkeypatch.setitem(messages.STEP, "fast", 20_000)
    monkeypatch.setattr(agreement, "INPUTS", 300)
    one = states(part, {}, 1)
    two = states(part, one, 1)
    assert two == states(part, {}, 2)
    assert part.figures(two)[0].figure > part.figures(one)[0].figure > 0


@pytest.mark.parametrize("part", [messages, agreement])
def test_a_part_ends_when_its_time_is_over(part):
    """No step runs if there is no time, so the stored state remains unchanged."""
    assert list(part.run({}, time.monotonic())) == []


def counting(fail_at):
    """Return a part that counts its steps and fails at number ``fail_at``."""

    def run(state, until):
        for count in range(state.get("count", 0) + 1, fail_at):
            yield {"count": count}
        raise AssertionError(f"{fail_at} is too many")

    def figures(state):
        return [Figure("P5", "counted", state.get("count", 0), "make deep")]

    return SimpleNamespace(run=run, figures=figures)


def test_a_failure_is_told_and_what_was_reached_is_kept(tmp_path, capsys):
    """A failure is reported, and the state before the failure remains stored."""
    progress = runner.Progress("counting", "these sources", tmp_path)
    assert not runner.run_part("counting", counting(3), progress, LATER)
    assert capsys.readouterr().err == "counting failed: 3 is too many\n"
    again = runner.Progress("counting", "these sources", tmp_path)
    assert again.state == {"count": 2}
    assert not runner.run_part("counting", counting(6), again, LATER)
    assert runner.Progress("counting", "these sources", tmp_path).state["count"] == 5


def test_other_sources_begin_anew(tmp_path, capsys):
    """A state that was reached with other sources of kwire is discarded."""
    progress = runner.Progress("counting", "these sources", tmp_path)
    runner.run_part("counting", counting(3), progress, LATER)
    assert runner.Progress("counting", "other sources", tmp_path).state == {}
    assert capsys.readouterr().out == (
        "counting: kwire has changed, so it begins anew\n"
    )


def test_an_input_can_be_tried_again(capsys):
    """The results of both engines are printed. They are equal for this input."""
    assert messages.retry("ApiVersionsRequest", 3, "java", b"\2a\2b") == 0
    fast, pure = capsys.readouterr().out.splitlines()
    assert fast.startswith("fast: ('Truncated'")
    assert pure == fast.replace("fast", "pure", 1)
