# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes columns as a batch of magic 2, without an object for each record.

A column of bytes is a tuple of its validity (None: no nulls), its 32-bit offsets, its
bytes, and the row that it begins with; one of numbers lacks the offsets. So slices of
Arrow arrays come as they are.

Twin: ``fast/column_encoder.pyx``. Differs from its twin in: rows are made on the way,
and ``record_encoder.py`` encodes them.
Python needs for itself: ``check_row_number``, ``view_buffer``, ``view_validity``,
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
    """Encode ``count`` rows as one batch of magic 2.

    ``offsets`` and ``timestamps`` (ms, null is -1) are columns of int64 or None: then
    offsets go on from the base, and there are no timestamps. ``headers`` is None or a
    tuple of list offsets, the first row, the keys and the values. ``header`` and
    ``compress`` are those of ``encode_batch``.
    Raises ``EncodeError`` with the row in its path.
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
    """The rows of columns, made one by one each time that they are gone through.

    A row is checked before it is made: offset, timestamp, key, value, headers.
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
    """Columns of headers: lists of pairs, and the keys and values of these."""

    def __init__(self, headers: HeaderLists, count: int) -> None:
        lists, start, items, names, values = headers
        start, self._items = check_row_number(start), check_row_number(items)
        size = 4 * (start + count + 1)
        self._lists = view_buffer(lists, size)[:size].cast("i")[start:]
        self._names = BytesColumn(names, items)
        self._values = BytesColumn(values, items)

    def read(self, row: int, path: str) -> tuple[tuple[str, bytes | None], ...]:
        """Read the headers of a row; ``path`` is that of the record."""
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
    """A column of int64; null is -1."""

    def __init__(self, column: NumberRows, count: int) -> None:
        validity, data, start = column
        self._start = check_row_number(start)
        self._bits = view_validity(validity, self._start + count)
        size = 8 * (self._start + count)
        self._values = view_buffer(data, size)[:size].cast("q")

    def __getitem__(self, row: int) -> int:
        return self._values[self._start + row] if self.is_valid(row) else -1

    def is_valid(self, row: int) -> bool:
        """Whether a row is not null."""
        row += self._start
        return self._bits is None or bool(self._bits[row >> 3] >> (row & 7) & 1)


class BytesColumn:
    """A column of bytes."""

    def __init__(self, column: BytesRows, count: int) -> None:
        validity, offsets, data, start = column
        self._start = check_row_number(start)
        self._bits = view_validity(validity, self._start + count)
        size = 4 * (self._start + count + 1) if count else 0
        self._places = view_buffer(offsets, size)[:size].cast("i")
        self._data = view_buffer(data, 0)

    def read(self, row: int, path: str) -> bytes | None:
        """Read one row; ``path`` is that of the record, for what is wrong with it."""
        row += self._start
        first, last = self._places[row], self._places[row + 1]
        if not 0 <= first <= last <= len(self._data):
            raise make_offsets_failure(path)
        if self._bits is not None and not self._bits[row >> 3] >> (row & 7) & 1:
            return None
        return bytes(self._data[first:last])


def check_row_number(number: int) -> int:
    """Check a count of rows, or the row that a column begins with."""
    if not 0 <= number <= LARGEST:
        raise errors.EncodeError(
            "a column is shorter than the number of rows", "records"
        )
    return number


def view_buffer(data: Buffer | None, size: int) -> memoryview:
    """View a buffer, which must have ``size`` bytes or more."""
    view = memoryview(b"")
    if data is not None and memoryview(data).nbytes:
        view = memoryview(data).cast("B")
    if view.nbytes < size:
        raise errors.EncodeError(
            "a column is shorter than the number of rows", "records"
        )
    return view


def view_validity(validity: Buffer | None, rows: int) -> memoryview | None:
    """View the validity of rows; None if there is none."""
    return None if validity is None else view_buffer(validity, (rows + 7) // 8)


def make_offsets_failure(path: str) -> errors.EncodeError:
    """Make the exception for offsets that do not ascend within the bytes."""
    return errors.EncodeError(
        "the offsets are not within the bytes of the column", path
    )
