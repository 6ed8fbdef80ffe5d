# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire restore``: writes records from logs or an export to a cluster.

Every record is written once, even after an interruption. This module defines the
options and prints the results. ``jobs/restore_job`` implements the restore.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from ..._limits import DEFAULT, MIB
from ..._text import format_count
from ...client.machines import ClusterError
from ...errors import DecodeError
from ..input.brokers import add_cluster_options, compression_option, connect_cluster
from ..input.cluster_address import ClusterCommand
from ..input.logs import LogInputs, add_partition_options, say_unreadable
from ..input.new_topics import add_new_topic_options, parse_properties
from ..main import EXIT_CODES, FINE, PROBLEMS, explain
from ..output.progress import Progress
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...client import KafkaSync
    from ...jobs.restore_job.sources import PartitionSource

_CODES = EXIT_CODES.replace("1 problems found", "1 something was left out or is gone")


@click.command(
    cls=ClusterCommand,
    epilog=_CODES,
    short_help="Write logs or an export to a live cluster.",
)
@add_cluster_options
@add_partition_options
@click.option(
    "--to-topic",
    metavar="TOPIC",
    help="Write to this topic; for a source of one topic.",
)
@click.option(
    "--create-topics",
    is_flag=True,
    help=(
        "Create topics that do not exist, with retention.ms=-1, so that old records"
        " stay."
    ),
)
@add_new_topic_options
@compression_option("zstd")
@click.option(
    "--uncommitted",
    is_flag=True,
    help="For logs: also write records of aborted and unfinished transactions.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=1),
    metavar="MIB",
    help="Maximum MiB per second to write, before compression.",
)
def command(
    address: str,
    paths: tuple[str, ...],
    topic: tuple[str, ...],
    partition: tuple[int, ...],
    include: tuple[str, ...],
    to_topic: str | None,
    create_topics: bool,
    partitions: int | None,
    replication_factor: int | None,
    configs: tuple[str, ...],
    compression: str,
    uncommitted: bool,
    rate: float | None,
    **access: Any,
) -> int:
    """Write what kwire export recovered, or log files, to a live cluster.

    PATH is the directory that kwire export wrote, or a data directory, a partition
    directory or .log files. Partitions, order, timestamps, keys, values and headers do
    not change; offsets begin at 0. Each record is written once: run the same command
    again after an interruption, and it continues where it ended. The topics must be
    empty at first, and no other producer may write to them meanwhile.
    """
    from ...jobs.restore_job.job import (
        NEW_TOPIC_CONFIGS,
        RestoreCounts,
        RestoreOptions,
        restore,
    )

    settings = parse_properties("--topic-config", configs)
    if not create_topics and (partitions or replication_factor or configs):
        raise click.UsageError(
            "--partitions, --replication-factor and --topic-config require"
            " --create-topics"
        )
    sources, is_complete = _find_sources(paths, topic, partition, include, uncommitted)
    names = {source.topic: source.topic for source in sources}
    if to_topic is not None:
        if len(names) > 1:
            raise click.UsageError(
                "--to-topic requires a source of one topic (got"
                f" {', '.join(sorted(names))}); choose one with --topic"
            )
        names = dict.fromkeys(names, to_topic)
    counts = RestoreCounts()
    options = RestoreOptions(compression, None if rate is None else rate * MIB)
    with ExitStack() as stack:
        kafka = stack.enter_context(connect_cluster(address, **access))
        created = _prepare_topics(
            kafka,
            sources,
            names,
            create_topics,
            partitions,
            replication_factor,
            NEW_TOPIC_CONFIGS | settings,
        )
        size = sum(source.size for source in sources)
        try:
            with Progress(size) as progress:
                restore(kafka, sources, names, options, counts, progress.advance)
        except KeyboardInterrupt:
            say(f"interrupted; {_describe_progress(counts.written)}")
            raise
        except ClusterError as error:
            raise click.ClickException(
                f"{error}; {_describe_progress(counts.written)}"
            ) from error
        except DecodeError as error:
            raise click.ClickException(
                f"{explain(error)}; kwire export recovers what is not damaged, and"
                " kwire restore continues with its output"
            ) from error
        is_complete &= _check_starts(kafka, sources, names)
    before = f", {counts.present:,} were there already" if counts.present else ""
    say(
        f"{format_count(counts.written, 'record')} of"
        f" {format_count(len(sources), 'partition')} restored{before}"
    )
    if created and "retention.ms" not in settings:
        say(f"{', '.join(created)}: created with retention.ms=-1; set it as you need")
    return FINE if is_complete else PROBLEMS


def _describe_progress(written: int) -> str:
    """Describe how many records have been written, and how to continue."""
    return (
        f"{format_count(written, 'record')} written; the same command continues where"
        " this one ended"
    )


def _find_sources(
    paths: tuple[str, ...],
    topic: tuple[str, ...],
    partition: tuple[int, ...],
    include: tuple[str, ...],
    uncommitted: bool,
) -> tuple[Sequence[PartitionSource], bool]:
    """Return the partitions to restore, and whether the input is complete.

    Raises ``UsageError`` or ``ClickException`` if the paths and options do not select
    any partition, or conflict.
    """
    from ...jobs.restore_job import sources as found

    is_complete = True
    sources: Sequence[PartitionSource]
    if any(map(found.is_export, paths)):
        if len(paths) > 1:
            raise click.UsageError(
                "the directory of an export must be the only PATH (got"
                f" {len(paths)} paths)"
            )
        if uncommitted or include:
            raise click.UsageError(
                "--uncommitted and --include require log files (got an export)"
            )
        sources = found.find_export(paths[0], topic, partition)
        if found.has_transactions(paths[0]):
            say(
                "the export does not contain which transactions were aborted; the"
                " records of all transactions are restored"
            )
    else:
        inputs = LogInputs(paths, topic, partition, include)
        say_unreadable(inputs)
        sources = found.find_logs(
            inputs.partitions,
            topic,
            is_committed=not uncommitted,
            limits=DEFAULT,
        )
        is_complete = inputs.is_complete
    if not sources:
        raise click.ClickException(
            "no partition to restore: --topic and --partition match no partition, or"
            " the source has only internal topics, which must be named with --topic"
        )
    for each in sources:
        if each.open_offset is not None:
            is_complete = False
            say(
                f"{each.topic}-{each.partition}: an unfinished transaction begins at"
                f" offset {each.open_offset}; its records and all later ones are"
                " omitted, unless you add --uncommitted"
            )
    return sources, is_complete


def _prepare_topics(
    kafka: KafkaSync,
    sources: Sequence[PartitionSource],
    names: Mapping[str, str],
    create: bool,
    partitions: int | None,
    replication_factor: int | None,
    configs: Mapping[str, str],
) -> list[str]:
    """Create missing topics, and return their names.

    Raises ``ClickException`` if a topic has too few partitions, or does not exist and
    ``create`` is False.
    """
    from ...jobs.restore_job.job import create_topic

    topics_by_name = kafka.topics()
    created_topics = []
    for topic, target in names.items():
        needed = 1 + max(
            source.partition for source in sources if source.topic == topic
        )
        count = (
            len(topics_by_name[target].partitions)
            if target in topics_by_name
            else partitions
        )
        if count is not None and count < needed:
            raise click.ClickException(
                f"topic {target!r} must have at least {needed} partitions, as the"
                f" source has (got {count})"
            )
        if target in topics_by_name:
            continue
        if not create:
            raise click.ClickException(
                f"topic {target!r} does not exist; create it with"
                f" {needed} partitions, or add --create-topics"
            )
        create_topic(kafka, target, count or needed, replication_factor or -1, configs)
        created_topics.append(target)
    return created_topics


def _check_starts(
    kafka: KafkaSync, sources: Sequence[PartitionSource], names: Mapping[str, str]
) -> bool:
    """Check whether the brokers still have all restored records.

    Returns False if they have deleted records, and prints how many.
    """
    restored_partitions: dict[str, list[int]] = {}
    for source in sources:
        restored_partitions.setdefault(names[source.topic], []).append(source.partition)
    starts = kafka.offsets(restored_partitions, at="earliest")
    deleted_counts = {position: start for position, start in starts.items() if start}
    for (topic, partition), start in deleted_counts.items():
        say(
            f"{topic}-{partition}: the brokers have deleted the first {start} records"
            " again, as they are older than the topic's retention.ms"
        )
    return not deleted_counts
