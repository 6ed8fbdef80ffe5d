# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Checks``: compares index files and leader epochs with segment batches.

It checks the offset index, the time index, the transaction index and the leader epochs.
``examine.py`` reads the batches and passes them to this class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._text import format_name
from ..errors import DecodeError
from . import problems
from .problems import Problem
from .transactions import ABORT, read_marker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..messages import AbortedTxn
    from ..records import BatchHeader
    from .file_bytes import FileBytes
    from .segments import Segment
    from .storage import Place

_NEVER = 2**63
"""Position or offset that no batch reaches. It stands for the next entry of an index
that has no further entries.
"""


def make_unreadable_problem(
    path: Place, topic_partition: tuple[str, int], reason: str, error: DecodeError
) -> Problem:
    """Return the problem for an index or checkpoint file that cannot be decoded.

    The damaged region extends from the error offset to the end of the file.
    """
    size = path.stat().st_size
    start = min(error.offset, size)
    return Problem(
        format_name(path),
        *topic_partition,
        start,
        size - start,
        reason,
        detail=error.reason,
    )


class Checks:
    """Compares index files and leader epochs with batches while a segment is read.

    ``observe`` is called for every batch and must be fast. It only compares the batch
    with the next index entry, and does additional work when the batch has reached that
    entry.

    * ``epochs``: pairs of (leader epoch, first offset) in ascending order.
    * ``is_partition``: whether the segments belong to a complete, uncompacted
      partition. Otherwise transactions are not verified.
    """

    def __init__(
        self, epochs: tuple[tuple[int, int], ...], *, is_partition: bool
    ) -> None:
        self._epochs = epochs
        # If only one segment is read, transactions may have begun in a previous
        # segment, so their index entries cannot be verified.
        self._is_partition = is_partition
        # First offsets of the open transactions, by producer id.
        self._ongoing: dict[int, int] = {}
        # Leader epoch that is valid at the current position according to the
        # checkpoint.
        self._epoch = -1
        # Offset at which the leader epoch after ``_epoch`` begins.
        self._next_epoch_offset = -1
        self.torn_offset: int | None = None
        """Offset at which the torn tail of the newest segment begins, or None."""

    def begin(self, segment: Segment) -> Iterator[Problem]:
        """Start checking a segment, and read its index files.

        Yields a problem if ``.index`` or ``.timeindex`` cannot be decoded. The caller
        must consume the iterator, because nothing is read before.
        """
        self._segment = segment
        self._topic_partition = segment.topic, segment.partition
        self._entries: tuple[tuple[int, int], ...] = ()
        self._time_entries: tuple[tuple[int, int], ...] = ()
        # Number of the entry in each index that is compared next.
        self._next_entry = self._next_time_entry = 0
        # Byte position (offset index) and offset (time index) that a batch must reach
        # before this entry is compared.
        self._next_position = self._next_time_offset = _NEVER
        self._max_timestamp = -1
        self._last_offset = -1
        self._damaged_regions: list[tuple[int, int]] = []
        # ABORT markers in this segment, with the first offset of their transaction.
        # Keys are (producer id, marker offset). Unknown first offsets are None.
        self._markers: dict[tuple[int, int], int | None] = {}
        # Problems to report only if the segment has no torn tail. This is not known
        # until the walk has finished.
        self._unless_torn: list[Problem] = []
        try:
            if segment.index is not None:
                self._entries = segment.index.entries
                self._check_stray_bytes(segment.index.path, problems.INDEX, 8)
        except DecodeError as error:
            yield self._make_unreadable_index(".index", problems.INDEX, error)
        try:
            if segment.time_index is not None:
                self._time_entries = segment.time_index.entries
                self._check_stray_bytes(
                    segment.time_index.path, problems.TIME_INDEX, 12
                )
        except DecodeError as error:
            yield self._make_unreadable_index(".timeindex", problems.TIME_INDEX, error)
        self._read_transactions()
        segment.forget_indexes()
        self._advance_index()
        self._advance_time()

    def _make_unreadable_index(
        self, suffix: str, reason: str, error: DecodeError
    ) -> Problem:
        path = self._segment.path.with_suffix(suffix)
        return make_unreadable_problem(path, self._topic_partition, reason, error)

    def _check_stray_bytes(self, path: Place, reason: str, width: int) -> None:
        """Record a problem if bytes other than zeros follow the valid index entries."""
        index = self._segment.index if width == 8 else self._segment.time_index
        if index is not None and index.has_stray_bytes:
            start = width * len(index.entries)
            size = path.stat().st_size
            detail = f"entries after the first {len(index.entries)} are not ascending"
            if size % width:
                detail = f"the size must be a multiple of {width} (got {size})"
            self._unless_torn.append(
                Problem(
                    format_name(path),
                    *self._topic_partition,
                    start,
                    size - start,
                    reason,
                    detail=detail,
                )
            )

    def _read_transactions(self) -> None:
        """Read the transaction index. Record a problem if the file is damaged."""
        self._aborted: tuple[AbortedTxn, ...] | None = ()
        try:
            index = self._segment.transaction_index
            if index is not None:
                self._aborted = index.entries
        except DecodeError as error:
            self._aborted = None
            path = self._segment.path.with_suffix(f".{problems.TRANSACTION_INDEX}")
            reason = problems.TRANSACTION_INDEX
            self._unless_torn.append(
                make_unreadable_problem(path, self._topic_partition, reason, error)
            )

    def _advance_index(self) -> None:
        """Set the byte position from which the next offset index entry is checked."""
        self._next_position = _NEVER
        if self._next_entry < len(self._entries):
            self._next_position = self._entries[self._next_entry][1]

    def _advance_time(self) -> None:
        """Set the offset from which the next time index entry is checked."""
        self._next_time_offset = _NEVER
        if self._next_time_entry < len(self._time_entries):
            self._next_time_offset = self._time_entries[self._next_time_entry][1]

    def note_damage(self, problem: Problem) -> None:
        """Store the position of a damaged region.

        Index entries that point into such a region are not reported.
        """
        if problem.reason in problems.LOST:
            self._damaged_regions.append(
                (problem.position, problem.position + problem.length)
            )

    def observe(self, header: BatchHeader, file: FileBytes) -> Iterable[Problem]:
        """Compare the next batch with the indexes and with the leader epochs.

        Returns problems for all index entries up to this batch, and a problem if the
        leader epoch of the batch differs from the checkpoint.
        """
        findings: list[Problem] = []
        while self._next_position <= header.position:
            offset, position = self._entries[self._next_entry]
            self._next_entry += 1
            if position < header.position:
                self._add_missing_batch(offset, position, findings)
            elif header.base_offset > offset:
                begin = header.base_offset
                detail = f"entry for offset {offset}, but the batch begins at {begin}"
                findings.append(
                    self._make_problem(problems.INDEX, self._next_entry - 1, 8, detail)
                )
            self._advance_index()
        while self._next_time_offset < header.base_offset:
            self._check_time_entry(findings)
        if header.max_timestamp > self._max_timestamp:
            self._max_timestamp = header.max_timestamp
        if header.record_count < 0:
            # Compressed messages with magic 0 or 1 have an unknown base offset, so stop
            # checking the time index.
            self._time_entries = ()
            self._next_time_offset = _NEVER
        self._last_offset = header.last_offset
        if header.base_offset >= self._next_epoch_offset or (
            header.partition_leader_epoch != self._epoch
        ):
            self._check_leader_epoch(header, findings)
        if self._is_partition and header.is_transactional:
            self._observe_transaction(header, file)
        return findings

    def _observe_transaction(self, header: BatchHeader, file: FileBytes) -> None:
        """Track open transactions and collect ABORT markers."""
        if not header.is_control:
            self._ongoing.setdefault(header.producer_id, header.base_offset)
            return
        first = self._ongoing.pop(header.producer_id, None)
        if read_marker(file.data, header) == ABORT:
            self._markers[header.producer_id, header.base_offset] = first

    def _add_missing_batch(
        self, offset: int, position: int, findings: list[Problem]
    ) -> None:
        """Report an offset index entry if no batch begins at its position.

        The entry is not reported if it points into a damaged region.
        """
        if not any(start <= position < end for start, end in self._damaged_regions):
            detail = f"entry for offset {offset}, but no batch at byte {position}"
            findings.append(
                self._make_problem(problems.INDEX, self._next_entry - 1, 8, detail)
            )

    def _check_time_entry(self, findings: list[Problem]) -> None:
        """Compare the next time index entry with the maximum timestamp of all batches.

        The maximum covers the batches of the segment that have been read so far.
        """
        timestamp, offset = self._time_entries[self._next_time_entry]
        # The timestamps in a damaged region are unknown, so a later timestamp is
        # accepted after such a region.
        is_valid = self._max_timestamp == timestamp or (
            bool(self._damaged_regions) and self._max_timestamp < timestamp
        )
        if not is_valid:
            detail = (
                f"entry for maximum timestamp {timestamp} up to offset {offset}, but"
                f" the batches have {self._max_timestamp}"
            )
            findings.append(
                self._make_problem(
                    problems.TIME_INDEX, self._next_time_entry, 12, detail
                )
            )
        self._next_time_entry += 1
        self._advance_time()

    def _check_leader_epoch(self, header: BatchHeader, findings: list[Problem]) -> None:
        """Compare the leader epoch in a batch header with the checkpoint file."""
        epoch = header.partition_leader_epoch
        if epoch < 0 or not self._epochs or header.base_offset < self._epochs[0][1]:
            return
        expected_epoch, epoch_end = -1, _NEVER
        for checkpoint_epoch, start in self._epochs:
            if start > header.base_offset:
                epoch_end = start
                break
            expected_epoch = checkpoint_epoch
        self._epoch, self._next_epoch_offset = expected_epoch, epoch_end
        if epoch != expected_epoch:
            detail = f"leader epoch {epoch} (the checkpoint has {expected_epoch})"
            findings.append(
                Problem(
                    format_name(self._segment.path),
                    *self._topic_partition,
                    header.position,
                    header.size,
                    problems.LEADER_EPOCH,
                    header.base_offset - 1,
                    header.last_offset + 1,
                    detail,
                )
            )

    def _make_problem(
        self, reason: str, entry_number: int, width: int, detail: str
    ) -> Problem:
        """Create the problem for one entry of an index file.

        * ``reason``: problem type, which is also the suffix of the index file.
        * ``width``: entry size in bytes.
        """
        path = self._segment.path.with_suffix(f".{reason}")
        start = width * entry_number
        return Problem(
            format_name(path),
            *self._topic_partition,
            start,
            width,
            reason,
            detail=detail,
        )

    def end(self, torn_at: int | None) -> Iterable[Problem]:
        """Finish a segment. Returns problems for the remaining index entries.

        ``torn_at`` is the position at which an accepted torn tail begins, or None.
        Index entries that point into this tail are accepted as well.
        """
        findings: list[Problem] = []
        is_torn = torn_at is not None
        if is_torn:
            self.torn_offset = max(self._last_offset + 1, self._segment.base_offset, 0)
        else:
            findings += self._unless_torn
        while self._next_entry < len(self._entries):
            offset, position = self._entries[self._next_entry]
            self._next_entry += 1
            if torn_at is None or position < torn_at:
                self._add_missing_batch(offset, position, findings)
        while self._next_time_entry < len(self._time_entries):
            if self._time_entries[self._next_time_entry][1] > self._last_offset:
                if not self._damaged_regions and not is_torn:
                    detail = "entry for an offset after the last batch"
                    findings.append(
                        self._make_problem(
                            problems.TIME_INDEX, self._next_time_entry, 12, detail
                        )
                    )
                break
            self._check_time_entry(findings)
        if self._is_partition and not self._damaged_regions:
            self._check_transaction_index(is_torn, findings)
        return findings

    def _check_transaction_index(self, is_torn: bool, findings: list[Problem]) -> None:
        """Compare ``.txnindex`` with the ABORT markers in the segment."""
        if self._aborted is None:
            return
        reason = problems.TRANSACTION_INDEX
        indexed_markers = {
            (entry.producer_id, entry.last_offset) for entry in self._aborted
        }
        for number, entry in enumerate(self._aborted):
            if is_torn and entry.last_offset > self._last_offset:
                continue
            if (entry.producer_id, entry.last_offset) not in self._markers:
                detail = f"no ABORT marker of producer {entry.producer_id}"
                detail += f" is at offset {entry.last_offset}"
                findings.append(self._make_problem(reason, number, 34, detail))
        if is_torn:
            # The broker may have written the last markers, but not yet their index
            # entries.
            return
        path = self._segment.path.with_suffix(f".{reason}")
        for (producer, offset), first in self._markers.items():
            if first is not None and (producer, offset) not in indexed_markers:
                detail = f"no entry for the ABORT marker of producer {producer}"
                detail += f" at offset {offset}"
                findings.append(
                    Problem(
                        format_name(path),
                        *self._topic_partition,
                        0,
                        0,
                        reason,
                        detail=detail,
                    )
                )
