# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generates hostile input from valid bytes, reproducibly.

A family is an endless generator that yields ``Input``. ``INPUTS`` is the number of
inputs that tests use by default: a tenth of the promised number. ``make test GATE=1``
sets the promised number in ``KWIRE_HOSTILE_INPUTS``.
"""

import itertools
import os
import random
from typing import NamedTuple

from tests.harness import golden

INPUTS = int(os.environ.get("KWIRE_HOSTILE_INPUTS", "20000"))
STRIDE = max(1, 200_000 // INPUTS)
"""Tests try every n-th change per byte. In the gate, n is 1."""
MODES = {
    "strict": {},
    "java": {"compat": "java"},
    "zero-copy": {"zero_copy": True},
    "java-zero-copy": {"compat": "java", "zero_copy": True},
}
"""Arguments for ``decode`` by the name of the decoding mode."""

LARGEST_SEED = 1500
"""Maximum size of a vector in bytes. Larger vectors take long and find few errors."""


class Input(NamedTuple):
    """Bytes that may or may not be a valid message in the specified version."""

    message: str
    version: int
    data: bytes


def some(cases):
    """Return all cases if the gate runs. Otherwise, return every ``STRIDE``-th case."""
    return itertools.islice(cases, 0, None, STRIDE)


def share(part):
    """Return ``part`` percent of the number of inputs."""
    return INPUTS * part // 100


def seeds(name, turn):
    """Yield valid vectors endlessly: all pairs in shuffled order, then again."""
    dice = random.Random(f"{name} {turn}" if turn else name)
    pairs = list(golden.by_pair().values())
    while True:
        dice.shuffle(pairs)
        for vectors in pairs:
            vector = dice.choice(vectors)
            if len(vector.data) <= LARGEST_SEED:
                yield vector, dice


def prefixes(turn=0):
    """Yield vectors without their last bytes. A part is never a valid message."""
    for vector, dice in seeds("prefixes", turn):
        size = len(vector.data)
        ends = range(size) if size <= 8 else dice.sample(range(size), 8)
        for end in ends:
            yield Input(vector.message, vector.version, vector.data[:end])


def changed_bytes(turn=0):
    """Yield vectors with one byte replaced by a boundary value or a neighbor."""
    for vector, dice in seeds("changed bytes", turn):
        places = range(len(vector.data))
        for position in dice.sample(places, min(3, len(places))):
            old = vector.data[position]
            for new in (0, 1, 0x7F, 0x80, 0xFF, (old + 1) % 256, (old - 1) % 256):
                if new != old:
                    changed = bytearray(vector.data)
                    changed[position] = new
                    yield Input(vector.message, vector.version, bytes(changed))


def inserted_and_deleted(turn=0):
    """Yield vectors in which some bytes are inserted, deleted, repeated or reversed."""
    for vector, dice in seeds("inserted and deleted", turn):
        data = bytearray(vector.data)
        for _ in range(dice.randint(1, 3)):
            start = dice.randrange(len(data) + 1)
            end = min(len(data), start + dice.randint(1, 6))
            action = dice.randrange(4)
            if action == 0:
                data[start:start] = dice.randbytes(dice.randint(1, 6))
            elif action == 1:
                del data[start:end]
            elif action == 2:
                data[start:start] = data[start:end]
            else:
                data[start:end] = data[start:end][::-1]
        yield Input(vector.message, vector.version, bytes(data))


def random_bytes(turn=0):
    """Yield random bytes for random messages.

    Half of the inputs consist of small and boundary values, which pass more checks in
    the decoder than uniformly distributed bytes.
    """
    for vector, dice in seeds("random bytes", turn):
        size = dice.randrange(40)
        if dice.random() < 0.5:
            data = dice.randbytes(size)
        else:
            data = bytes(dice.choices((0, 1, 2, 3, 4, 0x7F, 0x80, 0xFF), k=size))
        yield Input(vector.message, vector.version, data)


def unsigned_varint(value):
    """Encode an integer as an unsigned varint."""
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


_TAGS = (0, 1, 2, 3, 5, 127, 128, 10_000, 2**31 - 1, 2**32 - 1)
_NUMBERS = (0, 1, 2, 127, 128, 2**31 - 1, 2**31, 2**32 - 1)
_TOO_LONG = (
    b"\x80" * 5,
    b"\xff\xff\xff\xff\x10",
    b"\xff" * 10,
    b"\x80\x80\x80\x80\x00",
)


def tag_sections(turn=0):
    """Yield vectors whose last tag section is replaced.

    The new section may have invalid counts, order, tags, sizes and contents.
    """
    for vector, dice in seeds("tag sections", turn):
        if vector.data[-1:] != b"\0":
            continue
        head = vector.data[:-1]
        tags = dice.choices(_TAGS, k=dice.randint(0, 4))
        if dice.random() < 0.6:
            tags = sorted(set(tags))
        section = bytearray()
        for tag in tags:
            content = dice.choice((b"", b"\0", b"\1", b"\1\0", dice.randbytes(6)))
            size = len(content) if dice.random() < 0.8 else dice.choice(_NUMBERS)
            section += unsigned_varint(tag) + unsigned_varint(size) + content
        count = len(tags) if dice.random() < 0.8 else dice.choice(_NUMBERS)
        start = unsigned_varint(count)
        if dice.random() < 0.05:
            start = dice.choice(_TOO_LONG)
        yield Input(vector.message, vector.version, head + start + bytes(section))


def large_counts(turn=0):
    """Yield vectors with a huge length or count at a random position.

    It overwrites as many bytes as it has, or only one byte.
    """
    attacks = [
        *(number.to_bytes(4, "big") for number in (2**31 - 1, 2**31, 2**32 - 2, 2**16)),
        *(number.to_bytes(2, "big") for number in (0x7FFF, 0x8000, 0xFFFE)),
        *map(unsigned_varint, _NUMBERS),
        *_TOO_LONG,
    ]
    for vector, dice in seeds("large counts", turn):
        position = dice.randrange(len(vector.data) + 1)
        attack = dice.choice(attacks)
        end = position + len(attack) if dice.random() < 0.5 else position + 1
        data = vector.data[:position] + attack + vector.data[end:]
        yield Input(vector.message, vector.version, data)


FAMILIES = {
    "prefixes": prefixes,
    "changed bytes": changed_bytes,
    "inserted and deleted": inserted_and_deleted,
    "random bytes": random_bytes,
    "tag sections": tag_sections,
    "large counts": large_counts,
}


def take(family, count, turn=0):
    """Return the first ``count`` inputs from a family.

    Different ``turn`` values yield different inputs.
    """
    return itertools.islice(FAMILIES[family](turn), count)
