# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Segment recovery: all that any replica holds as Parquet, and what none does.

Three passes of tasks: ``export_scan`` finds the good batches of each file,
``export_losses`` decides which copy of each is taken and what is lost, and
``export_records`` writes the records. Here they are put together, and their summaries
become the small tables; the page is ``export_page``'s.
"""

from __future__ import annotations

import os
import shutil
from contextlib import nullcontext
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from ..arrow_types import load_arrow_types
from ..limits import DEFAULT, MIB, Limits
from . import export_page, running
from .export_choice import Sums
from .export_inputs import find_inputs
from .export_losses import DecideTask, Decision, Finding, Lost, PartitionTask, decide
from .export_ranges import count, overlapping, union, without
from .export_records import WriteTask, Written, write
from .export_scan import ScanTask, scan
from .tables import Output, load_pyarrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any, TypeVar

    from .export_inputs import Found
    from .export_ranges import Range
    from .export_scan import FileScan
    from .tables import Result

    Thing = TypeVar("Thing")

TASK_BYTES = 128 * MIB
"""About how much input a task reads."""

_TASK_BATCHES = 200_000
"""About how many batches a task decides on, if partitions have fewer."""


class Outcome(NamedTuple):
    """All rows of the small tables, as the page shows them too."""

    coverage: list[dict[str, Any]]
    lost: list[dict[str, Any]]
    problems: list[dict[str, Any]]
    codecs: dict[str, Sums]
    bytes_read: int
    folders: int


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
    ``FileNotFoundError`` where there is no partition. Memory: a few MiB for each task
    at work, whatever the size of the segments, and ``limits`` for a batch.
    """
    found = find_inputs(paths, topics, partitions, include)
    total = sum(segment.size for _, segment in found.segments)
    if spark is None:
        spark = running.choose_spark(None, total)
    session = running.open_session(spark) if isinstance(spark, str) else None
    with Output(out) as output, session or nullcontext(spark) as on:
        work = _Work(output, on, progress, compression, limits)
        outcome = work.run(found, total)
        for name, rows in outcome._asdict().items():
            if name in _SCHEMAS:
                output.write_table(name, _table(name, rows))
        output.write_report(export_page.page(outcome))
    return output.result(len(outcome.lost))


class _Work:
    """The three passes, on whatever runs tasks."""

    def __init__(
        self,
        output: Output,
        spark: Any,
        progress: Callable[[int], object] | None,
        compression: str,
        limits: Limits,
    ) -> None:
        self._output = output
        self._options = {"spark": spark, "progress": progress}
        self._compression = compression
        self._limits = limits

    def run(self, found: Found, total: int) -> Outcome:
        """Run all passes."""
        scratch = Path(self._output.table_path("batches")).parent.parent / "headers"
        scratch.mkdir()
        decisions = self._decide(found, self._scan(found, total, scratch))
        shutil.rmtree(scratch)
        written = self._write(decisions, total - total // 2)
        return _outcome(found, total, decisions, written)

    def _scan(self, found: Found, total: int, scratch: Path) -> list[FileScan]:
        sized = [(segment.size, (place, segment)) for place, segment in found.segments]
        packs = list(_packed(sized, TASK_BYTES))
        tasks = [
            ScanTask(str(scratch / f"{number}.arrow"), pack, self._limits)
            for number, pack in enumerate(packs)
        ]
        # Half of the work, as far as a progress bar is concerned.
        sizes = _shares(total // 2, [sum(s.size for _, s in pack) for pack in packs])
        scans = running.run_tasks(scan, tasks, sizes=sizes, **self._options)
        return [each for several in scans for each in several]

    def _decide(self, found: Found, scans: list[FileScan]) -> list[Decision]:
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
            for number, pack in enumerate(_packed(sized, _TASK_BATCHES))
        ]
        decided = running.run_tasks(
            decide, tasks, sizes=[0] * len(tasks), **self._options
        )
        return [each for several in decided for each in several]

    def _write(self, decisions: list[Decision], share: int) -> list[Written]:
        sized = [
            (piece.size, (each.topic, each.partition, piece))
            for each in decisions
            for piece in each.pieces
        ]
        packs = list(_packed(sized, TASK_BYTES)) or [()]
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
        return running.run_tasks(write, tasks, sizes=sizes, **self._options)


def _packed(
    sized: Iterable[tuple[int, Thing]], most: int
) -> Iterator[tuple[Thing, ...]]:
    """Pack things that belong together into tasks of about a size."""
    pack: list[Thing] = []
    filled = 0
    for size, thing in sized:
        if pack and filled + size > most:
            yield tuple(pack)
            pack, filled = [], 0
        pack.append(thing)
        filled += size
    if pack:
        yield tuple(pack)


def _shares(whole: int, parts: list[int]) -> list[int]:
    """Divide a number in proportion to the parts, without a remainder."""
    ends = [whole * end // (sum(parts) or 1) for end in accumulate(parts)]
    if ends:
        ends[-1] = whole
    return [end - begin for begin, end in pairwise([0, *ends])]


def _outcome(
    found: Found, total: int, decisions: list[Decision], written: list[Written]
) -> Outcome:
    """Bring the summaries of all tasks together."""
    rows: dict[tuple[str, int], int] = {}
    failures: dict[tuple[str, int], list[Finding]] = {}
    undecodable: dict[tuple[str, int], list[Lost]] = {}
    for each in written:
        for key, number in each.rows.items():
            rows[key] = rows.get(key, 0) + number
        for failure in each.failures:
            key = failure.topic, failure.partition
            failures.setdefault(key, []).append(
                Finding(
                    *(failure.path, failure.position, failure.size, "records"),
                    *(failure.error, failure.first_offset, failure.last_offset),
                )
            )
            words = f"records at byte {failure.position} of {failure.path}"
            undecodable.setdefault(key, []).extend(
                Lost(first, last, "undecodable", words) for first, last in failure.lost
            )
        for topic, partition, path, position, announced, read in each.miscounted:
            detail = f"headers announce {announced} records, there are {read}"
            failures.setdefault((topic, partition), []).append(
                Finding(path, position, 0, "count", detail, -1, -1)
            )
    outcome = Outcome([], [], [], {}, total, sum(map(len, found.folders.values())))
    for path, topic, partition, position, reason, detail in found.unreadable:
        finding = Finding(path, position, 0, reason, detail, -1, -1)
        outcome.problems.append(_problem(topic, partition, finding, [], 0))
    for decision in decisions:
        key = decision.topic, decision.partition
        lost = _joined([*decision.lost, *undecodable.get(key, ())])
        ranges = union(each[:2] for each in lost)
        outcome.coverage.append(_coverage(decision, rows.get(key, 0), ranges))
        outcome.lost.extend(
            {
                "topic": decision.topic,
                "partition": decision.partition,
                "first_offset": each.first_offset,
                "last_offset": each.last_offset,
                "offsets": each.last_offset - each.first_offset + 1,
                "reason": each.reason,
                "detail": each.detail,
            }
            for each in lost
        )
        findings = [*decision.findings, *failures.get(key, ())]
        findings.sort(key=lambda each: (each.path, each.position, each.low))
        outcome.problems.extend(
            _problem(*key, each, ranges, decision.end_offset) for each in findings
        )
        for codec, sums in decision.codecs.items():
            before = outcome.codecs.get(codec, Sums())
            outcome.codecs[codec] = Sums(*map(sum, zip(before, sums, strict=True)))
    return outcome


def _joined(lost: list[Lost]) -> list[Lost]:
    """Make one range of those that touch."""
    found: list[Lost] = []
    for each in sorted(lost):
        if found and each.first_offset <= found[-1].last_offset + 1:
            before = found[-1]
            reasons = [before.reason]
            if each.reason not in before.reason.split(", "):
                reasons.append(each.reason)
            found[-1] = Lost(
                before.first_offset,
                max(before.last_offset, each.last_offset),
                ", ".join(reasons),
                f"{before.detail}; {each.detail}",
            )
        else:
            found.append(each)
    return found


def _coverage(decision: Decision, records: int, lost: list[Range]) -> dict[str, Any]:
    start, end = decision.start_offset, decision.end_offset
    whole, gone = end - start, count(lost)
    recovered = without([(start, end - 1)] if whole else [], lost)
    percent = 100.0 * (whole - gone) / whole if whole else 100.0
    return {
        "topic": decision.topic,
        "partition": decision.partition,
        "start_offset": start,
        "end_offset": end,
        "log_start_offset": decision.log_start_offset,
        "records": records,
        "control_batches": decision.control_batches,
        "lost_offsets": gone,
        "lost_ranges": len(lost),
        "ranges": [
            {"first_offset": first, "last_offset": last} for first, last in recovered
        ],
        "is_compacted": decision.is_compacted,
        "replicas": decision.replicas,
        "replicas_agree": decision.replicas_agree,
        # A loss must not be rounded away.
        "recovered_percent": min(percent, 99.99)
        if gone and percent > 99.99
        else percent,
    }


def _problem(
    topic: str, partition: int, finding: Finding, lost: Sequence[Range], end: int
) -> dict[str, Any]:
    low, high = finding.low, finding.high
    is_known = 0 <= low <= high
    return {
        "path": finding.path,
        "topic": topic,
        "partition": partition,
        "position": finding.position,
        "length": finding.length,
        "reason": finding.reason,
        "last_good_offset": low - 1 if low >= 0 else -1,
        "next_good_offset": high + 1 if is_known and high + 1 < end else -1,
        "detail": finding.detail,
        "records_lost": high - low + 1 if is_known else 0 if low < 0 else None,
        "filled": not overlapping(lost, low, high) if is_known else None,
    }


_SCHEMAS = {
    "coverage": {
        "topic": "string",
        "partition": "int",
        "start_offset": "bigint",
        "end_offset": "bigint",
        "log_start_offset": "bigint",
        "records": "bigint",
        "control_batches": "bigint",
        "lost_offsets": "bigint",
        "lost_ranges": "bigint",
        "ranges": "ranges",
        "is_compacted": "boolean",
        "replicas": "int",
        "replicas_agree": "boolean",
        "recovered_percent": "double",
    },
    "lost": {
        "topic": "string",
        "partition": "int",
        "first_offset": "bigint",
        "last_offset": "bigint",
        "offsets": "bigint",
        "reason": "string",
        "detail": "string",
    },
    "problems": {
        "path": "string",
        "topic": "string",
        "partition": "int",
        "position": "bigint",
        "length": "bigint",
        "reason": "string",
        "last_good_offset": "bigint",
        "next_good_offset": "bigint",
        "detail": "string",
        "records_lost": "bigint",
        "filled": "boolean",
    },
}


def _table(name: str, rows: list[dict[str, Any]]) -> Any:
    pyarrow = load_pyarrow()
    pair = [("first_offset", pyarrow.int64()), ("last_offset", pyarrow.int64())]
    types = {
        **load_arrow_types(),
        "ranges": pyarrow.list_(pyarrow.struct(pair)),
    }
    schema = pyarrow.schema(
        [(column, types[kind]) for column, kind in _SCHEMAS[name].items()]
    )
    return pyarrow.Table.from_pylist(rows, schema=schema)
