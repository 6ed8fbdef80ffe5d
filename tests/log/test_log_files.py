# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Files next to segments: their values, and errors in their bytes."""

import random
import uuid

import pytest

from tests.log.log_files import aborted_entry, module, producer_snapshot

NAME = "00000000000000001000"
TOPIC_ID = uuid.UUID("5ff3d1a4-8c5b-4f0e-9d8e-2b6a3c1d4e5f")
TOPIC_TEXT = "X_PRpIxbTw6djitqPB1OXw"


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


def file(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def big_endian(*pairs):
    return b"".join(n.to_bytes(size, "big", signed=True) for size, n in pairs)


def test_offset_index_is_read_without_padding(log, tmp_path):
    data = big_endian((4, 7), (4, 4100), (4, 90), (4, 9000))
    index = log.OffsetIndex(file(tmp_path, f"{NAME}.index", data + bytes(80)))
    assert index.base_offset == 1000
    assert index.entries == ((1007, 4100), (1090, 9000))
    assert not index.has_stray_bytes


def test_time_index_is_read_without_padding(log, tmp_path):
    data = big_endian((8, 1_700_000_000_000), (4, 7), (8, 1_700_000_000_050), (4, 9))
    index = log.TimeIndex(file(tmp_path, f"{NAME}.timeindex", data + bytes(120)))
    assert index.entries == ((1_700_000_000_000, 1007), (1_700_000_000_050, 1009))
    assert not index.has_stray_bytes


def test_index_ends_before_entries_that_do_not_ascend(log, tmp_path):
    data = big_endian((4, 7), (4, 100), (4, 6), (4, 200), (4, 8), (4, 300))
    index = log.OffsetIndex(file(tmp_path, f"{NAME}.index", data))
    assert index.entries == ((1007, 100),) and index.has_stray_bytes
    index = log.OffsetIndex(file(tmp_path, "x.index", data), base_offset=5)
    assert index.entries == ((12, 100),)
    with pytest.raises(TypeError, match="20 digits"):
        log.OffsetIndex(tmp_path / "x.index")


def test_transaction_index_entries_are_read(log, tmp_path):
    data = aborted_entry(7, 1000, 1005, 1003) + aborted_entry(9, 1001, 1009, 1004)
    index = log.TransactionIndex(file(tmp_path, f"{NAME}.txnindex", data))
    assert [
        (e.producer_id, e.first_offset, e.last_offset, e.last_stable_offset)
        for e in index.entries
    ] == [(7, 1000, 1005, 1003), (9, 1001, 1009, 1004)]


@pytest.mark.parametrize("cut", [1, 2, 33])
def test_truncated_transaction_index_is_an_error_with_the_position(
    log, tmp_path, kwire, cut
):
    data = aborted_entry(7, 1000, 1005) + aborted_entry(9, 1001, 1009)[:cut]
    path = file(tmp_path, f"{NAME}.txnindex", data)
    with pytest.raises(kwire.Truncated) as caught:
        log.TransactionIndex(path)
    assert caught.value.offset == 34 + cut
    assert caught.value.path.startswith(str(path))


def test_unknown_transaction_index_version_is_rejected(log, tmp_path, kwire):
    data = b"\0\1" + aborted_entry(7, 1000, 1005)[2:]
    with pytest.raises(kwire.DecodeError, match="AbortedTxn"):
        log.TransactionIndex(file(tmp_path, f"{NAME}.txnindex", data))


def test_producer_snapshot_entries_are_read(log, tmp_path):
    data = producer_snapshot((7, 1, 5, 1010, 2, 99, 3, -1), (8, 0, -1, -1, 0, 98, 0, 4))
    snapshot = log.ProducerSnapshot(file(tmp_path, f"{NAME}.snapshot", data))
    assert snapshot.offset == 1000
    first, second = snapshot.entries
    assert (first.producer_id, first.epoch, first.last_sequence) == (7, 1, 5)
    assert (first.last_offset, first.timestamp) == (1010, 99)
    assert second.current_txn_first_offset == 4


def test_changed_bit_in_a_producer_snapshot_is_an_error(log, tmp_path, kwire):
    """If any bit of a producer snapshot changes, DecodeError contains the file name."""
    data = producer_snapshot((7, 1, 5, 1010, 2, 99, 3, -1))
    path = tmp_path / f"{NAME}.snapshot"
    for position in range(len(data)):
        for bit in (1, 0x80):
            damaged = bytearray(data)
            damaged[position] ^= bit
            path.write_bytes(damaged)
            with pytest.raises(kwire.DecodeError) as caught:
                log.ProducerSnapshot(path)
            assert str(path) in str(caught.value)
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        with pytest.raises(kwire.DecodeError):
            log.ProducerSnapshot(path)


def test_leader_epoch_checkpoint_is_read(log, tmp_path):
    path = file(tmp_path, "leader-epoch-checkpoint", b"0\n2\n0 0\n3 1007\n")
    assert log.read_leader_epochs(path) == ((0, 0), (3, 1007))
    path.write_bytes(b"0\n0\n")
    assert log.read_leader_epochs(path) == ()


def test_offset_checkpoint_is_read_by_topic_and_partition(log, tmp_path):
    content = b"0\n2\norders 0 17\nder-tisch 12 9223372036854775807\n"
    path = file(tmp_path, "recovery-point-offset-checkpoint", content)
    assert log.read_offset_checkpoint(path) == {
        ("orders", 0): 17,
        ("der-tisch", 12): 2**63 - 1,
    }


def test_partition_metadata_has_version_and_topic_id(log, tmp_path):
    content = f"version: 0\ntopic_id: {TOPIC_TEXT}\n".encode()
    metadata = log.read_partition_metadata(
        file(tmp_path, "partition.metadata", content)
    )
    assert metadata == (0, TOPIC_ID)
    assert (metadata.version, metadata.topic_id) == (0, TOPIC_ID)


def test_meta_properties_are_unescaped(log, tmp_path):
    content = b"#\n#Fri Nov 20\nnode.id=1\nversion=1\ncluster.id=a\\=b\\:c\n\n"
    properties = log.read_meta_properties(file(tmp_path, "meta.properties", content))
    assert properties == {"node.id": "1", "version": "1", "cluster.id": "a=b:c"}


BAD = [
    (b"\n", 0),
    (b"0\n\n", 2),
    (b"0\n0\n\n", 4),
    (b"1", 0),
    (b"1\n0\n", 0),
    (b"0\nx\n", 2),
    (b"0\n1\n", 2),
    (b"0\n1\n0 0\n1 1\n", 2),
    (b"0\n1\n0 0 0 0\n", 4),
    (b"0\n1\n0 \xb2\n", 4),
    (b"0\n1\n0 " + b"9" * 5000, 4),
    (b"0\n1\n0 9223372036854775808", 4),
    ("0\n1\n0 \u0663\n".encode(), 4),
    (b"\xff\xfe\n1\n0 0\n", 0),
    (b"0\n\0\n", 2),
]


@pytest.mark.parametrize(("content", "offset"), BAD)
def test_invalid_checkpoint_is_an_error_with_the_position(
    log, tmp_path, kwire, content, offset
):
    path = file(tmp_path, "leader-epoch-checkpoint", content)
    with pytest.raises(kwire.InvalidValue) as caught:
        log.read_leader_epochs(path)
    assert caught.value.path == str(path) and caught.value.offset == offset
    with pytest.raises(kwire.InvalidValue):
        log.read_offset_checkpoint(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"version: 0\n",
        b"topic_id: X_PRpIxbTw6djitqPB1OXw\n",
        b"version: 0\ntopic_id: short\n",
        b"version: 0\ntopic_id: \xff\xff\n",
        b"version: zero\ntopic_id: X_PRpIxbTw6djitqPB1OXw\n",
        "version: 0\ntopic_id: X_PRpIxbTw6djitqPB1OX\u0663\n".encode(),
    ],
)
def test_invalid_partition_metadata_is_an_error_with_the_path(
    log, tmp_path, kwire, content
):
    path = file(tmp_path, "partition.metadata", content)
    with pytest.raises(kwire.InvalidValue) as caught:
        log.read_partition_metadata(path)
    assert caught.value.path == str(path)


def test_any_bytes_give_values_or_decode_errors(log, tmp_path, kwire):
    """Any bytes in a file next to a segment return values or raise DecodeError."""
    chance = random.Random(5)
    sound = [
        b"0\n2\n0 0\n3 1007\n",
        b"0\n1\norders 0 17\n",
        f"version: 0\ntopic_id: {TOPIC_TEXT}\n".encode(),
        b"node.id=1\n#x\n",
        aborted_entry(7, 1000, 1005) * 2,
        producer_snapshot((7, 1, 5, 1010, 2, 99, 3, -1)),
        big_endian((4, 7), (4, 4100), (4, 90), (4, 9000)),
    ]
    readers = [
        log.read_leader_epochs,
        log.read_offset_checkpoint,
        log.read_partition_metadata,
        log.read_meta_properties,
        log.TransactionIndex,
        log.ProducerSnapshot,
        log.OffsetIndex,
        log.TimeIndex,
    ]
    path = tmp_path / f"{NAME}.any"
    refused = 0
    for _ in range(600):
        data = bytearray(chance.choice(sound))
        for _ in range(chance.randrange(5)):
            position = chance.randrange(len(data) + 1)
            data[position : position + chance.randrange(3)] = chance.randbytes(
                chance.randrange(3)
            )
        path.write_bytes(data)
        for reader in readers:
            try:
                reader(path)
            except kwire.DecodeError as error:
                refused += 1
                assert str(path) in error.path, reader
                assert 0 <= error.offset <= len(data) + 64
    assert refused > 1000


def test_missing_file_raises_the_error_of_open(log, tmp_path):
    for reader in (log.read_leader_epochs, log.ProducerSnapshot, log.TransactionIndex):
        with pytest.raises(FileNotFoundError):
            reader(tmp_path / "none")


def test_files_over_the_size_limit_are_errors(log, tmp_path, kwire):
    path = file(tmp_path, f"{NAME}.index", bytes(2000))
    with pytest.raises(kwire.LimitExceeded, match="frame_bytes"):
        log.OffsetIndex(path, limits=kwire.Limits(frame_bytes=1999))
    assert log.OffsetIndex(path, limits=kwire.Limits(frame_bytes=2000)).entries == ()


def test_an_indented_bad_line_is_named_by_its_first_letter(log, tmp_path, kwire):
    """The error offset of an invalid byte includes the leading spaces of its line."""
    path = file(tmp_path, "meta.properties", b"a=1\n   b\xff=2\n")
    with pytest.raises(kwire.DecodeError) as caught:
        log.read_meta_properties(path)
    assert caught.value.offset == 4 + 3 + 1
