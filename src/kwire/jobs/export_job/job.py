# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``export``: its three passes of tasks, and the tables that they lead to."""

from __future__ import annotations

import os
import shutil
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._limits import DEFAULT, MIB, Limits
from .. import running
from ..tables import Output, make_table
from .decide import DecideTask, Decision, PartitionTask, decide
from .inputs import find_inputs
from .outcome import TABLES, ExportOutcome, make_outcome
from .page import write_page
from .records import WriteSummary, WriteTask, write
from .scan import ScanTask, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from ..tables import Result
    from .inputs import ExportInputs
    from .scan import FileScan

TASK_BYTES = 128 * MIB
"""About how much input a task reads."""

_TASK_BATCHES = 200_000
"""About how many batches a task decides on, if partitions have fewer."""


def export(
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    topics: Collection[str] | None = None,
    partitions: Collection[int] | None = None,
    include: Collection[str] = (),
    spark: Any = None,
    progress: Callable[[int], object] | None = None,
    compression: str = "zstd",
    limits: Limits = DEFAULT,
) -> Result:
    """Recover the records of log directories, damaged or not, into Parquet files.

    ``paths`` are data directories of one or several brokers, folders above them, or
    tiered storage. Of replicas the best copy of each batch is taken; every record that
    any of them holds comes once. Writes the tables ``records``, ``batches``,
    ``problems``, ``coverage`` and ``lost``, and a page, to the folder ``out``;
    ``findings`` is the number of lost ranges. ``topics`` and ``partitions`` are
    those wanted, ``include`` states as in ``LogDirectory``. ``progress`` is called with
    bytes, of which there are as many as in the segments.
    ``FileNotFoundError`` where there is no partition. Memory: about 300 bytes for each
    batch of a partition and its replicas, or of several small partitions; a few MiB for
    each other task, whatever the size of the segments; and ``limits`` for a batch.
    """
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise ImportError(
            "export requires numpy: pip install kwire[arrow]", name="numpy"
        ) from None
    found = find_inputs(paths, topics, partitions, include)
    total = sum(segment.size for _, segment in found.segments)
    with Output(out) as output, running.open_runner(spark, total, progress) as run:
        outcome = _Passes(output, run, compression, limits).run(found, total)
        for name, columns in TABLES.items():
            output.write_table(name, make_table(columns, getattr(outcome, name)))
        output.write_report(write_page(outcome))
    return output.result(len(outcome.lost))


class _Passes:
    """The three passes; ``run_tasks`` is that of ``running.open_runner``."""

    def __init__(
        self,
        output: Output,
        run_tasks: Callable[..., list[Any]],
        compression: str,
        limits: Limits,
    ) -> None:
        self._output = output
        self._run_tasks = run_tasks
        self._compression = compression
        self._limits = limits

    def run(self, found: ExportInputs, total: int) -> ExportOutcome:
        """Run all passes."""
        scratch = Path(self._output.table_path("batches")).parent.parent / "headers"
        scratch.mkdir()
        decisions = self._decide(found, self._scan(found, total, scratch))
        shutil.rmtree(scratch)
        written = self._write(decisions, total - total // 2)
        return make_outcome(found, total, decisions, written)

    def _scan(self, found: ExportInputs, total: int, scratch: Path) -> list[FileScan]:
        sized = [(segment.size, (place, segment)) for place, segment in found.segments]
        packs = running.pack_tasks(sized, TASK_BYTES)
        tasks = [
            ScanTask(str(scratch / f"{number}.arrow"), pack, self._limits)
            for number, pack in enumerate(packs)
        ]
        # Half of the work, as far as a progress bar is concerned.
        sizes = _shares(total // 2, [sum(s.size for _, s in pack) for pack in packs])
        scans = self._run_tasks(scan, tasks, sizes=sizes)
        return [each for several in scans for each in several]

    def _decide(self, found: ExportInputs, scans: list[FileScan]) -> list[Decision]:
        files: dict[str, list[FileScan]] = {}
        for each in scans:
            files.setdefault(each.folder, []).append(each)
        sized = []
        for key in sorted(found.folders):
            folders = tuple(found.folders[key])
            own = tuple(f for folder in folders for f in files.get(folder.path, ()))
            batches = sum(each.batches for each in own)
            sized.append((batches, PartitionTask(*key, folders, own)))
        tasks = [
            DecideTask(
                pack,
                self._output.table_path("batches", number),
                TASK_BYTES,
                self._compression,
                self._limits,
            )
            for number, pack in enumerate(running.pack_tasks(sized, _TASK_BATCHES))
        ]
        decided = self._run_tasks(decide, tasks, sizes=[0] * len(tasks))
        return [each for several in decided for each in several]

    def _write(self, decisions: list[Decision], share: int) -> list[WriteSummary]:
        sized = [
            (step.size, (each.topic, each.partition, step))
            for each in decisions
            for step in each.steps
        ]
        packs = running.pack_tasks(sized, TASK_BYTES)
        tasks = [
            WriteTask(
                self._output.table_path("records", number),
                pack,
                self._compression,
                self._limits,
            )
            for number, pack in enumerate(packs)
        ]
        sizes = _shares(share, [sum(p.size for _, _, p in pack) for pack in packs])
        return self._run_tasks(write, tasks, sizes=sizes)


def _shares(whole: int, parts: list[int]) -> list[int]:
    """Divide a number in proportion to the parts, without a remainder."""
    ends = [whole * end // (sum(parts) or 1) for end in accumulate(parts)]
    if ends:
        ends[-1] = whole
    return [end - begin for begin, end in pairwise([0, *ends])]
