# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test Kafka's internal topics: keys, values, frames, and invalid records.

``vectors/internal-topics.jsonl`` contains every record type in every version, written
by Kafka's own serdes from the release that the line specifies: those in the group,
share and transaction coordinators, ``MetadataRecordSerde`` and
``BytesApiMessageSerde``. Every record contains the fourth golden vector for its
messages, so Kafka's JSON is available.
"""

import importlib
import json
from functools import cache
from typing import NamedTuple

import pytest

from tests.harness import golden
from tests.harness.hostile import STRIDE, some

GOLDEN = 3
CHANGES = (0, 1, 0x7F, 0x80, 0xFF)


class Line(NamedTuple):
    """Record of an internal topic, as written by Kafka."""

    topic: str
    key_message: str | None
    value_message: str
    version: int
    key: bytes | None
    value: bytes


@cache
def records():
    """Read all records that Kafka wrote."""
    lines = (golden.FOLDER / "internal-topics.jsonl").read_text().splitlines()
    return tuple(map(_record, map(json.loads, lines)))


def _record(line):
    key = None if line["key"] is None else bytes.fromhex(line["key"])
    names = line["topic"], line["key_message"], line["value_message"]
    return Line(*names, line["version"], key, bytes.fromhex(line["value"]))


def find_record(value_message, version=0):
    """Return the record whose value is this message in this version."""
    for record in records():
        if (record.value_message, record.version) == (value_message, version):
            return record
    raise LookupError(value_message)


@pytest.fixture
def topics(kwire):
    """Return one engine's ``internal_topics`` module."""
    return importlib.import_module(f"{kwire.__name__}.messages.internal_topics")


def test_every_record_of_kafka_reads_as_kafka_reads_it(kwire, topics):
    """Keys and values of all records equal the golden vectors.

    They are compared as Kafka's JSON.
    """
    for record in records():
        key, value = topics.decode(record.topic, record.key, record.value)
        assert type(value).__name__ == record.value_message
        vector = golden.by_pair()[record.value_message, record.version][GOLDEN]
        assert kwire.to_json(value, record.version) == vector.json
        assert (key is None) == (record.key is None)
        if key is not None:
            assert type(key).__name__ == record.key_message
            version = type(key).valid_versions.max
            vector = golden.by_pair()[record.key_message, version][GOLDEN]
            assert kwire.to_json(key, version) == vector.json


def test_every_record_is_written_as_kafka_writes_it(topics):
    """Encoding a decoded record returns the bytes that Kafka wrote."""
    for record in records():
        key, value = topics.decode(record.topic, record.key, record.value)
        encoded = topics.encode(record.topic, key, value, record.version)
        assert encoded == (record.key, record.value)


def test_no_record_type_and_no_version_is_left_out(kwire):
    """The vectors contain every record type in every version that kwire knows."""
    pairs = {
        (name, version)
        for name in kwire.messages.ALL
        for cls in [getattr(kwire.messages, name)]
        if cls.kind in ("metadata", "coordinator-value")
        for version in cls.valid_versions
    }
    # Only Kafka 2.8 wrote this record, in frames of version 0, which kwire rejects.
    pairs.remove(("QuotaRecord", 0))
    pairs.add(("ShareGroupPartitionMetadataValue", 0))
    assert {(record.value_message, record.version) for record in records()} == pairs
    assert len(records()) == len(pairs)


def test_topics_list_equals_the_topics_with_records(topics):
    """``TOPICS`` contains exactly the topics that have records."""
    names = sorted({record.topic for record in records()})
    assert list(topics.TOPICS) == names


def test_tombstone_has_a_key_and_no_value(topics):
    """A tombstone has a key and the value None, in both directions."""
    count = 0
    for record in records():
        if record.key is not None:
            key, value = topics.decode(record.topic, record.key, None)
            assert type(key).__name__ == record.key_message
            assert value is None
            assert topics.encode(record.topic, key, None, 0) == (record.key, None)
            count += 1
    assert count > 30


def test_framed_record_without_value_is_none(topics):
    """A record without a value in a framed topic is decoded to None.

    Kafka does not write such a record, but it is not an error.
    """
    assert topics.decode("__cluster_metadata", None, None) == (None, None)


@pytest.mark.parametrize(
    ("topic", "key", "value"),
    [
        ("__consumer_offsets", "0012 0001 67", "0000"),
        ("__consumer_offsets", "7fff", "0000"),
        ("__share_group_state", "0002", "0000"),
        # The types 9 and 6 are no longer used, and are now types of other topics.
        ("__share_group_state", "0009 0001 67", "0000 01 00"),
        ("__transaction_state", "0001", "0000"),
        ("__cluster_metadata", None, "01 0d 00 00"),
        ("__cluster_metadata", None, "01 ffff01 00 00"),
        ("__remote_log_metadata", None, "01 06 00 00"),
    ],
)
def test_unknown_record_types_raise_unsupported_version(
    kwire, topics, topic, key, value
):
    """An unknown record type raises UnsupportedVersion.

    A newer Kafka may have added the type. A dump tool can show the bytes instead.
    """
    key = None if key is None else bytes.fromhex(key)
    with pytest.raises(kwire.UnsupportedVersion, match=f"record type .* {topic}"):
        topics.decode(topic, key, bytes.fromhex(value))


def test_unknown_value_version_keeps_the_key_readable(kwire, topics):
    """If only the version of the value is unknown, the key can be decoded."""
    record = find_record("OffsetCommitValue", 4)
    newer = b"\0\5" + record.value[2:]
    with pytest.raises(kwire.UnsupportedVersion, match=r"OffsetCommitValue .* 0 to 4"):
        topics.decode(record.topic, record.key, newer)
    key, _ = topics.decode(record.topic, record.key, None)
    assert key.group == "größe"
    with pytest.raises(kwire.UnsupportedVersion, match="TopicRecord"):
        topics.decode("__cluster_metadata", None, b"\1\2\1\0")


@pytest.mark.parametrize("frame_version", [0, 2])
def test_other_frame_versions_are_refused(kwire, topics, frame_version):
    """Frames of any other version raise an error.

    Version 0 was a preview in Kafka 2.8, whose records have other layouts.
    """
    record = find_record("TopicRecord")
    frame = bytes([frame_version]) + record.value[1:]
    with pytest.raises(kwire.UnsupportedVersion, match="frame version 1"):
        topics.decode(record.topic, None, frame)


@pytest.mark.parametrize(
    ("value", "path", "offset"),
    [
        ("808002 00 00", "value.frame_version", 0),
        ("01 808002 00", "value.type", 1),
        ("01 02 808002", "value.version", 2),
    ],
)
def test_frame_numbers_over_int16_are_refused(kwire, topics, value, path, offset):
    """A type or version above 32767 raises an error, as in Kafka."""
    with pytest.raises(kwire.DecodeError, match="32768 exceeds") as caught:
        topics.decode("__cluster_metadata", None, bytes.fromhex(value))
    assert (caught.value.path, caught.value.offset) == (path, offset)


def test_negative_numbers_are_refused(kwire, topics):
    """A negative type or version raises an error, because Kafka has none."""
    record = find_record("GroupMetadataValue")
    for key, value, path in [
        (b"\xff\xff" + record.key[2:], record.value, "key.type"),
        (record.key, b"\xff\xff" + record.value[2:], "value.version"),
    ]:
        with pytest.raises(kwire.DecodeError) as caught:
            topics.decode(record.topic, key, value)
        assert (caught.value.path, caught.value.offset) == (path, 0)


def test_unexpected_and_missing_keys_are_rejected(kwire, topics):
    """A missing or an unexpected key raises an error.

    It indicates that the record is from another topic.
    """
    with pytest.raises(kwire.DecodeError, match="no key") as caught:
        topics.decode("__cluster_metadata", b"", find_record("NoOpRecord").value)
    assert caught.value.path == "key"
    with pytest.raises(kwire.DecodeError, match="the key cannot be null") as caught:
        topics.decode("__transaction_state", None, b"")
    assert caught.value.path == "key"


def test_errors_name_part_field_and_byte(kwire, topics):
    """An error contains the part, the field and the offset of the invalid byte.

    The offset is relative to the start of the key or the value.
    """
    record = find_record("OffsetCommitValue", 3)
    with pytest.raises(kwire.Truncated) as caught:
        topics.decode(record.topic, record.key[:-1], record.value)
    error = caught.value
    assert (error.path, error.offset) == ("key.partition", len(record.key) - 1)
    assert error.message_name == "OffsetCommitKey"
    with pytest.raises(kwire.Truncated) as caught:
        topics.decode(record.topic, record.key, record.value[:-1])
    error = caught.value
    assert (error.path, error.offset) == (
        "value.commit_timestamp",
        len(record.value) - 1,
    )
    assert (error.message_name, error.version) == ("OffsetCommitValue", 3)
    with pytest.raises(kwire.InvalidVarint) as caught:
        topics.decode("__cluster_metadata", None, b"\1\2\0" + b"\xff" * 5)
    assert (caught.value.path, caught.value.offset) == ("value.name", 3)
    with pytest.raises(kwire.InvalidVarint) as caught:
        topics.decode("__cluster_metadata", None, b"\1" + b"\xff" * 5)
    assert (caught.value.path, caught.value.offset) == ("value.type", 1)


def test_trailing_bytes_are_refused_where_they_begin(kwire, topics):
    """Trailing bytes raise an error with the offset of the first one.

    With ``compat="java"``, they are ignored, as in Kafka's coordinators.
    """
    for record in records():
        with pytest.raises(kwire.TrailingBytes) as caught:
            topics.decode(record.topic, record.key, record.value + b"!")
        error = caught.value
        assert (error.path, error.offset) == ("value", len(record.value))
        if record.key is not None:
            with pytest.raises(kwire.TrailingBytes) as caught:
                topics.decode(record.topic, record.key + b"!", None)
            error = caught.value
            assert (error.path, error.offset) == ("key", len(record.key))
            expected = topics.decode(record.topic, record.key, record.value)
            longer = record.topic, record.key + b"!", record.value + b"!"
            assert topics.decode(*longer, compat="java") == expected


def test_options_apply_to_the_messages(kwire, topics):
    """``zero_copy`` returns views of the record, and ``limits`` applies to it."""
    record = find_record("GroupMetadataValue", 3)
    _, copied = topics.decode(record.topic, record.key, record.value)
    _, viewed = topics.decode(record.topic, record.key, record.value, zero_copy=True)
    view = viewed.members[0].subscription
    assert type(view) is memoryview
    assert view.obj is record.value
    assert bytes(view) == copied.members[0].subscription
    framed = find_record("UserScramCredentialRecord")
    _, viewed = topics.decode(framed.topic, None, framed.value, zero_copy=True)
    assert type(viewed.salt) is memoryview
    assert viewed.salt.obj is framed.value
    low = kwire.Limits(frame_bytes=len(record.value) - 1)
    with pytest.raises(kwire.LimitExceeded) as caught:
        topics.decode(record.topic, record.key, record.value, limits=low)
    assert caught.value.path == "value"


def test_any_contiguous_buffer_is_accepted(topics):
    """Keys and values may be views, such as parts of a log."""
    for record in (find_record("OffsetCommitValue", 4), find_record("TopicRecord")):
        expected = topics.decode(record.topic, record.key, record.value)
        for kind in (bytearray, memoryview):
            key = None if record.key is None else kind(record.key)
            assert topics.decode(record.topic, key, kind(record.value)) == expected


def test_decode_rejects_other_topics(topics):
    """A topic without a known layout raises an error."""
    with pytest.raises(ValueError, match=r"__consumer_offsets, .* 'orders'"):
        topics.decode("orders", b"", b"")
    with pytest.raises(ValueError, match="'orders'"):
        topics.encode("orders", None, None, 0)


def test_messages_of_other_topics_are_rejected(kwire, topics):
    """Encoding raises an error if the key, the value and the topic do not match."""
    m = kwire.messages
    for topic, key, value in [
        ("__consumer_offsets", m.OffsetCommitKey(), m.GroupMetadataValue()),
        ("__consumer_offsets", m.OffsetCommitValue(), m.OffsetCommitValue()),
        ("__consumer_offsets", m.OffsetCommitKey(), m.OffsetCommitKey()),
        ("__consumer_offsets", None, m.OffsetCommitValue()),
        ("__transaction_state", m.GroupMetadataKey(), None),
        ("__transaction_state", m.LegacyOffsetCommitKey(), None),
        ("__cluster_metadata", m.TransactionLogKey(), m.TopicRecord()),
        ("__cluster_metadata", None, m.RemoteLogSegmentMetadataRecord()),
        ("__cluster_metadata", None, m.LeaderChangeMessage()),
        ("__cluster_metadata", None, m.QuotaRecord()),
        ("__cluster_metadata", None, None),
        ("__remote_log_metadata", None, m.AccessControlRecord()),
    ]:
        with pytest.raises(TypeError):
            topics.encode(topic, key, value, 0)
    with pytest.raises(kwire.UnsupportedVersion):
        topics.encode("__cluster_metadata", None, m.TopicRecord(), 1)


def test_truncated_records_are_rejected(kwire, topics):
    """A truncated record raises a DecodeError with the offset and the part."""
    for record in records():
        for end in range(len(record.value)):
            with pytest.raises(kwire.DecodeError) as caught:
                topics.decode(record.topic, record.key, record.value[:end])
            assert caught.value.path.partition(".")[0] == "value"
            assert 0 <= caught.value.offset <= end
        for end in range(len(record.key or b"")):
            with pytest.raises(kwire.DecodeError) as caught:
                topics.decode(record.topic, record.key[:end], record.value)
            assert caught.value.path.partition(".")[0] == "key"
            assert 0 <= caught.value.offset <= end


def change_records():
    """Yield every record with one replaced byte in its key or value."""
    for record in records():
        for field in ("key", "value"):
            data = getattr(record, field) or b""
            for position, old in enumerate(data):
                news = {*CHANGES, (old + 1) % 256, (old - 1) % 256} - {old}
                for new in sorted(news):
                    bad = data[:position] + bytes([new]) + data[position + 1 :]
                    yield record._replace(**{field: bad})


def describe_outcome(package, record):
    """Decode a record. Return its repr, or a tuple of all error attributes."""
    module = importlib.import_module(f"{package.__name__}.messages.internal_topics")
    try:
        key, value = module.decode(record.topic, record.key, record.value)
    except package.DecodeError as error:
        return type(error).__name__, error.offset, error.path, str(error)
    except package.UnsupportedVersion as error:
        return "UnsupportedVersion", str(error)
    assert value is not None
    return repr(key), repr(value)


def test_changed_bytes_give_a_record_or_a_typed_error(kwire):
    """A record with a replaced byte is decoded, or raises an error of kwire."""
    errors = sum(
        len(describe_outcome(kwire, record)) == 4 for record in some(change_records())
    )
    assert errors > 4000 // STRIDE


def test_engines_agree_on_changed_bytes(twins):
    """Both engines return the same result for records with a replaced byte.

    It is a message, or an error with the same text.
    """
    for record in some(change_records()):
        assert describe_outcome(twins.fast, record) == describe_outcome(
            twins.pure, record
        )
