# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Groups partition records into runs, which writers format in one step.

Every formatting call has a fixed cost. A run contains the records from one batch, or
from several small batches, so that hundreds of records share this cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...records import Batch, Record

_JOINED_RECORDS = 500
_PIECE_RECORDS = 1000
_PIECE_BYTES = 1 << 16
"""Maximum piece size in bytes. Larger pieces do not fit into the CPU cache, and
formatting them takes twice as long.
"""


class RecordRun(NamedTuple):
    """Consecutive records of one partition, whose batches have the same attributes.

    ``size`` is an upper limit for the total bytes in all keys, values and headers.
    """

    topic: str
    partition: int
    timestamp_type: int
    is_control: bool
    records: Sequence[Record]
    size: int

    def split(self) -> Iterator[RecordRun]:
        """Split the run into pieces of about 64 KiB. Larger records are not split."""
        records = self.records
        average = self.size // max(len(records), 1)
        step = max(1, min(_PIECE_RECORDS, _PIECE_BYTES // max(average, 1)))
        if len(records) <= step:
            yield self
            return
        for start in range(0, len(records), step):
            yield self._replace(records=records[start : start + step])


def make_run(
    topic: str, partition: int, batch: Batch, records: Sequence[Record]
) -> RecordRun:
    """Create a run from some records of a batch."""
    # The batch size is an upper limit for the size of the records only if the batch is
    # not compressed. Otherwise, add up the sizes of the records.
    is_plain = batch.compression == "none"
    size = batch.size if is_plain else sum(map(_measure, records))
    return RecordRun(
        topic, partition, batch.timestamp_type, batch.is_control, records, size
    )


def join_runs(runs: Iterable[RecordRun]) -> Iterator[RecordRun]:
    """Join consecutive small runs that have the same attributes.

    If ``runs`` raises an exception, the preceding records are yielded first.
    """
    joined: RecordRun | None = None
    try:
        for run in runs:
            if joined is None:
                joined = run
            elif (
                run[:4] == joined[:4]
                and len(joined.records) < _JOINED_RECORDS
                and joined.size + run.size <= _PIECE_BYTES
            ):
                joined = joined._replace(
                    records=[*joined.records, *run.records], size=joined.size + run.size
                )
            else:
                yield joined
                joined = run
    except Exception:
        if joined is not None:
            yield joined
        raise
    if joined is not None:
        yield joined


def _measure(record: Record) -> int:
    size = len(record.key or b"") + len(record.value or b"")
    for name, content in record.headers:
        size += len(name) + len(content or b"")
    return size


def write_runs(
    runs: Iterable[RecordRun], limit: int | None, write: Callable[[RecordRun], object]
) -> int:
    """Write runs with at most ``limit`` records, and return the record count."""
    count = 0
    if limit == 0:
        return count
    for run in runs:
        if limit is not None and count + len(run.records) >= limit:
            write(run._replace(records=run.records[: limit - count]))
            return limit
        write(run)
        count += len(run.records)
    return count
