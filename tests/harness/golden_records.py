# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reads batches that Kafka's own classes wrote, and what Kafka reads from them.

The results from Kafka and kwire are converted to a common form, so that tests can
compare the results with ``==``.
"""

import base64
import json
import lzma
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKED = Path(__file__).parents[1] / "vectors" / "records.jsonl.xz"

FIELDS = (
    "magic",
    "size",
    "crc",
    "compression",
    "timestamp_type",
    "base_offset",
    "last_offset",
    "next_offset",
    "base_timestamp",
    "max_timestamp",
    "count",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "last_sequence",
    "partition_leader_epoch",
    "is_transactional",
    "is_control",
    "delete_horizon",
)
# Kafka knows the record count of a compressed message only after decompression.
UNKNOWN_OUTSIDE = ("count",)
RENAMED = {"count": "record_count"}
"""Fields whose name in the vectors differs from the name in ``BatchHeader``."""


class Entry(NamedTuple):
    """Batch or compressed message, or one uncompressed magic 0 or 1 message.

    An uncompressed message only has message fields.
    """

    fields: dict
    records: tuple
    control: tuple


class Reading(NamedTuple):
    """Entries that a reader has returned.

    ``is_refused`` is True if it has rejected the bytes after these entries.
    """

    entries: tuple[Entry, ...]
    is_refused: bool


@cache
def all_vectors() -> tuple[dict, ...]:
    """Return all vectors as JSON objects."""
    with lzma.open(PACKED) as lines:
        return tuple(json.loads(line) for line in lines)


@cache
def vectors(kind: str) -> tuple[dict, ...]:
    """Return the vectors of a kind: "batches", "conversion", "mutant" or "origin"."""
    return tuple(row for row in all_vectors() if row["kind"] == kind)


@cache
def bytes_of() -> dict[str, bytes]:
    """Return {name: bytes} for all vectors of the kind "batches"."""
    return {row["name"]: raw(row["bytes"]) for row in vectors("batches")}


def raw(text: str | None) -> bytes | None:
    """Decode a base64 string of the JSON file. None stays None."""
    return None if text is None else base64.b64decode(text, validate=True)


def record(row: dict) -> tuple:
    """Convert a record of a vector to (offset, timestamp, key, value, headers)."""
    headers = tuple((name, raw(content)) for name, content in row["headers"])
    return row["offset"], row["timestamp"], raw(row["key"]), raw(row["value"]), headers


def of_kafka(read: dict) -> Reading:
    """Convert the entries that Kafka has read to the common form."""
    entries = []
    for batch in read["batches"]:
        records = tuple(map(record, batch["records"]))
        control = tuple(
            (row["type"], row["message"]) for row in batch.get("control_records", ())
        )
        entries += common_entries(batch, records, control)
    return Reading(tuple(entries), "error" in read)


def of_kwire(kwire, data: bytes, **options) -> Reading:
    """Decode the bytes with kwire and convert the result to the common form."""
    entries: list[Entry] = []
    try:
        for batch in kwire.records.decode_batches(data, **options):
            records = tuple(
                (r.offset, r.timestamp, r.key, r.value, r.headers)
                for r in batch.records
            )
            control = tuple(
                (row.type_name, control_json(kwire, row.message))
                for row in batch.control_records
            )
            fields = {name: getattr(batch, RENAMED.get(name, name)) for name in FIELDS}
            entries += common_entries(fields, records, control)
    except (kwire.DecodeError, kwire.UnsupportedVersion):
        return Reading(tuple(entries), True)
    return Reading(tuple(entries), False)


def common_entries(fields: dict, records: tuple, control: tuple) -> list[Entry]:
    """Convert a batch to a list of entries.

    Kafka returns an uncompressed message as a separate entry, while kwire returns
    consecutive uncompressed messages as one batch. This function splits such a batch
    into one entry per message.
    """
    if fields["magic"] == 2:
        return [Entry({name: fields[name] for name in FIELDS}, records, control)]
    if fields["compression"] == "none":
        common = {name: fields[name] for name in ("magic", "timestamp_type")}
        return [Entry(common, (row,), ()) for row in records]
    common = {name: fields[name] for name in FIELDS if name not in UNKNOWN_OUTSIDE}
    return [Entry(common, records, ())]


def control_json(kwire, message) -> object:
    """Convert the message of a control record to a JSON value.

    An unknown type has no message (None) and becomes None.
    """
    if message is None:
        return None
    return kwire.to_json(message, getattr(message, "version", 0))
