# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Validates options for reading record sets and writing batches.

The public functions accept options as keywords. ``make_read_options`` converts them to
the engine's ``ReadOptions``, and ``make_header`` to the ``BatchHeader`` of a batch. The
engine validates the records themselves.
"""

from __future__ import annotations

from collections import namedtuple
from functools import partial

from .. import errors
from .._engine.active import record_engine as engine
from .._limits import DEFAULT
from ..errors import EncodeError
from ..schema.batch_layout import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from . import compression as codecs
from .classes import BatchHeader, TransactionFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._engine.record_types import Compress
    from .._limits import Limits
    from .classes import AbortedTransaction

_INT16 = 2**15 - 1
_INT32 = 2**31 - 1
_INT64 = 2**63 - 1
_NO_PIECES = _INT64 // 2


def make_read_options(
    *,
    errors: str = "strict",
    check_crc: bool = True,
    limits: Limits | None = DEFAULT,
    start_offset: int | None = None,
    end_offset: int | None = None,
    piece_bytes: int | None = None,
    aborted_transactions: Iterable[AbortedTransaction]
    | TransactionFilter
    | None = None,
) -> engine.ReadOptions:
    """Validate the options for ``records.decode_batches`` and similar functions.

    Raises ``ValueError`` if ``errors`` is not "strict" or "replace", or if
    ``piece_bytes`` is less than 1.
    """
    check_errors(errors)
    if piece_bytes is not None and piece_bytes < 1:
        raise ValueError(f"piece_bytes must be 1 or more (got {piece_bytes!r:.40})")
    limits = limits or DEFAULT
    most_records = limits.records
    most_bytes = limits.total_decompressed_bytes
    transactions = aborted_transactions
    if transactions is not None and not isinstance(transactions, TransactionFilter):
        transactions = TransactionFilter(transactions)
    return engine.ReadOptions(
        _decompress if limits is DEFAULT else partial(_decompress_within, limits),
        transactions,
        -_INT64 - 1 if start_offset is None else _to_int64(start_offset),
        _INT64 if end_offset is None else _to_int64(end_offset) - 1,
        _INT64 if most_records is None else _to_int64(most_records),
        check_crc,
        errors == "replace",
        _INT64 if most_bytes is None else _to_int64(most_bytes),
        _NO_PIECES if piece_bytes is None else min(piece_bytes, _NO_PIECES),
    )


def check_errors(errors: str) -> None:
    """Raise ``ValueError`` if ``errors`` is not "strict" or "replace".

    The option applies to header keys that are not valid UTF-8.
    """
    if errors not in ("strict", "replace"):
        raise ValueError(f'errors must be "strict" or "replace" (got {errors!r:.40})')


def _to_int64(number: float) -> int:
    """Limit a bound, which may be infinite, to the int64 range."""
    return int(max(-_INT64, min(number, _INT64)))


def _decompress_within(
    limits: Limits,
    codec: int,
    payload: memoryview,
    magic: int,
    position: int,
    remaining: int,
) -> memoryview:
    return codecs.decompress(
        codec, payload, magic, limits, position, engine.new_memory, remaining
    )


_decompress = partial(_decompress_within, DEFAULT)


BatchOptions = namedtuple(
    "BatchOptions",
    "magic compression compression_level is_transactional is_control base_offset"
    " last_offset producer_id producer_epoch base_sequence partition_leader_epoch"
    " log_append_time delete_horizon max_timestamp",
    defaults=(2, "none", None, False, False, 0, None, -1, -1, -1, -1, None, None, None),
)
"""Arguments of ``records.encode_batch``. ``base_offset`` is never None here."""

_RULES = (
    ("base_offset", 0, 0, 0, _INT64, 0),
    ("last_offset", None, 2, None, None, 0),
    ("producer_id", -1, 2, -1, _INT64, 0),
    ("producer_epoch", -1, 2, -1, _INT16, 0),
    ("base_sequence", -1, 2, -1, _INT32, 0),
    ("partition_leader_epoch", -1, 0, -1, _INT32, 0),
    ("log_append_time", None, 1, -1, _INT64, LOG_APPEND_TIME),
    ("delete_horizon", None, 2, -1, _INT64, DELETE_HORIZON),
    ("max_timestamp", None, 0, -1, _INT64, 0),
)
"""Numeric options, in the order of ``BatchOptions``.

Columns: name, default, minimum magic, minimum and maximum value, and the attribute bit
that is set with the option. The range of ``last_offset`` depends on the base offset.
"""


def make_compressor(options: BatchOptions) -> Compress | None:
    """Return the function that compresses the records, or None without compression."""
    codec = codecs.codec_of(options.compression)
    if not codec:
        return None
    magic, level = options.magic, options.compression_level
    return lambda payload: codecs.compress(codec, payload, magic, level)


def make_header(options: BatchOptions, count: int) -> BatchHeader:
    """Validate the options, and create a batch header. Records are validated later.

    Raises ``EncodeError`` with the name of the option in its path.
    Source: ``MemoryRecordsBuilder``, ``ProduceRequest.validateRecords``.
    """
    (
        magic,
        compression,
        _,
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
    ) = options
    if magic not in (0, 1, 2):
        raise EncodeError(f"must be 0, 1 or 2 (got {errors.quote(magic)})", "magic")
    attributes = codec = codecs.codec_of(compression)
    if is_transactional:
        check_least_magic("is_transactional", magic, 2)
        attributes |= TRANSACTIONAL
    if is_control:
        check_least_magic("is_control", magic, 2)
        attributes |= CONTROL
    for number, (name, default, least_magic, low, high, bit) in zip(
        options[-len(_RULES) :], _RULES, strict=True
    ):
        if number is default:
            continue
        check_least_magic(name, magic, least_magic)
        if low is None or high is None:
            low, high = base_offset - 1, base_offset + _INT32
        if type(number) is not int or not low <= number <= high:
            raise EncodeError(
                f"must be {low} to {high} (got {errors.quote(number)})", name
            )
        attributes |= bit
    codecs.check_magic(codec, magic)
    if producer_id >= 0 and producer_epoch < 0:
        raise EncodeError(
            f"is required with a producer_id (got {producer_epoch})", "producer_epoch"
        )
    # Control batches are written by a coordinator: they have an epoch but no sequence.
    if producer_id >= 0 and base_sequence < 0 and not is_control:
        raise EncodeError(
            f"is required with a producer_id (got {base_sequence})", "base_sequence"
        )
    if is_transactional and producer_id < 0:
        raise EncodeError(
            f"is required in a transactional batch (got {producer_id})", "producer_id"
        )
    if count and max_timestamp is not None:
        raise EncodeError(
            "cannot be given: it is computed from the records", "max_timestamp"
        )
    if log_append_time is not None:
        max_timestamp = log_append_time
    if not count and last_offset is None:
        raise EncodeError(
            "must not be empty; pass last_offset for a batch that compaction emptied",
            "records",
        )
    return BatchHeader(
        magic=magic,
        attributes=attributes,
        base_offset=base_offset,
        last_offset=base_offset - 1 if last_offset is None else last_offset,
        base_timestamp=-1 if delete_horizon is None else delete_horizon,
        max_timestamp=-1 if max_timestamp is None else max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        partition_leader_epoch=partition_leader_epoch,
    )


def check_least_magic(name: str, magic: int, least: int) -> None:
    """Raise ``EncodeError`` if an option requires a higher magic."""
    if magic < least:
        formats = "magic 2" if least == 2 else "magic 1 or 2"
        raise EncodeError(f"requires {formats} (got magic={magic})", name)
