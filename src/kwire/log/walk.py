# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``SegmentWalk``: goes from batch to batch in a segment file, around damaged bytes.

``SegmentWalk`` reads header after header. Where the bytes are no valid batch it yields
a ``Problem`` and goes on at the next position with a valid one: possible length, known
magic, right checksum, and an offset that is possible there. The base offset of a batch
is not under its checksum, so it is compared with its neighbours.

What batches hold is not read here; ``segments.py`` does.
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
"""Bytes of a file that are brought into memory at once, if batches are smaller."""

HEAD = MAGIC_AT + 1
"""Bytes of an entry up to its magic: what a search can judge at a glance."""

LARGEST_DELTA = 2**31 - 1
"""The largest distance of an offset from the base offset of its segment."""

MAX_RECORDS_PER_BYTE = 8
"""Upper limit of the offsets that a byte of a damaged region can have held.

It holds for a log that no cleaner has compacted: there each offset is a record, and no
two records of a batch have the same offset delta. So a codec cannot copy a record as a
whole from an earlier one, and needs at least one bit for what is new in it. Without
compression a record has at least 7 bytes. The densest batches that were measured have
1.7 records per byte: 100,000 records without key and value, compressed with zstd.
"""

_ZEROS = bytes(1 << 18)

_CREDIT = 16
"""Bytes that checksums may take in a search, for each byte that it passes."""


class Run(NamedTuple):
    """Adjacent ordinary batches that are treated as one: see ``measure_run``."""

    position: int
    size: int
    base_offset: int
    last_offset: int


class SegmentWalk:
    """One pass over a segment file, or the part of it from ``start`` to ``end``.

    Iterating gives ``BatchHeader`` and ``Problem`` in the order of the file. Positions
    in both are those of the file, whose bytes from the current batch on are in
    ``file.data``. ``expected`` is the offset that the next batch should begin with,
    None where any will do; after the iteration it is the offset after the last batch.
    ``torn_at`` is then the byte at which a torn tail begins that is fine, else None.

    ``base_offset`` is the segment's, None if not known, and ``next_base_offset`` that
    of the segment after it. ``torn_tail_is_fine`` is for the newest segment. Missing
    offsets are looked for if ``are_gaps_wrong`` is given, and are reported if it then
    returns True. With ``are_offsets_right`` another walk has judged all offsets.
    Cost: linear in the bytes of the file, also for bytes that were made to look like
    batches; then a good batch after them may be passed over.
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
        self.ends_whole = True
        self.torn_at: int | None = None
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
        self._reported = start
        self._frame_limit = limits.frame_bytes
        self._keep = start
        self._limit = 0
        self._credit = 2 * file.size
        self._doubts = 2 * file.size
        self._highest = 2**63 - 1
        if base_offset is not None:
            self._highest = min(self._highest, base_offset + LARGEST_DELTA)

    @property
    def path(self) -> str:
        """The file's path."""
        return self.place[0]

    def __iter__(self) -> Iterator[BatchHeader | Problem]:
        return cast("Iterator[BatchHeader | Problem]", self.with_runs(0))

    def with_runs(self, run_bytes: int) -> Iterator[BatchHeader | Run | Problem]:
        """Iterate, with ordinary batches as runs of at most so many bytes."""
        file, data, read = self._file, self._file.data, read_batch_header
        check_crc, expected = self._check_crc, self.expected
        position = self._start
        stop = file.size if self._end is None else self._end
        limit = self._fill(position, position + WINDOW)
        # The file may have become shorter since it was opened, or since the last look.
        while position < stop and position <= limit:
            if run_bytes and expected is not None:
                first = position
                # Not for each batch: where files are read, a look ahead is a call.
                if limit - position < run_bytes // 4 and limit < file.size:
                    self._keep = position
                    limit = self._fill(position, position + max(WINDOW, run_bytes))
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
                    self._keep = header.position
                    found = self._judge(header, expected)
                    limit = self._limit
                    if found is not None:
                        yield found
                        if found.reason == problems.OFFSET:
                            if found.next_good_offset >= 0:
                                self.expected = expected = found.next_good_offset
                            continue
                self.expected = expected = last + 1
                yield header
                continue
            self._keep = position
            if failure is None and self._grow(position):
                limit = self._limit
                continue
            if position >= file.size:
                break
            if failure is not None and file.has_shrunk():
                limit = self._limit = min(limit, file.size)
                continue
            problem, position = self._around(position, failure)
            limit, expected = self._limit, self.expected
            if problem is not None:
                yield problem
        self._report(min(position, file.size))

    def _fill(self, start: int, end: int) -> int:
        self._report(self._keep)
        start = min(start, self._keep)
        if self.hold is not None:
            start = min(start, self.hold)
        self._limit = self._file.fill(start, end)
        return self._limit

    def _report(self, position: int) -> None:
        if self._progress is not None and position > self._reported:
            self._progress(position - self._reported)
            self._reported = position

    def _grow(self, position: int) -> bool:
        """Load more bytes for the batch at ``position``; False if there are none.

        A batch may be longer than the window, but not than ``limits.frame_bytes``.
        """
        limit, have = self._limit, self._limit - position
        wanted = WINDOW if have < WINDOW // 2 else 2 * have
        if self._frame_limit is not None:
            wanted = min(wanted, max(WINDOW, self._frame_limit))
        if limit >= self._file.size or have >= wanted:
            return False
        return self._fill(position, position + wanted) > limit

    def _peek(self, position: int, check_crc: bool) -> BatchHeader | None:
        """Read the header at ``position``; None if there is no complete batch."""
        if position > self._limit:
            self._fill(position, position + WINDOW)
        while position <= self._limit:
            header: BatchHeader | None
            try:
                header = read_batch_header(
                    self._file.data, position, check_crc=check_crc, end=self._limit
                )
            except CorruptBatch:
                return None
            if header is not None or not self._grow(position):
                return header
        return None

    def _judge(self, header: BatchHeader, expected: int | None) -> Problem | None:
        """Describe what is wrong with a batch that has not the expected offset.

        Batches before it have been judged. If this one is right, offsets are missing.
        """
        base, last = header.base_offset, header.last_offset
        after = header.position + header.size
        floor = expected if expected is not None else max(self._base_offset or 0, 0)
        wrong = last < base or not self._may_be(base) or base < floor
        if not wrong:
            room = None if expected is None else 0
            wrong = self._find_contradiction(header, floor, expected, room)
        if wrong:
            return self._problem(
                header.position,
                header.size,
                problems.OFFSET,
                f"a batch with offsets {base} to {last} cannot be here",
                self._next_offset_from(after, expected),
                expected,
            )
        # A wrapper has the offset of its last message: what is before it is not known.
        known = expected is not None and header.record_count >= 0
        if known and self._are_gaps_wrong is not None and self._are_gaps_wrong():
            return self._problem(
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

        * ``floor``: the minimum offset of the batch.
        * ``expected``: its offset if no offset is missing; None if not known.
        * ``room``: the bytes in which offsets from ``floor`` on can have been; None if
          not known.
        """
        base, last = header.base_offset, header.last_offset
        after = header.position + header.size
        following = self._peek(after, False)
        if following is None and after < self._file.size:
            stop = after + min(WINDOW, self._doubts)
            following = self._search(after, stop, floor)
            passed = stop if following is None else following.position
            self._doubts -= passed - after
        if following is None:
            end = self._next_base_offset
            return end is not None and floor <= end <= last
        if not floor <= following.base_offset <= last:
            return False
        # One of the two batches is wrong.
        span = last - base + 1
        if expected is not None and following.base_offset == expected + span:
            return True
        if following.base_offset < floor + span:
            # There are not enough offsets for this batch before the following one.
            return False
        third = self._peek(following.position + following.size, False)
        if third is not None:
            return third.base_offset <= last
        if self._next_base_offset == following.last_offset + 1:
            return True
        return room is not None and base - floor > MAX_RECORDS_PER_BYTE * room

    def _may_be(self, offset: int) -> bool:
        first = self._base_offset
        return first is None or first <= offset <= first + LARGEST_DELTA

    def _next_offset_from(self, position: int, expected: int | None) -> int:
        following = self._peek(position, False)
        if following is None:
            then = self._next_base_offset
            return -1 if then is None or position < self._file.size else then
        base = following.base_offset
        right = (expected is None or base >= expected) and self._may_be(base)
        return base if right else -1

    def _around(
        self, position: int, failure: CorruptBatch | None
    ) -> tuple[Problem | None, int]:
        """Find the way around a damaged region; return what it is and its end.

        Without a failure there is an entry that is longer than what is left.
        """
        file, before = self._file, self.expected
        is_cut = failure is None and self._limit >= file.size
        head = None if failure is None else self._peek(position, False)
        if failure is None:
            reason, detail = problems.SIZE, self._why_too_long(position)
        elif head is not None:
            reason, detail = problems.CRC, failure.reason
        elif self._is_zero(position, position + HEAD):
            reason, detail = problems.ZEROS, "zeros, where a batch should begin"
        else:
            reason, detail = problems.HEADER, failure.reason
        resumed = self._resume(position, head)
        if resumed is not None:
            self.expected = resumed.base_offset
            end, next_good = resumed.position, resumed.base_offset
        else:
            end, next_good = file.size, -1
            if self._is_torn(position, head, is_cut):
                self.torn_at = position
                return None, end
            self.ends_whole = False
            if self._next_base_offset is not None:
                next_good = self._next_base_offset
            if is_cut:
                reason, detail = problems.CUT, "the file ends within a batch"
        return (
            self._problem(position, end - position, reason, detail, next_good, before),
            end,
        )

    def _why_too_long(self, position: int) -> str:
        at, end = position + SIZE_AT, position + LOG_OVERHEAD
        size = LOG_OVERHEAD + int.from_bytes(self._file.data[at:end], "big")
        if self._frame_limit is None or position + size > self._file.size:
            return "a length that no batch can have here"
        return (
            f"a batch of {size} bytes, over the limit of {self._frame_limit}; pass"
            " limits=kwire.Limits(frame_bytes=...) for more"
        )

    def _is_torn(self, position: int, head: BatchHeader | None, is_cut: bool) -> bool:
        """Whether the tail was not written to its end, rather than damaged.

        Files may be made long before they are written: then zeros take the place of
        what is missing, in the last batch too.
        """
        if not self._torn_tail_is_fine:
            return False
        size = self._file.size
        if head is None:
            return is_cut or self._is_zero(position, size)
        end = head.position + head.size
        return end < size and self._is_zero(end - HEAD, size)

    def _is_zero(self, start: int, end: int) -> bool:
        while start < end:
            self._keep = start
            limit = min(end, start + len(_ZEROS))
            limit = min(limit, self._fill(start, limit))
            if limit <= start:
                break
            if self._file.data[start:limit] != _ZEROS[: limit - start]:
                return False
            start = limit
        return True

    def _resume(self, position: int, head: BatchHeader | None) -> BatchHeader | None:
        """Find the next valid batch after the damaged one at ``position``."""
        floor = max(self.expected or 0, self._base_offset or 0)
        begin, start, base = position, -1, -1
        if head is not None:
            # The length may be right even if the content is not; a batch within the
            # content, where a record's value is Kafka's bytes, must not be taken.
            start, base = head.position + head.size, head.last_offset + 1
            if floor <= base <= self._highest:
                after = self._whole(start, base, base)
                if after is not None:
                    return after
                span = base - head.base_offset
                if head.base_offset == self.expected and head.record_count == span:
                    # The offsets of the damaged batch agree with the batch before it
                    # and with its own count, so the damage is elsewhere in it.
                    floor = base
        while True:
            self._keep = position = position + 1
            found = self._search(position, self._file.size, floor, moves=True)
            if found is None:
                return None
            self._keep = position = found.position
            is_next = position == start and floor == base
            expected, room = (base, 0) if is_next else (None, position - begin)
            if not self._find_contradiction(found, floor, expected, room):
                return found

    def _search(
        self, position: int, stop: int, lowest: int, *, moves: bool = False
    ) -> BatchHeader | None:
        """Find the first valid batch from ``lowest`` on that begins before ``stop``.

        If the walk ``moves``, what it has passed leaves the memory.
        """
        search = _plausible(lowest, self._highest, self._frame_limit).search
        at = position
        while at < stop and at + HEAD <= self._file.size:
            if moves:
                self._keep = at
            limit = self._fill(at, at + len(_ZEROS))
            data = self._file.data
            found = None
            if data[at] or data[at:limit] != _ZEROS[: limit - at]:
                found = search(data, at, limit)
            while found is not None:
                self._credit += _CREDIT * (found.start() - at + 1)
                at = found.start() + 1
                whole = self._whole(found.start(), lowest, self._highest)
                if whole is not None:
                    return whole
                found = search(data, at, limit)
            end = max(limit - HEAD + 1, at + 1)
            self._credit += _CREDIT * (end - at)
            at = end
        return None

    def _whole(self, position: int, lowest: int, highest: int) -> BatchHeader | None:
        """Read the header at ``position`` if a valid and plausible batch is there."""
        head = self._peek(position, False)
        if head is None or not lowest <= head.base_offset <= highest:
            return None
        # So that time stays linear where the bytes are nothing but headers.
        if head.size > self._credit:
            return None
        self._credit -= head.size
        return self._peek(position, True)

    def _problem(
        self,
        position: int,
        length: int,
        reason: str,
        detail: str,
        next_good: int,
        expected: int | None,
    ) -> Problem:
        last_good = -1 if expected is None else expected - 1
        return Problem(
            *self.place, position, length, reason, last_good, next_good, detail
        )


def _plausible(floor: int, highest: int, limit: int | None) -> re.Pattern[bytes]:
    """Make a pattern of possible batch headers, for a fast search.

    It lets more through than there is: the first half of the offset, the first byte of
    the length and a length that is not too small, the magic.
    """
    first, last = floor >> 32, highest >> 32
    if last - first < 2:
        halves = sorted({first.to_bytes(4, "big"), last.to_bytes(4, "big")})
        offset = b"(?:" + b"|".join(re.escape(half) for half in halves) + b")"
    else:
        offset = b"[\\x00-\\x7f]..."
    largest = 0x7F if limit is None else min(0x7F, limit >> 24)
    size = b"(?!\\x00\\x00\\x00[\\x00-\\x0d])[\\x00-" + re.escape(bytes([largest]))
    return re.compile(b"(?s)" + offset + b"...." + size + b"]...(?:....)[\\x00-\\x02]")
