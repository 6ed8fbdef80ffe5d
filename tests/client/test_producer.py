# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Producers of both runners write records to librdkafka's mock cluster.

The tests read the records back with librdkafka's consumer. ``tests/client/machines``
simulates errors, and ``test_producer_tables.py`` covers columns.
"""

import asyncio
import importlib
import time
from contextlib import asynccontextmanager
from uuid import uuid4

import pyarrow
import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Producer,
    TopicPartition,
)

from kwire.records import partitioners
from tests.client.runners import open_sockets

TIMEOUT_S = 30
PARTITIONS = 4


@pytest.fixture(scope="module")
def cluster():
    """Addresses and handle of librdkafka's mock cluster of three brokers."""
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 3})
    brokers = handle.list_topics(timeout=TIMEOUT_S).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers), handle
    del handle


@pytest.fixture
def topic(cluster):
    """New topic without records."""
    name = f"topic-{uuid4().hex[:8]}"
    topic_metadata = cluster[1].list_topics(name, timeout=TIMEOUT_S).topics[name]
    assert len(topic_metadata.partitions) == PARTITIONS
    return name


@pytest.fixture(params=["blocking", "asyncio"])
def produce(request, kwire, cluster):
    """Function that runs a coroutine function with a producer, with either runner."""
    client = importlib.import_module(f"{kwire.__name__}.client")

    class Awaitable:
        """Blocking producer with methods that can be awaited."""

        def __init__(self, producer):
            self.producer = producer

        def __getattr__(self, name):
            async def call(*arguments, **options):
                return getattr(self.producer, name)(*arguments, **options)

            return call

    @asynccontextmanager
    async def open_producer(options):
        if request.param == "blocking":
            with (
                client.connect_sync(cluster[0]) as kafka,
                kafka.producer(**options) as producer,
            ):
                yield Awaitable(producer)
        else:
            async with (
                client.connect(cluster[0]) as kafka,
                kafka.producer(**options) as producer,
            ):
                yield producer

    def run(function, **options):
        async def main():
            async with open_producer(options) as producer:
                return await function(producer)

        return asyncio.run(main(), debug=True)

    return run


def read(address, topic, count):
    """Read ``count`` messages with librdkafka. Return {partition: messages}."""
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "tests",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,
        }
    )
    # A consumer without metadata waits 0.5 s before it looks up the leaders.
    consumer.list_topics(topic, timeout=TIMEOUT_S)
    consumer.assign(
        [TopicPartition(topic, n, OFFSET_BEGINNING) for n in range(PARTITIONS)]
    )
    messages: dict[int, list] = {}
    ended, until = set(), time.monotonic() + TIMEOUT_S
    while len(ended) < PARTITIONS and time.monotonic() < until:
        message = consumer.poll(0.2)
        if message is None:
            continue
        if message.error() is None:
            messages.setdefault(message.partition(), []).append(message)
        else:
            assert message.error().code() == KafkaError._PARTITION_EOF
            ended.add(message.partition())
    consumer.close()
    assert len(ended) == PARTITIONS
    assert sum(map(len, messages.values())) == count
    return messages


def check_sockets(before):
    """Wait until at most ``before`` sockets are open.

    The mock cluster closes its own sockets slightly later.
    """
    until = time.monotonic() + TIMEOUT_S
    while open_sockets() > before and time.monotonic() < until:
        time.sleep(0.05)
    assert open_sockets() <= before


def rows_of(messages_by_partition):
    """Return {partition: [(key, value), ...]}."""
    return {
        partition: [(message.key(), message.value()) for message in messages]
        for partition, messages in messages_by_partition.items()
    }


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_rows_are_written_once_and_in_order(
    kwire, cluster, produce, topic, compression
):
    """The key determines the partition, and every batch has a receipt."""
    partitioners = importlib.import_module(f"{kwire.__name__}.records.partitioners")
    rows = [(b"k%d" % (n % 9), b"v%d" % n) for n in range(3000)]
    receipts = produce(
        lambda producer: producer.send_many(topic, iter(rows)),
        compression=compression,
        max_batch_bytes=3000,
    )
    expected: dict[int, list] = {}
    for row in rows:
        chosen = partitioners.murmur2_random(row[0], range(PARTITIONS), [])
        expected.setdefault(chosen, []).append(row)
    assert rows_of(read(cluster[0], topic, len(rows))) == expected
    assert sum(receipt.record_count for receipt in receipts) == len(rows)
    assert len(receipts) > 12
    for partition, written in expected.items():
        partition_receipts = sorted(
            receipt for receipt in receipts if receipt.partition == partition
        )
        assert {receipt.topic for receipt in partition_receipts} == {topic}
        ends = [
            receipt.base_offset + receipt.record_count for receipt in partition_receipts
        ]
        assert [receipt.base_offset for receipt in partition_receipts] == [
            0,
            *ends[:-1],
        ]
        assert ends[-1] == len(written)


def test_nulls_headers_and_timestamps_arrive_unchanged(kwire, cluster, produce, topic):
    """Nulls, headers and timestamps are written unchanged.

    A record without a timestamp gets the current time.
    """
    before = time.time_ns() // 1_000_000
    rows = [
        (None, b"v"),
        (b"k", None, 1234, [("h", b"1"), ("h", None)]),
        kwire.records.Record(key=b"r", value=b"x", timestamp=99),
    ]
    (receipt,) = produce(lambda producer: producer.send_many(topic, rows, partition=2))
    assert (receipt.partition, receipt.base_offset, receipt.record_count) == (2, 0, 3)
    (messages,) = read(cluster[0], topic, 3).values()
    first, second, third = messages
    assert before <= first.timestamp()[1] <= time.time_ns() // 1_000_000
    assert (first.key(), first.value()) == (None, b"v")
    assert (second.key(), second.value(), second.timestamp()[1]) == (b"k", None, 1234)
    assert second.headers() == [("h", b"1"), ("h", None)]
    assert (third.key(), third.value(), third.timestamp()[1]) == (b"r", b"x", 99)


def test_sent_records_share_batches(cluster, produce, topic):
    """Records that are sent one by one are written in common batches.

    ``on_receipt`` gets the receipts, and ``flush`` waits for them.
    """
    receipts = []

    async def send(producer):
        for n in range(500):
            await producer.send(topic, key=b"k%d" % (n % 3), value=b"%d" % n)
        await producer.flush()
        assert sum(receipt.record_count for receipt in receipts) == 500
        await producer.send(topic, value=b"last", partition=0, headers=[("h", b"x")])

    produce(send, on_receipt=receipts.append, linger_s=1)
    assert len(receipts) <= 10
    rows_by_partition = rows_of(read(cluster[0], topic, 501))
    for n in range(3):
        key = b"k%d" % n
        (values,) = [
            [value for record_key, value in rows if record_key == key]
            for rows in rows_by_partition.values()
            if any(record_key == key for record_key, _ in rows)
        ]
        assert values == [b"%d" % value for value in range(n, 500, 3)]


def test_records_without_a_key_fill_one_batch_after_the_other(cluster, produce, topic):
    """Records without a key fill a complete batch before they change the partition.

    All partitions get records.
    """
    rows = [(None, bytes(100))] * 2000
    receipts = produce(
        lambda producer: producer.send_many(topic, rows), max_batch_bytes=10_000
    )
    assert len(receipts) < 35
    assert len({receipt.partition for receipt in receipts}) == PARTITIONS
    read(cluster[0], topic, 2000)


def test_send_many_keeps_the_order_after_send(cluster, produce, topic):
    """Records from ``send`` are written first, even if they are still lingering."""

    async def both(producer):
        await producer.send(topic, value=b"first", partition=1)
        await producer.send_many(topic, [(None, b"second")], partition=1)

    produce(both, linger_s=60)
    rows_by_partition = rows_of(read(cluster[0], topic, 2))
    assert rows_by_partition == {1: [(None, b"first"), (None, b"second")]}


def test_tables_without_wait_are_acknowledged_later(cluster, produce, topic):
    """Order is kept after lingering records. ``flush`` waits for all receipts."""
    receipts = []

    async def send(producer):
        await producer.send(topic, value=b"first", partition=2)
        for start in range(0, 6000, 2000):
            values = [b"%d" % n for n in range(start, start + 2000)]
            table = pyarrow.table({"body": values})
            await producer.send_table(
                topic, table, value="body", partition=2, wait=False
            )
        await producer.flush()
        assert sum(receipt.record_count for receipt in receipts) == 6001
        await producer.send_table(topic, pyarrow.table({"value": ["last"]}), wait=False)

    produce(send, on_receipt=receipts.append, linger_s=60, memory_bytes=20_000)
    assert sum(receipt.record_count for receipt in receipts) == 6002
    messages = read(cluster[0], topic, 6002)
    values = [message.value() for message in messages[2]][:6001]
    assert values == [b"first", *(b"%d" % n for n in range(6000))]


def test_tables_are_accepted_while_batches_are_acknowledged(cluster, produce, topic):
    """The table has more batches than may be in flight, so that some finish early."""
    values = [b"%d" % n for n in range(3000)]

    async def send(producer):
        for _ in range(2):
            table = pyarrow.table({"value": values})
            await producer.send_table(topic, table, partition=0, wait=False)

    produce(send, max_batch_bytes=1000, max_request_bytes=1000)
    rows_by_partition = rows_of(read(cluster[0], topic, 6000))
    assert [value for _, value in rows_by_partition[0]] == values * 2


def test_a_table_without_wait_that_fails_fails_the_flush(
    kwire, cluster, produce, topic, monkeypatch
):
    """The error contains the partition. If it does not exist, the call itself fails."""
    errors = importlib.import_module(f"{kwire.__name__}.client.machines")
    machines = importlib.import_module(
        f"{kwire.__name__}.client.machines.produce.batch_sender"
    )
    table = pyarrow.table({"value": ["x", "y"]})

    async def send(producer):
        with pytest.raises(errors.TopicNotFound, match="has no partition 9"):
            await producer.send_table(topic, table, partition=9, wait=False)
        await producer.send_table(topic, table, partition=1, wait=False)
        with pytest.raises(errors.DeliveryFailed, match=f"2 records to {topic}-1: "):
            await producer.flush()
        await producer.flush()

    refuse = machines.Verdict.FAIL
    monkeypatch.setattr(machines, "read_verdict", lambda error_code: refuse)
    produce(send)


def test_a_partition_gets_records_in_the_order_of_the_calls(cluster, produce, topic):
    """Records of one partition keep the order of the calls.

    They have a partition, a key or neither, and are sent singly or in a list.
    """
    rows = [b"%d" % n for n in range(400)]

    async def write(producer):
        for n, value in enumerate(rows):
            method = n // 3 % 4
            if method == 0:
                await producer.send(topic, key=b"k", value=value)
            elif method == 1:
                await producer.send(topic, value=value, partition=key_partition)
            elif method == 2:
                await producer.send_many(topic, [(b"k", value)])
            else:
                await producer.send(topic, value=value, partition=other_partition)

    key_partition = partitioners.murmur2_random(b"k", list(range(PARTITIONS)), [])
    other_partition = (key_partition + 1) % PARTITIONS
    produce(write, linger_s=60)
    rows_by_partition = rows_of(read(cluster[0], topic, 400))
    values = {
        partition: [value for _, value in rows_by_partition[partition]]
        for partition in rows_by_partition
    }
    assert values[other_partition] == [
        value for n, value in enumerate(rows) if n // 3 % 4 == 3
    ]
    assert values[key_partition] == [
        value for n, value in enumerate(rows) if n // 3 % 4 != 3
    ]


def test_a_loop_of_sends_lets_other_tasks_run(kwire, cluster, topic):
    """``send`` must sometimes yield to the event loop, even if it need not wait.

    Otherwise, the task would starve the tasks that use the sockets.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")
    receipts = []

    async def main():
        async with (
            client.connect(cluster[0]) as kafka,
            kafka.producer(
                max_batch_bytes=2000, on_receipt=receipts.append
            ) as producer,
        ):
            until = time.monotonic() + TIMEOUT_S
            while not receipts and time.monotonic() < until:
                await producer.send(topic, key=b"k", value=b"v")
            assert receipts

    asyncio.run(main())


def test_a_failure_has_the_receipts_of_what_was_written(
    kwire, cluster, produce, topic, monkeypatch
):
    """Two partitions are written, but the third is not.

    The failure has the receipts of its own call. Another call has separate receipts.
    """
    errors = importlib.import_module(f"{kwire.__name__}.client.machines")
    machines = importlib.import_module(
        f"{kwire.__name__}.client.machines.produce.batch_sender"
    )
    take = machines.BatchSender._take_part
    table = pyarrow.table({"value": [b"a", b"b", b"c"], "partition": [0, 1, 2]})

    def refuse(self, writer, batch, part, *others):
        if batch.partition == 1:
            part = part.replace(error_code=kwire.error_codes.INVALID_RECORD)
        take(self, writer, batch, part, *others)

    async def write(producer):
        with pytest.raises(
            errors.DeliveryFailed, match=f"1 records to {topic}-1"
        ) as bad:
            await producer.send_table(topic, table, partition="partition")
        receipts = bad.value.receipts
        assert [receipt.partition for receipt in receipts] == [0, 2]
        assert [receipt.record_count for receipt in receipts] == [1, 1]
        with pytest.raises(errors.DeliveryFailed) as bad:
            await producer.send_many(topic, [(None, b"d")], partition=1)
        assert bad.value.receipts == ()
        assert errors.ClusterError("text").receipts == ()

    monkeypatch.setattr(machines.BatchSender, "_take_part", refuse)
    produce(write)


def test_a_partitioner_needs_no_hash(cluster, produce, topic):
    """Any callable is allowed, such as an instance whose class only has ``__eq__``."""

    class Second:
        """Partitioner that defines ``__eq__``, so that Python provides no hash."""

        def __eq__(self, other):
            return isinstance(other, Second)

        def __call__(self, key, all_partitions, available):
            return all_partitions[1]

    async def write(producer):
        await producer.send_many(topic, [(b"k", b"a")])
        await producer.send(topic, key=b"l", value=b"b")

    produce(write, partitioner=Second())
    assert rows_of(read(cluster[0], topic, 2)) == {1: [(b"k", b"a"), (b"l", b"b")]}


def test_a_function_chooses_partitions(cluster, produce, topic):
    """The function receives the key, which may be None, and the partitions."""
    calls = []

    def choose(key, all_partitions, available):
        calls.append((key, tuple(all_partitions)))
        return 3 if key is None else 1

    rows = [(None, b"a"), (b"k", b"b"), (bytearray(b"l"), b"c")]

    async def write(producer):
        await producer.send_many(topic, rows)
        await producer.send(topic, value=b"d")

    produce(write, partitioner=choose)
    rows_by_partition = rows_of(read(cluster[0], topic, 4))
    assert rows_by_partition == {
        3: [(None, b"a"), (None, b"d")],
        1: [(b"k", b"b"), (b"l", b"c")],
    }
    assert calls == [(k, (0, 1, 2, 3)) for k in (None, b"k", b"l", None)]


def test_missing_partition_is_rejected(kwire, cluster, produce, topic):
    """A partition that the topic does not have is rejected by all methods."""
    errors = importlib.import_module(f"{kwire.__name__}.client.machines")

    async def refuse(producer):
        with pytest.raises(errors.TopicNotFound, match="no partition 9"):
            await producer.send_many(topic, [(b"k", b"v")], partition=9)
        with pytest.raises(errors.TopicNotFound, match="no partition 9"):
            await producer.send(topic, value=b"v", partition=9)
        with pytest.raises(kwire.EncodeError, match="records"):
            await producer.send_many(topic, [(b"k", b"v"), (b"k", 5)])
        with pytest.raises(kwire.EncodeError):
            await producer.send(topic, value="text")
        with pytest.raises(TypeError, match="records must be an iterable"):
            await producer.send_many(topic, 5)
        return await producer.send_many(topic, [(b"k", b"v")])

    assert sum(receipt.record_count for receipt in produce(refuse)) == 1


def test_without_idempotence_one_batch_is_in_flight(cluster, produce, topic):
    """The order of records is kept, because only one batch is in flight."""
    rows = [(b"k", b"%d" % n) for n in range(1000)]
    produce(
        lambda producer: producer.send_many(topic, rows), acks=1, max_batch_bytes=2000
    )
    (stored_rows,) = rows_of(read(cluster[0], topic, 1000)).values()
    assert stored_rows == rows


def test_without_acknowledgement_nothing_is_waited_for(cluster, produce, topic):
    """The receipts have the offset -1. The records arrive if no error occurs."""
    rows = [(b"k", b"%d" % n) for n in range(100)]

    async def send(producer):
        return await producer.send_many(topic, rows)

    receipts = produce(send, acks=0)
    assert {receipt.base_offset for receipt in receipts} == {-1}
    assert sum(receipt.record_count for receipt in receipts) == len(rows)
    assert len(read(cluster[0], topic, len(rows))) == 1


def test_memory_is_bounded(cluster, produce, topic):
    """When its memory is used up, the producer waits for acknowledgements."""
    rows = [(b"k%d" % n, bytes(1000)) for n in range(5000)]
    receipts = produce(
        lambda producer: producer.send_many(topic, rows), memory_bytes=50_000
    )
    assert sum(receipt.record_count for receipt in receipts) == 5000

    async def send(producer):
        for row in rows[:500]:
            await producer.send(topic, key=row[0], value=row[1])

    produce(send, memory_bytes=50_000, linger_s=60)
    read(cluster[0], topic, 5500)


def test_large_rows_wait_while_memory_is_used_up(kwire, produce, topic, monkeypatch):
    """Large rows are added in small steps, so that the producer can wait for memory.

    A step of a thousand rows would exceed the limit.
    """
    machines = importlib.import_module(f"{kwire.__name__}.client.machines")
    add, held = machines.RecordBatcher.add, []

    def measured(self, rows, timestamp, now):
        add(self, rows, timestamp, now)
        held.append(self._machine.deliveries.held_bytes)

    monkeypatch.setattr(machines.RecordBatcher, "add", measured)
    rows = [(b"k%d" % n, bytes(50_000 if n > 300 else 10)) for n in range(500)]
    for row_source in (rows, iter(rows)):
        receipts = produce(
            lambda producer, row_source=row_source: producer.send_many(
                topic, row_source
            ),
            memory_bytes=1_000_000,
        )
        assert sum(receipt.record_count for receipt in receipts) == 500
        # A list may exceed the limit once, if its rows were small until then.
        assert sorted(held)[-2] < 1_300_000
        held.clear()


def test_a_row_that_is_none_leaves_no_memory_counted(kwire, produce, topic):
    """The rows before the invalid row are dropped, and their memory is released."""

    async def write(producer):
        machine = None
        for partition in (None, 2):
            rows = [(None, bytes(500)), (None, bytes(500)), (None, 5)]
            with pytest.raises(kwire.EncodeError):
                await producer.send_many(topic, iter(rows), partition=partition)
            machine = getattr(producer, "producer", producer)._machine
            assert machine.deliveries.held_bytes == 0

    produce(write)


def test_closed_producer_rejects_records(cluster, produce, topic):
    """Calls after ``close`` raise an error, except another ``close``."""

    async def close(producer):
        await producer.send(topic, value=b"v")
        await producer.close()
        await producer.close()
        for call in (
            producer.send(topic, value=b"v"),
            producer.send_many(topic, []),
            producer.flush(),
        ):
            with pytest.raises(ValueError, match="the producer is closed"):
                await call

    before = open_sockets()
    produce(close)
    check_sockets(before)
    read(cluster[0], topic, 1)


def test_exception_drops_unsent_records(cluster, produce, topic):
    """The block ends immediately, and all sockets are closed."""

    async def fail(producer):
        await producer.send(topic, value=b"dropped")
        raise KeyError("stop")

    before = open_sockets()
    with pytest.raises(KeyError, match="stop"):
        produce(fail, linger_s=60)
    check_sockets(before)
    time.sleep(0.2)
    assert rows_of(read(cluster[0], topic, 0)) == {}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"acks": 2}, 'acks must be "all", 1 or 0'),
        ({"acks": 1, "idempotent": True}, 'idempotent=True requires acks="all"'),
        ({"linger_s": -1}, "linger_s must be 0 or more"),
        ({"max_batch_bytes": 0}, "max_batch_bytes must be 1 or more"),
        ({"memory_bytes": 0}, "memory_bytes must be 1 or more"),
        ({"delivery_timeout_s": 0}, "delivery_timeout_s must be more than 0"),
    ],
)
def test_invalid_producer_options_are_rejected(kwire, options, text):
    """The error contains the argument, and is raised before a request is sent."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with pytest.raises(ValueError, match=text):
        client.connect_sync("localhost:1").producer(**options)


def test_invalid_partitioner_and_compression_are_rejected(kwire):
    """The partitioner is not a function, or the compression is unknown."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    kafka = client.connect_sync("localhost:1")
    with pytest.raises(TypeError, match="partitioner must be a function"):
        kafka.producer(partitioner="murmur2")
    with pytest.raises(kwire.EncodeError, match="compression"):
        kafka.producer(compression="lzma")


def test_unreachable_brokers_are_an_error_of_the_first_call(kwire):
    """The first call raises an error if no broker is reachable."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    errors = importlib.import_module(f"{kwire.__name__}.client.machines")
    with client.connect_sync("localhost:1") as kafka:
        producer = kafka.producer()
        with pytest.raises(errors.BrokersUnreachable):
            producer.send_many("orders", [(b"k", b"v")])
        producer.close(flush=False)


def test_many_tasks_share_a_producer(kwire, cluster, topic):
    """Tasks receive the receipts for their own rows. ``close`` wakes waiting tasks."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    errors = importlib.import_module(f"{kwire.__name__}.client.machines")

    async def main():
        async with client.connect(cluster[0]) as kafka:
            async with kafka.producer() as producer:
                calls = [
                    producer.send_many(topic, [(b"%d" % n, b"v")] * (n + 1))
                    for n in range(20)
                ]
                for n, receipts in enumerate(await asyncio.gather(*calls)):
                    assert sum(receipt.record_count for receipt in receipts) == n + 1
            producer = kafka.producer()
            task = asyncio.create_task(
                producer.send_many(topic, [(b"k", bytes(1000))] * 50_000)
            )
            await asyncio.sleep(0.01)
            await producer.close(flush=False)
            with pytest.raises(errors.ClusterError, match="the producer is closed"):
                await asyncio.wait_for(task, TIMEOUT_S)

    asyncio.run(main())
