# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generates hostile record sets, reproducibly.

A family is an endless generator of byte strings. Most inputs get a correct checksum, so
that the damage is decoded instead of only being detected by the checksum.
"""

import gzip
import itertools
import random

from tests.harness.hostile import _NUMBERS, _TOO_LONG
from tests.records.record_bytes import batch, message, raw_varint, repaired, wrapper
from tests.records.record_sets import SETS

SMALL = {name: data for name, data in SETS.items() if 0 < len(data) < 900}
HOSTILE = (0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF)


def seeds(name):
    """Yield (record set, random generator) endlessly. The sets are valid."""
    dice = random.Random(name)
    names = sorted(SMALL)
    while True:
        dice.shuffle(names)
        for name in names:
            yield SMALL[name], dice


def maybe_repaired(data, dice):
    """Correct the checksums in 80 % of the inputs. Return bytes."""
    return repaired(data) if dice.random() < 0.8 else bytes(data)


def changed_bytes():
    """Yield sets in which one byte is replaced, except in the checksum."""
    for data, dice in seeds("changed bytes"):
        position = dice.randrange(len(data))
        for new in (*HOSTILE, data[position] + 1 & 0xFF, data[position] - 1 & 0xFF):
            changed = bytearray(data)
            changed[position] = new
            yield maybe_repaired(changed, dice)


def correct_size(data):
    """Set the length in the header of a single entry to its real length."""
    return data[:8] + max(0, len(data) - 12).to_bytes(4, "big") + data[12:]


def spliced():
    """Yield sets in which bytes are inserted, deleted, repeated or reversed.

    The size of the entry is usually corrected.
    """
    for data, dice in seeds("spliced"):
        data = bytearray(data)
        for _ in range(dice.randint(1, 3)):
            position = dice.randrange(12, len(data) + 1)
            end = min(len(data), position + dice.randint(1, 6))
            action = dice.randrange(4)
            if action == 0:
                data[position:position] = dice.randbytes(dice.randint(1, 6))
            elif action == 1 and len(data) > 30:
                del data[position:end]
            elif action == 2:
                data[position:position] = data[position:end]
            else:
                data[position:end] = data[position:end][::-1]
        yield maybe_repaired(correct_size(data) if dice.random() < 0.8 else data, dice)


def large_numbers():
    """Yield sets in which a random position contains a huge length or count."""
    attacks = [
        *(number.to_bytes(4, "big") for number in (2**31 - 1, 2**31, 2**32 - 2, 2**16)),
        *map(raw_varint, _NUMBERS),
        *_TOO_LONG,
    ]
    for data, dice in seeds("large numbers"):
        position = dice.randrange(len(data) + 1)
        attack = dice.choice(attacks)
        end = position + len(attack) if dice.random() < 0.5 else position + 1
        data = data[:position] + attack + data[end:]
        yield maybe_repaired(correct_size(data) if dice.random() < 0.8 else data, dice)


def mixed_sets():
    """Yield concatenated entries of several sets, with random bytes between them."""
    for data, dice in seeds("mixed sets"):
        other_data = SMALL[dice.choice(sorted(SMALL))]
        between = dice.randbytes(dice.choice((0, 0, 0, 1, 12, 30)))
        cut = dice.randrange(len(other_data) + 1)
        yield data + between + other_data[:cut]
        yield other_data[:cut] + data


def random_records():
    """Yield batches with a valid header and random bytes as records."""
    for data, dice in seeds("random records"):
        size = dice.randrange(60)
        if dice.random() < 0.3:
            content = dice.randbytes(size)
        else:
            content = bytes(dice.choices((0, 1, 2, 4, 6, 8, 12, 0x80), k=size))
        count = dice.choice((0, 1, 1, 1, 2, 3, 8))
        kind = dice.randrange(5)
        if kind == 0:
            yield batch(content, count=count, attributes=dice.choice((0, 8, 0x30)))
        elif kind == 1:
            packed = gzip.compress(content, mtime=0)
            yield batch(packed, count=count, attributes=1)
        elif kind == 2:
            yield message(dice.randrange(2), 5, body=content)
        elif kind == 3:
            packed = gzip.compress(correct_size(data[:16] + content), mtime=0)
            yield wrapper(dice.randrange(2), offset=5, value=packed)
        else:
            packed = gzip.compress(repaired(data), mtime=0)
            yield wrapper(dice.randrange(2), offset=dice.choice((0, 9)), value=packed)


def changed_within():
    """Change one byte of uncompressed records, and compress the records with gzip."""
    for data, dice in seeds("changed within"):
        position = dice.randrange(len(data))
        changed = bytearray(data)
        changed[position] = dice.choice(HOSTILE)
        inner = repaired(changed) if dice.random() < 0.8 else bytes(changed)
        if data[16] == 2 and not data[22] & 7:
            packed = gzip.compress(bytes(changed[61:]), mtime=0)
            yield batch(packed, count=data[60], attributes=data[22] | 1)
        elif data[16] < 2:
            packed = gzip.compress(inner, mtime=0)
            yield wrapper(data[16], offset=dice.choice((0, 200)), value=packed)


FAMILIES = {
    "changed bytes": changed_bytes,
    "spliced": spliced,
    "large numbers": large_numbers,
    "mixed sets": mixed_sets,
    "random records": random_records,
    "changed within": changed_within,
}


def take(family, count):
    """Return the first ``count`` inputs of a family."""
    return itertools.islice(FAMILIES[family](), count)
