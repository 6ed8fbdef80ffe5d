# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A scan that ends in any way leaves no task, thread, socket or warning."""

import asyncio
import dis
import gc
import importlib
import re
import ssl
import sys
import threading
import time
from itertools import pairwise

import pytest

from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, open_sockets
from tests.harness.loopback_brokers import Listener, make_certificate, server_context

DELAYS_S = [0.0, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.008, 0.012, 0.02, 0.05]


@pytest.fixture(scope="module")
def contexts(tmp_path_factory):
    """TLS contexts of a server and of a client."""
    paths = make_certificate(tmp_path_factory.mktemp("tls"))
    return server_context(*paths), ssl.create_default_context(cafile=paths[0])


@pytest.fixture(scope="module", params=["plain", "tls"])
def broker(request, contexts):
    """Broker, and the ``connect`` arguments that it requires."""
    server, trusting = contexts if request.param == "tls" else (None, None)
    with LogBroker({"orders": (300, 300)}, context=server) as running:
        yield running, {"ssl": trusting}


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


def run_cleanly(main, new_loop=None):
    """Run a coroutine function in debug mode, and check that it leaves nothing open."""
    complaints = []

    async def run():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(context))
        before = open_sockets()
        await main()
        assert asyncio.all_tasks() == {asyncio.current_task()}
        # The broker threads in this process close their sockets when they read that a
        # connection has ended.
        async with asyncio.timeout(5):
            while open_sockets() > before:
                await asyncio.sleep(0.001)

    with asyncio.Runner(debug=True, loop_factory=new_loop) as runner:
        runner.run(run())
    gc.collect()
    assert complaints == []


def wait_for(condition):
    """Wait up to 5 s until ``condition()`` is true. Another thread makes it true."""
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.parametrize("delay_s", DELAYS_S)
def test_a_task_can_be_cancelled_at_any_moment(client, broker, delay_s):
    """Covers connecting, TLS handshake, negotiation, fetching and waiting."""
    running, connect = broker

    async def main():
        async def follow():
            async with client.connect(running.address, **connect) as kafka:
                scan = kafka.scan("orders", follow=True, memory_bytes=1 << 12)
                async for _ in scan:
                    await asyncio.sleep(0)

        task = asyncio.create_task(follow())
        await asyncio.sleep(delay_s)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_cleanly(main)


@pytest.mark.parametrize("delay_s", DELAYS_S[::3])
def test_closing_ends_a_scan_that_another_task_reads(client, broker, delay_s):
    """The iteration of the other task ends without an error."""
    running, connect = broker

    async def main():
        kafka = client.connect(running.address, **connect)

        async def follow():
            scan = kafka.scan("orders", follow=True)
            return [chunk async for chunk in scan]

        task = asyncio.create_task(follow())
        await asyncio.sleep(delay_s)
        await kafka.close()
        async with asyncio.timeout(5):
            await task

    run_cleanly(main)


def test_a_block_can_be_left_in_the_middle(client, broker):
    """A block is left by ``break``, by an exception, or before the scan starts."""
    running, connect = broker

    async def main():
        async with client.connect(running.address, **connect) as kafka:
            kafka.scan("orders")
            scan = kafka.scan("orders", memory_bytes=1 << 12)
            async for _ in scan:
                break
        with pytest.raises(ZeroDivisionError):
            async with client.connect(running.address, **connect) as kafka:
                scan = kafka.scan("orders", memory_bytes=1 << 12)
                async for _ in scan:
                    raise ZeroDivisionError
        async with (
            client.connect(running.address, **connect) as kafka,
            kafka.scan("orders", memory_bytes=1 << 12) as scan,
        ):
            await anext(scan)

    run_cleanly(main)


def test_a_block_of_the_blocking_client_can_be_left_in_the_middle(client, broker):
    """A scan that is left without a reference emits a warning.

    Its connections are closed.
    """
    running, connect = broker
    with client.connect_sync(running.address, **connect) as kafka:
        list(kafka.scan("orders"))
    before = open_sockets()
    small = {"memory_bytes": 1 << 12}
    with client.connect_sync(running.address, **connect) as kafka:
        kafka.scan("orders")
        scan = kafka.scan("orders", **small)
        for _ in scan:
            break
        assert open_sockets() > before
    with (
        pytest.raises(ZeroDivisionError),
        client.connect_sync(running.address, **connect) as kafka,
    ):
        scan = kafka.scan("orders", **small)
        for _ in scan:
            raise ZeroDivisionError
    with client.connect_sync(running.address, **connect) as kafka:
        with kafka.scan("orders", **small) as scan:
            next(scan)
        dropped = kafka.scan("orders", **small)
        next(dropped)
        del scan, _
        with pytest.warns(ResourceWarning, match="ScanSync of orders"):
            del dropped
            gc.collect()
    wait_for(lambda: open_sockets() <= before)


@pytest.mark.parametrize("delay_s", DELAYS_S[::3])
def test_closing_ends_a_scan_that_another_thread_reads(client, broker, delay_s):
    """The waiting thread's iteration ends immediately without an error."""
    running, connect = broker
    ended = []
    with client.connect_sync(running.address, **connect) as kafka:
        scan = kafka.scan("orders", follow=True)
        is_reading = threading.Event()

        def read():
            chunks = iter(scan)
            is_reading.set()
            ended.append([*chunks])

        thread = threading.Thread(target=read)
        thread.start()
        assert is_reading.wait(5)
        time.sleep(delay_s)
    thread.join(5)
    assert len(ended) == 1


def test_closing_leaves_a_runner_in_use_alone(client, broker, kwire, monkeypatch):
    """Only the thread that uses the selector closes it."""
    blocking = importlib.import_module(f"{kwire.__name__}.client.runners.blocking")
    running, connect = broker
    has_begun, may_end = threading.Event(), threading.Event()
    in_use = []
    closed_in_use = []
    run_until, close = blocking.BlockingRunner.run_until, blocking.BlockingRunner.close

    def watch_run(runner, *arguments):
        in_use.append(runner)
        has_begun.set()
        assert may_end.wait(5)
        run_until(runner, *arguments)
        in_use.remove(runner)

    def watch_close(runner):
        closed_in_use.append(runner in in_use)
        close(runner)

    monkeypatch.setattr(blocking.BlockingRunner, "run_until", watch_run)
    monkeypatch.setattr(blocking.BlockingRunner, "close", watch_close)
    with client.connect_sync(running.address, **connect) as kafka:
        scan = kafka.scan("orders", follow=True)
        thread = threading.Thread(target=lambda: list(scan))
        thread.start()
        assert has_begun.wait(5)
        with pytest.raises(ValueError, match="another thread"):
            next(scan)
        scan.close()
        assert closed_in_use == []
        may_end.set()
        thread.join(5)
    assert set(closed_in_use) == {False}


# If an interrupt arrives after a coroutine function was called but before its first
# step, the coroutine has not started, so that it has nothing to close.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
def test_an_interrupt_at_any_call_leaves_a_scan_that_closes(client, broker):
    """Ctrl-C is handled after function calls, so every ``next`` call is covered.

    Afterwards, ``close`` must end the connections, and must not treat the scan as in
    use.
    """
    running, connect = broker
    before = open_sockets()
    scan_class = client.ScanSync
    use = scan_class._use.__wrapped__
    methods = {scan_class.__next__, scan_class._claim, use}
    call_number = 0
    is_interrupted = True
    with client.connect_sync(running.address, **connect) as kafka:
        while is_interrupted:
            scan = kafka.scan("orders", memory_bytes=1 << 12)
            next(scan)
            is_interrupted = interrupt_after_call(
                call_number, methods, lambda scan=scan: next(scan)
            )
            scan.close()
            with pytest.raises(StopIteration):
                next(scan)
            wait_for(lambda: open_sockets() <= before)
            call_number += 1
    assert call_number > 3


def interrupt_after_call(number, methods, run):
    """Run a function, and interrupt it after a number of calls in ``methods``.

    The interrupt is a KeyboardInterrupt, as for Ctrl-C. Return False if the function
    ends before this number of calls.
    """
    codes = {method.__code__ for method in methods}
    after_calls = {
        (code, following.offset)
        for code in codes
        for call, following in pairwise(dis.get_instructions(code))
        if call.opname.startswith("CALL")
    }
    seen = 0

    def trace(frame, event, _):
        nonlocal seen
        if frame.f_code not in codes:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and (frame.f_code, frame.f_lasti) in after_calls:
            seen += 1
            if seen == number + 1:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        run()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def test_follow_returns_new_records(client):
    """A scan with ``follow`` reads records that are written after its start.

    Its position is after the last record.
    """
    before = open_sockets()
    with LogBroker({"live": (5,)}) as running:
        with client.connect_sync(running.address) as kafka:
            scan = kafka.scan("live", start="latest", follow=True)
            threading.Timer(0.1, running.log("live").append, [3]).start()
            chunk = next(scan)
            assert [row.offset for row in chunk.records()] == [5, 6, 7]
            assert scan.position() == {("live", 0): 8}
        with pytest.raises(StopIteration):
            next(scan)
    wait_for(lambda: open_sockets() <= before)


def test_a_broker_that_never_answers_can_be_left(client):
    """The scan is cancelled or closed while it connects, also with TLS."""

    def be_silent(stream):
        while stream.recv(1 << 16):
            pass

    with Listener(be_silent) as listener:
        for context in (None, ssl.create_default_context()):

            async def main(context=context):
                kafka = client.connect(listener.address, ssl=context)
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.05), kafka:
                        scan = kafka.scan("orders")
                        await anext(scan)

            run_cleanly(main)


@pytest.mark.parametrize("delay_s", DELAYS_S[::3])
def test_uvloop_runs_the_same_client(client, broker, delay_s):
    """All records are read, and cancelling leaves nothing open, also with TLS."""
    uvloop = pytest.importorskip("uvloop")
    running, connect = broker

    async def main():
        async with client.connect(running.address, **connect) as kafka:
            chunks = [chunk async for chunk in kafka.scan("orders")]
            assert sum(len(chunk.records()) for chunk in chunks) == 600
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(delay_s):
                    scan = kafka.scan("orders", follow=True)
                    async for _ in scan:
                        pass

    run_cleanly(main, uvloop.new_event_loop)


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_pattern_waits_for_its_first_topic(kwire, runner):
    """A scan with ``follow`` reads a topic that is created after its start."""
    client = importlib.import_module(f"{kwire.__name__}.client")
    pattern = re.compile("late-.*")
    with LogBroker({"orders": [10]}) as broker:

        def create():
            broker.cluster_truth.add_topic("late-orders", 1).logs[0].append(3)
            broker.node.learn()

        timer = threading.Timer(0.5, create)
        timer.start()

        def read():
            with client.connect_sync(broker.address) as kafka:
                scan = kafka.scan(pattern, follow=True)
                return next(scan)

        async def read_async():
            async with client.connect(broker.address) as kafka:
                scan = kafka.scan(pattern, follow=True)
                return await anext(scan)

        chunk = read() if runner == "blocking" else asyncio.run(read_async())
        timer.join()
    assert (chunk.topic, len(chunk.records())) == ("late-orders", 3)
