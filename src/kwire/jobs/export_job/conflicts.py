# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Resolves conflicts between batches that differ although their offset ranges overlap.

If a log cleaner can have produced one batch from the other batch, there is no conflict.
Otherwise at least one batch is incorrect:

1. A batch is refused if it cannot be decoded, or if the same batch exists at another
   offset in another file.
2. If that does not decide, the winner is the batch with a trusted leader epoch, then
   the batch with more replicas, then the batch in a file that begins with the offset in
   its name, and finally the batch of the replica with the best rank.
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
    "its replica has the highest rank",
)

_PRESERVED_BITS = LOG_APPEND_TIME | TRANSACTIONAL | CONTROL
"""Batch attribute bits that the log cleaner preserves."""


class Conflict(NamedTuple):
    """A batch that was rejected because it contradicts another batch.

    * ``winner``: path of the file with the winning batch.
    * ``why``: reason for the decision.
    """

    row: int
    winner: str
    why: str


class RefusedBatch(NamedTuple):
    """A batch with a proven error.

    * ``row``: row number of the batch.
    * ``reason``: type of the error: the batch cannot be decoded, or its offset is
      wrong.
    * ``detail``: description for users.
    """

    row: int
    reason: str
    detail: str


class ConflictJudge:
    """Decides between contradicting batches within a partition.

    Rejected rows are collected in two lists:

    * ``conflicts``: batches that a more trustworthy batch contradicts.
    * ``refused``: batches that are incorrect themselves.
    """

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
        """Reject the batches in a cluster if a better batch contradicts them.

        ``contents`` has one list per distinct batch, sorted by offset, with the rows of
        its copies.
        """
        wrong: set[int] = set()
        active: list[int] = []
        headers = [self._batches.read(copies[0]) for copies in contents]
        for index, header in enumerate(headers):
            active = [
                candidate
                for candidate in active
                if headers[candidate].last_offset >= header.base_offset
            ]
            for other in active:
                if not {index, other} & wrong and not self._are_variants(
                    headers[other], header
                ):
                    is_first = self._is_first_right(contents[other], contents[index])
                    wrong.add(index if is_first else other)
            active.append(index)

    def _are_variants(self, one: BatchHeader, other: BatchHeader) -> bool:
        """Return whether a log cleaner can have produced one batch from the other.

        In magic 2, cleaning preserves the offset range, the producer fields and some
        attributes. It removes records or adds a delete horizon. In older formats the
        offset range can shrink as well, because it depends on the remaining messages.
        """
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
        """Decide between two contradicting batches, and record the rejected rows.

        Arguments are the rows of both batches, including copies. Returns whether the
        first batch wins.
        """
        faults = self._find_fault(one[0]), self._find_fault(other[0])
        if bool(faults[0]) != bool(faults[1]):
            refused, fault = (one, faults[0]) if faults[0] else (other, faults[1])
            self.refused += [RefusedBatch(row, *fault) for row in refused]
            return refused is other
        merits = self._list_merits(one), self._list_merits(other)
        is_first = merits[0] > merits[1]
        winner, losers = (one, other) if is_first else (other, one)
        differing = next(
            index for index in range(4) if merits[0][index] != merits[1][index]
        )
        why = _REASONS[differing]
        if differing == 1:
            votes = sorted((merits[0][1], merits[1][1]), reverse=True)
            why += f", {votes[0]} to {votes[1]}"
        path = self._batches.path(winner[0])
        self.conflicts += [Conflict(row, path, why) for row in losers]
        return is_first

    def _list_merits(self, copies: list[int]) -> tuple[bool, int, bool, int]:
        """Return the criteria that decide in favour of a batch, as a sortable tuple.

        ``copies`` are the rows of the batch. Higher values win. The tuple contains:

        1. Whether the leader epoch of any copy is trusted.
        2. The number of partition directories with a copy.
        3. Whether a file with a copy begins with the offset in its name.
        4. The negative index of the best-ranked file with a copy.

        ``_REASONS`` has one text for each criterion, in the same order.
        """
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
        """Return (reason, detail) if the batch itself is incorrect, otherwise ().

        Results are cached, because a batch can be involved in several conflicts.
        """
        if row not in self._faults:
            self._faults[row] = self._check_decoding(row) or self._check_offset(row)
        return self._faults[row]

    def _check_decoding(self, row: int) -> tuple[str, str] | tuple[()]:
        # Trust the offset while decoding, because the scan has already verified it
        # against all surrounding batches. Otherwise only the next batch would be
        # compared here, and a damaged offset in that batch would discredit this batch.
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
        """Check whether another file contains the same batch at another offset.

        The batch checksum does not cover the base offset, so a damaged offset can seem
        valid by coincidence.
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
        return (
            "offset",
            f"a copy of the batch at offset {min(others)} with another offset",
        )


def _get_preserved(header: BatchHeader) -> tuple[int, ...]:
    """Return the batch header fields that the log cleaner preserves."""
    return (
        header.magic,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        header.attributes & _PRESERVED_BITS,
    )
