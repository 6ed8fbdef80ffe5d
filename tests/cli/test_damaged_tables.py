# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged files for ``kwire write`` result in records or one typed error.

A crash by a signal is not allowed. Child processes read all inputs in the same way as
the command, and encode the records.
"""

import random

import pytest

from fuzz import seeds
from fuzz.targets import fuzz_tables
from tests.harness import hostile
from tests.harness.guard_pages import check

INPUTS = hostile.share(10)
"""Number of damaged inputs per format and engine."""

WORDS = [
    number.to_bytes(size, "little", signed=True)
    for size in (1, 2, 4, 8)
    for number in (-1, 0, 1, 127, -128, *([1 << 20, -(1 << 31)] if size > 2 else []))
]
"""Numbers that are invalid as an offset, a size or a count."""


def damage(data, dice):
    """Return the input after one to three random changes.

    A change affects a bit, a byte, a number, or the length of the input.
    """
    data = bytearray(data)
    for _ in range(dice.randrange(1, 4)):
        position = dice.randrange(len(data))
        kind = dice.randrange(8)
        if kind == 0:
            data[position] ^= 1 << dice.randrange(8)
        elif kind == 1:
            data[position] = dice.randrange(256)
        elif kind == 2:
            del data[max(position, 1) :]
        elif kind == 3:
            start = dice.randrange(len(data))
            part = data[start : start + dice.randrange(1, 40)]
            data[position : position + len(part)] = part
        else:
            word = dice.choice(WORDS)
            position -= position % len(word)
            data[position : position + len(word)] = word
    return bytes(data)


@pytest.mark.parametrize("kind", fuzz_tables.KINDS[:-1])
def test_damaged_files_are_records_or_a_typed_error(kwire, kind, figure):
    """A wrong offset, size, count or byte never crashes the process."""
    first = fuzz_tables.KINDS.index(kind)
    good = [data[1:] for data in seeds.fuzz_tables() if data[0] == first]

    def work(note):
        dice = random.Random(kind)
        counts_by_outcome = {True: 0, False: 0}
        path = fuzz_tables.input_path()
        for number in range(INPUTS):
            data = damage(dice.choice(good), dice)
            note((number, data[:300]))
            path.write_bytes(data)
            _, error = fuzz_tables.read_file(kwire, kind, path)
            assert error is None or "\n" not in error, error
            counts_by_outcome[error is None] += 1
        assert all(counts_by_outcome.values()), counts_by_outcome

    check(work, longest_s=300)
    figure("P6", f"damaged files, {kind}", INPUTS, least=INPUTS)
