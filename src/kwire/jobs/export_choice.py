# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Which replica's copy of each batch is taken: one pass through all chains at once.

Batches come in the order of their offsets. Equal ones, of the same offsets, size and
checksum, are copies of one. Where different ones overlap, a cleaner has been at work
on one of them, and both are read; or two replicas disagree, and one is set aside.
What is missing, and why, is ``export_losses.py``'s business.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from .. import log
from ..errors import KwireError
from .export_replicas import Chain, Lineage
from .tables import load_pyarrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TypeAlias

    from ..limits import Limits
    from .export_replicas import Stretch
    from .export_scan import FileScan

    Item: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int, int]
    """From where on nothing is missing before it, base and last offset, rank, number
    of the source, row, position, size, checksum, count, flags."""

USES = ("copy", "used", "diverged", "disagrees", "undecodable")
COPY, USED, DIVERGED, DISAGREES, UNDECODABLE = range(5)

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

_CODEC, _CONTROL, _DOUBTFUL, _UNCERTAIN = 0x07, 0x20, 0x100, 0x200
_KEPT_BITS = 0x38
"""Time of append, transactional, control: what a cleaner leaves as it is."""
_DELETE_HORIZON = 0x40


class Headers:
    """Reads the columns that the scan left, as views into mapped files."""

    def __init__(self) -> None:
        self._pyarrow = load_pyarrow()
        self._files: dict[str, Any] = {}

    def table(self, scan: FileScan, piece: int) -> Any:
        """Give a piece as a record batch."""
        if scan.headers not in self._files:
            mapped = self._pyarrow.memory_map(scan.headers)
            self._files[scan.headers] = self._pyarrow.ipc.open_file(mapped)
        return self._files[scan.headers].get_batch(piece)

    def pieces(self, scan: FileScan) -> Iterator[list[memoryview]]:
        """Go through the pieces of a file, each a view for each column."""
        for piece in scan.pieces:
            table = self.table(scan, piece)
            yield [
                memoryview(column.buffers()[1]).cast("q")[: len(column)]
                for column in table.columns
            ]

    def row(self, scan: FileScan, row: int) -> tuple[int, ...]:
        """Give one row; for the few cases that need more than the pass itself."""
        for views in self.pieces(scan):
            if row < len(views[0]):
                return tuple(view[row] for view in views)
            row -= len(views[0])
        raise IndexError(row)


class Part(NamedTuple):
    """Neighbouring batches of one file, to be read together."""

    segment: log.Segment
    start: int
    end: int


class Piece(NamedTuple):
    """What a task reads in one go: one part, or several for the same offsets.

    Of several the first one counts most; each other one adds the records of offsets
    that those before it lack, unless ``first_has_all``. ``rows`` is what the headers
    announce of the first.
    """

    parts: tuple[Part, ...]
    rows: int
    size: int
    first_has_all: bool = False


class Conflict(NamedTuple):
    """Two batches that cannot both be right, and how many replicas have each."""

    winner: Item
    loser: Item
    votes: int
    votes_against: int
    why: str


class Source:
    """One file in the pass: what became of each of its batches."""

    def __init__(self, scan: FileScan, chain: Chain, stretches: Sequence[Stretch]):
        self.scan = scan
        self.chain = chain
        self.stretches = stretches
        self.uses = bytearray(scan.batches)
        self.diverged: list[int] = []
        self.confirmed_end = -1

    @property
    def fits_its_name(self) -> bool:
        """Whether the file begins with the offset that it is named after."""
        return self.scan.segment.base_offset == self.scan.begin


class Pass:
    """One pass through the chains of a partition.

    ``aside`` names files (by path) and the offset from which on they are set aside,
    as earlier passes found. Results: ``pieces``, ``gaps`` (first, last), ``conflicts``,
    ``bad`` (source, item, error), and the ``sources`` with the use of each batch.
    """

    def __init__(
        self,
        chains: Sequence[Chain],
        headers: Headers,
        *,
        start: int,
        aside: dict[str, int],
        is_compacted: bool,
        piece_bytes: int,
        limits: Limits,
    ) -> None:
        self.gaps: list[tuple[int, int]] = []
        self.pieces: list[Piece] = []
        self.conflicts: list[Conflict] = []
        self.bad: list[tuple[Source, Item, str]] = []
        self.sources: list[Source] = []
        self.codecs: dict[int, list[int]] = {}
        self.rows = self.control_batches = 0
        self.reached = start
        self._headers = headers
        self._lineage = Lineage(chains)
        self._aside = aside
        self._is_compacted = is_compacted
        self._piece_bytes = piece_bytes
        self._limits = limits
        self._rank = -1
        self._run: list[int] = []
        self._checked: dict[tuple[int, int], str] = {}
        self._places: dict[tuple[int, int], set[int]] = {}
        streams = []
        for chain in chains:
            first = len(self.sources)
            self.sources += [
                Source(scan, chain, stretches)
                for scan, stretches in zip(chain.files, chain.stretches, strict=True)
            ]
            streams.append(self._items(chain, first))
        self._merge(heapq.merge(*streams))
        self._end_run()

    @property
    def lineage(self) -> Lineage:
        """The epochs of the log."""
        return self._lineage

    def _items(self, chain: Chain, first: int) -> Iterator[Item]:
        """Go through the batches of a chain that may be used."""
        rank, is_cut_off = chain.rank, False
        for number in range(first, first + len(chain.files)):
            source = self.sources[number]
            aside = self._aside.get(source.scan.path)
            judged = self._judged(source)
            is_cut_off = is_cut_off and judged is not None
            row, end, behind = -1, -1, -1
            for views in self._headers.pieces(source.scan):
                for at, size, base, last, count, _epoch, crc, attributes in zip(
                    *views[:8], strict=True
                ):
                    row += 1
                    if row >= source.scan.batches:
                        break
                    known = end if at == behind else base
                    end, behind = last + 1, at + size
                    flags = attributes & 0x3F
                    if judged is not None:
                        low, high, doubt = next(judged)
                        if not doubt & _UNCERTAIN:
                            is_cut_off = base < low or last > high
                        if is_cut_off:
                            source.uses[row] = DIVERGED
                            source.diverged.append(row)
                            continue
                        flags |= doubt
                    if aside is not None and base >= aside:
                        source.uses[row] = DISAGREES
                        continue
                    yield (
                        *(known, base, last, rank, number, row),
                        *(at, size, crc, count, flags),
                    )

    def _judged(self, source: Source) -> Iterator[tuple[int, int, int]] | None:
        """Give for each batch where it may stand; None if all are where they may."""
        found, is_plain = [], True
        for stretch in source.stretches:
            window = self._lineage.window(stretch.epoch)
            doubt = 0 if stretch.is_right else _DOUBTFUL
            if not stretch.is_certain:
                doubt |= _UNCERTAIN
            found.append((stretch.batches, (*window, doubt)))
            is_plain = is_plain and not doubt and window[0] <= stretch.first_offset
            is_plain = is_plain and stretch.last_offset <= window[1]
        if is_plain:
            return None
        return (judgement for count, judgement in found for _ in range(count))

    def _merge(self, items: Iterable[Item]) -> None:
        """Gather what overlaps, and decide."""
        cluster: list[Item] = []
        high = -1
        for item in items:
            known, last = item[0], item[2]
            if cluster and known > high:
                self._decide(cluster)
                cluster = []
            if not cluster and known > self.reached:
                self.gaps.append((self.reached, known - 1))
            cluster.append(item)
            if last > high:
                high = last
            if last >= self.reached:
                self.reached = last + 1
        if cluster:
            self._decide(cluster)

    def _decide(self, cluster: list[Item]) -> None:
        first = cluster[0]
        if len(cluster) == 1:
            self._take(first, cluster)
            return
        base, last, size, crc = first[1], first[2], first[7], first[8]
        if all(
            each[8] == crc and each[1] == base and each[2] == last and each[7] == size
            for each in cluster
        ):
            self._take(first, cluster)
            return
        contents: dict[tuple[int, ...], list[Item]] = {}
        for item in cluster:
            contents.setdefault((item[1], item[2], item[7], item[8]), []).append(item)
        ordered = [contents[key] for key in sorted(contents)]
        for group in _overlapping(self._without_losers(ordered)):
            if len(group) == 1:
                self._take(group[0][0], group[0])
            else:
                self._take_all(group)

    def _take(self, first: Item, copies: list[Item]) -> None:
        """Take one of the equal batches, of the replica that was read last if it has it."""
        chosen = first
        if len(copies) > 1:
            folders = set()
            for item in copies:
                folders.add(self.sources[item[4]].chain.folder.path)
            if len(folders) > 1:
                for item in copies:
                    self.sources[item[4]].confirmed_end = item[2] + 1
            chosen = min(
                copies,
                key=lambda item: (
                    item[10] & _DOUBTFUL,
                    item[3] != self._rank,
                    item[3],
                    item[4],
                ),
            )
        self._rank = chosen[3]
        number, row, at, size, count, flags = (
            *(chosen[4], chosen[5], chosen[6], chosen[7], chosen[9], chosen[10]),
        )
        self.sources[number].uses[row] = USED
        codec = self.codecs.setdefault(flags & _CODEC, [0, 0, 0])
        codec[0] += 1
        codec[1] += size
        if flags & _CONTROL:
            self.control_batches += 1
            count = 0
        codec[2] += count
        self.rows += count
        run = self._run
        if run and run[0] == number and run[2] == at:
            if at + size - run[1] <= self._piece_bytes:
                run[2] = at + size
                run[3] += count
                return
        self._end_run()
        self._run = [number, at, at + size, count]

    def _end_run(self) -> None:
        if self._run:
            number, start, end, rows = self._run
            part = Part(self.sources[number].scan.segment, start, end)
            self.pieces.append(Piece((part,), rows, end - start))
            self._run = []

    def _take_all(self, group: list[list[Item]]) -> None:
        """Take batches of which cleaners left different records."""
        self._end_run()
        best = [
            min(copies, key=lambda item: (item[10] & _DOUBTFUL, item[3]))
            for copies in group
        ]
        best.sort(key=lambda item: (-item[9], item[3]))
        parts = []
        size = 0
        for item in best:
            number, row, at, length = item[4], item[5], item[6], item[7]
            self.sources[number].uses[row] = USED
            codec = self.codecs.setdefault(item[10] & _CODEC, [0, 0, 0])
            codec[0] += 1
            codec[1] += length
            size += length
            if item[10] & _CONTROL:
                self.control_batches += 1
                continue
            segment = self.sources[number].scan.segment
            parts.append(Part(segment, at, at + length))
        if parts:
            count = best[0][9]
            first, last = best[0][1:3]
            has_all = count == last - first + 1 and all(
                first <= item[1] and item[2] <= last for item in best
            )
            self.pieces.append(Piece(tuple(parts), count, size, has_all))
            self.rows += count

    def _without_losers(self, contents: list[list[Item]]) -> list[list[Item]]:
        """Leave out the batches that another one shows to be wrong."""
        lost: set[int] = set()
        active: list[int] = []
        for index, copies in enumerate(contents):
            active = [each for each in active if contents[each][0][2] >= copies[0][1]]
            for other in active:
                if index in lost or other in lost:
                    continue
                if not self._are_variants(contents[other][0], copies[0]):
                    is_first = self._is_first_right(contents[other], copies)
                    lost.add(index if is_first else other)
            active.append(index)
        return [copies for i, copies in enumerate(contents) if i not in lost]

    def _are_variants(self, one: Item, other: Item) -> bool:
        """Whether a cleaner can have made one of two batches from the other."""
        first = self._headers.row(self.sources[one[4]].scan, one[5])
        second = self._headers.row(self.sources[other[4]].scan, other[5])
        range_one, range_other = one[1:3], other[1:3]
        full_one = one[9] == one[2] - one[1] + 1
        full_other = other[9] == other[2] - other[1] + 1
        is_old = first[8] < 2 and second[8] < 2
        if is_old:
            is_same = range_one == range_other and full_one and full_other
            return self._is_compacted and not is_same
        if range_one != range_other or first[8] != second[8]:
            return False
        if first[11:] != second[11:] or (first[7] ^ second[7]) & _KEPT_BITS:
            return False
        horizon = (first[7] | second[7]) & _DELETE_HORIZON
        return bool(horizon) or not (full_one and full_other)

    def _is_first_right(self, one: list[Item], other: list[Item]) -> bool:
        """Decide between batches that contradict each other, and note it."""
        errors = [
            self._error_of(copies[0]) or self._misplaced(copies[0])
            for copies in (one, other)
        ]
        if bool(errors[0]) != bool(errors[1]):
            copies = one if errors[0] else other
            for item in copies:
                source = self.sources[item[4]]
                source.uses[item[5]] = UNDECODABLE
                self.bad.append((source, item, errors[0] or errors[1]))
            return not errors[0]
        merits = [self._merit(copies) for copies in (one, other)]
        is_first = merits[0] > merits[1]
        winner, loser = (one, other) if is_first else (other, one)
        why = "its epoch" if merits[0][0] != merits[1][0] else "its replica goes first"
        if merits[0][:2] != merits[1][:2] and merits[0][0] == merits[1][0]:
            why = "more replicas have it"
        elif merits[0][:3] != merits[1][:3] and merits[0][:2] == merits[1][:2]:
            why = "its file has the right name"
        votes, against = (merits[0][1], merits[1][1])
        if not is_first:
            votes, against = against, votes
        for item in loser:
            self.sources[item[4]].uses[item[5]] = DISAGREES
            self.conflicts.append(Conflict(winner[0], item, votes, against, why))
        return is_first

    def _merit(self, copies: list[Item]) -> tuple[bool, int, bool, int]:
        folders = {self.sources[item[4]].chain.folder.path for item in copies}
        return (
            not all(item[10] & _DOUBTFUL for item in copies),
            len(folders),
            any(self.sources[item[4]].fits_its_name for item in copies),
            -min(item[3] for item in copies),
        )

    def _misplaced(self, item: Item) -> str:
        """Say whether the same batch stands at another offset elsewhere.

        Offsets are not under the checksum, so a damaged one may fit where it stands.
        """
        if not self._places:
            for source in self.sources:
                for views in self._headers.pieces(source.scan):
                    for size, base, crc in zip(views[1], views[2], views[6], strict=True):
                        self._places.setdefault((crc, size), set()).add(base)
        elsewhere = self._places[item[8], item[7]] - {item[1]}
        if not elsewhere:
            return ""
        return f"the batch of offset {min(elsewhere)} with another offset"

    def _error_of(self, item: Item) -> str:
        """Decode a batch to see whether it can be; returns what is wrong."""
        key = item[4], item[5]
        if key not in self._checked:
            segment = self.sources[item[4]].scan.segment
            error = ""
            try:
                for _ in segment.batches(
                    item[6], item[6] + 1, errors="replace", limits=self._limits
                ):
                    pass
            except KwireError as failure:
                error = str(failure)
            self._checked[key] = error
        return self._checked[key]


def _overlapping(contents: list[list[Item]]) -> Iterator[list[list[Item]]]:
    """Put batches that overlap together; they are in the order of their offsets."""
    group: list[list[Item]] = []
    high = -1
    for copies in contents:
        if group and copies[0][1] > high:
            yield group
            group = []
        group.append(copies)
        high = max(high, copies[0][2])
    if group:
        yield group
