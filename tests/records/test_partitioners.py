# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Keys are assigned to the same partitions as by other clients.

If a key changes its partition, its records are no longer ordered, and no error reports
it. ``tools/interop/oracle/partitions.py`` compares with Kafka's own class.
"""

import asyncio
import importlib
import random
import warnings
from types import SimpleNamespace

import numpy
import pyarrow
import pytest
from aiokafka.partitioner import DefaultPartitioner
from aiokafka.partitioner import murmur2 as aiokafka_murmur2
from confluent_kafka import Producer

# Keys with their murmur2 hashes, from Kafka's own UtilsTest.
KNOWN = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}
CHECK = 0xCBF43926
"""CRC-32 checksum of b"123456789".

CRC catalogs list this value, which is different for every CRC variant.
"""


@pytest.fixture
def partitioners(kwire):
    """Return ``kwire.records.partitioners`` of the engine under test."""
    return importlib.import_module(f"{kwire.__name__}.records.partitioners")


def keys_of(seed, count):
    """Return random keys of 0 to 39 bytes."""
    dice = random.Random(seed)
    return [dice.randbytes(dice.randrange(40)) for _ in range(count)]


def test_murmur2_is_that_of_java(partitioners):
    """``murmur2`` returns the hashes of Kafka's own test and of another client."""
    for key, value in KNOWN.items():
        assert partitioners.murmur2(key) == value
        assert partitioners.murmur2(bytearray(key)) == value
        assert partitioners.murmur2(memoryview(key)) == value
    for key in keys_of(1, 500):
        number = partitioners.murmur2(key)
        assert -(2**31) <= number < 2**31
        assert number & 0xFFFFFFFF == aiokafka_murmur2(key) & 0xFFFFFFFF


def test_murmur2_rejects_other_types(partitioners):
    """A str raises an error, because it must be encoded first.

    A strided view also raises an error, because it is not contiguous.
    """
    for key in ("text", None, 5, memoryview(b"abcdef")[::2]):
        with pytest.raises(TypeError):
            partitioners.murmur2(key)
        with pytest.raises(TypeError):
            partitioners.crc32(key)


def test_crc32_is_that_of_zlib(partitioners):
    """The partition is the unsigned CRC-32 of the key modulo the partition count."""
    assert partitioners.crc32(b"123456789") == CHECK
    assert partitioners.consistent(b"123456789", range(1000), []) == CHECK % 1000


@pytest.mark.parametrize(
    "make", [list, pyarrow.array, numpy.array], ids=["list", "arrow", "numpy"]
)
def test_a_column_has_the_hashes_of_its_keys(partitioners, make):
    """The hashes of a column equal those of its single keys. Null has the hash 0.

    A column may be a list, an Arrow array, or a numpy array of objects.
    """
    keys = [*keys_of(2, 300), None]
    column = numpy.array(keys, object) if make is numpy.array else make(keys)
    hashes = partitioners.murmur2_column(column)
    assert (hashes.dtype, hashes[-1]) == (numpy.int32, 0)
    assert hashes[:-1].tolist() == [partitioners.murmur2(key) for key in keys[:-1]]
    crcs = partitioners.crc32_column(column)
    assert (crcs.dtype, crcs[-1]) == (numpy.uint32, 0)
    assert crcs[:-1].tolist() == [partitioners.crc32(key) for key in keys[:-1]]


def test_murmur2_column_accepts_all_binary_types(kwire, partitioners):
    """``murmur2_column`` accepts all binary types.

    They are slices, chunks, strings, dictionaries, views, and decoded columns.
    """
    texts = ["a", "bcd", None, "efghi", "é"]
    hashes = [0 if t is None else partitioners.murmur2(t.encode()) for t in texts]
    array = pyarrow.array(texts)
    chunked = pyarrow.chunked_array([texts[:2], texts[2:]])
    for column in (
        array,
        chunked,
        array.cast(pyarrow.large_string()),
        array.dictionary_encode(),
        array.cast(pyarrow.string_view()),
    ):
        assert partitioners.murmur2_column(column).tolist() == hashes
    assert partitioners.murmur2_column(array[1:4]).tolist() == hashes[1:4]
    rows = [(None if t is None else t.encode(), b"v") for t in texts]
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    records = columns.decode_records(kwire.records.encode_batch(rows))
    assert partitioners.murmur2_column(records.key).tolist() == hashes
    assert partitioners.murmur2_column(records[1:4].key).tolist() == hashes[1:4]
    assert partitioners.murmur2_column(pyarrow.nulls(2)).tolist() == [0, 0]
    assert partitioners.murmur2_column([]).tolist() == []


def test_murmur2_column_rejects_other_types(partitioners):
    """A column of numbers raises an error, because numbers have no canonical bytes."""
    for column in ([1, 2], pyarrow.array([1, 2]), pyarrow.array([[b"a"]]), 5):
        with pytest.raises(TypeError, match="keys must be a column of bytes or text"):
            partitioners.murmur2_column(column)


def test_murmur2_column_verifies_offsets(kwire, partitioners):
    """Offsets outside of the column's data raise EncodeError."""
    module = importlib.import_module(f"{kwire.__name__}._engine.active")
    engine = module.record_engine
    valid_offsets = numpy.array([0, 1, 2], "int32")
    for bad in ([0, 1, 3], [-1, 1, 2], [2, 1, 2]):
        column = (None, numpy.array(bad, "int32"), b"ab", 0)
        with pytest.raises(kwire.EncodeError, match="not within the bytes"):
            engine.hash_column(2, column, engine.MURMUR2)
    for count, start in ((3, 0), (2, 1), (-1, 0), (2**31, 0)):
        with pytest.raises(kwire.EncodeError):
            engine.hash_column(
                count, (None, valid_offsets, b"ab", start), engine.MURMUR2
            )


def test_java_keys_choose_as_aiokafka_does(partitioners):
    """``murmur2_random`` selects the same partition as aiokafka for every key.

    A producer can therefore be migrated. Rows without a key go to a random partition.
    """
    partitions = list(range(7))
    aiokafka_choose = DefaultPartitioner()
    for key in keys_of(3, 300):
        partition = partitioners.murmur2_random(key, partitions, [])
        assert partition == aiokafka_choose(key, partitions, [])
    for choose in (partitioners.murmur2_random, partitioners.consistent_random):
        assert {choose(None, partitions, [2, 3]) for _ in range(99)} == {2, 3}
        assert {choose(None, partitions, []) for _ in range(999)} == set(partitions)
    assert {partitioners.consistent_random(b"", [4, 5], [5])} == {5}
    assert partitioners.consistent(None, partitions) == 0


@pytest.mark.parametrize(
    ("name", "function"),
    [("murmur2", "murmur2_random"), ("consistent", "consistent")],
)
def test_librdkafka_selects_the_same_partitions(partitioners, name, function):
    """For every key, librdkafka and kwire select the same partition."""
    producer = Producer(
        {
            "bootstrap.servers": "mock",
            "test.mock.num.brokers": 1,
            "partitioner": name,
            "topic.metadata.refresh.interval.ms": -1,
        }
    )
    partitions_by_key = {}
    keys = {key for key in keys_of(4, 200) if key}
    count = len(producer.list_topics("orders", timeout=15).topics["orders"].partitions)
    for key in keys:
        producer.produce(
            "orders",
            b"v",
            key,
            on_delivery=lambda _, message: partitions_by_key.update(
                {message.key(): message.partition()}
            ),
        )
    assert producer.flush(15) == 0
    choose = getattr(partitioners, function)
    assert partitions_by_key == {key: choose(key, range(count), []) for key in keys}
    assert count > 1


def test_java_partitioner_works_in_aiokafka(partitioners):
    """The function can be passed to an aiokafka producer as ``partitioner``."""
    from aiokafka import AIOKafkaProducer

    async def run():
        producer = AIOKafkaProducer(
            bootstrap_servers="localhost:1", partitioner=partitioners.murmur2_random
        )
        partition = producer._partitioner(b"21", [0, 1, 2], [1])
        await producer.stop()
        return partition

    assert asyncio.run(run()) == (KNOWN[b"21"] & 0x7FFFFFFF) % 3


@pytest.mark.parametrize("name", ["murmur2_random", "consistent", "consistent_random"])
def test_java_partitioner_works_in_kafka_python(partitioners, name):
    """The function can be passed to a kafka-python producer as ``partitioner``.

    Version 3 of kafka-python calls a method of it instead.
    """
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        # kafka-python uses a deprecated function when it is imported.
        from kafka import KafkaProducer

    choose = getattr(partitioners, name)
    cluster = SimpleNamespace(
        topics=lambda: {"keys"},
        partitions_for_topic=lambda topic: {"keys": {2, 0, 1}}[topic],
        available_partitions_for_topic=lambda topic: {"keys": {1}}[topic],
    )
    producer = SimpleNamespace(config={"partitioner": choose}, _metadata=cluster)
    for key in (b"21", b"foobar"):
        expected = choose(key, [0, 1, 2], [1])
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            arguments = ("keys", None, "key", "v", key, b"v")
            assert KafkaProducer._partition(producer, *arguments) == expected
        assert choose.partition("keys", key, cluster) == expected
        assert choose.partition("keys", "key", key, "v", b"v", cluster) == expected
    if name != "consistent":
        assert choose.partition("keys", None, None, "v", b"v", cluster) == 1


def test_rows_are_sorted_by_the_partition_of_their_key(kwire, partitioners):
    """Rows are grouped by the partition of their key, in their original order.

    Rows without a key are in a separate list.
    """
    module = importlib.import_module(f"{kwire.__name__}._engine.active")
    engine = module.record_engine
    dice = random.Random(5)
    keys = [None, *keys_of(6, 20)]
    rows = [(dice.choice(keys), b"%d" % n) for n in range(500)]
    record = kwire.records.Record(key=b"21", value=b"r")
    rows += [[bytearray(b"21"), b"x"], (memoryview(b"21"), b"y", None, ()), record]
    for kind, choose in (
        (engine.MURMUR2, partitioners.murmur2_random),
        (engine.CRC32, partitioners.consistent),
    ):
        lists, keyless_rows = engine.split_rows(rows, 5, kind)
        expected = [[] for _ in range(5)]
        for row in rows:
            key = row.key if row is record else row[0]
            if key is not None:
                expected[choose(bytes(key), range(5), [])].append(row)
        assert lists == expected
        assert keyless_rows == [row for row in rows[:500] if row[0] is None]
    with pytest.raises(kwire.EncodeError) as caught:
        engine.split_rows([(b"a", b"b"), (b"a", 5)], 3, engine.MURMUR2)
    assert caught.value.path == "records[1].value"
    with pytest.raises(TypeError, match="records must be a list or a tuple"):
        engine.split_rows(iter([]), 3, engine.MURMUR2)
    with pytest.raises(ValueError, match="count must be 1 or more"):
        engine.split_rows([], 0, engine.MURMUR2)
