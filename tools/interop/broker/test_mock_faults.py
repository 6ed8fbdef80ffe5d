# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check scans and producers with librdkafka's mock cluster while it injects faults.

The faults are error codes in responses, closed connections, leader changes, stopped and
restarted brokers, and slow responses. Every scan must return all records exactly once
and in order. Every producer must write all rows at the positions in its receipts.

The mock cluster does not verify sequence numbers. A batch can therefore be duplicated
or reordered if its acknowledgement was lost. ``test_producer_kills.py`` uses real
brokers, which prevent that. The librdkafka library inside confluent-kafka exports the
required functions.
"""

from __future__ import annotations

import asyncio
import ctypes
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from kwire import client, error_codes
from kwire.messages import (
    FetchRequest,
    InitProducerIdRequest,
    ListOffsetsRequest,
    MetadataRequest,
    ProduceRequest,
)
from tools.interop.broker.broker import BrokerError

TOPIC = "faults"
BROKERS = 3
PARTITIONS = 4
ROWS = 2_000
SECONDS = 60
FAULTS_S = 3.0
"""Duration of the faults in seconds.

They must end, because a cluster that never recovers can never be read completely.
"""

CUT = -195
"""librdkafka's error code for closing the connection instead of responding."""

ERRORS: dict[Any, tuple[int, ...]] = {
    FetchRequest: (
        error_codes.NOT_LEADER_OR_FOLLOWER,
        error_codes.UNKNOWN_TOPIC_OR_PARTITION,
        error_codes.KAFKA_STORAGE_ERROR,
        error_codes.OFFSET_NOT_AVAILABLE,
        error_codes.UNKNOWN_SERVER_ERROR,
        error_codes.REQUEST_TIMED_OUT,
        error_codes.FENCED_LEADER_EPOCH,
        error_codes.UNKNOWN_LEADER_EPOCH,
        CUT,
    ),
    ListOffsetsRequest: (
        error_codes.NOT_LEADER_OR_FOLLOWER,
        error_codes.LEADER_NOT_AVAILABLE,
        error_codes.UNKNOWN_SERVER_ERROR,
        CUT,
    ),
    MetadataRequest: (error_codes.LEADER_NOT_AVAILABLE, CUT),
}

WRITE_ERRORS: dict[Any, tuple[int, ...]] = {
    ProduceRequest: (
        error_codes.NOT_LEADER_OR_FOLLOWER,
        error_codes.NOT_ENOUGH_REPLICAS,
        error_codes.KAFKA_STORAGE_ERROR,
        error_codes.REQUEST_TIMED_OUT,
        error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER,
        error_codes.UNKNOWN_PRODUCER_ID,
        CUT,
    ),
    InitProducerIdRequest: (
        error_codes.COORDINATOR_LOAD_IN_PROGRESS,
        error_codes.NOT_COORDINATOR,
        CUT,
    ),
    MetadataRequest: ERRORS[MetadataRequest],
}

Fields = tuple[int, int, bytes | None, bytes | None]
"""Partition, offset, key and value."""


class Mock:
    """Cluster of librdkafka's mock brokers. librdkafka's C interface controls it."""

    def __init__(self) -> None:
        """Start the mock brokers, which listen on the loopback interface."""
        package = Path(confluent_kafka.__file__).parent
        libraries = [
            *package.parent.glob("confluent_kafka.libs/librdkafka*"),
            *package.glob("librdkafka*"),
        ]
        if not libraries:
            raise BrokerError("confluent-kafka brings no librdkafka of its own")
        self._library: Any = ctypes.CDLL(str(libraries[0]))
        for name in ("conf_new", "new", "mock_cluster_new", "mock_cluster_bootstraps"):
            getattr(self._library, f"rd_kafka_{name}").restype = ctypes.c_void_p
        self._library.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
        reason = ctypes.create_string_buffer(512)
        settings = ctypes.c_void_p(self._library.rd_kafka_conf_new())
        # librdkafka would print a warning, because its own client has no bootstrap
        # servers.
        self._library.rd_kafka_conf_set(settings, b"log_level", b"0", reason, 512)
        producer = 0
        self._handle = ctypes.c_void_p(
            self._library.rd_kafka_new(producer, settings, reason, 512)
        )
        self._cluster = ctypes.c_void_p(
            self._library.rd_kafka_mock_cluster_new(self._handle, BROKERS)
        )
        addresses = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster)
        self.address = addresses.decode()

    def create_topic(self, name: str) -> None:
        """Create a topic that has a replica on every broker."""
        self._call("topic_create", name.encode(), PARTITIONS, BROKERS)

    def push_errors(self, api_key: int, codes: list[int]) -> None:
        """Fail the next requests of an API with Kafka errors, one for each request."""
        array = (ctypes.c_int * len(codes))(*codes)
        self._library.rd_kafka_mock_push_request_errors_array(
            self._cluster, ctypes.c_int16(api_key), ctypes.c_size_t(len(codes)), array
        )

    def forget_errors(self) -> None:
        """Discard the pushed errors that the brokers have not returned yet."""
        for request in ERRORS | WRITE_ERRORS:
            self._library.rd_kafka_mock_clear_request_errors(
                self._cluster, ctypes.c_int16(request.api_key)
            )

    def set_leader(self, topic: str, partition: int, node: int) -> None:
        """Make another broker the leader of a partition."""
        self._call("partition_set_leader", topic.encode(), partition, node)

    def set_up(self, node: int, is_up: bool) -> None:
        """Restart a broker if ``is_up`` is True. Otherwise stop it."""
        self._call("broker_set_up" if is_up else "broker_set_down", node)

    def set_delay(self, node: int, milliseconds: int) -> None:
        """Delay all responses of a broker by a number of milliseconds."""
        self._call("broker_set_rtt", node, milliseconds)

    def close(self) -> None:
        """Destroy the mock cluster and librdkafka's own client."""
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._handle)

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, f"rd_kafka_mock_{name}")(
            self._cluster, *arguments
        )
        if code:
            raise BrokerError(f"{name}{arguments} has ended with {code}")


def write(address: str) -> list[Fields]:
    """Write ``ROWS`` records with librdkafka in small batches.

    Returns (partition, offset, key, value) for each record, sorted by partition.
    """
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": address, "batch.num.messages": 20, "linger.ms": 2}
    )
    for number in range(ROWS):
        partition = number % PARTITIONS
        key, value = b"%d" % number, b"value %d " % number * 5
        producer.produce(TOPIC, value, key, partition=partition)
    if producer.flush(SECONDS):
        raise BrokerError("the mock has not taken what was written")
    return [
        (partition, offset, b"%d" % number, b"value %d " % number * 5)
        for partition in range(PARTITIONS)
        for offset, number in enumerate(range(partition, ROWS, PARTITIONS))
    ]


def read(address: str, is_async: bool, pause_s: float) -> list[Fields]:
    """Scan the complete topic and pause for ``pause_s`` seconds after each chunk.

    Returns (partition, offset, key, value) for each record in the order of the scan.
    """
    rows: list[Fields] = []

    def take(chunk: client.Chunk) -> None:
        rows.extend(
            (chunk.partition, row.offset, row.key, row.value) for row in chunk.records()
        )

    async def read_async() -> None:
        async with client.connect(address, timeout_s=SECONDS) as kafka:
            async for chunk in kafka.scan(TOPIC, memory_bytes=1 << 14):
                take(chunk)
                await asyncio.sleep(pause_s)

    if is_async:
        asyncio.run(read_async())
        return rows
    with client.connect_sync(address, timeout_s=SECONDS) as kafka:
        for chunk in kafka.scan(TOPIC, memory_bytes=1 << 14):
            take(chunk)
            time.sleep(pause_s)
    return rows


class Faults(threading.Thread):
    """Thread that injects faults for ``FAULTS_S`` seconds, or until ``is_over`` is set.

    At its end, it repairs the cluster, so that clients can read all records.
    """

    def __init__(
        self,
        mock: Mock,
        source: random.Random,
        topic: str,
        errors: dict[Any, tuple[int, ...]],
    ) -> None:
        super().__init__(daemon=True)
        self.count = 0
        self.is_over = threading.Event()
        self._mock = mock
        self._random = source
        self._topic = topic
        self._errors = errors

    def run(self) -> None:
        """Inject a random fault every 10 to 150 ms."""
        down = 0
        until = time.monotonic() + FAULTS_S
        while time.monotonic() < until and not self.is_over.wait(
            self._random.uniform(0.01, 0.15)
        ):
            self.count += 1
            kind = self._random.randrange(5)
            node = self._random.randint(1, BROKERS)
            if down:
                self._mock.set_up(down, True)
                down = 0
            if kind == 0:
                partition = self._random.randrange(PARTITIONS)
                self._mock.set_leader(self._topic, partition, node)
            elif kind == 1:
                self._mock.set_up(node, False)
                down = node
            elif kind == 2:
                self._mock.set_delay(node, self._random.choice([0, 5, 50]))
            else:
                request = self._random.choice(list(self._errors))
                some = self._random.choices(
                    self._errors[request], k=self._random.randint(1, 3)
                )
                self._mock.push_errors(request.api_key, some)
        for broker_id in range(1, BROKERS + 1):
            self._mock.set_up(broker_id, True)
            self._mock.set_delay(broker_id, 0)
        self._mock.forget_errors()


def produce(address: str, topic: str, is_async: bool) -> list[client.Receipt]:
    """Write ``ROWS`` numbered rows slowly, with seven different keys.

    Returns the receipts of the producer.
    """
    options: Any = {"max_batch_bytes": 1000, "delivery_timeout_s": SECONDS}
    lists = [
        [(b"k%d" % (n % 7), b"%d" % n) for n in range(start, start + 100)]
        for start in range(0, ROWS, 100)
    ]
    receipts: list[client.Receipt] = []

    async def produce_async() -> None:
        async with (
            client.connect(address, timeout_s=SECONDS) as kafka,
            kafka.producer(**options, on_receipt=receipts.append) as producer,
        ):
            for rows in lists:
                for key, value in rows:
                    await producer.send(topic, key=key, value=value)
                await asyncio.sleep(FAULTS_S / len(lists))

    if is_async:
        asyncio.run(produce_async())
        return receipts
    with (
        client.connect_sync(address, timeout_s=SECONDS) as kafka,
        kafka.producer(**options) as producer,
    ):
        for rows in lists:
            receipts += producer.send_many(topic, rows)
            time.sleep(FAULTS_S / len(lists))
    return receipts


def check_rows(
    address: str, topic: str, receipts: list[client.Receipt]
) -> tuple[int, int]:
    """Compare the records in a topic with the receipts.

    Returns how many rows are duplicates, and how many rows follow a later row with the
    same key. Brokers prevent both with batch sequence numbers, but the mock cluster
    does not.
    """
    partitions: dict[int, dict[int, int]] = {}
    with client.connect_sync(address, timeout_s=SECONDS) as kafka:
        for chunk in kafka.scan(topic):
            rows_by_offset = partitions.setdefault(chunk.partition, {})
            rows_by_offset.update(
                (row.offset, int(row.value or b"")) for row in chunk.records()
            )
    values = [
        value
        for rows_by_offset in partitions.values()
        for value in rows_by_offset.values()
    ]
    assert set(values) == set(range(ROWS))
    assert sum(receipt.record_count for receipt in receipts) == ROWS
    acknowledged: list[int] = []
    for receipt in sorted(receipts):
        rows_by_offset = partitions[receipt.partition]
        offsets = range(receipt.base_offset, receipt.base_offset + receipt.record_count)
        acknowledged += (rows_by_offset.get(offset, -1) for offset in offsets)
    assert sorted(acknowledged) == list(range(ROWS))
    late, last = 0, [-1] * 7
    for value in acknowledged:
        late += value < last[value % 7]
        last[value % 7] = max(last[value % 7], value)
    return len(values) - ROWS, late


@contextmanager
def disturb(
    mock: Mock, seed: int, topic: str, errors: dict[Any, tuple[int, ...]]
) -> Iterator[Faults]:
    """Inject faults during a ``with`` block, but at most for ``FAULTS_S`` seconds."""
    faults = Faults(mock, random.Random(seed), topic, errors)
    faults.start()
    try:
        yield faults
    finally:
        faults.is_over.set()
        faults.join()


@pytest.fixture
def mock() -> Iterator[Mock]:
    """Mock cluster that is destroyed at the end of the check."""
    cluster = Mock()
    yield cluster
    cluster.close()


@pytest.mark.plan(6, 1, at_night=20)
def test_scans_return_each_record_once_under_faults(
    mock: Mock, plan: tuple[int, int]
) -> None:
    scans, seed = plan
    mock.create_topic(TOPIC)
    expected = write(mock.address)
    count = 0
    for number in range(seed, seed + scans):
        pause_s = random.Random(number).choice([0.01, 0.04])
        with disturb(mock, number, TOPIC, ERRORS) as faults:
            rows_read = read(mock.address, bool(number % 2), pause_s)
        count += faults.count
        # The sort is stable, so it preserves the order within partitions.
        assert sorted(rows_read, key=lambda row: row[0]) == expected, f"seed {number}"
    print(f"{scans} scans under {count} faults, each record once and in order")


@pytest.mark.plan(4, 1, at_night=10)
def test_producers_write_each_row_under_faults(
    mock: Mock, plan: tuple[int, int]
) -> None:
    producers, seed = plan
    count = again = late = 0
    for number in range(seed, seed + producers):
        topic = f"written-{number}"
        mock.create_topic(topic)
        with disturb(mock, number, topic, WRITE_ERRORS) as faults:
            receipts = produce(mock.address, topic, bool(number % 2))
        more, displaced = check_rows(mock.address, topic, receipts)
        count, again, late = count + faults.count, again + more, late + displaced
    print(
        f"{producers} producers under {count} faults, each of {ROWS:,} records"
        " acknowledged once, where its receipt says; as the mock has no sequence"
        f" numbers, {again} are there again, {late} not in order"
    )
