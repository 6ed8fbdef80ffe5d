# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Splits fetched bytes into runs of batches, and decodes each run in one call.

Records alone do not contain the timestamp type and the leader epoch of their batch.
Therefore, a run ends where these change. A run also ends at ``RUN_BYTES`` as fetched
and at ``RUN_DECOMPRESSED_BYTES`` after decompression, so that a consumer that takes one
record at a time does not hold a whole response as objects.

Only record batches (magic 2) in the form that brokers write are decoded here. At the
first run that contains anything else, the reader stops and the client's own code
continues: messages of magic 0 and 1, corrupt batches and false headers have the
client's own results and errors. Clients disagree with each other, and with kwire, about
most of these. Therefore, nothing in this file imitates a client: the checks accept only
batches that all clients read in the same way, and payloads are decompressed by the
client's own codecs.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._engine.active import record_engine as engine
from ..._limits import MIB, Limits
from ...errors import KwireError
from ...records import compression, read_batch_header
from ...records.classes import TransactionFilter
from ...schema.batch_layout import (
    BATCH_OVERHEAD,
    CODEC_MASK,
    CONTROL,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ...records import BatchHeader, Record
    from ...records.classes import AbortedTransaction

RUN_BYTES = 65_536
"""Size of the fetched bytes of a run at which the run ends. The batch with which a run
reaches this size is its last batch.
"""

RUN_DECOMPRESSED_BYTES = 4 * MIB
"""Decompressed size of a run in bytes at which the run ends. The batch with which a run
reaches this size is its last batch.
"""

MAX_RUN_BYTES = 128 * MIB
"""Maximum decompressed size of a run in bytes. The client decodes larger batches."""

_MAX_OFFSET = 2**62
_LIMITS = Limits(total_decompressed_bytes=MAX_RUN_BYTES)

# Beginning of the only record in a control batch: length 16, attributes 0, timestamp
# delta 0, offset delta 0, a key of 4 bytes with version 0 and the type, and the value
# size 6. The value and the header count 0 follow.
_ABORT, _COMMIT = 0, 1
_MARKERS = tuple(
    b"\x20\0\0\0\x08\0\0\0" + bytes([kind, 0x0C]) for kind in (_ABORT, _COMMIT)
)
_MARKER_TYPE_AT = BATCH_OVERHEAD + 8
_MARKER_SIZE = BATCH_OVERHEAD + 17


class Run(NamedTuple):
    """Decoded records of consecutive batches.

    Control records are omitted. Aborted records are omitted too if the consumer reads
    only committed records.

    * ``header``: header of the first batch.
    * ``next_offset``: offset after the last batch.
    * ``is_gapless``: True if the batches contain every offset from the base offset of
      ``header`` to ``next_offset``. In this case, a gap between two records is a
      control batch or an aborted batch.
    """

    rows: list[Record]
    header: BatchHeader
    next_offset: int
    is_gapless: bool


class RunReader:
    """Iterates once over the runs of fetched bytes.

    * ``start_offset``: offset of the first requested record. Records before it are
      included, because each client skips them in its own way.
    * ``aborted``: aborted transactions of the response, or None if the consumer also
      reads uncommitted records.
    * ``codecs``: the client's own decompression functions by codec number.
    * ``rest``: after the last run, the position in the bytes at which the client has to
      continue, or None if everything was decoded.

    A run has several batches only if their headers have consecutive offsets without
    gaps since ``start_offset``, because clients set their position after every batch.
    """

    def __init__(
        self,
        data: bytes,
        start_offset: int,
        check_crc: bool,
        aborted: Iterable[AbortedTransaction] | None,
        codecs: Mapping[int, Callable[[bytes], bytes]],
    ) -> None:
        self.rest: int | None = None
        self._data = data
        self._position = start_offset
        self._end_offset = -1
        self._is_committed = aborted is not None
        aborted = tuple(aborted or ())
        self._aborted_offsets = sorted(
            transaction.first_offset for transaction in aborted
        )
        self._options = engine.ReadOptions(
            partial(_decompress, codecs),
            TransactionFilter(aborted) if aborted else None,
            check_crc=check_crc,
            most_bytes=MAX_RUN_BYTES,
            piece_bytes=RUN_DECOMPRESSED_BYTES,
            check_records=True,
        )

    def __iter__(self) -> Iterator[Run]:
        header = self._read_header(0)
        while header is not None:
            first = header
            start = first.position
            if self._aborted_offsets and first.base_offset < self._end_offset:
                # The offsets decrease here. The end of an aborted transaction then
                # depends on the order of the batches, so the client has to decode them.
                self.rest = start
                return
            end, header = self._find_end(first)
            try:
                rows, position, next_offset = engine.decode_records(
                    self._data, self._options, start, end
                )
            except Exception:
                # Codecs of the client raise exceptions of many classes. The client
                # decodes this run again and raises its own exception.
                self.rest = start
                return
            assert next_offset is not None, "a run has at least one batch"
            if position < end:
                header = self._read_header(position)
            self._position = self._end_offset = next_offset
            yield Run(rows, first, next_offset, is_gapless(first))

    def _find_end(self, first: BatchHeader) -> tuple[int, BatchHeader | None]:
        """Find the end of the run that begins with the batch of ``first``.

        Returns the position after the last batch of the run, and the header of the
        batch at this position, or None if ``_read_header`` returns no header there.
        """
        end = first.position + first.size
        last_start = first.position + RUN_BYTES
        kind = first.attributes & LOG_APPEND_TIME
        epoch = first.partition_leader_epoch
        next_offset = first.last_offset + 1
        can_grow = is_gapless(first) and first.last_offset >= self._position
        while (header := self._read_header(end)) is not None:
            if not (
                can_grow
                and header.base_offset == next_offset
                and is_gapless(header)
                and header.attributes & LOG_APPEND_TIME == kind
                and header.partition_leader_epoch == epoch
                and end < last_start
            ):
                break
            end += header.size
            next_offset = header.last_offset + 1
        return end, header

    def _read_header(self, position: int) -> BatchHeader | None:
        """Read the batch header at ``position``.

        Returns None at the end of the bytes. Also returns None, and sets ``rest`` to
        ``position``, if the client's own code has to decode the batch.
        """
        try:
            header: BatchHeader | None = read_batch_header(
                self._data, position, check_crc=False
            )
        except KwireError:
            self.rest = position
            return None
        if header is None or (
            header.magic == 2
            and 0 <= header.base_offset <= header.last_offset < _MAX_OFFSET
            and not (self._is_committed and self._is_ambiguous(header))
        ):
            return header
        self.rest = position
        return None

    def _is_ambiguous(self, header: BatchHeader) -> bool:
        """Return whether clients treat a batch of a transaction differently.

        Each client compares the offsets of aborted transactions with a different offset
        of the batch, for example the first or the last one. Only some clients apply
        aborted transactions to batches without a producer id or without records.
        """
        if header.attributes & CONTROL:
            return not _is_marker(self._data, header)
        offsets = self._aborted_offsets
        if not offsets:
            return False
        if header.attributes & TRANSACTIONAL and (
            header.producer_id < 0 or not header.record_count
        ):
            return True
        first, last = header.base_offset, header.last_offset
        return first != last and (
            bisect_right(offsets, first) != bisect_right(offsets, last)
        )


def is_gapless(header: BatchHeader) -> bool:
    """Return whether the header shows that a batch has a record at each offset."""
    return header.record_count == header.last_offset - header.base_offset + 1


def find_codecs(module: Any) -> dict[int, Callable[[bytes], bytes]]:
    """Collect the decompression functions of a client's module by codec number.

    Codecs whose library is not installed are omitted. kwire's own codecs replace them.
    """
    return {
        number: getattr(module, f"{name}_decode")
        for number, name in enumerate(compression.NAMES)
        if number and getattr(module, f"has_{name}")()
    }


def read_batches(data: bytes, end: int) -> Iterator[tuple[BatchHeader, bool]]:
    """Read the headers before ``end``, for a client that has to skip these batches.

    Yields each header, and whether the batch is the marker of an aborted transaction.
    """
    position = 0
    while position < end:
        header = read_batch_header(data, position, check_crc=False)
        assert header is not None, "these batches have been read before"
        is_abort = (
            bool(header.attributes & CONTROL)
            and data[position + _MARKER_TYPE_AT] == _ABORT
        )
        position += header.size
        yield header, is_abort


def _is_marker(data: bytes, header: BatchHeader) -> bool:
    """Return whether a control batch is a transaction marker as brokers write it."""
    start = header.position + BATCH_OVERHEAD
    return (
        header.size == _MARKER_SIZE
        and header.record_count == 1
        and header.producer_id >= 0
        and not header.attributes & CODEC_MASK
        and data[start : start + len(_MARKERS[0])] in _MARKERS
        and data[header.position + _MARKER_SIZE - 1] == 0
    )


def _decompress(
    codecs: Mapping[int, Callable[[bytes], bytes]],
    codec: int,
    payload: memoryview,
    magic: int,
    position: int,
    remaining: int,
) -> bytes | memoryview:
    """Decompress a payload with the client's own function for its codec.

    If ``codecs`` does not contain the codec, kwire decompresses the payload.
    ``engine.ReadOptions`` describes the other parameters.
    """
    decompress = codecs.get(codec)
    if decompress is not None:
        return decompress(bytes(payload))
    return compression.decompress(
        codec, payload, magic, _LIMITS, position, engine.new_memory, remaining
    )
