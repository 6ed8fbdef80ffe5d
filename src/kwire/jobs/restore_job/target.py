# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Determines which records of a restore the target cluster already contains.

The target partition is the only journal. Its end offset is the number of restored
records. The last batch is the proof: its sequence number can only match its base offset
if this restore has written all previous records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...client.machines import DataLost
from ..running import JobError
from .batches import EPOCH, make_producer_id, make_rows, sequence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    from ...client import KafkaSync
    from ...records import Batch

    TopicPartition: TypeAlias = tuple[str, int]

_LOG_APPEND_TIME = 1

_MAX_ATTEMPTS = 5
"""Maximum number of attempts to look up the end offsets and the last batches. An
attempt is repeated if a partition loses records between the two lookups.
"""


class TargetEnd(NamedTuple):
    """End of a target partition.

    * ``end``: log end offset.
    * ``last``: last batch of the partition, or None if it contains no records.
    """

    end: int
    last: Batch | None


def find_ends(
    kafka: KafkaSync, topic: str, partitions: Iterable[int]
) -> dict[int, TargetEnd]:
    """Return {partition: end} for partitions of a topic.

    The end shows how many records of a partition have already been restored.

    Raises ``JobError`` if partitions repeatedly lose records during the lookup.
    """
    numbers = sorted(partitions)
    for _ in range(_MAX_ATTEMPTS):
        ends = kafka.offsets({topic: numbers}, at="latest")
        starts = kafka.offsets({topic: numbers}, at="earliest")
        filled = {
            topic_partition: end
            for topic_partition, end in ends.items()
            if end > starts[topic_partition]
        }
        try:
            lasts = _read_last_batches(kafka, filled)
        except DataLost:
            lasts = {}
        if set(lasts) == set(filled):
            return {
                partition: TargetEnd(end, lasts.get((topic, partition)))
                for (_, partition), end in ends.items()
            }
        # Repeat the lookup, because the partition has lost its last records: a replica
        # without these records has become leader.
    raise JobError(
        f"restoring {topic}: its partitions were truncated while they were read; run"
        " the same command again"
    )


def _read_last_batches(
    kafka: KafkaSync, ends: Mapping[TopicPartition, int]
) -> dict[TopicPartition, Any]:
    """Read the last batch of every partition, by (topic, partition)."""
    if not ends:
        return {}
    topics: dict[str, list[int]] = {}
    for topic, partition in ends:
        topics.setdefault(topic, []).append(partition)
    scan = kafka.scan(
        topics,
        start={topic_partition: end - 1 for topic_partition, end in ends.items()},
        end=ends,
        isolation_level="read_uncommitted",
    )
    return {
        (chunk.topic, chunk.partition): batch
        for chunk in scan
        for batch in chunk.batches(errors="replace")
        if batch.base_offset < ends[chunk.topic, chunk.partition]
    }


def check_end(name: str, found: TargetEnd, first_rows: Any) -> None:
    """Check that this restore has written a partition's last batch.

    ``first_rows`` begins with the first source record. It is None if the source is
    empty. Raises ``JobError`` if the records were written by another producer, if they
    have already been deleted, or if the broker replaces timestamps.
    """
    if found.end == 0:
        return
    header = None if found.last is None else found.last.header
    if header is None:
        raise JobError(
            f"restoring {name}: its {found.end} records are already deleted, and"
            " cannot be compared; delete the topic, and restore again with a higher"
            " retention.ms"
        )
    if (
        first_rows is None
        or header.magic != 2
        or header.producer_id != make_producer_id(first_rows)
        or header.producer_epoch != EPOCH
        or header.base_sequence != sequence_of(header.base_offset)
        or header.last_offset != found.end - 1
    ):
        raise make_foreign_error(name)
    if header.timestamp_type == _LOG_APPEND_TIME:
        raise make_append_time_error(name)


def check_rows(name: str, found: TargetEnd, rows: Any, position: int) -> None:
    """Compare source records with the records in the partition's last batch.

    ``position`` is the source index of the first row. Raises ``JobError`` if a record
    differs.
    """
    assert found.last is not None
    source_rows = None
    for record in found.last.records:
        if position <= record.offset < position + rows.num_rows:
            if source_rows is None:
                first = max(found.last.base_offset - position, 0)
                source_rows = make_rows(rows.slice(first, found.end - position - first))
            headers = tuple((key, value) for key, value in record.headers)
            target_row = record.timestamp, record.key, record.value, headers
            if source_rows[record.offset - position - first] != target_row:
                raise JobError(
                    f"restoring {name}: its record at offset {record.offset} is not"
                    f" record {record.offset} of the source, counted from 0; restore"
                    " from the original source, or to an empty topic"
                )


def make_foreign_error(name: str) -> JobError:
    """Return the error for a partition that contains records from other producers."""
    return JobError(
        f"restoring {name}: the partition has records that this restore did not write;"
        " restore to an empty topic"
    )


def make_append_time_error(name: str) -> JobError:
    """Return the error for a topic whose brokers replace record timestamps."""
    return JobError(
        f"restoring {name}: the brokers replace timestamps with their own; set the"
        " topic's message.timestamp.type to CreateTime, and restore to an empty topic"
    )
