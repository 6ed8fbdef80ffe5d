# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test control records of every type, and invalid records.

The bytes were written by Kafka 4.4.0: keys and values from ``MemoryRecords`` batches
with end transaction markers, leader changes, snapshot headers and footers, KRaft
versions and voters. Unusual keys and end markers are decoded in the same way as by
``ControlRecordType`` and ``EndTransactionMarker`` in that release.
"""

import importlib
import pickle
import uuid

import pytest

from tests.harness.hostile import STRIDE, some

ABORT = "00000000", "0000 00000007"
COMMIT = "00000001", "0000 7fffffff"
LEADER_CHANGE = (
    "00000002",
    "0000 00000002 04 00000001 00 00000002 00 00000003 00"
    " 03 00000002 00 00000003 00 00",
)
SNAPSHOT_HEADER = "00000003", "0000 0000018bcfe5687b 00"
SNAPSHOT_FOOTER = "00000004", "0000 00"
KRAFT_VERSION = "00000005", "0000 0001 00"
KRAFT_VOTERS = (
    "00000006",
    "0000 02 00000bb8 000102030405060708090a0b0c0d0e0f"
    " 02 0b434f4e54524f4c4c4552 0a6c6f63616c686f7374 2385 00 0000 0001 00 00 00",
)
# Kafka's class writes this version, but no release uses it in a log yet.
LEADER_CHANGE_1 = (
    "00000002",
    "0001 00000002 02 00000002 000102030405060708090a0b0c0d0e0f 00 01 00",
)
ALL = (
    ABORT,
    COMMIT,
    LEADER_CHANGE,
    SNAPSHOT_HEADER,
    SNAPSHOT_FOOTER,
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE_1,
)
DIRECTORY = uuid.UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")


@pytest.fixture
def control(kwire):
    """Return the module ``control_records`` of one engine."""
    return importlib.import_module(f"{kwire.__name__}.messages.control_records")


def decode_hex(control, pair):
    """Decode a control record from hexadecimal texts of its key and value."""
    return control.decode_control_record(*map(bytes.fromhex, pair))


def test_transaction_markers_contain_the_coordinator_epoch(kwire, control):
    """A transaction marker, ABORT or COMMIT, contains the coordinator epoch."""
    marker = kwire.messages.EndTxnMarker
    aborted = decode_hex(control, ABORT)
    assert (aborted.type, aborted.type_name) == (0, "ABORT")
    assert aborted.message == marker(coordinator_epoch=7)
    committed = decode_hex(control, COMMIT)
    assert (committed.type, committed.type_name) == (1, "COMMIT")
    assert committed.message == marker(coordinator_epoch=2**31 - 1)


def test_leader_change_contains_leader_and_voters(kwire, control):
    """A leader change contains the leader and the voters.

    In version 1, the voters have directory ids.
    """
    message = kwire.messages.LeaderChangeMessage
    record = decode_hex(control, LEADER_CHANGE)
    assert (record.type, record.type_name) == (2, "LEADER_CHANGE")
    voters = [message.Voter(voter_id=number) for number in (1, 2, 3)]
    assert record.message == message(
        version=0, leader_id=2, voters=voters, granting_voters=voters[1:]
    )
    assert decode_hex(control, LEADER_CHANGE_1).message == message(
        version=1,
        leader_id=2,
        voters=[message.Voter(voter_id=2, voter_directory_id=DIRECTORY)],
    )


def test_snapshot_header_and_footer_are_decoded(kwire, control):
    """A snapshot of the metadata log starts with a header and ends with a footer."""
    header = decode_hex(control, SNAPSHOT_HEADER)
    assert (header.type, header.type_name) == (3, "SNAPSHOT_HEADER")
    assert header.message == kwire.messages.SnapshotHeaderRecord(
        last_contained_log_timestamp=1_700_000_000_123
    )
    footer = decode_hex(control, SNAPSHOT_FOOTER)
    assert (footer.type, footer.type_name) == (4, "SNAPSHOT_FOOTER")
    assert footer.message == kwire.messages.SnapshotFooterRecord()


def test_kraft_version_and_voters_are_decoded(kwire, control):
    """A quorum with dynamic voters stores these records in its log."""
    version = decode_hex(control, KRAFT_VERSION)
    assert (version.type, version.type_name) == (5, "KRAFT_VERSION")
    assert version.message == kwire.messages.KRaftVersionRecord(k_raft_version=1)
    voters = decode_hex(control, KRAFT_VOTERS)
    assert (voters.type, voters.type_name) == (6, "KRAFT_VOTERS")
    record = kwire.messages.VotersRecord
    assert voters.message == record(
        voters=[
            record.Voter(
                voter_id=3000,
                voter_directory_id=DIRECTORY,
                endpoints=[
                    record.Endpoint(name="CONTROLLER", host="localhost", port=9093)
                ],
                k_raft_version_feature=record.KRaftVersionFeature(
                    min_supported_version=0, max_supported_version=1
                ),
            )
        ]
    )


@pytest.mark.parametrize(
    ("key", "type_"), [("00000007", 7), ("0000ffff", -1), ("00097fff", 32767)]
)
@pytest.mark.parametrize("value", [b"", b"\xff", None])
def test_unknown_types_are_reported_and_skipped(control, key, type_, value):
    """A control record of an unknown type is returned without a message.

    Its value is not checked, because Kafka's readers ignore it.
    """
    record = control.decode_control_record(bytes.fromhex(key), value)
    assert (record.type, record.type_name, record.message) == (type_, "UNKNOWN", None)


@pytest.mark.parametrize("key", ["00010001", "000500010000", "7fff0001ff"])
def test_newer_keys_are_read_as_far_as_known(control, key):
    """A key of a newer version is decoded, and its additional bytes are ignored."""
    record = decode_hex(control, (key, COMMIT[1]))
    assert record == decode_hex(control, COMMIT)


def test_newer_end_markers_are_read_as_far_as_known(control):
    """An end marker of version 1 is decoded as version 0, like in Kafka.

    Additional bytes are ignored.
    """
    record = decode_hex(control, ("00000001", "0001 7fffffff ffff"))
    assert record == decode_hex(control, COMMIT)


def test_newer_kraft_records_raise_unsupported_version(kwire, control):
    """A KRaft control record of a newer version raises UnsupportedVersion.

    Its layout is unknown.
    """
    for pair in ALL[2:]:
        newer = pair[0], f"0002{pair[1][4:]}"
        with pytest.raises(kwire.UnsupportedVersion, match=r"\(got 2\)"):
            decode_hex(control, newer)


@pytest.mark.parametrize(
    ("key", "value", "path", "offset"),
    [
        ("ffff0001", COMMIT[1], "key.version", 0),
        ("00000001", "ffff 00000007", "value.version", 0),
        ("00000003", "ffff 0000018bcfe5687b 00", "value.version", 0),
        ("000000", COMMIT[1], "key.type", 3),
        ("00", COMMIT[1], "key.version", 1),
        ("00000001", "0000 000000", "value.coordinator_epoch", 5),
        ("00000004", "00", "value.version", 1),
        ("0000000100", COMMIT[1], "key", 4),
        ("00000001", "0000 00000007 99", "value", 6),
        ("00000004", "0000 00 99", "value", 3),
        ("00000006", "0000 02 00000bb8", "value.voters", 2),
    ],
)
def test_errors_name_part_field_and_byte(kwire, control, key, value, path, offset):
    """An error names the part, the field and the position of the invalid byte.

    Keys and values have negative versions, truncated bytes and trailing bytes.
    """
    with pytest.raises(kwire.DecodeError) as caught:
        decode_hex(control, (key, value))
    assert (caught.value.path, caught.value.offset) == (path, offset)


def test_null_keys_and_values_are_refused(kwire, control):
    """A null key or a null value raises an error."""
    for key, value, path in [
        (None, b"\0\0\0\0\0\0", "key"),
        (b"\0\0\0\1", None, "value"),
        (b"\0\0\0\3", None, "value"),
    ]:
        with pytest.raises(kwire.DecodeError, match="null") as caught:
            control.decode_control_record(key, value)
        assert (caught.value.path, caught.value.offset) == (path, 0)


def test_limits_apply_to_control_records(kwire, control):
    """A limit of 10 bytes accepts an end marker and rejects a voters record."""
    low = kwire.Limits(frame_bytes=10)
    key, value = map(bytes.fromhex, ABORT)
    assert control.decode_control_record(key, value, limits=low).type == 0
    key, value = map(bytes.fromhex, KRAFT_VOTERS)
    with pytest.raises(kwire.LimitExceeded) as caught:
        control.decode_control_record(key, value, limits=low)
    assert caught.value.path == "value"


def test_control_records_are_values(control):
    """Control records are immutable and compare, hash, pickle and match by value."""
    record = decode_hex(control, ABORT)
    same = decode_hex(control, ABORT)
    assert record == same
    assert hash(record) == hash(same)
    assert record != decode_hex(control, COMMIT)
    assert record != control.ControlRecord(1, record.message)
    assert record != control.ControlRecord(0, decode_hex(control, COMMIT).message)
    assert record != (0, record.message)
    assert pickle.loads(pickle.dumps(record)) == record
    assert repr(record) == (
        "<ControlRecord 0 ABORT: EndTxnMarker(coordinator_epoch=7)>"
    )
    with pytest.raises(AttributeError, match="cannot be changed"):
        record.type = 1
    match record:
        case control.ControlRecord(type_, message):
            assert (type_, message) == (0, same.message)


def test_any_contiguous_buffer_is_accepted(control):
    """Keys and values may be views, such as parts of a batch."""
    for pair in ALL:
        for kind in (bytearray, memoryview):
            key, value = (kind(bytes.fromhex(text)) for text in pair)
            assert control.decode_control_record(key, value) == decode_hex(
                control, pair
            )


def describe_outcome(package, key, value):
    """Decode a control record. Return its repr, or a tuple of all error attributes."""
    module = importlib.import_module(f"{package.__name__}.messages.control_records")
    try:
        return repr(module.decode_control_record(key, value))
    except package.DecodeError as error:
        field = error.path.partition(".")[0]
        data = key if field == "key" else value
        assert field in ("key", "value")
        assert 0 <= error.offset <= len(data)
        return type(error).__name__, error.offset, error.path, str(error)
    except package.UnsupportedVersion as error:
        return "UnsupportedVersion", str(error)


def damage_records():
    """Yield all records truncated at every byte, and with every byte replaced."""
    for key, value in (map(bytes.fromhex, pair) for pair in ALL):
        for end in range(len(key)):
            yield key[:end], value
        for end in range(len(value)):
            yield key, value[:end]
        content = key + value
        for position, old in enumerate(content):
            for new in set(range(256)) - {old}:
                bad = content[:position] + bytes([new]) + content[position + 1 :]
                yield bad[:4], bad[4:]


def test_damaged_records_give_a_record_or_a_typed_error(kwire):
    """A truncated record is an error.

    A record with a replaced byte is decoded, or raises an error of kwire.
    """
    for key, value in (map(bytes.fromhex, pair) for pair in ALL):
        for end in range(len(key)):
            assert isinstance(describe_outcome(kwire, key[:end], value), tuple)
        for end in range(len(value)):
            assert isinstance(describe_outcome(kwire, key, value[:end]), tuple)
    outcomes = [
        describe_outcome(kwire, key, value) for key, value in some(damage_records())
    ]
    assert sum(isinstance(result, tuple) for result in outcomes) > 4000 // STRIDE
    assert sum(isinstance(result, str) for result in outcomes) > 1000 // STRIDE


def test_engines_agree_on_damaged_records(twins):
    """Both engines return the same record or error for damaged records."""
    for key, value in some(damage_records()):
        assert describe_outcome(twins.fast, key, value) == describe_outcome(
            twins.pure, key, value
        )
