# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Export job entry point: runs three passes, then writes tables and report."""

from __future__ import annotations

import os
import shutil
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

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
"""Approximate size in bytes of the input files that one task reads."""

_TASK_BATCHES = 200_000
"""Approximate number of batches per decision task, if partitions are small.

A partition is never split, so a single large partition can exceed this number.
"""


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
    """Export the records of log directories to Parquet files, even if they are damaged.

    The best copy of every batch is read, so that a record is written once, even if
    several replicas contain it. Writes the tables ``records``, ``batches``,
    ``problems``, ``coverage`` and ``lost``, and an HTML report.

    * ``paths``: data directories from one or several brokers, directories above them,
      or tiered storage.
    * ``out``: local output directory. It must not exist, or be empty.
    * ``topics``, ``partitions``: only export these topics and partition numbers.
      Default: all.
    * ``include``: states of additional partition directories, as in ``LogDirectory``.
    * ``spark``: see ``running.open_runner``.
    * ``progress``: callback for processed byte counts. They add up to the total segment
      size.
    * ``compression``: Parquet codec for ``records`` and ``batches``.
    * ``limits``: decoding limits for a single batch.

    Returns a ``Result``, where ``findings`` counts lost offset ranges. Raises
    ``FileNotFoundError`` if no partition matches, ``FileExistsError`` if ``out`` exists
    and is not empty, and ``ImportError`` if numpy is not installed. Raises ``JobError``
    if a segment file changes during the export, or if Spark fails.

    Maximum memory per task: about 300 bytes for every batch of a partition and its
    replicas (small partitions are decided together, up to 200,000 batches), a few MiB
    for segment data, and the memory that ``limits`` allows for one batch.
    """
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise ImportError(
            "export requires numpy: pip install kwire[arrow]", name="numpy"
        ) from None
    inputs = find_inputs(paths, topics, partitions, include)
    total = sum(segment.size for _, segment in inputs.segments)
    with Output(out) as output, running.open_runner(spark, total, progress) as run:
        outcome = _Passes(output, run, compression, limits).run(inputs, total)
        for name, columns in TABLES.items():
            output.write_table(name, make_table(columns, getattr(outcome, name)))
        output.write_report(write_page(outcome))
    return output.result(len(outcome.lost))


class _Passes(NamedTuple):
    """Runs the three export passes.

    ``run_tasks`` is the function that ``running.open_runner`` returns.
    """

    output: Output
    run_tasks: Callable[..., list[Any]]
    compression: str
    limits: Limits

    def run(self, inputs: ExportInputs, total: int) -> ExportOutcome:
        """Run all passes, and return the merged results.

        ``total`` is the total segment size in bytes.
        """
        scratch = Path(self.output.table_path("batches")).parent.parent / "headers"
        scratch.mkdir()
        decisions = self._decide_partitions(
            inputs, self._scan_segments(inputs, total, scratch)
        )
        shutil.rmtree(scratch)
        written = self._write_records(decisions, total - total // 2)
        return make_outcome(inputs, total, decisions, written)

    def _scan_segments(
        self, inputs: ExportInputs, total: int, scratch: Path
    ) -> list[FileScan]:
        sized_segments = [
            (segment.size, (folder, segment)) for folder, segment in inputs.segments
        ]
        packs = running.pack_tasks(sized_segments, TASK_BYTES)
        tasks = [
            ScanTask(str(scratch / f"{number}.rows"), pack, self.limits)
            for number, pack in enumerate(packs)
        ]
        # The scan counts as half the progress, because files are read twice.
        sizes = _divide_shares(
            total // 2, [sum(segment.size for _, segment in pack) for pack in packs]
        )
        scans = self.run_tasks(scan, tasks, sizes=sizes)
        return [file_scan for task_scans in scans for file_scan in task_scans]

    def _decide_partitions(
        self, inputs: ExportInputs, scans: list[FileScan]
    ) -> list[Decision]:
        files: dict[str, list[FileScan]] = {}
        for file_scan in scans:
            files.setdefault(file_scan.folder, []).append(file_scan)
        sized_partitions = []
        for key in sorted(inputs.folders):
            folders = tuple(inputs.folders[key])
            partition_files = tuple(
                file for folder in folders for file in files.get(folder.path, ())
            )
            batches = sum(file_scan.batches for file_scan in partition_files)
            sized_partitions.append(
                (batches, PartitionTask(*key, folders, partition_files))
            )
        tasks = [
            DecideTask(
                pack,
                self.output.table_path("batches", number),
                TASK_BYTES,
                self.compression,
                self.limits,
            )
            for number, pack in enumerate(
                running.pack_tasks(sized_partitions, _TASK_BATCHES)
            )
        ]
        decided = self.run_tasks(decide, tasks, sizes=[0] * len(tasks))
        return [decision for task_decisions in decided for decision in task_decisions]

    def _write_records(
        self, decisions: list[Decision], share: int
    ) -> list[WriteSummary]:
        sized_steps = [
            (step.size, (decision.topic, decision.partition, step))
            for decision in decisions
            for step in decision.steps
        ]
        packs = running.pack_tasks(sized_steps, TASK_BYTES)
        tasks = [
            WriteTask(
                self.output.table_path("records", number),
                pack,
                self.compression,
                self.limits,
            )
            for number, pack in enumerate(packs)
        ]
        sizes = _divide_shares(
            share, [sum(step.size for _, _, step in pack) for pack in packs]
        )
        return self.run_tasks(write, tasks, sizes=sizes)


def _divide_shares(whole: int, parts: list[int]) -> list[int]:
    """Divide an integer in proportion to ``parts``, so that the shares add up to it."""
    ends = [whole * end // (sum(parts) or 1) for end in accumulate(parts)]
    if ends:
        ends[-1] = whole
    return [end - begin for begin, end in pairwise([0, *ends])]
