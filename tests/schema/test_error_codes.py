# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the public functions and constants for Kafka's error codes.

The Java oracle compares all numbers, names and flags with Kafka's own.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from kwire import error_codes


def constants() -> dict[str, int]:
    return {word: code for word, code in vars(error_codes).items() if word.isupper()}


def test_constants_have_the_names_of_their_codes():
    """A constant has the same name and number as its error code."""
    assert error_codes.NOT_LEADER_OR_FOLLOWER == 6
    assert error_codes.name(6) == "NOT_LEADER_OR_FOLLOWER"
    assert {word: error_codes.name(code) for word, code in constants().items()} == {
        word: word for word in constants()
    }


def test_codes_run_from_minus_one_without_a_gap():
    """The error codes are consecutive from -1 on. A gap would be a missing code."""
    codes = sorted(constants().values())
    assert codes == list(range(-1, 137))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("NONE", False),
        ("UNKNOWN_SERVER_ERROR", False),
        ("OFFSET_OUT_OF_RANGE", False),
        ("CORRUPT_MESSAGE", True),
        ("NOT_LEADER_OR_FOLLOWER", True),
        ("COORDINATOR_NOT_AVAILABLE", True),
        ("TOPIC_AUTHORIZATION_FAILED", False),
    ],
)
def test_only_temporary_errors_are_retriable(word, expected):
    """Only temporary errors are retriable.

    Retrying after a permanent error would never succeed.
    """
    assert error_codes.retriable(constants()[word]) is expected


def test_a_code_of_a_newer_broker_has_a_name_and_is_not_retriable():
    """An unknown error code of a newer broker has a name and is not retriable.

    It must neither raise an error nor cause endless retries.
    """
    assert error_codes.name(9999) == "UNKNOWN_CODE_9999"
    assert error_codes.name(-2) == "UNKNOWN_CODE_-2"
    assert error_codes.retriable(9999) is False


def test_import_loads_no_heavy_module():
    home = str(Path(error_codes.__file__).parents[2])
    source = (
        f"import sys; sys.path.insert(0, {home!r}); import kwire.schema.error_codes; "
        "print(*{'enum', 'dataclasses', 'typing', 're'} & set(sys.modules))"
    )
    # -S disables ``site``, which may import these modules itself.
    command = [sys.executable, "-S", "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
