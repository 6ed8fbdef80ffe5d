# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Explains which partition offsets are lost, and why.

An offset is lost if no batch covers it. In a compacted log, this is not sufficient,
because the log cleaner removes records as well: an offset only counts as lost if there
is evidence that a record existed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from .problems import FileProblem, LostRange
from .ranges import merge_ranges, subtract_ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .ranges import Range
    from .replicas import ReplicaChain
    from .scan import FileFlaw, FileScan

_MAX_NAMED = 8
"""Maximum number of causes that an explanation names. Further causes are only counted.
"""


class Damage(NamedTuple):
    """Offset range (inclusive) missing in a file.

    * ``kind``: "damaged" if damaged bytes contained the offsets, "cut" if the file was
      truncated before them, and otherwise "missing".
    * ``detail``: sentence that explains the damage.
    """

    first: int
    last: int
    kind: str
    detail: str


class Evidence:
    """Evidence about missing offsets, found in the files from all replicas.

    * ``chains``: all chains of the partition.
    * ``end``: log end offset.
    * ``is_compacted``: missing offsets can result from compaction.

    ``problems`` lists the flaws of all files, and the gaps between files.
    """

    def __init__(
        self, chains: Sequence[ReplicaChain], end: int, is_compacted: bool
    ) -> None:
        self.problems: list[FileProblem] = []
        self._end = end
        self._is_compacted = is_compacted
        # One list per chain with its damage, sorted by first offset.
        self._damage: list[list[Damage]] = []
        # Offset ranges in gaps between two files. The log cleaner has certainly removed
        # the records with these offsets.
        self._cleaned: list[Range] = []
        # Offset ranges in gaps between two files. The log cleaner may have removed the
        # records with these offsets.
        self._possibly_cleaned: list[Range] = []
        self._genuine_names = {
            file.name_offset
            for chain in chains
            for file in chain.files
            if file.is_genuine
        }
        folder_ends: dict[str, int] = {}
        for chain in chains:
            path = chain.folder.path
            folder_ends[path] = max(chain.end, folder_ends.get(path, -1))
        for chain in chains:
            is_last = chain.end == folder_ends[chain.folder.path]
            self._damage.append(sorted(self._judge_chain(chain, is_last)))

    def _judge_chain(self, chain: ReplicaChain, is_last: bool) -> list[Damage]:
        """Find the damage in a chain.

        ``is_last``: the chain contains the last offset of its directory, so offsets
        missing at the log end count as damage in this chain.
        """
        own_end = max((offset for offset, _ in chain.folder.claims), default=-1)
        damage, seams, expected = self._judge_files(chain, own_end)
        damaged = merge_ranges(region[:2] for region in damage)
        others = sorted(
            self._genuine_names - {file.name_offset for file in chain.files}
        )
        for first, last, file in seams:
            missing = subtract_ranges([(first, last)], damaged)
            if self._is_compacted:
                orphan = chain.folder.find_orphan(first, last + 1)
                index = bisect_left(others, first)
                is_weak = index < len(others) and others[index] <= last
                removed = self._possibly_cleaned if is_weak else self._cleaned
                removed += [(low, min(high, orphan - 1)) for low, high in missing]
                missing = subtract_ranges(missing, [(0, orphan - 1)])
            damage += [self._add_gap(file, 0, *gap) for gap in missing]
        tail = subtract_ranges([(expected, min(own_end, self._end) - 1)], damaged)
        if is_last and expected >= 0 and tail:
            file = chain.files[-1]
            damage.append(
                self._add_gap(file, file.segment.size, tail[0][0], tail[-1][1])
            )
        return damage

    def _judge_files(
        self, chain: ReplicaChain, own_end: int
    ) -> tuple[list[Damage], list[tuple[int, int, FileScan]], int]:
        """Return the damage within the files of a chain, and the seams between files.

        A seam is a tuple (first offset, last offset, file) with the offsets missing
        between a file and its predecessor. The third result is the offset after the
        last file, or -1. ``own_end`` is the log end offset that checkpoints and
        snapshots in the directory claim.
        """
        damage: list[Damage] = []
        seams = []
        expected = -1
        # Include files without valid batches if there is evidence that they were
        # segments: an index file, or a name between the last batch and the claimed log
        # end offset.
        genuine = [
            file
            for file in chain.files
            if file.is_genuine or chain.end <= file.name_offset < own_end
        ]
        genuine_files = iter([*genuine, None])
        next_genuine = next(genuine_files)
        for file in chain.files:
            is_genuine = file is next_genuine
            if is_genuine:
                next_genuine = next(genuine_files)
            stop = (
                self._end if next_genuine is None else _get_first_possible(next_genuine)
            ) - 1
            first_possible = _get_first_possible(file)
            if is_genuine:
                first_content = file.begin if file.batches else first_possible
                low = (
                    first_possible if expected < 0 and self._is_compacted else expected
                )
                if 0 <= low < first_content:
                    seams.append((low, first_content - 1, file))
            # If an unknown file is the last one, it probably was not a segment, so its
            # flaws do not affect any offsets.
            can_affect = is_genuine or next_genuine is not None
            for flaw in file.flaws:
                low, high = _find_affected_offsets(
                    flaw, file, max(first_possible, expected), stop, own_end
                )
                if flaw.is_tail and own_end <= low:
                    continue
                if flaw.reason == "name" or not can_affect:
                    low = high = -1
                self.problems.append(FileProblem(file.path, *flaw[:4], low, high))
                if 0 <= low <= high:
                    damage_kind = (
                        "cut" if flaw.reason == "cut" or flaw.is_tail else "damaged"
                    )
                    detail = f"{flaw.reason} at byte {flaw.position} of {file.path}"
                    damage.append(Damage(low, high, damage_kind, detail))
            if is_genuine:
                expected = max(expected, file.end, first_possible)
        return damage, seams, expected

    def _add_gap(self, file: FileScan, position: int, low: int, high: int) -> Damage:
        """Add a "gap" problem for offsets missing before a position in a file.

        Returns the corresponding ``Damage``.
        """
        detail = f"offsets {low} to {high} are missing"
        self.problems.append(
            FileProblem(file.path, position, 0, "gap", detail, low, high)
        )
        return Damage(low, high, "missing", f"a gap at byte {position} of {file.path}")

    def explain(self, gaps: list[Range], claims: dict[int, str]) -> Iterator[LostRange]:
        """Find the lost offset ranges and their explanations.

        * ``gaps``: offset ranges that no batch covers.
        * ``claims``: explanations by offset for the log start offset and the log end
          offset, if only file names or checkpoints prove that the log extended to it.

        The reason is "damaged" if a damaged region overlaps the range, otherwise "cut"
        if a file was truncated there, otherwise "missing". In a compacted log, ranges
        that a log cleaner has removed are omitted.
        """
        if self._is_compacted:
            damaged = merge_ranges(
                damage[:2] for chain_damage in self._damage for damage in chain_damage
            )
            weak = subtract_ranges(merge_ranges(self._possibly_cleaned), damaged)
            gaps = subtract_ranges(gaps, merge_ranges(self._cleaned))
            gaps = subtract_ranges(gaps, weak)
        for first, last in gaps:
            causes = list(self._find_causes(first, last))
            kinds = {cause.kind for cause in causes}
            reason_word = next(
                (candidate for candidate in ("damaged", "cut") if candidate in kinds),
                "missing",
            )
            reasons = [cause.detail for cause in causes]
            reasons += filter(None, (claims.get(first), claims.get(last + 1)))
            detail = "; ".join(reasons[:_MAX_NAMED])
            if len(reasons) > _MAX_NAMED:
                detail += f"; and {len(reasons) - _MAX_NAMED} more"
            yield LostRange(first, last, reason_word, detail or "no file holds them")

    def _find_causes(self, first: int, last: int) -> Iterator[Damage]:
        """Find damage that overlaps an offset range, in all chains.

        The result count is limited to four times ``_MAX_NAMED``, because only a few
        files are mentioned in the explanation.
        """
        remaining = 4 * _MAX_NAMED
        for damage in self._damage:
            # Search backwards from the last region that begins within the range. Stop
            # at the first region before the range, because the regions of a chain
            # rarely overlap, so no earlier region reaches into the range.
            index = bisect_right(damage, (last, 2**64)) - 1
            while index >= 0 and remaining:
                if damage[index].last >= first:
                    remaining -= 1
                    yield damage[index]
                elif damage[index].first < first:
                    break
                index -= 1


def _get_first_possible(file: FileScan) -> int:
    """Return the first offset that a file can contain, according to its name.

    If the scan has ignored the file name, return the offset of its first batch.
    """
    return file.name_offset if file.segment.base_offset >= 0 else file.begin


def _find_affected_offsets(
    flaw: FileFlaw, file: FileScan, begin: int, stop: int, own_end: int
) -> tuple[int, int]:
    """Find the first and last offset that a flaw may have destroyed.

    * ``begin``, ``stop``: first and last offset that the file can contain.
    * ``own_end``: log end offset that checkpoints and snapshots in the directory claim.
    """
    low = flaw.low if flaw.low >= 0 else begin
    if flaw.torn_end >= 0:
        return low, max(flaw.torn_end, own_end) - 1
    if flaw.high >= 0:
        return low, flaw.high
    is_torn_tail = flaw.reason == "cut" and file.segment.is_newest
    return low, own_end - 1 if is_torn_tail else stop
