# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that a sweep runs all cases and reports all errors."""

import pytest

from tests.harness.sweeps import MOST_ERRORS, sweep


@pytest.mark.parametrize("number", [3, 4])
@sweep(("left", "right"), [(1, 2), (2, 1)])
@sweep("sign", [-1, 1])
def test_cases_are_stacked_and_get_the_fixtures(
    record_property, number, left, right, sign
):
    """Sweeps can be stacked and combined with ``parametrize`` and fixtures."""
    assert (number in (3, 4), left + right, abs(sign)) == (True, 3, 1)
    record_property("case", (left, right, sign))


def test_each_case_runs_although_others_fail():
    """If cases fail, all other cases still run.

    The error is a group of all errors, and every error has a note with its case.
    """
    ran = []

    @sweep("number", range(4))
    def check(number):
        ran.append(number)
        if number == 1:
            pytest.fail("of pytest")
        assert number != 2

    with pytest.raises(BaseExceptionGroup) as caught:
        check()
    assert ran == [0, 1, 2, 3]
    first, second = caught.value.exceptions
    assert (first.__notes__, second.__notes__) == (
        ["with number: 1"],
        ["with number: 2"],
    )


def test_single_error_is_raised_unchanged():
    """If one case fails, its error is raised unchanged, not in a group.

    Its notes contain the arguments of all stacked sweeps.
    """

    @sweep("left", [1, 2], ids=lambda value: f"number {value}")
    @sweep("right", ["a" * 1000, "b"])
    def check(left, right):
        if (left, right[0]) == (2, "a"):
            raise ValueError

    with pytest.raises(ValueError) as caught:
        check()
    right, left = caught.value.__notes__
    assert left == "with left: number 2"
    assert right.startswith("with right: 'aaa") and len(right) < 80


def test_a_sweep_of_failures_ends():
    """A sweep stops after ``MOST_ERRORS`` errors, so that the report can be read."""
    ran = []

    @sweep("number", range(1000))
    def check(number):
        ran.append(number)
        raise ValueError

    with pytest.raises(BaseExceptionGroup):
        check()
    assert len(ran) == MOST_ERRORS


def test_empty_sweep_is_rejected():
    """A sweep without cases raises an error, because it would always pass."""
    with pytest.raises(AssertionError, match="there is no name"):
        sweep("name", [])
