# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``batch_rows``: chunks with a maximum record count, and their positions.

A program may stop after any part that a response contains. The next program continues
at the stored position or at the committed offset, so that no record is lost or read
twice.
"""

import asyncio
import importlib
from contextlib import asynccontextmanager

import pyarrow
import pytest

from kwire.records import encode_batch
from tests.client.log_broker import LogBroker

COUNTS = 25, 7
"""Record counts by partition, in batches with ten records."""
ALL = {(partition, n) for partition, count in enumerate(COUNTS) for n in range(count)}


@pytest.fixture(scope="module")
def broker():
    """Broker with a two-partition topic, and a topic with a damaged batch."""
    with LogBroker({"orders": COUNTS, "damaged": (10,)}) as running:
        batch = bytearray(encode_batch([(b"k", b"v")] * 3, base_offset=10))
        batch[-1] ^= 1
        running.log("damaged").append_bytes(bytes(batch), 3)
        yield running


class Reader:
    """Scan or consumer with either runner, with methods that can be awaited."""

    def __init__(self, reader):
        """Wrap a scan or a consumer."""
        self.reader = reader

    async def next(self):
        """Return the next chunk, or None when the end is reached."""
        if hasattr(self.reader, "__anext__"):
            return await anext(self.reader, None)
        return next(self.reader, None)

    async def commit(self, *chunks):
        """Commit as the wrapped consumer does."""
        done = self.reader.commit(*chunks)
        return await done if asyncio.iscoroutine(done) else done


@pytest.fixture(params=["blocking", "asyncio"])
def opened(request, kwire, broker):
    """Function that opens a reader, as an asynchronous context manager.

    ``kind`` is the name of the client method: "scan" or "consumer".
    """
    client = importlib.import_module(f"{kwire.__name__}.client")

    @asynccontextmanager
    async def open_reader(kind, topic="orders", **options):
        if request.param == "blocking":
            with (
                client.connect_sync(broker.address) as kafka,
                getattr(kafka, kind)(topic, **options) as reader,
            ):
                yield Reader(reader)
        else:
            async with (
                client.connect(broker.address) as kafka,
                getattr(kafka, kind)(topic, **options) as reader,
            ):
                yield Reader(reader)

    return open_reader


def offsets_of(chunk):
    """Return a chunk's offsets, which must be equal in all forms."""
    (decoded,) = chunk.iter_columns()
    offsets = chunk.columns.offset.tolist()
    assert decoded.offset.tolist() == offsets
    assert [record.offset for record in chunk.records()] == offsets
    assert [record.offset for record in chunk.iter_records()] == offsets
    assert chunk.to_arrow()["offset"].to_pylist() == offsets
    assert [record.value for record in chunk.records()] == chunk.to_arrow()[
        "value"
    ].to_pylist()
    assert chunk.start_offset <= offsets[0]
    assert chunk.next_offset > offsets[-1]
    return offsets


@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("batch_rows", [1, 4, 10, 100])
def test_no_chunk_of_a_scan_has_more_records(opened, batch_rows, views):
    """Each record is in exactly one chunk. The position is the end of this chunk."""

    async def check():
        seen, progress = [], []
        async with opened(
            "scan", batch_rows=batch_rows, views=views, progress=progress.append
        ) as scan:
            while (chunk := await scan.next()) is not None:
                offsets = offsets_of(chunk)
                assert len(offsets) <= batch_rows
                seen += [(chunk.partition, offset) for offset in offsets]
                topic_partition = (chunk.topic, chunk.partition)
                assert scan.reader.position()[topic_partition] == chunk.next_offset
        assert len(seen) == len(ALL)
        assert set(seen) == ALL
        last, whole = progress[-1], []
        async with opened("scan", progress=whole.append) as scan:
            while await scan.next() is not None:
                pass
        assert last == whole[-1]

    asyncio.run(check())


def test_the_tables_of_an_arrow_stream_have_no_more_records(kwire, broker):
    """The Arrow stream contains a record batch for each part."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        table = pyarrow.table(kafka.scan("orders", batch_rows=4))
    sizes = [batch.num_rows for batch in table.to_batches()]
    assert max(sizes) == 4
    assert sum(sizes) == len(ALL)


@pytest.mark.parametrize("parts", [1, 2, 3, 6])
def test_a_scan_continues_between_two_parts(opened, parts):
    """If a scan starts at the previous scan's position, no record is lost."""

    async def check():
        seen, position = [], "earliest"
        while True:
            async with opened("scan", batch_rows=3, start=position) as scan:
                for _ in range(parts):
                    chunk = await scan.next()
                    if chunk is None:
                        break
                    seen += [(chunk.partition, n) for n in offsets_of(chunk)]
                # If the dict omitted a partition, the scan would read it from its start
                # again.
                position = {("orders", n): 0 for n in range(len(COUNTS))}
                position |= scan.reader.position()
            if chunk is None:
                break
        assert len(seen) == len(ALL)
        assert set(seen) == ALL

    asyncio.run(check())


@pytest.mark.parametrize("names_chunk", [True, False])
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_a_consumer_that_stops_between_two_parts_loses_nothing(
    request, broker, opened, parts, names_chunk
):
    """The committed offset is the end of the last part that was returned.

    This also applies if ``commit`` gets no chunk.
    """
    group = f"group-{abs(hash(request.node.nodeid))}"
    broker.cluster_truth.add_group(group, ["orders"])

    async def check():
        seen = []
        options = {"group_id": group, "partitions": "all", "batch_rows": 3}
        while len(seen) < len(ALL):
            async with opened("consumer", **options) as consumer:
                for _ in range(parts):
                    chunk = await consumer.next()
                    seen += [(chunk.partition, n) for n in offsets_of(chunk)]
                    arguments = [chunk] if names_chunk else []
                    topic_partition = (chunk.topic, chunk.partition)
                    done = await consumer.commit(*arguments)
                    assert done[topic_partition] == chunk.next_offset
                    if len(seen) >= len(ALL):
                        break
                # The program stops here, before the response is completely decoded.
        assert len(seen) == len(ALL)
        assert set(seen) == ALL

    asyncio.run(check())


def test_seek_and_pause_drop_the_rest_of_a_chunk(broker, opened):
    """A seek or a pause drops the parts of a chunk that were not returned.

    The chunks from the new position respect the maximum as well.
    """
    broker.cluster_truth.add_group("seeking", ["orders"])

    async def check():
        options = {"group_id": "seeking", "partitions": [0], "batch_rows": 4}
        async with opened("consumer", **options) as consumer:
            assert offsets_of(await consumer.next()) == [0, 1, 2, 3]
            consumer.reader.seek(12)
            assert offsets_of(await consumer.next()) == [12, 13, 14, 15]
            consumer.reader.pause()
            assert consumer.reader.position() == {("orders", 0): 16}
            consumer.reader.resume()
            assert offsets_of(await consumer.next()) == [16, 17, 18, 19]

    asyncio.run(check())


def test_a_damaged_batch_raises_when_its_chunk_is_used(kwire, opened):
    """The error is raised when records of the chunk are decoded.

    The iteration over the chunks does not fail, as in a scan without a maximum.
    """

    async def check():
        async with opened("scan", "damaged", batch_rows=4) as scan:
            chunk = await scan.next()
            with pytest.raises(kwire.DecodeError):
                chunk.columns  # noqa: B018
            assert chunk.start_offset == 0

    asyncio.run(check())


@pytest.mark.parametrize("end", ["error", "disorder"])
def test_records_before_a_damaged_batch_are_returned(kwire, end):
    """The damaged rest of a chunk is one part, because it cannot be split."""
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    client = importlib.import_module(f"{kwire.__name__}.client.chunk_pieces")
    batch = kwire.records.encode_batch([(b"k", b"v")] * 3)

    class Chunk:
        data, start_offset, next_offset = batch, 0, 9

        def iter_columns(self):
            yield columns.decode_records(batch)
            if end == "error":
                raise kwire.CorruptBatch("damaged", 0)
            yield columns.decode_records(batch)
            yield columns.decode_records(batch)

    pieces = client.ChunkPieces(Chunk(), 2)
    assert [pieces.take().next_offset for _ in range(2)] == [2, 3]
    assert pieces.take() is None


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0, ValueError, r"batch_rows must be 1 or more \(got 0\)"),
        (True, TypeError, r"batch_rows must be an int or None \(got bool\)"),
        (1.5, TypeError, r"batch_rows must be an int or None \(got float\)"),
    ],
)
def test_invalid_batch_rows_are_rejected(kwire, value, error, text):
    """The error is raised before a request is sent."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    kafka = client.connect_sync("127.0.0.1:1")
    with pytest.raises(error, match=text):
        kafka.scan("orders", batch_rows=value)
    with pytest.raises(error, match=text):
        kafka.consumer("orders", group_id="g", batch_rows=value)


def test_memory_is_released_after_the_last_part(kwire, broker):
    """The parts share the response's memory, so it is released after the last part."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders", batch_rows=4)
        held = []
        for _ in scan:
            scan._machine.check_invariants()
            held.append(scan._machine.fetcher._budget.held)
        assert min(held) > 0
        assert scan._machine.fetcher._budget.held == 0
        names = "offsets_consumed_total", "bytes_consumed_total"
        counts = scan._machine.cluster.metrics.snapshot(names)
        whole = kafka.scan("orders")
        assert len(list(whole)) == len(COUNTS)
        assert whole._machine.cluster.metrics.snapshot(names) == counts
        assert counts["offsets_consumed_total"] == len(ALL)
