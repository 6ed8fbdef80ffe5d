# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Relay between faulty peers: its waits, its limits, and released resources.

If a peer is slow, disconnects or sends no frames, other peers are not affected, and no
byte on other connections is lost. All connections use the loopback interface, and every
wait has a timeout.
"""

import asyncio
import contextlib
import gc
import resource
import socket
import sys
import threading
import time

import pytest

from kwire.recording import Recorder, buffering, capture_files
from tests.harness.loopback_brokers import TIMEOUT_S, Listener
from tests.recording.relays import ANY, add_size, echo, read_rows, talk


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x16\x03\x01\x02\0\1\0\1\xfc\3\3", "127.0.0.1: it speaks TLS, which cannot"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", "127.0.0.1: it speaks HTTP, not Kafka's"),
        (b"\x12\0\0\0x", "127.0.0.1: a frame of 301989888 bytes is over the limit"),
        (b"\xff\xff\xff\xfe", "127.0.0.1: a frame cannot have -2 bytes"),
    ],
    ids=["TLS", "HTTP", "huge", "negative"],
)
def test_invalid_frame_ends_the_connection_and_is_reported(tmp_path, data, sentence):
    with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        assert talk(recorder.address, data) == b""
        assert talk(recorder.address, add_size(b"ok"), 6) == add_size(b"ok")
    assert [text[: len(sentence)] for text in recorder.messages] == [sentence]
    assert ("--max-frame" in recorder.messages[0]) == ("limit" in sentence)


def test_a_peer_that_closes_its_half_still_hears_the_rest(tmp_path):
    def answer_at_the_end(connection):
        received = b""
        while chunk := connection.recv(1 << 16):
            received += chunk
        connection.sendall(add_size(received))

    with (
        Listener(answer_at_the_end) as peer,
        Recorder(ANY, peer.address, tmp_path) as recorder,
    ):
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            client.sendall(add_size(b"first") + add_size(b"second"))
            client.shutdown(socket.SHUT_WR)
            received = b"".join(iter(lambda: client.recv(1 << 16), b""))
    assert received == add_size(add_size(b"first") + add_size(b"second"))


def test_a_slow_reader_slows_the_sender_and_loses_nothing(tmp_path):
    """The relay limits the bytes that it buffers, and forwards all bytes in the end."""
    frame, count = add_size(bytes(1 << 20)), 40
    read = bytearray()

    def slowly(connection):
        time.sleep(0.5)
        while chunk := connection.recv(1 << 20):
            read.extend(chunk)

    with Listener(slowly) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            client.settimeout(0.2)
            sent_count = 0
            with pytest.raises(TimeoutError):
                while sent_count < count:
                    client.sendall(frame)
                    sent_count += 1
            assert recorder.counts.frames < count - 10
            client.settimeout(TIMEOUT_S)
            deadline = time.monotonic() + TIMEOUT_S
            while recorder.counts.frames < sent_count and time.monotonic() < deadline:
                time.sleep(0.01)
        while len(read) < sent_count * len(frame) and time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(read) >= sent_count * len(frame)


def test_a_client_that_vanishes_leaves_the_others_alone(tmp_path):
    with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        host, _, port = recorder.address.rpartition(":")
        for _ in range(5):
            client = socket.create_connection((host, int(port)), TIMEOUT_S)
            client.sendall(add_size(bytes(10)) + b"\0\0\0\x63half of a frame")
            # With a linger time of 0, ``close`` resets the connection.
            client.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0" + bytes(4)
            )
            client.close()
        assert talk(recorder.address, add_size(b"ok"), 6) == add_size(b"ok")
    assert recorder.messages == []


def wait_until(holds):
    """Wait until ``holds()`` is true. The relay's thread makes it true."""
    deadline = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_ended(client):
    """Return whether the relay has closed a connection, which receives no data."""
    client.settimeout(0.01)
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def test_connections_are_limited(tmp_path):
    """The relay rejects more connections until one ends, and reports this once."""

    def script(connection):
        echo(connection)
        connection.close()

    with (
        Listener(script) as peer,
        Recorder(ANY, peer.address, tmp_path, max_connections=3) as recorder,
        contextlib.ExitStack() as stack,
    ):
        host, _, port = recorder.address.rpartition(":")

        def come():
            address = host, int(port)
            return stack.enter_context(socket.create_connection(address, TIMEOUT_S))

        first, *other_clients = [come() for _ in range(3)]
        wait_until(lambda: recorder.counts.connections == 3)
        for _ in range(3):
            assert talk(recorder.address, add_size(b"more")) == b""
        assert not any(map(is_ended, (first, *other_clients)))
        first.close()
        wait_until(
            lambda: talk(recorder.address, add_size(b"ok"), 6) == add_size(b"ok")
        )
    (sentence,) = recorder.messages
    assert sentence.startswith("3 connections are open and further ones are closed")


def test_incomplete_frames_of_all_clients_share_a_limit(tmp_path):
    """All clients may announce large frames, but the sum of the sizes is limited."""
    megabyte = 1 << 20
    with (
        Listener(echo) as peer,
        Recorder(ANY, peer.address, tmp_path, max_held_bytes=8 * megabyte) as recorder,
        contextlib.ExitStack() as stack,
    ):
        host, _, port = recorder.address.rpartition(":")
        clients = []
        for number in range(24):
            client = socket.create_connection((host, int(port)), TIMEOUT_S)
            clients.append(stack.enter_context(client))
            client.sendall((100 * megabyte).to_bytes(4, "big") + bytes(megabyte))
            min_bytes = min(number, 6) * megabyte
            wait_until(
                lambda min_bytes=min_bytes: recorder._relay._held_by_all > min_bytes
            )
            assert recorder._relay._held_by_all <= 8 * megabyte
        wait_until(lambda: sum(map(is_ended, clients)) >= 16)
        # A client that sends complete frames continues, because it occupies little
        # memory.
        for size in (1, 100_000):
            data = add_size(bytes(size))
            assert talk(recorder.address, data, len(data)) == data
    (sentence,) = recorder.messages
    assert "more than 8,388,608 bytes" in sentence and "--max-held" in sentence
    assert recorder._relay._held_by_all == 0


def test_unread_responses_of_all_clients_share_a_limit(tmp_path):
    """The relay limits the sum of the responses that its clients do not read."""
    answer = add_size(bytes(4 << 20))

    def script(connection):
        while connection.recv(1 << 16):
            connection.sendall(answer)

    with (
        Listener(script) as peer,
        Recorder(ANY, peer.address, tmp_path, max_held_bytes=10 << 20) as recorder,
        contextlib.ExitStack() as stack,
    ):
        host, _, port = recorder.address.rpartition(":")
        for _ in range(12):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, int(port)))
            stack.enter_context(client).sendall(add_size(b"\0\x03\0\x0c\0\0\0\1"))
            assert recorder._relay._held_by_all <= 10 << 20
        wait_until(lambda: len(recorder.messages) == 1)
        assert recorder._relay._held_by_all <= 10 << 20
    assert "--max-held" in recorder.messages[0]


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_frames_of_all_sizes_pass_on_both_loops(tmp_path, monkeypatch, kind):
    """Frames are in order in both directions, followed by the half-close."""
    if kind == "uvloop":
        uvloop = pytest.importorskip("uvloop")
        monkeypatch.setattr(asyncio, "new_event_loop", uvloop.new_event_loop)
    sizes = [0, 1, 65_532, 5 << 20, 65_533, *[7] * 2000, 1 << 20, 3]
    sent_bytes = b"".join(
        add_size(bytes((n % 251,)) * size) for n, size in enumerate(sizes)
    )

    def answer_at_the_end(connection):
        for chunk in iter(lambda: connection.recv(1 << 20), b""):
            connection.sendall(chunk)
        connection.sendall(add_size(b"the end"))

    with (
        Listener(answer_at_the_end) as peer,
        Recorder(ANY, peer.address, tmp_path) as recorder,
    ):
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            received = bytearray()
            reader = threading.Thread(
                target=lambda: received.extend(
                    b"".join(iter(lambda: client.recv(1 << 20), b""))
                )
            )
            reader.start()
            client.sendall(sent_bytes)
            client.shutdown(socket.SHUT_WR)
            reader.join(TIMEOUT_S)
            assert recorder._loop.__class__.__module__.startswith(kind)
    assert received == sent_bytes + add_size(b"the end")
    rows = read_rows(recorder)
    for direction in ("request", "response"):
        frames = [add_size(r["frame"]) for r in rows if r["direction"] == direction]
        assert b"".join(frames).startswith(sent_bytes)
    assert recorder.messages == []


def test_a_large_frame_stays_in_the_memory_that_it_arrived_in(tmp_path):
    """The socket writes into the frame. Recording and forwarding do not copy it."""
    frames = []
    add = buffering.CaptureBuffer.add

    def look(self, *row):
        frames.append(row[-2])
        add(self, *row)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(buffering.CaptureBuffer, "add", look)
        with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
            data = add_size(bytes(1 << 20))
            assert talk(recorder.address, data, len(data)) == data
    assert [type(frame) for frame in frames] == [memoryview, memoryview]
    # The frame refers to memory with its size prefix, and to no other memory.
    assert [memoryview(frame.obj).nbytes for frame in frames] == [len(data)] * 2


def test_nothing_is_read_until_the_disk_has_kept_up(tmp_path, monkeypatch):
    """The relay limits the waiting rows, and continues when the disk has caught up."""
    write = capture_files.CaptureWriter.write
    may_write = threading.Event()

    def wait_and_write(self, rows):
        assert may_write.wait(TIMEOUT_S)
        return write(self, rows)

    monkeypatch.setattr(buffering, "FLUSH_BYTES", 1 << 20)
    monkeypatch.setattr(capture_files.CaptureWriter, "write", wait_and_write)
    frame, count = add_size(bytes(100_000)), 100
    read = []

    def swallow(connection):
        for chunk in iter(lambda: connection.recv(1 << 20), b""):
            read.append(len(chunk))

    with Listener(swallow) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            sender = threading.Thread(target=client.sendall, args=(frame * count,))
            sender.start()
            wait_until(lambda: recorder.counts.size >= 1 << 20)
            before = -1
            while before != recorder.counts.size:
                before = recorder.counts.size
                time.sleep(0.2)
            # The limit allows the rows that are being written, and as many rows in the
            # queue.
            assert before <= 3 << 20
            may_write.set()
            wait_until(lambda: sum(read) == len(frame) * count)
            sender.join(TIMEOUT_S)
    assert recorder.counts.frames == count


def test_a_client_may_send_and_end_before_its_broker_is_connected(
    tmp_path, monkeypatch
):
    """The bytes are forwarded when the connection to the broker is open."""
    connect = asyncio.base_events.BaseEventLoop.create_connection

    async def connect_late(self, *address, **options):
        await asyncio.sleep(0.3)
        return await connect(self, *address, **options)

    monkeypatch.setattr(
        asyncio.base_events.BaseEventLoop, "create_connection", connect_late
    )
    sent_bytes = add_size(bytes(200_000)) + add_size(b"second")
    with (
        Listener(echo_to_the_end) as peer,
        Recorder(ANY, peer.address, tmp_path) as recorder,
    ):
        host, _, port = recorder.address.rpartition(":")
        with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
            client.sendall(sent_bytes)
            client.shutdown(socket.SHUT_WR)
            received = b"".join(iter(lambda: client.recv(1 << 16), b""))
    assert received == sent_bytes


def echo_to_the_end(connection):
    received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    connection.sendall(received)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_of_a_closed_connection_is_released_immediately(tmp_path):
    """The memory is released without the garbage collector.

    The collector counts objects but not their size, so that it would run too late.
    """

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    megabyte = 1 << 20
    with Listener(echo) as peer, Recorder(ANY, peer.address, tmp_path) as recorder:
        host, _, port = recorder.address.rpartition(":")
        gc.collect()
        gc.disable()
        try:
            before = resident()
            for number in range(1, 9):
                with socket.create_connection((host, int(port)), TIMEOUT_S) as client:
                    announced = 100 * megabyte
                    client.sendall(announced.to_bytes(4, "big"))
                    for _ in range(20):
                        client.sendall(bytes(megabyte))
                    wait_until(lambda: recorder._relay._held_by_all >= 20 * megabyte)
                wait_until(lambda: not recorder._relay._open)
                assert recorder.counts.connections == number
            grown = resident() - before
        finally:
            gc.enable()
    assert grown < 60 * megabyte
