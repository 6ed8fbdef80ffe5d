# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test records that Kafka's own classes wrote, read, converted and rejected.

The tests read all vectors, and kwire did not write their bytes. The page
``docs/project/deviations.md`` lists all differences from Kafka, and every difference
for records must occur.
"""

import re
from collections import Counter
from itertools import pairwise

import pytest

from tests.harness import golden_records as golden
from tests.harness.golden_records import of_kafka, of_kwire, raw
from tests.harness.sweeps import sweep
from tools.interop.oracle import deviations

MAGIC_AT = 16
WRITTEN = [row for row in golden.vectors("batches") if row["asked"]]


@sweep("row", golden.vectors("batches"), ids=lambda row: row["name"])
def test_reads_what_kafka_reads(kwire, row):
    """All fields and records equal those that Kafka's classes read.

    Batches, records and control records are compared.
    """
    assert of_kwire(kwire, raw(row["bytes"])) == of_kafka(row["read"])


def rows_of(records):
    """Convert record columns to a list with one tuple per record."""
    starts = records.headers.offsets.tolist()
    keys, values = records.headers.key, records.headers.value
    pairs = [(keys[row].decode(), values[row]) for row in range(starts[0], starts[-1])]
    return [
        (offset, stamp, records.key[index], records.value[index], headers)
        for index, (offset, stamp, headers) in enumerate(
            zip(
                records.offset.tolist(),
                records.timestamp.tolist(),
                [tuple(pairs[a:b]) for a, b in pairwise(starts)],
                strict=True,
            )
        )
    ]


@sweep("row", golden.vectors("batches"), ids=lambda row: row["name"])
def test_columns_hold_what_kafka_reads(kwire, row):
    """The columns contain the records that Kafka reads, except control records.

    kwire rejects the record sets that Kafka rejects.
    """
    kafka = of_kafka(row["read"])
    data = raw(row["bytes"])
    if kafka.is_refused:
        with pytest.raises(kwire.DecodeError):
            kwire.records.columns.decode_records(data)
        return
    columns = kwire.records.columns.decode_records(data, batch_columns=True)
    entries = [e for e in kafka.entries if not e.fields.get("is_control")]
    assert rows_of(columns) == [
        record for entry_ in entries for record in entry_.records
    ]
    for name in ("timestamp_type", "magic", *BATCH_COLUMNS):
        values_left = iter(getattr(columns, name).tolist())
        for entry in entries:
            values = [next(values_left) for _ in entry.records]
            # Fields that an uncompressed message does not have are not compared.
            if name in entry.fields:
                assert set(values) <= {entry.fields[name]}, name


BATCH_COLUMNS = (
    "base_offset",
    "partition_leader_epoch",
    "producer_id",
    "producer_epoch",
    "base_sequence",
)


def options_of(row):
    """Return the arguments of ``encode_batch`` for the batch that Kafka wrote."""
    request, (batch, *_) = row["asked"], row["read"]["batches"]
    if request["do"] == "write":
        names = ("magic", "compression", "base_offset", "last_offset", "producer_id")
        names += ("producer_epoch", "base_sequence", "partition_leader_epoch")
        names += ("is_transactional", "log_append_time", "delete_horizon")
        return {name: request[name] for name in names}
    names = ("base_offset", "producer_id", "producer_epoch", "base_sequence")
    names += ("partition_leader_epoch", "is_transactional", "is_control")
    return {name: batch[name] for name in names}


def decompress_contents(kwire, data):
    """Return the headers and the decompressed records of a record set as a list.

    The headers have no size and no checksum, because these depend on the compression.
    """
    position = 0
    parts = []
    records = kwire.records
    while header := records.read_batch_header(data, position):
        end = position + header.size
        if header.compression == "none":
            parts.append(data[position:end])
        else:
            content = records.batches.decompress_payload(
                data, header, kwire._limits.DEFAULT
            )
            head = header.replace(position=0, size=0, crc=0)
            parts.append((head, bytes(content)))
        position = end
    return parts, data[position:]


ENCODED = [row for row in WRITTEN if row["asked"]["do"] != "empty"]


@sweep("row", ENCODED, ids=lambda row: row["name"])
def test_encodes_to_kafkas_bytes(kwire, row):
    """``encode_batch`` returns Kafka's bytes, compared before compression."""
    request = row["asked"]
    rows = request["records"] if request["do"] == "write" else None
    rows = rows or row["read"]["batches"][0]["records"]
    names = ("offset", "timestamp", "key", "value", "headers")
    records = [
        kwire.records.Record(**dict(zip(names, golden.record(row_), strict=True)))
        for row_ in rows
    ]
    encoded = kwire.records.encode_batch(records, **options_of(row))
    assert decompress_contents(kwire, encoded) == decompress_contents(
        kwire, raw(row["bytes"])
    )


# A batch with log append time does not contain its records' timestamps.
FROM_COLUMNS = [
    row
    for row in ENCODED
    if row["asked"]["do"] == "write" and row["asked"]["log_append_time"] is None
]


@sweep("row", FROM_COLUMNS, ids=lambda row: row["name"])
def test_columns_encode_to_kafkas_bytes(kwire, row):
    """Encoding columns returns Kafka's bytes, compared before compression."""
    columns = kwire.records.columns.decode_records(raw(row["bytes"]))
    encoded = kwire.records.columns.encode_batch(columns, **options_of(row))
    assert decompress_contents(kwire, encoded) == decompress_contents(
        kwire, raw(row["bytes"])
    )


@sweep(
    "row",
    golden.vectors("conversion"),
    ids=lambda row: f"{row['source']} to {row['magic']} from {row['start_offset']}",
)
def test_converts_down_to_kafkas_bytes(kwire, row):
    """Conversion to an older magic returns Kafka's bytes, compared before compression.

    If Kafka rejects the record set, kwire does, too.
    """
    source = golden.bytes_of()[row["source"]]

    def convert():
        return kwire.records.convert_batches(
            source, row["magic"], start_offset=row["start_offset"]
        )

    if "error" in row:
        assert row["error"] == "UnsupportedCompressionTypeException"
        with pytest.raises(kwire.EncodeError, match="zstd"):
            convert()
        return
    converted, _ = convert()
    assert decompress_contents(kwire, converted) == decompress_contents(
        kwire, raw(row["bytes"])
    )


PAGE = deviations.read(deviations.PAGE.read_text(encoding="utf-8"))
PATTERNS = [pattern for entry in PAGE for pattern in entry.records]


def describe_difference(kwire, row):
    """Return a text about the difference between kwire and Kafka, or None."""
    kafka, data = of_kafka(row["read"]), raw(row["bytes"])
    outcome = of_kwire(kwire, data)
    if outcome == kafka:
        return None
    if not outcome.is_refused:
        return different_fields(outcome, kafka)
    if outcome.entries != kafka.entries[: len(outcome.entries)]:
        return f"before it refuses, kwire reads {outcome.entries}"
    try:
        for batch in kwire.records.decode_batches(data):
            batch.control_records  # noqa: B018  The property may raise the error.
    except kwire.DecodeError as error:
        magic = data[MAGIC_AT]
        return f"{type(error).__name__}: {error.reason}, {error.path}, magic {magic}"
    except kwire.UnsupportedVersion as error:
        return f"UnsupportedVersion: {error}"


def different_fields(outcome, kafka):
    """Return a text about the first different field, or None.

    kwire has accepted the bytes.
    """
    if kafka.is_refused or len(outcome.entries) != len(kafka.entries):
        return f"kwire reads what Kafka refuses: {outcome.entries}"
    for entry, kafka_entry in zip(outcome.entries, kafka.entries, strict=True):
        if entry[1:] != kafka_entry[1:]:
            return f"other records: {entry}"
        for name, value in entry.fields.items():
            if value != kafka_entry.fields[name]:
                return f"{name} of base_sequence {entry.fields.get('base_sequence')}"
    return None


def test_refuses_what_kafka_refuses_and_reads_the_rest_alike(kwire):
    """For modified bytes, every difference from Kafka is documented.

    Every documented difference occurs at least once.
    """
    counts = Counter()
    for row in golden.vectors("mutant"):
        text = describe_difference(kwire, row)
        if text:
            pattern = next(
                (candidate for candidate in PATTERNS if re.search(candidate, text)),
                None,
            )
            assert pattern, f"{row['name']} at {row['place']}: {text}"
            counts[pattern] += 1
    assert set(counts) == set(PATTERNS)


def test_replaced_invalid_text_equals_kafka(kwire):
    """``errors="replace"`` returns the same text as Kafka for invalid UTF-8."""
    count = 0
    for row in golden.vectors("mutant"):
        if "not UTF-8" in (describe_difference(kwire, row) or ""):
            outcome = of_kwire(kwire, raw(row["bytes"]), errors="replace")
            assert outcome == of_kafka(row["read"])
            count += 1
    assert count


def test_columns_refuse_what_objects_refuse(kwire):
    """Objects and columns accept and reject the same modified data batches."""
    refused = 0
    for row in golden.vectors("mutant"):
        data = raw(row["bytes"])
        try:
            batches = list(kwire.records.decode_batches(data))
        except kwire.DecodeError as error:
            if row["name"].startswith("control"):
                continue  # Columns do not decode control records.
            with pytest.raises(type(error)) as caught:
                kwire.records.columns.decode_records(data)
            assert (caught.value.offset, caught.value.reason) == (
                error.offset,
                error.reason,
            )
            refused += 1
        else:
            rows = rows_of(kwire.records.columns.decode_records(data))
            assert rows == [
                (r.offset, r.timestamp, r.key, r.value, r.headers)
                for batch in batches
                if not batch.is_control
                for r in batch.records
            ]
    assert refused


def test_the_vectors_reach_every_format_and_feature():
    """The vectors contain every magic with every compression, and every batch kind."""
    features = set()
    for row in golden.vectors("batches"):
        for batch in row["read"]["batches"]:
            features.add((batch["magic"], batch["compression"]))
            features.update(name for name, value in batch.items() if value is True)
            features.update(
                control["type"] for control in batch.get("control_records", ())
            )
            if batch["delete_horizon"] is not None:
                features.add("delete_horizon")
            if batch["count"] == 0:
                features.add("emptied")
    codecs = ("none", "gzip", "snappy", "lz4")
    formats = {(magic, codec) for magic in (0, 1, 2) for codec in codecs}
    types = {"ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"}
    types |= {"KRAFT_VERSION", "KRAFT_VOTERS"}
    kinds = {"is_transactional", "is_control", "delete_horizon", "emptied"}
    assert features == formats | {(2, "zstd")} | types | kinds


def test_the_vectors_name_their_origin():
    """A single released Kafka jar wrote all vectors."""
    (origin,) = golden.vectors("origin")
    assert re.fullmatch(r"kafka-clients-\d+\.\d+\.\d+\.jar", origin["jar"])
    assert re.fullmatch("[0-9a-f]{64}", origin["sha256"])
    assert {row["kind"] for row in golden.all_vectors()} == {
        "origin",
        "batches",
        "conversion",
        "mutant",
    }
