# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Server-side assignors of test clusters.

Each partition of a subscribed topic has one owner, which is subscribed to the topic.
The uniform assignor balances the partition counts and moves few partitions. The range
assignor assigns consecutive partitions to each member.
"""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from kwire.testing.state.assignors import ASSIGNORS, assign_ranges, assign_uniformly

TOPICS = [UUID(int=number) for number in range(1, 5)]


def draw_group(source):
    """Return random subscriptions and partition counts."""
    counts = {topic: source.randint(1, 7) for topic in TOPICS}
    members = {
        f"m{number}": frozenset(source.sample(TOPICS, source.randint(0, len(TOPICS))))
        for number in range(source.randint(1, 6))
    }
    return members, counts


@pytest.mark.parametrize("name", ASSIGNORS)
def test_each_partition_has_one_subscribed_owner(name):
    source = random.Random(1)
    current = {}
    for _ in range(300):
        members, counts = draw_group(source)
        current = ASSIGNORS[name](members, counts, current)
        assert set(current) == set(members)
        owned = [partition for owned in current.values() for partition in owned]
        subscribed = frozenset().union(*members.values())
        expected = {
            (topic, index) for topic in subscribed for index in range(counts[topic])
        }
        assert sorted(owned) == sorted(expected)
        for member, partitions in current.items():
            assert {topic for topic, _ in partitions} <= members[member]


def test_uniform_assignment_is_balanced_and_moves_few_partitions():
    counts = {TOPICS[0]: 7, TOPICS[1]: 5}
    topics = frozenset(counts)
    two = assign_uniformly({"a": topics, "b": topics}, counts, {})
    assert sorted(map(len, two.values())) == [6, 6]
    three = assign_uniformly(dict.fromkeys("abc", topics), counts, two)
    assert sorted(map(len, three.values())) == [4, 4, 4]
    assert three["a"] <= two["a"]
    assert three["b"] <= two["b"]
    remaining = assign_uniformly(dict.fromkeys("ac", topics), counts, three)
    assert remaining["a"] > three["a"]
    assert remaining["c"] > three["c"]


def test_ranges_are_consecutive_and_start_with_the_larger_ones():
    counts = {TOPICS[0]: 5}
    assigned = assign_ranges(dict.fromkeys("ba", frozenset(counts)), counts, {})
    assert sorted(index for _, index in assigned["a"]) == [0, 1, 2]
    assert sorted(index for _, index in assigned["b"]) == [3, 4]
