# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Judge different batches for the same offsets: a cleaner's work, or one is wrong.

A batch that cannot be decoded, or that another file has at another offset, is certainly
wrong, and it alone is refused. Otherwise one side wins: the one whose leader epoch is
certain, then the one that more replicas have, then the file that begins with the offset
in its name, then the replica of the lowest rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...errors import KwireError
from ...schema.batch_layout import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from .headers import DOUBTFUL, Candidate, ScannedHeaders, SourceFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..._limits import Limits

_REASONS = (
    "its leader epoch is certain",
    "more replicas have it",
    "its file has the right name",
    "its replica goes first",
)

_KEPT_BITS = LOG_APPEND_TIME | TRANSACTIONAL | CONTROL
"""What a cleaner leaves as it is."""
_PRODUCER = ("magic", "producer_id", "producer_epoch", "base_sequence")


class Conflict(NamedTuple):
    """A batch of the file ``loser`` that another one contradicts, and why it lost."""

    winner: str
    loser: str
    first_offset: int
    last_offset: int
    position: int
    size: int
    why: str


class RefusedBatch(NamedTuple):
    """A batch that is certainly wrong."""

    source: SourceFile
    item: Candidate
    reason: str
    detail: str


class ConflictJudge:
    """Decides between the batches of one pass.

    ``refused`` has those that are certainly wrong, ``conflicts`` the others that lost:
    (source, row, conflict).
    """

    def __init__(
        self,
        sources: Sequence[SourceFile],
        headers: ScannedHeaders,
        is_compacted: bool,
        limits: Limits,
    ) -> None:
        self.conflicts: list[tuple[SourceFile, int, Conflict]] = []
        self.refused: list[RefusedBatch] = []
        self._sources = sources
        self._headers = headers
        self._is_compacted = is_compacted
        self._limits = limits
        self._errors: dict[tuple[int, int], tuple[str, str] | tuple[()]] = {}
        self._places: dict[tuple[int, int], set[int]] = {}

    def group(self, cluster: list[Candidate]) -> Iterator[list[list[Candidate]]]:
        """Put a cluster in order: groups of what overlaps, each copies of batches.

        Within a group all are right, and what they have of each offset is the same.
        """
        contents: dict[tuple[int, ...], list[Candidate]] = {}
        for item in cluster:
            key = item.base, item.last, item.size, item.crc
            contents.setdefault(key, []).append(item)
        group: list[list[Candidate]] = []
        high = -1
        for copies in self._drop_wrong([contents[key] for key in sorted(contents)]):
            if group and copies[0].base > high:
                yield group
                group = []
            group.append(copies)
            high = max(high, copies[0].last)
        if group:
            yield group

    def _drop_wrong(self, contents: list[list[Candidate]]) -> Iterator[list[Candidate]]:
        """Leave out the batches that another one shows to be wrong."""
        wrong: set[int] = set()
        active: list[int] = []
        for index, copies in enumerate(contents):
            active = [
                each for each in active if contents[each][0].last >= copies[0].base
            ]
            for other in active:
                if index in wrong or other in wrong:
                    continue
                if not self._are_variants(contents[other][0], copies[0]):
                    is_first = self._is_first_right(contents[other], copies)
                    wrong.add(index if is_first else other)
            active.append(index)
        return (copies for i, copies in enumerate(contents) if i not in wrong)

    def _are_variants(self, one: Candidate, other: Candidate) -> bool:
        """Whether a cleaner can have made one of two batches from the other."""
        first, second = (
            self._headers.read_row(self._sources[each.source].scan, each.row)
            for each in (one, other)
        )
        is_same_range = (one.base, one.last) == (other.base, other.last)
        are_full = one.is_full and other.is_full
        if first["magic"] < 2 and second["magic"] < 2:
            return self._is_compacted and not (is_same_range and are_full)
        if not is_same_range or any(first[name] != second[name] for name in _PRODUCER):
            return False
        bits = first["attributes"], second["attributes"]
        if (bits[0] ^ bits[1]) & _KEPT_BITS:
            return False
        return not are_full or bool((bits[0] | bits[1]) & DELETE_HORIZON)

    def _is_first_right(self, one: list[Candidate], other: list[Candidate]) -> bool:
        """Decide between batches that contradict each other, and note it."""
        faults = self._find_fault(one[0]), self._find_fault(other[0])
        if bool(faults[0]) != bool(faults[1]):
            copies, fault = (one, faults[0]) if faults[0] else (other, faults[1])
            for item in copies:
                self.refused.append(
                    RefusedBatch(self._sources[item.source], item, *fault)
                )
            return copies is other
        merits = self._weigh(one), self._weigh(other)
        is_first = merits[0] > merits[1]
        winner, losers = (one, other) if is_first else (other, one)
        differing = next(i for i in range(4) if merits[0][i] != merits[1][i])
        votes = sorted((merits[0][1], merits[1][1]), reverse=True)
        why = _REASONS[differing]
        if differing == 1:
            why += f", {votes[0]} to {votes[1]}"
        for item in losers:
            source = self._sources[item.source]
            self.conflicts.append(
                (
                    source,
                    item.row,
                    Conflict(
                        self._sources[winner[0].source].scan.path,
                        source.scan.path,
                        item.base,
                        item.last,
                        item.position,
                        item.size,
                        why,
                    ),
                )
            )
        return is_first

    def _weigh(self, copies: list[Candidate]) -> tuple[bool, int, bool, int]:
        sources = [self._sources[item.source] for item in copies]
        return (
            not all(item.flags & DOUBTFUL for item in copies),
            len({source.chain.folder.path for source in sources}),
            any(source.fits_its_name for source in sources),
            -min(item.source for item in copies),
        )

    def _find_fault(self, item: Candidate) -> tuple[str, str] | tuple[()]:
        """Say what is wrong with a batch by itself: (reason, detail)."""
        key = item.source, item.row
        if key not in self._errors:
            self._errors[key] = self._check_decoding(item) or self._check_place(item)
        return self._errors[key]

    def _check_decoding(self, item: Candidate) -> tuple[str, str] | tuple[()]:
        # The scan has judged the offset by all batches around it. Judged again here, by
        # the next batch alone, a damaged offset of that one would condemn this batch.
        segment = self._sources[item.source].scan.segment
        try:
            for _ in segment.batches(
                item.position,
                item.position + 1,
                are_offsets_right=True,
                errors="replace",
                limits=self._limits,
            ):
                pass
        except KwireError as error:
            return "records", str(error)
        return ()

    def _check_place(self, item: Candidate) -> tuple[str, str] | tuple[()]:
        """Check whether another file has the same batch at another offset.

        Offsets are not under the checksum, so a damaged one may fit where it is.
        """
        if not self._places:
            for source in self._sources:
                for views in self._headers.read_pieces(source.scan):
                    for size, base, crc in zip(*views[1:3], views[6], strict=True):
                        self._places.setdefault((crc, size), set()).add(base)
        elsewhere = self._places[item.crc, item.size] - {item.base}
        if not elsewhere:
            return ()
        return "offset", f"the batch of offset {min(elsewhere)} under another offset"
