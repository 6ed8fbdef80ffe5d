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
from typing import TYPE_CHECKING

from ..errors import DecodeError, InvalidValue, LimitExceeded, UnsupportedVersion
from ..formatting import format_name
from ..framing import decode_prefixed
from ..limits import DEFAULT
from ..messages import AbortedTxn
from ..regular_files import open_regular
from .problems import in_file
from .storage import StoredPath, locate

if TYPE_CHECKING:
    from ..limits import Limits
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


class OffsetIndex:
    """The ``.index`` file of a segment: where the batches of some offsets are.

    ``entries`` are (offset, position) pairs, ascending: the batch at byte ``position``
    begins at ``offset`` or below, and all batches before it end below ``offset``.
    ``has_stray_bytes`` says whether bytes other than zeros follow them.
    Shape: INT32 offset less the base offset, INT32 position. Source: ``OffsetIndex``.
    """

    __slots__ = ("base_offset", "entries", "has_stray_bytes", "path")

    def __init__(
        self,
        path: Named,
        base_offset: int | None = None,
        *,
        limits: Limits = DEFAULT,
    ) -> None:
        self.path = locate(path)
        self.base_offset = _base_offset(self.path, base_offset)
        data = read_small_file(path, limits)
        entries: list[tuple[int, int]] = []
        last_offset = last_position = -1
        for offset, position in _OFFSET_ENTRY.iter_unpack(_whole(data, _OFFSET_ENTRY)):
            if offset <= last_offset or position <= last_position:
                break
            if not offset and not position:
                break
            entries.append((self.base_offset + offset, position))
            last_offset, last_position = offset, position
        self.entries = tuple(entries)
        self.has_stray_bytes = _has_stray(data, len(entries) * _OFFSET_ENTRY.size)


class TimeIndex:
    """The ``.timeindex`` file of a segment: the max timestamps up to some offsets.

    ``entries`` are (timestamp in ms, offset) pairs, ascending: up to ``offset`` no
    record of the segment is later than ``timestamp``. ``has_stray_bytes`` as above.
    Shape: INT64 timestamp, INT32 offset less the base offset. Source: ``TimeIndex``.
    """

    __slots__ = ("base_offset", "entries", "has_stray_bytes", "path")

    def __init__(
        self,
        path: Named,
        base_offset: int | None = None,
        *,
        limits: Limits = DEFAULT,
    ) -> None:
        self.path = locate(path)
        self.base_offset = _base_offset(self.path, base_offset)
        data = read_small_file(path, limits)
        entries: list[tuple[int, int]] = []
        last_timestamp = last_offset = -1
        for timestamp, offset in _TIME_ENTRY.iter_unpack(_whole(data, _TIME_ENTRY)):
            if timestamp <= last_timestamp or offset < last_offset:
                break
            if not timestamp and not offset:
                break
            entries.append((timestamp, self.base_offset + offset))
            last_timestamp, last_offset = timestamp, offset
        self.entries = tuple(entries)
        self.has_stray_bytes = _has_stray(data, len(entries) * _TIME_ENTRY.size)


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
