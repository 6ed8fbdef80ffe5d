# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""CRC-32C and CRC-32, the checksums of records.

``value`` is the checksum of the preceding bytes. The checksum of a concatenation can
therefore be computed part by part: pass the result for the first part as ``value`` for
the second part.

A table lookup takes about 90 ns per byte in Python, so CRC-32C is computed with one
large int for the whole input instead. Bit i of ``int.from_bytes(data, "little")`` is
the coefficient of x^(size - 1 - i), where size is in bits. Some multiples of the
polynomial have only four or six terms. For example, if x^a + x^b + x^c + 1 is a
multiple, each power x^(a + n) can be replaced by three lower powers. ``fold_message``
therefore repeatedly removes the lowest bits from the int and adds a few shifted copies
of these bits. When only a few bytes remain, tables for each of these bytes complete the
computation.

Twin: ``fast/checksums.pyx``. Differs from its twin in: large ints are used instead of
processor instructions, and ``zlib`` computes CRC-32.

Only in Python: ``view_bytes``, ``fold_message``, ``cuts``, ``rows_of_table``.
"""

from __future__ import annotations

import zlib
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["crc32", "crc32c"]

REVERSED = 0x82F63B78
"""Polynomial of CRC-32C without x^32. The highest bit is the coefficient of x^0."""

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
"""Folding steps: number of bits before the step, and the powers of the multiple.

The number of bits after the step is the first entry of the next line. The multiples
were found by searching for sums of powers that collide in a hash table. Only multiples
with a large difference between the first two powers are useful, because this difference
is the number of bits that one step can remove. Of the possible chains, this one needs
the fewest operations. Doubling all powers of a multiple gives another multiple. The
table processes the bits that remain after the last step.
"""

STATE, HIGH, LOW = 8 * 6777, 8 * 484, 8 * 100
"""Powers of the multiple x^STATE + x^HIGH + x^LOW + 1.

It folds inputs that have more bits than the first step of ``SPARSE`` accepts.
"""

CHUNK = (STATE - HIGH) // 8
"""Number of bytes that are folded with this multiple in each step."""


def crc32c(data: Buffer, value: int = 0) -> int:
    """Return the CRC-32C of a contiguous bytes-like object.

    It uses the Castagnoli polynomial of RFC 3720 and covers magic 2 record batches.

    Source: ``Crc32C``.
    """
    start = ~value & 0xFFFFFFFF
    with view_bytes(data) as view:
        size = min(len(view), len(ROWS))
        if len(view) > size:
            message = fold_message(view, start)
        else:
            message = int.from_bytes(view, "little") ^ start
    # If the input has fewer than 4 bytes, some bits of the start value remain.
    crc = message >> 8 * size
    message ^= crc << 8 * size
    for row, byte in zip(ROWS, message.to_bytes(size, "big"), strict=False):
        crc ^= row[byte]
    return ~crc & 0xFFFFFFFF


def crc32(data: Buffer, value: int = 0) -> int:
    """Return the CRC-32 of a contiguous bytes-like object.

    It uses the polynomial of IEEE 802.3, as ``zlib`` does, and covers magic 0 and 1
    messages.

    Source: ``Crc32``.
    """
    with view_bytes(data) as view:
        return zlib.crc32(view, value)


def view_bytes(data: Buffer) -> memoryview:
    """Return a view of the input as unsigned bytes.

    Raises ``TypeError`` if the input is not contiguous in memory.
    """
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    if view.ndim == 1 and view.format == "B":
        return view
    return memoryview(view.tobytes())


def fold_message(view: memoryview, start: int) -> int:
    """Fold a message into a short one that has the same CRC from start value 0.

    The result has one byte for each table in ``ROWS``.
    """
    head = len(view)
    if head > STATE // 8:
        head = (head - STATE // 8 - 1) % CHUNK + HIGH // 8 + 1
    message = int.from_bytes(view[:head], "little") ^ start
    bits = 8 * head
    if len(view) > head:
        # After the start value has been applied, leading zeros do not change the CRC.
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
    """Convert the folding steps of ``SPARSE`` to the operations of ``fold_message``.

    Each result contains the number of bits before and after the step, the mask of the
    bits that the step removes, and the shifts of the copies that it adds.
    """
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
    """Return the tables that compute the CRC of several bytes in one step.

    Table n contains the CRC of each byte value followed by n zero bytes.
    """
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
