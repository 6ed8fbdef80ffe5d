# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the indexes beside a segment: ``.index``, ``.timeindex``, ``.txnindex``.

A broker makes the first two at full size when a segment begins and cuts them when it
ends, so the tail of the newest one is zeros; after a crash it may be anything. Entries
count as long as they ascend, and are hints: a reader that follows one checks the batch.
``verify.py`` checks whether entries agree with the batches.
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
    """Return the base offset in a file's name, 20 digits; None without one."""
    match = _BASE_OFFSET.match(os.path.basename(path))
    value = int(match[1]) if match else None
    return value if value is not None and value < 2**63 else None


def read_small_file(path: Named, limits: Limits = DEFAULT) -> bytes:
    """Read a file that is small by its nature.

    Raises ``LimitExceeded`` over ``limits.frame_bytes`` bytes, and
    ``FileNotFoundError`` also for a FIFO or whatever else is no regular file.
    """
    limit = limits.frame_bytes
    place = locate(path)
    most = sys.maxsize if limit is None else int(min(sys.maxsize, limit + 1))
    if isinstance(place, StoredPath):
        data = place.read_bytes(most)
    else:
        with open_regular(place) as file:
            # Asked for more than there is, Python takes memory for all of it first.
            data = file.read(min(most, os.fstat(file.fileno()).st_size))
    if limit is not None and len(data) > limit:
        raise LimitExceeded(
            f"the file has more bytes than the limit of {limit}; pass"
            " limits=kwire.Limits(frame_bytes=...) to allow more",
            0,
            format_name(path),
        )
    return data


def do_ascend(entries: Sequence[tuple[int, int]]) -> bool:
    """Whether both numbers of some entries ascend, as those of an offset index do."""
    return all(a < c and b < d for (a, b), (c, d) in pairwise(entries))


class EntryView(Sequence["tuple[int, int]"]):
    """The entries of an index as they are in its bytes, decoded one at a time.

    They are not compared with each other, so a search decodes a few of thousands. Zeros
    at the end are left out. A reader that follows an entry has to check the batch.
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
        each = range(self._count)[number]
        if isinstance(each, range):
            return tuple(self._decode(self._data, n * self._size) for n in each)
        return self._decode(self._data, each * self._size)


class _EntryIndex:
    """An index of pairs, all of one size: its bytes are kept, and decoded when used."""

    __slots__ = ("_data", "_entries", "base_offset", "path")

    _SIZE: ClassVar[int]

    def __init__(
        self,
        path: Named,
        base_offset: int | None = None,
        *,
        limits: Limits = DEFAULT,
    ) -> None:
        self.path = locate(path)
        self.base_offset = _base_offset(self.path, base_offset)
        self._data = read_small_file(path, limits)
        self._entries: tuple[tuple[int, int], ...] | None = None

    def _decode_all(self) -> Iterator[tuple[int, int]]:
        raise NotImplementedError

    def _decode_at(self, data: bytes, start: int) -> tuple[int, int]:
        raise NotImplementedError

    @property
    def entries(self) -> tuple[tuple[int, int], ...]:
        """The entries up to the first one that does not ascend."""
        if self._entries is None:
            self._entries = tuple(self._decode_all())
        return self._entries

    @property
    def has_stray_bytes(self) -> bool:
        """Whether anything but entries of zeros follows the entries.

        A part of an entry counts, even if it is zeros, because a broker only writes
        indexes of complete entries. Source: ``AbstractIndex.sanityCheck``.
        """
        if len(self._data) % self._SIZE:
            return True
        return _has_stray(self._data, len(self.entries) * self._SIZE)

    @property
    def unchecked(self) -> EntryView:
        """All entries, without a look at whether they ascend."""
        return EntryView(self._data, self._SIZE, self._decode_at)

    def lookups(self) -> Iterator[Sequence[tuple[int, int]]]:
        """Iterate over what to search: the unchecked entries, then those that count.

        The second ones only where they differ, for callers that the first ones misled.
        """
        unchecked = self.unchecked
        yield unchecked
        if len(self.entries) != len(unchecked):
            yield self.entries


class OffsetIndex(_EntryIndex):
    """The ``.index`` file of a segment: where the batches of some offsets are.

    ``entries`` are (offset, position) pairs, ascending: the batch at byte ``position``
    begins at ``offset`` or below, and all batches before it end below ``offset``.
    ``has_stray_bytes`` says whether anything but entries of zeros follows them.
    Shape: INT32 offset less the base offset, INT32 position. Source: ``OffsetIndex``.
    """

    __slots__ = ()

    _SIZE = _OFFSET_ENTRY.size

    def _decode_at(self, data: bytes, start: int) -> tuple[int, int]:
        offset, position = _OFFSET_ENTRY.unpack_from(data, start)
        return self.base_offset + offset, position

    def _decode_all(self) -> Iterator[tuple[int, int]]:
        last_offset = last_position = -1
        whole = _whole(self._data, _OFFSET_ENTRY)
        for offset, position in _OFFSET_ENTRY.iter_unpack(whole):
            if offset <= last_offset or position <= last_position:
                break
            if not offset and not position:
                break
            yield self.base_offset + offset, position
            last_offset, last_position = offset, position


class TimeIndex(_EntryIndex):
    """The ``.timeindex`` file of a segment: the max timestamps up to some offsets.

    ``entries`` are (timestamp in ms, offset) pairs, ascending: up to ``offset`` no
    record of the segment is later than ``timestamp``. ``has_stray_bytes`` as above.
    Shape: INT64 timestamp, INT32 offset less the base offset. Source: ``TimeIndex``.
    """

    __slots__ = ()

    _SIZE = _TIME_ENTRY.size

    def _decode_at(self, data: bytes, start: int) -> tuple[int, int]:
        timestamp, offset = _TIME_ENTRY.unpack_from(data, start)
        return timestamp, self.base_offset + offset

    def _decode_all(self) -> Iterator[tuple[int, int]]:
        last_timestamp = last_offset = -1
        whole = _whole(self._data, _TIME_ENTRY)
        for timestamp, offset in _TIME_ENTRY.iter_unpack(whole):
            if timestamp <= last_timestamp or offset < last_offset:
                break
            if not timestamp and not offset:
                break
            yield timestamp, self.base_offset + offset
            last_timestamp, last_offset = timestamp, offset


class TransactionIndex:
    """The ``.txnindex`` file of a segment: its aborted transactions.

    ``entries`` are ``messages.AbortedTxn``, in the order of the ABORT markers. A
    transaction is in the index of the segment that its marker is in.
    Shape of an entry: INT16 version and ``AbortedTxn``, 34 bytes. Source:
    ``TransactionIndex``. Raises ``DecodeError`` with the file in its path.
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


def _base_offset(path: Place, given: int | None) -> int:
    found = parse_base_offset(path.name) if given is None else given
    if found is None:
        raise TypeError(
            f"{str(path)!r} does not begin with a base offset of 20 digits; pass"
            " base_offset="
        )
    return found


def _has_stray(data: bytes, end: int) -> bool:
    """Whether bytes other than zeros follow the entries: mostly 10 MiB of zeros."""
    return data.count(0, end) != len(data) - end


def _whole(data: bytes, entry: struct.Struct) -> memoryview:
    return memoryview(data)[: len(data) // entry.size * entry.size]
