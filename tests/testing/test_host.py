# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Sockets and threads of test clusters: start, stop, leaks, many parallel clusters."""

import asyncio
import gc
import os
import socket
import subprocess
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kwire import client, testing
from kwire.messages import MetadataRequest, framing

TIMEOUT_S = 30
ROOT = Path(__file__).parents[2]


def split_addresses(kafka):
    """Return the addresses of a cluster as (host, port)."""
    addresses = kafka.bootstrap_servers.split(",")
    return [
        (host, int(port)) for host, _, port in (a.rpartition(":") for a in addresses)
    ]


def request_metadata(address):
    """Send a request over a plain socket, and return the bytes of the response."""
    frame = framing.encode_request(MetadataRequest(topics=None), 9, 7, "plain")
    with socket.create_connection(address, TIMEOUT_S) as peer:
        peer.sendall(frame)
        return peer.recv(1 << 16)


def open_sockets():
    """Return the number of open sockets in this process."""
    directory = "/proc/self/fd"
    if not os.path.isdir(directory):
        pytest.skip("requires /proc")
    count = 0
    for name in os.listdir(directory):
        try:
            count += os.readlink(f"{directory}/{name}").startswith("socket:")
        except OSError:
            continue
    return count


def cycle():
    """Start a cluster with three brokers, use one connection, and stop the cluster."""
    with testing.cluster(brokers=3, topics={"orders": 2}) as kafka:
        kafka.write("orders", [b"one"])
        assert request_metadata(split_addresses(kafka)[0])


def measure_leaks(cycles):
    """Return how many threads, sockets and bytes remain after cycles.

    The first cycles load modules and fill caches, so they do not count.
    """
    for _ in range(5):
        cycle()
    gc.collect()
    threads, sockets = threading.active_count(), open_sockets()
    tracemalloc.start()
    cycle()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(cycles):
        cycle()
    gc.collect()
    leaked_bytes = tracemalloc.get_traced_memory()[0] - before
    return (
        threading.active_count() - threads,
        open_sockets() - sockets,
        leaked_bytes,
    )


@pytest.mark.parametrize(
    "cycles", [pytest.param(50), pytest.param(1000, marks=pytest.mark.gate)]
)
def test_start_and_stop_leave_no_thread_socket_or_memory(cycles):
    """A separate process is measured, because other threads allocate memory, too."""
    code = (
        f"from tests.testing import test_host as h; print(*h.measure_leaks({cycles}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    threads, sockets, leaked_bytes = map(int, done.stdout.split())
    assert (threads, sockets) == (0, 0)
    # A leaked cluster would keep more than 10 KB.
    assert leaked_bytes < 100 * cycles + 20_000


def test_start_and_stop_of_three_brokers_are_fast():
    """Prints the median. ``benchmarks/testing`` measures it precisely."""
    seconds = []
    for _ in range(10):
        began = time.perf_counter()
        with testing.cluster(brokers=3):
            pass
        seconds.append(time.perf_counter() - began)
    print(f"start and stop of three brokers: {1000 * sorted(seconds)[5]:.1f} ms")
    assert min(seconds) < 1


def test_100_clusters_run_in_parallel():
    clusters = [testing.cluster(topics={f"topic-{n}": 1}) for n in range(100)]

    def use(number, kafka):
        with kafka:
            barrier.wait(TIMEOUT_S)
            response = request_metadata(split_addresses(kafka)[0])
            barrier.wait(TIMEOUT_S)
        return f"topic-{number}".encode() in response

    barrier = threading.Barrier(100)
    with ThreadPoolExecutor(100) as pool:
        assert all(pool.map(use, range(100), clusters))


def test_error_in_the_block_stops_the_cluster():
    with pytest.raises(ZeroDivisionError), testing.cluster() as kafka:
        (address,) = split_addresses(kafka)
        raise ZeroDivisionError
    with pytest.raises(ConnectionRefusedError):
        request_metadata(address)


def test_used_port_is_an_error_that_leaves_nothing_open():
    threads, sockets = threading.active_count(), open_sockets()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        kafka = testing.cluster(brokers=2, ports=[0, port])
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1 port {port}: "):
            kafka.__enter__()
    gc.collect()
    assert (threading.active_count(), open_sockets()) == (threads, sockets)


def is_closed(peer):
    """Wait until the other side closes a socket."""
    try:
        return peer.recv(1) == b""
    except ConnectionResetError:
        return True


def test_stop_closes_connections_that_have_just_been_accepted():
    for _ in range(20):
        with testing.cluster() as kafka:
            (address,) = split_addresses(kafka)
            with socket.create_connection(address, TIMEOUT_S) as peer:
                kafka.stop(1)
                assert is_closed(peer)


def test_stopped_broker_rejects_connections_and_starts_on_its_port():
    with testing.cluster(brokers=2) as kafka:
        first, second = split_addresses(kafka)
        kafka.stop(1)
        with pytest.raises(ConnectionRefusedError):
            request_metadata(first)
        assert request_metadata(second)
        kafka.start(1)
        assert request_metadata(first)
        assert split_addresses(kafka) == [first, second]


def test_async_with_runs_the_brokers_in_the_event_loop_of_the_caller():
    async def main():
        before = threading.active_count()
        async with testing.cluster(brokers=2, topics={"orders": 1}) as kafka:
            assert threading.active_count() == before
            kafka.write("orders", [b"one"])
            async with (
                client.connect(kafka.bootstrap_servers) as reader,
                reader.scan("orders") as scan,
            ):
                values = [row.value async for row in scan.records()]
            await kafka.stop_async(1)
            await kafka.start_async(1)
            with pytest.raises(RuntimeError, match="await the method ending in _async"):
                kafka.stop(2)
        return values

    assert asyncio.run(asyncio.wait_for(main(), TIMEOUT_S)) == [b"one"]


def test_on_request_receives_each_request_in_order():
    received = []
    with testing.cluster(topics={"orders": 1}, on_request=received.append) as kafka:
        kafka.write("orders", [b"one"])
        with client.connect_sync(kafka.bootstrap_servers, client_id="shop") as reader:
            assert len(list(reader.scan("orders").records())) == 1
        assert received == kafka.requests
    assert {item.client_id for item in received} == {"shop"}
    apis = [item.api for item in received]
    assert apis[0] == "ApiVersions" and "Metadata" in apis
    # From version 13 on, a Fetch contains topic ids instead of names.
    fetches = [item for item in received if item.api in ("Fetch", "ListOffsets")]
    assert "Fetch" in apis and all(item.topics == ("orders",) for item in fetches)
    assert [item.received_s for item in received] == sorted(
        item.received_s for item in received
    )
