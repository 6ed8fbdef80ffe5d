# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Records that a task of the sink ``kafka-live`` writes, read by librdkafka.

The writers are called as by Spark's workers. ``test_live_sink.py`` contains queries in
Spark.
"""

import pickle

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    StringType,
    StructField,
    StructType,
)

from kwire import error_codes
from kwire.client import ClusterError, DeliveryFailed, TopicNotFound
from kwire.errors import EncodeError
from kwire.records import partitioners
from kwire.spark.live import writing as live_writing
from kwire.spark.live.sink import make_stream_writer, make_writer
from kwire.spark.live.sink_options import find_columns
from tests.client.log_broker import LogBroker
from tests.spark.topic_reading import PARTITIONS, flatten, mock_cluster

PAIR = pa.struct([("key", pa.string()), ("value", pa.binary())])
HEADERS = pa.list_(PAIR)
TYPES = {
    "other": IntegerType(),
    "headers": ArrayType(
        StructType(
            [StructField("key", StringType()), StructField("value", BinaryType())]
        )
    ),
    "key": BinaryType(),
    "partition": IntegerType(),
    "topic": StringType(),
    "value": StringType(),
}


@pytest.fixture(scope="module")
def cluster():
    """Return a mock cluster. The tests write to different topics."""
    with mock_cluster() as running:
        yield running


def schema_of(names):
    return StructType([StructField(name, TYPES[name]) for name in names])


def write(address, batches, names=tuple(TYPES), **settings):
    """Write record batches in one task. The writer is pickled and unpickled before."""
    options = {"kafka.bootstrap.servers": address, **settings}
    pickled = pickle.dumps(make_writer(options, schema_of(names), False))
    return pickle.loads(pickled).write(iter(batches))


def batch_of(*rows):
    """Return a record batch of (headers, key, partition, topic, value) rows."""
    kinds = [HEADERS, pa.binary(), pa.int32(), pa.string(), pa.string()]
    columns = [
        pa.array(values, kind)
        for values, kind in zip(zip(*rows, strict=True), kinds, strict=True)
    ]
    number_column = pa.array(range(len(rows)), pa.int32())
    return pa.RecordBatch.from_arrays([number_column, *columns], list(TYPES))


def by_key(key):
    return partitioners.murmur2_random(key, range(PARTITIONS), [])


def test_every_column_is_written(cluster):
    """All columns are written: nulls, empty values, and headers.

    If the partition is null, the key determines it.
    """
    topic = cluster.make_topic()
    rows = [
        ([("a", b"1"), ("a", None)], b"k", 1, topic, "both"),
        ([], b"k", 1, topic, None),
        (None, None, 1, topic, ""),
        (None, b"", 1, topic, "€"),
        (None, b"keyed", None, topic, "by key"),
    ]
    write(cluster.address, [batch_of(*rows)])
    messages_by_partition = cluster.read(topic, 5)
    assert flatten({1: messages_by_partition[1][:4]}) == [
        (1, b"k", b"both", [("a", b"1"), ("a", None)]),
        (1, b"k", None, None),
        (1, None, b"", None),
        (1, b"", "€".encode(), None),
    ]
    (keyed,) = [
        m
        for messages in messages_by_partition.values()
        for m in messages
        if m.key() == b"keyed"
    ]
    assert keyed.partition() == by_key(b"keyed")


def test_rows_go_to_the_topic_that_they_name(cluster):
    """Every row is written to its topic, in the order of the rows.

    An option with the topic has precedence over the column.
    """
    topics = [cluster.make_topic() for _ in range(3)]
    rows = [(None, b"k", 2, topics[n % 7 % 3], str(n)) for n in range(3000)]
    batches = [batch_of(*rows[n : n + 250]) for n in range(0, 3000, 250)]
    write(cluster.address, batches)
    for number, topic in enumerate(topics):
        expected = [b"%d" % n for n in range(3000) if n % 7 % 3 == number]
        messages_by_partition = cluster.read(topic, len(expected))
        assert [message.value() for message in messages_by_partition[2]] == expected
    default_topic = cluster.make_topic()
    write(cluster.address, batches, topic=default_topic)
    assert len(cluster.read(default_topic, 3000)[2]) == 3000


def test_tasks_without_rows_connect_to_nothing():
    """A task without rows connects to no broker."""
    for batches in ([], [batch_of((None, None, None, "t", "x")).slice(1)]):
        write("127.0.0.1:1", batches, **{"kafka.max.block.ms": "1"})


LAYOUTS = {
    "plain": (pa.string(), pa.binary(), HEADERS),
    "large": (
        pa.large_string(),
        pa.large_binary(),
        pa.large_list(
            pa.struct(
                [
                    pa.field("key", pa.large_string(), nullable=False),
                    pa.field("value", pa.large_binary()),
                ]
            )
        ),
    ),
    "dictionary": (
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.binary()),
        HEADERS,
    ),
}
if hasattr(pa, "string_view") and int(pa.__version__.split(".")[0]) >= 18:
    LAYOUTS["views"] = (pa.string_view(), pa.binary_view(), HEADERS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_columns_of_other_layouts_are_the_same_records(cluster, layout):
    """Columns of any Arrow layout result in the same records.

    The columns have large types, or are slices.
    """
    text, binary, headers = LAYOUTS[layout]
    topic = cluster.make_topic()
    columns = {
        "value": pa.array([b"skipped", b"1", None, b"3"], pa.binary()).cast(binary)
        if layout != "dictionary"
        else pa.array([b"skipped", b"1", None, b"3"]).dictionary_encode().cast(binary),
        "topic": pa.array([topic] * 4, text)
        if layout != "dictionary"
        else pa.array([topic] * 4).dictionary_encode(),
        "headers": pa.array([None, [("h", b"x")], None, [("i", None)]], headers),
        "partition": pa.array([0, 3, 3, 3], pa.int32()),
    }
    batch = pa.RecordBatch.from_pydict(columns).slice(1)
    write(cluster.address, [batch], tuple(columns))
    assert flatten(cluster.read(topic, 3)) == [
        (3, None, b"1", [("h", b"x")]),
        (3, None, None, None),
        (3, None, b"3", [("i", None)]),
    ]


def test_a_large_value_is_one_request(cluster):
    """A value of 2 MB is sent in one request, although it exceeds max.request.size.

    The broker decides whether it accepts the value.
    """
    topic = cluster.make_topic()
    values = pa.array([b"before", bytes(2_000_000), b"after"])
    batch = pa.RecordBatch.from_arrays([values], ["value"])
    settings = {"topic": topic, "kafka.max.request.size": "1000"}
    write(cluster.address, [batch], ("value",), **settings)
    messages_by_partition = cluster.read(topic, 3)
    lengths = sorted(
        len(m.value()) for messages in messages_by_partition.values() for m in messages
    )
    assert lengths == [5, 6, 2_000_000]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_options_of_the_producer_are_followed(cluster, codec):
    topic = cluster.make_topic()
    batch = pa.RecordBatch.from_pydict({"value": ["x" * 50] * 500})
    settings = {"kafka.compression.type": codec, "kafka.acks": "1", "topic": topic}
    write(cluster.address, [batch], ("value",), **settings)
    messages_by_partition = cluster.read(topic, 500)
    assert {
        m.value() for messages in messages_by_partition.values() for m in messages
    } == {b"x" * 50}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ((None, None, None, None, "x"), "a row has no topic (its column topic is nul"),
        (([None], None, None, "t", "x"), "a header has no key (it is null)"),
        (([("a", b""), (None, b"")], None, None, "t", "x"), "a header has no key"),
    ],
)
def test_rows_that_are_not_records_are_rejected(row, text):
    """A row that is not a valid record raises an error with the column.

    The error is raised before a request is sent.
    """
    with pytest.raises(EncodeError) as caught:
        write("127.0.0.1:1", [batch_of(row)])
    assert text in str(caught.value)


def test_missing_topic_or_partition_is_named_in_the_error(cluster):
    """If a topic or a partition does not exist, the error contains the brokers."""
    topic = cluster.make_topic()
    with pytest.raises(TopicNotFound) as caught:
        write(cluster.address, [batch_of((None, None, 77, topic, "x"))])
    assert f"{cluster.address}: topic '{topic}' has no partition 77" in str(
        caught.value
    )
    assert cluster.read(topic, 0)


def test_rows_that_a_broker_refuses_are_named():
    """If a broker rejects rows, the error has the topic, the partition and the cause.

    Later rows are not written.
    """
    with LogBroker({"orders": (0,)}) as broker:
        refused = (error_codes.MESSAGE_TOO_LARGE, False)
        batch = pa.RecordBatch.from_pydict({"value": ["x"]})

        def batches():
            for _ in range(1000):
                broker.node.produce_error = refused
                yield batch
            pytest.fail("the task went on after rows were refused")

        with pytest.raises(DeliveryFailed) as caught:
            write(broker.address, batches(), ("value",), topic="orders")
    assert str(caught.value).startswith("writing 1 records to orders-0: ")
    assert "MESSAGE_TOO_LARGE" in str(caught.value)


def test_unreachable_brokers_are_named_in_the_error():
    batch = pa.RecordBatch.from_pydict({"value": ["x"]})
    settings = {"topic": "orders", "kafka.max.block.ms": "300"}
    with pytest.raises(ClusterError, match=r"127\.0\.0\.1:1"):
        write("127.0.0.1:1", [batch], ("value",), **settings)


def test_rows_make_the_same_batches(cluster, monkeypatch):
    """Rows are written in the same batches as record batches.

    PySpark 4.0 passes the rows of a stream separately, with bytearrays.
    """
    monkeypatch.setattr(live_writing, "ROWS_AT_ONCE", 3)
    topic = cluster.make_topic()
    columns = [(name, kind.simpleString()) for name, kind in TYPES.items()]
    places = find_columns(columns, None)
    rows = [
        (n, [("h", bytearray(b"1"))], bytearray(b"k"), 2, topic, f"v{n}")
        for n in range(7)
    ] + [(None, None, None, 2, topic, None)]
    batches = list(live_writing.make_batches(iter(rows), places))
    assert [batch.num_rows for batch in batches] == [3, 3, 2]
    write(cluster.address, batches)
    assert flatten(cluster.read(topic, 8)) == [
        *((2, b"k", b"v%d" % n, [("h", b"1")]) for n in range(7)),
        (2, None, None, None),
    ]


def test_writers_append_and_nothing_else():
    """A writer only supports appending. Overwriting raises an error.

    A stream overwrites in the output mode "complete".
    """
    settings = {"kafka.bootstrap.servers": "broker:9092", "topic": "orders"}
    schema = schema_of(["value"])
    with pytest.raises(ValueError, match=r'use mode\("append"\) \(got overwrite\)'):
        make_writer(settings, schema, True)
    with pytest.raises(ValueError, match=r'outputMode\("append"\) \(got complete\)'):
        make_stream_writer(settings, schema, True)
    writer = make_writer(settings, schema, False)
    writer.commit([None])
    writer.abort([None])
    stream = make_stream_writer(settings, schema, False)
    stream.commit([None], 1)
    stream.abort([None], 1)
