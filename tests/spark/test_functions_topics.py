# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns for Kafka's internal topics equal ``internal_topics``.

Tests the arrays from ``from_consumer_offsets`` and similar functions without Spark:
records from Kafka's own classes, tombstones, invalid rows, and records from newer
releases.
"""

import importlib
import json
from functools import cache

import pyarrow
import pytest

from tests.harness import golden
from tests.spark.test_functions_messages import error_of, expected, without_nan

COLUMNS = {
    "__cluster_metadata": "topic_record",
    "__consumer_offsets": "offset_commit",
    "__remote_log_metadata": "remote_log_segment_metadata_record",
    "__share_group_state": "share_snapshot",
    "__transaction_state": "transaction_log",
}
TOPICS = sorted(COLUMNS)


@cache
def records():
    """Return Kafka's records by topic.

    A record is (key, value, message name of the value, version).
    """
    records_by_topic = {}
    with open(golden.FOLDER / "internal-topics.jsonl") as lines:
        for line in map(json.loads, lines):
            pair = (
                line[part] and bytes.fromhex(line[part]) for part in ("key", "value")
            )
            type_and_version = line["value_message"], line["version"]
            records_by_topic.setdefault(line["topic"], []).append(
                (*pair, *type_and_version)
            )
    return records_by_topic


def rooms(kwire):
    """Import the module of the topic functions on one engine."""
    return importlib.import_module(f"{kwire.__name__}.messages.columns.internal_topics")


def binary(rows):
    return pyarrow.array(rows, pyarrow.binary())


def columns(rows):
    """Return the keys and the values of rows as two Arrow arrays."""
    return [binary([row[part] for row in rows]) for part in (0, 1)]


def test_there_are_records_of_every_topic(kwire):
    """Kafka's records contain all record types of every topic."""
    assert sorted(records()) == TOPICS == sorted(kwire.messages.internal_topics.TOPICS)
    for topic in TOPICS:
        types = {
            record_type.value
            for record_type in rooms(kwire).record_types(topic).values()
        }
        missing = types - {row[2] for row in records()[topic]}
        # These types were only written by older releases, or by none.
        assert missing <= {"RemoveFeatureLevelRecord"}, topic


@pytest.mark.parametrize("topic", TOPICS)
def test_records_equal_those_of_internal_topics(kwire, topic):
    """The columns contain the type, version, key and value of ``internal_topics``.

    The structs of all other record types are null.
    """
    registry = importlib.import_module(f"{kwire.__name__}.schema.registry")
    rows = [*records()[topic], (None, None, None, None)]
    column = rooms(kwire).read_topic(topic, *columns(rows))
    column.validate(full=True)
    *decoded_rows, last = column.to_pylist()
    assert last is None
    types = {
        record_type.value: record_type
        for record_type in rooms(kwire).record_types(topic).values()
    }
    for row, (raw_key, raw_value, name, version) in zip(
        decoded_rows, rows, strict=False
    ):
        key, value = kwire.messages.internal_topics.decode(topic, raw_key, raw_value)
        expected_row = {"record": types[name].name, "version": version}
        if key is not None:
            struct = registry.load(type(key).__name__).struct
            expected_row["key"] = expected(key, struct, key.valid_versions.max)
        struct = registry.load(name).struct
        if value is not None and struct.fields:
            expected_row[types[name].column] = expected(value, struct, version)
        if "key" in expected_row:
            row["key"] = {
                k: v for k, v in row["key"].items() if k in expected_row["key"]
            }
        fields = {name: content for name, content in row.items() if content is not None}
        assert without_nan(fields) == without_nan(expected_row)


@pytest.mark.parametrize("topic", TOPICS)
def test_json_columns_equal_to_json(kwire, topic):
    """The JSON columns equal the output of ``kwire.to_json``.

    The other columns are the same as in the struct form.
    """
    rows = records()[topic]
    column = rooms(kwire).read_topic_json(topic, *columns(rows))
    structs = rooms(kwire).read_topic(topic, *columns(rows))
    for name in ("record", "version", "_error"):
        assert column.field(name).equals(structs.field(name))
    for row, (raw_key, raw_value, _, version) in zip(column, rows, strict=True):
        key, value = kwire.messages.internal_topics.decode(topic, raw_key, raw_value)
        texts = [
            row[part].as_py() and json.loads(row[part].as_py())
            for part in ("key", "value")
        ]
        assert texts == [
            key and kwire.to_json(key, key.valid_versions.max),
            None if value is None else kwire.to_json(value, version),
        ]


LARGE = b"\xff\xff\xff\xff\x0f"
ODD_HEADS = [b"\x81\x01\x09\x00", b"\x01" + LARGE + b"\x00", b"\x01\x09" + LARGE]
"""Records that are valid except for an unknown frame version, type or version."""


@pytest.mark.parametrize("topic", TOPICS)
def test_bad_rows_keep_what_is_good(kwire, topic):
    """In an invalid row, the columns that could be decoded are kept.

    Examples are truncated keys, truncated values, tombstones, and empty rows.
    """
    make, to_json = rooms(kwire).read_topic, rooms(kwire).read_topic_json
    good = records()[topic][:40]
    rows = [
        *good,
        *((key, value and value[:-1]) for key, value, *_ in good),
        *((key and key[:-1], value) for key, value, *_ in good),
        *((key, None) for key, *_ in good),
        (b"\x7f\x00", b"\x00\x00"),
        (b"", b""),
        (None, b"\x00"),
        (b"\x00\x01", b""),
        (None, b"\x01\x7f\x00"),
        (None, b"\x02\x00\x00"),
        (None, b"\x01\x02\x63"),
        (None, b"\xff" * 9),
        (b"\x00\x01\x00\x01ag", None),
        (None, None),
        *((None, head + value[3:]) for head in ODD_HEADS for _, value, *_ in good[:2]),
    ]
    decode = kwire.messages.internal_topics.decode
    expected = [
        None if row[0] is row[1] is None else error_of(decode, topic, *row[:2])
        for row in rows
    ]
    is_framed = topic in ("__cluster_metadata", "__remote_log_metadata")
    if is_framed:
        expected = [
            text if row[1] is not None else None
            for text, row in zip(expected, rows, strict=True)
        ]
    for read in (make, to_json):
        column = read(topic, *columns(rows))
        column.validate(full=True)
        errors = [row and row["_error"] for row in column.to_pylist()]
        assert errors == expected
        if not is_framed:
            cut_values = column[len(good) : 2 * len(good)]
            for name in ("record", "key"):
                assert cut_values.field(name).equals(column[: len(good)].field(name))
        with pytest.raises(kwire.KwireError) as caught:
            read(topic, *columns(rows), failfast=True)
        assert str(caught.value) == next(filter(None, expected))


def test_tombstones_have_a_key_alone(kwire):
    """A tombstone has a type and a key, but no value and no version of the value."""
    key = next(
        row[0]
        for row in records()["__consumer_offsets"]
        if row[2] == "OffsetCommitValue"
    )
    (tombstone,) = rooms(kwire).read_topic(
        "__consumer_offsets", binary([key]), binary([None])
    )
    fields = {
        name: content
        for name, content in tombstone.as_py().items()
        if content is not None
    }
    assert fields.keys() == {"record", "key"} and fields["record"] == "OffsetCommit"
    assert {"group", "topic", "partition"} <= fields["key"].keys()


def test_frames_in_more_bytes_than_needed(kwire):
    """Varints of a frame may be padded with empty groups, as in Kafka."""
    name = "RemoveTopicRecord"
    message = getattr(kwire.messages, name)()
    body = kwire.encode(message, 0)
    values = binary([b"\x01\x09\x00" + body, b"\x81\x00\x89\x80\x00\x80\x00" + body])
    decoded = kwire.messages.internal_topics.decode(
        "__cluster_metadata", None, values[1].as_py()
    )
    assert decoded == (None, message)
    column = rooms(kwire).read_topic("__cluster_metadata", pyarrow.nulls(2), values)
    assert column[0] == column[1] and column[0]["record"].as_py() == name


@pytest.mark.parametrize("topic", TOPICS)
def test_slices_and_empty_arrays_are_decoded(kwire, topic):
    """Slices and arrays without rows are decoded."""
    make = rooms(kwire).read_topic
    keys, values = columns(records()[topic])
    all_records = make(topic, keys, values)
    assert make(topic, keys[3:], values[3:]).equals(all_records[3:])
    assert len(make(topic, keys[:0], values[:0])) == 0
    assert all_records.type.get_field_index(COLUMNS[topic]) > 1


def test_chosen_types_alone_are_decoded(kwire):
    """A record of a type that was not selected has its type and version, and no error.

    The struct does not contain this type.
    """
    room = rooms(kwire)
    topic, chosen = "__consumer_offsets", ("OffsetCommit",)
    rows = records()[topic]
    commit = next(row for row in rows if row[2] == "OffsetCommitValue")
    group_metadata = next(row for row in rows if row[2] == "GroupMetadataValue")
    rows = [
        commit,
        group_metadata,
        (group_metadata[0], b"\x00\x01"),
        (commit[0], b""),
        (b"\x7f\x00", b""),
    ]
    all_records = room.read_topic(topic, *columns(rows))
    column = room.read_topic(topic, *columns(rows), chosen)
    texts = room.read_topic_json(topic, *columns(rows), chosen)
    assert [field.name for field in column.type] == [
        "record",
        "version",
        "key",
        "offset_commit",
        "_error",
    ]
    keys = kwire.messages.OffsetCommitKey.__match_args__
    assert tuple(field.name for field in column.type.field("key").type) == keys
    for name in ("record", "version"):
        assert column.field(name).equals(all_records.field(name))
        assert texts.field(name).equals(all_records.field(name))
    assert column.field("offset_commit").equals(all_records.field("offset_commit"))
    for result in (column, texts):
        assert result.field("key").is_valid().to_pylist() == [
            True,
            False,
            False,
            True,
            False,
        ]
        assert [bool(text) for text in result.field("_error").to_pylist()] == [
            False,
            False,
            False,
            True,
            True,
        ]
    assert all_records.field("_error")[2].is_valid
    with pytest.raises(ValueError, match="no record type 'Offsets'; it has Legacy"):
        room.topic_type(topic, ("Offsets",))
