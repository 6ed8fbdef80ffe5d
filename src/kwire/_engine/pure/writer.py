# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The write buffer, which grows at its end, and the writers of varints.

Twin: ``fast/writer.pxd``. Differs from its twin in: a ``bytearray`` for memory of
our own, and the ``ValueFault`` exception for a noted fault code.
"""

from __future__ import annotations


class ValueFault(Exception):
    """An encode fault of ``errors.py`` with the value that cannot be written.

    ``expected`` replaces the description of the field's type. Never leaves the engine:
    ``encode`` turns it into an ``EncodeError``.
    """

    def __init__(self, code: int, value: object, expected: str = "") -> None:
        self.code = code
        self.value = value
        self.expected = expected


class Writer:
    """Bytes written so far, and the path to the field that is being written."""

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
    """Write an unsigned varint of up to 64 bits: 1 to 10 bytes.

    Source: ``ByteUtils.writeUnsignedVarlong``.
    """
    while value > 0x7F:
        writer.out.append(value & 0x7F | 0x80)
        value >>= 7
    writer.out.append(value)
