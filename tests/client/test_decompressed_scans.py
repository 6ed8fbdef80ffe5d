# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Scan topics whose batches grow when they are decompressed.

``tests/records/test_call_limits.py`` measures the memory that all chunk forms use.
"""

import asyncio
import importlib

import pyarrow
import pytest

from tests.client.log_broker import LogBroker
from tests.harness.bombs import make_batch

BATCHES = 6
"""Number of 64 MiB batches in a chunk: more than a call may decompress."""


@pytest.fixture(scope="module")
def broker():
    """Broker with a topic that contains these batches, which have 13 KB together."""
    with LogBroker({"orders": (0,)}) as running:
        log = running.log("orders")
        for number in range(BATCHES):
            log.append_bytes(number.to_bytes(8, "big") + make_batch()[8:], 1)
        yield running


def test_messages_of_batches_that_grow_arrive_once(kwire, broker):
    """Iterating over records decodes a chunk in several calls.

    The limit of decompressed bytes applies to each call.
    """
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        blocking = [record.offset for record in kafka.scan("orders").records()]

    async def run():
        async with client.connect(broker.address) as kafka:
            return [record.offset async for record in kafka.scan("orders").records()]

    assert blocking == asyncio.run(run()) == list(range(BATCHES))


def test_a_stream_of_batches_that_grow_has_several_pieces(kwire, broker):
    """Arrow consumers receive a record batch for every piece in a chunk."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        reader = pyarrow.RecordBatchReader.from_stream(
            kafka.scan("orders", columns=["partition", "offset", "value"])
        )
        offsets = [batch.column("offset").to_pylist() for batch in reader]
        assert offsets == [[number] for number in range(BATCHES)]


def test_a_whole_chunk_that_grows_ends_with_limit_exceeded(kwire, broker):
    """The error contains the limit. If the limit is higher, the rows are returned."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders")
        chunk = next(scan)
        for form in (chunk.records, chunk.to_arrow, lambda: chunk.columns):
            with pytest.raises(kwire.LimitExceeded, match="total_decompressed_bytes"):
                form()
        assert [len(columns) for columns in chunk.iter_columns()] == [1] * BATCHES
    limits = kwire.Limits(total_decompressed_bytes=BATCHES * 64 << 20)
    with client.connect_sync(broker.address, limits=limits) as kafka:
        scan = kafka.scan("orders")
        assert len(next(scan).records()) == BATCHES
