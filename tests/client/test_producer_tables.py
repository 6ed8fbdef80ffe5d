# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write tables to librdkafka's mock cluster, and read them back with scans."""

import asyncio
import importlib
from uuid import uuid4

import pyarrow
import pytest
from confluent_kafka import Producer

TIMEOUT_S = 30
PARTITIONS = 4


@pytest.fixture(scope="module")
def cluster(request):
    """Addresses and handle of librdkafka's mock cluster."""
    options = {"bootstrap.servers": "mock", "test.mock.num.brokers": 1}
    # The optional parameter is the response time of the brokers in ms.
    late = {"test.mock.broker.rtt": getattr(request, "param", 0)}
    handle = Producer(options | late)
    brokers = handle.list_topics(timeout=TIMEOUT_S).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers), handle
    del handle


@pytest.fixture
def topic(cluster):
    """New topic without records."""
    name = f"topic-{uuid4().hex[:8]}"
    cluster[1].list_topics(name, timeout=TIMEOUT_S)
    return name


@pytest.fixture
def send(kwire, cluster, topic):
    """Function that writes a table. Returns the receipts and {partition: rows}."""
    client = importlib.import_module(f"{kwire.__name__}.client")

    def run(table, options=None, **columns):
        with client.connect_sync(cluster[0]) as kafka:
            with kafka.producer(**(options or {})) as producer:
                receipts = producer.send_table(topic, table, **columns)
            rows_by_partition = {}
            for chunk in kafka.scan(topic):
                rows_by_partition.setdefault(chunk.partition, []).extend(
                    chunk.records()
                )
        assert sum(receipt.record_count for receipt in receipts) == sum(
            map(len, rows_by_partition.values())
        )
        return receipts, rows_by_partition

    return run


def test_rows_go_to_the_partition_of_their_key(kwire, send):
    """Single records with the same key have the same partition. Text is UTF-8."""
    partitioners = importlib.import_module(f"{kwire.__name__}.records.partitioners")
    keys = [f"k{n % 11}" for n in range(5000)]
    values = [b"v%d" % n for n in range(5000)]
    table = pyarrow.table({"id": keys, "value": values, "other": range(5000)})
    receipts, rows_by_partition = send(table, {"max_batch_bytes": 8_000}, key="id")
    expected = {}
    for key, value in zip(keys, values, strict=True):
        key = key.encode()
        chosen = partitioners.murmur2_random(key, range(PARTITIONS), [])
        expected.setdefault(chosen, []).append((key, value))
    assert {
        partition: [(row.key, row.value) for row in rows]
        for partition, rows in rows_by_partition.items()
    } == expected
    assert len(receipts) > 8


def test_all_parts_of_a_record_may_be_columns(send):
    """Covers headers, timestamps and partitions.

    A null header list is empty, and a null timestamp becomes the current time.
    """
    pair = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])
    headers = [[{"key": "h", "value": b"1"}, {"key": "i", "value": None}], None, []]
    table = pyarrow.table(
        {
            "k": pyarrow.array([b"a", None, b"c"]),
            "v": pyarrow.array([None, b"2", b"3"]),
            "h": pyarrow.array(headers, pyarrow.list_(pair)),
            "t": pyarrow.array([1000, None, 3000]),
            "p": pyarrow.array([2, 0, 2], pyarrow.int64()),
        }
    )
    names = {"key": "k", "value": "v", "headers": "h", "timestamp": "t"}
    _, rows_by_partition = send(table, partition="p", **names)
    first, third = rows_by_partition[2]
    (second,) = rows_by_partition[0]
    assert (first.key, first.value, first.timestamp) == (b"a", None, 1000)
    assert first.headers == (("h", b"1"), ("i", None))
    assert (second.key, second.value, second.headers) == (None, b"2", ())
    assert second.timestamp > 1_600_000_000_000
    assert (third.key, third.timestamp, third.headers) == (b"c", 3000, ())


def test_rows_with_a_null_partition_go_to_the_partition_of_their_key(kwire, send):
    """A row without a key can be in any partition."""
    partitioners = importlib.import_module(f"{kwire.__name__}.records.partitioners")
    keys = [b"k%d" % (n % 7) for n in range(300)] + [None]
    partitions = [None if n % 3 else n % PARTITIONS for n in range(300)] + [None]
    table = pyarrow.table(
        {"key": keys, "value": [b"%d" % n for n in range(301)], "to": partitions}
    )
    _, rows_by_partition = send(table, key="key", partition="to")
    written = {
        int(row.value): partition
        for partition, rows in rows_by_partition.items()
        for row in rows
    }
    for n in range(300):
        by_key = partitioners.murmur2_random(keys[n], range(PARTITIONS), [])
        assert written[n] == (by_key if n % 3 else partitions[n])


def test_columns_of_other_layouts_are_the_same_rows(send):
    """Covers large types, dictionaries, and non-nullable fields."""
    pair = pyarrow.struct(
        [
            pyarrow.field("key", pyarrow.large_string(), nullable=False),
            pyarrow.field("value", pyarrow.large_binary()),
        ]
    )
    table = pyarrow.table(
        {
            "k": pyarrow.array(["a", None, "a"]).dictionary_encode(),
            "v": pyarrow.array([b"1", None, b"3"], pyarrow.large_binary()),
            "h": pyarrow.array(
                [[("x", b"y")], None, [("z", None)]], pyarrow.large_list(pair)
            ),
        }
    ).slice(1)
    _, rows_by_partition = send(table, key="k", value="v", headers="h", partition=2)
    rows = [(row.key, row.value, row.headers) for row in rows_by_partition[2]]
    assert rows == [(None, None, ()), (b"a", b"3", (("z", None),))]


def test_a_table_without_wait_is_in_flight(kwire, cluster, topic):
    """No batch waits for a slow caller, because all batches are in flight."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    table = pyarrow.table({"value": [bytes(500)] * 300})
    options = {"max_batch_bytes": 1000, "max_request_bytes": 1000}
    with client.connect_sync(cluster[0]) as kafka:
        with kafka.producer(**options) as producer:
            producer.send_table(topic, table, partition=1, wait=False)
            writers = producer._machine.deliveries.writers.values()
            left = [batch for writer in writers for batch in writer.batches]
            assert [batch for batch in left if not batch.is_in_flight] == []
        assert sum(len(chunk.records()) for chunk in kafka.scan(topic)) == 300


def test_batches_are_as_large_as_they_may_be(kwire, send):
    """Batches respect the maximum size, unless a single row exceeds it."""
    values = [bytes(n % 700) for n in range(3000)] + [bytes(9000)]
    table = pyarrow.table({"value": values})
    options = {"max_batch_bytes": 8000}
    receipts, rows_by_partition = send(table, options, partition=1)
    assert [row.value for row in rows_by_partition[1]] == values
    assert max(receipt.record_count for receipt in receipts[:-1]) > 10
    assert len(receipts) < 1.3 * sum(map(len, values)) / 8000 + 60


@pytest.mark.parametrize("cluster", [40], indirect=True, ids=["late brokers"])
def test_a_table_is_not_copied_to_be_sent(kwire, send, monkeypatch):
    """Only a limited part of the table is encoded while acknowledgements are late."""
    batches = importlib.import_module(f"{kwire.__name__}.client.table_batches")
    begin, fill, copied, held = (
        batches.TableBatcher.begin,
        batches.TableBatcher.fill,
        [],
        [],
    )

    def begin_measured(self, rows):
        before = pyarrow.total_allocated_bytes()
        begin(self, rows)
        copied.append(pyarrow.total_allocated_bytes() - before)

    def fill_measured(self, now):
        try:
            return fill(self, now)
        finally:
            held.append(self._machine.deliveries.held_bytes)

    monkeypatch.setattr(batches.TableBatcher, "begin", begin_measured)
    monkeypatch.setattr(batches.TableBatcher, "fill", fill_measured)
    values = [b"%04d" % n + bytes(5000) for n in range(600)]
    table = pyarrow.table({"value": values, "p": [n % 3 for n in range(600)]})
    options = {
        "memory_bytes": 400_000,
        "max_request_bytes": 100_000,
        "max_batch_bytes": 30_000,
    }
    _, rows_by_partition = send(table, options, partition="p")
    assert all(
        [row.value for row in rows_by_partition[n]] == values[n::3] for n in range(3)
    )
    assert max(copied) < table.nbytes / 10
    assert 400_000 < max(held) < 600_000


def test_batches_wait_for_rows_of_the_next_chunk(send):
    """If a table has many small chunks, it needs as few batches as one large chunk."""
    chunk = pyarrow.table({"value": [bytes(100)] * 5})
    receipts, _ = send(pyarrow.concat_tables([chunk] * 100), partition=1)
    assert [receipt.record_count for receipt in receipts] == [500]


def test_senders_that_share_the_memory_do_not_wait_for_each_other(kwire, cluster):
    """Incomplete batches are sent when they occupy most of the memory.

    Otherwise, each sender would wait for memory that the other senders use.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")
    names = [f"topic-{uuid4().hex[:8]}" for _ in range(4)]
    for name in names:
        cluster[1].list_topics(name, timeout=TIMEOUT_S)
    values = [bytes(1000)] * 60
    tables = [pyarrow.table({"value": values, "p": [n % 4 for n in range(60)]})] * 2

    async def run():
        options = {"memory_bytes": 60_000, "max_batch_bytes": 50_000}
        options["max_request_bytes"] = 10_000
        table = pyarrow.concat_tables(tables)
        rows = [(b"k%d" % n, value) for n, value in enumerate(values * 2)]
        async with (
            client.connect(cluster[0]) as kafka,
            kafka.producer(**options) as producer,
        ):
            calls = [producer.send_table(name, table, partition="p") for name in names]
            calls += [producer.send_many(name, rows) for name in names]
            return await asyncio.wait_for(asyncio.gather(*calls), TIMEOUT_S)

    receipts_by_call = asyncio.run(run())
    assert [
        sum(receipt.record_count for receipt in receipts)
        for receipts in receipts_by_call
    ] == ([120] * 8)


def test_row_that_cannot_be_encoded_is_named_in_the_error(kwire, cluster, topic):
    """The error contains the row in its chunk, and the producer remains usable."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    table = pyarrow.table({"value": ["a", "b"], "time": [5, -2]})
    with client.connect_sync(cluster[0]) as kafka, kafka.producer() as producer:
        for wait in (True, False):
            with pytest.raises(kwire.EncodeError) as caught:
                producer.send_table(
                    topic, table, timestamp="time", partition=1, wait=wait
                )
            assert caught.value.path == "records[1].timestamp"
        assert (
            producer._machine.deliveries.held_bytes
            == producer._machine.deliveries.open_bytes
            == 0
        )
        (receipt,) = producer.send_table(topic, table, partition=1)
        assert receipt.record_count == 2


def test_rows_without_a_key_go_to_batches_of_any_partition(send):
    """If rows have no key, they fill complete batches for one partition at a time."""
    table = pyarrow.table({"key": pyarrow.nulls(3000, pyarrow.binary())})
    table = table.append_column("value", pyarrow.array([bytes(100)] * 3000))
    receipts, _ = send(table, {"max_batch_bytes": 10_000}, key="key")
    assert len({receipt.partition for receipt in receipts}) == PARTITIONS
    assert len(receipts) < 50


def test_a_function_chooses_the_partitions_of_rows(send):
    """The function receives the key of every row."""
    options = {"partitioner": lambda key, all_partitions, available: 3}
    _, rows_by_partition = send(pyarrow.table({"value": ["x"]}), options)
    assert rows_by_partition[3][-1].value == b"x"


def test_tables_of_other_libraries_are_taken(kwire, send):
    """Supports any object with the Arrow interface, such as kwire's own records."""
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    data = kwire.records.encode_batch([(b"k", b"v", 5), (None, b"w", 6)])
    names = {"key": "key", "headers": "headers", "timestamp": "timestamp"}
    _, rows_by_partition = send(columns.decode_records(data), partition=0, **names)
    rows = [(row.key, row.value, row.timestamp) for row in rows_by_partition[0]]
    assert rows == [(b"k", b"v", 5), (None, b"w", 6)]


def test_invalid_column_arguments_are_rejected(kwire, cluster, topic):
    """The error contains the argument, and is raised before a request is sent."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    errors = importlib.import_module(f"{kwire.__name__}.client.machines")
    table = pyarrow.table({"value": ["x"], "list": [[1]], "p": [9]})
    with client.connect_sync(cluster[0]) as kafka, kafka.producer() as producer:
        with pytest.raises(ValueError, match="key must be the name of a column"):
            producer.send_table(topic, table, key="id")
        with pytest.raises(TypeError, match="value cannot be column 'list'"):
            producer.send_table(topic, table, value="list")
        with pytest.raises(TypeError, match="headers cannot be column 'list'"):
            producer.send_table(topic, table, headers="list")
        for partition in (9, "p", -1):
            with pytest.raises(errors.TopicNotFound, match="no partition"):
                producer.send_table(topic, table, partition=partition)
