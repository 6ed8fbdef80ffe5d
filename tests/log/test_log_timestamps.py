# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Look up offsets by timestamp, with and without indexes.

The results are compared with a search through all records.
"""

import random
import struct
import zlib
from pathlib import Path

import pytest

from tests.log.log_files import (
    ABORT,
    BASE_TIME,
    Folder,
    batch,
    checked,
    flip,
    messages,
    module,
    patched,
)

DATA = Path(__file__).parent.parent / "data"
RELEASES = sorted(path.parent.name for path in DATA.glob("*/manifest.json.xz"))


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


def partition_of(log, folder):
    (partition,) = log.LogDirectory(folder.path)
    return partition


def search_all_records(partition, timestamp):
    """Return the offset of the first record that has at least this timestamp, or None.

    The function reads the records in offset order, without an index.
    """
    for decoded in partition.batches(on_corrupt="skip"):
        for record in decoded.records:
            if record.timestamp >= timestamp:
                return record.offset
    return None


def interesting_times(partition):
    """Return all record timestamps, their neighbors, and timestamps outside the log."""
    times = {
        record.timestamp + beside
        for decoded in partition.batches(on_corrupt="skip")
        for record in decoded.records
        for beside in (-1, 0, 1)
    }
    return sorted(times | {-1, 0, BASE_TIME - 1000, BASE_TIME + 10**9})


def assert_lookups_are_correct(partition):
    times = interesting_times(partition)
    offsets = [partition.offset_for_timestamp(time) for time in times]
    assert offsets == [search_all_records(partition, time) for time in times]
    assert len(set(offsets)) > 3


def make_shuffled(seed, base_offset=0, batches=12):
    """Return batches of three records, with random timestamps in the batch headers.

    The timestamps within a batch ascend.
    """
    rng = random.Random(seed)
    return [
        batch(base_offset + 3 * n, 3, timestamp=BASE_TIME + 20 * n + rng.randrange(99))
        for n in range(batches)
    ]


def time_index(batches, base_offset=0, every=3):
    """Return the time index entries of a broker: (maximum timestamp so far, offset).

    ``every`` is the number of batches between two entries.
    """
    entries, latest, fresh = [], -1, False
    for n in range(len(batches)):
        first = int.from_bytes(batches[n][27:35], "big")
        if first + 2 > latest:
            latest, offset, fresh = first + 2, 3 * n + 2, True
        if n % every == every - 1 and fresh:
            entries.append((latest, offset))
            fresh = False
    return entries


@pytest.mark.parametrize("seed", range(4))
def test_timestamp_lookup_returns_the_lowest_offset(log, tmp_path, seed):
    folder = Folder(tmp_path / "orders-0")
    folder.segment(0, make_shuffled(seed))
    folder.segment(36, make_shuffled(seed + 100, 36))
    assert_lookups_are_correct(partition_of(log, folder))


@pytest.mark.parametrize("seed", range(4))
def test_timestamp_lookup_with_an_index_has_the_same_result(log, tmp_path, seed):
    folder = Folder(tmp_path / "orders-0")
    for base in (0, 36):
        batches = make_shuffled(seed + base, base)
        _, spans = folder.segment(base, batches)
        entries = [(3 * n, spans[n][0]) for n in range(2, 12, 3)]
        folder.beside(base, ".index", ">ii", *entries)
        folder.beside(base, ".timeindex", ">qi", *time_index(batches))
    partition = partition_of(log, folder)
    assert all(len(segment.time_index.entries) > 1 for segment in partition.segments)
    assert_lookups_are_correct(partition)


def test_timestamp_lookup_starts_at_the_time_index_entry(log, tmp_path):
    """A timestamp lookup starts at the offset in the time index.

    The wrong index entry says that all timestamps up to offset 14 are lower, so an
    earlier record with a higher timestamp is not found.
    """
    folder = Folder(tmp_path / "orders-0")
    times = [0, 900, 20, 30, 40, 50, 60, 70]
    batches = [
        batch(3 * n, 3, timestamp=BASE_TIME + time) for n, time in enumerate(times)
    ]
    folder.segment(0, batches)
    assert partition_of(log, folder).offset_for_timestamp(BASE_TIME + 55) == 3
    folder.beside(0, ".timeindex", ">qi", (BASE_TIME + 42, 14))
    assert partition_of(log, folder).offset_for_timestamp(BASE_TIME + 55) == 18


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [(0, 0)] * 50,
        [(BASE_TIME + 5000, 5), (BASE_TIME + 9000, 30)],
        [(BASE_TIME + 2, 34)],
        [(BASE_TIME - 5, 2**31 - 1)],
    ],
    ids=["empty", "zeros", "too-late", "wrong-offset", "outside"],
)
def test_timestamp_lookup_ignores_an_invalid_time_index(log, tmp_path, entries):
    folder = Folder(tmp_path / "orders-0")
    folder.segment(0, make_shuffled(7))
    folder.beside(0, ".timeindex", ">qi", *entries)
    assert_lookups_are_correct(partition_of(log, folder))


@pytest.mark.parametrize(("magic", "codec"), [(0, "none"), (1, "none"), (1, "gzip")])
def test_timestamp_lookup_works_in_old_formats(log, tmp_path, magic, codec):
    """Timestamps are found in magic 0 and 1 messages.

    Magic 0 messages have no timestamp. They only match timestamps of -1 or lower.
    """
    folder = Folder(tmp_path / "orders-0")
    sets = [messages(5 * n, 5, magic=magic, codec=codec) for n in range(4)]
    if codec != "none":
        # A broker sets the timestamp of a wrapper to the maximum of its messages.
        for n, changed in enumerate(sets):
            changed = patched(changed, 18, ">q", BASE_TIME + 5 * n + 4)
            sets[n] = patched(changed, 12, ">I", zlib.crc32(changed[16:]))
    folder.segment(0, [*sets, batch(20, 5)])
    assert_lookups_are_correct(partition_of(log, folder))


def test_log_append_time_of_the_batch_is_looked_up(log, tmp_path):
    """With LogAppendTime, all records have the maximum timestamp of their batch."""
    folder = Folder(tmp_path / "orders-0")
    batches = []
    for n in range(5):
        data = batch(3 * n, 3, timestamp=BASE_TIME + 100 * n)
        (attributes,) = struct.unpack_from(">h", data, 21)
        data = patched(data, 21, ">h", attributes | 8)
        batches.append(checked(patched(data, 35, ">q", BASE_TIME + 1000 + 100 * n)))
    folder.segment(0, batches)
    partition = partition_of(log, folder)
    assert partition.offset_for_timestamp(BASE_TIME + 1000) == 0
    assert partition.offset_for_timestamp(BASE_TIME + 1001) == 3
    assert_lookups_are_correct(partition)


def test_timestamp_lookup_includes_control_records(log, tmp_path):
    """A lookup may return a transaction marker, which has an offset and a timestamp.

    Kafka's lookup does the same.
    """
    folder = Folder(tmp_path / "orders-0")
    folder.segment(
        0,
        [
            batch(0, 3, producer=7),
            batch(3, control=ABORT, producer=7, timestamp=BASE_TIME + 500),
            batch(4, 3),
        ],
    )
    partition = partition_of(log, folder)
    assert partition.offset_for_timestamp(BASE_TIME + 400) == 3
    assert partition.offset_for_timestamp(BASE_TIME + 501) is None


def test_timestamp_lookup_skips_damaged_batches(log, tmp_path):
    """A timestamp lookup ignores batches with a wrong checksum."""
    folder = Folder(tmp_path / "orders-0")
    path, spans = folder.segment(0, make_shuffled(3))
    for number in (2, 6):
        flip(path, spans[number][0] + 40)
    flip(path, spans[9][0] + 10)
    assert_lookups_are_correct(partition_of(log, folder))


def test_timestamp_lookup_omits_records_below_the_log_start(log, tmp_path):
    """Records before the log start offset are not returned.

    After DeleteRecords, such records remain in the segment file.
    """
    folder = Folder(tmp_path / "orders-0")
    folder.segment(0, [batch(3 * n, 3) for n in range(6)])
    folder.segment(18, [batch(18 + 3 * n, 3) for n in range(6)])
    assert partition_of(log, folder).offset_for_timestamp(0) == 0
    for start in (4, 17, 18, 22):
        checkpoint = tmp_path / "log-start-offset-checkpoint"
        checkpoint.write_text(f"0\n1\norders 0 {start}\n")
        partition = partition_of(log, folder)
        assert partition.offset_for_timestamp(0) == start
        assert partition.offset_for_timestamp(BASE_TIME + 25) == 25


@pytest.mark.parametrize("release", RELEASES)
def test_timestamp_lookup_is_correct_for_real_brokers(log, release):
    """Timestamp lookups in real brokers' logs match a search through all records.

    Brokers wrote the time indexes. Every tenth timestamp is tested.
    """
    lookups = 0
    for partition in log.LogDirectory(DATA / release / "data"):
        if "log-start" in partition.checkpoints:
            continue
        every = [
            (record.timestamp, record.offset)
            for decoded in partition.batches(on_corrupt="skip")
            for record in decoded.records
        ]
        for time in sorted({time for time, _ in every})[::10]:
            expected = next(offset for stamp, offset in every if stamp >= time)
            assert partition.offset_for_timestamp(time) == expected, partition
            lookups += 1
    assert lookups > 40
