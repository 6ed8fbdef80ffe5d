# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options that select records: positions, keys, limits, topics and partitions.

Every option is defined once in this module, so that its name, meaning and default are
the same in every command. ``Position`` is the type of ``--from`` and ``--to``.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ..output.byte_formats import read_bytes

if TYPE_CHECKING:
    Position: TypeAlias = "str | int | datetime | timedelta"

_NAMES = {
    "earliest": "earliest",
    "beginning": "earliest",
    "latest": "latest",
    "end": "latest",
}
_DURATION = re.compile(r"([0-9]{1,9})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


class PositionType(click.ParamType[object]):
    """Parameter type for positions: offsets, names, times, and durations before now.

    The offset -N refers to the last N offsets of a partition. A time without a time
    zone is UTC.
    """

    name = "position"

    def convert(self, value: Any, param: Any, ctx: Any) -> Position:
        if value in _NAMES:
            return _NAMES[value]
        try:
            if re.fullmatch("-?[0-9]{1,19}", value):
                return int(value)
            if duration := _DURATION.fullmatch(value):
                return timedelta(**{_UNITS[duration[2]]: int(duration[1])})
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            self.fail(
                f"{value!r:.100} is not a position; give an offset, earliest, latest,"
                " a time such as 2026-11-20T08:30:00Z, or a duration such as 1h",
                param,
                ctx,
            )


class _EndType(PositionType):
    """Parameter type for positions, except for -N (the last N offsets)."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Position:
        position = super().convert(value, param, ctx)
        if isinstance(position, int) and position < 0:
            self.fail(f"it must be an offset of 0 or more (got {position})", param, ctx)
        return position


class _KeyType(click.ParamType[bytes]):
    """Parameter type for bytes: text, or hex or base64 with a prefix."""

    name = "key"

    def convert(self, value: Any, param: Any, ctx: Any) -> bytes:
        try:
            return read_bytes(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


from_option = click.option(
    "--from",
    "start",
    type=PositionType(),
    default="earliest",
    help=(
        "Where to start: an offset, earliest (default), latest, an ISO-8601 time, or"
        " a duration ago such as 1h; -10 is the last 10 offsets of each partition."
    ),
)

to_option = click.option(
    "--to",
    "end",
    type=_EndType(),
    help=(
        "Stop before this position; the default is latest: the end when the command"
        " starts."
    ),
)

key_option = click.option(
    "--key",
    type=_KeyType(),
    help="Only records with this key: text, hex:00ff or base64:AP8=.",
)

limit_option = click.option(
    "--limit",
    "-n",
    type=click.IntRange(0),
    metavar="N",
    help="Print at most N records.",
)

isolation_level_option = click.option(
    "--isolation-level",
    type=click.Choice(("read_uncommitted", "read_committed")),
    default="read_uncommitted",
    show_default=True,
    help="read_committed omits aborted and unfinished transactions.",
)

topic_option = click.option(
    "--topic", "-t", multiple=True, metavar="TOPIC", help="Only this topic; repeatable."
)

partition_option = click.option(
    "--partition",
    "-p",
    type=click.IntRange(0),
    multiple=True,
    metavar="N",
    help="Only this partition; repeatable.",
)
