# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fetched bytes, cut into runs of batches that are decoded at once.

Records alone do not say what their batch does: its kind of timestamps and its leader
epoch. So a run ends where these change. It also ends at ``RUN_BYTES`` as fetched and at
``RUN_DECOMPRESSED_BYTES`` after decompression, so that a consumer that takes one record
at a time does not hold a whole response as objects.

Only record batches (magic 2) without damage are decoded here. At the first byte that is
anything else the reader stops, and the client's own code continues from there: messages
of magic 0 and 1, corrupt batches and missing codecs have the client's own results and
errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._backend import record_engine as engine
from ..batch_layout import CONTROL, LOG_APPEND_TIME, TRANSACTIONAL
from ..errors import KwireError
from ..limits import MIB, Limits
from ..read_options import make_read_options
from ..records import decode_batches, read_batch_header

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..records import BatchHeader, Record, TransactionFilter

RUN_BYTES = 65_536
"""No batch joins a run that has this many bytes."""

RUN_DECOMPRESSED_BYTES = 4 * MIB
"""No batch joins a run that has this many bytes after decompression."""

_LIMITS = Limits(total_decompressed_bytes=128 * MIB)
"""Limits of a run. The client itself decodes a batch that is larger."""

_ABORT = 0


class RunReader:
    """Iterates over the runs of fetched bytes, once.

    A run is a list of records, the header of its first batch, and the offset after its
    last batch. Records before ``start_offset`` are left out, control records too, and
    what ``transactions`` hides.
    After the last run, ``rest`` is the position from which the client has to continue;
    None where everything was decoded.
    """

    def __init__(
        self,
        data: bytes,
        start_offset: int,
        check_crc: bool,
        transactions: TransactionFilter | None,
    ) -> None:
        self.rest: int | None = None
        self._data = data
        self._options = make_read_options(
            start_offset=start_offset,
            aborted_transactions=transactions,
            check_crc=check_crc,
            limits=_LIMITS,
            piece_bytes=RUN_DECOMPRESSED_BYTES,
        )

    def __iter__(self) -> Iterator[tuple[list[Record], BatchHeader, int]]:
        header = self._read_header(0)
        while header is not None:
            first = header
            start = first.position
            end, header = self._find_end(first)
            try:
                rows, position, next_offset = engine.decode_rows(
                    self._data, self._options, start, end
                )
            except (KwireError, ImportError):
                self.rest = start
                return
            assert next_offset is not None, "a run has at least one batch"
            if position < end:
                header = self._read_header(position)
            yield rows, first, next_offset

    def _find_end(self, first: BatchHeader) -> tuple[int, BatchHeader | None]:
        """Find the end of the run that ``first`` begins, and the header there."""
        end = first.position + first.size
        most = first.position + RUN_BYTES
        kind = first.attributes & LOG_APPEND_TIME
        epoch = first.partition_leader_epoch
        while (header := self._read_header(end)) is not None:
            if (
                header.attributes & LOG_APPEND_TIME != kind
                or header.partition_leader_epoch != epoch
                or end >= most
            ):
                break
            end += header.size
        return end, header

    def _read_header(self, position: int) -> BatchHeader | None:
        """Read the next header; None at the end, and where the client continues."""
        try:
            header: BatchHeader | None = read_batch_header(
                self._data, position, check_crc=False
            )
        except KwireError:
            self.rest = position
            return None
        if header is not None and header.magic != 2:
            self.rest = position
            return None
        return header


def read_filtered_batches(data: bytes, end: int) -> Iterator[tuple[BatchHeader, bool]]:
    """Read what a filter of transactions was shown before ``end``, for another one.

    Yields the header of each control and transactional batch, and whether the batch is
    the marker of an aborted transaction.
    """
    position = 0
    while position < end:
        header = read_batch_header(data, position, check_crc=False)
        assert header is not None, "these batches have been read before"
        position += header.size
        if header.attributes & CONTROL:
            yield header, _is_abort_marker(data, header)
        elif header.attributes & TRANSACTIONAL:
            yield header, False


def _is_abort_marker(data: bytes, header: BatchHeader) -> bool:
    end = header.position + header.size
    for batch in decode_batches(
        data, position=header.position, end=end, check_crc=False
    ):
        return any(record.type == _ABORT for record in batch.control_records)
    return False
