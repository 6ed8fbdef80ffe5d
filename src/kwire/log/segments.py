# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Segment``: reads a ``.log`` file, or a KRaft ``.checkpoint`` file.

Returns its batches as headers, objects or columns, and looks up offsets and timestamps.
The file is loaded gradually and is never completely in memory. ``walk.py`` finds the
batches in the file, and ``kwire.records`` and ``kwire.records.columns`` decode them.
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
"""Default number of file bytes that are decoded in one call. A batch that is larger is
decoded alone.
"""

FOLDER = re.compile(r"(?s)(.+)-([0-9]{1,9})")
"""Pattern for partition directory names.

The partition number has at most nine digits, so that it always fits into an INT32.
"""

_LIVE_SECONDS = 3600
"""Time in seconds after the last write to the newest segment for which a broker is
assumed to use it still. The segment is then read instead of mapped.
"""

_MAX_HINTS = 3
"""Number of index entries that are tried before the index is ignored. An entry is used
only if the batch at its position confirms it.
"""


class Segment:
    """One segment file. It is opened for every iteration and closed afterwards.

    * ``base_offset``: offset in the file name. It is 0 for a KRaft checkpoint, and -1
      if the name contains no offset.
    * ``size``: file size in bytes when this object was created.
    * ``kind``: "log" or "checkpoint".
    * ``topic``, ``partition``: by default taken from the directory name, or empty and
      -1 if that is not a partition directory.
    * ``is_newest``: whether a broker may still write to the segment, so that it may
      have a torn tail.
    * ``next_base_offset``: base offset of the next segment, or None.
    * ``access``: "map" or "read", see ``file_bytes.py``. By default, the newest segment
      is read if it was written within the last hour. All other segments are mapped.

    Raises ``FileNotFoundError`` if the file is missing or is not a regular file.
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
        name_offset = parse_base_offset(self.path.name)
        self.base_offset = -1 if name_offset is None else name_offset
        if self.kind == "checkpoint":
            # The file name contains a log offset, but the offsets inside a checkpoint
            # always begin at 0.
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
            # A broker may truncate a segment in use, which kills every process that
            # maps the file.
            is_live = is_newest and time.time() - status.st_mtime < _LIVE_SECONDS
            self._access = access or ("read" if is_live else "map")
        self._indexes: dict[str, Any] = {}
        self._has_holes: bool | None = None

    def __repr__(self) -> str:
        return f"<Segment {str(self.path)!r}, {self.size} bytes>"

    @property
    def index(self) -> OffsetIndex | None:
        """Offset index from the ``.index`` file, or None if the file is missing.

        Also None for a KRaft checkpoint, or if the file name of the segment contains no
        offset. Raises ``LimitExceeded`` if the file is larger than ``frame_bytes`` in
        the default limits (100 MiB).
        """
        index: OffsetIndex | None = self._load_index(".index", OffsetIndex)
        return index

    @property
    def time_index(self) -> TimeIndex | None:
        """Time index from the ``.timeindex`` file, or None if the file is missing.

        Limits and errors are the same as for ``index``.
        """
        index: TimeIndex | None = self._load_index(".timeindex", TimeIndex)
        return index

    @property
    def transaction_index(self) -> TransactionIndex | None:
        """Transaction index from the ``.txnindex`` file, or None if it is missing.

        Raises ``DecodeError`` if an entry is invalid. Otherwise limits and errors are
        the same as for ``index``.
        """
        index: TransactionIndex | None = self._load_index(".txnindex", TransactionIndex)
        return index

    def _load_index(self, suffix: str, index_class: Callable[..., Any]) -> Any:
        """Return an index of this segment. The first call reads the file.

        Returns None if the file is missing, or if the segment cannot have indexes: a
        KRaft checkpoint, or a file name without an offset.
        """
        if self.kind != "log" or self.base_offset < 0:
            return None
        if suffix not in self._indexes:
            try:
                self._indexes[suffix] = index_class(self.path.with_suffix(suffix))
            except FileNotFoundError:
                return None
        return self._indexes[suffix]

    def forget_indexes(self) -> None:
        """Discard loaded index files. They are read again on the next access."""
        self._indexes.clear()

    @property
    def is_remote(self) -> bool:
        """Whether the segment is in an object store, where every read is a request."""
        return isinstance(self.path, StoredPath)

    def open(self) -> FileBytes:
        """Open the file for a walk. Use the result as a context manager."""
        if isinstance(self.path, StoredPath):
            return StoredBytes(self.path)
        return FileBytes(self.path, self._access)

    def _iter_headers(
        self, start: int = 0, end: int | None = None
    ) -> Iterator[tuple[BatchHeader, Any]]:
        """Yield batch headers and the file buffer, and skip damaged regions.

        Batch bytes are available until the next header is requested.
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
        """Yield the headers of all batches that begin between ``start`` and ``end``.

        * ``start``, ``end``: byte range. ``start`` must be a batch's first byte, for
          example from ``seek``. ``position`` in the headers is relative to the file.
        * ``check_crc``: verify checksums. By default, batch contents are not read.
        * ``on_corrupt``: "raise" raises ``CorruptBatch`` with the file in ``path`` and
          the byte position in ``offset``. "skip" continues after the damaged region. A
          callback function receives every ``Problem``, and then reading continues.
        * ``strict_tail``: treat a torn tail as damage.
        * ``limits``: maximum batch size (``frame_bytes``).
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
        """Decode the segment into batch objects.

        * ``start``, ``end``, ``on_corrupt``, ``strict_tail``: as in ``headers``.
        * ``start_offset``, ``end_offset``: return only records in this offset range,
          and omit batches that are completely outside of it. ``end_offset`` is
          exclusive. Without ``start``, reading begins at ``seek(start_offset)``.
        * ``isolation_level``: with "read_committed", aborted batches and control
          batches are returned without records, and reading stops before the first
          transaction without an end marker.
        * ``transactions``: transactions in the complete log. By default, they are
          collected from this segment only.
        * ``are_offsets_right``: do not compare offsets with adjacent batches, because a
          previous walk through the complete file has already verified them.
        * ``limits``: limits for one batch. Additional memory is a few MiB for the file.

        Raises ``DecodeError`` with the file in its path if a batch is invalid, unless
        ``on_corrupt`` specifies another behaviour. Raises ``ValueError`` if
        ``isolation_level`` or ``errors`` has another value.
        """
        start = self._find_start(start, start_offset)
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
                transactions=self._choose_transactions(isolation_level, transactions),
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
        """Decode the segment into columns, about ``chunk_bytes`` file bytes at a time.

        * ``are_offsets_right``: do not compare offsets with adjacent batches, because a
          previous walk through the complete file has already verified them.
        * ``options``: passed to ``columns.decode_records``. ``views`` is not supported,
          because segment data does not stay in memory.

        All other parameters are the same as in ``batches``. Control records are never
        returned. Raises ``ValueError`` if ``views`` is requested.
        """
        if options.get("views"):
            raise ValueError(
                "views cannot be given: a segment's bytes do not stay in memory"
            )
        start = self._find_start(start, start_offset)
        with self.open() as file:
            hidden = self._choose_transactions(isolation_level, transactions)
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

    def _find_start(self, start: int | None, start_offset: int | None) -> int:
        """Return the byte position at which reading begins.

        This is ``start`` if it is specified, or the position of the batch that contains
        ``start_offset``, or otherwise the beginning of the file.
        """
        if start is not None or start_offset is None:
            return start or 0
        position = self.seek(start_offset)
        return self.size if position is None else position

    def _choose_transactions(
        self, isolation_level: str, transactions: Transactions | None
    ) -> Transactions | None:
        """Return the transactions to filter, or None if no filter is requested."""
        if not check_isolation_level(isolation_level):
            return None
        return find_transactions((self,)) if transactions is None else transactions

    def seek(self, offset: int) -> int | None:
        """Find the batch that contains ``offset``, or otherwise the next batch.

        Returns its byte position, or None if the segment ends before ``offset``. The
        ``.index`` file is used if a batch is found at the listed position. If the index
        is missing or invalid, all headers are read from the beginning.
        """
        for header, _ in self._iter_headers(self.seek_before(offset)):
            if header.last_offset >= offset:
                return header.position
        return None

    def seek_before(self, offset: int) -> int:
        """Find a batch that begins at or before ``offset``. Returns its position.

        This is the last such batch that the ``.index`` file lists and that exists in
        the file. Returns 0 if there is no such batch.
        """
        try:
            index = self.index
        except (DecodeError, OSError):
            return 0
        if index is None:
            return 0
        for entries in index.lookups():
            last = bisect_right(entries, offset, key=lambda entry: entry[0])
            candidates = entries[max(0, last - _MAX_HINTS) : last]
            if not candidates:
                break
            for first, position in (
                reversed(candidates) if do_ascend(candidates) else ()
            ):
                if self._has_batch(position, first):
                    return position
        return 0

    def _has_batch(self, position: int, offset: int) -> bool:
        """Whether a valid batch with at most this base offset begins at a position."""
        if not 0 <= position < self.size:
            return False
        with self.open() as file:
            walk = walk_segment(self, file, start=position, end=position + 1)
            for item in walk:
                return not isinstance(item, Problem) and item.base_offset <= offset
        return False

    def seek_timestamp(self, timestamp: int) -> int | None:
        """Find the first batch with a record at or after ``timestamp`` (ms).

        Returns its byte position, or None if no batch matches. All previous batches
        contain only earlier records. Following batches may contain earlier records as
        well. The ``.timeindex`` file is used if its timestamp matches the listed batch.
        """
        for header, _ in self._iter_headers(self._find_time_hint(timestamp)):
            if header.max_timestamp >= timestamp:
                return header.position
        return None

    def _find_time_hint(self, timestamp: int) -> int:
        """Return the byte position from which a search for ``timestamp`` can begin.

        The position is taken from the time index. Without a usable entry, it is 0.
        """
        try:
            index = self.time_index
        except (DecodeError, OSError):
            return 0
        if index is None:
            return 0
        last = bisect_left(index.entries, timestamp, key=lambda entry: entry[0])
        for indexed_timestamp, offset in reversed(
            index.entries[max(0, last - _MAX_HINTS) : last]
        ):
            position = self.seek(offset)
            if position is None:
                continue
            for header, _ in self._iter_headers(position, position + 1):
                if header.max_timestamp == indexed_timestamp:
                    return position
        return 0

    def offset_for_timestamp(
        self,
        timestamp: int,
        *,
        start_offset: int | None = None,
        limits: Limits = DEFAULT,
    ) -> int | None:
        """Find the offset of the first record at or after ``timestamp`` (ms).

        The first record by offset is returned, which may be a control record, as for
        Kafka's ListOffsets. Returns None if no record at or after ``start_offset``
        matches.

        The ``.timeindex`` file is used in the same way as in ``seek_timestamp``. After
        that, headers are read, and only batches that may contain a match are decoded.
        Damaged batches are ignored.
        """
        low = -(2**63) if start_offset is None else start_offset
        start = self._find_time_hint(timestamp)
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
        """Find batch positions about ``split_bytes`` apart. The first position is 0.

        Reading each range between two positions, and from the last position to the end,
        returns every batch and every problem exactly once. For every split, the
        ``.index`` file and a few batches are read. If the index is missing or invalid,
        all headers are read. In an object store, 1 MiB is read instead.

        Raises ``ValueError`` if ``split_bytes`` is less than 1.
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
        """Whether log compaction has processed a batch.

        True if a batch of magic 2 has fewer records than offsets, or a delete horizon.
        The first access reads the headers up to such a batch.
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
        """Find problems in this segment file. Index files are not verified.

        * ``deep``: also decode the records.
        * ``strict_tail``: treat a torn tail as damage.
        * ``progress``: callback that receives the number of additional bytes every few
          MiB.
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
                    record_problem = check_records(walk, file, item, limits)
                    if record_problem is not None:
                        yield record_problem

    def good_regions(self, *, limits: Limits = DEFAULT) -> Iterator[tuple[int, int]]:
        """Yield regions with valid batches as (position, size).

        Regions are as long as possible. Bytes between two regions are damaged. Bytes
        after the last region are damaged or belong to a torn tail.
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
    """Return a walk through an open segment file, within its valid offset range.

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
    """Find the transactions in consecutive segments of one partition.

    Damaged regions are skipped. All headers and control batches are read. Memory usage
    grows with the number of aborted transactions.
    """
    return gather_transactions(
        (segment._iter_headers(), _read_aborted(segment)) for segment in segments
    )


def _read_aborted(segment: Segment) -> list[AbortedTransaction]:
    """Read the ``.txnindex`` file of a segment. Empty if it is missing or damaged."""
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
