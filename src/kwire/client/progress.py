# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ScanProgress`` and ``ProgressBar``: report a scan's progress.

A scan passes the numbers to a function of the user, or shows a progress bar of rich.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._text import format_size


class ScanProgress(NamedTuple):
    """Progress of a scan after a chunk.

    The scan counts offsets instead of records, because compaction and transactions
    leave gaps between the offsets of records.

    * ``done_offsets``: number of offsets that the chunks so far have covered.
    * ``total_offsets``: number of offsets in the whole scan. None if the scan follows
      its topics, or until the end offsets of all partitions are known.
    * ``received_bytes``: size of the received record batches, before decompression.
    """

    done_offsets: int
    total_offsets: int | None
    received_bytes: int


class ProgressBar:
    """Shows the progress of one scan on stderr.

    Raises ``ImportError`` if rich is not installed.
    """

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
        """Update the bar. The first call draws it."""
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
        """Stop updating the bar. Its last state remains on the terminal."""
        self._bar.stop()
