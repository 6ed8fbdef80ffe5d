# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Computes consumer group lag, and the offsets to which a reset moves a group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

from ..._text import format_count
from ...client.errors import RequestRefused
from ...schema import error_codes as codes
from ..output.terminal import say
from .changes import quote

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...client import KafkaSync
    from .selection import Position

    Selection: TypeAlias = "tuple[Collection[str], Collection[int]]"
    """Topic names and partition indexes. An empty collection selects everything."""

    Partition: TypeAlias = "tuple[str, int]"
    Offsets: TypeAlias = "dict[Partition, int]"


_GROUP_NAMES = ("group", "group_type", "state", "assignor", "members")
_PARTITION_NAMES = (
    "topic",
    "partition",
    "committed_offset",
    "end_offset",
    "lag",
    "member_id",
    "group_instance_id",
    "client_id",
    "client_host",
)
DESCRIBED_NAMES = (*_GROUP_NAMES, *_PARTITION_NAMES)
"""Column names of the ``describe_group`` rows."""


class Change(NamedTuple):
    """Change of a committed offset by a reset.

    * ``before``: previous offset, or None if the group had not committed one.
    * ``after``: new offset.
    """

    before: int | None
    after: int


def describe_group(
    kafka: KafkaSync, group_id: str, selection: Selection
) -> list[dict[str, Any]]:
    """Return a row per partition that a group has committed or is assigned.

    A group without such partitions has one row, in which ``topic`` is None. ``lag`` is
    None if the partition does not exist, has no leader, or has no committed offset.
    """
    group = kafka.describe_group(group_id)
    committed = kafka.group_offsets(group_id)
    owners = {
        position: member for member in group.members for position in member.partitions
    }
    positions = sorted(
        position
        for position in {*committed, *owners}
        if _is_selected(position, selection)
    )
    ends = _find_offsets(kafka, positions, "latest")
    values_of_group = (
        group_id,
        group.group_type,
        group.state,
        group.assignor,
        len(group.members),
    )
    facts: dict[str, Any] = dict(zip(_GROUP_NAMES, values_of_group, strict=True))
    if not positions:
        return [facts | dict.fromkeys(_PARTITION_NAMES)]
    rows = []
    for position in positions:
        offset, end, owner = (
            committed.get(position),
            ends.get(position),
            owners.get(position),
        )
        lag = None if offset is None or end is None else end - offset
        values: tuple[Any, ...] = (*position, offset, end, lag)
        if owner is None:
            values += (None,) * 4
        else:
            values += (
                owner.member_id,
                owner.group_instance_id,
                owner.client_id,
                owner.client_host,
            )
        rows.append(facts | dict(zip(_PARTITION_NAMES, values, strict=True)))
    return rows


def plan_reset(
    kafka: KafkaSync, group_id: str, position: Position, selection: Selection
) -> dict[Partition, Change]:
    """Compute the offsets that a reset of a group would commit.

    * ``position``: an offset, -N for the last N offsets, "earliest", "latest", a
      datetime, or a timedelta before now.
    * ``selection``: without topics, all partitions with a committed offset are
      selected.

    Offsets are limited to the range that the log contains. Partitions that do not exist
    or have no leader are skipped with a message on stderr.

    Raises ``RequestRefused`` if the group has members, and ``ClickException`` if a
    topic does not exist or no partition is selected.
    """
    topics, partitions = selection
    check_no_members(kafka, group_id, may_be_new=bool(topics))
    committed = kafka.group_offsets(group_id)
    if topics:
        known = kafka.topics()
        for name in topics:
            if name not in known:
                raise click.ClickException(
                    f"topic {quote(name)} does not exist; kwire topics lists the topics"
                )
        chosen = {(name, index) for name in topics for index in known[name].partitions}
    else:
        chosen = set(committed)
    places = sorted(
        place for place in chosen if not partitions or place[1] in partitions
    )
    if not places:
        raise click.ClickException(
            f"group {quote(group_id)} has no committed offset to reset; select"
            " partitions with --topic and --partition"
        )
    starts = _find_offsets(kafka, places, "earliest")
    ends = _find_offsets(kafka, places, "latest")
    if isinstance(position, int):
        wanted = {
            place: ends[place] + position if position < 0 else position
            for place in ends
        }
    elif position == "earliest":
        wanted = starts
    elif position == "latest":
        wanted = ends
    else:
        wanted = _find_offsets(kafka, places, position)
    changes = {}
    for place in places:
        if place not in starts or place not in ends or place not in wanted:
            say(
                f"{place[0]}-{place[1]} is skipped: it does not exist, or has no leader"
            )
            continue
        after = min(max(wanted[place], starts[place]), ends[place])
        if isinstance(position, int) and position >= 0 and after != position:
            say(
                f"{place[0]}-{place[1]} has the offsets {starts[place]} to"
                f" {ends[place]}; {after} is used in place of {position}"
            )
        changes[place] = Change(committed.get(place), after)
    return changes


def check_no_members(
    kafka: KafkaSync, group_id: str, *, may_be_new: bool = False
) -> None:
    """Check that a group has no members, so that it can be changed.

    ``may_be_new`` accepts a group that does not exist. Raises ``RequestRefused`` if the
    group has members, or does not exist.
    """
    try:
        members = kafka.describe_group(group_id).members
    except RequestRefused as error:
        if error.error_code != codes.GROUP_ID_NOT_FOUND or not may_be_new:
            raise
        say(f"group {quote(group_id)} does not exist yet")
        return
    if members:
        raise RequestRefused(
            f"group {quote(group_id)} has {format_count(len(members), 'member')}",
            codes.NON_EMPTY_GROUP,
        )


def _is_selected(place: Partition, selection: Selection) -> bool:
    topics, partitions = selection
    return (not topics or place[0] in topics) and (
        not partitions or place[1] in partitions
    )


def _find_offsets(kafka: KafkaSync, places: Collection[Partition], at: Any) -> Offsets:
    """Look up offsets at a position. Partitions without a leader are omitted."""
    if not places:
        return {}
    topics_by_name = kafka.topics()
    led_partitions: dict[str, list[int]] = {}
    for name, index in places:
        topic = topics_by_name.get(name)
        info = topic and topic.partitions.get(index)
        if info and info.leader >= 0:
            led_partitions.setdefault(name, []).append(index)
    return kafka.offsets(led_partitions, at=at) if led_partitions else {}
