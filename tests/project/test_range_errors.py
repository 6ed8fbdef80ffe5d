# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Errors about ranges have the same format in both engines.

The formats are "must be 0 to 9 (got 10)", "must be 1 or more (got 0)", "must be 9 or
less (got 10)" and "must be more than 0 (got 0)". The texts are read from the ``raise``
statements in the source.
"""

import re
from pathlib import Path

import pytest

import kwire

SOURCE = Path(kwire.__file__).parent

_RAISE = re.compile(r"\braise [\w.]+\(")
_BETWEEN_LITERALS = re.compile(r'"\s*\n?\s*f?"')
_OTHER_FORMS = re.compile(
    r"must (not be negative|be (an int |a number |an integer |in )?"
    r"(from|between|above|below|at least|at most|positive|negative|greater|larger|less"
    r"|smaller|over|under|within)\b)"
)
_RANGE = re.compile(
    r"must be (more than )?(\{[^}]*\}|-?\d+)( to [-{\d]| or more| or less)"
)


def read_call(text, start):
    """Return the text between the parentheses of a call that start before ``start``.

    Parentheses in its strings must be balanced.
    """
    depth = 1
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if not depth:
            return text[start:position]
    raise AssertionError("the call has no end")


def find_deviations(text):
    """Return the errors in ``text`` whose range has a different format."""
    deviations = []
    for match in _RAISE.finditer(text):
        message = _BETWEEN_LITERALS.sub("", read_call(text, match.end()))
        has_range = _RANGE.search(message) and "{" in message
        lacks_value = has_range and "(got " not in message
        if _OTHER_FORMS.search(message) or lacks_value:
            deviations.append(" ".join(message.split()))
    return deviations


def test_range_errors_have_one_pattern():
    """All Python and Cython files use the format for range errors."""
    paths = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyx")]
    assert len(paths) > 400
    deviations_by_file = {
        str(path.relative_to(SOURCE)): deviations
        for path in paths
        if (deviations := find_deviations(path.read_text()))
    }
    assert deviations_by_file == {}


@pytest.mark.parametrize(
    "message",
    [
        'f"count must be positive (got {count})"',
        'f"count must be between 0 and {size} (got {count})"',
        'f"count must be at "\n        f"least 1 (got {count})"',
        'f"count must be an int from 0 to 9 (got {count})"',
        'f"count must not be negative (got {count})"',
        'f"count must be 0 to {size}"',
    ],
)
def test_different_pattern_is_detected(message):
    """The text is found even if it is split over two lines."""
    code = f"if True:\n    raise ValueError(\n        {message}\n    )\nx = 1\n"
    assert len(find_deviations(code)) == 1


@pytest.mark.parametrize(
    "message",
    [
        'f"count must be 0 to {size} (got {count})"',
        'f"count must be 1 or more (got {count})"',
        'f"wait_s must be more than 0 (got {wait_s})"',
        'f"name must be a str (got {kind})"',
    ],
)
def test_messages_with_the_pattern_are_accepted(message):
    """Messages with the format are accepted. Errors about types have another format."""
    assert find_deviations(f"def f():\n    raise ValueError({message})\n") == []
