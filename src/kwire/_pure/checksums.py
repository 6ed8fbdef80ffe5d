# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""CRC-32C and CRC-32: the checksums of records.

Both continue from ``value``, the checksum of the bytes before: the checksum of a
whole is that of its second part, continued from that of its first.

A table takes Python about 90 ns a byte, so CRC-32C works on one big int for the whole
message instead. Bit i of ``int.from_bytes(data, "little")`` is the coefficient of
x^(size - 1 - i), and some multiples of the polynomial have only four or six terms:
x^a + x^b + x^c + 1 lets any power x^(a + n) be replaced by three lower ones. So the
low bits of the int are cut off and come back as a few shifted copies (``folded``),
again and again, until a table for each byte that is left ends it.

Twin: ``_fast/checksums.pyx``. Differs from its twin in: big ints for instructions of
the processor, and ``zlib`` for CRC-32.
Python needs for itself: ``opened``, ``folded``, ``rows_of_table``.
"""

from __future__ import annotations

import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["crc32", "crc32c"]

REVERSED = 0x82F63B78
"""The polynomial of CRC-32C without x^32, the highest bit for x^0."""

STEPS = [
    (54216, (14867, 318, 278, 0)),
    (39667, (14867, 318, 278, 0)),
    (25118, (13554, 968, 200, 0)),
    (13554, (6777, 484, 100, 0)),
    (7261, (3746, 342, 206, 94, 90, 0)),
    (3857, (2023, 167, 166, 153, 83, 0)),
    (2023, (1059, 88, 85, 43, 4, 0)),
    (1059, (563, 109, 58, 53, 31, 0)),
    (605, (437, 177, 176, 171, 58, 0)),
    (437, (290, 136, 113, 107, 32, 0)),
]
"""From so many bits to those of the next step, by the powers of a sparse multiple.

Found by a search over sums of two and three powers that meet in a hash table, for few
powers with a wide gap behind the first: the gap is what one step can cut off. The
chain is the one of the lowest cost. Twice all powers give a multiple as well.
"""

LAST = 290
"""The bits that the steps leave to the table."""

DEGREE, HIGH, LOW = 8 * 6777, 8 * 484, 8 * 100
"""x^DEGREE + x^HIGH + x^LOW + 1, the multiple for messages longer than its degree."""

STATE_BYTES = DEGREE // 8
CHUNK_BITS = DEGREE - HIGH
CHUNK_BYTES = CHUNK_BITS // 8


def crc32c(data: Any, value: int = 0) -> int:
    """Give the CRC-32C of any contiguous bytes-like object.

    The polynomial of Castagnoli, as in RFC 3720; it covers batches of magic 2.
    Source: ``Crc32C``.
    """
    with opened(data) as view:
        size = len(view)
        start = min(size, (size - STATE_BYTES - 1) % CHUNK_BYTES + HIGH // 8 + 1)
        if size <= STATE_BYTES:
            start = size
        message = int.from_bytes(view[:start], "little") ^ (~value & 0xFFFFFFFF)
        bits = 8 * start
        if size > STATE_BYTES:
            # Zeros ahead of a message, and of the start value in it, change nothing.
            message <<= DEGREE - bits
            bits = DEGREE
            mask = (1 << CHUNK_BITS) - 1
            for at in range(start, size, CHUNK_BYTES):
                chunk = int.from_bytes(view[at : at + CHUNK_BYTES], "little")
                low = message & mask
                message >>= CHUNK_BITS
                message ^= low ^ low << HIGH - LOW ^ (low ^ chunk) << HIGH
    if bits > 8 * len(ROWS):
        message = folded(message, bits)
        bits = 8 * len(ROWS)
    # Of less than 4 bytes the end of the start value is left over.
    crc = message >> bits
    rest = message ^ crc << bits
    for row, byte in zip(ROWS, rest.to_bytes(bits // 8, "big"), strict=False):
        crc ^= row[byte]
    return ~crc & 0xFFFFFFFF


def crc32(data: Any, value: int = 0) -> int:
    """Give the CRC-32 of any contiguous bytes-like object.

    The polynomial of IEEE 802.3, as in ``zlib``; it covers messages of magic 0 and 1.
    Source: ``Crc32``.
    """
    with opened(data) as view:
        return zlib.crc32(view, value)


def opened(data: Any) -> memoryview:
    """View the input as bytes."""
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("only contiguous bytes have a checksum")
    if view.ndim == 1 and view.format == "B":
        return view
    return memoryview(view.tobytes())


def folded(message: int, bits: int) -> int:
    """Fold a message until its rows of the table are enough, which it then fills."""
    for size, cut, mask, shifts in CUTS:
        if bits > size:
            continue
    return message


def rows_of_table(count: int) -> list[list[int]]:
    """Give the CRC of each byte with 0, 1, 2 and more zeros behind it."""
    basis = []
    for bit in range(8):
        crc = 1 << bit
        for _ in range(8):
            crc = crc >> 1 ^ (REVERSED if crc & 1 else 0)
        basis.append(crc)
    rows: list[list[int]] = []
    for _ in range(count):
        row = [0]
        for crc in basis:
            row += [crc ^ other for other in row]
        rows.append(row)
        basis = [rows[0][crc & 255] ^ crc >> 8 for crc in basis]
    return rows
