# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Brokers that send invalid bytes, over sockets and with both clients.

The brokers negotiate and describe their topics correctly first. A scan must end before
its timeout, with a typed error that describes the bytes. Valid but false responses are
in ``tests/client/machines/test_hostile_brokers.py``.
"""

import importlib
import struct
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.client.log_broker import LogBroker
from tests.client.runners import RUNNERS, read

QUICKLY = {"timeout_s": 1.5, "connect_timeout_s": 1.0, "request_timeout_s": 0.5}
LONGEST_S = 10.0
FETCH, FRAME_LIMIT = 1, 100 << 20
LARGEST = (1 << 31) - 1


class Stream:
    """Client socket that passes its Fetch responses through ``change``."""

    def __init__(self, stream, change):
        self._stream = stream
        self._change = change
        self._keys = []

    def recv(self, size):
        data = self._stream.recv(size)
        # Requests are small in these tests, and arrive completely.
        self._keys += [struct.unpack(">h", frame[4:6])[0] for frame in frames(data)]
        return data

    def sendall(self, data):
        for frame in frames(data):
            is_fetch = self._keys.pop(0) == FETCH
            for piece in self._change(frame) if is_fetch else [frame]:
                self._stream.sendall(piece)


def frames(data):
    """Split bytes into frames."""
    position, split_frames = 0, []
    while position < len(data):
        (size,) = struct.unpack_from(">i", data, position)
        split_frames.append(data[position : position + 4 + size])
        position += 4 + size
    return split_frames


class HostileBroker(LogBroker):
    """Broker whose Fetch responses are changed by ``change``.

    ``change`` maps frames to byte strings, which are sent one after another.
    """

    def __init__(self, change):
        super().__init__({"orders": (20,)})
        self._change = change

    def _converse(self, stream):
        super()._converse(Stream(stream, self._change))


@pytest.fixture(params=RUNNERS)
def runner(request):
    """Name of the runner: "blocking" or "asyncio"."""
    return request.param


def fail(kwire, runner, change):
    """Scan the topic of a hostile broker, and return the ``ClusterError``.

    Fail if the error takes too long, or after connections without a pause.
    """
    module = importlib.import_module(f"{kwire.__name__}.client.machines")
    began = time.monotonic()
    with HostileBroker(change) as broker:
        with pytest.raises(module.ClusterError) as caught:
            read(kwire, runner, broker.address, "orders", connect=QUICKLY)
        assert broker.connections < 40, "connections without a pause"
    assert time.monotonic() - began < LONGEST_S
    return caught.value


def pack(size):
    """Encode a frame size."""
    return struct.pack(">i", size)


def with_id(data, number):
    """Replace the correlation id of a frame."""
    return data[:4] + pack(number) + data[8:]


def trickle(data):
    """Yield the bytes one by one, so slowly that a response exceeds its timeout."""
    for position in range(len(data)):
        time.sleep(0.05)
        yield data[position : position + 1]


CASES = {
    "id of no request": (lambda data: [with_id(data, 99)], "99, which no request in"),
    "negative id": (lambda data: [with_id(data, -1)], "-1, which no request in flight"),
    "empty frame": (lambda data: [b"\0\0\0\0" + data], "frame"),
    "negative size": (lambda data: [b"\xff\xff\xff\xff" + data], "-1"),
    "frame of 2 GiB": (lambda data: [pack(LARGEST) + data], f"{LARGEST} bytes"),
    "frame that never comes": (
        lambda data: [pack(FRAME_LIMIT) + data[4:]],
        "no response within",
    ),
    "end that never comes": (lambda data: [data[:-9]], "no response within"),
    "byte by byte": (trickle, "no response within"),
    "another protocol": (lambda data: [b"HTTP/1.1 400 Bad Request\r\n\r\n"], "HTTP"),
    "zeros": (lambda data: [data[:8] + bytes(len(data) - 8)], "FetchResponse v"),
}


@pytest.fixture(scope="module")
def failures(kwire):
    """Future for the error of each case, by case. The cases run concurrently.

    Sequential runs would take too long, because a scan only fails after its timeout.
    """
    with ThreadPoolExecutor(len(CASES)) as pool:
        return {
            case: pool.submit(fail, kwire, RUNNERS[number % 2], CASES[case][0])
            for number, case in enumerate(CASES)
        }


@pytest.mark.parametrize("case", CASES)
def test_bytes_that_are_not_a_response_are_a_typed_error(failures, case):
    """The client reconnects with pauses. The final error contains the reason."""
    assert CASES[case][1] in str(failures[case].result())


def test_an_announced_frame_costs_no_memory(kwire, runner):
    """All connections announce 99 MiB, but send only a few bytes."""
    announced = pack(FRAME_LIMIT - (1 << 20))
    tracemalloc.start()
    try:
        fail(kwire, runner, lambda data: [announced + data[4:]])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 << 20


def flip(data):
    """Change the last byte of the last record."""
    return [data[:-20] + bytes([data[-20] ^ 1]) + data[-19:]]


def test_a_wrong_checksum_is_a_typed_error_with_its_offset(kwire, runner):
    """The scan itself decodes nothing. Records, columns and batches raise the error."""
    with HostileBroker(flip) as broker:
        chunks = read(kwire, runner, broker.address, "orders")
        for chunk in chunks:
            for decode in (
                chunk.records,
                lambda chunk=chunk: chunk.columns,
                lambda chunk=chunk: list(chunk.batches()),
                lambda chunk=chunk: list(chunk.iter_records()),
            ):
                with pytest.raises(kwire.DecodeError, match=r"CRC|checksum"):
                    decode()
    assert chunks
