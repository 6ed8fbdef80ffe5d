# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Callers may process a chunk for longer than any client timeout."""

import asyncio
import importlib
import time

import pytest

from tests.client.log_broker import LogBroker

RUNNERS = ("blocking", "asyncio")
PAUSE_S = 0.7
TIMES = {"timeout_s": 0.4, "request_timeout_s": 0.05}
"""Timeouts of the client in seconds.

A Fetch may take 0.5 s longer than ``request_timeout_s``, because a broker waits for
records.
"""

FIRST_CONNECTION = ["", "kwire"]
"""Client software names in a connection's two ApiVersions requests."""


def read_slowly(client, runner, address, memory_bytes):
    """Read a topic, and pause after each of the first two chunks.

    With asyncio, the pause blocks the event loop, as computations in Python do. Return
    the number of records.
    """
    sizes = []

    def work(chunk):
        sizes.append(len(chunk.records()))
        if len(sizes) <= 2:
            time.sleep(PAUSE_S)

    if runner == "blocking":
        with client.connect_sync(address, **TIMES) as kafka:
            for chunk in kafka.scan("orders", memory_bytes=memory_bytes):
                work(chunk)
        return sum(sizes)

    async def main():
        async with client.connect(address, **TIMES) as kafka:
            async for chunk in kafka.scan("orders", memory_bytes=memory_bytes):
                work(chunk)

    asyncio.run(main())
    return sum(sizes)


@pytest.mark.parametrize("memory_bytes", [1 << 12, 1 << 15])
@pytest.mark.parametrize("runner", RUNNERS)
def test_no_timeout_counts_the_time_of_the_caller(kwire, runner, memory_bytes):
    """All records arrive over one connection. Pending responses are not late."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with LogBroker({"orders": (600, 600)}) as broker:
        assert read_slowly(client, runner, broker.address, memory_bytes) == 1200
        assert broker.software == FIRST_CONNECTION
