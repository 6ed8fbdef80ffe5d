# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Batches that kwire writes by different methods, for Kafka's classes to read.

The expected result is computed from the arguments that kwire received, not from its
output. ``records.py`` sends the batches to Kafka.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tools.interop.oracle import record_cases
from tools.interop.oracle.oracle import Row
from tools.interop.oracle.record_cases import BASE_TIME, CODECS, Case

RANDOM_BATCHES = 150
GIVEN = (
    "magic",
    "compression",
    "base_offset",
    "last_offset",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "partition_leader_epoch",
    "is_transactional",
    "log_append_time",
    "delete_horizon",
)
EXPECTED = (
    "magic",
    "compression",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "partition_leader_epoch",
    "is_transactional",
    "delete_horizon",
)
"""Fields that Kafka must read back unchanged in batches with magic 2."""
EMPTIED = (
    "base_offset",
    "last_offset",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "partition_leader_epoch",
    "is_transactional",
    "is_control",
)
"""Fields that are passed and must be read back for a batch without records."""


@dataclass
class Written:
    """Batch that kwire has written, and the content that Kafka must read.

    * ``records``: expected records in the JSON format of the Java program.
    * ``fields``: expected fields of the batch.
    * ``control``: expected control records.
    * ``producible``: whether a broker accepts the batch in a Produce request. None
      means that this is not checked.
    """

    name: str
    data: bytes
    records: list[Row]
    fields: Row = field(default_factory=dict)
    control: list[Row] = field(default_factory=list)
    producible: bool | None = None


def fault(written: Written, read: Row) -> str | None:
    """Describe the first difference between the expected content and Kafka's answer.

    Returns None if they are equal.
    """
    batches = read["batches"]
    if "error" in read:
        return f"Kafka refuses it: {read['why']}"
    if sum(batch["size"] for batch in batches) != len(written.data):
        return f"of {len(written.data)} bytes Kafka reads {batches}"
    for batch in batches:
        for name, value in written.fields.items():
            if batch[name] != value:
                return f"{name} is {batch[name]} for Kafka, not {value}"
    records = [row for batch in batches for row in batch["records"]]
    control = [row for batch in batches for row in batch.get("control_records", ())]
    if written.control:
        return None if control == written.control else f"Kafka reads {control}"
    if records != written.records:
        pairs = zip(records, written.records, strict=False)
        odd = next((pair for pair in pairs if pair[0] != pair[1]), "another count")
        return f"Kafka reads other records: {odd}"
    if written.producible not in (None, read["producible"]):
        return f"a broker would take it from a producer: {read['producible']}"
    return None


def write_all(engine: str) -> list[Written]:
    """Write all batches with one engine.

    The caller must have selected the engine before the first import of kwire.
    """
    import kwire

    assert kwire.backend == engine
    cases = [*record_cases.batches(), *random_batches(), record_cases.HOSTILE]
    written = [one for case in cases for one in in_all_ways(case)]
    written += [control_batch(case) for case in record_cases.CONTROL]
    written += [emptied_batch(case) for case in record_cases.EMPTIED]
    for one in written:
        one.name = f"{engine}: {one.name}"
    return written


def in_all_ways(case: Case) -> Iterator[Written]:
    """Yield the batch of a case, written from rows, from columns and by a builder.

    Also yields its down-conversions to older formats.
    """
    from kwire import records
    from kwire.records import columns

    asked = case.asked
    magic, codec = asked["magic"], asked["compression"]
    batch_options = {name: asked[name] for name in GIVEN}
    rows = [row_of(row) for row in asked["records"]]
    data = records.encode_batch(rows, **batch_options)
    expected = as_read(asked, magic, asked["log_append_time"])
    fields = fields_of(asked, rows) if magic == 2 else {}
    producible = magic == 2
    yield Written(f"{case.name} rows", data, expected, fields, producible=producible)

    if asked["log_append_time"] is None:
        table = columns.decode_records(data)
        encoded = columns.encode_batch(table, **batch_options)
        yield Written(f"{case.name} columns", encoded, expected, fields)

    dense = all(
        row.offset == batch_options["base_offset"] + n for n, row in enumerate(rows)
    )
    if dense:
        options = {
            name: value for name, value in batch_options.items() if name != "magic"
        }
        size = 61 + sum(90 + len(repr(row)) for row in rows)
        builder = records.BatchBuilder(size, magic=magic, **options)
        for row in rows:
            assert builder.append(row.key, row.value, row.timestamp, row.headers)
        encoded = builder.build()
        assert len(encoded) <= builder.size_bound_bytes
        yield Written(f"{case.name} builder", encoded, expected, fields)

    for target in (0, 1, 2):
        if target == magic or (codec == "zstd" and target < 2):
            continue
        encoded, _ = records.convert_batches(data, target)
        append_time = asked["log_append_time"] if magic and target else None
        left = as_read(asked, min(magic, target), append_time)
        changed = {"magic": target, "compression": codec}
        yield Written(f"{case.name} to {target}", encoded, left, changed)


def row_of(row: Row) -> Any:
    """Convert the JSON row of a case to a record."""
    from kwire.records import Record

    return Record(
        offset=row["offset"],
        timestamp=row["timestamp"],
        key=raw(row["key"]),
        value=raw(row["value"]),
        headers=[(name, raw(content)) for name, content in row["headers"]],
    )


def raw(text: str | None) -> bytes | None:
    """Decode base64 text from JSON. None remains None."""
    return None if text is None else base64.b64decode(text)


def as_read(asked: Row, least_magic: int, append_time: int | None) -> list[Row]:
    """Return the records of a case as Kafka must read them.

    Fields that ``least_magic`` does not support are empty. ``append_time`` replaces the
    timestamps if it is not None.
    """
    rows = []
    for row in asked["records"]:
        row = dict(row)
        if least_magic < 2:
            row["headers"] = []
        if append_time is not None:
            row["timestamp"] = append_time
        elif least_magic == 0:
            row["timestamp"] = -1
        rows.append(row)
    return rows


def fields_of(asked: Row, rows: list[Any]) -> Row:
    """Return the fields of the batch as Kafka must read them."""
    fields = {name: asked[name] for name in EXPECTED}
    last = rows[-1].offset if asked["last_offset"] is None else asked["last_offset"]
    append_time = asked["log_append_time"]
    largest = max(row.timestamp for row in rows)
    sequence = asked["base_sequence"]
    if sequence >= 0:
        sequence = (sequence + last - asked["base_offset"]) % 2**31
    return {
        **fields,
        "base_offset": asked["base_offset"],
        "last_offset": last,
        "next_offset": last + 1,
        "last_sequence": sequence,
        "count": len(rows),
        "timestamp_type": int(append_time is not None),
        "max_timestamp": largest if append_time is None else append_time,
        "is_control": False,
    }


def random_batches() -> Iterator[Case]:
    """Yield ``RANDOM_BATCHES`` random batches, which are the same in every run."""
    dice = random.Random(3)
    for number in range(RANDOM_BATCHES):
        magic = dice.choice((0, 1, 2, 2))
        codec = dice.choice(CODECS[magic])
        offset = base = dice.choice((0, 9, 2**31, 2**45))
        rows = []
        for _ in range(dice.choice((1, 2, 20, 60))):
            rows.append(
                record_cases.row(
                    offset,
                    random_bytes(dice),
                    random_bytes(dice),
                    BASE_TIME + dice.choice((0, 1, -1, 10**9, dice.getrandbits(40))),
                    random_headers(dice) if magic == 2 else (),
                )
            )
            offset += dice.choice((1, 1, 1, 2, 300))
        yield Case(
            f"random {number}",
            record_cases.batch(tuple(rows), magic, compression=codec, base_offset=base),
        )


def random_bytes(dice: random.Random) -> bytes | None:
    """Return a random key or value: null, short, or close to 8,192 bytes.

    From 8,192 bytes on, the encoded length has three bytes instead of two.
    """
    size = dice.choice((*[None, 0, 1, 5, 63, 64, 100] * 9, 8191, 8192))
    return None if size is None else dice.randbytes(size)


def random_headers(
    dice: random.Random,
) -> tuple[tuple[str, bytes | None], ...]:
    """Return up to three random record headers. Most records have no headers."""
    names = ("", "trace", "größe", "\U0001f600", "n" * 64)
    count = dice.choice((0, 0, 0, 1, 3))
    return tuple((dice.choice(names), random_bytes(dice)) for _ in range(count))


def control_batch(case: Case) -> Written:
    """Write a control batch with the message of a case."""
    import kwire
    from kwire import messages, records
    from kwire.messages import control_records

    asked = case.asked
    number, cls = next(
        (number, getattr(messages, message))
        for number, (kind, message) in control_records._TYPES.items()
        if kind == asked["type"]
    )
    message = kwire.from_json(cls, asked["message"], asked["version"])
    value = kwire.encode(message, asked["version"])
    if cls is messages.EndTxnMarker:
        value = asked["version"].to_bytes(2, "big") + value
    key = (0).to_bytes(2, "big") + number.to_bytes(2, "big")
    ended = cls is messages.EndTxnMarker
    producer = record_cases.PRODUCER if ended else {}
    data = records.encode_batch(
        [(key, value, asked["timestamp"])],
        base_offset=asked["base_offset"],
        partition_leader_epoch=asked["partition_leader_epoch"],
        is_transactional=ended,
        is_control=True,
        **producer,
    )
    fields = {"is_control": True, "base_offset": asked["base_offset"], "count": 1}
    control = [{"type": asked["type"], "message": asked["message"]}]
    return Written(case.name, data, [], {**fields, **producer}, control)


def emptied_batch(case: Case) -> Written:
    """Write a batch without records, with the fields of a case."""
    from kwire import records

    asked = case.asked
    fields = {name: asked[name] for name in EMPTIED}
    data = records.encode_batch([], **fields)
    return Written(case.name, data, [], {**fields, "count": 0})
