# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``guess_release`` for known tables, real nodes, and changed tables.

The expected guesses for changed tables are written by hand, as a person who knows the
releases would describe them.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kwire.connection.negotiation import release_guess
from kwire.schema import releases
from kwire.schema.versions import NONE, VersionRange
from tests.connection.negotiation.advertised_tables import TABLES, advertised
from tests.harness.sweeps import sweep

# Releases with the same table as a neighboring release, by node type.
SAME = {
    ("3.3", "broker"): "between 3.3 and 3.4",
    ("3.4", "broker"): "between 3.3 and 3.4",
    ("3.7", "controller"): "between 3.7 and 3.8",
    ("3.8", "controller"): "between 3.7 and 3.8",
}

OWN = [
    (release, listener)
    for release in releases.NAMES
    for listener in (*releases.listeners(release), None)
]

Ends = tuple[int, int]


def table_of(release: str, listener: str | None = "broker") -> dict[int, Ends]:
    """Return {API key: (minimum, maximum)} as the release advertises it."""
    ranges = releases.ranges(release, listener)
    return {key: (versions.min, versions.max) for key, versions in ranges.items()}


@pytest.fixture
def guess(kwire: ModuleType) -> Any:
    """Function ``guess_release`` of the tested engine."""
    name = f"{kwire.__name__}.connection.negotiation.release_guess"
    return importlib.import_module(name).guess_release


@sweep(("release", "listener"), OWN)
def test_every_release_is_known_by_its_own_table(guess, release, listener):
    result = guess(table_of(release, listener))
    assert str(result) == SAME.get((release, listener), release)
    assert result.is_exact == ((release, listener) not in SAME)
    assert not result.is_custom
    assert not result.has_unstable
    # Before KRaft, there was only one broker type.
    alone = releases.listeners(release) == ("zkBroker",)
    assert result.listener == ("broker" if alone else listener)


@sweep(("release", "listener"), OWN)
def test_specified_node_type_leads_to_the_same_guess(guess, release, listener):
    if listener is not None:
        result = guess(table_of(release, listener), listener)
        assert str(result) == SAME.get((release, listener), release)
        assert result.listener == listener


@pytest.mark.parametrize(
    ("name", "expected_guess"),
    [
        ("2.8.2 zkBroker", "2.8"),
        ("2.8.2 broker", "2.8"),
        ("2.8.2 controller", "2.8"),
        ("3.0.2 broker", "3.0"),
        ("3.0.2 controller", "3.0"),
        ("3.2.3 broker", "3.2"),
        ("3.2.3 controller", "3.2"),
        ("3.9.2 broker", "3.9"),
        ("3.9.2 controller", "3.9"),
        ("3.9.2 broker unstable", "3.9 with unstable versions"),
        ("4.3.1 broker", "4.3"),
        ("4.3.1 controller", "4.3"),
        ("4.3.1 broker unstable", "4.3 with unstable versions"),
        ("4.4.0 broker", "4.4"),
        ("4.4.0 controller", "4.4"),
        ("4.4.0 broker unstable", "4.4 with unstable versions"),
    ],
)
def test_what_real_nodes_answer_is_recognised(guess, name, expected_guess):
    result = guess(advertised(name))
    assert str(result) == expected_guess
    assert result.is_exact
    assert result.listener == name.split()[1]
    assert result.has_unstable == ("unstable" in name)


def test_all_tables_of_real_nodes_are_guessed():
    # Every recorded ApiVersions response of a real node must be a case of the test
    # above, so that no recording remains untested.
    mark = test_what_real_nodes_answer_is_recognised.pytestmark[0]
    assert {name for name, _ in mark.args[1]} == TABLES.keys()


# Changes to the table of a release. None removes a row. API keys: 0 Produce, 1 Fetch, 2
# ListOffsets, 3 Metadata, 4 LeaderAndIsr, 8 OffsetCommit, 11 JoinGroup, 18 ApiVersions,
# 22 InitProducerId, 47 OffsetDelete, 52 Vote, 71 and 72 telemetry, 76
# ShareGroupHeartbeat, 80 AddRaftVoter, 93 StreamsGroupTopologyDescriptionUpdate.
CHANGED = [
    # Rows that the operator has removed or restricted.
    ("3.9", "broker", {47: None}, "at least 3.9, custom"),
    ("3.9", "broker", {0: (0, 5)}, "at least 3.9, custom"),
    ("3.9", "zkBroker", {4: None, 5: None, 6: None}, "at least 3.9, custom"),
    ("2.4", "broker", {19: None, 20: None}, "at least 2.4, custom"),
    ("4.1", "broker", {1: (4, 13)}, "at least 4.1, custom"),
    ("4.3", "controller", {52: None}, "at least 4.3, custom"),
    ("4.4", "broker", {3: (0, 9)}, "at least 4.4, custom"),
    # Rows from a newer release, or for an unknown API.
    ("3.9", "broker", {1: (0, 18)}, "at least 3.9, custom"),
    ("2.8", "zkBroker", {1: (0, 17)}, "at least 2.8, custom"),
    ("3.9", "broker", {1000: (0, 0)}, "at least 3.9, custom"),
    ("2.1", "broker", {44: (0, 0)}, "at least 2.1, custom"),
    # Combinations of rows that no Kafka release has.
    ("3.5", "broker", {1: (0, 17), 0: (0, 7)}, "at least 3.5, custom"),
    ("4.2", "broker", {1: (0, 18)}, "at least 4.2, custom"),
    # Rows from a neighboring release, as in a cluster while it is upgraded.
    ("3.9", "broker", {1: (0, 16)}, "between 3.8 and 3.9, custom"),
    ("3.8", "broker", {2: (0, 9)}, "between 3.8 and 3.9, custom"),
    ("3.9", "broker", {80: None}, "between 3.8 and 3.9, custom"),
    ("4.0", "broker", {1: (0, 17)}, "between 3.9 and 4.0, custom"),
    ("4.0", "broker", {0: (0, 11), 3: (0, 12)}, "between 3.9 and 4.0, custom"),
    ("4.4", "broker", {93: None}, "between 4.3 and 4.4, custom"),
    ("2.0", "broker", {1: (0, 9)}, "between 2.0 and 2.1, custom"),
    ("3.0", "broker", {22: (0, 2)}, "between 2.8 and 3.0, custom"),
    ("3.0", "broker", {22: (2, 4)}, "between 2.8 and 3.0, custom"),
    ("0.9.0", "broker", {18: (0, 0)}, "between 0.9.0 and 0.10.0, custom"),
    # If the release is newer than kwire knows, minima may increase as in 4.0, but no
    # API may be missing.
    ("4.4", "broker", {1: (4, 19)}, "at least 4.4"),
    ("4.4", "broker", {1: (6, 19), 95: (0, 0)}, "at least 4.4"),
    ("4.4", "controller", {52: (0, 3)}, "at least 4.4"),
    ("4.4", "broker", {1: (4, 19), 47: None}, "at least 4.4, custom"),
    ("4.4", "broker", {1: (0, 19)}, "at least 4.4, custom"),
    # Responses that vary in Kafka itself are not changes.
    ("4.0", "broker", {11: (2, 9)}, "4.0"),
    ("4.0", "broker", {0: (0, 12)}, "4.0"),
    ("4.1", "broker", {0: (0, 13)}, "4.1"),
    ("4.1", "broker", {71: None, 72: None}, "4.1"),
    ("4.1", "broker", {11: (2, 9)}, "between 4.0 and 4.1, custom"),
    ("0.10.2", "broker", {7: (1, 1)}, "0.10.2"),
    ("4.3", "broker", {22: (0, 6)}, "4.3 with unstable versions"),
    # Kafka enables either all unstable versions or none.
    ("3.9", "broker", {76: (0, 0)}, "at least 3.9, custom"),
    # Invalid ranges.
    ("3.9", "broker", {1: (17, 0)}, "at least 3.9, custom"),
    ("3.0", "broker", {22: (3, 1)}, "at least 3.0, custom"),
    ("4.4", "broker", {1: (25, 19)}, "at least 4.4, custom"),
    ("4.4", "broker", {-1: (-3, -5)}, "at least 4.4, custom"),
    # Rows of other types of nodes, and of other releases.
    ("4.4", "broker", {52: (0, 2)}, "at least 4.4, custom"),
    ("4.4", "broker", {4: (0, 7)}, "at least 4.4, custom"),
    ("2.7", "broker", {33: None}, "at least 2.7, custom"),
]


@sweep(("release", "listener", "rows", "expected_guess"), CHANGED)
def test_a_changed_table_gets_the_guess_of_a_person(
    guess, release, listener, rows, expected_guess
):
    changed = table_of(release, listener) | rows
    result = guess({key: ends for key, ends in changed.items() if ends is not None})
    assert str(result) == expected_guess
    assert result.is_custom == expected_guess.endswith(", custom")


@pytest.mark.parametrize(
    ("rows", "expected_guess"),
    [
        ({}, "unknown"),
        ({1000: (0, 3)}, "unknown"),
        ({0: (5, 2)}, "unknown"),
        ({0: (0, 0), 1: (0, 0)}, "before 0.8.0"),
        ({18: (0, 3)}, "at least 2.4, custom"),
        ({0: (0, 7), 1: (0, 10), 18: (0, 2)}, "at least 2.1, custom"),
    ],
)
def test_table_with_few_rows_has_a_vague_guess(guess, rows, expected_guess):
    assert str(guess(rows)) == expected_guess


def bounds(release_guess, name):
    return (
        release_guess.min_release,
        release_guess.max_release,
        getattr(release_guess, name),
    )


def test_the_bounds_of_a_guess_can_be_read(guess):
    exact = guess(table_of("4.1"))
    assert bounds(exact, "is_exact") == (
        "4.1",
        "4.1",
        True,
    )
    same = guess(table_of("3.3"))
    assert bounds(same, "is_exact") == ("3.3", "3.4", False)
    newer = guess(table_of("4.4") | {1: (4, 19)})
    assert bounds(newer, "is_custom") == (
        "4.4",
        None,
        False,
    )
    older = guess({0: (0, 0)})
    assert bounds(older, "is_custom") == (
        None,
        "0.8.0",
        False,
    )
    guess_without_rows = guess({})
    assert bounds(guess_without_rows, "is_custom") == (
        None,
        None,
        True,
    )


def test_each_row_taken_from_a_table_leaves_the_guess_near(guess):
    whole = table_of("3.9", "zkBroker")
    for key in whole:
        result = guess(
            {other_key: ends for other_key, ends in whole.items() if other_key != key}
        )
        assert result.min_release in ("3.8", "3.9"), key
        assert result.is_custom, key


def test_a_broker_with_zookeeper_is_not_taken_for_one_without(guess):
    with_zookeeper = table_of("3.9", "zkBroker")
    assert guess(with_zookeeper).listener == "zkBroker"
    assert guess(with_zookeeper, "broker").is_custom
    assert str(guess(with_zookeeper, "zkBroker")) == "3.9"


def test_a_table_may_be_ranges_or_an_object_that_advertises(guess, kwire):
    rows = table_of("4.1", "controller")
    version_range = kwire.schema.versions.VersionRange
    ranges = {key: version_range(*ends) for key, ends in rows.items()}
    assert guess(ranges) == guess(SimpleNamespace(advertised=rows)) == guess(rows)


def test_a_table_of_a_connection_is_guessed(guess, kwire):
    table = importlib.import_module(
        f"{kwire.__name__}.connection.negotiation"
    ).ApiVersionTable
    assert str(guess(table.from_ranges(advertised("4.3.1 broker")))) == "4.3"
    assert str(guess(table.of_release("2.8", "zkBroker"))) == "2.8"


def test_an_api_that_brokers_have_no_version_of_in_common_is_not_offered():
    rows = releases.ranges("3.9", "broker")
    without = {key: ends for key, ends in rows.items() if key != 1}
    assert release_guess.guess_release({**rows, 1: NONE}) == (
        release_guess.guess_release(without)
    )
    assert VersionRange(0, 17) == rows[1]


def test_a_kind_of_node_has_one_of_kafkas_names(guess):
    with pytest.raises(ValueError, match="got 'zookeeper'"):
        guess({18: (0, 3)}, "zookeeper")


@example({})
@given(
    st.dictionaries(
        st.integers(-2, 100),
        st.tuples(st.integers(-2, 20), st.integers(-2, 20)),
        max_size=100,
    )
)
def test_any_table_gets_a_guess_and_its_bounds_are_in_order(rows):
    result = release_guess.guess_release(rows)
    assert str(result)
    if result.min_release and result.max_release:
        order = releases.NAMES.index
        assert order(result.min_release) <= order(result.max_release)


@pytest.mark.parametrize(
    "rows",
    [
        table_of("3.9"),
        table_of("3.9") | {1: (0, 18)},
        table_of("4.4") | {1: (4, 19), 47: (3, 3)},
        {18: (0, 3)},
    ],
)
def test_guess_executes_a_limited_number_of_lines(guess, rows):
    """Limits the executed Python lines instead of the time."""
    guess(rows)
    assert 0 < lines_run(lambda: guess(rows)) < 5_000


def lines_run(call):
    """Count the Python lines that are executed during a call."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
