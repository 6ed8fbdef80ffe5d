# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record batches that Kafka's record classes write as test vectors.

A ``Case`` is a named request to the Java program, in its JSON format. Sets with several
batches, truncated batches and manually modified batches are assembled from the
program's output. ``records.py`` sends the requests and stores the results.
"""

from __future__ import annotations

import base64
import gzip
import struct
from collections.abc import Iterator
from typing import NamedTuple

from tools.interop.oracle.oracle import Row

CODECS = {
    0: ("none", "gzip", "snappy", "lz4"),
    1: ("none", "gzip", "snappy", "lz4"),
    2: ("none", "gzip", "snappy", "lz4", "zstd"),
}
BASE_TIME = 1_600_000_000_000
PAYLOAD_AT = (26, 34, 61)
"""Offset of the compressed bytes in an entry without a key, indexed by magic."""
LZ4_HEAD = 7
"""Bytes before the first LZ4 block. In magic 0 they include a separate checksum."""

# Larger than a snappy block (32 KiB) and an lz4 block (64 KiB), but highly
# compressible.
LARGE = bytes(range(256)) * 330


class Case(NamedTuple):
    name: str
    asked: Row


def text(raw: bytes | None) -> str | None:
    """Encode bytes as base64 text for JSON. None remains None."""
    return None if raw is None else base64.b64encode(raw).decode()


def row(
    offset: int,
    key: bytes | None,
    value: bytes | None,
    timestamp: int = BASE_TIME,
    headers: tuple[tuple[str, bytes | None], ...] = (),
) -> Row:
    """Return one record in the JSON format of the Java program."""
    return {
        "offset": offset,
        "timestamp": timestamp,
        "key": text(key),
        "value": text(value),
        "headers": [[name, text(content)] for name, content in headers],
    }


ONE = (row(0, b"k", b"v"),)
PAIR = (row(0, b"key", b"value"), row(1, b"key2", b"value2", BASE_TIME + 1))
NULLS = (
    row(0, None, None),
    row(1, b"", b"", BASE_TIME + 5),
    row(2, None, b"", BASE_TIME - 7),
    row(3, b"", None, BASE_TIME + 5),
    row(4, b"\0\xff", b"\xff\0", BASE_TIME + 70_000),
)
TIMES = (
    row(0, b"a", b"b", 0),
    row(1, b"c", b"d", 2**63 - 1),
    row(2, b"e", b"f", -1),
    row(3, b"g", b"h", 64),
    row(4, b"i", b"j", 8191),
    row(5, b"k", b"l", 2**34),
)
# The difference between the first two timestamps exceeds the int64 range.
WRAPPED = (
    row(0, b"k", b"v", -1),
    row(1, b"k", b"v", 2**63 - 1),
    row(2, b"k", b"v", BASE_TIME),
)
HOLES = tuple(row(offset, b"k", b"v%d" % offset) for offset in (5, 9, 10, 140, 20_000))
MANY = tuple(
    row(7 + number, b"key-%d" % (number % 9), b"value of %d " % number * 3, BASE_TIME)
    for number in range(150)
)
BLOCKS = (row(0, b"large", LARGE), row(1, LARGE[:70_000], None), row(2, b"", b"end"))
HEADERS = (
    row(0, b"k", b"v", headers=(("h", b"x"),)),
    row(1, b"k", b"v"),
    row(2, None, None, headers=(("", None), ("", b""), ("dup", b"1"), ("dup", b"2"))),
    row(3, b"k", b"v", headers=(("größe 雪 \U0001f600", bytes(200)),)),
    row(4, b"k", b"v", headers=tuple((f"n{n}", b"%d" % n) for n in range(70))),
)


def batch(rows: tuple[Row, ...], magic: int = 2, **changes: object) -> Row:
    """Return a request for a record batch, or for messages if ``magic`` is 0 or 1.

    ``changes`` replace the default fields of the request.
    """
    return {
        "do": "write",
        "magic": magic,
        "compression": "none",
        "base_offset": rows[0]["offset"],
        "last_offset": None,
        "log_append_time": None,
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "is_transactional": False,
        "partition_leader_epoch": -1,
        "delete_horizon": None,
        "records": rows,
        **changes,
    }


def moved(records: tuple[Row, ...], by: int) -> tuple[Row, ...]:
    """Return the records with ``by`` added to each offset."""
    return tuple({**record, "offset": record["offset"] + by} for record in records)


def batches() -> Iterator[Case]:
    """Yield requests for every magic and codec, with every feature they support."""
    common = {
        "one": ONE,
        "nulls": NULLS,
        "times": TIMES,
        "wrapped times": WRAPPED,
        "holes": HOLES,
        "many": MANY,
        "far": moved(NULLS, 2**62),
    }
    for magic, codecs in CODECS.items():
        for codec in codecs:
            title = f"magic {magic} {codec}"
            for name, records in common.items():
                asked = batch(records, magic, compression=codec)
                yield Case(f"{title} {name}", asked)
            if codec != "none":
                asked = batch(BLOCKS, magic, compression=codec)
                yield Case(f"{title} blocks", asked)
            if magic:
                asked = batch(NULLS, magic, compression=codec)
                asked["log_append_time"] = BASE_TIME + 10**6
                yield Case(f"{title} log append time", asked)
            if magic == 2:
                for name, changes in FEATURES.items():
                    asked = batch(NULLS, compression=codec, **changes)
                    yield Case(f"{title} {name}", asked)


PRODUCER: Row = {"producer_id": 2**40 + 7, "producer_epoch": 3}
FEATURES: dict[str, Row] = {
    "headers": {"records": HEADERS},
    "idempotent": {**PRODUCER, "base_sequence": 17},
    "sequence wraps": {**PRODUCER, "base_sequence": 2**31 - 3},
    "transactional": {**PRODUCER, "base_sequence": 0, "is_transactional": True},
    "leader epoch": {"partition_leader_epoch": 2**31 - 1, "base_offset": 0},
    "delete horizon": {"delete_horizon": BASE_TIME + 86_400_000},
    "last offset kept": {"last_offset": 400},
    "first records lost": {"records": HOLES, "base_offset": 0, "last_offset": 30_000},
    "highest producer": {
        "producer_id": 2**63 - 1,
        "producer_epoch": 2**15 - 1,
        "base_sequence": 2**31 - 1,
    },
}


def control(kind: str, version: int, message: Row) -> Case:
    """Create a request for a control batch."""
    asked = {
        "do": "control",
        "type": kind,
        "version": version,
        "message": message,
        "base_offset": 77,
        "timestamp": BASE_TIME,
        "partition_leader_epoch": 5,
        **PRODUCER,
    }
    return Case(f"control {kind} {version}", asked)


VOTERS = [
    {
        "voterId": 1,
        "voterDirectoryId": "AAAAAAAAAAAAAAAAAAAAAQ",
        "endpoints": [{"name": "CONTROLLER", "host": "one.example", "port": 9093}],
        "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
    }
]
CONTROL = (
    control("ABORT", 0, {"coordinatorEpoch": 12}),
    control("COMMIT", 0, {"coordinatorEpoch": 2**31 - 1}),
    control(
        "LEADER_CHANGE",
        0,
        {
            "version": 0,
            "leaderId": 3,
            "voters": [{"voterId": 1}, {"voterId": 3}],
            "grantingVoters": [{"voterId": 3}],
        },
    ),
    control("SNAPSHOT_HEADER", 0, {"version": 0, "lastContainedLogTimestamp": 99}),
    control("SNAPSHOT_FOOTER", 0, {"version": 0}),
    control("KRAFT_VERSION", 0, {"version": 0, "kRaftVersion": 1}),
    control("KRAFT_VOTERS", 0, {"version": 0, "voters": VOTERS}),
)


def emptied(name: str, **changes: object) -> Case:
    """Create a request for a batch without records, as the log cleaner leaves it."""
    asked = {
        "do": "empty",
        "magic": 2,
        **PRODUCER,
        "base_sequence": 40,
        "base_offset": 10,
        "last_offset": 19,
        "partition_leader_epoch": 4,
        "log_append_time": None,
        "max_timestamp": BASE_TIME,
        "is_transactional": False,
        "is_control": False,
        **changes,
    }
    return Case(f"emptied {name}", asked)


EMPTIED = (
    emptied("idempotent"),
    emptied("transactional", is_transactional=True),
    emptied("control", is_transactional=True, is_control=True, base_sequence=-1),
    emptied("log append time", log_append_time=BASE_TIME),
)


def sets(written: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of record sets that combine or modify the written batches.

    Some sets contain several batches, some end with a truncated batch, and some contain
    a batch with manually modified bytes.
    """
    commit = written["control COMMIT 0"]
    yield (
        "set of a transaction",
        written["magic 2 lz4 transactional"] + commit + written["magic 2 none one"],
    )
    yield (
        "set of all magics",
        b"".join(
            written[f"magic {magic} {codec} nulls"]
            for magic, codecs in CODECS.items()
            for codec in codecs
        ),
    )
    emptied_ones = b"".join(written[case.name] for case in EMPTIED)
    yield "set with emptied batches", written["magic 2 none one"] + emptied_ones
    for magic in CODECS:
        first, second = (written[f"magic {magic} none {n}"] for n in ("nulls", "one"))
        for kept in (1, 11, 12, 16, 17, 18, len(second) - 1):
            yield f"magic {magic} cut to {kept}", first + second[:kept]
    yield "nothing", b""
    # Some producers did not set the offset of the compressed message (the wrapper).
    wrapper = written["magic 1 gzip many"]
    yield "magic 1 gzip wrapper at 0", bytes(8) + wrapper[8:]
    yield "magic 1 gzip wrapper below its last", struct.pack(">q", 3) + wrapper[8:]
    # Set high attribute bits that Kafka does not use.
    one = written["magic 2 none one"]
    yield "magic 2 none high attributes", one[:21] + b"\xff\x80" + one[23:]
    for codec in (5, 6, 7):
        yield f"magic 2 codec {codec}", one[:22] + bytes([codec]) + one[23:]
    packed = written["magic 2 gzip many"]
    members = split_in_members(packed[PAYLOAD_AT[2] :])
    yield "magic 2 gzip of two members", resized(packed[: PAYLOAD_AT[2]] + members)


def split_in_members(packed: bytes) -> bytes:
    """Compress the content of ``packed`` again, as two gzip members."""
    content = gzip.decompress(packed)
    parts = content[:1000], content[1000:]
    return b"".join(gzip.compress(part, mtime=0) for part in parts)


def resized(entry: bytes) -> bytes:
    """Return a batch or message whose size field contains its actual size."""
    return entry[:8] + struct.pack(">i", len(entry) - 12) + entry[12:]


def mutants(written: dict[str, bytes]) -> Iterator[tuple[str, int, bytes]]:
    """Yield copies with one modified byte as (batch name, position, bytes).

    If the name ends with "packed", the position refers to the compressed bytes. If it
    ends with "inside", the position refers to the uncompressed content, so that the
    change is inside a record.
    """
    for name in ATTACKED:
        plain = written[name]
        for place in range(len(plain)):
            for changed in changes_of(plain, place):
                yield name, place, changed
    for magic, codecs in CODECS.items():
        start = PAYLOAD_AT[magic]
        for codec in codecs[1:]:
            name = f"magic {magic} {codec} nulls"
            entry = written[name]
            # In magic 0 and 1, modify only the header of the compressed data. Otherwise
            # a wrong size of an inner message could make Kafka allocate 2 GiB.
            end = len(entry) if magic == 2 else start + LZ4_HEAD
            for place in range(start, end):
                for changed in changes_of(entry, place):
                    yield f"{name} packed", place - start, changed
    for magic, start in enumerate(PAYLOAD_AT):
        name = f"magic {magic} gzip nulls"
        entry = written[name]
        content = gzip.decompress(entry[start:])
        for place in range(len(content)):
            for changed in changes_of(content, place):
                if magic < 2 and claims_much(changed):
                    continue
                packed = gzip.compress(changed, mtime=0)
                head = entry[:start]
                if magic < 2:
                    head = head[:-4] + struct.pack(">i", len(packed))
                yield f"{name} inside", place, resized(head + packed)


def claims_much(messages: bytes) -> bool:
    """Return whether one of the inner messages claims a size of more than 1 MiB.

    Kafka would allocate this size before it reads the message.
    """
    position = 0
    while position + 12 <= len(messages):
        (size,) = struct.unpack_from(">i", messages, position + 8)
        if size > 2**20:
            return True
        position += 12 + max(size, 0)
    return False


def changes_of(plain: bytes, position: int) -> Iterator[bytes]:
    """Yield up to five copies of ``plain`` with another byte at ``position``."""
    old = plain[position]
    for new in sorted({old ^ 1, old ^ 0x80, 0, 0x7F, 0xFF} - {old}):
        yield plain[:position] + bytes([new]) + plain[position + 1 :]


ATTACKED = (
    "magic 0 none nulls",
    "magic 1 none nulls",
    "magic 1 none log append time",
    "magic 2 none nulls",
    "magic 2 none transactional",
    "hostile headers",
    "control ABORT 0",
    "control LEADER_CHANGE 0",
    "emptied transactional",
)
SMALL = (
    row(0, b"k", b"v", headers=(("h", b"x"), ("é", None))),
    row(1, None, None, headers=(("", b""),)),
)
HOSTILE = Case("hostile headers", batch(SMALL))


class Conversion(NamedTuple):
    source: str
    magic: int
    start_offset: int


def conversions() -> Iterator[Conversion]:
    """Yield the down-conversions to test.

    A down-conversion has the name of a batch, the target magic and the first offset.
    """
    common = ("one", "nulls", "times", "wrapped times", "holes", "many", "far")
    for source, targets in ((2, (1, 0)), (1, (0,))):
        names = [*common, "log append time"]
        if source == 2:
            names += FEATURES
        for codec in CODECS[source]:
            for magic in targets:
                for name in names:
                    yield Conversion(f"magic {source} {codec} {name}", magic, 0)
                for name, where in (("nulls", 3), ("holes", 10), ("many", 100)):
                    yield Conversion(f"magic {source} {codec} {name}", magic, where)
    for magic in (1, 0):
        yield Conversion("set of a transaction", magic, 0)
        yield Conversion("set with emptied batches", magic, 0)
        yield Conversion("control COMMIT 0", magic, 0)
        yield Conversion("magic 2 cut to 18", magic, 0)
        yield Conversion("magic 2 none one", magic, 10)
    for magic in (2, 1):
        yield Conversion(f"magic {magic} none nulls", magic, 2)
