# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FileBytes``: the bytes of a file of any size, in a buffer as long as the file.

``map`` is a memory map of the file. ``read`` is a buffer as long as the file, which is
filled by reading ranges: for network file systems, and for files that may be cut
meanwhile, which kills a process that has them mapped. Either way only the bytes since
the last ``fill`` stay in memory, where the system has ``madvise``.
"""

from __future__ import annotations

import mmap
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from .._files import open_regular

if TYPE_CHECKING:
    from types import TracebackType

    Access = Literal["map", "read"]

_PAGE = 2 << 20
"""What is dropped at once: a large page, as small ones take longer than reading."""

_RANGE = 1 << 20

_AHEAD = 1 << 18
"""Bytes that are read at once after the part that is wanted."""

_CAN_DROP = hasattr(mmap.mmap, "madvise") and hasattr(mmap, "MADV_DONTNEED")


def reserve_buffer(size: int) -> mmap.mmap | bytes:
    """Reserve a buffer as long as a file; pages take memory once they are written."""
    if not size:
        return b""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    # Private, or dropped pages would be kept.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    flags |= getattr(mmap, "MAP_NORESERVE", 0)
    place = mmap.mmap(-1, size, flags=flags)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel without large pages
            place.madvise(mmap.MADV_HUGEPAGE)
    return place


class FileBytes:
    """An open file: ``data`` has its bytes once ``fill`` was called for them.

    ``size`` is the file's, in bytes, as it was when opened, or less if the file was
    found to be shorter since. Bytes that are appended later are not seen. ``stop`` is
    where the part ends that is wanted; reading on is fine, but not done in advance.
    """

    __slots__ = ("_file", "_first", "_last", "_mapped", "data", "size", "stop")

    data: mmap.mmap | bytes

    def __init__(self, path: str | os.PathLike[str], access: Access) -> None:
        if access not in ("map", "read"):
            raise TypeError(f'access must be "map" or "read" (got {access!r:.40})')
        self._mapped = access == "map"
        self._file: Any = open_regular(path, buffering=0)
        try:
            self.size = self.stop = os.fstat(self._file.fileno()).st_size
            self.data = self._open()
        except BaseException:
            self._file.close()
            raise
        # What is in memory, in bytes of the file.
        self._first = self._last = 0

    def _open(self) -> mmap.mmap | bytes:
        if not self.size:
            return b""
        if self._mapped:
            return mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ)
        return reserve_buffer(self.size)

    def __enter__(self) -> FileBytes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The map itself goes when the last of those who look at it is gone.
        self._file.close()
        self.data = b""
        self.size = 0

    def fill(self, start: int, end: int) -> int:
        """Load the bytes from ``start`` to ``end``, and drop those before them.

        Returns the end of what there is, which is less at the end of the file, and may
        be less elsewhere for a file that is not at hand.
        """
        self._look()
        end = min(end, self.size)
        if not self._first <= start <= self._last:
            self._drop(self._last)
            self._first = self._last = start
        else:
            self._drop(start)
        if end > self._last:
            self._last = end if self._mapped else self._read(self._last, end)
        return min(end, self._last)

    def has_shrunk(self) -> bool:
        """Whether damage may be a part of the file that was cut; True once."""
        return False

    def _look(self) -> None:
        """Detect a file that was cut, before a page after its end is read."""
        if self._mapped:
            self.size = min(self.size, os.fstat(self._file.fileno()).st_size)

    def _read(self, start: int, end: int) -> int:
        end = min(end, max(self.stop, start) + _AHEAD)
        with memoryview(self.data) as view:
            while start < end:
                self._file.seek(start)
                count = self._file.readinto(view[start : min(end, start + _RANGE)])
                if not count:
                    self.size = start
                    break
                start += count
        return start

    def _drop(self, end: int) -> None:
        first, last = self._first // _PAGE * _PAGE, end // _PAGE * _PAGE
        if last > first and _CAN_DROP and isinstance(self.data, mmap.mmap):
            self.data.madvise(mmap.MADV_DONTNEED, first, last - first)
        self._first = max(self._first, end)
