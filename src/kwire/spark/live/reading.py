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
    wanted: OffsetRange, layout: Layout, options: LiveOptions
) -> Iterator[Any]:
    """Read the records of a range as Arrow batches of the layout.

    Raises ``DataLost`` if records of the range are missing and ``failOnDataLoss`` is
    true, and ``ClusterError`` if the brokers fail.
    """
    place = wanted.topic, wanted.partition
    constants = {"topic": wanted.topic, "partition": wanted.partition}
    assemble = make_assembler(layout, constants)
    has_headers = "headers" in layout.columns
    with options.cluster.open() as kafka:
        scan = kafka.scan(
            {wanted.topic: [wanted.partition]},
            start={place: wanted.start},
            end={place: wanted.end},
            isolation_level=options.isolation_level,
            on_data_loss="raise" if options.fail_on_data_loss else "earliest",
        )
        try:
            for chunk in scan:
                for records in _decode(chunk, wanted, has_headers, options):
                    yield from assemble(records)
        except (DataLost, TopicNotFound) as error:
            if isinstance(error, DataLost):
                _lose(wanted, error.offset, error.reason, options)
            else:
                _lose(wanted, wanted.start, str(error), options)
            return
        if scan.losses:
            _lose(wanted, scan.losses[0].offset, scan.losses[0].reason, options)
        elif scan.position().get(place, wanted.end) < wanted.end:
            _check_end(kafka, wanted, options)


def _decode(
    chunk: Chunk, wanted: OffsetRange, has_headers: bool, options: LiveOptions
) -> Iterator[Records]:
    """Decode the records of a chunk that belong to the range of this task.

    After a data loss, a scan may continue at offsets outside the range, which other
    tasks read.
    """
    try:
        yield from iter_records(
            chunk.data,
            start_offset=max(chunk.start_offset, wanted.start),
            end_offset=wanted.end,
            headers=has_headers,
            timestamp_unit="us",
            aborted_transactions=chunk.aborted_transactions,
            # Kafka's own consumer also replaces invalid UTF-8 in header keys.
            errors="replace",
            check_crc=options.check_crc,
            limits=options.cluster.limits,
        )
    except DecodeError as error:
        advice = ""
        if isinstance(error, LimitExceeded):
            advice = "; maxBatchBytes allows larger record batches"
        name = name_place((wanted.topic, wanted.partition))
        raise ClusterError(
            f"reading {name} at offset {chunk.start_offset}: {error}{advice}"
        ) from error


def _check_end(kafka: KafkaSync, wanted: OffsetRange, options: LiveOptions) -> None:
    """Report a loss if the log ends before the range. Compaction is not a loss."""
    ends = kafka.offsets({wanted.topic: [wanted.partition]})
    end = ends.get((wanted.topic, wanted.partition), 0)
    if end < wanted.end:
        _lose(wanted, end, f"the log ends at offset {end}", options)


def _lose(wanted: OffsetRange, offset: int, reason: str, options: LiveOptions) -> None:
    place = wanted.topic, wanted.partition
    reason = f"{reason} (requested: {wanted.start} to {wanted.end})"
    report_loss("kafka-live", place, offset, reason, options.fail_on_data_loss)
