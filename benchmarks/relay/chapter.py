# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Print the relay's CPU time per Fetch exchange, by response size.

The relay runs in a separate process. This process is both the client and the broker. In
the relay, the event loop thread splits, records and forwards frames. The remaining CPU
time is used by the thread that writes Parquet files.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from statistics import median

from kwire import messages
from kwire.messages import framing
from kwire.recording import Relay

CASES = (
    ("4 MiB", 4 << 20, 40, 2),
    ("20 kB", 20_000, 3000, 4),
    ("100 B", 100, 20_000, 200),
)
"""Name, response size in bytes, number of exchanges, and maximum number of requests in
flight.
"""

ROUNDS = 3
OPTIONS = {"uvloop": False}
_HOST = "127.0.0.1"
_VERSION = 12


async def _relay(port: int, out: str) -> None:
    """Run the relay until the standard input ends.

    For every input line, it prints the CPU times of the process and of the thread.
    """
    relay = Relay((_HOST, 0), (_HOST, port), out, tell=lambda _: None)
    loop = asyncio.get_running_loop()

    def ready() -> None:
        print(relay.addresses[_HOST, port][1], flush=True)

    def report() -> None:
        if sys.stdin.readline():
            print(json.dumps((time.process_time(), time.thread_time())), flush=True)
        else:
            loop.remove_reader(sys.stdin)
            relay.stop()

    loop.add_reader(sys.stdin, report)
    await relay.run(ready)


def _answer(server: socket.socket, size: int, answer: bytes) -> None:
    """Accept one client, and send ``answer`` for each of its requests.

    ``size`` is the size of a request in bytes.
    """
    client, _ = server.accept()
    rest = 0
    with client:
        while chunk := client.recv(1 << 20):
            count, rest = divmod(rest + len(chunk), size)
            client.sendall(answer * count)


def _exchange(
    client: socket.socket, request: bytes, size: int, count: int, ahead: int
) -> None:
    """Send ``count`` requests and read their responses, which have ``size`` bytes each.

    At most ``ahead`` requests are in flight.
    """
    buffer = bytearray(1 << 20)
    sent = min(ahead, count)
    client.sendall(request * sent)
    got = 0
    while got < count * size:
        got += client.recv_into(buffer)
        due = min(got // size + ahead, count)
        client.sendall(request * (due - sent))
        sent = due


def measure(size: int, count: int, ahead: int, *options: str) -> tuple[float, float]:
    """Return the relay's CPU time per exchange in microseconds.

    The first figure is for the process, the second one for its event loop thread.
    """
    request = framing.encode_request(messages.FetchRequest(), _VERSION, 0, "bench")
    answer = size.to_bytes(4, "big") + bytes(4) + os.urandom(size - 4)
    with (
        socket.create_server((_HOST, 0)) as server,
        tempfile.TemporaryDirectory() as out,
    ):
        broker = threading.Thread(target=_answer, args=(server, len(request), answer))
        broker.start()
        command = [sys.executable, "-m", "benchmarks.relay.chapter"]
        with subprocess.Popen(
            [*command, str(server.getsockname()[1]), out, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as relay:
            stdin, stdout = relay.stdin, relay.stdout
            assert stdin is not None and stdout is not None

            def cpu() -> tuple[float, float]:
                print(file=stdin, flush=True)
                process, thread = json.loads(stdout.readline())
                return process, thread

            port = int(stdout.readline())
            with socket.create_connection((_HOST, port)) as client:
                _exchange(client, request, len(answer), max(count // 10, 2), ahead)
                before = cpu()
                _exchange(client, request, len(answer), count, ahead)
                after = cpu()
            stdin.close()
        broker.join()
    process, thread = (
        1e6 * (b - a) / count for a, b in zip(before, after, strict=True)
    )
    return process, thread


def show(uvloop: bool) -> int:
    """Measure all cases, and print a line for each response size. Returns 0.

    ``uvloop``: use the event loop of uvloop.
    """
    options = ("uvloop",) if uvloop else ()
    for name, size, count, ahead in CASES:
        runs = [measure(size, count, ahead, *options) for _ in range(ROUNDS)]
        process, thread = (median(each) for each in zip(*runs, strict=True))
        print(
            f"{name:6} {process:9.1f} us of CPU, {thread:8.1f} us of them in the loop"
        )
    return 0


if __name__ == "__main__":
    serving = _relay(int(sys.argv[1]), sys.argv[2])
    if "uvloop" in sys.argv:
        import uvloop

        uvloop.run(serving)
    else:
        asyncio.run(serving)
