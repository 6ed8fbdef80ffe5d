# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads single rows of columns in any order, without creating an object for each row.

The columns are the same as in ``column_encoder.py``, which encodes all of their rows.

Twin: ``fast/column_rows.pyx``. Differs from its twin in: errors are exceptions.
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
    """Columns of records from which ``EncodedRows.extend_columns`` reads rows.

    The parameters are the same as for ``encode_columns``, but ``offsets`` is ignored.
    The object keeps references to the columns.

    Raises ``EncodeError`` if a column has fewer than ``count`` rows.
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
        """Read timestamp, key, value and headers of a row.

        ``timestamp`` (ms) replaces a null timestamp. Raises ``EncodeError`` if the row
        is invalid. The error path contains the row number.
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
