# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes batch rows one by one, before the batch header fields are known.

``rows.py`` and ``column_rows.py`` read and check the rows. ``record_encoder.py`` and
``column_encoder.py`` encode all batch rows in one call.

Twin: ``fast/encoded_rows.pyx``. Differs from its twin in: errors are exceptions.
"""

from __future__ import annotations

from ... import errors
from ...schema.batch_layout import BATCH_OVERHEAD
from .record_encoder import check_base, encode_record, join_batch
from .rows import LARGEST, check_rows, make_encode_failure, split
from .writer import ValueFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Buffer

    from ..record_types import BatchHeader, Compress, RecordLike
    from .column_rows import ColumnRows


class EncodedRows:
    """Rows of one magic 2 batch. Each row is encoded when it is added.

    * ``most``: maximum total record size in bytes. The first row is always accepted.

    ``extend`` and ``extend_columns`` add rows until the next one would exceed ``most``.
    ``content`` is the total record size in bytes, and ``len()`` returns the record
    count.

    Source: ``MemoryRecordsBuilder``.
    """

    def __init__(self, most: int) -> None:
        self.content = 0
        self._most = most
        self._count = 0
        self._base_timestamp = self._largest = -1
        self._records = bytearray()

    def __len__(self) -> int:
        return self._count

    def extend(
        self, records: Sequence[RecordLike], start: int = 0, timestamp: int = -1
    ) -> int:
        """Add records from index ``start`` on. Returns the first index not added.

        ``records`` is a list or a tuple of records, whose offsets are ignored.
        ``timestamp`` (ms) is the default timestamp. The function stops before the first
        record with which the batch would be too large.

        Raises ``EncodeError`` if a record is invalid. The error path contains the
        record, and the records before it remain in the batch.
        """
        check_rows(records)
        for index in range(max(start, 0), len(records)):
            path: list[str | int] = ["records", index]
            try:
                _, given, key, value, headers = split(records[index], 0, path)
                given = timestamp if given < 0 else given
                taken = self._take(given, key, value, headers, path)
            except ValueFault as fault:
                failure = make_encode_failure(fault, path)
            else:
                if not taken:
                    return index
                continue
            raise failure
        return max(start, len(records))

    def extend_columns(
        self, columns: ColumnRows, numbers: Buffer, start: int = 0, timestamp: int = -1
    ) -> int:
        """Add rows of columns from index ``start`` on, as ``extend`` does.

        ``numbers`` contains the numbers of the rows, from 0, as int64 in native byte
        order. ``timestamp`` (ms) replaces null timestamps.

        Raises ``EncodeError`` if a row is invalid. The error path contains the row
        number.
        """
        view = memoryview(numbers)
        if view.nbytes % 8:
            raise ValueError(f"numbers must be int64 (got {view.nbytes} bytes)")
        places = view.cast("B").cast("q") if view.nbytes else view
        for index in range(max(start, 0), len(places)):
            number = places[index]
            path: list[str | int] = ["records", number]
            parts = columns.read(number, timestamp)
            try:
                taken = self._take(*parts, path)
            except ValueFault as fault:
                failure = make_encode_failure(fault, path)
            else:
                if not taken:
                    return index
                continue
            raise failure
        return max(start, len(places))

    def make_batch(
        self, header: BatchHeader, compress: Compress | None = None
    ) -> bytes:
        """Return the encoded record batch with all rows.

        ``header`` and ``compress`` are the same as for ``encode_batch``. The rows are
        kept, so that the function can be called again with another header.
        """
        check_base(header)
        last = header.base_offset + self._count - 1
        numbers = self._base_timestamp, self._largest, last, self._count
        return join_batch(header, bytes(self._records), compress, *numbers)

    def _take(
        self,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: tuple[Any, ...],
        path: list[str | int],
    ) -> bool:
        """Encode a row and add it. Returns False if the batch would be too large."""
        base = self._base_timestamp if self._count else timestamp
        place = timestamp - base, self._count
        record = encode_record(*place, key, value, headers, path)
        if len(record) > LARGEST - BATCH_OVERHEAD - self.content:
            raise ValueFault(errors.TOO_LARGE, None)
        if self._count and self.content + len(record) > self._most:
            return False
        self._base_timestamp = base
        self._largest = max(self._largest if self._count else -1, timestamp)
        self._records += record
        self._count += 1
        self.content += len(record)
        return True
