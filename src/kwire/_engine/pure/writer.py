# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write buffer, which grows when it is full, and functions that write varints.

Twin: ``fast/writer.pxd``. Differs from its twin in: the buffer is a ``bytearray``
instead of memory that the engine allocates, and an error is a ``ValueFault`` exception
instead of a fault code in the writer.
"""

from __future__ import annotations


class ValueFault(Exception):
    """Value that cannot be encoded. This exception never leaves the engine.

    ``code`` is a fault code from ``errors.py``. If ``expected`` is not empty, it
    replaces the field type description in the error message. ``encode`` and the other
    public functions convert the fault to an ``EncodeError``.
    """

    def __init__(self, code: int, value: object, expected: str = "") -> None:
        self.code = code
        self.value = value
        self.expected = expected


class Writer:
    """Encoded bytes, and the path to the field that is being written."""

    __slots__ = ("out", "path")

    def __init__(self) -> None:
        self.out = bytearray()
        self.path: list[str | int] = []


def write_unsigned_varint(writer: Writer, value: int) -> None:
    """Write an UNSIGNED_VARINT of up to 32 bits: 1 to 5 bytes.

    Source: ``ByteUtils.writeUnsignedVarint``.
    """
    while value > 0x7F:
        writer.out.append(value & 0x7F | 0x80)
        value >>= 7
    writer.out.append(value)


def write_unsigned_varlong(writer: Writer, value: int) -> None:
    """Write an unsigned varint with up to 64 bits: 1 to 10 bytes.

    Source: ``ByteUtils.writeUnsignedVarlong``.
    """
    while value > 0x7F:
        writer.out.append(value & 0x7F | 0x80)
        value >>= 7
    writer.out.append(value)
