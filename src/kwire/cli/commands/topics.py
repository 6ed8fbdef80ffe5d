# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire topics``: lists, creates and deletes topics in a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import click

from ..._text import format_count, suggest_names
from ...errors import KwireError
from ...schema import error_codes
from ..input.brokers import add_cluster_options, connect_cluster
from ..input.changes import (
    Outcome,
    change_each,
    check_confirmation,
    check_requirements,
    confirm_deletion,
    delete_option,
    dry_run_option,
    quote,
    write_outcomes,
    yes_option,
)
from ..input.cluster_address import ClusterCommand
from ..input.new_topics import add_new_topic_options, parse_properties
from ..main import CANNOT, EXIT_CODES, FINE, PROBLEMS, explain
from ..output.tables import RowFormat, format_option, open_output, write_table
from ..output.terminal import say

if TYPE_CHECKING:
    from ...client import KafkaSync
    from ...client.machines import TopicInfo

    Offsets: TypeAlias = dict[tuple[str, int], int]

_NAMES = (
    "topic",
    "topic_id",
    "is_internal",
    "partition",
    "leader",
    "leader_epoch",
    "replicas",
    "in_sync",
    "offline",
    "start_offset",
    "end_offset",
    "size_bytes",
)
_TITLES = (
    " PARTITION",
    " LEADER",
    "REPLICAS",
    "IN SYNC",
    " START",
    " END",
    " OFFSETS",
)


@click.command(
    cls=ClusterCommand,
    epilog=EXIT_CODES.replace("1 problems found", "1 partitions without a leader"),
    short_help="List topics and their partitions; create and delete topics.",
)
@add_cluster_options
@click.argument("names", metavar="[TOPIC]...", nargs=-1)
@click.option("--create", is_flag=True, help="Create the topics.")
@delete_option
@add_new_topic_options
@dry_run_option
@yes_option
@click.option(
    "--offsets/--no-offsets", default=True, help="Show where partitions start and end."
)
@click.option(
    "--sizes/--no-sizes", default=True, help="Show the size of leaders' logs."
)
@format_option
def command(
    address: str,
    names: tuple[str, ...],
    create: bool,
    delete: bool,
    partitions: int | None,
    replication_factor: int | None,
    configs: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    offsets: bool,
    sizes: bool,
    form: RowFormat,
    **access: Any,
) -> int:
    """List the partitions of all topics or of the specified ones; create and delete.

    START is the first offset of a partition, END the next one to be written. Not every
    offset has a record: compaction removes some, transactions use some. BYTES is the
    size of the leader's log, if the broker reports it to this user.

    --create and --delete print a row for each TOPIC. Without --partitions, the number
    of partitions is the default of the brokers. A deletion asks first; a script needs
    --yes. If a TOPIC does not exist, nothing is deleted.
    """
    if create and delete:
        raise click.UsageError("--create and --delete exclude each other")
    check_requirements(
        (
            ("--create", create, "a TOPIC", names),
            ("--delete", delete, "a TOPIC", names),
            ("--partitions", partitions, "--create", create),
            ("--replication-factor", replication_factor, "--create", create),
            ("--topic-config", configs, "--create", create),
            ("--dry-run", dry_run, "--create or --delete", create or delete),
            ("--yes", yes, "--delete", delete),
        )
    )
    properties = parse_properties("--topic-config", configs)
    if delete and not dry_run:
        check_confirmation(yes)
    with connect_cluster(address, **access) as kafka:
        if create:
            outcomes = change_each(
                dict.fromkeys(names),
                lambda name: kafka.create_topics(
                    {name: partitions or -1},
                    replication_factor=replication_factor or -1,
                    configs=properties,
                    validate_only=dry_run,
                ),
            )
            done = "would be created" if dry_run else "created"
            return write_outcomes(form, "topic", outcomes, done)
        if delete:
            return _delete(kafka, names, form, dry_run, yes)
        topics = _choose(kafka.topics(), names)
        starts: Offsets = {}
        ends: Offsets = {}
        bytes_of: Offsets = {}
        failure = None
        if offsets:
            try:
                starts, ends = _find_offsets(kafka, topics)
            except KwireError as error:
                failure = error
        if sizes and failure is None:
            try:
                bytes_of = kafka.sizes(topics)
            except KwireError as error:
                failure = error
    rows = [
        _row(topic, partition, starts, ends, bytes_of)
        for topic in topics.values()
        for partition in sorted(topic.partitions)
    ]
    with open_output() as output:
        if form.is_table:
            titles = (*_TITLES, " BYTES") if bytes_of else _TITLES
            cells = [(row["topic"], _cells(row)[: len(titles)]) for row in rows]
            write_table(output, titles, cells)
        else:
            writer = form.open_rows(output, _NAMES)
            for row in rows:
                writer.write(row)
    unknown = [topic for topic in topics.values() if topic.error_code]
    for topic in unknown:
        say(f"topic {topic.name}: {error_codes.name(topic.error_code)}")
    leaderless = sum(row["leader"] is None for row in rows)
    summary = (
        f"{format_count(len(topics), 'topic')}, {format_count(len(rows), 'partition')}"
    )
    say(f"{summary}, without a leader: {leaderless:,}" if leaderless else summary)
    if failure is not None:
        say(f"finding offsets and sizes: {explain(failure)}")
    if failure is not None or unknown:
        return CANNOT
    return PROBLEMS if leaderless else FINE


def _delete(
    kafka: KafkaSync, names: tuple[str, ...], form: RowFormat, dry_run: bool, yes: bool
) -> int:
    topics = _choose(kafka.topics(), names)
    if dry_run:
        outcomes = [Outcome(name) for name in topics]
        return write_outcomes(form, "topic", outcomes, "would be deleted")
    confirm_deletion(
        [
            f"{'internal ' if topic.is_internal else ''}topic {quote(topic.name)}:"
            f" {format_count(len(topic.partitions), 'partition')}"
            for topic in topics.values()
        ],
        yes,
    )
    outcomes = change_each(topics, kafka.delete_topics)
    return write_outcomes(form, "topic", outcomes, "deleted")


def _choose(
    topics: dict[str, TopicInfo], names: tuple[str, ...]
) -> dict[str, TopicInfo]:
    """Select topics by name, or all topics if no name is specified.

    Raises ``ClickException`` if a topic does not exist.
    """
    for name in names:
        if name not in topics:
            near = suggest_names(name, topics)
            raise click.ClickException(f"topic {name!r:.100} does not exist{near}")
    return {name: topics[name] for name in names} if names else topics


def _find_offsets(
    kafka: KafkaSync, topics: dict[str, TopicInfo]
) -> tuple[Offsets, Offsets]:
    """Return the start offsets and the end offsets, each by (topic, partition).

    Partitions without a leader are omitted.
    """
    chosen = {
        topic.name: led
        for topic in topics.values()
        if not topic.error_code
        if (
            led := [
                n
                for n, partition_info in topic.partitions.items()
                if partition_info.leader >= 0
            ]
        )
    }
    if not chosen:
        return {}, {}
    return kafka.offsets(chosen, at="earliest"), kafka.offsets(chosen, at="latest")


def _row(
    topic: TopicInfo,
    partition: int,
    starts: Offsets,
    ends: Offsets,
    bytes_of: Offsets,
) -> dict[str, Any]:
    info = topic.partitions[partition]
    position = topic.name, partition
    return {
        "topic": topic.name,
        "topic_id": str(topic.topic_id) if topic.topic_id.int else None,
        "is_internal": topic.is_internal,
        "partition": partition,
        "leader": info.leader if info.leader >= 0 else None,
        "leader_epoch": info.leader_epoch if info.leader_epoch >= 0 else None,
        "replicas": list(info.replicas),
        "in_sync": list(info.in_sync),
        "offline": list(info.offline),
        "start_offset": starts.get(position),
        "end_offset": ends.get(position),
        "size_bytes": bytes_of.get(position),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    start, end = row["start_offset"], row["end_offset"]
    count = None if start is None or end is None else end - start
    return (
        _text(row["partition"]),
        _text(row["leader"]),
        _list(row["replicas"]),
        _list(row["in_sync"]),
        _text(start),
        _text(end),
        _text(count),
        _text(row["size_bytes"]),
    )


def _text(number: int | None) -> str:
    return "-" if number is None else str(number)


def _list(nodes: list[int]) -> str:
    return ",".join(map(str, nodes)) or "-"
