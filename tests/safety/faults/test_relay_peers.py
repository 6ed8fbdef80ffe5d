# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the relay of ``kwire record`` with peers that disconnect, stall or never read.

Incomplete frames are neither forwarded nor recorded. The relay buffers a limited number
of bytes, one peer does not stall others, and closing does not wait for peers. The tests
use the loopback interface only, and every wait has a timeout. Slow peers are tested in
``tests/recording``.
"""

import select
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress

import pytest

from kwire.recording import Recorder, read_captures
from tests.harness.loopback_brokers import TIMEOUT_S, Listener

ANY = "127.0.0.1:0"
AT_ONCE_S = 3.0
"""Seconds within which a client must be served.

It is less than all timeouts of the relay, and enough on a busy machine.
"""

MOST_UNDER_WAY = 32 << 20
"""Limit for the bytes that the relay and the system buffer for a peer.

It is more than the buffers of four sockets, but less than a relay without a limit would
buffer.
"""

LINGER_NOT = b"\1\0\0\0" + bytes(4)
"""Value of SO_LINGER with which ``close`` resets the connection."""


def add_size(data):
    return len(data).to_bytes(4, "big") + data


def echo(connection):
    while chunk := connection.recv(1 << 16):
        connection.sendall(chunk)


def connect_to(recorder):
    host, _, port = recorder.address.rpartition(":")
    return socket.create_connection((host, int(port)), TIMEOUT_S)


def read(client, size):
    received = b""
    while len(received) < size and (chunk := client.recv(size - len(received))):
        received += chunk
    return received


def frames(out):
    return [
        (row["direction"], row["frame"])
        for batch in read_captures(out, ["direction", "frame"])
        for row in batch.to_pylist()
    ]


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
    connection.close()


def is_served(recorder):
    """Return whether another client receives its answer within ``AT_ONCE_S``."""
    begin = time.monotonic()
    with connect_to(recorder) as client:
        client.sendall(add_size(b"me too"))
        return (
            read(client, 10) == add_size(b"me too")
            and time.monotonic() - begin < AT_ONCE_S
        )


@contextmanager
def closing_soon(recorder):
    """Close the recorder at the end of the block, and check that it closes quickly.

    Closing must not wait for any peer.
    """
    try:
        yield
    finally:
        begin = time.monotonic()
        recorder.close()
        assert time.monotonic() - begin < AT_ONCE_S


@pytest.mark.parametrize("how", [socket.socket.close, reset], ids=["closes", "resets"])
@pytest.mark.parametrize("sent", [2, 4, 9], ids=["size", "no body", "half a body"])
def test_broker_that_disconnects_in_a_frame_ends_the_connection(tmp_path, sent, how):
    """If a broker disconnects within a frame, the client's connection ends.

    The client has received all complete responses, and no byte of the incomplete one.
    """

    def answer_and_a_half(connection):
        read(connection, 9)
        connection.sendall(add_size(b"whole") + add_size(b"never whole")[:sent])
        read(connection, 8)  # Wait until the client has received the answer.
        how(connection)

    with Listener(answer_and_a_half) as peer:
        recorder = Recorder(ANY, peer.address, tmp_path)
        with closing_soon(recorder), connect_to(recorder) as client:
            client.sendall(add_size(b"asked"))
            assert read(client, 9) == add_size(b"whole")
            client.sendall(add_size(b"more"))
            with suppress(ConnectionResetError):
                assert client.recv(100) == b""
    recorded = [("request", b"asked"), ("response", b"whole"), ("request", b"more")]
    assert frames(tmp_path) == recorded
    assert recorder.messages == []


@pytest.mark.parametrize("how", ["half-closes", "closes", "resets"])
def test_a_client_that_breaks_off_in_a_frame_costs_that_frame(tmp_path, how):
    """If a client disconnects within a frame, the broker does not receive this frame.

    The broker receives all complete frames, and then the end of the connection.
    """
    heard, ended = bytearray(), threading.Event()

    def listen(connection):
        with suppress(ConnectionResetError):
            while chunk := connection.recv(1 << 16):
                heard.extend(chunk)
        ended.set()

    with Listener(listen) as peer:
        recorder = Recorder(ANY, peer.address, tmp_path)
        with closing_soon(recorder):
            client = connect_to(recorder)
            client.sendall(add_size(b"whole") + add_size(b"never whole")[:9])
            deadline = time.monotonic() + TIMEOUT_S
            while recorder.counts.frames < 1:
                assert time.monotonic() < deadline
                time.sleep(0.001)
            if how == "resets":
                reset(client)
            else:
                client.shutdown(socket.SHUT_WR)
                if how == "closes":
                    client.close()
            assert ended.wait(AT_ONCE_S)
            client.close()
    assert heard in (add_size(b"whole"), b"" if how == "resets" else add_size(b"whole"))
    assert frames(tmp_path) == [("request", b"whole")]


def test_frames_may_come_byte_by_byte(tmp_path):
    """Frames that arrive byte by byte are forwarded, and other clients are served."""

    def dribble(connection):
        while chunk := connection.recv(1 << 16):
            for byte in chunk:
                connection.sendall(bytes((byte,)))

    with Listener(dribble) as peer:
        recorder = Recorder(ANY, peer.address, tmp_path)
        with closing_soon(recorder), connect_to(recorder) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sent = add_size(b"x" * 60) * 2
            for number, byte in enumerate(sent):
                client.sendall(bytes((byte,)))
                if number == 30:
                    assert is_served(recorder)
            assert read(client, len(sent)) == sent
    assert [frame for _, frame in frames(tmp_path)].count(b"x" * 60) == 4


def test_stalled_peers_do_not_block_other_connections(tmp_path):
    """A client that stops within a frame only delays its own connection."""
    with Listener(echo) as peer, ExitStack() as clients:
        recorder = Recorder(ANY, peer.address, tmp_path)
        with closing_soon(recorder):
            for _ in range(60):
                client = clients.enter_context(connect_to(recorder))
                client.sendall(add_size(bytes(1000))[:500])
            assert is_served(recorder)
        # Closing the recorder closes the connections of all clients.
        with suppress(ConnectionResetError):
            assert client.recv(1) == b""
    assert frames(tmp_path) == [("request", b"me too"), ("response", b"me too")]


@pytest.mark.parametrize("who", ["client", "broker"])
def test_a_peer_that_never_reads_stops_its_own_sender_alone(tmp_path, who):
    """A peer that never reads only stops the peer that sends to it.

    The relay and the system buffer a limited number of bytes.
    """
    frame, over = add_size(bytes(64 << 10)), threading.Event()

    def send_for_ever(connection, counts):
        connection.setblocking(False)
        while not over.wait(0.001):
            with suppress(BlockingIOError):
                counts[0] += connection.send(frame[counts[0] % len(frame) :])

    def serve(connection):
        first = read(connection, 10)
        if first == add_size(b"me too"):
            connection.sendall(first)
        elif who == "client":
            send_for_ever(connection, sent)
        else:
            over.wait(TIMEOUT_S)

    sent = [0]
    with Listener(serve) as peer:
        recorder = Recorder(ANY, peer.address, tmp_path)
        with closing_soon(recorder), connect_to(recorder) as client:
            client.sendall(add_size(b"silent"))
            sender = threading.Thread(target=send_for_ever, args=(client, sent))
            if who == "broker":
                sender.start()
            try:
                before, still = -1, 0
                while still < 20 and sent[0] < MOST_UNDER_WAY:
                    still = still + 1 if sent[0] == before > 0 else 0
                    before = sent[0]
                    time.sleep(0.01)
                assert is_served(recorder)
            finally:
                over.set()
                if who == "broker":
                    sender.join(TIMEOUT_S)
    assert sent[0] < MOST_UNDER_WAY


def test_flood_of_small_frames_does_not_block_other_connections(tmp_path):
    """A client that sends many small frames does not delay other connections.

    The relay limits how long it serves one connection at a time.
    """
    stop = threading.Event()

    def flood(connection):
        data = add_size(b"\0\0\0\1") * 20_000
        connection.setblocking(False)
        while not stop.is_set():
            _, can_send, _ = select.select((), (connection,), (), 0.1)
            with suppress(BlockingIOError):
                if can_send:
                    connection.send(data[: len(data) // 8 * 8])

    def swallow(connection):
        while chunk := connection.recv(1 << 20):
            if chunk == add_size(b"me too"):
                connection.sendall(chunk)

    waits = []
    with Listener(swallow) as peer, ExitStack() as clients:
        recorder = Recorder(ANY, peer.address, tmp_path)
        with closing_soon(recorder):
            threads = []
            for _ in range(4):
                client = clients.enter_context(connect_to(recorder))
                threads.append(threading.Thread(target=flood, args=(client,)))
                threads[-1].start()
            time.sleep(0.3)
            for _ in range(5):
                begin = time.monotonic()
                assert is_served(recorder)
                waits.append(time.monotonic() - begin)
            stop.set()
            for thread in threads:
                thread.join(TIMEOUT_S)
    assert sorted(waits)[2] < AT_ONCE_S / 2
    assert recorder.counts.frames > 5000
