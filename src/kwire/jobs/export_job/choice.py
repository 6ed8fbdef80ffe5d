# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Chooses the copies of batches to read, with operations on arrays of one partition.

Rows are sorted by offset. The following terms describe sets of rows:

* cluster: rows with overlapping offset ranges.
* copies: rows with the same offsets, size and checksum. They represent one batch that
  was found in several files.
* group: rows of a cluster that still overlap after ``conflicts`` has rejected
  contradicted batches. Different groups never overlap.
* variants: different batches within a group. Log cleaners have removed different
  records from the same original batch, so all variants are read and merged.

If a group consists only of copies, a single copy is read.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import log
from ...schema.batch_layout import CONTROL
from .header_rows import is_full, mark_changes, split_runs
from .partition_batches import COPY, DISAGREES, DIVERGED, REFUSED, USED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from .conflicts import ConflictJudge
    from .partition_batches import PartitionBatches
    from .ranges import Range


class FileSlice(NamedTuple):
    """Consecutive batches in a segment file, to be read together.

    * ``start``: byte position in the file at which the first of these batches begins.
    * ``end``: byte position in the file after the last of these batches.
    * ``last_offset``: last offset of the last batch.
    """

    segment: log.Segment
    start: int
    end: int
    first_offset: int
    last_offset: int


class ReadStep(NamedTuple):
    """Work unit for the last pass: a single file slice, or all variants of a batch.

    * ``slices``: one slice, or one slice for every variant. Earlier variants take
      precedence: a later variant only adds records whose offsets are missing in the
      earlier variants.
    * ``rows``: record count according to the batch headers of the first slice. Control
      batches do not count.
    * ``size``: total size in bytes.
    * ``first_has_all``: the first variant is complete, so the other variants are only
      read if it cannot be decoded.
    """

    slices: tuple[FileSlice, ...]
    rows: int
    size: int
    first_has_all: bool = False


class Choice(NamedTuple):
    """Result of ``choose``.

    * ``uses``: for every row, an index into ``USES``.
    * ``steps``: read operations, sorted by first offset.
    * ``gaps``: offset ranges below ``reached`` without any batch.
    * ``reached``: offset after the last batch, or the start offset if it is higher.
    * ``shared_ends``: for every file, the offset after its last batch that also exists
      in another partition directory, or -1.
    """

    uses: NDArray[Any]
    steps: tuple[ReadStep, ...]
    gaps: list[Range]
    reached: int
    shared_ends: list[int]


def choose(
    batches: PartitionBatches,
    judge: ConflictJudge,
    start: int,
    aside: dict[str, int],
    step_bytes: int,
) -> Choice:
    """Choose the batches to read from a partition.

    * ``batches``: valid batches from all replicas.
    * ``judge``: resolves conflicts and collects the rejected rows.
    * ``start``: first offset of the log.
    * ``aside``: files that lost a conflict. Maps their paths to the first offset
      excluded from reading.
    * ``step_bytes``: maximum ``ReadStep`` size in bytes, unless a single batch is
      larger.

    Returns a ``Choice``.
    """
    import numpy

    never = numpy.iinfo("i8").max
    limits = numpy.array([aside.get(file.path, never) for file in batches.files], "i8")
    uses: NDArray[Any] = numpy.zeros(len(batches), "u1")
    # Exclude batches from files that lost a conflict, and batches replaced by a later
    # leader.
    uses[batches.headers["base_offset"] >= limits[batches.file]] = DISAGREES
    uses[batches.is_diverged] = DIVERGED
    candidates = numpy.flatnonzero(uses == COPY)
    rows, opens_cluster, gaps, reached = _find_clusters(batches, candidates, start)
    rows, cluster, content = _find_contents(batches, rows, opens_cluster)
    # Reject batches contradicted by other batches.
    for span in _find_mixed_runs(cluster, content):
        judge.judge(_split_copies(rows[span], content[span]))
    uses[[conflict.row for conflict in judge.conflicts]] = DISAGREES
    uses[[refused.row for refused in judge.refused]] = REFUSED
    is_right = uses[rows] == COPY
    rows, cluster, content = rows[is_right], cluster[is_right], content[is_right]
    # Choose all variants of cleaned batches, and a single copy of every other batch.
    group = _find_groups(batches, rows, cluster)
    steps: list[ReadStep] = []
    is_variant: NDArray[Any] = numpy.zeros(len(rows), bool)
    for span in _find_mixed_runs(group, content):
        is_variant[span] = True
        variants = _choose_variants(batches, _split_copies(rows[span], content[span]))
        uses[variants] = USED
        steps += _read_variants(batches, variants)
    rows, group = rows[~is_variant], group[~is_variant]
    chosen = _choose_copies(batches, rows, group)
    uses[chosen] = USED
    steps += _read_runs(batches, chosen, group[mark_changes(group)], step_bytes)
    steps.sort(key=lambda step: step.slices[0].first_offset)
    shared_ends = _find_shared_ends(batches, rows, group)
    return Choice(uses, tuple(steps), gaps, reached, shared_ends)


def _find_clusters(
    batches: PartitionBatches, rows: NDArray[Any], start: int
) -> tuple[NDArray[Any], NDArray[Any], list[Range], int]:
    """Sort rows by offset, and mark the rows that start a new cluster.

    A row starts a cluster if it does not overlap any earlier row. Returns the sorted
    rows, the marks, the gaps between the offset ``start`` and the last row, and the
    offset after the last row (at least ``start``).
    """
    import numpy

    covered_from, last_offsets = (
        batches.find_known()[rows],
        batches.headers["last_offset"][rows],
    )
    order = numpy.lexsort(
        (last_offsets, batches.headers["base_offset"][rows], covered_from)
    )
    covered_from, last_offsets = covered_from[order], last_offsets[order]
    # Highest offset of all previous rows. Compare without adding 1, because a damaged
    # header can contain the offset 2**63 - 1, and the sum would overflow.
    highest_before = numpy.full(len(rows), -1)
    highest_before[1:] = numpy.maximum.accumulate(last_offsets)[:-1]
    opens_cluster = covered_from > highest_before
    highest_before = numpy.maximum(highest_before, start - 1)
    is_gap = opens_cluster & (covered_from - 1 > highest_before)
    lows, highs = (
        (highest_before[is_gap] + 1).tolist(),
        (covered_from[is_gap] - 1).tolist(),
    )
    reached = max(start, int(last_offsets.max(initial=-1)) + 1)
    return rows[order], opens_cluster, list(zip(lows, highs, strict=True)), reached


def _find_contents(
    batches: PartitionBatches, rows: NDArray[Any], opens_cluster: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Sort the rows within every cluster, so that batch copies become neighbours.

    Returns the sorted rows with two parallel arrays: cluster number and content number.
    Rows with the same content number are copies of one batch.
    """
    import numpy

    cluster = numpy.cumsum(opens_cluster)
    names = ("crc", "size", "last_offset", "base_offset")
    keys = *(batches.headers[name][rows] for name in names), cluster
    order = numpy.lexsort(keys)
    content = numpy.cumsum(mark_changes(*(key[order] for key in keys)))
    return rows[order], cluster[order], content


def _find_mixed_runs(outer: NDArray[Any], inner: NDArray[Any]) -> Iterator[slice]:
    """Find runs of rows with equal ``outer`` numbers, but different ``inner`` numbers.

    For example, ``outer`` is the cluster number, and ``inner`` the content number.
    """
    import numpy

    starts = mark_changes(outer).nonzero()[0]
    stops: NDArray[Any] = numpy.append(starts, len(outer))[1:]
    is_mixed = inner[starts] != inner[stops - 1]
    return map(slice, starts[is_mixed].tolist(), stops[is_mixed].tolist())


def _split_copies(rows: NDArray[Any], content: NDArray[Any]) -> list[list[int]]:
    """Split sorted rows into lists. Every list contains the copies of one batch."""
    pairs = zip(content.tolist(), rows.tolist(), strict=True)
    return [
        [row for _, row in copies] for _, copies in groupby(pairs, key=itemgetter(0))
    ]


def _find_groups(
    batches: PartitionBatches, rows: NDArray[Any], cluster: NDArray[Any]
) -> NDArray[Any]:
    """Number the groups of overlapping rows.

    Groups are computed like clusters. They can be smaller, because rejecting a row can
    split a cluster.
    """
    import numpy

    last = numpy.maximum.accumulate(batches.headers["last_offset"][rows])
    opens_group = mark_changes(cluster)
    opens_group[1:] |= batches.headers["base_offset"][rows[1:]] > last[:-1]
    return numpy.cumsum(opens_group)


def _choose_copies(
    batches: PartitionBatches, rows: NDArray[Any], group: NDArray[Any]
) -> NDArray[Any]:
    """Choose one row per group, if all rows of a group are copies of one batch.

    A copy with a doubtful leader epoch is chosen only if all copies are doubtful. Among
    the remaining copies, prefer the replica that was chosen for the previous group, so
    that long slices come from one file. Otherwise choose the replica with the best
    rank.
    """
    import numpy

    rank, doubtful = batches.rank[rows], batches.is_doubtful[rows]
    order = numpy.lexsort((rank, doubtful, group))
    rows, rank, doubtful = rows[order], rank[order], doubtful[order]
    opens_group = mark_changes(group)
    number = numpy.cumsum(opens_group) - 1
    is_eligible = doubtful == doubtful[opens_group][number]
    rows, rank, number = rows[is_eligible], rank[is_eligible], number[is_eligible]
    # Sort by replica, then by group. In this order, a run of consecutive group numbers
    # can be read from the same replica.
    order = numpy.lexsort((number, rank))
    opens_run = mark_changes(rank[order], number[order] - numpy.arange(len(rows)))
    starts = numpy.flatnonzero(opens_run)
    stops = numpy.append(starts, len(rows))[1:][numpy.cumsum(opens_run) - 1]
    best = numpy.argsort(order)[mark_changes(number)]
    chosen, count = [rows[:0]], 0
    while count < len(best):
        first = best[count]
        run = order[first : stops[first]]
        chosen.append(rows[run])
        count += len(run)
    return numpy.concatenate(chosen)


def _find_shared_ends(
    batches: PartitionBatches, rows: NDArray[Any], group: NDArray[Any]
) -> list[int]:
    """Return for every file the end offset of batches that other directories share.

    The value is the offset after the last shared batch, or -1 if no batch is shared.
    """
    import numpy

    paths = [file.folder for file in batches.files]
    file, last = batches.file[rows], batches.headers["last_offset"][rows]
    folder = numpy.unique(paths, return_inverse=True)[1][file]
    opens_group = mark_changes(group)
    starts = opens_group.nonzero()[0]
    lowest = numpy.minimum.reduceat(folder, starts)
    highest = numpy.maximum.reduceat(folder, starts)
    is_shared = (lowest != highest)[numpy.cumsum(opens_group) - 1]
    ends = numpy.full(len(paths), -1)
    numpy.maximum.at(ends, file[is_shared], last[is_shared] + 1)
    end_offsets: list[int] = ends.tolist()
    return end_offsets


def _choose_variants(batches: PartitionBatches, contents: list[list[int]]) -> list[int]:
    """Choose one row per variant, and sort the variants by descending record count.

    Ties are resolved by replica rank. Within a variant, copies with a trusted leader
    epoch are preferred, then the best rank.
    """
    rank, is_doubtful = batches.rank, batches.is_doubtful
    chosen = [
        min(rows, key=lambda row: (is_doubtful[row], rank[row])) for rows in contents
    ]
    count = batches.headers["record_count"]
    return sorted(chosen, key=lambda row: (-count[row], rank[row]))


def _read_variants(batches: PartitionBatches, rows: list[int]) -> Iterator[ReadStep]:
    """Yield one step for all variants of a batch, and no step for control batches.

    Control batches contain no user records, so they are not read.
    """
    headers = [batches.read(row) for row in rows]
    readable = [header for header in headers if not header.is_control]
    if readable:
        first = readable[0]
        yield ReadStep(
            tuple(
                _make_slice(batches, row, row)
                for row, header in zip(rows, headers, strict=True)
                if not header.is_control
            ),
            first.record_count,
            sum(header.size for header in readable),
            is_full(first)
            and first.base_offset <= min(header.base_offset for header in readable)
            and first.last_offset >= max(header.last_offset for header in readable),
        )


def _read_runs(
    batches: PartitionBatches,
    rows: NDArray[Any],
    group: NDArray[Any],
    step_bytes: int,
) -> Iterator[ReadStep]:
    """Create read steps for adjacent rows in a file.

    A step contains at most ``step_bytes`` bytes, unless a single batch is larger.
    ``group`` contains the group number of every row. A gap in these numbers means that
    variants must be read between the two rows, so a step ends there.
    """
    import numpy

    names = ("position", "size", "attributes", "record_count")
    start, size, attributes, count = (batches.headers[name][rows] for name in names)
    end = start + size
    records = numpy.where(attributes & CONTROL, 0, count)
    file, distance = batches.file[rows], numpy.cumsum(size) - end
    for first, stop in split_runs(file, distance, group - numpy.arange(len(rows))):
        while first < stop:
            max_end = start[first] + step_bytes
            fitting = int(numpy.searchsorted(end[first:stop], max_end, "right"))
            next_first = first + max(fitting, 1)
            file_slice = _make_slice(batches, rows[first], rows[next_first - 1])
            record_count = int(records[first:next_first].sum())
            yield ReadStep(
                (file_slice,), record_count, file_slice.end - file_slice.start
            )
            first = next_first


def _make_slice(batches: PartitionBatches, first: int, last: int) -> FileSlice:
    """Return the file slice from the row ``first`` to the row ``last`` (inclusive)."""
    first_header, last_header = batches.read(first), batches.read(last)
    return FileSlice(
        batches.files[batches.file[first]].segment,
        first_header.position,
        last_header.position + last_header.size,
        first_header.base_offset,
        last_header.last_offset,
    )
