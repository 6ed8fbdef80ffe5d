# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes columns as a magic 2 batch, without an object for each record.

A bytes column is a tuple of its validity (None if there are no nulls), its 32-bit
offsets, its bytes, and its first row. A column of numbers is a tuple without the
offsets. Slices of Arrow arrays can therefore be used without a copy.

Twin: ``fast/column_encoder.pyx``. Differs from its twin in: rows are created one by
one, and ``record_encoder.py`` encodes them.

Only in Python: ``check_row_number``, ``view_buffer``, ``view_validity``,
``make_offsets_failure``.
"""

from __future__ import annotations

from ... import errors
from .record_encoder import encode_batch
from .rows import LARGEST, classes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

    from ..record_types import (
        BatchHeader,
        BytesRows,
        Compress,
        HeaderLists,
        NumberRows,
        Record,
    )


def encode_columns(
    count: int,
    offsets: NumberRows | None,
    timestamps: NumberRows | None,
    key: BytesRows,
    value: BytesRows,
    headers: HeaderLists | None,
    header: BatchHeader,
    compress: Compress | None = None,
) -> bytes:
    """Encode ``count`` rows as one magic 2 batch.

    * ``offsets``: int64 column. None: contiguous offsets from the base offset.
    * ``timestamps`` (ms): int64 column, -1 for null. None: no timestamps.
    * ``key``, ``value``: bytes columns.
    * ``headers``: None, or a tuple of list offsets, first row, header count, header key
      column, and header value column.
    * ``header``, ``compress``: as for ``encode_batch``.

    Raises ``EncodeError`` if a row cannot be encoded. The error path contains the row.
    """
    if header.base_offset < 0:
        raise errors.EncodeError("expected an int64 from 0", "base_offset")
    rows = Rows(
        check_row_number(count),
        offsets,
        timestamps,
        key,
        value,
        headers,
        header.base_offset,
    )
    return encode_batch(rows, header, compress)


class Rows:
    """Rows of columns. Each iteration creates their parts one row after the other.

    For each row, offset, timestamp, key, value and headers are checked in this order
    before the parts are returned.
    """

    def __init__(
        self,
        count: int,
        offsets: NumberRows | None,
        timestamps: NumberRows | None,
        key: BytesRows,
        value: BytesRows,
        headers: HeaderLists | None,
        base_offset: int,
    ) -> None:
        self._count = count
        self._base_offset = base_offset
        self._offsets = None if offsets is None else Numbers(offsets, count)
        self._timestamps = None if timestamps is None else Numbers(timestamps, count)
        self._key, self._value = BytesColumn(key, count), BytesColumn(value, count)
        self._headers: HeaderColumns | None = None
        if headers is not None and count:
            self._headers = HeaderColumns(headers, count)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Record]:
        record = classes["record"]
        base, headers = self._base_offset, self._headers
        offset, timestamp = base - 1, -1
        for row in range(self._count):
            path = f"records[{row}]"
            previous, offset = offset, offset + 1
            if self._offsets is not None:
                offset = self._offsets[row]
            if self._timestamps is not None:
                timestamp = self._timestamps[row]
            if not previous < offset <= base + LARGEST:
                raise errors.EncodeError(
                    f"expected ascending offsets from {base} to {base + LARGEST}, "
                    f"got {offset}",
                    f"{path}.offset",
                )
            if timestamp < -1:
                raise errors.encode_failure(
                    errors.OUT_OF_RANGE,
                    "an int64 from -1",
                    timestamp,
                    f"{path}.timestamp",
                )
            yield record(
                offset=offset,
                timestamp=timestamp,
                key=self._key.read(row, path),
                value=self._value.read(row, path),
                headers=() if headers is None else headers.read(row, path),
            )


class HeaderColumns:
    """Columns of headers: list offsets of the rows, header keys and header values."""

    def __init__(self, headers: HeaderLists, count: int) -> None:
        lists, start, items, names, values = headers
        start, self._items = check_row_number(start), check_row_number(items)
        size = 4 * (start + count + 1)
        self._lists = view_buffer(lists, size)[:size].cast("i")[start:]
        self._names = BytesColumn(names, items)
        self._values = BytesColumn(values, items)

    def read(self, row: int, path: str) -> tuple[tuple[str, bytes | None], ...]:
        """Return the headers of a row as (key, value) pairs.

        Raises ``EncodeError`` if the offsets are invalid, or if a header key is null or
        not UTF-8. ``path`` is the error path of the record.
        """
        first, last = self._lists[row], self._lists[row + 1]
        if not 0 <= first <= last <= self._items:
            raise make_offsets_failure(path)
        found = []
        for item in range(first, last):
            name = self._names.read(item, path)
            if name is None:
                words = "expected a string, got None"
                raise errors.EncodeError(words, f"{path}.headers")
            try:
                text = name.decode()
            except UnicodeDecodeError:
                words = "expected header keys of UTF-8"
                raise errors.EncodeError(words, f"{path}.headers") from None
            found.append((text, self._values.read(item, path)))
        return tuple(found)


class Numbers:
    """Int64 column, whose rows are read by indexing. A null row returns -1."""

    def __init__(self, column: NumberRows, count: int) -> None:
        validity, data, start = column
        self._start = check_row_number(start)
        self._bits = view_validity(validity, self._start + count)
        size = 8 * (self._start + count)
        self._values = view_buffer(data, size)[:size].cast("q")

    def __getitem__(self, row: int) -> int:
        return self._values[self._start + row] if self.is_valid(row) else -1

    def is_valid(self, row: int) -> bool:
        """Return whether a row is not null, by its validity bit."""
        row += self._start
        return self._bits is None or bool(self._bits[row >> 3] >> (row & 7) & 1)


class BytesColumn:
    """Bytes column, whose 32-bit offsets are checked when a row is read."""

    def __init__(self, column: BytesRows, count: int) -> None:
        validity, offsets, data, start = column
        self._start = check_row_number(start)
        self._bits = view_validity(validity, self._start + count)
        size = 4 * (self._start + count + 1) if count else 0
        self._places = view_buffer(offsets, size)[:size].cast("i")
        self._data = view_buffer(data, 0)

    def read(self, row: int, path: str) -> bytes | None:
        """Return the bytes of a row, or None if the row is null.

        Raises ``EncodeError`` if the offsets do not ascend or exceed the bytes.
        ``path`` is the record's error path.
        """
        row += self._start
        first, last = self._places[row], self._places[row + 1]
        if not 0 <= first <= last <= len(self._data):
            raise make_offsets_failure(path)
        if self._bits is not None and not self._bits[row >> 3] >> (row & 7) & 1:
            return None
        return bytes(self._data[first:last])


def check_row_number(number: int) -> int:
    """Check a row count, or the first row of a column.

    Raises ``EncodeError`` if it is negative or exceeds the maximum INT32.
    """
    if not 0 <= number <= LARGEST:
        raise errors.EncodeError(
            "a column is shorter than the number of rows", "records"
        )
    return number


def view_buffer(data: Buffer | None, size: int) -> memoryview:
    """Return a view of a buffer as bytes.

    Raises ``EncodeError`` if the buffer has less than ``size`` bytes.
    """
    view = memoryview(b"")
    if data is not None and memoryview(data).nbytes:
        view = memoryview(data).cast("B")
    if view.nbytes < size:
        raise errors.EncodeError(
            "a column is shorter than the number of rows", "records"
        )
    return view


def view_validity(validity: Buffer | None, rows: int) -> memoryview | None:
    """Return a view of the validity for ``rows`` rows, or None if there is none."""
    return None if validity is None else view_buffer(validity, (rows + 7) // 8)


def make_offsets_failure(path: str) -> errors.EncodeError:
    """Create the exception for offsets that do not ascend or exceed the bytes."""
    return errors.EncodeError(
        "the offsets are not within the bytes of the column", path
    )
