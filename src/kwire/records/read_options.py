# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the options of reading a record set, and checks them in one place.

The public functions take them as keywords; the engine takes one ``ReadOptions``.
"""

from __future__ import annotations

from functools import partial

from .._engine.active import record_engine as engine
from .._limits import DEFAULT
from . import compression as codecs
from .classes import TransactionFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._limits import Limits
    from .classes import AbortedTransaction

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
    """Check the options of ``records.decode_batches`` and its like.

    Raises ``ValueError`` for another ``errors`` than "strict" and "replace", and for
    ``piece_bytes`` below 1.
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
    """Check the option ``errors``, which is for header keys that are not UTF-8."""
    if errors not in ("strict", "replace"):
        raise ValueError(f'errors must be "strict" or "replace" (got {errors!r:.40})')


def _to_int64(number: float) -> int:
    """Bring a bound, which may be infinite, into the range of what it bounds."""
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
