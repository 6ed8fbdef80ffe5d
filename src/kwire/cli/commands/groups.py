# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire groups``: lists consumer groups and their lag, and resets their offsets.

``cli/input/group_offsets.py`` looks up the offsets for groups and positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..._text import format_count
from ..input.brokers import add_cluster_options, connect_cluster
from ..input.changes import (
    change_each,
    check_confirmation,
    check_requirements,
    collect_rows,
    confirm_deletion,
    delete_option,
    dry_run_option,
    quote,
    write_outcomes,
    yes_option,
)
from ..input.cluster_address import ClusterCommand
from ..input.group_offsets import (
    DESCRIBED_NAMES,
    check_no_members,
    describe_group,
    plan_reset,
)
from ..input.selection import PositionType, partition_option, topic_option
from ..main import CANNOT, EXIT_CODES, FINE
from ..output.tables import RowFormat, format_option, open_output, write_table
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...client import KafkaSync
    from ..input.group_offsets import Selection
    from ..input.selection import Position

_LISTED = ("group", "group_type", "state", "protocol_type")
_RESET = ("group", "topic", "partition", "before", "after")
_LAG_TITLES = (" PARTITION", " COMMITTED", " END", " LAG", "TOPIC", "CLIENT")
_RESET_TITLES = (" PARTITION", " BEFORE", " AFTER", "TOPIC")


@click.command(
    cls=ClusterCommand,
    epilog=EXIT_CODES,
    short_help="List groups and their lag; reset offsets; delete groups.",
)
@add_cluster_options
@click.argument("names", metavar="[GROUP]...", nargs=-1)
@click.option(
    "--reset",
    type=PositionType(),
    help=(
        "Commit this position for the group: an offset, earliest, latest, an ISO-8601"
        " time, or a duration ago such as 1h; -10 is the last 10 offsets."
    ),
)
@topic_option
@partition_option
@delete_option
@dry_run_option
@yes_option
@format_option
def command(
    address: str,
    names: tuple[str, ...],
    reset: Position | None,
    topic: tuple[str, ...],
    partition: tuple[int, ...],
    delete: bool,
    dry_run: bool,
    yes: bool,
    form: RowFormat,
    **access: Any,
) -> int:
    """List the groups of a cluster, or show the lag of each partition of some groups.

    LAG is END minus COMMITTED: the offsets that the group has not read yet.

    --reset changes the partitions with a committed offset, or all partitions of
    --topic, and prints the offsets before and after. The group must not have members:
    stop its consumers first. Offsets outside of a partition become its first offset
    or its end. A deletion asks first; a script needs --yes.
    """
    if reset is not None and delete:
        raise click.UsageError("--reset and --delete exclude each other")
    is_change = reset is not None or delete
    check_requirements(
        (
            ("--reset", reset is not None, "a GROUP", names),
            ("--delete", delete, "a GROUP", names),
            ("--topic", topic, "a GROUP, and not --delete", names and not delete),
            (
                "--partition",
                partition,
                "a GROUP, and not --delete",
                names and not delete,
            ),
            ("--dry-run", dry_run, "--reset or --delete", is_change),
            ("--yes", yes, "--delete", delete),
        )
    )
    if delete and not dry_run:
        check_confirmation(yes)
    selection = (frozenset(topic), frozenset(partition))
    groups = list(dict.fromkeys(names))
    with connect_cluster(address, **access) as kafka:
        if delete:
            return _delete(kafka, groups, form, dry_run, yes)
        if not groups:
            return _list(kafka, form)
        if reset is None:
            return _describe(kafka, groups, selection, form)
        return _reset(kafka, groups, reset, selection, form, dry_run)


def _list(kafka: KafkaSync, form: RowFormat) -> int:
    groups = kafka.groups().values()
    with open_output() as output:
        if form.is_table:
            titles = ("STATE", "TYPE", "PROTOCOL", "GROUP")
            cells = [
                (
                    g.state or "-",
                    g.group_type or "-",
                    g.protocol_type or "-",
                    g.group_id,
                )
                for g in groups
            ]
            if cells:
                write_table(output, titles, [("", line) for line in cells])
        else:
            writer = form.open_rows(output, _LISTED)
            for g in groups:
                values = (g.group_id, g.group_type, g.state, g.protocol_type)
                writer.write(
                    {
                        name: value or None
                        for name, value in zip(_LISTED, values, strict=True)
                    }
                )
    say(format_count(len(groups), "group"))
    return FINE


def _describe(
    kafka: KafkaSync, groups: Sequence[str], selection: Selection, form: RowFormat
) -> int:
    rows, has_failed = collect_rows(
        groups, lambda group: describe_group(kafka, group, selection)
    )
    with open_output() as output:
        if not form.is_table:
            writer = form.open_rows(output, DESCRIBED_NAMES)
            for row in rows:
                writer.write(row)
        elif rows:
            lines = [(_make_title(row), _make_lag_cells(row)) for row in rows]
            write_table(output, _LAG_TITLES, lines)
    return CANNOT if has_failed else FINE


def _reset(
    kafka: KafkaSync,
    groups: Sequence[str],
    position: Position,
    selection: Selection,
    form: RowFormat,
    dry_run: bool,
) -> int:
    def reset(group: str) -> list[dict[str, Any]]:
        changes = plan_reset(kafka, group, position, selection)
        if not dry_run:
            offsets = {place: change.after for place, change in changes.items()}
            kafka.set_group_offsets(group, offsets)
        return [
            {
                "group": group,
                "topic": topic,
                "partition": partition,
                "before": change.before,
                "after": change.after,
            }
            for (topic, partition), change in sorted(changes.items())
        ]

    rows, has_failed = collect_rows(groups, reset)
    with open_output() as output:
        if not form.is_table:
            writer = form.open_rows(output, _RESET)
            for row in rows:
                writer.write(row)
        elif rows:
            lines = [
                (
                    f"group {row['group']}",
                    (
                        str(row["partition"]),
                        _show(row["before"]),
                        str(row["after"]),
                        row["topic"],
                    ),
                )
                for row in rows
            ]
            write_table(output, _RESET_TITLES, lines)
    if dry_run:
        say("nothing was changed (--dry-run)")
    elif rows:
        say(f"{format_count(len(rows), 'offset')} committed")
    return CANNOT if has_failed else FINE


def _delete(
    kafka: KafkaSync, groups: Sequence[str], form: RowFormat, dry_run: bool, yes: bool
) -> int:
    if dry_run:
        outcomes = change_each(groups, lambda group: check_no_members(kafka, group))
        return write_outcomes(form, "group", outcomes, "would be deleted")
    confirm_deletion([f"group {quote(group)}" for group in groups], yes)
    outcomes = change_each(groups, kafka.delete_groups)
    return write_outcomes(form, "group", outcomes, "deleted")


def _make_title(row: dict[str, Any]) -> str:
    facts = [row["group_type"], row["state"], row["assignor"]]
    facts.append(format_count(row["members"], "member"))
    return f"group {row['group']}: {', '.join(fact for fact in facts if fact)}"


def _make_lag_cells(row: dict[str, Any]) -> tuple[str, ...]:
    client = ""
    if row["member_id"] is not None:
        client = f"{row['client_id']}@{row['client_host'].removeprefix('/')}"
    numbers = ("partition", "committed_offset", "end_offset", "lag")
    cells = (_show(row[name]) for name in numbers)
    return (*cells, row["topic"] or "-", client)


def _show(number: int | None) -> str:
    return "-" if number is None else str(number)
