# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read damaged batches with valid checksums, with and without the adapter.

All clients reject a wrong checksum. A broker or producer that writes wrong fields also
writes a valid checksum, and then the clients differ, because they trust other fields
than kwire. With the adapter, records, positions and errors must be the same as without
it.
"""

import random
import struct
import sys

import pytest

from kwire import Limits
from kwire._engine.active import record_engine
from kwire.client.adapters import runs
from kwire.records import compression, encode_batch
from tests.client.adapters.fetched import CLIENTS, Aborted, is_same, read_both
from tests.records.record_bytes import record, sized, varint

pytestmark = pytest.mark.usefixtures("decode_everything")

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
"""(position, size) of each header field in a batch, except for the length."""

VALUES = (-1, 0, 1, 2, 3, 4, 5, 7, 9, 12, 100, 2**31 - 1, 2**62, 2**63 - 1, -(2**63))
READINGS = 200
"""Damaged readings per seed and client."""


def make_batches(dice):
    """Return one to four random batches.

    They may have offset gaps, record headers, any codec, and transactions.
    """
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


def fix_batch(batch):
    """Recompute the length and the checksum of a batch."""
    batch = batch[:8] + struct.pack(">i", len(batch) - 12) + batch[12:]
    return batch[:17] + struct.pack(">I", record_engine.crc32c(batch[21:])) + batch[21:]


def damage_header(dice, batch):
    """Replace a random header field of a batch, but not its checksum."""
    name = dice.choice([*HEADER, "last offset delta", "base offset"])
    position, size = HEADER[name]
    value = dice.choice(VALUES) if dice.random() < 0.7 else dice.getrandbits(31)
    if name == "attributes":
        value = dice.choice([0, 1, 4, 8, 16, 32, 48, 64, 128])
    limit = 2 ** (8 * size - 1)
    value = max(-limit, min(value, limit - 1))
    field = value.to_bytes(size, "big", signed=True)
    return batch[:position] + field + batch[position + size :]


def damage_byte(dice, content, start=0):
    """Replace a random byte at or after the position ``start``."""
    if len(content) == start:
        return content
    position = dice.randrange(start, len(content))
    byte = dice.choice([dice.randrange(256), content[position] ^ 2, 0x80, 0xFF])
    return content[:position] + bytes([byte]) + content[position + 1 :]


def damage_payload(dice, batch):
    """Replace a random byte in the decompressed records, and compress them again."""
    codec = batch[22] & 7
    content = bytes(compression.decompress(codec, batch[61:], 2, Limits(), 0))
    return batch[:61] + compression.compress(codec, damage_byte(dice, content), 2)


def damage_frame(dice, batch):
    """Append bytes to the compressed records, repeat them, or remove some of them."""
    payload = batch[61:]
    changes = (
        payload + bytes(dice.randrange(1, 20)),
        payload + dice.randbytes(dice.randrange(1, 30)),
        payload + payload,
        payload[: dice.randrange(len(payload))],
        payload[: len(payload) // 2] + b"\0" + payload[len(payload) // 2 :],
    )
    return batch[:61] + dice.choice(changes)


def make_odd_records(dice, batch):
    """Replace the records by records of which one has an unusual field.

    The record sizes and the record count match, so that only this field is wrong.
    """
    codec = batch[22] & 7
    count = max(1, int.from_bytes(batch[57:61], "big", signed=True) % 6)
    numbers = (-(2**63), -(2**31), -5, -1, 0, 1, 9, 2**31 - 1, 2**62, 2**63 - 1)
    records = []
    hostile_index = dice.randrange(count)
    for index in range(count):
        fields = {"offset": index, "value": b"odd", "key": b"k"}
        written = record(**fields)
        kind = dice.randrange(6) if index == hostile_index else None
        if kind == 0:
            written = record(**fields, attributes=dice.choice([1, 127, 128, 129, 255]))
        elif kind == 1:
            written = record(**fields, timestamp=dice.choice(numbers))
        elif kind == 2:
            fields["offset"] = dice.choice([-1, 0, 1, 2, 3, 7, 2**31 - 1, -(2**31)])
            written = record(**fields)
        elif kind == 3:
            name = dice.choice([b"", b"h", b"\xff", b"\xed\xa0\x80", None])
            written = record(**fields, headers=[(name, dice.choice([None, b""]))])
        elif kind == 4:
            lengths = [varint(dice.choice([-3, -2, -1, 0, 1, 2])) for _ in range(3)]
            body = b"\0" + varint(0) + varint(index) + b"".join(lengths)
            written = sized(body + bytes(dice.randrange(3)))
        elif kind == 5:
            # Encode the attributes as a two-byte varint, which some clients accept.
            body = b"\x80\0" + varint(0) + varint(index) + sized(b"k") + sized(b"v")
            written = sized(body + varint(0))
        records.append(written)
    head = batch[:23] + struct.pack(">i", count - 1) + batch[27:57]
    head += struct.pack(">i", count)
    return head + compression.compress(codec, b"".join(records), 2)


DAMAGES = {
    "header": damage_header,
    "bytes": lambda dice, batch: damage_byte(dice, batch, 61),
    "payload": damage_payload,
    "frame": damage_frame,
    "records": make_odd_records,
}
"""Functions that damage a batch, by name."""


class Deserializer:
    """Deserializer for either client that rejects empty values."""

    def __call__(self, data):
        if data == b"":
            raise ValueError("empty")
        return data

    def deserialize(self, topic, *rest):
        """Deserialize a value with kafka-python's interface."""
        return self(rest[-1])


def make_case(dice, damages=tuple(DAMAGES), count=None):
    """Return fetched bytes with some damaged batches, and the fetch options."""
    batches = make_batches(dice)
    numbers = list(range(len(batches)))
    dice.shuffle(numbers)
    for number in numbers[: dice.randrange(1, 3) if count is None else count]:
        change = DAMAGES[dice.choice(damages)]
        batches[number] = fix_batch(change(dice, batches[number]))
    options = {
        "offset": dice.choice([0, 0, 5, 6, 8, 11]),
        "committed": dice.random() < 0.4,
        "check_crcs": dice.random() < 0.8,
        "aborted": [Aborted(dice.choice([7, 7, -1]), dice.randrange(12))],
    }
    options["aborted"] *= dice.randrange(2)
    if not options["offset"]:
        options["value"] = dice.choice([None, Deserializer()])
    return b"".join(batches), options


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("seed", range(3))
def test_damage_with_a_right_checksum_reads_as_without_the_adapter(
    client, damage, seed
):
    """With and without the adapter, damaged batches give an equal ``Reading``."""
    dice = random.Random(f"{damage} {seed}")
    for _ in range(READINGS):
        data, options = make_case(dice, [damage, damage, "header"])
        original, adapted = read_both(client, data, **options)
        assert is_same(client, original, adapted), (data.hex(), options)


@pytest.mark.parametrize("client", CLIENTS)
def test_undamaged_batches_of_all_codecs_are_decoded_by_kwire(client, monkeypatch):
    """The checks that pass damaged batches to the client accept valid batches."""
    rests = []

    class Reader(runs.RunReader):
        def __iter__(self):
            yield from super().__iter__()
            rests.append(self.rest)

    module = sys.modules[f"kwire.client.adapters.{CLIENTS[client]._package}_classes"]
    monkeypatch.setattr(module, "RunReader", Reader)
    dice = random.Random(1)
    for _ in range(READINGS):
        batches = b"".join(make_batches(dice))
        original, adapted = read_both(client, batches, committed=dice.random() < 0.5)
        assert adapted == original
    assert rests == [None] * READINGS


@pytest.mark.parametrize("client", CLIENTS)
def test_an_error_of_a_deserializer_leaves_the_position_of_the_client(client):
    """The position is at the invalid record, after the control and aborted batches."""
    fields = {"producer_id": 7, "producer_epoch": 0, "is_transactional": True}
    fields["base_sequence"] = 0
    control = {**fields, "is_control": True}
    data = b"".join(
        (
            encode_batch([(b"k", b"v")], base_offset=0, **fields),
            encode_batch([(b"\0\0\0\0", bytes(6))], base_offset=1, **control),
            encode_batch([(b"k", b"v")], base_offset=2),
            encode_batch([(b"\0\0\0\1", bytes(6))], base_offset=3, **control),
            encode_batch([(b"k", b"")], base_offset=4),
        )
    )
    for aborted in ([], [Aborted(7, 0)]):
        original, adapted = read_both(
            client, data, committed=True, aborted=aborted, value=Deserializer()
        )
        assert adapted == original
        assert original.error[0] is ValueError
        assert len(original.records) == 2 - len(aborted)
