# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
r"""Formats many keys or values as JSON fields, with a few passes over all bytes.

Printable text is checked and escaped as one byte string, in which NUL separates the
values. UTF-8 uses this byte for no other character, and a value that contains NUL is
not printable. The field name specifies the encoding, as in a ``Cell``:
``"key":"text"``, ``"key_base64":"/w=="``.
"""

from __future__ import annotations

import re
from binascii import b2a_base64
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONTROLS = tuple(bytes([code]) for code in {*range(1, 32), 127} - {*b"\t\n\r"})
"""Control characters that printable text does not contain, except NUL."""

_LONG_FIELD = 500
"""Average field size in bytes above which ``index`` is faster than ``bytes.split``."""

_HIGH_CONTROL = re.compile(b"\xc2[\x80-\x9f]")
"""The characters U+0080 to U+009F in UTF-8."""

_ESCAPES = (
    (b"\\", rb"\\"),
    (b'"', rb"\""),
    (b"\n", rb"\n"),
    (b"\r", rb"\r"),
    (b"\t", rb"\t"),
)
"""JSON escapes for all characters in printable text. The backslash must be first."""


def format_fields(
    name: bytes, values: Sequence[bytes | None], byte_format: str
) -> list[bytes]:
    """Format values as fields with a common name, encoded as in ``make_cell``."""
    if byte_format == "text":
        fields = _format_texts(name, values)
        if fields is None:
            fields = [
                field
                for value in values
                for field in (
                    _format_texts(name, (value,))
                    or _format_encoded(name, (value,), "base64")
                )
            ]
        return fields
    return _format_encoded(name, values, byte_format)


def _format_texts(name: bytes, values: Sequence[bytes | None]) -> list[bytes] | None:
    """Return the fields, or None if any value is not printable text."""
    try:
        joined = b"\0".join(values)  # type: ignore[arg-type]
        has_null = False
    except TypeError:
        joined = b"\0".join([value or b"" for value in values])
        has_null = True
    # One search per character takes half as long as one pass with a translation table.
    if any(map(joined.__contains__, _CONTROLS)):
        return None
    if not joined.isascii():
        try:
            joined.decode()
        except UnicodeDecodeError:
            return None
        if _HIGH_CONTROL.search(joined):
            return None
    for character, escape in _ESCAPES:
        joined = joined.replace(character, escape)
    start = b'"%b":"' % name
    # Limit the replacement count, because a value may contain millions of NULs, and
    # replacing all NULs would allocate excessive memory.
    joined = joined.replace(b"\0", b'"\0' + start, len(values) - 1)
    fields = _split(b'%b%b"' % (start, joined), len(values))
    if b"\0" in fields[-1]:
        return None
    if has_null:
        null = b'"%b":null' % name
        return [
            null if value is None else field
            for value, field in zip(values, fields, strict=True)
        ]
    return fields


def _split(joined: bytes, count: int) -> list[bytes]:
    """Split at NUL into ``count`` fields. The last field may contain further NULs."""
    if len(joined) < _LONG_FIELD * count:
        return joined.split(b"\0", count - 1)
    # Long fields are split faster with ``index``, which compares many bytes per step,
    # than with ``split``, which compares single bytes.
    fields = []
    start = 0
    for _ in range(count - 1):
        end = joined.index(b"\0", start)
        fields.append(joined[start:end])
        start = end + 1
    fields.append(joined[start:])
    return fields


def _format_encoded(
    name: bytes, values: Sequence[bytes | None], byte_format: str
) -> list[bytes]:
    null = b'"%b":null' % name
    field = b'"%b_%b":"%%b"' % (name, byte_format.encode())
    return [
        null if value is None else field % encode_bytes(value, byte_format)
        for value in values
    ]


def encode_bytes(value: bytes, byte_format: str) -> bytes:
    """Encode bytes as "base64" or "hex"."""
    if byte_format == "hex":
        return value.hex().encode()
    return b2a_base64(value, newline=False)
