# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Partition locations: data directories, directory trees, tiered storage."""

import uuid

import pytest

from tests.log.log_files import Folder, log_of, module

TOPIC_ID = uuid.UUID("5ff3d1a4-8c5b-4f0e-9d8e-2b6a3c1d4e5f")
TOPIC_TEXT = "X_PRpIxbTw6djitqPB1OXw"


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


def partition(path, *bases):
    folder = Folder(path)
    for number, base in enumerate(bases):
        above = [*bases, base + 10][number + 1]
        folder.segment(base, log_of([above - base], base))
    return folder


def test_data_directory_lists_its_partitions(log, tmp_path):
    partition(tmp_path / "orders-0", 0, 10, 20)
    partition(tmp_path / "orders-10", 5)
    partition(tmp_path / "orders-2", 7)
    partition(tmp_path / "a-b.c_d-1", 7)
    (tmp_path / "meta.properties").write_text("version=1\n")
    (tmp_path / "recovery-point-offset-checkpoint").write_text("0\n1\norders 2 17\n")
    logs = log.LogDirectory(tmp_path)
    assert [(p.topic, p.partition) for p in logs] == [
        ("a-b.c_d", 1),
        ("orders", 0),
        ("orders", 2),
        ("orders", 10),
    ]
    assert logs.topics == ("a-b.c_d", "orders") and len(logs) == 4
    assert [p.partition for p in logs["orders"]] == [0, 2, 10]
    assert logs["orders", 2].checkpoints == {"recovery-point": 17}
    first = logs["orders", 0]
    assert [s.base_offset for s in first.segments] == [0, 10, 20]
    assert [s.next_base_offset for s in first.segments] == [10, 20, None]
    assert [s.is_newest for s in first.segments] == [False, False, True]
    assert (first.start_offset, first.end_offset) == (0, 30)
    assert first.size == sum(s.size for s in first.segments) > 0
    for key in ("nothing", ("orders", 3), ("nothing", 0)):
        with pytest.raises(KeyError):
            logs[key]


def test_directory_tree_lists_all_replicas(log, tmp_path):
    for broker in ("one", "two/data"):
        partition(tmp_path / broker / "orders-0", 0)
    partition(tmp_path / "two/data/orders-1", 0)
    logs = log.LogDirectory(tmp_path)
    assert len(logs) == 3 and len(logs.replicas("orders", 0)) == 2
    assert logs["orders", 1].path == tmp_path / "two/data/orders-1"
    with pytest.raises(KeyError, match="replicas"):
        logs["orders", 0]
    assert len(log.LogDirectory(tmp_path / "one")) == 1


def test_directory_of_one_partition_is_read(log, tmp_path):
    partition(tmp_path / "orders-0", 0)
    (partition_log,) = log.LogDirectory(tmp_path / "orders-0")
    assert (partition_log.topic, partition_log.partition) == ("orders", 0)


def test_one_file_knows_its_neighbours(log, tmp_path):
    """If only one file of a partition is opened, its next segment is still known.

    The next segment shows whether an incomplete end of this file is normal.
    """
    partition(tmp_path / "orders-0", 0, 10, 20)
    for base, newest, above in ((10, False, 20), (20, True, None)):
        path = tmp_path / "orders-0" / f"{base:020}.log"
        (partition_log,) = log.LogDirectory(path)
        (segment,) = partition_log.segments
        assert (segment.base_offset, segment.is_newest) == (base, newest)
        assert segment.next_base_offset == above


def test_any_directory_and_any_file_with_batches_is_found(log, tmp_path):
    """Directories and files with any name are read if they contain batches.

    If the name does not contain the partition or the base offset, these values are -1.
    """
    partition(tmp_path / "backup", 0)
    (partition_log,) = log.LogDirectory(tmp_path)
    assert (partition_log.topic, partition_log.partition) == ("backup", -1)
    path = tmp_path / "some.bin"
    path.write_bytes(b"".join(log_of([3, 4], 77)))
    (segment,) = log.LogDirectory(path).segments
    assert segment.base_offset == -1
    assert [b.base_offset for b in segment.batches()] == [77, 80]
    assert list(segment.problems()) == [] and segment.index is None


def test_unused_directories_are_detected(log, tmp_path):
    for name in (
        "orders-0",
        *(f"orders-0.{'0a' * 16}-{s}" for s in ("future", "stray")),
    ):
        partition(tmp_path / name, 0)
    partition(tmp_path / f"orders-1.{'b' * 32}-delete", 0)
    assert [p.state for p in log.LogDirectory(tmp_path)] == [""]
    logs = log.LogDirectory(tmp_path, include=("future", "delete"))
    assert [(p.topic, p.partition, p.state) for p in logs] == [
        ("orders", 0, ""),
        ("orders", 0, "future"),
        ("orders", 1, "delete"),
    ]
    with pytest.raises(ValueError, match="stray"):
        log.LogDirectory(tmp_path, include=("futures",))


def test_tiered_storage_layout_is_read_as_one_partition(log, tmp_path):
    """Segments in the directory layout of tiered storage are read as one partition.

    A path consists of the topic id, the partition, and a file name with the segment id.
    """
    root = tmp_path / "bucket" / f"my-topic-{TOPIC_TEXT}" / "3"
    folder = Folder(root)
    ids = ("AAAAAAAAAAAAAAAAAAAAAA", "bbb_bbbb-bbbbbbbbbbbbb", "cccccccccccccccccccccc")
    for base, segment_id in zip((10, 20, 20), ids, strict=True):
        folder.segment(base, log_of([10], base), f"-{segment_id}.log")
    (root / f"{10:020}-{ids[0]}.rsm-manifest").write_text("{}")
    folder.beside(10, f"-{ids[0]}.index", ">ii", (9, 0))
    (partition_log,) = log.LogDirectory(tmp_path)
    assert (partition_log.topic, partition_log.partition) == ("my-topic", 3)
    assert partition_log.topic_id == TOPIC_ID
    assert [s.base_offset for s in partition_log.segments] == [10, 20, 20]
    assert [s.next_base_offset for s in partition_log.segments] == [20, None, None]
    assert partition_log.segments[0].index is not None
    assert [p.reason for p in partition_log.problems()] == ["overlap"], (
        "one part, twice"
    )


def test_tiered_storage_with_flat_directories_is_read(log, tmp_path):
    segment_id = "AAAAAAAAAAAAAAAAAAAAAA"
    folder = Folder(tmp_path / f"my-topic-3-{TOPIC_TEXT}")
    folder.segment(10, log_of([10], 10), f"-{segment_id}.log")
    (partition_log,) = log.LogDirectory(tmp_path)
    assert (partition_log.topic, partition_log.partition) == ("my-topic", 3)
    assert partition_log.topic_id == TOPIC_ID
    # Without segments that have an id in their name, the directory name is a topic
    # name.
    partition(tmp_path / "other" / f"my-topic-3-{TOPIC_TEXT}", 0)
    (partition_log,) = log.LogDirectory(tmp_path / "other")
    assert (partition_log.topic, partition_log.partition) == (
        f"my-topic-3-{TOPIC_TEXT}",
        -1,
    )


def test_other_files_are_not_treated_as_segments(log, tmp_path):
    folder = partition(tmp_path / "orders-0", 0).path
    for name in (
        f"{10:020}.log.deleted",
        f"{10:020}.log.cleaned",
        f"{10:020}.log.swap",
        f"{10:019}.log",
        "server.log",
        "\u0661" * 20 + ".log",
        f"{10:020}-0000000001.checkpoint.part",
    ):
        (folder / name).write_bytes(b"x")
    partition(tmp_path / "logs", 0)
    (tmp_path / "logs" / f"{0:020}.log").rename(tmp_path / "logs" / "controller.log")
    (partition_log,) = log.LogDirectory(tmp_path)
    assert [s.base_offset for s in partition_log.segments] == [0]
    assert partition_log.snapshots == ()


def test_bad_checkpoints_do_not_hide_the_partitions(log, tmp_path, kwire):
    partition(tmp_path / "orders-0", 0)
    (tmp_path / "cleaner-offset-checkpoint").write_bytes(b"\xff\xfe")
    (tmp_path / "log-start-offset-checkpoint").write_text("0\n1\norders 0 4\n")
    logs = log.LogDirectory(tmp_path)
    assert logs["orders", 0].checkpoints == {"log-start": 4}
    assert logs["orders", 0].start_offset == 4
    (error,) = logs.unreadable
    assert isinstance(error, kwire.InvalidValue)
    assert error.path.endswith("cleaner-offset-checkpoint")


def test_partition_without_records_is_listed(log, tmp_path):
    folder = Folder(tmp_path / "orders-0")
    folder.segment(0, [])
    (tmp_path / "other-0").mkdir()
    (partition_log,) = log.LogDirectory(tmp_path)
    assert (partition_log.topic, partition_log.size, partition_log.end_offset) == (
        "orders",
        0,
        0,
    )


def test_offsets_bound_a_partition(log, tmp_path):
    partition(tmp_path / "orders-0", 0, 10, 20, 30)
    partition_log = log.LogDirectory(tmp_path)["orders", 0]
    batches = partition_log.batches(start_offset=13, end_offset=32)
    assert [r.offset for b in batches for r in b.records] == list(range(13, 32))
    headers = partition_log.headers(start_offset=13, end_offset=30)
    assert [h.base_offset for h in headers] == [10, 20]
    tables = partition_log.columns(start_offset=13, end_offset=32)
    assert [n for p in tables for n in p.offset.tolist()] == list(range(13, 32))


def test_missing_directory_is_an_error(log, tmp_path):
    with pytest.raises(FileNotFoundError):
        log.LogDirectory(tmp_path / "none")


def test_a_number_that_no_partition_has_is_part_of_a_name(log, tmp_path):
    """A number above the INT32 range is a part of the topic name, not a partition.

    A directory such as big-9999999999 must not prevent listing other partitions.
    """
    for name in ("orders-0", "big-9999999999"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{0:020}.log").write_bytes(b"")
    names = {(p.topic, p.partition) for p in log.LogDirectory(tmp_path)}
    assert names == {("orders", 0), ("big-9999999999", -1)}


def test_unknown_key_is_an_error_with_the_valid_keys(log, tmp_path):
    """If a partition does not exist, the KeyError contains the existing partitions."""
    for number in range(12):
        Folder(tmp_path / f"orders-{number}").segment(0, log_of([2]))
    Folder(tmp_path / "payments-0").segment(0, log_of([2]))
    directory = log.LogDirectory(tmp_path)
    for key in ("order", 0), "order":
        with pytest.raises(KeyError) as caught:
            directory[key]
        (text,) = caught.value.args
        assert text == (
            "no topic 'order'; the topics are 'orders', 'payments'"
            "; did you mean orders?"
        )
    with pytest.raises(KeyError, match="'payments' has no partition 3; it has 0"):
        directory["payments", 3]
    with pytest.raises(KeyError, match="8, 9 and 2 more"):
        directory["orders", 99]
    (tmp_path / "empty").mkdir()
    with pytest.raises(KeyError, match="no topic 'a': no partitions were found in"):
        log.LogDirectory(tmp_path / "empty")["a", 0]
