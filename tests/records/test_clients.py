# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Exchanges records between kwire and librdkafka over sockets, in every format.

librdkafka's consumer fetches batches that kwire encoded, and its producer sends batches
that kwire decodes. The broker is ``one_broker.py`` with the tested magic, or
librdkafka's mock cluster for magic 2. The tests use the loopback interface only, and
every wait has a timeout.
"""

import socket
import struct
import time
from typing import NamedTuple

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from kwire import messages
from kwire.messages import framing
from tests.harness.one_broker import Broker

pytestmark = pytest.mark.gate_on_pure

TIMEOUT_S = 30
TIME = 1_600_000_000_000
NAMES = ("none", "gzip", "snappy", "lz4", "zstd")
CODECS = {0: NAMES[:4], 1: NAMES[:4], 2: NAMES}

PLAIN = tuple(
    [
        (b"key", b"value", TIME, ()),
        (None, b"", TIME - 5, ()),
        (b"", None, TIME + 70_000, ()),
        (bytes(300), bytes(9000), TIME + 1, ()),
    ]
    + [(b"key-%d" % n, b"value %d" % n * 5, TIME + n, ()) for n in range(100)]
)
HEADERS = tuple(
    (b"k", b"v" * 50, TIME, (("größe", b"\0\xff"), ("dup", b"1"), ("dup", None)))
    for _ in range(9)
)
PRODUCER = {"producer_id": 9, "producer_epoch": 1, "base_sequence": 0}
FEATURES = {
    "plain": (PLAIN, {}),
    "high offsets": (PLAIN, {"base_offset": 2**40}),
    "log append time": (PLAIN, {"log_append_time": TIME + 10**6}),
    "headers": (HEADERS, {}),
    "transactional": (PLAIN, {**PRODUCER, "is_transactional": True}),
    "kept last offset": (PLAIN, {"last_offset": 5000}),
}
SINCE = {"log append time": 1, "headers": 2, "transactional": 2, "kept last offset": 2}


class Received(NamedTuple):
    """Record that a client has returned, in a form that all clients share."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple


def consume(address, starts_and_counts, **options):
    """Consume topics with librdkafka, and return the received records by topic.

    ``starts_and_counts`` maps a topic to (start offset, expected record count). The
    consumer reads a bit longer, so that unexpected records are received too.
    """
    consumer = Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "readers",
            "enable.auto.commit": False,
            "check.crcs": True,
            "fetch.wait.max.ms": 20,
            "log_level": 2,
            **options,
        }
    )
    received: dict[str, list[Received]] = {topic: [] for topic in starts_and_counts}
    try:
        # Without metadata, the consumer waits half a second before it looks up leaders.
        consumer.list_topics(timeout=TIMEOUT_S)
        consumer.assign(
            [TopicPartition(t, 0, start) for t, (start, _) in starts_and_counts.items()]
        )
        deadline = time.monotonic() + TIMEOUT_S
        missing = sum(count for _, count in starts_and_counts.values())
        while missing > 0 and time.monotonic() < deadline:
            missing -= receive_messages(consumer, received, missing, 0.5)
        receive_messages(consumer, received, 1000, 0.2)
    finally:
        consumer.close()
    return received


def receive_messages(consumer, received, count, timeout):
    """Consume up to ``count`` messages, and add them to ``received`` by topic.

    Return after ``timeout`` seconds, or when ``count`` messages have arrived. Errors of
    the client are raised.
    """
    arrived = consumer.consume(count, timeout)
    for message in arrived:
        if message.error():
            raise KafkaException(message.error())
        kind, timestamp = message.timestamp()
        received[message.topic()].append(
            Received(
                message.offset(),
                timestamp if kind else -1,
                message.key(),
                message.value(),
                tuple(message.headers() or ()),
            )
        )
    return len(arrived)


def expected(magic, rows, options):
    """Return the records that a client must receive for the rows of a batch.

    The timestamps are those that the magic and the options keep.
    """
    start = options.get("base_offset", 0)
    stamp = options.get("log_append_time") if magic else -1
    return [
        Received(start + n, timestamp if stamp is None else stamp, key, value, headers)
        for n, (key, value, timestamp, headers) in enumerate(rows)
    ]


def features(magic):
    """Return the features in ``FEATURES`` that a magic supports, by name."""
    return {
        name: feature
        for name, feature in FEATURES.items()
        if SINCE.get(name, 0) <= magic
    }


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_librdkafka_consumes_what_kwire_wrote(kwire, magic):
    """Test every compression and feature, with checksums verified by the client."""
    starts_and_counts, rows_of = {}, {}
    with Broker(magic) as broker:
        for codec in CODECS[magic]:
            for name, (rows, options) in features(magic).items():
                topic = f"{codec}-{name}".replace(" ", "-")
                data = kwire.records.encode_batch(
                    rows, magic=magic, compression=codec, **options
                )
                start = options.get("base_offset", 0)
                end = options.get("last_offset", start + len(rows) - 1) + 1
                broker.stored[topic] = data, end, ()
                starts_and_counts[topic] = start, len(rows)
                rows_of[topic] = expected(magic, rows, options)
        received = consume(broker.address, starts_and_counts)
    assert broker.failures == []
    assert received == rows_of


def test_librdkafka_and_kwire_omit_the_same_aborted_records(kwire):
    """The same aborted transactions are omitted by librdkafka and by kwire.

    The log contains interleaved committed and aborted transactions, and other batches.
    """

    def batch(name, offset, producer_id=-1, **options):
        if producer_id >= 0:
            options["producer_epoch"] = 0
            options.setdefault("is_transactional", True)
            if "is_control" not in options:
                options["base_sequence"] = 0
        rows = [(name, b"value %d" % n) for n in range(3)]
        if "is_control" in options:
            rows = [(name, bytes(6), TIME)]
        return kwire.records.encode_batch(
            rows, base_offset=offset, producer_id=producer_id, **options
        )

    abort, commit = b"\0\0\0\0", b"\0\0\0\1"
    data = b"".join(
        (
            batch(b"committed", 0, 1),
            batch(b"aborted", 3, 2),
            batch(b"plain", 6),
            batch(abort, 9, 2, is_control=True),
            batch(b"committed", 10, 2, compression="gzip"),
            batch(commit, 13, 1, is_control=True),
            batch(commit, 14, 2, is_control=True),
            batch(b"aborted", 15, 1, compression="lz4"),
            batch(b"plain", 18),
            batch(abort, 21, 1, is_control=True),
        )
    )
    aborted = ((2, 3), (1, 15))
    with Broker(2) as broker:
        broker.stored["mixed"] = data, 22, aborted
        committed = consume(
            broker.address, {"mixed": (0, 12)}, **{"isolation.level": "read_committed"}
        )["mixed"]
        uncommitted = consume(
            broker.address,
            {"mixed": (0, 18)},
            **{"isolation.level": "read_uncommitted"},
        )["mixed"]
    assert broker.failures == []
    transactions = [
        kwire.messages.FetchResponse.AbortedTransaction(
            producer_id=producer_id, first_offset=offset
        )
        for producer_id, offset in aborted
    ]
    batches = list(
        kwire.records.decode_batches(data, aborted_transactions=transactions)
    )
    expected_rows = [
        (r.offset, r.key, r.value) for batch in batches for r in batch.records
    ]
    assert [(r.offset, r.key, r.value) for r in committed] == expected_rows
    assert {key for _, key, _ in expected_rows} == {b"committed", b"plain"}
    columns = kwire.records.columns.decode_records(
        data, aborted_transactions=transactions
    )
    assert columns.offset.tolist() == [offset for offset, _, _ in expected_rows]
    data_batches = [b for b in kwire.records.decode_batches(data) if not b.is_control]
    expected_rows = [
        (r.offset, r.key, r.value) for b in data_batches for r in b.records
    ]
    assert [(r.offset, r.key, r.value) for r in uncommitted] == expected_rows


def produce(address, topic, rows, **options):
    """Send all rows in one batch with librdkafka's producer.

    The linger time is long, and the producer is flushed after the last row, so that a
    slow machine does not split the batch.
    """
    producer = Producer(
        {
            "bootstrap.servers": address,
            "linger.ms": 1000 * TIMEOUT_S,
            "message.timeout.ms": 2000 * TIMEOUT_S,
            "log_level": 2,
            **options,
        }
    )
    # If the topic is unknown, the producer may send the first rows while others are
    # still being queued. A batch with a single row is not compressed.
    producer.list_topics(topic, timeout=TIMEOUT_S)
    for key, value, timestamp, headers in rows:
        header_options = {"headers": list(headers)} if headers else {}
        producer.produce(topic, value, key, 0, timestamp=timestamp, **header_options)
    assert producer.flush(TIMEOUT_S) == 0


@pytest.fixture(scope="module", params=[0, 1, 2])
def sent(request):
    """Return (magic, batches) that librdkafka's producers sent to a broker.

    The broker only supports this magic.
    """
    magic = request.param
    with Broker(magic) as broker:
        for codec in CODECS[magic]:
            produce(broker.address, codec, PLAIN, **{"compression.type": codec})
        if magic == 2:
            options = {"compression.type": "gzip"}
            produce(broker.address, "headers", HEADERS, **options)
            options = {"enable.idempotence": True}
            produce(broker.address, "idempotent", PLAIN, **options)
    assert broker.failures == []
    return magic, broker.produced


def test_kwire_reads_what_librdkafka_produces(kwire, sent):
    """Test every compression, headers and an idempotent producer, in all forms."""
    magic, produced = sent
    rows = dict.fromkeys(CODECS[magic], PLAIN)
    if magic == 2:
        rows |= {"headers": HEADERS, "idempotent": PLAIN}
    assert set(produced) == set(rows)
    for topic, parts in produced.items():
        received, columns = [], []
        for record_set in parts:
            batches = list(kwire.records.decode_batches(record_set))
            received += [record for batch in batches for record in batch.records]
            records = kwire.records.columns.decode_records(record_set)
            columns += zip(
                records.timestamp.tolist(), records.key, records.value, strict=True
            )
            assert {batch.magic for batch in batches} == {magic}
            if topic in NAMES:
                assert {batch.compression for batch in batches} == {topic}
            if topic == "idempotent":
                (batch,) = batches
                assert (batch.producer_id, batch.producer_epoch) == (2**33, 5)
                assert batch.base_sequence == received[0].offset
        expected_rows = [
            (-1 if magic == 0 else timestamp, key, value, headers)
            for key, value, timestamp, headers in rows[topic]
        ]
        assert [
            (r.timestamp, r.key, r.value, r.headers) for r in received
        ] == expected_rows
        assert columns == [row[:3] for row in expected_rows]


@pytest.fixture(scope="module")
def mock():
    """Yield the address of librdkafka's mock cluster with one broker."""
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
    (broker,) = handle.list_topics(timeout=TIMEOUT_S).brokers.values()
    # The cluster runs as long as the handle exists.
    yield broker.host, broker.port
    del handle


def send_request(address, request, version):
    """Send a request in a new connection, and return the decoded response."""
    with socket.create_connection(address, timeout=TIMEOUT_S) as connection:
        connection.sendall(framing.encode_request(request, version, 1, "kwire"))
        stream = connection.makefile("rb")
        (size,) = struct.unpack(">i", stream.read(4))
        answer = getattr(messages, type(request).__name__.replace("quest", "sponse"))
        _, response = framing.decode_response(answer, stream.read(size), version)
    return response


def create_topic(address, topic):
    """Create a topic with a Metadata request."""
    name = messages.MetadataRequest.MetadataRequestTopic(name=topic)
    request = messages.MetadataRequest(topics=[name], allow_auto_topic_creation=True)
    (answer,) = send_request(address, request, 4).topics
    assert answer.error_code == 0


def test_mock_cluster_serves_batches_of_kwire_to_librdkafka(kwire, mock):
    """Raw Produce requests are stored by the mock and consumed by librdkafka."""
    host, port = mock
    starts_and_counts, rows_of = {}, {}
    for codec in NAMES:
        for name in ("plain", "headers"):
            topic = f"{kwire.backend}-{codec}-{name}"
            create_topic(mock, topic)
            rows, _ = FEATURES[name]
            data = kwire.records.encode_batch(rows, compression=codec)
            partition = messages.ProduceRequest.PartitionProduceData(
                index=0, records=data
            )
            request = messages.ProduceRequest(
                acks=-1,
                timeout_ms=1000 * TIMEOUT_S,
                topic_data=[
                    messages.ProduceRequest.TopicProduceData(
                        name=topic, partition_data=[partition]
                    )
                ],
            )
            ((answer,),) = (
                topic_response.partition_responses
                for topic_response in send_request(mock, request, 7).responses
            )
            assert (answer.error_code, answer.base_offset) == (0, 0)
            starts_and_counts[topic] = 0, len(rows)
            rows_of[topic] = expected(2, rows, {})
    assert consume(f"{host}:{port}", starts_and_counts) == rows_of


def test_kwire_reads_what_the_mock_cluster_stores_for_librdkafka(kwire, mock):
    """Batches that librdkafka sent to its mock cluster are decoded.

    The producers use every compression, and the batches are fetched with raw requests.
    On a fast machine, librdkafka may send the first rows separately, and it leaves a
    batch uncompressed if compression would not reduce its size. A Fetch response
    contains one batch.
    """
    host, port = mock
    for codec in NAMES:
        topic = f"{kwire.backend}-sent-{codec}"
        produce(f"{host}:{port}", topic, PLAIN, **{"compression.type": codec})
        received, codecs = [], set()
        while len(received) < len(PLAIN):
            partition = messages.FetchRequest.FetchPartition(
                partition=0, fetch_offset=len(received), partition_max_bytes=1 << 20
            )
            fetch_topic = messages.FetchRequest.FetchTopic(
                topic=topic, partitions=[partition]
            )
            request = messages.FetchRequest(
                max_wait_ms=100, min_bytes=1, max_bytes=1 << 20, topics=[fetch_topic]
            )
            (answer,) = send_request(mock, request, 11).responses
            batches = list(
                kwire.records.decode_batches(answer.partitions[0].records or b"")
            )
            assert batches, f"{codec}: nothing after {len(received)} records"
            for batch in batches:
                codecs.add(batch.compression)
                received += batch.records
        assert codec in codecs and codecs <= {codec, "none"}
        assert received == [
            kwire.records.Record(**row._asdict()) for row in expected(2, PLAIN, {})
        ]
