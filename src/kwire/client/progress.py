# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The progress of a scan: as numbers for a function, or as a bar on stderr (rich)."""

from __future__ import annotations

from typing import Any, NamedTuple

from .._text import format_size


class ScanProgress(NamedTuple):
    """How far a scan is, after one more chunk.

    Offsets are counted, not records, because compaction and transactions leave gaps.
    ``total_offsets`` is None if the scan follows its topics, or until the ends of all
    partitions are known. ``received_bytes`` is the size of the record batches.
    """

    done_offsets: int
    total_offsets: int | None
    received_bytes: int


class ProgressBar:
    """Shows the progress of one scan on stderr."""

    def __init__(self) -> None:
        try:
            from rich import progress as rich_progress
            from rich.console import Console
        except ImportError:
            raise ImportError(
                "progress=True requires rich: pip install 'kwire[cli]', or pass a"
                " function that is called with a ScanProgress"
            ) from None
        self._bar: Any = rich_progress.Progress(
            rich_progress.TextColumn("{task.description}"),
            rich_progress.BarColumn(),
            rich_progress.TaskProgressColumn(),
            rich_progress.TextColumn("{task.fields[size]}"),
            rich_progress.TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task: Any = None

    def show(self, progress: ScanProgress) -> None:
        """Draw the bar, which appears with the first call."""
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task("reading", total=None, size="")
        self._bar.update(
            self._task,
            completed=progress.done_offsets,
            total=progress.total_offsets,
            size=format_size(progress.received_bytes),
        )

    def close(self) -> None:
        """Stop drawing. The last state of the bar stays on the terminal."""
        self._bar.stop()
