# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``StoredBytes``: provides the ``FileBytes`` interface for an object in a store.

The first ranges are small, because a seek only requires one batch. Ranges grow while
reading continues. At the maximum size, the next range is fetched in the background.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._limits import MIB
from .file_bytes import FileBytes, reserve_buffer

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from types import TracebackType

    from .storage import StoredPath

_FIRST_RANGE_BYTES = MIB // 4
"""Size in bytes of the first range that is requested after a seek. Every further range
of sequential reading is four times as large, up to ``_MAX_RANGE_BYTES``.
"""

_MAX_RANGE_BYTES = 8 * MIB
"""Maximum size in bytes of a range that is requested from the store."""


class StoredBytes(FileBytes):
    """Open object in a store, with the interface of ``FileBytes``.

    A call of ``fill`` may load fewer bytes than requested. Further calls load the
    remaining bytes. ``size`` decreases if the object has been replaced with a shorter
    object since it was opened. Raises ``OSError`` with the URI if the store returns an
    error.
    """

    __slots__ = ("_ahead", "_begin", "_path", "_range", "_reader", "_seen", "_thread")

    def __init__(self, path: StoredPath) -> None:
        self._path = path
        self._reader = path.open()
        self.size = self.stop = self._reader.size
        self.data = reserve_buffer(self.size)
        self._mapped = False
        # Byte positions in the object:
        #   _first, _last  loaded range
        #   _begin         position at which sequential reading continues
        #   _seen          end of the loaded range when the size was last verified
        self._first = self._last = self._begin = self._seen = 0
        self._range = _FIRST_RANGE_BYTES
        self._thread: ThreadPoolExecutor | None = None
        self._ahead: tuple[Future[bytes], int] | None = None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._thread is not None:
            # A background read may still use the reader, which is closed next.
            self._thread.shutdown(cancel_futures=True)
        self._reader.close()
        self.data = b""
        self.size = 0

    def has_shrunk(self) -> bool:
        """Whether the object is now shorter than the loaded range.

        Some client libraries return garbage for missing bytes, so the current size is
        requested, at most once per loaded range. If the object is shorter, ``size`` is
        decreased. Raises ``OSError`` if the request fails.
        """
        if self._seen == self._last:
            return False
        self._seen = self._last
        size = self._path.size_now()
        if size >= self._last:
            return False
        self.size = self._last = size
        return True

    def _read_range(self, start: int, end: int) -> int:
        if start != self._begin:
            self._range, self._ahead = _FIRST_RANGE_BYTES, None
        if self._ahead is None:
            end = self._find_range_end(start)
            data = self._path.read(self._reader, start, end)
        else:
            ahead, end = self._ahead
            self._ahead, data = None, ahead.result()
        self._begin = data_end = start + len(data)
        if data_end < end:
            self.size = data_end
        with memoryview(self.data) as view:
            view[start:data_end] = data
        self._range = min(4 * self._range, _MAX_RANGE_BYTES)
        if self._range == _MAX_RANGE_BYTES and data_end < min(self.stop, self.size):
            self._read_ahead(data_end)
        return data_end

    def _find_range_end(self, start: int) -> int:
        """Return the end position of the range to fetch from position ``start``."""
        # Past ``stop``, only the remainder of one batch is still required.
        required_end = max(self.stop, start + _FIRST_RANGE_BYTES)
        return min(start + self._range, required_end, self.size)

    def _read_ahead(self, start: int) -> None:
        """Start fetching the range that begins at ``start``, in a background thread."""
        if self._thread is None:
            from concurrent.futures import ThreadPoolExecutor

            self._thread = ThreadPoolExecutor(1, "kwire-read-ahead")
        end = self._find_range_end(start)
        future = self._thread.submit(self._path.read, self._reader, start, end)
        self._ahead = future, end
