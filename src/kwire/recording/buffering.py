# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decides when a recording's rows are written, and merges small files.

``flush_s`` limits how many seconds of traffic are lost if the process is killed. Rows
wait in memory for at most a third of this time, and the other two thirds are reserved
for writing them. Frequent flushes create small files, so all files from the same minute
are merged at the end of that minute. This module does not use sockets or decode frames.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .capture_files import CaptureFile, CaptureWriter

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from ..messages.frame_splitter import Frame

FLUSH_BYTES = 64 << 20
"""Number of buffered bytes at which the buffer is full. A full buffer is flushed before
the flush interval has ended, and accepts no more rows until then.
"""

_MERGED_BYTES = 64 << 20
"""Maximum size of a merged file, measured as buffered bytes before compression."""

_ROW_BYTES = 200
"""Estimated size of a row in memory without its frame."""


class CaptureBuffer:
    """Buffers rows on the event loop and writes them to files in worker threads.

    * ``out``: directory in which the recording creates its own directory.
    * ``flush_s``: maximum traffic loss in seconds if the process is killed.
    * ``on_room``: called when ``has_room`` becomes true again after the buffer was
      full.

    Further attributes:

    * ``frames``: number of all added frames.
    * ``size``: total size of all added frames in bytes.
    * ``safe``: number of frames that are stored on disk. Because rows are written in
      order, the stored frames have the lowest sequence numbers.
    """

    def __init__(
        self,
        out: str | os.PathLike[str],
        flush_s: float = 1.0,
        on_room: Callable[[], None] | None = None,
    ) -> None:
        self._writer = CaptureWriter(out)
        self.folder = self._writer.folder
        self.recording = self._writer.recording
        self.frames = 0
        self.size = 0
        self.safe = 0
        self._wait_s = flush_s / 3
        # Rows that are waiting to be written.
        self._rows: list[tuple[Any, ...]] = []
        # Estimated size in bytes of these rows in memory.
        self._waiting_bytes = 0
        self._is_full = asyncio.Event()
        self._on_room = on_room
        # Files that have not been merged yet, as tuples with the minute in which the
        # file was written, the file, and its size in bytes.
        self._small_files: list[tuple[int, CaptureFile, int]] = []
        self._merging: asyncio.Task[None] | None = None

    def add(
        self,
        connection: int,
        direction: str,
        timestamp: int,
        client_address: str,
        broker_address: str,
        header: tuple[int | None, int | None, int | None, str | None],
        size: int,
        frame: Frame | None,
        rewritten: bool,
    ) -> None:
        """Add one frame as a row. Its sequence number is assigned automatically.

        * ``connection``: number of the connection within the recording.
        * ``direction``: ``REQUEST`` or ``RESPONSE``.
        * ``timestamp``: time of arrival in microseconds since 1970.
        * ``client_address``, ``broker_address``: the two peers as "host:port".
        * ``header``: API key, API version, correlation id and client id. Unknown values
          are None.
        * ``size``: frame size in bytes.
        * ``frame``: content of the frame, or None if it must not be stored.
        * ``rewritten``: whether the relay forwarded a changed frame.
        """
        self._rows.append(
            (
                connection,
                self.frames,
                direction,
                timestamp,
                client_address,
                broker_address,
                *header,
                size,
                frame,
                rewritten,
            )
        )
        self.frames += 1
        self.size += size
        self._waiting_bytes += size + _ROW_BYTES
        if self._waiting_bytes >= FLUSH_BYTES:
            self._is_full.set()

    @property
    def has_room(self) -> bool:
        """Whether the buffer can accept more rows.

        False while 64 MiB or more are waiting to be written.
        """
        return self._waiting_bytes < FLUSH_BYTES

    async def run(self) -> None:
        """Flush the buffered rows periodically until the task is cancelled.

        Raises ``OSError`` if a file cannot be written.
        """
        loop = asyncio.get_running_loop()
        due = loop.time() + self._wait_s
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._is_full.wait()
            # Schedule the next flush now instead of after the write, because new rows
            # keep arriving while the write runs.
            due = loop.time() + self._wait_s
            await self._flush()
            self._merge_past_minutes()

    async def close(self) -> None:
        """Write the remaining rows and merge the remaining small files.

        Removes the recording's directory if no frame was recorded. Raises ``OSError``
        if a file cannot be written.
        """
        await self._flush()
        if self._merging is not None:
            await self._merging
        await self._merge_groups(self._pop_merge_groups(None))
        if not self.frames:
            # An empty directory contains no capture files, so readers would reject it.
            with suppress(OSError):
                self.folder.rmdir()

    async def _flush(self) -> None:
        """Write all buffered rows to one file, in a worker thread."""
        rows, size = self._rows, self._waiting_bytes
        self._rows, self._waiting_bytes = [], 0
        if self._is_full.is_set():
            self._is_full.clear()
            if self._on_room is not None:
                self._on_room()
        if not rows:
            return
        writing = asyncio.create_task(asyncio.to_thread(self._writer.write, rows))
        try:
            # The rows have already left the buffer. To prevent their loss, finish
            # writing them before the cancellation continues.
            file = await asyncio.shield(writing)
        except asyncio.CancelledError:
            self._add_small_file(await writing, len(rows), size)
            raise
        self._add_small_file(file, len(rows), size)

    def _add_small_file(self, file: CaptureFile, count: int, size: int) -> None:
        self.safe += count
        self._small_files.append((_current_minute(), file, size))

    def _merge_past_minutes(self) -> None:
        """Start merging files from past minutes, unless a merge is already running."""
        if self._merging is not None and not self._merging.done():
            return
        if groups := self._pop_merge_groups(_current_minute()):
            self._merging = asyncio.create_task(self._merge_groups(groups))

    def _pop_merge_groups(self, before: int | None) -> list[list[CaptureFile]]:
        """Remove finished files from the list, and group the files to be merged.

        Files from the same minute form a group, limited to ``_MERGED_BYTES``.
        ``before`` excludes this minute and all later minutes. None includes all files.
        A file that remains alone in its group keeps its name and is not returned.
        """
        groups: list[list[CaptureFile]] = []
        group_minute, free_bytes = None, 0
        while self._small_files and (
            before is None or self._small_files[0][0] < before
        ):
            minute, file, size = self._small_files.pop(0)
            if minute != group_minute or size > free_bytes:
                groups.append([])
                group_minute, free_bytes = minute, _MERGED_BYTES
            groups[-1].append(file)
            free_bytes -= size
        return [group for group in groups if len(group) > 1]

    async def _merge_groups(self, groups: list[list[CaptureFile]]) -> None:
        for group in groups:
            # A failed merge loses no data, because the small files remain complete.
            # Readers accept them in place of the merged file.
            with suppress(OSError):
                await asyncio.to_thread(self._writer.merge, group)


def _current_minute() -> int:
    """Return the current time as whole minutes since 1970."""
    return int(time.time() // 60)
