# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``StoredBytes``: the bytes of an object in a store, used as ``FileBytes`` is.

Ranges are small at first, as a seek looks at one batch, and grow while reading
goes on; then one range is fetched while the one before it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._limits import MIB
from .file_bytes import FileBytes, reserve_buffer

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from types import TracebackType

    from .storage import StoredPath

_FIRST = MIB // 4
_LARGEST = 8 * MIB


class StoredBytes(FileBytes):
    """An open object: ``data`` has its bytes once ``fill`` was called for them.

    ``fill`` may return less than was asked for, and more when it is called again.
    ``size`` becomes less if the object was found to be shorter since it was opened.
    Raises ``OSError`` with the URI for what the store does not give.
    """

    __slots__ = ("_ahead", "_begin", "_path", "_range", "_reader", "_seen", "_thread")

    def __init__(self, path: StoredPath) -> None:
        self._path = path
        self._reader = path.open()
        self.size = self.stop = self._reader.size
        self.data = reserve_buffer(self.size)
        self._mapped = False
        self._first = self._last = self._begin = self._seen = 0
        self._range = _FIRST
        self._thread: ThreadPoolExecutor | None = None
        self._ahead: tuple[Future[bytes], int] | None = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._thread is not None:
            # It may be reading still from what is closed next.
            self._thread.shutdown(cancel_futures=True)
        self._reader.close()
        self.data = b""
        self.size = 0

    def has_shrunk(self) -> bool:
        """Request the size again, as some clients return garbage for lost bytes."""
        if self._seen == self._last:
            return False
        self._seen = self._last
        size = self._path.size_now()
        if size >= self._last:
            return False
        self.size = self._last = size
        return True

    def _read(self, start: int, end: int) -> int:
        if start != self._begin:
            self._range, self._ahead = _FIRST, None
        if self._ahead is None:
            end = self._end_of_range(start)
            found = self._path.read(self._reader, start, end)
        else:
            ahead, end = self._ahead
            self._ahead, found = None, ahead.result()
        self._begin = after = start + len(found)
        if after < end:
            self.size = after
        with memoryview(self.data) as view:
            view[start:after] = found
        self._range = min(4 * self._range, _LARGEST)
        if self._range == _LARGEST and after < min(self.stop, self.size):
            self._read_ahead(after)
        return after

    def _end_of_range(self, start: int) -> int:
        # After the part that is wanted comes the rest of one batch.
        wanted = max(self.stop, start + _FIRST)
        return min(start + self._range, wanted, self.size)

    def _read_ahead(self, start: int) -> None:
        if self._thread is None:
            from concurrent.futures import ThreadPoolExecutor

            self._thread = ThreadPoolExecutor(1, "kwire-read-ahead")
        end = self._end_of_range(start)
        future = self._thread.submit(self._path.read, self._reader, start, end)
        self._ahead = future, end
