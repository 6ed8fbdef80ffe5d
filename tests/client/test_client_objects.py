# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Clients, scans, producers and consumers as Python objects.

Closing them does not lose records. They emit a warning if they are not closed, and they
do not appear to be empty if they are used twice.
"""

import asyncio
import gc
import importlib
import json
import time
import warnings
from uuid import uuid4

import duckdb
import polars
import pyarrow
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.client.log_broker import LogBroker
from tests.client.runners import open_sockets

TIMEOUT_S = 30


@pytest.fixture(scope="module")
def cluster():
    """Address and handle for librdkafka's mock broker."""
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
    (broker,) = handle.list_topics(timeout=TIMEOUT_S).brokers.values()
    yield f"{broker.host}:{broker.port}", handle
    del handle


@pytest.fixture
def topic(cluster):
    """New topic without records."""
    name = f"topic-{uuid4().hex[:8]}"
    cluster[1].list_topics(name, timeout=TIMEOUT_S)
    return name


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


@pytest.fixture
def broker():
    """Broker with 300 records in both partitions."""
    with LogBroker({"orders": (300, 300)}) as running:
        yield running


def count_records(cluster, topic):
    """Count a topic's records with librdkafka."""
    consumer = Consumer({"bootstrap.servers": cluster[0], "group.id": "count"})
    try:
        partitions = consumer.list_topics(topic, TIMEOUT_S).topics[topic].partitions
        count = 0
        for partition in partitions:
            topic_partition = TopicPartition(topic, partition)
            low, high = consumer.get_watermark_offsets(
                topic_partition, timeout=TIMEOUT_S
            )
            count += high - low
        return count
    finally:
        consumer.close()


def wait_for_sockets(count):
    """Wait until at most ``count`` sockets are open.

    librdkafka closes the sockets of its mock broker slightly later.
    """
    deadline = time.monotonic() + TIMEOUT_S
    while open_sockets() > count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def send_blocking(client, address, topic, *, error=None, is_explicit=False):
    """Send ten records with the blocking client, and close the client.

    * ``is_explicit``: call ``close`` instead of leaving the client's block.
    * ``error``: exception to raise in the block.
    """
    kafka = client.connect_sync(address)
    producer = kafka.producer(linger_s=60)
    for _ in range(10):
        producer.send(topic, value=b"v")
    if is_explicit:
        kafka.close()
        return
    with kafka:
        if error is not None:
            raise error


def send_asyncio(client, address, topic, *, error=None, is_explicit=False):
    """Send ten records with the asyncio client, and close the client.

    The parameters are those of ``send_blocking``.
    """

    async def run():
        kafka = client.connect(address)
        producer = kafka.producer(linger_s=60)
        for _ in range(10):
            await producer.send(topic, value=b"v")
        if is_explicit:
            await kafka.close()
            return
        async with kafka:
            if error is not None:
                raise error

    asyncio.run(run())


@pytest.mark.parametrize("send", [send_blocking, send_asyncio])
@pytest.mark.parametrize("is_explicit", [False, True])
def test_closing_the_client_sends_waiting_records(
    client, cluster, topic, send, is_explicit
):
    send(client, cluster[0], topic, is_explicit=is_explicit)
    assert count_records(cluster, topic) == 10


@pytest.mark.parametrize("send", [send_blocking, send_asyncio])
def test_exception_in_the_client_block_drops_waiting_records(
    client, cluster, topic, send
):
    with pytest.raises(ZeroDivisionError):
        send(client, cluster[0], topic, error=ZeroDivisionError())
    assert count_records(cluster, topic) == 0


def test_closing_the_client_closes_everything_if_a_producer_fails(
    kwire, client, cluster, topic
):
    """If one producer fails, the others still send their records."""
    errors = importlib.import_module(f"{kwire.__name__}.client.machines")
    before = open_sockets()
    kafka = client.connect_sync(cluster[0])
    good = kafka.producer(linger_s=60)
    good.send(topic, value=b"v")
    bad = kafka.producer(linger_s=60)
    bad.send(topic, value=b"v")
    bad._machine.deliveries.background_failure = errors.ClusterError(
        "an earlier batch failed"
    )
    with pytest.raises(errors.ClusterError, match="an earlier batch failed"):
        kafka.close()
    assert count_records(cluster, topic) == 2
    wait_for_sockets(before)


@pytest.mark.parametrize("kind", ["scan", "producer", "consumer", "client"])
@pytest.mark.parametrize("runner", ["blocking", "asyncio"])
def test_object_collected_without_close_emits_a_resource_warning(
    client, cluster, topic, kind, runner
):
    """The warning contains the object, whose connections are closed."""
    before = open_sockets()

    async def use_asyncio():
        kafka = client.connect(cluster[0])
        if kind == "scan":
            await anext(aiter(scan := kafka.scan(topic, follow=True)))
            del scan
        elif kind == "producer":
            await kafka.producer().send(topic, value=b"v")
        elif kind == "consumer":
            consumer = kafka.consumer(topic, group_id="group", partitions="all")
            await consumer.poll(0.5)
            del consumer
        else:
            await kafka.topics()
        if kind != "client":
            kafka.has_connected = False
        del kafka
        gc.collect()
        async with asyncio.timeout(TIMEOUT_S):
            while open_sockets() > baseline:
                await asyncio.sleep(0.01)

    def use_blocking():
        kafka = client.connect_sync(cluster[0])
        if kind == "scan":
            next(kafka.scan(topic, follow=True))
        elif kind == "producer":
            kafka.producer().send(topic, value=b"v")
        elif kind == "consumer":
            kafka.consumer(topic, group_id="group", partitions="all").poll(0.5)
        else:
            kafka.topics()
        if kind != "client":
            kafka.has_connected = False
        del kafka
        gc.collect()

    with client.connect_sync(cluster[0]) as kafka, kafka.producer() as producer:
        producer.send_many(topic, [(None, b"v")])
    name = {"client": "Kafka"}.get(kind, kind.capitalize())
    with pytest.warns(ResourceWarning, match=rf"<{name}(Sync)? of .*close\(\)") as seen:
        if runner == "blocking":
            use_blocking()
        else:
            # The event loop opens sockets of its own, so that they are counted first.
            with asyncio.Runner() as loop:
                loop.get_loop()
                baseline = open_sockets()
                loop.run(use_asyncio())
    assert [str(warning.message).count("was not closed") for warning in seen] == [1]
    wait_for_sockets(before)


def test_objects_that_are_closed_or_unused_emit_no_warning(client, broker):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kafka = client.connect_sync(broker.address)
        kafka.scan("orders")
        kafka.producer()
        kafka.consumer("orders", group_id="group")
        del kafka
        with client.connect_sync(broker.address) as kafka:
            list(kafka.scan("orders"))
            scan = kafka.scan("orders", memory_bytes=1 << 12)
            next(scan)
        del kafka, scan
        gc.collect()


def read_with_pyarrow(scan):
    """Count the rows that pyarrow reads from a scan."""
    return pyarrow.table(scan).num_rows


def read_with_polars(scan):
    """Count the rows that polars reads from a scan."""
    return polars.DataFrame(scan).height


def read_with_duckdb(scan):
    """Count the rows that DuckDB reads from a scan."""
    return len(duckdb.sql("select * from scan").fetchall())


def read_with_pandas(scan):
    """Count the rows that pandas reads from a scan, with the code in README."""
    return len(pyarrow.table(scan).to_pandas())


def read_chunks(scan):
    """Count the records in the chunks of a scan."""
    return sum(len(chunk.records()) for chunk in scan)


def read_messages(scan):
    """Count the records of a scan, which are read one by one."""
    return len(list(scan.records()))


READERS = [
    read_with_pyarrow,
    read_with_polars,
    read_with_duckdb,
    read_with_pandas,
    read_chunks,
    read_messages,
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("read_again", READERS)
def test_second_use_of_a_scan_raises(client, broker, read, read_again):
    """If a scan is used twice, it must not look like an empty topic."""
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders")
        assert read(scan) == 600
        with pytest.raises(Exception, match="already been consumed"):
            read_again(scan)


@pytest.mark.parametrize("read", READERS)
def test_closed_scan_raises(client, broker, read):
    """A frequent mistake is to use a scan when the client's block has ended."""
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders")
    with pytest.raises(Exception, match="the scan is closed"):
        read(scan)


@pytest.mark.parametrize("read_again", READERS)
def test_scan_that_a_stream_has_begun_raises(client, broker, read_again):
    """The remaining records must not look like the complete topic."""
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders", memory_bytes=1 << 12)
        reader = pyarrow.RecordBatchReader.from_stream(scan)
        assert reader.read_next_batch().num_rows < 600
        with pytest.raises(Exception, match="already been consumed"):
            read_again(scan)


def test_reading_the_schema_does_not_use_a_scan(client, broker):
    """Exporting the schema does not consume the scan.

    DuckDB and other libraries export one stream for the schema, then another stream.
    """
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders")
        assert "offset" in pyarrow.RecordBatchReader.from_stream(scan).schema.names
        assert read_with_polars(scan) == 600


def test_chunks_before_a_stream_are_not_in_the_stream(client, broker):
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders", memory_bytes=1 << 12)
        first = len(next(scan).records())
        assert 0 < first < 600
        assert pyarrow.table(scan).num_rows == 600 - first


def test_printed_duckdb_relation_raises_when_it_is_fetched(client, broker):
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders")
        relation = duckdb.sql("select * from scan")
        assert "600 rows" in str(relation)
        with pytest.raises(Exception, match="already been consumed"):
            relation.fetchall()
    del scan


def test_second_use_of_an_asyncio_scan_raises(client, broker):
    async def read():
        async with client.connect(broker.address) as kafka:
            scan = kafka.scan("orders")
            assert sum([len(chunk.records()) async for chunk in scan]) == 600
            with pytest.raises(ValueError, match="already been consumed"):
                [chunk async for chunk in scan]
            with pytest.raises(ValueError, match="already been consumed"):
                [record async for record in scan.records()]
        with pytest.raises(ValueError, match="already been consumed"):
            aiter(scan)

    asyncio.run(read())


@pytest.mark.parametrize(
    "read",
    [
        lambda chunk: [record for batch in chunk.batches() for record in batch.records],
        lambda chunk: chunk.records(),
        lambda chunk: list(chunk.iter_records()),
    ],
    ids=["batches", "records", "iter_records"],
)
def test_check_crc_of_a_scan_applies_to_every_form_of_its_chunks(kwire, client, read):
    """With ``check_crc=False``, a batch with a wrong checksum is read in all forms."""
    batch = bytearray(kwire.records.encode_batch([(b"k", b"v")]))
    batch[17] ^= 1
    with LogBroker({"orders": (0,)}) as broker:
        broker.log("orders").append_bytes(bytes(batch), 1)
        with client.connect_sync(broker.address) as kafka:
            (chunk,) = kafka.scan("orders", check_crc=False)
            assert [record.value for record in read(chunk)] == [b"v"]
            with kafka.scan("orders") as scan, pytest.raises(kwire.CorruptBatch):
                [read(chunk) for chunk in scan]


def test_scan_that_has_failed_raises_when_it_is_used_again(kwire, client):
    errors = importlib.import_module(f"{kwire.__name__}.client.machines")
    with client.connect_sync("127.0.0.1:1", timeout_s=0.05) as kafka:
        scan = kafka.scan("orders")
        with pytest.raises(errors.ClusterError):
            list(scan)
        with pytest.raises(ValueError, match="already been consumed"):
            list(scan)


def test_closed_consumer_raises_when_it_is_iterated_over(client, broker):
    with client.connect_sync(broker.address) as kafka:
        consumer = kafka.consumer("orders", group_id="group", partitions="all")
    with pytest.raises(ValueError, match="the consumer is closed"):
        list(consumer)

    async def read():
        async with client.connect(broker.address) as kafka:
            consumer = kafka.consumer("orders", group_id="group", partitions="all")
        with pytest.raises(ValueError, match="the consumer is closed"):
            [chunk async for chunk in consumer]

    asyncio.run(read())


def test_position_is_stored_as_json(client, broker):
    """The JSON has the same format as Spark's ``startingOffsets``."""
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders", memory_bytes=1 << 12)
        first = len(next(scan).records())
        text = scan.position().to_json()
        offsets = json.loads(text)["orders"]
        assert sorted(offsets) == ["0", "1"]
        assert sum(offsets.values()) == first
        start = client.Position.from_json(text)
        assert start == scan.position()
        rest = kafka.scan("orders", start=start)
        assert read_chunks(rest) == 600 - first
        assert rest.position().to_json() == '{"orders": {"0": 300, "1": 300}}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "7",
        "null",
        '{"a": 1}',
        '{"a": []}',
        '{"a": {"b": 1}}',
        "{" * 99_999,
        '{"a": {"0": -1}}',
        '{"a": {"0": 1.5}}',
        '{"a": {"0": true}}',
        "[" * 99_999,
        '{"a": {"-1": 1}}',
        '{"a": {"0": 9223372036854775808}}',
        '{"a": {"²": 1}}',
        '{"a": {"' + "1" * 5000 + '": 1}}',
    ],
)
def test_position_rejects_other_json(client, text):
    with pytest.raises(ValueError, match="reading a position: ") as error:
        client.Position.from_json(text)
    assert len(str(error.value)) < 250


def test_repr_shows_cluster_topics_and_position(client, broker):
    address = broker.address
    with client.connect_sync(address) as kafka:
        assert repr(kafka) == f"<KafkaSync of {address}>"
        scan = kafka.scan("orders")
        assert repr(scan) == f"<ScanSync of orders on {address}, not started>"
        next(scan)
        next(scan)
        assert f"orders on {address}, at orders-0:" in repr(scan)
        list(scan)
        assert repr(scan).endswith("consumed>")
        producer = kafka.producer()
        assert repr(producer) == f"<ProducerSync of {address}, not started>"
        consumer = kafka.consumer("orders", group_id="billing", partitions="all")
        assert "of orders on" in repr(consumer)
        assert "group billing, not started" in repr(consumer)
    assert repr(producer).endswith("closed>")
    assert repr(consumer).endswith("closed>")


def test_html_escapes_names_and_values(client):
    """Notebooks render the HTML, so topic names and records must not become markup."""
    hostile = "<img src=x>"
    with (
        LogBroker({hostile: (3,), "orders": (50,)}) as broker,
        client.connect_sync(broker.address) as kafka,
    ):
        topics = kafka.topics()
        scan = kafka.scan([hostile, "orders"])
        chunks = list(scan)
        for shown_object in (topics, scan, *chunks):
            page = shown_object._repr_html_()
            assert page.startswith("<table>")
            assert "<img" not in page
        assert "&lt;img src=x&gt;" in topics._repr_html_()
        assert topics["orders"].partitions
        chunk = next(chunk for chunk in chunks if chunk.topic == "orders")
        assert "<td>0</td>" in chunk._repr_html_()


def test_progress_counts_offsets_up_to_the_end(client, broker):
    seen = []
    with client.connect_sync(broker.address) as kafka:
        read_chunks(kafka.scan("orders", memory_bytes=1 << 12, progress=seen.append))
    assert len(seen) > 2
    assert [progress.total_offsets for progress in seen] == [600] * len(seen)
    done = [progress.done_offsets for progress in seen]
    assert done == sorted(done)
    assert done[-1] == 600
    assert seen[-1].received_bytes > seen[0].received_bytes > 0


def test_progress_of_an_asyncio_scan_is_reported_too(client, broker):
    seen = []

    async def read():
        async with client.connect(broker.address) as kafka:
            scan = kafka.scan("orders", progress=seen.append)
            return [chunk async for chunk in scan]

    assert len(asyncio.run(read())) == len(seen)
    assert seen[-1][:2] == (600, 600)


def test_progress_of_a_following_scan_has_no_total(client, broker):
    seen = []
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders", follow=True, progress=seen.append)
        next(scan)
    assert seen[0].total_offsets is None


def test_progress_bar_is_drawn_on_stderr(client, broker, capsys):
    with client.connect_sync(broker.address) as kafka:
        read_chunks(kafka.scan("orders", progress=True))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "reading" in shown.err
    assert "100%" in shown.err


def test_progress_bar_without_rich_names_the_package(client, broker, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rich", None)
    with (
        client.connect_sync(broker.address) as kafka,
        pytest.raises(ImportError, match=r"pip install 'kwire\[cli\]'"),
    ):
        kafka.scan("orders", progress=True)
