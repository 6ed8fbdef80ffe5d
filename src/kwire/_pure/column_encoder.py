# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns into the bytes of a batch of magic 2, without an object for each record.

A column of bytes is a tuple of its validity (None: no nulls), its 32-bit offsets, its
bytes, and the row that it begins with; one of numbers lacks the offsets. So slices of
Arrow arrays come as they are.

Twin: ``_fast/column_encoder.pyx``. Differs from its twin in: rows are made on the way,
and ``record_encoder.py`` encodes them.
Python needs for itself: ``rows_of``, ``pieces``, ``numbers_of``, ``headers_of``,
``valid_rows``, ``offsets_of``, ``checked``.
"""

from __future__ import annotations

from .. import errors
from .record_encoder import _classes, encode_batch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def encode_columns(
    count: int,
    offsets: Any,
    timestamps: Any,
    key: Any,
    value: Any,
    headers: Any,
    header: Any,
    compress: Callable[[Any], bytes] | None = None,
) -> bytes:
    """Encode ``count`` rows as one batch of magic 2.

    ``offsets`` and ``timestamps`` (ms, null is -1) are columns of int64 or None: then
    offsets go on from the base, and there are no timestamps. ``headers`` is None or a
    tuple of list offsets, the first row, the keys and the values. ``header`` and
    ``compress`` are those of ``encode_batch``.
    Raises ``EncodeError`` with the row in its path.
    """
    rows = rows_of(count, offsets, timestamps, key, value, headers, header.base_offset)
    return encode_batch(rows, header, compress)


def rows_of(
    count: int,
    offsets: Any,
    timestamps: Any,
    key: Any,
    value: Any,
    headers: Any,
    base_offset: int = 0,
) -> list[Any]:
    """Make a record of each row of columns."""
    record = _classes["record"]
    places = range(base_offset, base_offset + count)
    if offsets is not None:
        places = numbers_of(offsets, count)  # type: ignore[assignment]
    stamps = [-1] * count if timestamps is None else numbers_of(timestamps, count)
    lists = [()] * count if headers is None else headers_of(headers, count)
    return [
        record(offset=offset, timestamp=stamp, key=k, value=v, headers=pairs)
        for offset, stamp, k, v, pairs in zip(
            places,
            stamps,
            pieces(key, count),
            pieces(value, count),
            lists,
            strict=True,
        )
    ]


def checked(data: Any, size: int) -> memoryview:
    """Look at a buffer that has to have ``size`` bytes."""
    view = memoryview(data).cast("B") if len(data) else memoryview(b"")
    if view.nbytes < size:
        raise errors.EncodeError("expected columns as long as their count", "records")
    return view


def valid_rows(validity: Any, start: int, count: int) -> list[bool]:
    """Tell of each row whether it is not null."""
    if validity is None:
        return [True] * count
    bits = checked(validity, (start + count + 7) // 8)
    return [
        bool(bits[row >> 3] >> (row & 7) & 1) for row in range(start, start + count)
    ]


def numbers_of(column: Any, count: int) -> list[int]:
    """Read a column of int64; null is -1."""
    validity, data, start = column
    view = checked(data, 8 * (start + count))
    values = view[8 * start : 8 * (start + count)].cast("q").tolist() if count else []
    known = valid_rows(validity, start, count)
    return [
        number if valid else -1 for number, valid in zip(values, known, strict=True)
    ]


def offsets_of(data: Any, start: int, count: int) -> list[int]:
    """Read the offsets of ``count`` rows, one more than rows."""
    if not count:
        return [0]
    view = checked(data, 4 * (start + count + 1))
    return view[4 * start : 4 * (start + count + 1)].cast("i").tolist()


def pieces(column: Any, count: int) -> list[bytes | None]:
    """Read a column of bytes."""
    validity, offsets, data, start = column
    places = offsets_of(offsets, start, count)
    content = bytes(data) if data is not None else b""
    known = valid_rows(validity, start, count)
    found: list[bytes | None] = []
    for row in range(count):
        first, last = places[row], places[row + 1]
        if not 0 <= first <= last <= len(content):
            raise errors.EncodeError(
                "expected offsets within the column's bytes", f"records[{row}]"
            )
        found.append(content[first:last] if known[row] else None)
    return found


def headers_of(headers: Any, count: int) -> list[Any]:
    """Read the headers of each row."""
    offsets, start, header_count, key, value = headers
    if not count:
        return []
    places = offsets_of(offsets, start, count)
    names = pieces(key, header_count)
    values = pieces(value, header_count)
    found = []
    for row in range(count):
        path = f"records[{row}]"
        first, last = places[row], places[row + 1]
        if not 0 <= first <= last <= header_count:
            raise errors.EncodeError("expected offsets within the column's bytes", path)
        try:
            texts = [name.decode() for name in names[first:last]]  # type: ignore[union-attr]
        except AttributeError:
            raise errors.EncodeError(
                "expected a string, got None", f"{path}.headers"
            ) from None
        except UnicodeDecodeError:
            raise errors.EncodeError(
                "expected header keys of UTF-8", f"{path}.headers"
            ) from None
        found.append(tuple(zip(texts, values[first:last], strict=True)))
    return found
