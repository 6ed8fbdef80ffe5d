# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads an offset range into Arrow batches, as a task of ``kafka-live``.

Records are fetched from the partition leader. This module does not import Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...client.machines import ClusterError, DataLost, TopicNotFound
from ...errors import DecodeError, LimitExceeded
from ...records.columns import iter_records
from ..topics.offsets import report_loss
from ..topics.options import name_place
from ..topics.record_batches import make_assembler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...client import Chunk, KafkaSync
    from ...records.columns import Records
    from ..topics.layout import Layout
    from .options import LiveOptions
    from .planning import OffsetRange


def read_range(
    offset_range: OffsetRange, layout: Layout, options: LiveOptions
) -> Iterator[Any]:
    """Read the records of a range as Arrow batches of the layout.

    Raises ``DataLost`` if records of the range are missing and ``failOnDataLoss`` is
    true, and ``ClusterError`` if the brokers fail.
    """
    topic_partition = offset_range.topic, offset_range.partition
    constants = {"topic": offset_range.topic, "partition": offset_range.partition}
    assemble = make_assembler(layout, constants)
    has_headers = "headers" in layout.columns
    with options.cluster.open() as kafka:
        scan = kafka.scan(
            {offset_range.topic: [offset_range.partition]},
            start={topic_partition: offset_range.start},
            end={topic_partition: offset_range.end},
            isolation_level=options.isolation_level,
            on_data_loss="raise" if options.fail_on_data_loss else "earliest",
        )
        try:
            for chunk in scan:
                for records in _decode_chunk(chunk, offset_range, has_headers, options):
                    yield from assemble(records)
        except (DataLost, TopicNotFound) as error:
            if isinstance(error, DataLost):
                _report_loss(offset_range, error.offset, error.reason, options)
            else:
                _report_loss(offset_range, offset_range.start, str(error), options)
            return
        if scan.losses:
            _report_loss(
                offset_range, scan.losses[0].offset, scan.losses[0].reason, options
            )
        elif scan.position().get(topic_partition, offset_range.end) < offset_range.end:
            _check_end(kafka, offset_range, options)


def _decode_chunk(
    chunk: Chunk, offset_range: OffsetRange, has_headers: bool, options: LiveOptions
) -> Iterator[Records]:
    """Decode the records of a chunk that belong to the range of this task.

    After a data loss, a scan may continue at offsets outside the range, which other
    tasks read.
    """
    try:
        yield from iter_records(
            chunk.data,
            start_offset=max(chunk.start_offset, offset_range.start),
            end_offset=offset_range.end,
            headers=has_headers,
            timestamp_unit="us",
            aborted_transactions=chunk.aborted_transactions,
            # Replace invalid UTF-8 in header keys, as Kafka's own consumer does.
            errors="replace",
            check_crc=options.check_crc,
            limits=options.cluster.limits,
        )
    except DecodeError as error:
        advice = ""
        if isinstance(error, LimitExceeded):
            advice = "; maxBatchBytes allows larger record batches"
        name = name_place((offset_range.topic, offset_range.partition))
        raise ClusterError(
            f"reading {name} at offset {chunk.start_offset}: {error}{advice}"
        ) from error


def _check_end(
    kafka: KafkaSync, offset_range: OffsetRange, options: LiveOptions
) -> None:
    """Report a loss if the log ends before the range. Compaction is not a loss."""
    ends = kafka.offsets({offset_range.topic: [offset_range.partition]})
    end = ends.get((offset_range.topic, offset_range.partition), 0)
    if end < offset_range.end:
        _report_loss(offset_range, end, f"the log ends at offset {end}", options)


def _report_loss(
    offset_range: OffsetRange, offset: int, reason: str, options: LiveOptions
) -> None:
    topic_partition = offset_range.topic, offset_range.partition
    reason = f"{reason} (requested: {offset_range.start} to {offset_range.end})"
    report_loss(
        "kafka-live", topic_partition, offset, reason, options.fail_on_data_loss
    )
