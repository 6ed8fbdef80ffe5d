# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Valid inputs for the table in ``entries.py``, and functions that damage them.

Where available, valid inputs come from real brokers (``tests/data``) or from Kafka's
own classes (the golden vectors). Damaged inputs are identical in every run.
"""

import gzip
import importlib
import io
import json
import random
import struct
import zlib
from collections.abc import Iterator
from functools import cache

import crc32c
import pyarrow as pa
from pyarrow import parquet

import kwire
from tests.harness import golden
from tests.harness.hostile import _NUMBERS, _TOO_LONG, unsigned_varint

DATA = golden.FOLDER.parent / "data"
SCHEMAS = DATA.parent.parent / "src" / "kwire" / "drafts" / "schemas"
NEWEST = DATA / "4.3.1" / "data"

HOSTILE = (0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF)
TEXTS = (
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b'"',
    b"\\",
    b"\n",
    b"\r",
    b" ",
    b"=",
    b"-",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"NaN",
    b"0x7f",
    b"\\ud800",
    b"\xed\xa0\x80",
    b"9" * 19,
    b"9" * 400,
    b"9" * 5000,
    b"[" * 3000,
    b'{"a":' * 1500,
    b"\xd9\xa1",
    b"\0",
    b"\x85",
    b"\xe2\x80\xa8",
    b"%00",
    b"//",
    b"/*",
    b"0+",
)
"""Fragments that often break parsers: brackets, large numbers, and other digits."""


# Good bytes ---------------------------------------------------------------------------


def files(pattern, most=2000, least=1):
    """Return the contents of recorded broker files, without duplicates.

    * ``pattern``: path pattern below ``data``.
    * ``most`` and ``least``: limits of the file size in bytes.
    """
    contents = {}
    for path in sorted(DATA.glob(pattern)):
        data = path.read_bytes()
        if least <= len(data) <= most:
            contents.setdefault(data)
    return list(contents)


@cache
def batches(most=700):
    """Return up to two batches per kind from real broker logs."""
    batches_by_kind: dict[tuple, list[bytes]] = {}
    for path in sorted(DATA.glob("*/data/*/*.log")):
        data, start = path.read_bytes(), 0
        while len(data) - start > 17:
            size = int.from_bytes(data[start + 8 : start + 12], "big") + 12
            piece = data[start : start + size]
            start += size
            if len(piece) < size or not size <= most:
                continue
            magic = piece[16]
            codes = piece[22] if magic == 2 else piece[17]
            kind = magic, codes, path.parent.name.startswith("__")
            if len(batches_by_kind.setdefault(kind, [])) < 2:
                batches_by_kind[kind].append(piece)
    return [piece for pieces in batches_by_kind.values() for piece in pieces]


def payloads(codec):
    """Return the payloads with this codec from magic 2 batches of real broker logs."""
    return [
        piece[61:]
        for piece in batches(1500)
        if piece[16] == 2 and piece[22] & 7 == codec and not piece[22] & 0x20
    ]


def records_of(topic):
    """Return keys and values of an internal topic, encoded by ``pair``.

    The result contains one pair per kind from real broker logs, and all pairs that
    Kafka's classes have encoded for the golden files.
    """
    pairs_by_kind = {}
    for path in sorted(DATA.glob(f"*/data/{topic}-0/*.log")):
        for batch in kwire.records.decode_batches(path.read_bytes()):
            if not batch.is_control:
                for record in batch.records:
                    key, value = record.key, record.value
                    kind = (key or b"")[:2], (value or b"")[:3]
                    pairs_by_kind.setdefault(kind, pair(key, value))
    for line in (golden.FOLDER / "internal-topics.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["topic"] == topic:
            pairs_by_kind[line] = pair(
                *(row[k] and bytes.fromhex(row[k]) for k in PARTS)
            )
    return list(pairs_by_kind.values())


PARTS = "key", "value"


def control_records():
    """Return keys and values of control records in real broker logs."""
    pairs = {}
    for piece in batches():
        if piece[16] == 2 and piece[22] & 0x20:
            for batch in kwire.records.decode_batches(piece):
                for record in batch.records:
                    pairs[pair(record.key, record.value)] = None
    return list(pairs)


def pair(key, value):
    """Encode a key and a value as one input.

    The input contains the INT16 key size, which is -1 for null, a byte that is 0xff if
    the value is null, the key, and the value.
    """
    size = b"\xff\xff" if key is None else len(key).to_bytes(2, "big")
    marker = b"\xff" if value is None else b"\0"
    return size + marker + (key or b"") + (value or b"")


def bodies(name, *versions, most=400):
    """Return golden vectors of a message in some versions, of up to ``most`` bytes."""
    return [
        vector.data
        for (message, version), vectors in golden.by_pair().items()
        if message == name and (not versions or version in versions)
        for vector in vectors
        if len(vector.data) <= most
    ]


def request_frames(name):
    """Return request frames of one class, with golden vectors of all versions."""
    cls = getattr(kwire.messages, name)
    return [
        request_head(cls, version) + body
        for version in cls.valid_versions
        for body in bodies(name, version)
    ]


def requests(most=300):
    """Return request frames for a fifth of all golden vectors."""
    frames = []
    for (name, version), vectors in golden.by_pair().items():
        cls = getattr(kwire.messages, name)
        if cls.kind == "request" and vectors[0].message == name:
            body = vectors[version % len(vectors)].data
            if len(body) <= most:
                frames.append(request_head(cls, version) + body)
    return frames[::5]


def request_head(cls, version):
    """Encode a request header (version 0, 1 or 2) as Kafka does.

    The header version is derived independently of ``framing`` on purpose.
    """
    head = struct.pack(">hhi", cls.api_key, version, 7)
    if cls.api_key == 7 and version == 0:
        return head
    return head + b"\0\2me" + b"\0" * (version in cls.flexible_versions)


def responses(name, version):
    """Return response frames with golden vectors for one class and version.

    Their header version is derived independently of ``framing``, as for requests.
    """
    cls = getattr(kwire.messages, name)
    flexible = version in cls.flexible_versions and cls.api_key != 18
    head = b"\0\0\0\7" + b"\0" * flexible
    return [head + body for body in bodies(name, version)]


def prefixed(name):
    """Return golden vectors of a message after their INT16 version."""
    return [
        version.to_bytes(2, "big") + vector.data
        for (message, version), vectors in golden.by_pair().items()
        if message == name
        for vector in vectors
        if len(vector.data) <= 400
    ]


def sized(frames):
    """Concatenate frames, each after its INT32 size, to a stream."""
    return b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)


def rows(pieces):
    """Concatenate rows, each after its INT16 size, to one input."""
    return b"".join(len(piece).to_bytes(2, "big") + piece for piece in pieces)


def request_lines():
    """Return lines from real request logs, plain and gzip-compressed."""
    inputs = []
    for path in sorted((DATA / "request-logs").glob("*.log")):
        lines = path.read_bytes().splitlines(keepends=True)
        shortest = sorted(set(lines), key=len)
        inputs += [b"".join(lines[:2]), *shortest[:4], b"".join(shortest[:3])]
    inputs.append(gzip.compress(inputs[-1], mtime=0))
    return inputs


def framed(name):
    """Return request frames with the golden vectors of one request."""
    cls = getattr(kwire.messages, name)
    return [
        request_head(cls, version) + body
        for version in cls.valid_versions
        for body in bodies(name, version)[:3]
    ]


def json_forms(name, version):
    """Return the JSON forms of a message that Kafka's own converter wrote."""
    return [
        json.dumps(vector.json).encode()
        for vector in golden.by_pair()[name, version]
        if vector.json is not None and len(vector.data) <= 300
    ]


def kip87_sets():
    """Return message sets of the KIP-87 draft, and real magic 0 and 1 message sets."""
    draft = importlib.import_module("kwire.drafts.kip87_tombstone_flag")
    three = [draft.Message(offset=n, key=b"k", value=b"v" * n) for n in range(3)]
    sets = [draft.encode(three, compression=name) for name in ("none", "gzip")]
    return [*sets, *(piece for piece in batches() if piece[16] < 2)]


def capture_files():
    """Return capture files written by pyarrow's Parquet writer."""
    recording = importlib.import_module("kwire.recording")
    row = dict.fromkeys(recording.CAPTURE_COLUMNS)
    row |= {"recording": "r", "sequence": 1, "direction": "request", "frame": b"f" * 9}
    table = pa.Table.from_pylist([row] * 3, recording.capture_schema())
    captures = []
    for codec in ("none", "zstd"):
        sink = io.BytesIO()
        parquet.write_table(table, sink, compression=codec)
        captures.append(sink.getvalue())
    return captures


def schema_texts():
    """Return the schemas of the drafts, which use Kafka's message language."""
    return [path.read_bytes() for path in sorted(SCHEMAS.glob("*.json"))]


# Checksums ----------------------------------------------------------------------------


def repaired(data):
    """Correct the checksums of all complete batches in the input."""
    repaired_data, start = bytearray(data), 0
    while len(repaired_data) - start > 16:
        size = int.from_bytes(repaired_data[start + 8 : start + 12], "big", signed=True)
        end = start + 12 + size
        if size < 14 or end > len(repaired_data):
            break
        if repaired_data[start + 16] < 2:
            repaired_data[start + 12 : start + 16] = zlib.crc32(
                repaired_data[start + 16 : end]
            ).to_bytes(4, "big")
        elif size >= 49:
            crc = crc32c.crc32c(bytes(repaired_data[start + 21 : end]))
            repaired_data[start + 17 : start + 21] = crc.to_bytes(4, "big")
        start = end
    return bytes(repaired_data)


def correct_size(data):
    """Set the size field of a single batch to its real size.

    The checksum of the batch is corrected, too.
    """
    if len(data) < 17:
        return data
    size = (len(data) - 12).to_bytes(4, "big")
    return repaired(data[:8] + size + data[12:])


def with_snapshot_crc(data):
    """Correct the checksum of a producer snapshot."""
    if len(data) < 6:
        return data
    return data[:2] + crc32c.crc32c(data[6:]).to_bytes(4, "big") + data[6:]


# Bad bytes ----------------------------------------------------------------------------


def changed(data, dice):
    """Replace one byte by a hostile or a random value."""
    position = dice.randrange(len(data))
    new = dice.choice(
        (*HOSTILE, data[position] + 1 & 0xFF, data[position] - 1 & 0xFF, None)
    )
    new = dice.randrange(256) if new is None else new
    return data[:position] + bytes((new,)) + data[position + 1 :]


def inserted(data, dice):
    """Insert a few random bytes at a random position."""
    position = dice.randrange(len(data) + 1)
    return data[:position] + dice.randbytes(dice.randint(1, 6)) + data[position:]


def deleted(data, dice):
    """Delete a few bytes at a random position."""
    position = dice.randrange(len(data))
    return data[:position] + data[position + dice.randint(1, 6) :]


def repeated(data, dice):
    """Repeat or reverse a few bytes at a random position."""
    start = dice.randrange(len(data))
    part = data[start : start + dice.randint(1, 20)]
    behind = data[start + len(part) :]
    return data[:start] + part[::-1] + (part + behind if dice.randrange(2) else behind)


_ATTACKS = [
    *(number.to_bytes(4, "big") for number in (2**31 - 1, 2**31, 2**32 - 2, 2**16)),
    *(number.to_bytes(2, "big") for number in (0x7FFF, 0x8000, 0xFFFE)),
    (2**63 - 1).to_bytes(8, "big"),
    (2**63).to_bytes(8, "big"),
    b"\xff" * 8,
    *map(unsigned_varint, _NUMBERS),
    *_TOO_LONG,
]


def enlarged(data, dice):
    """Overwrite the bytes at a random position with a huge length or count."""
    position = dice.randrange(len(data) + 1)
    attack = dice.choice(_ATTACKS)
    end = position + len(attack) if dice.randrange(2) else position + 1
    return data[:position] + attack + data[end:]


def insert_texts(data, dice):
    """Insert a text fragment, and remove up to two bytes."""
    position = dice.randrange(len(data) + 1)
    return data[:position] + dice.choice(TEXTS) + data[position + dice.randrange(3) :]


CHANGES = (changed, changed, inserted, deleted, repeated, enlarged)


def prefixes(entry, step) -> Iterator[bytes]:
    """Yield prefixes of an entry's valid inputs, at every ``step``-th position."""
    first = 0
    for data in entry.seeds():
        yield from (data[:end] for end in range(first, len(data), step))
        first = (first - len(data)) % step


def damage_forever(entry, name="") -> Iterator[bytes]:
    """Yield damaged copies of an entry's valid inputs endlessly."""
    dice = random.Random(entry.name + name)
    good = list(entry.seeds())
    kinds = (*CHANGES, insert_texts, insert_texts) if entry.is_text else CHANGES
    while True:
        dice.shuffle(good)
        for data in good:
            if not data:
                continue
            if dice.random() < 0.1:
                second_input = dice.choice(good)
                bad = (
                    data[: dice.randrange(len(data))]
                    + second_input[dice.randrange(20) :]
                )
            else:
                bad = dice.choice(kinds)(data, dice)
                while bad and dice.random() < 0.2:
                    bad = dice.choice(kinds)(bad, dice)
            if entry.repair is not None and dice.random() < 0.8:
                bad = entry.repair(bad)
            yield bad
