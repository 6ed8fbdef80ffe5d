# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``FileBytes``: makes a file available as one buffer, regardless of its size.

With "map" access, the file is mapped into memory. With "read" access, ranges are read
into an anonymous buffer that has the same length. This is intended for network file
systems, and for files that may be truncated by another process, because truncation
kills processes that map the file. On systems with ``madvise``, only the bytes since the
last ``fill`` stay in memory.
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

_PAGE_BYTES = 2 << 20
"""Granularity for freeing memory, in bytes.

This is the size of a large page, because freeing small pages takes longer than reading.
"""

_RANGE_BYTES = 1 << 20
"""Maximum number of bytes that one read call requests."""

_AHEAD_BYTES = 1 << 18
"""Number of bytes after ``stop`` that one read call may include, because the last batch
usually extends beyond ``stop``.
"""

_CAN_DROP = hasattr(mmap.mmap, "madvise") and hasattr(mmap, "MADV_DONTNEED")


def reserve_buffer(size: int) -> mmap.mmap | bytes:
    """Reserve a buffer for a file.

    Memory is only allocated for pages that are written.
    """
    if not size:
        return b""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return mmap.mmap(-1, size)
    # A private mapping is required, because a shared mapping keeps dropped pages.
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    flags |= getattr(mmap, "MAP_NORESERVE", 0)
    buffer = mmap.mmap(-1, size, flags=flags)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # fails if the kernel does not support large pages
            buffer.madvise(mmap.MADV_HUGEPAGE)
    return buffer


class FileBytes:
    """Open file, whose bytes are available in one buffer.

    * ``data``: buffer for the whole file. It contains the bytes that ``fill`` has
      loaded.
    * ``size``: file size in bytes when the file was opened. The size decreases if the
      file is truncated later. Bytes that are appended later are not visible.
    * ``stop``: position at which the required range ends. Bytes after this position can
      be read, but are not loaded in advance.
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
            self.data = self._make_buffer()
        except BaseException:
            self._file.close()
            raise
        # Byte positions between which the file is currently loaded in memory.
        self._first = self._last = 0

    def _make_buffer(self) -> mmap.mmap | bytes:
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
        # The memory map is released automatically when its last view is deleted.
        self._file.close()
        self.data = b""
        self.size = 0

    def fill(self, start: int, end: int) -> int:
        """Load bytes from ``start`` to ``end``, and free memory before ``start``.

        Returns the position where the loaded range ends. It is lower than ``end`` if
        the file ends earlier, and may also be lower if the file is in remote storage.
        In this case, call ``fill`` again.
        """
        self._update_size()
        end = min(end, self.size)
        if not self._first <= start <= self._last:
            self._free_memory(self._last)
            self._first = self._last = start
        else:
            self._free_memory(start)
        if end > self._last:
            self._last = end if self._mapped else self._read_range(self._last, end)
        return min(end, self._last)

    def has_shrunk(self) -> bool:
        """Whether the file turned out to be shorter than the loaded range.

        Always False for a file, because ``fill`` itself detects truncation and
        decreases ``size``. ``StoredBytes`` overrides this method.
        """
        return False

    def _update_size(self) -> None:
        """Decrease ``size`` if a mapped file has been truncated.

        Reading mapped pages after the end of the file would kill the process.
        """
        if self._mapped:
            self.size = min(self.size, os.fstat(self._file.fileno()).st_size)

    def _read_range(self, start: int, end: int) -> int:
        """Read a range into the buffer. Returns the position where it ends."""
        end = min(end, max(self.stop, start) + _AHEAD_BYTES)
        with memoryview(self.data) as view:
            while start < end:
                self._file.seek(start)
                count = self._file.readinto(
                    view[start : min(end, start + _RANGE_BYTES)]
                )
                if not count:
                    self.size = start
                    break
                start += count
        return start

    def _free_memory(self, end: int) -> None:
        """Free the loaded pages before the byte position ``end``."""
        first, last = (
            self._first // _PAGE_BYTES * _PAGE_BYTES,
            end // _PAGE_BYTES * _PAGE_BYTES,
        )
        if last > first and _CAN_DROP and isinstance(self.data, mmap.mmap):
            self.data.madvise(mmap.MADV_DONTNEED, first, last - first)
        self._first = max(self._first, end)
