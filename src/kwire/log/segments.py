# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Segment``: one ``.log`` file, or one ``.checkpoint`` of KRaft.

Reads its batches as headers, as objects and as columns, a chunk at a time and never
the whole file, and finds an offset or a time in it. ``walk.py`` finds the batches in
the bytes, ``kwire.records`` and ``kwire.records.columns`` decode them.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left, bisect_right
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from .._files import check_regular
from .._limits import DEFAULT, MIB
from .._text import format_name
from ..errors import DecodeError
from .cutting import find_cuts
from .decoding import check_records, decode_columns, decode_one, decode_runs
from .file_bytes import FileBytes
from .indexes import (
    OffsetIndex,
    TimeIndex,
    TransactionIndex,
    do_ascend,
    parse_base_offset,
)
from .problems import Problem, report_problem
from .storage import Status, StoredPath, locate
from .stored_bytes import StoredBytes
from .transactions import (
    AbortedTransaction,
    check_isolation_level,
    gather_transactions,
)
from .walk import SegmentWalk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .._limits import Limits
    from ..records import Batch, BatchHeader
    from ..records.columns import Records
    from .file_bytes import Access
    from .problems import OnCorrupt
    from .storage import Named
    from .transactions import Transactions

CHUNK = 4 * MIB
"""Bytes of a file that are decoded in one piece, if batches are smaller."""

FOLDER = re.compile(r"(?s)(.+)-([0-9]{1,9})")
"""The name of a partition's folder; more digits are no INT32."""

_LIVE = 3600
"""Seconds after the last write for which a broker may still be at work."""

_HINTS = 3
"""Entries of an index to try before it is taken for useless."""


class Segment:
    """One segment file; opened for each iteration, and closed with it.

    ``base_offset`` is what its name says (0 for a checkpoint, -1 where it says
    nothing), ``size`` its bytes when this object was made, ``kind`` "log" or
    "checkpoint". ``is_newest`` says that a broker may still write to it: its tail may
    be torn. ``next_base_offset`` is that of the segment after it, None if there is
    none. ``access`` is "map" or "read" (see ``file_bytes.py``); by default the newest
    segment is read if it was written to within the last hour, all else is mapped.
    """

    __slots__ = (
        "_access",
        "_has_holes",
        "_indexes",
        "base_offset",
        "is_newest",
        "kind",
        "next_base_offset",
        "partition",
        "path",
        "size",
        "topic",
    )

    def __init__(
        self,
        path: Named,
        *,
        access: Access | None = None,
        topic: str | None = None,
        partition: int | None = None,
        is_newest: bool = True,
        next_base_offset: int | None = None,
    ) -> None:
        self.path = locate(path)
        status = self.path.stat()
        self.size = status.st_size
        self.kind = "checkpoint" if self.path.suffix == ".checkpoint" else "log"
        named = parse_base_offset(self.path.name)
        self.base_offset = -1 if named is None else named
        if self.kind == "checkpoint":
            # Its name has an offset of the log; its own offsets begin at 0.
            self.base_offset = 0
            is_newest = False
        match = FOLDER.fullmatch(self.path.absolute().parent.name)
        self.topic = topic or ""
        if topic is None:
            self.topic = format_name(match[1]) if match else ""
        self.partition = int(match[2]) if match and partition is None else -1
        if partition is not None:
            self.partition = partition
        self.is_newest = is_newest
        self.next_base_offset = next_base_offset
        self._access: Access = "read"
        if not isinstance(status, Status):
            check_regular(str(self.path), status.st_mode)
            # A broker may cut what it writes to, and kill who has it mapped.
            is_live = is_newest and time.time() - status.st_mtime < _LIVE
            self._access = access or ("read" if is_live else "map")
        self._indexes: dict[str, Any] = {}
        self._has_holes: bool | None = None

    def __repr__(self) -> str:
        return f"<Segment {str(self.path)!r}, {self.size} bytes>"

    @property
    def index(self) -> OffsetIndex | None:
        """The ``.index`` file; None if there is none."""
        found: OffsetIndex | None = self._beside(".index", OffsetIndex)
        return found

    @property
    def time_index(self) -> TimeIndex | None:
        """The ``.timeindex`` file; None if there is none."""
        found: TimeIndex | None = self._beside(".timeindex", TimeIndex)
        return found

    @property
    def transaction_index(self) -> TransactionIndex | None:
        """The ``.txnindex`` file; None if there is none."""
        found: TransactionIndex | None = self._beside(".txnindex", TransactionIndex)
        return found

    def _beside(self, suffix: str, kind: Callable[..., Any]) -> Any:
        if self.kind != "log" or self.base_offset < 0:
            return None
        if suffix not in self._indexes:
            try:
                self._indexes[suffix] = kind(self.path.with_suffix(suffix))
            except FileNotFoundError:
                return None
        return self._indexes[suffix]

    def forget_indexes(self) -> None:
        """Free the indexes that were read; they are read again when needed."""
        self._indexes.clear()

    @property
    def is_remote(self) -> bool:
        """Whether it is in an object store, where each read is a request."""
        return isinstance(self.path, StoredPath)

    def open(self) -> FileBytes:
        """Open the file for a walk; to be closed with ``with``."""
        if isinstance(self.path, StoredPath):
            return StoredBytes(self.path)
        return FileBytes(self.path, self._access)

    def _iter_headers(
        self, start: int = 0, end: int | None = None
    ) -> Iterator[tuple[BatchHeader, Any]]:
        """Iterate over batch headers and the file's bytes, without damaged regions.

        The bytes of a batch can be read until the next header is requested.
        """
        with self.open() as file:
            for item in walk_segment(self, file, start=start, end=end, check_crc=False):
                if not isinstance(item, Problem):
                    yield item, file.data

    def headers(
        self,
        start: int = 0,
        end: int | None = None,
        *,
        check_crc: bool = False,
        on_corrupt: OnCorrupt = "raise",
        strict_tail: bool = False,
        limits: Limits = DEFAULT,
    ) -> Iterator[BatchHeader]:
        """Iterate over the headers of batches that begin in bytes ``start`` to ``end``.

        ``start`` is the first byte of a batch, as ``seek`` gives it; ``position`` in
        the headers counts in the file. Without ``check_crc`` what batches hold is not
        looked at.
        ``on_corrupt``: "raise" raises ``CorruptBatch`` with the file in its path and
        the byte in ``offset``; "skip" goes on after what is damaged; a function does
        too, and is given each ``Problem``.
        """
        with self.open() as file:
            for item in walk_segment(
                self,
                file,
                start=start,
                end=end,
                check_crc=check_crc,
                strict_tail=strict_tail,
                limits=limits,
            ):
                if isinstance(item, Problem):
                    report_problem(item, on_corrupt)
                else:
                    yield item

    def batches(
        self,
        start: int | None = None,
        end: int | None = None,
        *,
        start_offset: int | None = None,
        end_offset: int | None = None,
        isolation_level: str = "read_uncommitted",
        transactions: Transactions | None = None,
        on_corrupt: OnCorrupt = "raise",
        check_crc: bool = True,
        strict_tail: bool = False,
        are_offsets_right: bool = False,
        errors: Literal["strict", "replace"] = "strict",
        limits: Limits = DEFAULT,
    ) -> Iterator[Batch]:
        """Decode batch by batch; positions and ``on_corrupt`` as in ``headers``.

        Records below ``start_offset`` and from ``end_offset`` on are left out, and
        batches that have no others; without ``start`` the way begins where ``seek``
        finds the offset. With ``isolation_level="read_committed"`` aborted
        and control batches come without records, and what belongs to transactions that
        were never ended, or comes after such, does not come; ``transactions`` says
        which those are, if more is known than this segment has.
        If ``are_offsets_right``, offsets are not compared with those of the neighboring
        batches, because a walk through the whole file has already judged them.
        Memory: that of ``limits`` for one batch, and a few MiB of the file.
        Raises ``DecodeError`` with the file in its path, unless ``on_corrupt`` says
        otherwise.
        """
        start = self._start(start, start_offset)
        with self.open() as file:
            walk = walk_segment(
                self,
                file,
                start=start,
                end=end,
                check_crc=check_crc,
                strict_tail=strict_tail,
                are_offsets_right=are_offsets_right,
                limits=limits,
            )
            yield from decode_runs(
                walk,
                file,
                start_offset=start_offset,
                end_offset=end_offset,
                transactions=self._transactions(isolation_level, transactions),
                on_corrupt=on_corrupt,
                check_crc=check_crc,
                errors=errors,
                limits=limits,
            )

    def columns(
        self,
        start: int | None = None,
        end: int | None = None,
        *,
        start_offset: int | None = None,
        end_offset: int | None = None,
        isolation_level: str = "read_uncommitted",
        transactions: Transactions | None = None,
        on_corrupt: OnCorrupt = "raise",
        strict_tail: bool = False,
        are_offsets_right: bool = False,
        chunk_bytes: int = CHUNK,
        limits: Limits = DEFAULT,
        **options: Any,
    ) -> Iterator[Records]:
        """Decode into columns, about ``chunk_bytes`` of the file at a time.

        All as in ``batches``; control records never come. With ``are_offsets_right``
        offsets are not compared with those around them, as a walk through the whole
        file has done that. ``options`` go to ``columns.decode_records``, but for
        ``views``: the bytes of a segment do not stay in memory.
        """
        if options.get("views"):
            raise ValueError(
                "views cannot be given: a segment's bytes do not stay in memory"
            )
        start = self._start(start, start_offset)
        with self.open() as file:
            hidden = self._transactions(isolation_level, transactions)
            walk = walk_segment(
                self,
                file,
                start=start,
                end=end,
                strict_tail=strict_tail,
                are_offsets_right=are_offsets_right,
                limits=limits,
            )
            yield from decode_columns(
                walk,
                file,
                start_offset=start_offset,
                end_offset=end_offset,
                transactions=hidden,
                on_corrupt=on_corrupt,
                chunk_bytes=chunk_bytes,
                limits=limits,
                **options,
            )

    def _start(self, start: int | None, start_offset: int | None) -> int:
        if start is not None or start_offset is None:
            return start or 0
        found = self.seek(start_offset)
        return self.size if found is None else found

    def _transactions(
        self, isolation_level: str, given: Transactions | None
    ) -> Transactions | None:
        if not check_isolation_level(isolation_level):
            return None
        return find_transactions((self,)) if given is None else given

    def seek(self, offset: int) -> int | None:
        """Find the batch that holds ``offset``, or the first one after it.

        Returns its first byte, None if the segment ends before. The ``.index`` is
        followed where a batch is found at the place that it names; without it, or
        without sense in it, the headers are hopped from the first one on.
        """
        for header, _ in self._iter_headers(self.seek_before(offset)):
            if header.last_offset >= offset:
                return header.position
        return None

    def seek_before(self, offset: int) -> int:
        """Find a batch whose base offset is at most ``offset``; return its position.

        It is the last such batch that the ``.index`` lists and that is in the file.
        Returns 0 if there is none.
        """
        try:
            index = self.index
        except (DecodeError, OSError):
            return 0
        if index is None:
            return 0
        for entries in index.lookups():
            last = bisect_right(entries, offset, key=lambda entry: entry[0])
            near = entries[max(0, last - _HINTS) : last]
            if not near:
                break
            for first, position in reversed(near) if do_ascend(near) else ():
                if self._has_batch(position, first):
                    return position
        return 0

    def _has_batch(self, position: int, offset: int) -> bool:
        """Whether a valid batch begins at ``position``, and not above ``offset``."""
        if not 0 <= position < self.size:
            return False
        with self.open() as file:
            walk = walk_segment(self, file, start=position, end=position + 1)
            for item in walk:
                return not isinstance(item, Problem) and item.base_offset <= offset
        return False

    def seek_timestamp(self, timestamp: int) -> int | None:
        """Find the first batch with a record of ``timestamp`` (ms) or later.

        Returns its first byte, None if there is none. What comes before has only
        earlier records; what comes after may have earlier ones too. The
        ``.timeindex`` is followed where the batch that it names has the time it says.
        """
        for header, _ in self._iter_headers(self._time_hint(timestamp)):
            if header.max_timestamp >= timestamp:
                return header.position
        return None

    def _time_hint(self, timestamp: int) -> int:
        try:
            index = self.time_index
        except (DecodeError, OSError):
            return 0
        if index is None:
            return 0
        last = bisect_left(index.entries, timestamp, key=lambda entry: entry[0])
        for stands, offset in reversed(index.entries[max(0, last - _HINTS) : last]):
            position = self.seek(offset)
            if position is None:
                continue
            for header, _ in self._iter_headers(position, position + 1):
                if header.max_timestamp == stands:
                    return position
        return 0

    def offset_for_timestamp(
        self,
        timestamp: int,
        *,
        start_offset: int | None = None,
        limits: Limits = DEFAULT,
    ) -> int | None:
        """Find the offset of the first record of ``timestamp`` (ms) or later.

        First in the order of offsets, control records included, as Kafka's ListOffsets
        returns it; None if there is none from ``start_offset`` on. The ``.timeindex``
        is followed as by ``seek_timestamp``; then batches are passed by their headers
        and decoded where one may hold such a record. Damaged batches hold none.
        """
        low = -(2**63) if start_offset is None else start_offset
        start = self._time_hint(timestamp)
        if start_offset is not None:
            start = max(start, self.seek_before(start_offset))
        with self.open() as file:
            walk = walk_segment(self, file, start=start, limits=limits)
            for item in walk:
                if isinstance(item, Problem) or item.last_offset < low:
                    continue
                if item.max_timestamp < timestamp:
                    continue
                for batch in decode_one(walk, file, item, limits):
                    for record in batch.records:
                        if record.offset >= low and record.timestamp >= timestamp:
                            return record.offset
        return None

    def find_splits(self, split_bytes: int) -> tuple[int, ...]:
        """Find positions of batches about ``split_bytes`` apart; the first one is 0.

        Reading from each position to the next one, and from the last one to the end,
        returns every batch once and every problem once. For each split, the ``.index``
        and a few batches are read. Without a valid index, all headers are read; in an
        object store, 1 MiB is read for each split.
        """
        if split_bytes < 1:
            raise ValueError(f"split_bytes must be 1 or more (got {split_bytes})")
        if self.size <= split_bytes:
            return (0,)
        try:
            index = self.index
        except DecodeError:
            index = None
        with self.open() as file:
            walk = partial(walk_segment, self, file)
            return find_cuts(file, walk, index, split_bytes, is_remote=self.is_remote)

    @property
    def has_holes(self) -> bool:
        """Whether some batch has fewer records than offsets, as only a cleaner leaves.

        Hops the headers up to the first such batch, once.
        """
        if self._has_holes is None:
            self._has_holes = any(
                header.magic == 2
                and (
                    header.record_count <= header.last_offset - header.base_offset
                    or header.delete_horizon is not None
                )
                for header, _ in self._iter_headers()
            )
        return self._has_holes

    def problems(
        self,
        *,
        deep: bool = False,
        strict_tail: bool = False,
        progress: Callable[[int], object] | None = None,
        limits: Limits = DEFAULT,
    ) -> Iterator[Problem]:
        """Find what is wrong with this file, without its indexes.

        ``deep`` decodes the records as well. ``progress`` is called every few MiB with
        the number of bytes since the last call.
        """
        with self.open() as file:
            walk = walk_segment(
                self,
                file,
                strict_tail=strict_tail,
                are_gaps_wrong=lambda: not self.has_holes,
                progress=progress,
                limits=limits,
            )
            for item in walk:
                if isinstance(item, Problem):
                    yield item
                elif deep:
                    bad = check_records(walk, file, item, limits)
                    if bad is not None:
                        yield bad

    def good_regions(self, *, limits: Limits = DEFAULT) -> Iterator[tuple[int, int]]:
        """Iterate over the regions of valid batches, each as long as possible.

        Each is (position, size). What lies between is damaged, what is after the last
        one damaged or torn.
        """
        first = last = 0
        for header in self.headers(check_crc=True, on_corrupt="skip", limits=limits):
            if header.position != last:
                if last > first:
                    yield first, last - first
                first = header.position
            last = header.position + header.size
        if last > first:
            yield first, last - first


def walk_segment(
    segment: Segment, file: FileBytes, *, strict_tail: bool = False, **options: Any
) -> SegmentWalk:
    """Return a walk through the opened file of a segment, with its offset limits.

    ``strict_tail`` treats a torn tail as damage, even in the newest segment.
    """
    base_offset = segment.base_offset if segment.base_offset >= 0 else None
    return SegmentWalk(
        file,
        (format_name(segment.path), segment.topic, segment.partition),
        base_offset=base_offset,
        expected=None if options.get("start") else base_offset,
        next_base_offset=segment.next_base_offset,
        torn_tail_is_fine=segment.is_newest and not strict_tail,
        **options,
    )


def find_transactions(segments: Iterable[Segment]) -> Transactions:
    """Find the transactions in segments of one partition, which are in order.

    Damaged regions are passed over. Time: all headers are read, and what control
    batches hold; memory grows with the number of aborted transactions.
    """
    return gather_transactions(
        (each._iter_headers(), _read_aborted(each)) for each in segments
    )


def _read_aborted(segment: Segment) -> list[AbortedTransaction]:
    """Read the ``.txnindex`` file of a segment, if there is a valid one."""
    try:
        index = segment.transaction_index
    except DecodeError:
        return []
    if index is None:
        return []
    return [
        AbortedTransaction(entry.producer_id, entry.first_offset, entry.last_offset)
        for entry in index.entries
    ]
