# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire record`` as a process: exits, signals, and files after a kill.

A kill -9 loses at most the last second and never leaves a partial file. A full disk
does not lose rows that were reported as written. All other exits are complete.
"""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import pytest

from kwire.recording import read_captures
from tests.harness.loopback_brokers import TIMEOUT_S, Listener

PROMISED_S = 1.0
TRIES = 4


def echo(connection):
    while chunk := connection.recv(1 << 16):
        connection.sendall(chunk)


@contextmanager
def recording(upstream, out, *options, **settings):
    """Run ``kwire record``. Yield the process and the port on which it listens."""
    command = [sys.executable, "-m", "kwire", "record", "--listen", "127.0.0.1:0"]
    command += ["--upstream", upstream, "--output", str(out), *options]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, encoding="utf-8", **settings
    ) as process:
        try:
            first = process.stderr.readline()
            match = re.match(r"kwire: listening on 127\.0\.0\.1:(\d+) for ", first)
            assert match, first + process.stderr.read()
            yield process, int(match[1])
        finally:
            process.kill()


class Client(threading.Thread):
    """Thread that sends numbered frames to a relay until the relay stops.

    ``times`` contains the time at which the response to each frame arrived.
    """

    def __init__(self, port, size=200, pause_s=0.002):
        """Connect to the relay at ``port``, and start sending."""
        super().__init__(daemon=True)
        self.port = port
        self.size = size
        self.pause_s = pause_s
        self.times = []
        self.stopped = threading.Event()
        self.start()

    def run(self):
        """Send frames one after another. After each response, record the time."""
        with (
            suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), TIMEOUT_S) as connection,
        ):
            while not self.stopped.is_set():
                body = b"%012d" % len(self.times) + os.urandom(self.size)
                connection.sendall(len(body).to_bytes(4, "big") + body)
                missing = len(body) + 4
                while missing:
                    chunk = connection.recv(missing)
                    if not chunk:
                        return
                    missing -= len(chunk)
                self.times.append(time.monotonic())
                self.stopped.wait(self.pause_s)


def sequences(out):
    """Return the sequence numbers in all captures of a recording, in reading order."""
    batches = read_captures(out, ["sequence"])
    return [n for batch in batches for n in batch.column(0).to_pylist()]


def frames_in(out):
    """Return the paths of a recording's complete files."""
    return list(out.rglob("frames-*"))


def numbers(out):
    """Return the frame numbers of the recorded requests.

    They must be complete and in order, as well as the sequence numbers of all rows.
    """
    frame_numbers, order = [], []
    columns = ["sequence", "direction", "frame"]
    for batch in read_captures(out, columns):
        for row in batch.to_pylist():
            order.append(row["sequence"])
            if row["direction"] == "request":
                frame_numbers.append(int(row["frame"][:12]))
    assert order == list(range(len(order)))
    assert frame_numbers == list(range(len(frame_numbers)))
    return frame_numbers


@pytest.mark.gate
def test_a_kill_costs_the_last_second_at_most(tmp_path):
    """Three relays are killed at different times. Only complete files remain.

    Several attempts are allowed, because a single relay may be slow on an overloaded
    machine. A relay that waits too long does so in every attempt.
    """
    assert any(
        kills_cost_a_second_at_most(tmp_path / str(number), waits=number > 0)
        for number in range(TRIES)
    )


def kills_cost_a_second_at_most(folder, waits):
    """Kill three relays at different times, and check the files that they leave.

    If ``waits``, a first file exists before the kill, because loading the writer takes
    long on an overloaded machine. Return whether at most one second was lost.
    """
    with Listener(echo) as peer:

        def run(delay_s):
            # Flush more often than the promised second, because machines that run tests
            # are busy.
            options = peer.address, folder / str(delay_s), "--flush", "0.2"
            with recording(*options) as (process, port):
                client = Client(port)
                end = time.monotonic() + TIMEOUT_S
                while waits and time.monotonic() < end and not frames_in(options[1]):
                    time.sleep(0.01)
                time.sleep(delay_s)
                killed = time.monotonic()
                process.kill()
                process.wait()
                client.join(TIMEOUT_S)
                results[delay_s] = client.times, killed

        results = {}
        delays = (1.9, 2.3, 2.9)
        threads = [threading.Thread(target=run, args=(delay,)) for delay in delays]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results.keys() == set(delays)
    is_promise_kept = []
    for delay_s, (times, killed) in results.items():
        promised = sum(moment <= killed - PROMISED_S for moment in times)
        out = folder / str(delay_s)
        recorded = numbers(out) if frames_in(out) else []
        is_promise_kept.append(promised > 10 and len(recorded) >= promised)
    return all(is_promise_kept)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_end_writes_everything_and_sums_up(tmp_path, number):
    with (
        Listener(echo) as peer,
        recording(peer.address, tmp_path / "new" / "out") as (process, port),
    ):
        client = Client(port)
        while len(client.times) < 20:
            time.sleep(0.01)
        client.stopped.set()
        client.join(TIMEOUT_S)
        process.send_signal(number)
        output = process.stderr.read()
        assert process.wait(TIMEOUT_S) == 0
    frames = 2 * len(client.times)
    (folder,) = (tmp_path / "new" / "out").iterdir()
    pattern = rf"kwire: {frames} frames, [\d.]+ KB, 1 connection, \d\.\d s: {folder}\n"
    assert re.fullmatch(pattern, output)
    assert numbers(tmp_path) == list(range(len(client.times)))
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("option", [("--count", "10"), ("--seconds", "0.4")])
def test_record_can_end_after_a_limit(tmp_path, option):
    with (
        Listener(echo) as peer,
        recording(peer.address, tmp_path, *option) as (process, port),
    ):
        client = Client(port)
        assert process.wait(TIMEOUT_S) == 0
        client.join(TIMEOUT_S)
    count = sum(batch.num_rows for batch in read_captures(tmp_path))
    assert count >= 10 if option[0] == "--count" else count > 0


def test_relay_without_connections_writes_no_files(tmp_path):
    with recording("127.0.0.1:9", tmp_path, "--seconds", "0.1") as (process, _):
        assert (
            process.stderr.read()
            == "kwire: no frames were received; nothing was written\n"
        )
        assert process.wait(TIMEOUT_S) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_ends_it_clearly_and_keeps_what_was_promised(tmp_path):
    """A limit on the file size simulates a full disk.

    The command ends with an error, and keeps the rows that it reported as written.
    """

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    with (
        Listener(echo) as peer,
        recording(peer.address, tmp_path, "--flush", "0.2", preexec_fn=limit) as (
            process,
            port,
        ),
    ):
        small = Client(port)
        while not list(tmp_path.rglob("frames-*")) or len(sequences(tmp_path)) < 60:
            time.sleep(0.01)
        client = Client(port, size=60_000)
        output = process.stderr.read()
        assert process.wait(TIMEOUT_S) == 2
        for thread in (small, client):
            thread.join(TIMEOUT_S)
    (folder,) = tmp_path.iterdir()
    summary = re.search(
        rf"^kwire: {folder}: file too large; recording ended\. The first ([\d,]+)"
        r" frames are written, ([\d,]+) are lost: free some space, or give another"
        r" --output$",
        output,
        re.MULTILINE,
    )
    assert summary, output
    safe, lost = (int(text.replace(",", "")) for text in summary.groups())
    assert safe >= 60 and lost > 0
    assert sequences(tmp_path) == list(range(safe))
    assert not [path.name for path in folder.iterdir() if path.name[0] == "."]


WRITER = """
import asyncio, sys, time
from kwire.recording import buffering

buffering._current_minute = lambda: int(time.monotonic() * 10)

async def write():
    buffer = buffering.CaptureBuffer(sys.argv[1], flush_s=0.02)
    writing = asyncio.create_task(buffer.run())
    while not writing.done():
        ends = "client:1", "broker:2"
        header = 3, 12, buffer.frames, "shop"
        moment = time.time_ns() // 1000
        buffer.add(1, "request", moment, *ends, header, 9, b"some data", False)
        print(buffer.safe, flush=True)
        await asyncio.sleep(0.0005)

asyncio.run(write())
"""


def test_merging_hides_no_row_from_a_reader_and_none_from_a_kill(tmp_path):
    """Until the kill, files are merged every 0.1 s instead of every minute."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            while int(process.stdout.readline()) < 50:
                pass
            # Read until some small files that the reader has listed were merged and
            # deleted.
            visible_names, merged, begin = set(), set(), time.monotonic()
            while time.monotonic() < begin + (TIMEOUT_S if not merged else 1.5):
                stored = sequences(tmp_path)
                assert stored == list(range(len(stored)))
                present = set(tmp_path.rglob("frames-*"))
                merged |= visible_names - present
                visible_names |= present
        finally:
            process.kill()
        safe = [int(text) for text in process.stdout.read().split("\n")[:-1]][-1]
    stored = sequences(tmp_path)
    assert stored == list(range(len(stored)))
    assert len(stored) >= safe > 50
    assert merged
