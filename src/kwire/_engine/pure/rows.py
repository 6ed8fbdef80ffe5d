# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the rows to encode, and splits them into their parts.

A row is a record, or a tuple of key, value, timestamp (ms, None for no timestamp) and
headers. Timestamp and headers are optional. A tuple gets the offset after the previous
row. ``record_encoder.py`` encodes the parts.

Twin: ``fast/rows.pyx``. Differs from its twin in: errors are exceptions, and headers
are encoded to check whether they are valid.

Only in Python: ``integer``, ``read_bytes``, ``make_type_fault``,
``make_encode_failure``, ``encode_headers``, ``varint``.
"""

from __future__ import annotations

import operator
import time

from ... import errors
from ...schema.batch_layout import LOG_OVERHEAD, MESSAGE_OVERHEADS
from .path import format_path
from .writer import ValueFault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typing_extensions import Buffer

    from ..record_types import Headers, Record, RecordLike

    Parts = tuple[int, int, bytes | None, bytes | None, tuple[Any, ...]]

LARGEST = 2**31 - 1
"""Maximum INT32, which limits sizes and the offset deltas in a batch."""

_INT64 = 2**63

classes: dict[str, type[Record]] = {}


def bind_rows(cls: type[Record]) -> None:
    """Set the class of records, whose objects are accepted as rows.

    The engine cannot import it, because the module of the class imports the engine.
    """
    classes["record"] = cls


class RecordList:
    """List of records for one batch, with a size limit.

    * ``magic``: record format of the batch: 0, 1 or 2.
    * ``max_bytes``: maximum size of the encoded batch, without compression. It is
      compared with an upper bound of the size.

    ``append`` returns False if the records might exceed ``max_bytes`` with the new
    record. The first record is always added. ``records`` is the record list, and
    ``content`` is the upper bound for its size. Mutable values are copied. Invalid
    records raise ``EncodeError``.

    Units: bytes. Source: ``AbstractRecords.recordSizeUpperBound``.
    """

    def __init__(self, magic: int, max_bytes: int) -> None:
        self.records: list[RecordLike] = []
        self.content = 0
        self._max_bytes = max_bytes
        self._magic = magic

    def __len__(self) -> int:
        return len(self.records)

    def append(
        self,
        key: Buffer | None,
        value: Buffer | None,
        timestamp: int | None = None,
        headers: Headers = (),
    ) -> bool:
        """Add a record. Returns False if the batch might then be too large.

        Raises ``EncodeError`` if the record is invalid.
        """
        if (
            headers == ()
            and (type(key) is bytes or key is None)
            and (type(value) is bytes or value is None)
            and (
                timestamp is None
                or (type(timestamp) is int and 0 <= timestamp < _INT64)
            )
        ):
            # Fast path for ordinary records: bytes or None, no headers, a valid
            # timestamp.
            content = self.content + bound_row(self._magic, key, value, 1)
            if content > self._max_bytes and self.records:
                return False
            self.content = content
            self.records.append((key, value, timestamp, ()))
            return True
        path: list[str | int] = []
        try:
            parts = split((key, value, timestamp, headers), 0, path)
            _, _, key, value, headers = parts
            pairs = encode_headers(headers, path)
            if self._magic < 2:
                check_no_headers(headers, path)
            headers = tuple((name, read_bytes(content)) for name, content in headers)
        except ValueFault as fault:
            failure = make_encode_failure(fault, path)
        else:
            content = self.content + bound_row(self._magic, key, value, len(pairs))
            if content > self._max_bytes and self.records:
                return False
            self.content = content
            self.records.append((key, value, timestamp, headers))
            return True
        raise failure

    def append_now(
        self,
        key: Buffer | None,
        value: Buffer | None,
        timestamp: int | None = None,
        headers: Headers = (),
    ) -> int:
        """Add a record with the current time as the default timestamp.

        Returns the current time (ms), even if ``timestamp`` is specified. Returns 0 if
        the batch might become too large, as ``append`` returns False then.
        """
        now = time.time_ns() // 1_000_000
        taken = self.append(
            key, value, now if timestamp is None else timestamp, headers
        )
        return now if taken else 0

    def extend(
        self, records: Sequence[RecordLike], start: int = 0, timestamp: int = -1
    ) -> int:
        """Add records from index ``start`` on. Returns the first index not added.

        ``records`` is a list or a tuple of records. ``timestamp`` (ms) is the default
        timestamp. The function stops before the first record with which the batch might
        be too large.

        Raises ``EncodeError`` if a record is invalid. The error path contains the
        record, and the records before it remain in the list.
        """
        check_rows(records)
        for index in range(max(start, 0), len(records)):
            path: list[str | int] = ["records", index]
            try:
                _, given, key, value, headers = split(records[index], 0, path)
                pairs = encode_headers(headers, path)
                if self._magic < 2:
                    check_no_headers(headers, path)
                headers = tuple((name, read_bytes(each)) for name, each in headers)
            except ValueFault as fault:
                failure = make_encode_failure(fault, path)
            else:
                content = self.content + bound_row(self._magic, key, value, len(pairs))
                if content > self._max_bytes and self.records:
                    return index
                self.content = content
                given = timestamp if given < 0 else given
                self.records.append((key, value, given, headers))
                continue
            raise failure
        return max(start, len(records))


def bound_row(
    magic: int, key: bytes | None, value: bytes | None, headers_size: int
) -> int:
    """Return an upper bound for the encoded size of a row in bytes.

    It is the size for the specified magic without compression.
    """
    content = len(key or b"") + len(value or b"")
    if magic < 2:
        return LOG_OVERHEAD + MESSAGE_OVERHEADS[magic] + content
    # Maximum sizes of the record length, attributes, timestamp delta, offset delta, key
    # length, value length and headers.
    return 5 + 1 + 10 + 5 + 5 + 5 + headers_size + content


def check_rows(rows: Any) -> None:
    """Raise ``TypeError`` if the rows are not a list or a tuple."""
    if not isinstance(rows, (list, tuple)):
        raise TypeError(
            f"records must be a list or a tuple (got {type(rows).__name__})"
        )


def check_no_headers(headers: tuple[Any, ...], path: list[str | int]) -> None:
    """Reject headers. The formats of magic 0 and 1 do not support them."""
    if headers:
        encode_headers(headers, path)
        path.append("headers")
        raise make_type_fault(headers, "no headers, which require magic 2")


def split(row: Any, offset: int, path: list[str | int]) -> Parts:
    """Split a row into offset, timestamp, key, value and headers.

    A tuple gets the offset ``offset``. A missing timestamp is -1. If a part is invalid,
    the name of the part is appended to the error path of the row.
    """
    # The fields of a record can have any type, because records do not check their
    # fields when they are created.
    key: Any
    value: Any
    headers: Any
    if type(row) is classes["record"]:
        offset, timestamp = row.offset, row.timestamp
        key, value, headers = row.key, row.value, row.headers
    elif isinstance(row, (tuple, list)) and 2 <= len(row) <= 4:
        key, value = row[:2]
        timestamp = row[2] if len(row) > 2 else -1
        headers = row[3] if len(row) > 3 else ()
    else:
        words = "a record or a tuple of key, value, timestamp and headers"
        raise make_type_fault(row, words)
    offset = integer(offset, 0, "offset", path)
    timestamp = -1 if timestamp is None else integer(timestamp, -1, "timestamp", path)
    if type(key) is not bytes and key is not None:
        path.append("key")
        key = read_bytes(key)
        path.pop()
    if type(value) is not bytes and value is not None:
        path.append("value")
        value = read_bytes(value)
        path.pop()
    if headers is None:
        headers = ()
    elif type(headers) is not tuple:
        path.append("headers")
        if isinstance(headers, (str, bytes, dict)):
            raise make_type_fault(headers, "pairs of a string and bytes")
        try:
            headers = tuple(headers)
        except TypeError:
            raise make_type_fault(headers, "pairs of a string and bytes") from None
        path.pop()
    return offset, timestamp, key, value, headers


def integer(value: Any, low: int, name: str, path: list[str | int]) -> int:
    """Return an offset or timestamp, which must be an int64 and at least ``low``.

    Raises ``ValueFault`` otherwise. ``name`` is then appended to the error path.
    """
    if type(value) is int and low <= value < 2**63:
        return value
    path.append(name)
    try:
        value = operator.index(value)
    except TypeError:
        raise make_type_fault(value, f"an int64 from {low}") from None
    if not low <= value < 2**63:
        raise ValueFault(errors.OUT_OF_RANGE, value, f"an int64 from {low}")
    path.pop()
    return int(value)


def read_bytes(value: Any) -> bytes | None:
    """Return the bytes in a contiguous buffer. None is returned unchanged.

    Raises ``ValueFault`` if the value is not bytes-like and not None.
    """
    if value is None or type(value) is bytes:
        return value
    try:
        view = memoryview(value)
        if not view.c_contiguous:
            raise TypeError
    except (TypeError, BufferError, ValueError):
        raise make_type_fault(value, "bytes or None") from None
    with view:
        return view.tobytes()


def make_type_fault(value: object, expected: str) -> ValueFault:
    """Create the fault for a value whose type is not the ``expected`` one."""
    return ValueFault(errors.WRONG_TYPE, value, expected)


def make_encode_failure(fault: ValueFault, path: list[str | int]) -> errors.EncodeError:
    """Create the ``EncodeError`` for a fault in the row at ``path``."""
    return errors.encode_failure(
        fault.code, fault.expected, fault.value, format_path(path)
    )


def encode_headers(headers: tuple[Any, ...], path: list[str | int]) -> bytes:
    """Encode record headers: VARINT count, then each key and value."""
    path.append("headers")
    parts = [varint(len(headers) << 1)]
    for index, header in enumerate(headers):
        path.append(index)
        if not isinstance(header, (tuple, list)) or len(header) != 2:
            raise make_type_fault(header, "a pair of a string and bytes")
        name, value = header
        path.append("key")
        if not isinstance(name, str):
            raise make_type_fault(name, "a string")
        try:
            # Call the method of str, because a subclass may override it.
            text = str.encode(name)
        except UnicodeEncodeError:
            raise ValueFault(errors.NOT_UTF8, name) from None
        path[-1] = "value"
        content = read_bytes(value)
        parts += (varint(len(text) << 1), text)
        if content is None:
            parts.append(b"\1")
        else:
            parts += (varint(len(content) << 1), content)
        del path[-2:]
    path.pop()
    return b"".join(parts)


def varint(raw: int) -> bytes:
    """Encode an unsigned varint. Signed numbers must already be zigzag-encoded."""
    if raw < len(VARINTS):
        return VARINTS[raw]
    if raw < 16384:
        return bytes((raw & 127 | 128, raw >> 7))
    out = bytearray()
    while raw > 127:
        out.append(raw & 127 | 128)
        raw >>= 7
    out.append(raw)
    return bytes(out)


# Encoded varints from 0 to 4095, which include most sizes and deltas.
VARINTS = [bytes((raw,)) for raw in range(128)]
VARINTS += [bytes((raw & 127 | 128, raw >> 7)) for raw in range(128, 4096)]
