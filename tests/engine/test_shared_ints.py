# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Integers that repeat within a message keep their values, even on cache collisions.

The compiled engine looks up an int32 by its lowest 8 bits and shares up to 255
integers. For int64, it only remembers the last value.
"""

import importlib
import json
import random

import pytest

from tests.harness.traced import measure_left

EDGES = [-(2**31), -(2**31) + 256, -6, -5, -1, 0, 256, 257, 258, 2**31 - 257, 2**31 - 1]
ROUNDS = 20


def make_response(kwire, ids):
    """Build a MetadataResponse that uses all ids as broker ids.

    The ids are values of single fields and elements of arrays.
    """
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
    """Every broker id in a decoded message has the value of its bytes.

    A wrong cache hit would return the id of another broker.
    """
    message = make_response(kwire, ids)
    data = kwire.encode(message, version=9)
    [topic] = kwire.decode(type(message), data, version=9).topics
    assert [entry.partition_index for entry in topic.partitions] == [*range(len(ids))]
    assert [entry.leader_id for entry in topic.partitions] == ids
    for index, partition in enumerate(topic.partitions):
        assert partition.isr_nodes == tuple(ids[index : index + 20])


def test_shared_ints_are_only_referenced_by_the_message(kwire):
    """Cached integers are released after a decode, whether it succeeds or fails."""
    message = make_response(kwire, [1001, 1002, 1257] * 3)
    data = kwire.encode(message, version=9)

    def decode():
        kwire.decode(type(message), data, version=9)
        with pytest.raises(kwire.DecodeError):
            kwire.decode(type(message), data[:-20], version=9)

    assert measure_left(decode, ROUNDS) == 0


def test_a_broker_id_is_one_object_within_a_message(twins):
    """Repeated broker ids share one object.

    Without sharing, ids from 1001 on used half of a Metadata response's memory.
    """
    ids = list(range(1001, 1101)) * 3
    message = make_response(twins.fast, ids)
    data = twins.fast.encode(message, version=9)
    [topic] = twins.fast.decode(type(message), data, version=9).topics
    broker_ids = [
        n
        for partition in topic.partitions
        for n in (partition.leader_id, *partition.isr_nodes)
    ]
    assert len(broker_ids) > 6000 and len({id(number) for number in broker_ids}) == 100


LONGS = [2**40, 2**40, 257, 257, -6, 256, -6, 2**63 - 1, 2**63 - 1, -(2**63), 2**40]


def make_offsets(kwire, numbers):
    """Build a FetchResponse with one partition per number, which uses it as offset."""
    cls = kwire.messages.FetchResponse
    partitions = [
        cls.PartitionData(
            high_watermark=number, last_stable_offset=number, log_start_offset=start
        )
        for number, start in zip(numbers, reversed(numbers), strict=True)
    ]
    topic = cls.FetchableTopicResponse(topic="orders", partitions=partitions)
    return cls(responses=[topic])


def test_each_offset_has_the_value_of_its_bytes(kwire):
    """Every offset in a decoded message has the value of its bytes.

    A wrong cache hit would return another offset.
    """
    message = make_offsets(kwire, LONGS)
    data = kwire.encode(message, version=12)
    [topic] = kwire.decode(type(message), data, version=12).responses
    assert [partition.high_watermark for partition in topic.partitions] == LONGS
    assert [partition.last_stable_offset for partition in topic.partitions] == LONGS
    assert [partition.log_start_offset for partition in topic.partitions] == LONGS[::-1]


def test_offsets_are_only_referenced_by_the_message(kwire):
    """The cached int64 is released after a decode, whether it succeeds or fails."""
    message = make_offsets(kwire, LONGS)
    data = kwire.encode(message, version=12)

    def decode():
        kwire.decode(type(message), data, version=12)
        for end in range(len(data) - 40, len(data)):
            with pytest.raises(kwire.DecodeError):
                kwire.decode(type(message), data[:end], version=12)

    assert measure_left(decode, ROUNDS) == 0


def test_a_stable_offset_is_the_object_of_the_high_watermark(twins):
    """If the last stable offset equals the high watermark, both are one object.

    This is the usual case without transactions.
    """
    message = make_offsets(twins.fast, [1_000_000])
    data = twins.fast.encode(message, version=12)
    [topic] = twins.fast.decode(type(message), data, version=12).responses
    [partition] = topic.partitions
    assert partition.high_watermark is partition.last_stable_offset


WIDTHS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}


def make_run(kwire):
    """Create a message class with fields of every integer width, without other types.

    The fields are in ascending and then in descending order of their width.
    """
    messages = importlib.import_module(f"{kwire.__name__}.messages")
    fields = [
        {"name": f"{kind}{index}", "type": kind, "versions": "0+"}
        for index, kinds in enumerate([WIDTHS, reversed(WIDTHS)])
        for kind in kinds
    ]
    head = {"type": "data", "name": "Run", "validVersions": "0"}
    return messages.message_class(
        json.dumps(head | {"flexibleVersions": "none", "fields": fields})
    )


@pytest.mark.parametrize("after", range(9))
def test_integers_are_the_same_wherever_the_input_ends(kwire, after):
    """Integers are decoded correctly if up to eight bytes follow the message.

    The fast path loads more bytes than the integer has, so it must not be used near the
    end of the input.
    """
    cls = make_run(kwire)
    path = f"{kwire.__name__}._engine.{kwire.backend}.decoder"
    decode = importlib.import_module(path).decode_prefix
    names = [(name, WIDTHS[name[:-1]]) for name in cls.__match_args__]
    for value in (-1, 0, 1, 127, 256, 257, -6):
        for sign in (-1, 1):
            edge = {name: sign * 2**bits - (sign > 0) for name, bits in names}
            low = {name: value if abs(value) < 128 else sign for name, _ in names}
            for values in (edge, low, edge | {"int320": value, "int641": value}):
                message = cls(**values)
                data = kwire.encode(message, version=0)
                decoded, end = decode(cls, data + b"\xa5" * after, 0)
                assert (decoded, end) == (message, len(data))
