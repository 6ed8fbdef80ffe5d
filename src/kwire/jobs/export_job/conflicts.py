# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Judge batches that differ but have common offsets.

A log cleaner can have made one batch from the other. Otherwise one batch is wrong. A
batch that cannot be decoded, or that another file has at another offset, is refused. If
both can be right, the winner is the batch whose leader epoch is certain, then the batch
that more replicas have, then the batch whose file begins with the offset in its name,
then the batch of the best replica.
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
from .header_rows import is_full

if TYPE_CHECKING:
    from ..._limits import Limits
    from ...records import BatchHeader
    from .partition_batches import PartitionBatches

_REASONS = (
    "its leader epoch is certain",
    "more replicas have it",
    "its file has the right name",
    "its replica goes first",
)

_KEPT_BITS = LOG_APPEND_TIME | TRANSACTIONAL | CONTROL
"""Attribute bits that the log cleaner preserves."""


class Conflict(NamedTuple):
    """A row that a batch of the file ``winner`` contradicts, and why that one wins."""

    row: int
    winner: str
    why: str


class RefusedBatch(NamedTuple):
    """A row that is certainly wrong, and why."""

    row: int
    reason: str
    detail: str


class ConflictJudge:
    """Decides between batches; ``conflicts`` and ``refused`` are the rejected rows."""

    def __init__(
        self, batches: PartitionBatches, is_compacted: bool, limits: Limits
    ) -> None:
        self.conflicts: list[Conflict] = []
        self.refused: list[RefusedBatch] = []
        self._batches = batches
        self._is_compacted = is_compacted
        self._limits = limits
        self._faults: dict[int, tuple[str, str] | tuple[()]] = {}
        self._offsets: dict[tuple[int, int], set[int]] = {}

    def judge(self, contents: list[list[int]]) -> None:
        """Reject the batches of a cluster that another batch shows to be wrong.

        ``contents`` has for each batch the rows of its copies, sorted by offset.
        """
        wrong: set[int] = set()
        active: list[int] = []
        headers = [self._batches.read(copies[0]) for copies in contents]
        for index, header in enumerate(headers):
            active = [
                at for at in active if headers[at].last_offset >= header.base_offset
            ]
            for other in active:
                if not {index, other} & wrong and not self._are_variants(
                    headers[other], header
                ):
                    is_first = self._is_first_right(contents[other], contents[index])
                    wrong.add(index if is_first else other)
            active.append(index)

    def _are_variants(self, one: BatchHeader, other: BatchHeader) -> bool:
        """Whether a log cleaner can have made one of two batches from the other."""
        is_same_range = one.base_offset == other.base_offset and (
            one.last_offset == other.last_offset
        )
        are_full = is_full(one) and is_full(other)
        if one.magic < 2 and other.magic < 2:
            return self._is_compacted and not (is_same_range and are_full)
        return (
            is_same_range
            and _get_preserved(one) == _get_preserved(other)
            and (
                not are_full
                or bool((one.attributes | other.attributes) & DELETE_HORIZON)
            )
        )

    def _is_first_right(self, one: list[int], other: list[int]) -> bool:
        """Decide between batches that contradict each other, and record the result."""
        faults = self._find_fault(one[0]), self._find_fault(other[0])
        if bool(faults[0]) != bool(faults[1]):
            refused, fault = (one, faults[0]) if faults[0] else (other, faults[1])
            self.refused += [RefusedBatch(row, *fault) for row in refused]
            return refused is other
        merits = self._weigh(one), self._weigh(other)
        is_first = merits[0] > merits[1]
        winner, losers = (one, other) if is_first else (other, one)
        differing = next(i for i in range(4) if merits[0][i] != merits[1][i])
        why = _REASONS[differing]
        if differing == 1:
            votes = sorted((merits[0][1], merits[1][1]), reverse=True)
            why += f", {votes[0]} to {votes[1]}"
        path = self._batches.path(winner[0])
        self.conflicts += [Conflict(row, path, why) for row in losers]
        return is_first

    def _weigh(self, copies: list[int]) -> tuple[bool, int, bool, int]:
        """Return what speaks for a batch, in the order of ``_REASONS``."""
        batches = self._batches
        numbers = [int(batches.file[row]) for row in copies]
        files = [batches.files[number] for number in numbers]
        return (
            not all(batches.is_doubtful[row] for row in copies),
            len({file.folder for file in files}),
            any(file.segment.base_offset == file.begin for file in files),
            -min(numbers),
        )

    def _find_fault(self, row: int) -> tuple[str, str] | tuple[()]:
        """Return (reason, detail) of a batch that is wrong by itself, else ()."""
        if row not in self._faults:
            self._faults[row] = self._check_decoding(row) or self._check_offset(row)
        return self._faults[row]

    def _check_decoding(self, row: int) -> tuple[str, str] | tuple[()]:
        # The scan has judged the offset by all batches around it. If the next batch
        # alone judged it here, a damaged offset there would condemn this batch.
        position = self._batches.read(row).position
        try:
            for _ in self._batches.files[self._batches.file[row]].segment.batches(
                position,
                position + 1,
                are_offsets_right=True,
                errors="replace",
                limits=self._limits,
            ):
                pass
        except KwireError as error:
            return "records", str(error)
        return ()

    def _check_offset(self, row: int) -> tuple[str, str] | tuple[()]:
        """Check whether another file has the same batch at another offset.

        Offsets are not under the checksum, so that a damaged one may fit by chance.
        """
        headers, header = self._batches.headers, self._batches.read(row)
        if not self._offsets:
            names = ("crc", "size", "base_offset")
            for crc, size, base in zip(
                *(headers[n].tolist() for n in names), strict=True
            ):
                self._offsets.setdefault((crc, size), set()).add(base)
        others = self._offsets[header.crc, header.size] - {header.base_offset}
        if not others:
            return ()
        return "offset", f"the batch of offset {min(others)} under another offset"


def _get_preserved(header: BatchHeader) -> tuple[int, ...]:
    """Return the fields that the log cleaner preserves."""
    return (
        header.magic,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.attributes & _KEPT_BITS,
    )
