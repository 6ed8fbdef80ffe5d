# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads rows of columns one by one, in any order, without an object for each.

Columns are those of ``column_encoder.py``, which encodes all rows of them.

Twin: ``fast/column_rows.pyx``. Differs from its twin in: faults as exceptions.
"""

from __future__ import annotations

from ... import errors
from .column_encoder import (
    BytesColumn,
    HeaderColumns,
    Numbers,
    check_row_number,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..record_types import BytesRows, HeaderLists, NumberRows

    Parts = tuple[int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]


class ColumnRows:
    """Columns of records, of which ``EncodedRows.extend_columns`` takes rows.

    The arguments are those of ``encode_columns``; offsets are left out. The columns
    are held for as long as this object lives. Raises ``EncodeError`` for a column that
    is shorter than ``count`` rows.
    """

    def __init__(
        self,
        count: int,
        offsets: NumberRows | None,
        timestamps: NumberRows | None,
        key: BytesRows,
        value: BytesRows,
        headers: HeaderLists | None,
    ) -> None:
        self.count = check_row_number(count)
        self._timestamps = None if timestamps is None else Numbers(timestamps, count)
        self._key, self._value = BytesColumn(key, count), BytesColumn(value, count)
        self._headers: HeaderColumns | None = None
        if headers is not None and count:
            self._headers = HeaderColumns(headers, count)

    def __len__(self) -> int:
        return self.count

    def read(self, number: int, timestamp: int) -> Parts:
        """Read timestamp, key, value and headers of a row; a null timestamp is given.

        Raises ``EncodeError`` with the number of the row in its path.
        """
        path = f"records[{number}]"
        if not 0 <= number < self.count:
            words = f"the columns have no such row; they have {self.count}"
            raise errors.EncodeError(words, path)
        if self._timestamps is not None and self._timestamps.is_valid(number):
            timestamp = self._timestamps[number]
            if timestamp < -1:
                raise errors.encode_failure(
                    errors.OUT_OF_RANGE,
                    "an int64 from -1",
                    timestamp,
                    f"{path}.timestamp",
                )
        key, value = self._key.read(number, path), self._value.read(number, path)
        if self._headers is None:
            return timestamp, key, value, ()
        return timestamp, key, value, self._headers.read(number, path)
