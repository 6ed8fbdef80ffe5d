# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Ints that repeat within a message: each keeps its value, also where places clash.

The compiled engine finds an int32 again by its lowest 8 bits, and shares at most 255.
"""

import random

import pytest

from tests.traced import measure_left

EDGES = [-(2**31), -(2**31) + 256, -6, -5, -1, 0, 256, 257, 258, 2**31 - 257, 2**31 - 1]
ROUNDS = 20


def make_response(kwire, ids):
    """Make a response whose ints are all of the ids, in fields and in arrays."""
    cls = kwire.messages.MetadataResponse
    partitions = [
        cls.MetadataResponsePartition(
            partition_index=index, leader_id=node, isr_nodes=ids[index : index + 20]
        )
        for index, node in enumerate(ids)
    ]
    topic = cls.MetadataResponseTopic(name="orders", partitions=partitions)
    return cls(controller_id=ids[-1], topics=[topic])


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param([1001 + 256 * n for n in range(600)], id="one place"),
        pytest.param(list(range(1001, 2001)), id="more than are shared"),
        pytest.param([*range(1001, 1101)] * 6, id="repeated"),
        pytest.param(EDGES * 40, id="edges"),
        pytest.param(random.Random(7).choices(range(-3000, 3000), k=900), id="random"),
    ],
)
def test_each_int_has_the_value_of_its_bytes(kwire, ids):
    """An int that was found in the place of another would give a wrong broker."""
    message = make_response(kwire, ids)
    data = kwire.encode(message, version=9)
    [topic] = kwire.decode(type(message), data, version=9).topics
    assert [each.partition_index for each in topic.partitions] == [*range(len(ids))]
    assert [each.leader_id for each in topic.partitions] == ids
    for index, partition in enumerate(topic.partitions):
        assert partition.isr_nodes == tuple(ids[index : index + 20])


def test_shared_ints_are_left_to_the_message_alone(kwire):
    """What a decode keeps while it runs is given back, after a failure too."""
    message = make_response(kwire, [1001, 1002, 1257] * 3)
    data = kwire.encode(message, version=9)

    def decode():
        kwire.decode(type(message), data, version=9)
        with pytest.raises(kwire.DecodeError):
            kwire.decode(type(message), data[:-20], version=9)

    assert measure_left(decode, ROUNDS) == 0


def test_a_broker_id_is_one_object_within_a_message(twins):
    """Broker ids from 1001 on made half of the memory of a Metadata response."""
    ids = list(range(1001, 1101)) * 3
    message = make_response(twins.fast, ids)
    data = twins.fast.encode(message, version=9)
    [topic] = twins.fast.decode(type(message), data, version=9).topics
    found = [n for each in topic.partitions for n in (each.leader_id, *each.isr_nodes)]
    assert len(found) > 6000 and len({id(each) for each in found}) == 100
