# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire record``: relays between clients and brokers, and records the traffic.

The relay is implemented in ``kwire.recording``. This module defines its options, and
handles signals and messages.
"""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from ..._text import escape_line, format_address, format_count, format_size
from ...client.runners.addresses import split_address
from ...recording.relay import (
    HIGHEST_MAX_FRAME_BYTES,
    MAX_CONNECTIONS,
    MAX_FRAME_BYTES,
    MAX_HELD_BYTES,
    Relay,
    read_listen,
)
from ..input.cluster_address import ADDRESS_VARIABLE
from ..main import EXIT_CODES, FINE
from ..output.console import error_console
from ..output.tables import output_option
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.status import Status

_TICK_S = 1.0


def _address(reads: Callable[[str], tuple[str, int]]) -> Callable[..., tuple[str, int]]:
    def callback(
        _context: click.Context, _option: click.Parameter, text: str
    ) -> tuple[str, int]:
        try:
            return reads(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return callback


def _read_first(text: str) -> tuple[str, int]:
    """Return the host and the port of the first address in a comma-separated list."""
    return split_address(text.partition(",")[0].strip())


@click.command(
    epilog=EXIT_CODES,
    short_help="Record the traffic of clients, through a relay.",
)
@click.option(
    "--listen",
    required=True,
    metavar="HOST:PORT",
    callback=_address(read_listen),
    help="Where clients bootstrap; port 0 is any free one. Brokers get the next ports.",
)
@click.option(
    "--upstream",
    required=True,
    metavar="HOST:PORT",
    callback=_address(_read_first),
    envvar=ADDRESS_VARIABLE,
    help=f"A broker of the cluster; else the first of {ADDRESS_VARIABLE} in the"
    " environment.",
)
@output_option(required=True)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop after this time.",
)
@click.option(
    "--count", type=click.IntRange(min=1), help="Stop after this many frames."
)
@click.option(
    "--flush",
    "flush_s",
    type=click.FloatRange(min=0.01),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How often frames are written; kill -9 loses at most this.",
)
@click.option(
    "--max-frame",
    "max_frame_bytes",
    type=click.IntRange(1024, HIGHEST_MAX_FRAME_BYTES),
    default=MAX_FRAME_BYTES,
    show_default=True,
    metavar="BYTES",
    help="Close a connection whose frame is larger.",
)
@click.option(
    "--max-connections",
    type=click.IntRange(min=1),
    default=MAX_CONNECTIONS,
    show_default=True,
    help="Close further connections of clients.",
)
@click.option(
    "--max-held",
    "max_held_bytes",
    type=click.IntRange(min=1 << 20),
    default=MAX_HELD_BYTES,
    show_default=True,
    metavar="BYTES",
    help=(
        "Maximum size of incomplete or unread frames of all connections; beyond it,"
        " the largest connection is closed."
    ),
)
def command(
    listen: tuple[str, int],
    upstream: tuple[str, int],
    output_path: str,
    seconds: float | None,
    count: int | None,
    flush_s: float,
    max_frame_bytes: int,
    max_connections: int,
    max_held_bytes: int,
) -> int:
    """Relay between Kafka clients and a cluster, and record every frame.

    Clients bootstrap from the relay in place of a broker, in plaintext. Addresses of
    brokers in responses become ports of the relay, so that clients stay on it. Frames
    are written to Parquet files in a new directory below that of --output, without
    SASL secrets, until Ctrl-C.
    """
    if listen == upstream:
        raise click.BadParameter(
            "is the address that the relay listens on; give that of a broker",
            param_hint="'--upstream'",
        )
    console = error_console()
    shows = console.is_terminal and not console.is_dumb_terminal

    def tell(sentence: str) -> None:
        if not shows:
            say(sentence)
            return
        # Print the message through the console, because only the console can remove its
        # status line first and draw it again below the message.
        line = f"kwire: {escape_line(sentence)}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    relay = Relay(
        listen,
        upstream,
        output_path,
        tell=tell,
        flush_s=flush_s,
        max_frame_bytes=max_frame_bytes,
        max_connections=max_connections,
        max_held_bytes=max_held_bytes,
        count=count,
    )
    started = time.monotonic()

    def ready() -> None:
        here = format_address(*relay.addresses[upstream])
        tell(
            f"listening on {here} for {format_address(*upstream)}; press Ctrl-C to end"
            " the recording"
        )

    try:
        if shows:
            with console.status("waiting for clients") as status:
                asyncio.run(_run(relay, ready, seconds, status))
        else:
            asyncio.run(_run(relay, ready, seconds, None))
    finally:
        if relay.addresses:
            _sum_up(relay, time.monotonic() - started)
    return FINE


async def _run(
    relay: Relay,
    ready: Callable[[], None],
    seconds: float | None,
    status: Status | None,
) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        # If the event loop does not support signal handlers, Ctrl-C cancels this task,
        # which also ends the recording correctly.
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, relay.stop)
    if seconds is not None:
        loop.call_later(seconds, relay.stop)
    showing = asyncio.create_task(_show(relay, status)) if status is not None else None
    try:
        await relay.run(ready)
    finally:
        if showing is not None:
            showing.cancel()


async def _show(relay: Relay, status: Status) -> None:
    before = 0
    while True:
        await asyncio.sleep(_TICK_S)
        counts = relay.counts
        rate = (counts.frames - before) / _TICK_S
        before = counts.frames
        status.update(
            f"{format_count(counts.frames, 'frame')}, {format_size(counts.size)}, "
            f"{rate:,.0f} frames/s, {format_count(counts.connections, 'connection')}"
        )


def _sum_up(relay: Relay, seconds: float) -> None:
    counts = relay.counts
    if not counts.frames:
        say("no frames were received; nothing was written")
        return
    say(
        f"{format_count(counts.frames, 'frame')}, {format_size(counts.size)}, "
        f"{format_count(counts.connections, 'connection')}, {seconds:.1f} s: "
        f"{relay.folder}"
    )
