# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes record batches of all formats as Python objects.

``decode_batches`` reads the contents of Fetch responses and segments in magic 0, 1 and
2. ``encode_batch`` and ``BatchBuilder`` write them. ``options.py`` checks which options
each format supports, and the engine reads and writes the bytes. ``columns.py`` decodes
without one object per record, and ``conversion.py`` converts formats.
"""

from __future__ import annotations

from .. import errors
from .._engine.active import record_engine as engine
from .._limits import DEFAULT, PIECE_BYTES, Limits
from ..schema.batch_layout import (
    BATCH_OVERHEAD,
    CODEC_MASK,
    LOG_OVERHEAD,
    MESSAGE_OVERHEADS,
)
from . import compression as codecs
from .classes import Batch, BatchHeader, Record, TransactionFilter
from .options import BatchOptions, make_compressor, make_header, make_read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Literal, Self, overload

    from typing_extensions import Buffer

    from .._engine.record_types import RecordLike
    from .classes import AbortedTransaction as AbortedTransaction

__all__ = [
    "Batch",
    "BatchBuilder",
    "BatchHeader",
    "Record",
    "TransactionFilter",
    "decode_batches",
    "decode_records",
    "encode_batch",
    "iter_records",
    "read_batch_header",
    "read_last_header",
]

measure_run = engine.measure_run
read_batch_header = engine.read_batch_header
read_last_header = engine.read_last_header


def decode_batches(
    data: Buffer,
    *,
    position: int = 0,
    end: int | None = None,
    aborted_transactions: Iterable[AbortedTransaction]
    | TransactionFilter
    | None = None,
    start_offset: int | None = None,
    errors: Literal["strict", "replace"] = "strict",
    check_crc: bool = True,
    limits: Limits = DEFAULT,
) -> Iterator[Batch]:
    """Decode a record set batch by batch, in magic 0, 1 and 2, with any compression.

    * ``position``, ``end``: bounds of the batches in ``data``, in bytes.
    * ``aborted_transactions``: from a Fetch response, in any order, or a filter. If it
      is specified, even if it is empty, control records and records of aborted
      transactions are omitted. Their batches are returned without records.
    * ``start_offset``: omit records with lower offsets, and batches that only contain
      such records.
    * ``errors``: "strict" or "replace", for header keys that are not valid UTF-8.
    * ``check_crc``: False skips the checksum verification.

    An incomplete last batch ends the iteration without an error, because brokers may
    truncate a fetch there. If the iteration returns no batch at all, the next fetch
    must be larger. Time and memory are linear in the number of bytes, including
    decompressed bytes. The layout follows Kafka's protocol guide.

    Raises ``DecodeError`` with the byte offset in ``data`` when the invalid batch is
    reached. For checksums and compressed records, this is the batch's first byte.
    Raises ``ValueError`` immediately if ``position`` or ``end`` is outside of ``data``.
    Source: KIP-98, ``MemoryRecords``, ``CompletedFetch``.
    """
    options = make_read_options(
        errors=errors,
        check_crc=check_crc,
        limits=limits,
        start_offset=start_offset,
        aborted_transactions=aborted_transactions,
    )
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    end = view.nbytes if end is None else end
    engine.check_range(position, end, view.nbytes)
    return _batches(data if isinstance(data, bytes) else view, position, end, options)


def _batches(
    data: bytes | memoryview, position: int, end: int, options: engine.ReadOptions
) -> Iterator[Batch]:
    try:
        while (found := engine.read_batch(data, position, end, options)) is not None:
            header, records = found
            position = header.position + header.size
            yield Batch(header, records)
    finally:
        # Release the caller's buffer even if a stored exception keeps this frame alive.
        if isinstance(data, memoryview):
            data.release()


if TYPE_CHECKING:

    @overload
    def decode_records(
        data: Buffer,
        *,
        start_offset: int,
        end_offset: int | None = None,
        aborted_transactions: Iterable[AbortedTransaction]
        | TransactionFilter
        | None = None,
        errors: Literal["strict", "replace"] = "strict",
        check_crc: bool = True,
        limits: Limits = DEFAULT,
    ) -> tuple[list[Record], int]: ...
    @overload
    def decode_records(
        data: Buffer,
        *,
        start_offset: int | None = None,
        end_offset: int | None = None,
        aborted_transactions: Iterable[AbortedTransaction]
        | TransactionFilter
        | None = None,
        errors: Literal["strict", "replace"] = "strict",
        check_crc: bool = True,
        limits: Limits = DEFAULT,
    ) -> tuple[list[Record], int | None]: ...


def decode_records(
    data: Buffer,
    *,
    start_offset: int | None = None,
    end_offset: int | None = None,
    aborted_transactions: Iterable[AbortedTransaction]
    | TransactionFilter
    | None = None,
    errors: Literal["strict", "replace"] = "strict",
    check_crc: bool = True,
    limits: Limits = DEFAULT,
) -> tuple[list[Record], int | None]:
    """Decode a record set into one list of records; return it and the next offset.

    The next offset follows the last complete batch, even if that batch contains only
    control records, records of aborted transactions, or no records. A consumer that
    continues there skips no record and reads none twice. If there is no complete batch,
    the next offset is ``start_offset``, or None if no ``start_offset`` is specified.
    The list omits control records, records before ``start_offset``, and records from
    ``end_offset`` on. All other arguments are described in ``decode_batches``.

    Raises ``DecodeError`` as ``decode_batches`` does, before any record is returned,
    and ``LimitExceeded`` if the batches together exceed ``total_decompressed_bytes`` in
    ``limits``. Use ``iter_records`` for such input.
    """
    rows, _, next_offset = engine.decode_records(
        data,
        make_read_options(
            errors=errors,
            check_crc=check_crc,
            limits=limits,
            start_offset=start_offset,
            end_offset=end_offset,
            aborted_transactions=aborted_transactions,
        ),
    )
    return rows, start_offset if next_offset is None else next_offset


def iter_records(
    data: Buffer,
    *,
    piece_bytes: int = PIECE_BYTES,
    start_offset: int | None = None,
    end_offset: int | None = None,
    aborted_transactions: Iterable[AbortedTransaction]
    | TransactionFilter
    | None = None,
    errors: Literal["strict", "replace"] = "strict",
    check_crc: bool = True,
    limits: Limits = DEFAULT,
) -> Iterator[list[Record]]:
    """Decode a record set piece by piece, as lists of records.

    A piece ends with the batch that reaches ``piece_bytes`` (default 16 MiB), counted
    after decompression, so that memory usage does not depend on the number of batches.
    Every record of a compressed batch counts as at least 64 bytes. ``limits`` apply to
    every piece. All other arguments are described in ``decode_records``.

    Raises ``DecodeError`` as ``decode_batches`` does, when the invalid piece is
    reached.
    """
    options = make_read_options(
        errors=errors,
        check_crc=check_crc,
        limits=limits,
        start_offset=start_offset,
        end_offset=end_offset,
        aborted_transactions=aborted_transactions,
        piece_bytes=piece_bytes,
    )
    end = memoryview(data).nbytes
    start = -1
    position = 0
    while start < position < end:
        start = position
        rows, position, _ = engine.decode_records(data, options, start, end)
        if rows:
            yield rows
        # Release the records of this piece before the next piece is decoded.
        del rows


def read_records(
    data: Buffer,
    header: BatchHeader,
    replace: bool = False,
    check_crc: bool = True,
    limits: Limits = DEFAULT,
) -> tuple[Record, ...]:
    """Read the records from a batch of magic 2 or from a compressed message.

    * ``data``: bytes that contain the batch at ``header.position``.
    * ``replace``: replace invalid UTF-8 in header keys by U+FFFD instead of raising.
    * ``check_crc``: verify the messages inside a compressed message. The checksum of
      the batch itself is not verified here.

    Raises ``DecodeError`` for invalid data, and if the number of records or their
    decompressed size exceeds ``limits``.
    """
    if limits.records is not None and header.record_count > limits.records:
        raise errors.decode_failure(
            errors.TOO_MANY_RECORDS, header.record_count, header.position, ""
        )
    codec = header.attributes & CODEC_MASK
    records: tuple[Record, ...]
    if header.magic == 2:
        if not codec:
            return engine.read_records(data, header, replace=replace)
        payload = decompress_payload(data, header, limits)
        return engine.read_records(payload, header, compressed=True, replace=replace)
    payload = decompress_payload(data, header, limits)
    records = engine.read_inner_messages(payload, header, check_crc=check_crc)
    if limits.records is not None and len(records) > limits.records:
        raise errors.decode_failure(
            errors.TOO_MANY_RECORDS, len(records), header.position, ""
        )
    return records


def decompress_payload(data: Buffer, header: BatchHeader, limits: Limits) -> memoryview:
    """Decompress the payload from a batch of magic 2 or from a compressed message.

    ``data`` contains the batch at ``header.position``. Raises ``DecodeError`` as
    ``compression.decompress`` does.
    """
    with memoryview(data) as view, view.cast("B") as source:
        start, end = engine.find_payload(source, header)
        with source[start:end] as payload:
            return codecs.decompress(
                header.attributes & CODEC_MASK,
                payload,
                header.magic,
                limits,
                header.position,
            )


def encode_batch(
    records: Iterable[RecordLike],
    *,
    magic: int = 2,
    compression: str = "none",
    compression_level: int | None = None,
    base_offset: int | None = None,
    last_offset: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    partition_leader_epoch: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
    log_append_time: int | None = None,
    delete_horizon: int | None = None,
    max_timestamp: int | None = None,
) -> bytes:
    """Encode records as one record batch, or as messages of magic 0 or 1.

    A record is a ``Record``, which keeps its offset, or a tuple (key, value),
    (key, value, timestamp) or (key, value, timestamp, headers). Keys and values are
    bytes or None. In magic 0 and 1 without compression, each record becomes one
    message. Magic 0 has no timestamps.

    * ``base_offset``: default 0 for tuples, and the offset of the first ``Record``.
    * ``last_offset``: last offset of the batch, if compaction has removed records at
      its end. Required if there are no records.
    * ``max_timestamp`` (ms): only for a batch without records. Otherwise it is computed
      from the records.
    * ``log_append_time`` (ms): timestamp of all records.
    * ``delete_horizon`` (ms): time when the log cleaner may remove the tombstones.

    Raises ``EncodeError`` if the format cannot represent a value, or if an option is
    not valid. Its path names the record or the option.

    Source: ``MemoryRecordsBuilder``, KIP-98, KIP-534 (``delete_horizon``).
    """
    records = records if isinstance(records, (list, tuple)) else list(records)
    if base_offset is None:
        base_offset = records[0].offset if records and type(records[0]) is Record else 0
    options = BatchOptions(
        magic,
        compression,
        compression_level,
        is_transactional,
        is_control,
        base_offset,
        last_offset,
        producer_id,
        producer_epoch,
        base_sequence,
        partition_leader_epoch,
        log_append_time,
        delete_horizon,
        max_timestamp,
    )
    header = make_header(options, len(records))
    encode = engine.encode_batch if magic == 2 else engine.encode_messages
    return encode(records, header, make_compressor(options))


class BatchBuilder(engine.RecordList):
    """Collects records for one batch of at most ``max_bytes`` bytes.

    ``append(key, value, timestamp=None, headers=())`` adds a record and returns True,
    or returns False if the batch might then be larger than ``max_bytes``. The check
    uses an upper bound of the encoded size. The first record is always added, because a
    batch has at least one record.

    ``extend(records, start=0, timestamp=-1)`` adds the records of a list from index
    ``start`` on while they fit, and returns the index of the first record that was not
    added. Records without a timestamp get ``timestamp``.

    ``len()`` is the number of records. All other arguments are those of
    ``encode_batch``. A transactional batch may get its producer id in ``build``.

    Both methods raise ``EncodeError`` for an invalid record, and the constructor raises
    it for an invalid option.

    Source: ``MemoryRecordsBuilder.hasRoomFor``.
    """

    __slots__ = ("_codec", "_magic", "_options", "_room")

    def __init__(self, max_bytes: int, *, magic: int = 2, **options: Any) -> None:
        # Reject invalid options immediately, before the first record.
        checked = options
        if options.get("is_transactional"):
            checked = {**_ANY_PRODUCER, **options}
        encode_batch([(None, None)], magic=magic, **checked)
        self._magic = magic
        self._codec = codecs.codec_of(options.get("compression", "none"))
        self._options = options
        self._room = codecs.find_room(self._codec, max_bytes - self._overhead())
        super().__init__(magic, self._room)

    @property
    def size_bound_bytes(self) -> int:
        """Maximum number of bytes that ``build`` can return for the current records."""
        return self._overhead() + codecs.bound(self._codec, self.content)

    def build(
        self,
        *,
        producer_id: int = -1,
        producer_epoch: int = -1,
        base_sequence: int = -1,
    ) -> bytes:
        """Encode the records. Raises ``EncodeError`` if there are none.

        Arguments other than -1 replace the constructor arguments, because a producer
        only learns its id, its epoch and the sequence number when it sends the batch.
        The builder keeps its records, so the batch can be encoded again with other
        numbers.
        Source: ``ProducerBatch.setProducerState``.
        """
        given = {
            "producer_id": producer_id,
            "producer_epoch": producer_epoch,
            "base_sequence": base_sequence,
        }
        options = self._options | {k: v for k, v in given.items() if v != -1}
        return encode_batch(self.records, magic=self._magic, **options)

    def new_batch(self) -> Self:
        """Return an empty builder with the same options.

        This is faster than the constructor, which validates the options.
        """
        made = type(self).__new__(type(self))
        made._magic, made._codec = self._magic, self._codec
        made._options, made._room = self._options, self._room
        engine.RecordList.__init__(made, self._magic, self._room)
        return made

    def _overhead(self) -> int:
        """Return the encoded bytes in addition to the compressed records."""
        if self._magic == 2:
            return BATCH_OVERHEAD
        return (LOG_OVERHEAD + MESSAGE_OVERHEADS[self._magic]) * bool(self._codec)


_ANY_PRODUCER = {"producer_id": 0, "producer_epoch": 0, "base_sequence": 0}
"""Placeholder producer to validate options whose producer is set in ``build``."""
