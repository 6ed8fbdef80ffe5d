# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Choose the copy of each batch that is read: one pass through all chains at once.

Batches come in the order of their offsets. Equal ones, of the same offsets, size and
checksum, are copies of one. Where different ones overlap, ``conflicts`` decides whether
a cleaner made one of the other, so that both are read, or one of them is wrong.
``losses`` decides what is missing, and why.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ... import log
from ...schema.batch_layout import CODEC_MASK, CONTROL
from .conflicts import ConflictJudge
from .headers import (
    DISAGREES,
    DIVERGED,
    DOUBTFUL,
    FLAGS,
    REFUSED,
    UNCERTAIN,
    USED,
    Candidate,
    ScannedHeaders,
    SourceFile,
)
from .replicas import Lineage, ReplicaChain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..._limits import Limits


class FileSlice(NamedTuple):
    """Neighbouring batches of one file that are read together."""

    segment: log.Segment
    start: int
    end: int
    first_offset: int
    last_offset: int


class ReadStep(NamedTuple):
    """What a task reads in one go: one slice, or several for the same offsets.

    Of several the first one counts most; each other one adds the records of offsets
    that those before it lack, unless ``first_has_all``. ``rows`` is what the headers
    announce of the first.
    """

    slices: tuple[FileSlice, ...]
    rows: int
    size: int
    first_has_all: bool = False


class CodecSums(NamedTuple):
    """Batches, bytes and records that were taken of one codec."""

    batches: int = 0
    bytes: int = 0
    records: int = 0


@dataclass(slots=True)
class _Run:
    """The step under construction: neighbouring batches, and what follows them."""

    first: Candidate
    last: Candidate
    end: int
    rows: int


class ChoicePass:
    """One pass through the chains of a partition.

    ``aside`` names files (by path) and the offset from which on they are set aside,
    as earlier passes found. Results: ``steps``; ``gaps``, which are (first, last);
    the ``sources`` with the use of each batch; ``judge`` with what was wrong; by codec
    the ``sums`` of what was taken; ``reached``, the offset after the last batch.
    """

    def __init__(
        self,
        chains: Sequence[ReplicaChain],
        headers: ScannedHeaders,
        *,
        start: int,
        aside: dict[str, int],
        is_compacted: bool,
        step_bytes: int,
        limits: Limits,
    ) -> None:
        self.gaps: list[tuple[int, int]] = []
        self.steps: list[ReadStep] = []
        self.sources: list[SourceFile] = []
        self.sums: dict[int, CodecSums] = {}
        self.control_batches = 0
        self.reached = start
        self.lineage = Lineage(chains)
        self._headers = headers
        self._aside = aside
        self._step_bytes = step_bytes
        self._rank = -1
        self._run: _Run | None = None
        streams = []
        for chain in chains:
            first = len(self.sources)
            self.sources += [
                SourceFile(scan, chain, stretches)
                for scan, stretches in zip(chain.files, chain.stretches, strict=True)
            ]
            streams.append(self._list_candidates(chain, first))
        self.judge = ConflictJudge(self.sources, headers, is_compacted, limits)
        self._merge(heapq.merge(*streams))
        self._end_run()
        for source, row, _ in self.judge.conflicts:
            source.uses[row] = DISAGREES
        for refused in self.judge.refused:
            refused.source.uses[refused.item.row] = REFUSED

    def _list_candidates(self, chain: ReplicaChain, first: int) -> Iterator[Candidate]:
        """Go through the batches of a chain that may be used."""
        is_cut_off = False
        for number in range(first, first + len(chain.files)):
            source = self.sources[number]
            aside = self._aside.get(source.scan.path)
            judged = self._find_windows(source)
            is_cut_off = is_cut_off and judged is not None
            row, end, next_position = -1, -1, -1
            for views in self._headers.read_pieces(source.scan):
                for at, size, base, last, count, _epoch, crc, attributes in zip(
                    *views[:8], strict=True
                ):
                    row += 1
                    if row >= source.scan.batches:
                        break
                    known = end if at == next_position else base
                    end, next_position = last + 1, at + size
                    flags = attributes & FLAGS
                    if judged is not None:
                        low, high, doubt = next(judged)
                        if not doubt & UNCERTAIN:
                            is_cut_off = base < low or last > high
                        if is_cut_off:
                            source.uses[row] = DIVERGED
                            source.diverged.append(row)
                            continue
                        flags |= doubt
                    if aside is not None and base >= aside:
                        source.uses[row] = DISAGREES
                        continue
                    yield Candidate(
                        known,
                        base,
                        last,
                        chain.rank,
                        number,
                        row,
                        at,
                        size,
                        crc,
                        count,
                        flags,
                    )

    def _find_windows(
        self, source: SourceFile
    ) -> Iterator[tuple[int, int, int]] | None:
        """Find the offsets that each batch may have; None if all batches fit theirs."""
        found, is_plain = [], True
        for stretch in source.stretches:
            low, high = self.lineage.find_window(stretch.epoch)
            doubt = 0 if stretch.is_right else DOUBTFUL
            if not stretch.is_certain:
                doubt |= UNCERTAIN
            found.append((stretch.batches, (low, high, doubt)))
            is_inside = low <= stretch.first_offset and stretch.last_offset <= high
            is_plain = is_plain and not doubt and is_inside
        if is_plain:
            return None
        return (judgement for count, judgement in found for _ in range(count))

    def _merge(self, items: Iterable[Candidate]) -> None:
        """Gather what overlaps, and decide."""
        cluster: list[Candidate] = []
        high = -1
        for item in items:
            if cluster and item.known > high:
                self._decide(cluster)
                cluster = []
            if not cluster and item.known > self.reached:
                self.gaps.append((self.reached, item.known - 1))
            cluster.append(item)
            high = max(high, item.last)
            self.reached = max(self.reached, item.last + 1)
        if cluster:
            self._decide(cluster)

    def _decide(self, cluster: list[Candidate]) -> None:
        first = cluster[0]
        key = first.base, first.last, first.size, first.crc
        if len(cluster) == 1 or all(
            (each.base, each.last, each.size, each.crc) == key for each in cluster
        ):
            self._take(cluster)
            return
        for group in self.judge.group(cluster):
            if len(group) == 1:
                self._take(group[0])
            else:
                self._take_variants(group)

    def _take(self, copies: list[Candidate]) -> None:
        """Take one of equal batches, if it can be of the replica read last."""
        chosen = copies[0]
        if len(copies) > 1:
            sources = [self.sources[item.source] for item in copies]
            if len({source.chain.folder.path for source in sources}) > 1:
                for source in sources:
                    source.confirmed_end = chosen.last + 1
            chosen = min(
                copies,
                key=lambda item: (
                    item.flags & DOUBTFUL,
                    item.rank != self._rank,
                    item.rank,
                ),
            )
        self._rank = chosen.rank
        rows = self._count_taken(chosen)
        run, end = self._run, chosen.position + chosen.size
        if (
            run is not None
            and run.last.source == chosen.source
            and run.end == chosen.position
            and end - run.first.position <= self._step_bytes
        ):
            run.last, run.end = chosen, end
            run.rows += rows
            return
        self._end_run()
        self._run = _Run(chosen, chosen, end, rows)

    def _count_taken(self, item: Candidate) -> int:
        """Count a batch as taken; returns the records that it has for people."""
        self.sources[item.source].uses[item.row] = USED
        rows = 0 if item.flags & CONTROL else item.records
        self.control_batches += bool(item.flags & CONTROL)
        sums = self.sums.get(item.flags & CODEC_MASK, CodecSums())
        self.sums[item.flags & CODEC_MASK] = CodecSums(
            sums.batches + 1, sums.bytes + item.size, sums.records + rows
        )
        return rows

    def _end_run(self) -> None:
        run = self._run
        if run is not None:
            part = self._make_slice(run.first, run.last)
            step = ReadStep((part,), run.rows, part.end - part.start)
            self.steps.append(step)
            self._run = None

    def _make_slice(self, first: Candidate, last: Candidate) -> FileSlice:
        segment = self.sources[first.source].scan.segment
        end = last.position + last.size
        return FileSlice(segment, first.position, end, first.base, last.last)

    def _take_variants(self, group: list[list[Candidate]]) -> None:
        """Take batches of which cleaners left different records."""
        self._end_run()
        chosen = [
            min(copies, key=lambda item: (item.flags & DOUBTFUL, item.rank))
            for copies in group
        ]
        chosen.sort(key=lambda item: (-item.records, item.rank))
        for item in chosen:
            self._count_taken(item)
        chosen = [item for item in chosen if not item.flags & CONTROL]
        if not chosen:
            return
        first = chosen[0]
        has_all = first.is_full and all(
            first.base <= item.base and item.last <= first.last for item in chosen
        )
        slices = tuple(self._make_slice(item, item) for item in chosen)
        size = sum(item.size for item in chosen)
        self.steps.append(ReadStep(slices, first.records, size, has_all))
