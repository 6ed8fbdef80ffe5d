# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""When rows of a recording become files: soon, and in files of a sensible size.

What a kill may cost is a time (``flush_s``): rows wait for a third of it at most, the
rest is for writing them. The small files of a minute become one when it is over.
Nothing here knows sockets or what frames mean.
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
_MERGED_BYTES = 64 << 20
_ROW_BYTES = 200
"""About what a row takes besides its frame."""


class CaptureBuffer:
    """Takes rows on the event loop and has them written by threads.

    ``frames`` and ``size`` count what was taken, ``safe`` the frames that are on the
    disk: those with the lowest sequence numbers. ``on_room`` is called when
    ``has_room`` is true again.
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
        self._rows: list[tuple[Any, ...]] = []
        self._waiting = 0
        self._is_full = asyncio.Event()
        self._on_room = on_room
        self._small: list[tuple[int, CaptureFile, int]] = []
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
        """Take a row; ``timestamp`` is in microseconds, ``header`` has four columns."""
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
        self._waiting += size + _ROW_BYTES
        if self._waiting >= FLUSH_BYTES:
            self._is_full.set()

    @property
    def has_room(self) -> bool:
        """Whether the disk has kept up with what was added."""
        return self._waiting < FLUSH_BYTES

    async def run(self) -> None:
        """Write what comes until cancelled; ``OSError`` when that cannot be done."""
        loop = asyncio.get_running_loop()
        due = loop.time() + self._wait_s
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._is_full.wait()
            # From here on, not from the end of writing: rows come all the time.
            due = loop.time() + self._wait_s
            await self._flush()
            self._merge_what_is_over()

    async def close(self) -> None:
        """Write the rest, and merge what is still in small files."""
        await self._flush()
        if self._merging is not None:
            await self._merging
        await self._merge(self._take_groups(None))
        if not self.frames:
            # A recording of nothing would only be in the way of readers.
            with suppress(OSError):
                self.folder.rmdir()

    async def _flush(self) -> None:
        rows, size = self._rows, self._waiting
        self._rows, self._waiting = [], 0
        if self._is_full.is_set():
            self._is_full.clear()
            if self._on_room is not None:
                self._on_room()
        if not rows:
            return
        writing = asyncio.create_task(asyncio.to_thread(self._writer.write, rows))
        try:
            # A caller that cancels this still wants the rows taken so far to be safe.
            file = await asyncio.shield(writing)
        except asyncio.CancelledError:
            self._remember(await writing, len(rows), size)
            raise
        self._remember(file, len(rows), size)

    def _remember(self, file: CaptureFile, count: int, size: int) -> None:
        self.safe += count
        self._small.append((_minute(), file, size))

    def _merge_what_is_over(self) -> None:
        if self._merging is not None and not self._merging.done():
            return
        if groups := self._take_groups(_minute()):
            self._merging = asyncio.create_task(self._merge(groups))

    def _take_groups(self, before: int | None) -> list[list[CaptureFile]]:
        """Take the neighbours that are to be one, of minutes ``before`` that one."""
        groups: list[list[CaptureFile]] = []
        key, room = None, 0
        while self._small and (before is None or self._small[0][0] < before):
            minute, file, size = self._small.pop(0)
            if minute != key or size > room:
                groups.append([])
                key, room = minute, _MERGED_BYTES
            groups[-1].append(file)
            room -= size
        return [group for group in groups if len(group) > 1]

    async def _merge(self, groups: list[list[CaptureFile]]) -> None:
        for group in groups:
            # Merging is for order alone: where it fails, the small files are whole.
            with suppress(OSError):
                await asyncio.to_thread(self._writer.merge, group)


def _minute() -> int:
    return int(time.time() // 60)
