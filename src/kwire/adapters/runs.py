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
from ..batch_layout import BATCH_OVERHEAD, CODEC_MASK, CONTROL, LOG_APPEND_TIME
from ..errors import KwireError
from ..limits import MIB, Limits
from ..read_options import make_read_options
from ..records import decode_batches, read_batch_header

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..record_classes import AbortedTransaction
    from ..records import BatchHeader, Record

RUN_BYTES = 65_536
"""No batch joins a run that has this many bytes."""

RUN_DECOMPRESSED_BYTES = 4 * MIB
"""No batch joins a run that has this many bytes after decompression."""

_LIMITS = Limits(total_decompressed_bytes=128 * MIB)
"""Limits of a run. The client itself decodes a batch that is larger."""

_ABORT = 0
_MARKER_BYTES = 4
_MARKER_HEAD = b"\0\0\0\x08"


class RunReader:
    """Iterates over the runs of fetched bytes, once.

    A run is a list of records, the header of its first batch, and the offset after its
    last batch. Control records are left out, and aborted records too if ``aborted`` is
    not None. Records before ``start_offset`` are included, because each client skips
    them in its own way.
    Clients do not compare headers with records, so that a batch with a false header has
    its effects by the client's own rules. Therefore a run has more than one batch only
    if their headers have consecutive offsets without gaps from ``start_offset`` on.
    After the last run, ``rest`` is the position from which the client has to continue;
    None where everything was decoded.
    """

    def __init__(
        self,
        data: bytes,
        start_offset: int,
        check_crc: bool,
        aborted: Iterable[AbortedTransaction] | None,
    ) -> None:
        self.rest: int | None = None
        self._data = data
        self._position = start_offset
        self._end_offset = -1
        aborted = None if aborted is None else tuple(aborted)
        self._is_committed = aborted is not None
        self._aborted_offsets = [each.first_offset for each in aborted or ()]
        self._options = make_read_options(
            aborted_transactions=aborted,
            check_crc=check_crc,
            limits=_LIMITS,
            piece_bytes=RUN_DECOMPRESSED_BYTES,
        )

    def __iter__(self) -> Iterator[tuple[list[Record], BatchHeader, int]]:
        header = self._read_header(0)
        while header is not None:
            first = header
            start = first.position
            if self._aborted_offsets and first.base_offset < self._end_offset:
                # Where transactions end depends on the order of the batches.
                self.rest = start
                return
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
            self._position = self._end_offset = next_offset
            yield rows, first, next_offset

    def _find_end(self, first: BatchHeader) -> tuple[int, BatchHeader | None]:
        """Find the end of the run that ``first`` begins, and the header there."""
        end = first.position + first.size
        most = first.position + RUN_BYTES
        kind = first.attributes & LOG_APPEND_TIME
        epoch = first.partition_leader_epoch
        next_offset = first.last_offset + 1
        is_joined = can_join(first) and first.last_offset >= self._position
        while (header := self._read_header(end)) is not None:
            if not is_joined or (
                header.base_offset != next_offset
                or not can_join(header)
                or header.attributes & LOG_APPEND_TIME != kind
                or header.partition_leader_epoch != epoch
                or end >= most
            ):
                break
            end += header.size
            next_offset = header.last_offset + 1
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
        if header is None or (header.magic == 2 and not self._is_ambiguous(header)):
            return header
        self.rest = position
        return None

    def _is_ambiguous(self, header: BatchHeader) -> bool:
        """Whether clients differ in what they make of a batch of a transaction.

        A transaction that begins within a batch is no transaction of a broker, and
        neither is a control batch without a marker.
        """
        if not self._is_committed:
            return False
        if header.attributes & CONTROL:
            return not _is_marker(self._data, header)
        first, last = header.base_offset, header.last_offset
        return any(first < offset <= last for offset in self._aborted_offsets)


def can_join(header: BatchHeader) -> bool:
    """Whether a batch has no gaps and no control records, by its header."""
    return (
        header.count == header.last_offset - header.base_offset + 1
        and not header.attributes & CONTROL
    )


def read_batches(data: bytes, end: int) -> Iterator[tuple[BatchHeader, bool]]:
    """Read the headers before ``end``, for a client that continues there.

    Yields each header, and whether the batch is the marker of an aborted transaction.
    """
    position = 0
    while position < end:
        header = read_batch_header(data, position, check_crc=False)
        assert header is not None, "these batches have been read before"
        position += header.size
        is_control = bool(header.attributes & CONTROL)
        yield header, is_control and _is_abort_marker(data, header)


def _is_marker(data: bytes, header: BatchHeader) -> bool:
    """Whether a control batch has one record, whose key every client can read."""
    start, end = header.position + BATCH_OVERHEAD, header.position + header.size
    # As brokers write it: no attributes, deltas of 0, and the size of the key.
    if (
        header.producer_id >= 0
        and header.count == 1
        and not header.attributes & CODEC_MASK
        and data[start + 1 : start + 5] == _MARKER_HEAD
    ):
        return True
    try:
        batch = next(decode_batches(data, position=header.position, end=end))
    except (KwireError, ImportError):
        return False
    key = batch.records[0].key if len(batch.records) == 1 else None
    return key is not None and len(key) == _MARKER_BYTES and header.producer_id >= 0


def _is_abort_marker(data: bytes, header: BatchHeader) -> bool:
    end = header.position + header.size
    for batch in decode_batches(
        data, position=header.position, end=end, check_crc=False
    ):
        return any(record.type == _ABORT for record in batch.control_records)
    return False
