# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Responses larger than ``memory_bytes`` wait in the socket until memory is released.

The runners stop reading until the caller has released its chunks. The connection
remains open. With TLS, the socket may contain decrypted bytes that no selector reports.
"""

import asyncio
import importlib
import ssl
import time

import pytest

from tests.client.log_broker import LogBroker
from tests.harness.loopback_brokers import make_certificate, server_context

SIZE = 3 << 20
PAUSE_S = 0.05
TIMES = {"timeout_s": 5.0, "request_timeout_s": 0.3}
FIRST_CONNECTION = ["", "kwire"]


@pytest.fixture(scope="module")
def contexts(tmp_path_factory):
    """TLS contexts of a server and of a client."""
    paths = make_certificate(tmp_path_factory.mktemp("tls"))
    return server_context(*paths), ssl.create_default_context(cafile=paths[0])


def read_slowly(client, runner, address, context):
    """Read a topic with a memory budget of 100,000 bytes.

    The caller waits after each chunk. Return the sizes of all values.
    """
    sizes = []

    def work(chunk):
        time.sleep(PAUSE_S)
        sizes.extend(len(row.value) for row in chunk.records())

    options = {"memory_bytes": 100_000}
    if runner == "blocking":
        with client.connect_sync(address, ssl=context, **TIMES) as kafka:
            for chunk in kafka.scan("orders", **options):
                work(chunk)
        return sizes

    async def main():
        async with client.connect(address, ssl=context, **TIMES) as kafka:
            async for chunk in kafka.scan("orders", **options):
                work(chunk)
                await asyncio.sleep(PAUSE_S)

    asyncio.run(main())
    return sizes


class Pause:
    """Makes the client delay each large frame before it receives the frame."""

    def __init__(self, kwire, monkeypatch):
        link = importlib.import_module(f"{kwire.__name__}.client.machines.link").Link
        machine = importlib.import_module(
            f"{kwire.__name__}.client.machines"
        ).ClusterMachine
        can_receive, wake_at = link.can_receive, machine.wake_at.fget
        self.ends = {}

        def refuse(link, now):
            size = link._connection.announced
            if size < SIZE:
                return can_receive(link, now)
            return now >= self.ends.setdefault(size, now + PAUSE_S)

        def wake_earlier(machine):
            ends = [end for end in self.ends.values() if end > time.monotonic()]
            return min([wake_at(machine), *ends])

        monkeypatch.setattr(link, "can_receive", refuse)
        monkeypatch.setattr(machine, "wake_at", property(wake_earlier))


def make_log(kwire, broker):
    """Write three large batches with different sizes to the second partition."""
    log = broker.log("orders", 1)
    for number in range(3):
        rows = [(b"", bytes(SIZE + number))]
        log.append_bytes(kwire.records.encode_batch(rows, base_offset=log.end), 1)


@pytest.mark.parametrize("is_tls", [False, True])
@pytest.mark.parametrize("runner", ["blocking", "asyncio"])
def test_a_runner_stops_and_resumes_reading(
    kwire, monkeypatch, contexts, runner, is_tls
):
    """All records arrive over one connection, although its frames were paused."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    server, trusting = contexts if is_tls else (None, None)
    pause = Pause(kwire, monkeypatch)
    with LogBroker({"orders": (10, 0)}, context=server) as broker:
        make_log(kwire, broker)
        sizes = read_slowly(client, runner, broker.address, trusting)
        assert sorted(sizes)[-3:] == [SIZE, SIZE + 1, SIZE + 2]
        assert len(sizes) == 13
        assert broker.software == FIRST_CONNECTION
    assert len(pause.ends) >= 3


@pytest.mark.parametrize("runner", ["blocking", "asyncio"])
def test_batches_larger_than_the_budget_are_read_while_chunks_are_held(kwire, runner):
    """The caller needs ``PAUSE_S`` for each chunk, which keeps the memory in use."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    with LogBroker({"orders": (10, 0)}) as broker:
        make_log(kwire, broker)
        sizes = read_slowly(client, runner, broker.address, None)
        assert len(sizes) == 13
        assert broker.software == FIRST_CONNECTION
