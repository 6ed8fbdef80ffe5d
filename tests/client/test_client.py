# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Scans with both runners: their records, and all result forms.

The tests use a simulated broker on the loopback interface, and librdkafka's mock
cluster. Errors are in ``test_client_errors.py``, and the ways to end a scan in
``test_client_ends.py``.
"""

import asyncio
import importlib
import re
from datetime import UTC, datetime, timedelta

import duckdb
import polars
import pyarrow
import pytest
from confluent_kafka import Producer

from tests.client.log_broker import LogBroker

COUNTS = {"orders": (35, 20), "orders-eu": (5,), "other": (7,)}


@pytest.fixture(scope="module")
def broker():
    """Broker with several topics. Tests do not change it."""
    with LogBroker(COUNTS) as running:
        yield running


@pytest.fixture(params=["blocking", "asyncio"])
def read(request, kwire):
    """Function that reads a scan up to its end, and returns its chunks.

    Its parameters are the address, the topics and the scan options.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")

    def read_sync(address, topics, **options):
        with client.connect_sync(address) as kafka:
            return list(kafka.scan(topics, **options))

    def read_async(address, topics, **options):
        async def run():
            async with client.connect(address) as kafka:
                return [chunk async for chunk in kafka.scan(topics, **options)]

        return asyncio.run(run(), debug=True)

    return read_sync if request.param == "blocking" else read_async


def values_by_offset(chunks):
    """Return {(topic, partition): {offset: value}} from chunks."""
    seen = {}
    for chunk in chunks:
        rows = seen.setdefault((chunk.topic, chunk.partition), {})
        rows.update((row.offset, row.value) for row in chunk.records())
        assert len(chunk.columns) == len(chunk.records())
    return {topic_partition: rows for topic_partition, rows in seen.items() if rows}


def expected_values(broker, partitions, start=0, end=1 << 62):
    """Return the broker's records in the same format as ``values_by_offset``."""
    return {
        (topic, partition): broker.log(topic, partition).readable(start, end, False)
        for topic, partition in partitions
    }


ORDERS = [("orders", 0), ("orders", 1)]


@pytest.mark.parametrize(
    ("topics", "partitions"),
    [
        ("orders", ORDERS),
        (["orders", "other"], [*ORDERS, ("other", 0)]),
        (re.compile("orders.*"), [*ORDERS, ("orders-eu", 0)]),
        ({"orders": [1], "other": [0]}, [("orders", 1), ("other", 0)]),
    ],
    ids=["name", "names", "pattern", "partitions"],
)
def test_topics_are_read_as_they_are_named(read, broker, topics, partitions):
    """Every record is read once, however the topics are specified."""
    assert values_by_offset(read(broker.address, topics)) == expected_values(
        broker, partitions
    )


def test_offsets_begin_and_end_a_scan(read, broker):
    """``start`` is inclusive and ``end`` is exclusive."""
    chunks = read(broker.address, {"orders": [0]}, start=3, end=17)
    assert values_by_offset(chunks) == expected_values(broker, [("orders", 0)], 3, 17)
    assert chunks[-1].high_watermark == 35


def test_a_scan_from_latest_has_nothing(read, broker):
    """The scan ends at the log end offsets from when it started."""
    assert values_by_offset(read(broker.address, "orders", start="latest")) == {}


def test_offsets_can_be_given_by_partition(read, broker):
    """The keys of the dict are partitions if the scan has only one topic.

    Otherwise, they are (topic, partition) pairs.
    """
    by_number = read(broker.address, "orders", start={0: 30, 1: "latest"})
    by_place = read(
        broker.address, "orders", start={("orders", 0): 30, ("orders", 1): "latest"}
    )
    assert (
        values_by_offset(by_number)
        == expected_values(broker, [("orders", 0)], 30)
        == values_by_offset(by_place)
    )


def test_times_begin_and_end_a_scan(read, broker):
    """The broker looks up the times. Records have timestamps 1001, 1002, ... ms."""
    start = datetime.fromtimestamp(1.011, UTC)
    end = datetime.fromtimestamp(1.021, UTC)
    chunks = read(broker.address, {"orders": [0]}, start=start, end=end)
    assert values_by_offset(chunks) == expected_values(broker, [("orders", 0)], 10, 20)


def test_a_duration_is_so_long_ago(read, broker):
    """A duration is subtracted from the current time.

    No record is from the last hour, and all records are from the last 100 years.
    """
    assert (
        values_by_offset(read(broker.address, "other", start=timedelta(hours=1))) == {}
    )
    chunks = read(broker.address, "other", start=timedelta(days=36500))
    assert values_by_offset(chunks) == expected_values(broker, [("other", 0)])


def test_scan_continues_at_the_position_of_the_previous_scan(kwire, broker):
    """The first scan stops early. Together, both scans read every record once."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        first = kafka.scan("orders", memory_bytes=1 << 11)
        chunks = [next(first), next(first)]
        position = first.position()
        first.close()
        assert first.position() == position
        rest = list(kafka.scan("orders", start=position))
    both = values_by_offset([*chunks, *rest])
    assert both == expected_values(broker, ORDERS)
    assert sum(len(chunk.records()) for chunk in [*chunks, *rest]) == 55


def test_a_position_survives_a_scan_that_read_nothing(kwire, broker):
    """If a scan returns no chunks, its position is the offset at which it started."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    start = {("orders", 0): 20, ("orders", 1): 5}
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders", start=start)
        assert scan.position() == start
        scan.close()
        assert scan.position() == start
        partition_scan = kafka.scan("orders", start={0: 20, 1: 5})
        assert partition_scan.position() == start


def test_records_come_one_by_one_with_their_place(kwire, broker):
    """``records()`` returns all record fields, in both scan classes."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        rows = list(kafka.scan("other").records())

    async def run():
        async with client.connect(broker.address) as kafka:
            return [record async for record in kafka.scan("other").records()]

    assert rows == asyncio.run(run(), debug=True)
    assert [row.offset for row in rows] == list(range(7))
    assert {(row.topic, row.partition) for row in rows} == {("other", 0)}
    assert rows[0].timestamp == 1001 and rows[0].headers == ()
    assert rows[0].key.startswith(b"key-") and rows[0].value == b"other.3-0#1"


def test_a_scan_is_a_table(kwire, broker):
    """pyarrow, polars and DuckDB read a scan as an Arrow stream."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        table = pyarrow.table(kafka.scan("orders"))
        assert table.column_names == [
            "topic",
            "partition",
            "offset",
            "timestamp",
            "timestamp_type",
            "key",
            "value",
            "headers",
        ]
        assert table.num_rows == 55
        frame = polars.DataFrame(kafka.scan("orders", columns=("offset", "value")))
        assert frame.columns == ["offset", "value"]
        assert sorted(frame["value"]) == sorted(table["value"].to_pylist())
        scan = kafka.scan("orders", columns=["topic", "offset"])
        rows = duckdb.sql("select topic, count(*) from scan group by topic").fetchall()
        assert rows == [("orders", 55)]
        del scan


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_have_the_requested_unit(kwire, broker, unit):
    """The column type contains the unit, and the times are equal in all units."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        columns = ["timestamp"]
        table = pyarrow.table(kafka.scan("other", columns=columns, timestamp_unit=unit))
    assert table.schema.field("timestamp").type == pyarrow.timestamp(unit, "UTC")
    assert table["timestamp"][0].as_py().timestamp() == pytest.approx(1.001, abs=1)


def test_views_have_the_rows_of_the_copies(kwire, broker):
    """Views remain valid after their chunk and connection are closed."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        plain = pyarrow.table(kafka.scan("orders"))
        table = pyarrow.table(kafka.scan("orders", views=True))
        chunks = [chunk.columns for chunk in kafka.scan("orders", views=True)]
    table.validate(full=True)
    views = pyarrow.binary_view()
    assert [table.schema.field(name).type for name in ("key", "value")] == [views] * 2
    order = [("partition", "ascending"), ("offset", "ascending")]
    assert table.cast(plain.schema).sort_by(order) == plain.sort_by(order)
    assert {pyarrow.array(columns.value).type for columns in chunks} == {views}
    values = [columns.value[row] for columns in chunks for row in range(len(columns))]
    assert sorted(values) == sorted(plain["value"].to_pylist())


@pytest.mark.parametrize("views", [False, True])
def test_an_empty_scan_has_a_schema(kwire, broker, views):
    """If a table has no rows, it still has all columns."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        full = pyarrow.table(kafka.scan("other", views=views))
        empty = pyarrow.table(kafka.scan("other", start="latest", views=views))
    assert empty.num_rows == 0
    assert empty.schema == full.schema


def test_librdkafkas_mock_cluster_is_read(read):
    """The librdkafka records have all codecs, headers and empty keys."""
    producer = Producer(
        {"bootstrap.servers": "mock", "test.mock.num.brokers": 3, "log_level": 0}
    )
    brokers = producer.list_topics(timeout=15).brokers.values()
    address = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    rows = [(None if n % 5 == 0 else b"k%d" % n, b"value %d" % n) for n in range(100)]
    for key, value in rows:
        producer.produce("live", key=key, value=value, headers=[("n", b"1")])
    producer.flush(15)
    chunks = read(address, "live")
    read_rows = [(row.key, row.value) for chunk in chunks for row in chunk.records()]
    assert sorted(read_rows, key=str) == sorted(rows, key=str)
    del producer
