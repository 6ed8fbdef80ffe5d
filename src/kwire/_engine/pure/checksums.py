# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""CRC-32C and CRC-32: the checksums of records.

Both continue from ``value``, the checksum of the bytes before: the checksum of a
whole is that of its second part, continued from that of its first.

A table takes Python about 90 ns a byte, so CRC-32C works on one big int for the whole
message instead. Bit i of ``int.from_bytes(data, "little")`` is the coefficient of
x^(size - 1 - i), and some multiples of the polynomial have only four or six terms:
x^a + x^b + x^c + 1 lets any power x^(a + n) be replaced by three lower ones. So the
low bits of the int are cut off and come back as a few shifted copies
(``fold_message``), again and again, until a table for each byte that is left ends it.

Twin: ``fast/checksums.pyx``. Differs from its twin in: big ints for instructions of
the processor, and ``zlib`` for CRC-32.
Python needs for itself: ``view_bytes``, ``fold_message``, ``cuts``, ``rows_of_table``.
"""

from __future__ import annotations

import zlib
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["crc32", "crc32c"]

REVERSED = 0x82F63B78
"""The polynomial of CRC-32C without x^32, the highest bit for x^0."""

SPARSE = [
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
    (296, ()),
]
"""From so many bits to the next so many, by the powers of a multiple.

Found by a search for sums of powers that meet in a hash table, among them those with a
wide gap after the first, as the gap is what one step can cut off; the chain has the
fewest operations of them. Twice all powers make a multiple as well. The last bits are
left to the table.
"""

STATE, HIGH, LOW = 8 * 6777, 8 * 484, 8 * 100
"""x^STATE + x^HIGH + x^LOW + 1 folds what has more bits than ``SPARSE`` starts with."""

CHUNK = (STATE - HIGH) // 8
"""The bytes that it folds at once."""


def crc32c(data: Buffer, value: int = 0) -> int:
    """Return the CRC-32C of any contiguous bytes-like object.

    The polynomial of Castagnoli, as in RFC 3720; it covers batches of magic 2.
    Source: ``Crc32C``.
    """
    start = ~value & 0xFFFFFFFF
    with view_bytes(data) as view:
        size = min(len(view), len(ROWS))
        if len(view) > size:
            message = fold_message(view, start)
        else:
            message = int.from_bytes(view, "little") ^ start
    # Of less than 4 bytes the end of the start value is left over.
    crc = message >> 8 * size
    message ^= crc << 8 * size
    for row, byte in zip(ROWS, message.to_bytes(size, "big"), strict=False):
        crc ^= row[byte]
    return ~crc & 0xFFFFFFFF


def crc32(data: Buffer, value: int = 0) -> int:
    """Return the CRC-32 of any contiguous bytes-like object.

    The polynomial of IEEE 802.3, as in ``zlib``; it covers messages of magic 0 and 1.
    Source: ``Crc32``.
    """
    with view_bytes(data) as view:
        return zlib.crc32(view, value)


def view_bytes(data: Buffer) -> memoryview:
    """View the input as bytes."""
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    if view.ndim == 1 and view.format == "B":
        return view
    return memoryview(view.tobytes())


def fold_message(view: memoryview, start: int) -> int:
    """Fold a message into one for all rows of the table, of the same CRC from 0."""
    head = len(view)
    if head > STATE // 8:
        head = (head - STATE // 8 - 1) % CHUNK + HIGH // 8 + 1
    message = int.from_bytes(view[:head], "little") ^ start
    bits = 8 * head
    if len(view) > head:
        # Zeros ahead of a message change nothing once the start value is in it.
        message <<= STATE - bits
        bits = STATE
        mask = (1 << 8 * CHUNK) - 1
        for at in range(head, len(view), CHUNK):
            chunk = int.from_bytes(view[at : at + CHUNK], "little")
            low = message & mask
            message >>= 8 * CHUNK
            message ^= low ^ low << HIGH - LOW ^ (low ^ chunk) << HIGH
    for before, after, mask, shifts in CUTS:
        if bits > after:
            if bits < before:
                message <<= before - bits
            low = message & mask
            message >>= before - after
            for shift in shifts:
                message ^= low << shift
            bits = after
    return message << 8 * len(ROWS) - bits


def cuts(
    sparse: list[tuple[int, tuple[int, ...]]],
) -> list[tuple[int, int, int, list[int]]]:
    """Return the steps of ``SPARSE``: bits before, after, mask of the cut, shifts."""
    return [
        (
            before,
            after,
            (1 << before - after) - 1,
            [powers[0] - power - (before - after) for power in powers[1:]],
        )
        for (before, powers), (after, _) in pairwise(sparse)
    ]


def rows_of_table(count: int) -> list[list[int]]:
    """Return the CRC of each byte with 0, 1, 2 and more zeros after it."""
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


ROWS = rows_of_table(SPARSE[-1][0] // 8)
CUTS = cuts(SPARSE)
