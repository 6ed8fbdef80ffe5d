# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire serve``: runs the test cluster of ``kwire.testing`` in a terminal."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from ..._text import escape_line, format_count
from ...schema import releases
from ...testing.controls import Cluster
from ...testing.options import MAX_BROKERS
from ..input.logs import LogInputs, say_unreadable
from ..input.stored_logs import StoredTopics
from ..main import EXIT_CODES, FINE
from ..output.tables import open_output
from ..output.terminal import say
from ..output.text_columns import cut_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...testing import ReceivedRequest
    from ...testing.state.partition_log import PartitionLog
    from ..output.tables import Output

_LAST_PORT = 65535
_MAX_TOPICS = 3
"""Maximum number of topic names in the line of a request."""


def _read_topics(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> dict[str, int]:
    """Parse NAME or NAME:PARTITIONS."""
    topics: dict[str, int] = {}
    for text in texts:
        name, separator, count = text.partition(":")
        if name in topics:
            raise click.BadParameter(f"{name!r:.80} is specified twice")
        if separator and not (count.isascii() and count.isdigit() and len(count) < 9):
            raise click.BadParameter(
                f"{text!r:.80} is not NAME:PARTITIONS, such as orders:4"
            )
        topics[name] = int(count) if separator else 1
    return topics


@click.command(epilog=EXIT_CODES, short_help="Run a Kafka cluster for tests.")
@click.argument("log_directory", metavar="[LOG_DIRECTORY]", required=False)
@click.option(
    "--brokers",
    type=click.IntRange(1, MAX_BROKERS),
    default=1,
    show_default=True,
    help="Number of brokers.",
)
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="NAME:COUNT",
    callback=_read_topics,
    help="Create a topic with this number of partitions; repeatable.",
)
@click.option("--release", metavar="R", help="This release; default: the newest.")
@click.option(
    "--port",
    type=click.IntRange(0, _LAST_PORT),
    default=9092,
    show_default=True,
    help="Port of the first broker; other brokers get the next ports. 0 is any free"
    " port.",
)
@click.option(
    "--host",
    type=click.Choice(["127.0.0.1", "::1"]),
    default="127.0.0.1",
    show_default=True,
    help="Loopback address of all brokers.",
)
@click.option(
    "--faults",
    type=int,
    metavar="SEED",
    help="Delay or lose about one request in twenty, chosen by this seed.",
)
@click.option("--seed", type=int, help="Reproduce random ids, such as topic ids.")
def command(
    log_directory: str | None,
    brokers: int,
    topics: dict[str, int],
    release: str | None,
    port: int,
    host: str,
    faults: int | None,
    seed: int | None,
) -> int:
    """Run a Kafka cluster for tests on loopback ports, until Ctrl-C.

    Records stay in memory and are lost at the end. Each received request is a line on
    stdout: time, broker, API, version, client id and topics.

    With LOG_DIRECTORY, a data directory of a broker, clients can read its topics. These
    topics are read-only. Damaged batches are omitted, and named on stderr when a client
    reads them.
    """
    logs = _open_logs(log_directory) if log_directory is not None else {}
    if port and port + brokers - 1 > _LAST_PORT:
        raise click.BadParameter(
            f"{port} leaves no ports for {brokers} brokers", param_hint="'--port'"
        )
    stopped = asyncio.Event()
    with open_output() as output:
        writer = _RequestWriter(output, stopped)
        try:
            cluster = Cluster(
                brokers=brokers,
                topics=topics,
                release=release or releases.NAMES[-1],
                seed=seed,
                faults=faults,
                tls=False,
                sasl=None,
                auto_create_topics=log_directory is None,
                ports=range(port, port + brokers) if port else (),
                on_request=writer.write,
                host=host,
                logs=logs,
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        asyncio.run(_run(cluster, stopped))
        if writer.error is not None:
            raise writer.error
    say(f"received {format_count(writer.count, 'request')}")
    return FINE


def _open_logs(path: str) -> Mapping[str, Sequence[PartitionLog]]:
    inputs = LogInputs((path,))
    say_unreadable(inputs)
    stored = StoredTopics(inputs.partitions, lambda problem: say(f"omitted: {problem}"))
    if stored.missing:
        count = format_count(len(stored.missing), "partition")
        names = ", ".join(stored.missing[:5])
        say(f"{count} served without records, because no directory exists: {names}")
    return stored.logs


class _RequestWriter:
    """Writes a line for each request.

    * ``count``: number of requests.
    * ``error``: exception of a failed write. The command then stops.
    """

    def __init__(self, output: Output, stopped: asyncio.Event) -> None:
        self.count = 0
        self.error: OSError | None = None
        self._output = output
        self._stopped = stopped

    def write(self, received: ReceivedRequest) -> None:
        """Write the line of a request."""
        self.count += 1
        line = format_request(received, time.time())
        if self._output.width is not None:
            line = cut_text(line, self._output.width)
        try:
            self._output.write(f"{line}\n")
            self._output.flush()
        except OSError as error:
            self.error = error
            self._stopped.set()


def format_request(received: ReceivedRequest, unix_s: float) -> str:
    """Format a received request as one line without control characters."""
    clock = time.strftime("%H:%M:%S", time.localtime(unix_s))
    client = received.client_id or "-"
    line = (
        f"{clock}.{int(unix_s % 1 * 1000):03} {received.broker} {received.api}"
        f" v{received.version} {client}"
    )
    names = list(received.topics)
    if names:
        line += " " + ",".join(names[:_MAX_TOPICS])
        more = len(names) - _MAX_TOPICS
        line += f" and {more} more" if more > 0 else ""
    return escape_line(line)


async def _run(cluster: Cluster, stopped: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        # If the event loop does not support signal handlers, Ctrl-C cancels this task,
        # which also stops the cluster.
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, stopped.set)
    async with cluster:
        say(
            f"Kafka {cluster.release} listens on {cluster.bootstrap_servers};"
            " press Ctrl-C to stop"
        )
        await stopped.wait()
