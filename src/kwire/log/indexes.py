# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads segment index files: ``.index``, ``.timeindex`` and ``.txnindex``.

A broker allocates ``.index`` and ``.timeindex`` at full size and truncates them when
the segment is closed. Therefore the files of the newest segment end with zeros. After a
crash, this part may contain any bytes. Entries are valid as long as they ascend, and
they are only hints: readers that follow an entry must verify the batch. ``verify.py``
compares the entries with the batches.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, overload

from .._files import open_regular
from .._limits import DEFAULT
from .._text import format_name
from ..errors import DecodeError, InvalidValue, LimitExceeded, UnsupportedVersion
from ..messages import AbortedTxn
from ..messages.framing import decode_prefixed
from .problems import in_file
from .storage import StoredPath, locate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._limits import Limits
    from .storage import Named, Place

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
_TRANSACTION_ENTRY_SIZE = 34

_BASE_OFFSET = re.compile(r"([0-9]{20})(?:\.|-)")


def parse_base_offset(path: str | os.PathLike[str]) -> int | None:
    """Return the base offset in a file name, which has 20 digits, or None."""
    match = _BASE_OFFSET.match(os.path.basename(path))
    value = int(match[1]) if match else None
    return value if value is not None and value < 2**63 else None


def read_small_file(path: Named, limits: Limits = DEFAULT) -> bytes:
    """Read a complete file that is normally small.

    Raises ``LimitExceeded`` if it is larger than ``limits.frame_bytes`` bytes, and
    ``FileNotFoundError`` if it is missing or is not a regular file, for example a FIFO.
    """
    limit = limits.frame_bytes
    located_path = locate(path)
    max_bytes = sys.maxsize if limit is None else int(min(sys.maxsize, limit + 1))
    if isinstance(located_path, StoredPath):
        data = located_path.read_bytes(max_bytes)
    else:
        with open_regular(located_path) as file:
            # Limit the request to the file size, because Python allocates memory for
            # all requested bytes in advance.
            data = file.read(min(max_bytes, os.fstat(file.fileno()).st_size))
    if limit is not None and len(data) > limit:
        raise LimitExceeded(
            f"the file has more bytes than the limit of {limit}; pass"
            " limits=kwire.Limits(frame_bytes=...) to allow more",
            0,
            format_name(path),
        )
    return data


def do_ascend(entries: Sequence[tuple[int, int]]) -> bool:
    """Whether both numbers in all entries ascend, as in a valid offset index."""
    return all(a < c and b < d for (a, b), (c, d) in pairwise(entries))


class EntryView(Sequence["tuple[int, int]"]):
    """Sequence of index entries, which are decoded on access.

    Entries are not compared with each other, so a binary search decodes only a few
    entries. Zeros at the end are omitted. Readers that follow an entry must verify the
    batch.
    """

    __slots__ = ("_count", "_data", "_decode", "_size")

    def __init__(
        self, data: bytes, size: int, decode: Callable[[bytes, int], tuple[int, int]]
    ) -> None:
        self._data, self._size, self._decode = data, size, decode
        self._count = len(data) // size
        if self._count and self._is_zero(self._count - 1):
            self._count = bisect_left(range(self._count), True, key=self._is_zero)

    def _is_zero(self, number: int) -> bool:
        return not any(self._data[number * self._size : (number + 1) * self._size])

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[tuple[int, int], ...]: ...
    def __getitem__(
        self, number: int | slice
    ) -> tuple[int, int] | tuple[tuple[int, int], ...]:
        selected = range(self._count)[number]
        if isinstance(selected, range):
            return tuple(self._decode(self._data, n * self._size) for n in selected)
        return self._decode(self._data, selected * self._size)


class _EntryIndex:
    """Index file with fixed-size entries.

    Keeps the contents in memory and decodes entries on access.
    """

    __slots__ = ("_data", "_entries", "base_offset", "path")

    _ENTRY_BYTES: ClassVar[int]

    def __init__(
        self,
        path: Named,
        base_offset: int | None = None,
        *,
        limits: Limits = DEFAULT,
    ) -> None:
        self.path = locate(path)
        self.base_offset = _require_base_offset(self.path, base_offset)
        self._data = read_small_file(path, limits)
        self._entries: tuple[tuple[int, int], ...] | None = None

    def _decode_entries(self) -> Iterator[tuple[int, int]]:
        raise NotImplementedError

    def _decode_entry(self, data: bytes, start: int) -> tuple[int, int]:
        raise NotImplementedError

    @property
    def entries(self) -> tuple[tuple[int, int], ...]:
        """Valid entries, up to the first entry that does not ascend."""
        if self._entries is None:
            self._entries = tuple(self._decode_entries())
        return self._entries

    @property
    def has_stray_bytes(self) -> bool:
        """Whether the valid entries are followed by anything except zero entries.

        An incomplete entry at the end counts even if it consists of zeros, because a
        broker only writes complete entries. Source: ``AbstractIndex.sanityCheck``.
        """
        if len(self._data) % self._ENTRY_BYTES:
            return True
        return _has_stray_bytes(self._data, len(self.entries) * self._ENTRY_BYTES)

    @property
    def unchecked(self) -> EntryView:
        """All entries, including entries that do not ascend."""
        return EntryView(self._data, self._ENTRY_BYTES, self._decode_entry)

    def lookups(self) -> Iterator[Sequence[tuple[int, int]]]:
        """Yield the sequences to search: all entries first, then the valid entries.

        The valid entries are only yielded if they differ. They serve callers for which
        the unchecked entries were misleading.
        """
        unchecked = self.unchecked
        yield unchecked
        if len(self.entries) != len(unchecked):
            yield self.entries


class OffsetIndex(_EntryIndex):
    """Offset index (``.index`` file), which maps offsets to batch positions.

    ``entries`` are ascending pairs of (offset, position). The base offset of the batch
    at byte ``position`` is at most ``offset``, and all previous batches end before
    ``offset``. ``has_stray_bytes`` is True if the entries are followed by anything
    except zero entries. ``base_offset`` is taken from the file name by default.

    Raises ``FileNotFoundError`` if the file is missing, ``LimitExceeded`` if it is
    larger than ``frame_bytes`` in ``limits``, and ``TypeError`` if neither the caller
    nor the file name specifies the base offset.

    Format: INT32 offset relative to the base offset, INT32 position.
    Source: ``OffsetIndex``.
    """

    __slots__ = ()

    _ENTRY_BYTES = _OFFSET_ENTRY.size

    def _decode_entry(self, data: bytes, start: int) -> tuple[int, int]:
        offset, position = _OFFSET_ENTRY.unpack_from(data, start)
        return self.base_offset + offset, position

    def _decode_entries(self) -> Iterator[tuple[int, int]]:
        last_offset = last_position = -1
        whole = _trim_to_entries(self._data, _OFFSET_ENTRY)
        for offset, position in _OFFSET_ENTRY.iter_unpack(whole):
            if offset <= last_offset or position <= last_position:
                break
            if not offset and not position:
                break
            yield self.base_offset + offset, position
            last_offset, last_position = offset, position


class TimeIndex(_EntryIndex):
    """Time index (``.timeindex`` file), which maps timestamps to offsets.

    ``entries`` are ascending pairs of (timestamp in ms, offset). Up to ``offset``, no
    record in the segment has a timestamp later than ``timestamp``. ``has_stray_bytes``
    is True if the entries are followed by anything except zero entries. Parameters and
    errors are the same as for ``OffsetIndex``.

    Format: INT64 timestamp, INT32 offset relative to the base offset.
    Source: ``TimeIndex``.
    """

    __slots__ = ()

    _ENTRY_BYTES = _TIME_ENTRY.size

    def _decode_entry(self, data: bytes, start: int) -> tuple[int, int]:
        timestamp, offset = _TIME_ENTRY.unpack_from(data, start)
        return timestamp, self.base_offset + offset

    def _decode_entries(self) -> Iterator[tuple[int, int]]:
        last_timestamp = last_offset = -1
        whole = _trim_to_entries(self._data, _TIME_ENTRY)
        for timestamp, offset in _TIME_ENTRY.iter_unpack(whole):
            if timestamp <= last_timestamp or offset < last_offset:
                break
            if not timestamp and not offset:
                break
            yield timestamp, self.base_offset + offset
            last_timestamp, last_offset = timestamp, offset


class TransactionIndex:
    """Transaction index (``.txnindex`` file), which lists aborted transactions.

    ``entries`` are ``messages.AbortedTxn`` objects, sorted like their ABORT markers. A
    transaction is listed in the segment that contains its marker.

    Format: INT16 version and ``AbortedTxn``, 34 bytes per entry. Raises ``DecodeError``
    with the file in its path if an entry is invalid or if the file is larger than
    ``frame_bytes`` in ``limits``, and ``FileNotFoundError`` if the file is missing.
    Source: ``TransactionIndex``.
    """

    __slots__ = ("entries", "path")

    def __init__(self, path: Named, *, limits: Limits = DEFAULT) -> None:
        self.path = locate(path)
        data = read_small_file(path, limits)
        entries = []
        for start in range(0, len(data), _TRANSACTION_ENTRY_SIZE):
            entry = data[start : start + _TRANSACTION_ENTRY_SIZE]
            try:
                entries.append(decode_prefixed(AbortedTxn, entry))
            except DecodeError as error:
                raise in_file(error, format_name(path), start) from None
            except UnsupportedVersion as error:
                raise InvalidValue(str(error), start, format_name(path)) from None
        self.entries = tuple(entries)


def _require_base_offset(path: Place, requested: int | None) -> int:
    """Return the specified base offset, or else the base offset in the file name."""
    base_offset = parse_base_offset(path.name) if requested is None else requested
    if base_offset is None:
        raise TypeError(
            f"{str(path)!r} does not begin with a base offset of 20 digits; pass"
            " base_offset="
        )
    return base_offset


def _has_stray_bytes(data: bytes, end: int) -> bool:
    """Whether non-zero bytes follow the entries, which end at byte ``end``.

    ``bytes.count`` is used because it is fast: an active index file usually contains
    10 MiB of zeros after its entries.
    """
    return data.count(0, end) != len(data) - end


def _trim_to_entries(data: bytes, entry: struct.Struct) -> memoryview:
    """Return the bytes of all complete entries, without an incomplete last entry."""
    return memoryview(data)[: len(data) // entry.size * entry.size]
