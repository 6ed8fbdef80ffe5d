# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``SegmentWalk``: finds the batches in a segment file and skips damaged regions.

``SegmentWalk`` reads one header after another. If the bytes are not a valid batch, it
yields a ``Problem`` and continues at the next valid batch, which must have a possible
length, a known magic, a correct checksum, and an offset that is possible at this
position. The checksum does not cover the base offset, so the base offset is compared
with adjacent batches.

Records are not decoded here, but in ``segments.py``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, cast

from .._limits import DEFAULT, MIB
from ..errors import CorruptBatch
from ..records import measure_run, read_batch_header
from ..schema.batch_layout import LOG_OVERHEAD, MAGIC_AT, SIZE_AT
from . import problems
from .problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._limits import Limits
    from ..records import BatchHeader
    from .file_bytes import FileBytes

WINDOW = 4 * MIB
"""Number of file bytes that are loaded into memory at a time. More bytes are loaded
only for a batch that is larger.
"""

HEAD = MAGIC_AT + 1
"""Size in bytes of the beginning of a batch header, up to and including the magic. A
search for batches examines these bytes first.
"""

LARGEST_DELTA = 2**31 - 1
"""Maximum difference between an offset and the base offset of its segment, because
index files store this difference as an INT32.
"""

MAX_RECORDS_PER_BYTE = 8
"""Upper limit for the number of offsets that a byte in a damaged region can contain.

The limit only applies to a log without compaction, where each offset is a record. All
records in a batch have different offset deltas. A codec therefore cannot copy a
complete record from a previous record, and needs at least one bit for the difference.
Without compression a record has at least 7 bytes. The highest measured density is 1.7
records per byte: 100,000 records without key and value, compressed with zstd.
"""

_ZEROS = bytes(1 << 18)

_VERIFIED_PER_BYTE = 16
"""Number of bytes whose checksums a search may verify for every byte that it passes.
The limit keeps the running time linear if a file contains many false batch headers.
"""


class Run(NamedTuple):
    """Adjacent valid batches that are processed together, without individual headers.

    ``measure_run`` in the engine decides which batches can belong to a run.
    """

    position: int
    size: int
    base_offset: int
    last_offset: int


class SegmentWalk:
    """One pass over a segment file, or over its part from ``start`` to ``end``.

    Yields ``BatchHeader`` and ``Problem`` objects in file order. Their positions are
    relative to the file. ``file.data`` contains the file bytes from the current batch
    on.

    * ``place``: path, topic and partition for the problems.
    * ``check_crc``: verify checksums. False reads only the headers.
    * ``base_offset``: base offset of the segment, or None if it is unknown.
    * ``next_base_offset``: base offset of the next segment, or None.
    * ``expected``: required base offset for the next batch, or None to accept any
      offset. After the iteration, it is the offset after the last batch.
    * ``torn_tail_is_fine``: accept a torn tail. Intended for the newest segment.
    * ``are_gaps_wrong``: callback for missing offsets. If it returns True, the gap is
      reported as a problem. By default, gaps are ignored.
    * ``are_offsets_right``: skip the offset checks, because a previous walk has
      performed them.
    * ``progress``: callback that receives the number of additional bytes processed.
    * ``limits``: maximum batch size (``frame_bytes``). A larger batch is a problem.

    After the iteration, ``torn_at`` is the position at which an accepted torn tail
    begins, or None.

    The running time is linear in the file size, even if damaged bytes resemble many
    batches. In this case, a valid batch after them may be skipped.
    """

    def __init__(
        self,
        file: FileBytes,
        place: tuple[str, str, int],
        *,
        start: int = 0,
        end: int | None = None,
        check_crc: bool = True,
        base_offset: int | None = None,
        next_base_offset: int | None = None,
        expected: int | None = None,
        torn_tail_is_fine: bool = False,
        are_gaps_wrong: Callable[[], bool] | None = None,
        are_offsets_right: bool = False,
        progress: Callable[[int], object] | None = None,
        limits: Limits = DEFAULT,
    ) -> None:
        self.expected = expected
        # False if the file ends with a damaged region, so that the offset after the
        # last batch remains unknown.
        self.ends_whole = True
        self.torn_at: int | None = None
        # The caller has not decoded the bytes from this position on yet, so they must
        # stay in memory. None if only the current batch is required.
        self.hold: int | None = None
        self.place = place
        self._file = file
        file.stop = file.size if end is None else end
        self._start = start
        self._end = end
        self._check_crc = check_crc
        self._base_offset = base_offset
        self._next_base_offset = next_base_offset
        self._torn_tail_is_fine = torn_tail_is_fine
        self._are_gaps_wrong = are_gaps_wrong
        self._are_offsets_right = are_offsets_right
        self._progress = progress
        # Position up to which progress has been reported.
        self._reported = start
        self._frame_limit = limits.frame_bytes
        # Position of the current batch. Bytes before it may be removed from memory.
        self._keep_from = start
        self._loaded_end = 0
        # Number of bytes whose checksums searches may still verify. This budget and the
        # next one limit the total work to a multiple of the file size.
        self._checksum_budget = 2 * file.size
        # Number of bytes that may still be searched to confirm an unexpected offset.
        self._search_budget = 2 * file.size
        self._max_offset = 2**63 - 1
        if base_offset is not None:
            self._max_offset = min(self._max_offset, base_offset + LARGEST_DELTA)

    @property
    def path(self) -> str:
        """Path to the segment file."""
        return self.place[0]

    def __iter__(self) -> Iterator[BatchHeader | Problem]:
        return cast("Iterator[BatchHeader | Problem]", self.with_runs(0))

    def with_runs(self, run_bytes: int) -> Iterator[BatchHeader | Run | Problem]:
        """Iterate over the file, and combine adjacent batches into ``Run`` objects.

        A run has at most ``run_bytes`` bytes. If ``run_bytes`` is 0, no runs are
        created.
        """
        file, data, read = self._file, self._file.data, read_batch_header
        check_crc, expected = self._check_crc, self.expected
        position = self._start
        stop = file.size if self._end is None else self._end
        limit = self._load_range(position, position + WINDOW)
        # Check ``limit`` as well, because the file may have been truncated since it was
        # opened.
        while position < stop and position <= limit:
            if run_bytes and expected is not None:
                first = position
                # Do not load data for every batch, because each load is a system call
                # if the file is read instead of mapped.
                if limit - position < run_bytes // 4 and limit < file.size:
                    self._keep_from = position
                    limit = self._load_range(
                        position, position + max(WINDOW, run_bytes)
                    )
                    if position > limit:
                        continue
                position, after = measure_run(
                    data,
                    position,
                    limit,
                    last_start=stop,
                    most_bytes=run_bytes,
                    expected=expected,
                    check_crc=check_crc,
                )
                if position > first:
                    run = Run(first, position - first, expected, after - 1)
                    self.expected = expected = after
                    yield run
                    continue
            failure = None
            try:
                header = read(data, position, check_crc=check_crc, end=limit)
            except CorruptBatch as error:
                failure, header = error, None
            if header is not None:
                base, last = header.base_offset, header.last_offset
                position += header.size
                if (base != expected and not self._are_offsets_right) or last < base:
                    self._keep_from = header.position
                    mismatch = self._check_offset(header, expected)
                    limit = self._loaded_end
                    if mismatch is not None:
                        yield mismatch
                        if mismatch.reason == problems.OFFSET:
                            if mismatch.next_good_offset >= 0:
                                self.expected = expected = mismatch.next_good_offset
                            continue
                self.expected = expected = last + 1
                yield header
                continue
            self._keep_from = position
            if failure is None and self._load_more(position):
                limit = self._loaded_end
                continue
            if position >= file.size:
                break
            if failure is not None and file.has_shrunk():
                limit = self._loaded_end = min(limit, file.size)
                continue
            problem, position = self._skip_damage(position, failure)
            limit, expected = self._loaded_end, self.expected
            if problem is not None:
                yield problem
        self._report_progress(min(position, file.size))

    def _load_range(self, start: int, end: int) -> int:
        """Load a file range, and free the bytes that are no longer required.

        Returns the position where the loaded range ends.
        """
        self._report_progress(self._keep_from)
        start = min(start, self._keep_from)
        if self.hold is not None:
            start = min(start, self.hold)
        self._loaded_end = self._file.fill(start, end)
        return self._loaded_end

    def _report_progress(self, position: int) -> None:
        """Report newly processed bytes to the ``progress`` callback."""
        if self._progress is not None and position > self._reported:
            self._progress(position - self._reported)
            self._reported = position

    def _load_more(self, position: int) -> bool:
        """Load more bytes for the batch at ``position``.

        A batch may be larger than ``WINDOW``, but not larger than
        ``limits.frame_bytes``. Returns False if no more bytes could be loaded.
        """
        limit, available_bytes = self._loaded_end, self._loaded_end - position
        target_bytes = WINDOW if available_bytes < WINDOW // 2 else 2 * available_bytes
        if self._frame_limit is not None:
            target_bytes = min(target_bytes, max(WINDOW, self._frame_limit))
        if limit >= self._file.size or available_bytes >= target_bytes:
            return False
        return self._load_range(position, position + target_bytes) > limit

    def _peek_header(self, position: int, check_crc: bool) -> BatchHeader | None:
        """Read the batch header at ``position``, and load more bytes if required.

        Returns None if there is no complete batch with a valid header at this position.
        """
        if position > self._loaded_end:
            self._load_range(position, position + WINDOW)
        while position <= self._loaded_end:
            header: BatchHeader | None
            try:
                header = read_batch_header(
                    self._file.data, position, check_crc=check_crc, end=self._loaded_end
                )
            except CorruptBatch:
                return None
            if header is not None or not self._load_more(position):
                return header
        return None

    def _check_offset(
        self, header: BatchHeader, expected: int | None
    ) -> Problem | None:
        """Return the problem with a batch that does not have the expected offset.

        All previous batches have already been verified. If the offset of this batch is
        possible, offsets are missing before it. The result is then the problem with
        this gap, or None if the gap is permitted or cannot be detected.
        """
        base, last = header.base_offset, header.last_offset
        after = header.position + header.size
        floor = expected if expected is not None else max(self._base_offset or 0, 0)
        wrong = last < base or not self._is_possible_offset(base) or base < floor
        if not wrong:
            room = None if expected is None else 0
            wrong = self._find_contradiction(header, floor, expected, room)
        if wrong:
            return self._make_problem(
                header.position,
                header.size,
                problems.OFFSET,
                f"offsets {base} to {last} are not possible for this batch",
                self._find_next_offset(after, expected),
                expected,
            )
        # A compressed message with magic 0 or 1 has the offset of its last inner
        # message, so missing offsets before it cannot be detected.
        is_offset_known = expected is not None and header.record_count >= 0
        if (
            is_offset_known
            and self._are_gaps_wrong is not None
            and self._are_gaps_wrong()
        ):
            return self._make_problem(
                header.position,
                0,
                problems.GAP,
                f"offsets {expected} to {base - 1} are missing",
                base,
                expected,
            )
        return None

    def _find_contradiction(
        self, header: BatchHeader, floor: int, expected: int | None, room: int | None
    ) -> bool:
        """Whether the following batches show that a plausible offset is wrong.

        * ``floor``: minimum base offset of the batch.
        * ``expected``: base offset if no offset is missing, or None if unknown.
        * ``room``: number of bytes that may have contained the offsets from ``floor``
          on, or None if unknown.
        """
        base, last = header.base_offset, header.last_offset
        after = header.position + header.size
        following = self._peek_header(after, False)
        if following is None and after < self._file.size:
            stop = after + min(WINDOW, self._search_budget)
            following = self._search_batch(after, stop, floor)
            passed = stop if following is None else following.position
            self._search_budget -= passed - after
        if following is None:
            end = self._next_base_offset
            return end is not None and floor <= end <= last
        if not floor <= following.base_offset <= last:
            return False
        # The offsets of this batch and the following batch contradict each other.
        span = last - base + 1
        if expected is not None and following.base_offset == expected + span:
            return True
        if following.base_offset < floor + span:
            # Even if this batch began at ``floor``, it would overlap the following
            # batch, so the offset of the following batch is wrong.
            return False
        third = self._peek_header(following.position + following.size, False)
        if third is not None:
            return third.base_offset <= last
        if self._next_base_offset == following.last_offset + 1:
            return True
        return room is not None and base - floor > MAX_RECORDS_PER_BYTE * room

    def _is_possible_offset(self, offset: int) -> bool:
        """Whether the segment can contain a batch with this base offset.

        Offsets must fit into the relative INT32 offsets of the index files.
        """
        first = self._base_offset
        return first is None or first <= offset <= first + LARGEST_DELTA

    def _find_next_offset(self, position: int, expected: int | None) -> int:
        """Return the base offset of the batch at ``position``, or -1 if it is unknown.

        At the end of the file, this is the base offset of the next segment.
        """
        following = self._peek_header(position, False)
        if following is None:
            next_base_offset = self._next_base_offset
            return (
                -1
                if next_base_offset is None or position < self._file.size
                else next_base_offset
            )
        base = following.base_offset
        is_plausible = (
            expected is None or base >= expected
        ) and self._is_possible_offset(base)
        return base if is_plausible else -1

    def _skip_damage(
        self, position: int, failure: CorruptBatch | None
    ) -> tuple[Problem | None, int]:
        """Find the next valid batch after a damaged region.

        Returns a problem, or None for an accepted torn tail, and the position to
        continue at. Without ``failure``, the batch at this position extends beyond the
        end of the file.
        """
        file, before = self._file, self.expected
        is_cut = failure is None and self._loaded_end >= file.size
        header = None if failure is None else self._peek_header(position, False)
        if failure is None:
            reason, detail = problems.SIZE, self._describe_length(position)
        elif header is not None:
            reason, detail = problems.CRC, failure.reason
        elif self._is_zero(position, position + HEAD):
            reason, detail = problems.ZEROS, "zeros instead of a batch"
        else:
            reason, detail = problems.HEADER, failure.reason
        resumed = self._find_next_batch(position, header)
        if resumed is not None:
            self.expected = resumed.base_offset
            end, next_good = resumed.position, resumed.base_offset
        else:
            end, next_good = file.size, -1
            if self._is_torn(position, header, is_cut):
                self.torn_at = position
                return None, end
            self.ends_whole = False
            if self._next_base_offset is not None:
                next_good = self._next_base_offset
            if is_cut:
                reason, detail = problems.CUT, "the file ends within a batch"
        return (
            self._make_problem(
                position, end - position, reason, detail, next_good, before
            ),
            end,
        )

    def _describe_length(self, position: int) -> str:
        """Describe a batch length that exceeds the file or the limit."""
        start, end = position + SIZE_AT, position + LOG_OVERHEAD
        size = LOG_OVERHEAD + int.from_bytes(self._file.data[start:end], "big")
        if self._frame_limit is None or position + size > self._file.size:
            return f"a batch of {size} bytes exceeds the rest of the file"
        return (
            f"a batch of {size} bytes, over the limit of {self._frame_limit}; pass"
            " limits=kwire.Limits(frame_bytes=...) for more"
        )

    def _is_torn(self, position: int, header: BatchHeader | None, is_cut: bool) -> bool:
        """Whether the tail was never written completely, as opposed to being damaged.

        Files may be allocated before they are written. Unwritten bytes are then zeros,
        even inside the last batch.
        """
        if not self._torn_tail_is_fine:
            return False
        size = self._file.size
        if header is None:
            return is_cut or self._is_zero(position, size)
        end = header.position + header.size
        return end < size and self._is_zero(end - HEAD, size)

    def _is_zero(self, start: int, end: int) -> bool:
        """Whether a file range contains only zeros."""
        while start < end:
            self._keep_from = start
            limit = min(end, start + len(_ZEROS))
            limit = min(limit, self._load_range(start, limit))
            if limit <= start:
                break
            if self._file.data[start:limit] != _ZEROS[: limit - start]:
                return False
            start = limit
        return True

    def _find_next_batch(
        self, position: int, header: BatchHeader | None
    ) -> BatchHeader | None:
        """Return the header of the next valid batch after a damaged one, or None.

        * ``position``: byte position of the damaged batch.
        * ``header``: header of the damaged batch, or None if it is not readable.
        """
        floor = max(self.expected or 0, self._base_offset or 0)
        begin, start, base = position, -1, -1
        if header is not None:
            # Try the end of the damaged batch first, because its length may be correct.
            # A search could otherwise find a batch inside a record value that contains
            # Kafka data.
            start, base = header.position + header.size, header.last_offset + 1
            if floor <= base <= self._max_offset:
                after = self._read_valid_header(start, base, base)
                if after is not None:
                    return after
                span = base - header.base_offset
                if header.base_offset == self.expected and header.record_count == span:
                    # The damaged batch has offsets that agree with the previous batch
                    # and with its record count, so other bytes in it must be damaged.
                    floor = base
        while True:
            self._keep_from = position = position + 1
            candidate = self._search_batch(position, self._file.size, floor, moves=True)
            if candidate is None:
                return None
            self._keep_from = position = candidate.position
            is_next = position == start and floor == base
            expected, room = (base, 0) if is_next else (None, position - begin)
            if not self._find_contradiction(candidate, floor, expected, room):
                return candidate

    def _search_batch(
        self, position: int, stop: int, lowest: int, *, moves: bool = False
    ) -> BatchHeader | None:
        """Return the header of the first valid batch in a range, or None.

        * ``position``, ``stop``: range of byte positions at which the batch may begin.
        * ``lowest``: minimum base offset of the batch.
        * ``moves``: free the memory before the search position, because the walk will
          continue after it.
        """
        search = _compile_header_pattern(
            lowest, self._max_offset, self._frame_limit
        ).search
        current = position
        while current < stop and current + HEAD <= self._file.size:
            if moves:
                self._keep_from = current
            limit = self._load_range(current, current + len(_ZEROS))
            data = self._file.data
            match = None
            if data[current] or data[current:limit] != _ZEROS[: limit - current]:
                match = search(data, current, limit)
            while match is not None:
                self._checksum_budget += _VERIFIED_PER_BYTE * (
                    match.start() - current + 1
                )
                current = match.start() + 1
                header = self._read_valid_header(
                    match.start(), lowest, self._max_offset
                )
                if header is not None:
                    return header
                match = search(data, current, limit)
            end = max(limit - HEAD + 1, current + 1)
            self._checksum_budget += _VERIFIED_PER_BYTE * (end - current)
            current = end
        return None

    def _read_valid_header(
        self, position: int, lowest: int, highest: int
    ) -> BatchHeader | None:
        """Read the batch header at ``position``, and verify the batch's checksum.

        Returns None if there is no valid batch with a base offset from ``lowest`` to
        ``highest``, or if the checksum budget does not suffice.
        """
        header = self._peek_header(position, False)
        if header is None or not lowest <= header.base_offset <= highest:
            return None
        # Limit the bytes that are verified, so that the running time stays linear if
        # the file contains nothing except batch headers.
        if header.size > self._checksum_budget:
            return None
        self._checksum_budget -= header.size
        return self._peek_header(position, True)

    def _make_problem(
        self,
        position: int,
        length: int,
        reason: str,
        detail: str,
        next_good: int,
        expected: int | None,
    ) -> Problem:
        """Create the problem for a file region, with the valid offsets around it.

        ``expected`` is the offset after the last valid batch, or None if unknown.
        """
        last_good = -1 if expected is None else expected - 1
        return Problem(
            *self.place, position, length, reason, last_good, next_good, detail
        )


def _compile_header_pattern(
    floor: int, highest: int, limit: int | None
) -> re.Pattern[bytes]:
    """Return a pattern that quickly finds possible batch headers.

    The pattern also matches other bytes. It only compares the upper half of the offset,
    the first length byte, the minimum length, and the magic.
    """
    first, last = floor >> 32, highest >> 32
    if last - first < 2:
        halves = sorted({first.to_bytes(4, "big"), last.to_bytes(4, "big")})
        offset = b"(?:" + b"|".join(re.escape(half) for half in halves) + b")"
    else:
        offset = b"[\\x00-\\x7f]..."
    max_first_byte = 0x7F if limit is None else min(0x7F, limit >> 24)
    size = b"(?!\\x00\\x00\\x00[\\x00-\\x0d])[\\x00-" + re.escape(
        bytes([max_first_byte])
    )
    return re.compile(b"(?s)" + offset + b"...." + size + b"]...(?:....)[\\x00-\\x02]")
