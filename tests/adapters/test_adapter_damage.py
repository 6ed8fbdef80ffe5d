# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Random damage with a right checksum, read with and without the adapter.

A wrong checksum ends the reading in every client. A broker or producer that writes
wrong fields also writes a checksum that matches them, and a client reads such a batch
in its own way: it trusts other fields than kwire does. With the adapter the reading
must be the same, record by record, position by position, and error by error.
"""

import random
import struct

import pytest
from fetched import CLIENTS, Aborted, read_both

from kwire._backend import record_engine
from kwire.records import encode_batch

HEADER = {
    "base offset": (0, 8),
    "leader epoch": (12, 4),
    "attributes": (21, 2),
    "last offset delta": (23, 4),
    "base timestamp": (27, 8),
    "max timestamp": (35, 8),
    "producer id": (43, 8),
    "producer epoch": (51, 2),
    "base sequence": (53, 4),
    "record count": (57, 4),
}
"""The fields of a batch header by position and size; the length stays."""

SMALL = (-1, 0, 1, 2, 3, 4, 5, 7, 9, 12, 100, 2**31 - 1)
READINGS = 150
"""Damaged readings for each seed and client."""


def make_batches(dice):
    """Make a few batches, with gaps, headers, codecs and transactions."""
    batches, offset = [], dice.choice([0, 5])
    for _ in range(dice.randrange(1, 5)):
        rows = [
            (
                dice.choice([None, b"k%d" % n]),
                dice.choice([None, b"v" * dice.randrange(40)]),
                1000 + n,
                [("h", b"x")] * dice.randrange(2),
            )
            for n in range(dice.randrange(1, 6))
        ]
        options = {"base_offset": offset, "partition_leader_epoch": dice.randrange(2)}
        if dice.random() < 0.3:
            options |= {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
            options["is_transactional"] = True
        codec = dice.choice(["none", "none", "none", "gzip", "lz4", "zstd", "snappy"])
        batches.append(encode_batch(rows, compression=codec, **options))
        offset += len(rows)
        if options.get("is_transactional") and dice.random() < 0.7:
            options = {"is_transactional": True, "is_control": True, **options}
            marker = b"\0\0\0" + bytes([dice.randrange(2)])
            options |= {"base_offset": offset}
            batches.append(encode_batch([(marker, bytes(6))], **options))
            offset += 1
    return batches


def fix_crc(batch):
    """Write the checksum again."""
    return batch[:17] + struct.pack(">I", record_engine.crc32c(batch[21:])) + batch[21:]


def damage(dice, batch):
    """Change a field of the header, or a byte of the records; return if the header."""
    if dice.random() < 0.6:
        name = dice.choice([*HEADER, "last offset delta", "base offset"])
        position, size = HEADER[name]
        value = dice.choice(SMALL) if dice.random() < 0.7 else dice.getrandbits(31)
        if name == "attributes":
            value = dice.choice([0, 1, 4, 8, 16, 32, 48, 64, 128])
        value = min(value, 2 ** (8 * size - 1) - 1)
        field = value.to_bytes(size, "big", signed=True)
        return fix_crc(batch[:position] + field + batch[position + size :]), True
    position = dice.randrange(61, len(batch))
    byte = bytes([dice.choice([dice.randrange(256), batch[position] ^ 2])])
    return fix_crc(batch[:position] + byte + batch[position + 1 :]), False


def make_case(dice):
    """Make the bytes of a fetch with one or two damaged batches, and its options.

    Also returns whether the damage is in headers alone.
    """
    batches = make_batches(dice)
    is_header = True
    for _ in range(dice.randrange(1, 3)):
        number = dice.randrange(len(batches))
        batches[number], is_header_field = damage(dice, batches[number])
        is_header = is_header and is_header_field
    options = {
        "offset": dice.choice([0, 0, 5, 6, 8, 11]),
        "committed": dice.random() < 0.4,
        "check_crcs": dice.random() < 0.8,
        "aborted": [Aborted(7, dice.randrange(12))][: dice.randrange(2)],
    }
    return b"".join(batches), options, is_header


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("seed", range(8))
def test_damage_with_a_right_checksum_reads_as_without_the_adapter(client, seed):
    """No record, position or error differs if headers are damaged.

    If bytes of records are damaged, kwire may read further than the client: it reads
    what Java's client reads, such as a record with unknown attributes. No record of the
    client is missing, and none differs.
    """
    dice = random.Random(seed)
    for _ in range(READINGS):
        data, options, is_header = make_case(dice)
        own, adapted = read_both(client, data, **options)
        if is_header or own.error is None:
            assert adapted == own, (data.hex(), options)
        else:
            count = len(own.records)
            assert adapted.records[:count] == own.records, (data.hex(), options)
