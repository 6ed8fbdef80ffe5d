# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes the rows of a batch as they come, before the numbers of the batch are known.

``rows.py`` and ``column_rows.py`` read and check them. What encodes all rows at once
is in ``record_encoder.py`` and ``column_encoder.py``.

Twin: ``fast/encoded_rows.pyx``. Differs from its twin in: faults as exceptions.
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
    """The rows of one batch of magic 2, each encoded when it is taken.

    ``extend`` and ``extend_columns`` take rows while their records have at most
    ``most`` bytes; the first is always taken. ``content`` is the bytes of the records,
    ``len()`` counts them.
    Units: bytes. Source: ``MemoryRecordsBuilder``.
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
        """Add records from index ``start`` on while they fit; return the index after.

        ``records`` is a list or tuple of records; those without a timestamp get
        ``timestamp`` (ms). Offsets of records are ignored. Raises ``EncodeError`` with
        the record in its path for an invalid record; the records before it stay added.
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
        """Take rows of columns from index ``start`` on, as ``extend`` does.

        ``numbers`` has the numbers of the rows, from 0, as bytes of int64 of this
        machine. Rows whose timestamp is null get ``timestamp`` (ms). Raises
        ``EncodeError`` with the number of the row in its path.
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
        """Make the batch; ``header`` and ``compress`` are as for ``encode_batch``.

        The records stay, so that it can be made again, with another header.
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
        """Encode a row, and take it if it fits; return whether it does."""
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
