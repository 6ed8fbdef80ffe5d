# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Intact segments: all access methods return the records that aiokafka wrote."""

import os
import sys

import pytest

from tests.log.log_files import (
    ACCESS,
    BASE_TIME,
    Folder,
    batch,
    log_of,
    messages,
    module,
    segment_of,
)


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


def write_segment(tmp_path, batches, base_offset=0):
    return Folder(tmp_path / "orders-3").segment(base_offset, batches)


@pytest.mark.parametrize("access", ACCESS)
def test_headers_contain_position_and_size(log, tmp_path, access):
    path, spans = write_segment(tmp_path, log_of([3, 1, 20, 2], 100, epoch=7), 100)
    headers = list(segment_of(log, path, access).headers())
    assert [(h.position, h.size) for h in headers] == spans
    assert [(h.base_offset, h.last_offset) for h in headers] == [
        (100, 102),
        (103, 103),
        (104, 123),
        (124, 125),
    ]
    assert {h.partition_leader_epoch for h in headers} == {7}


@pytest.mark.parametrize("access", ACCESS)
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_batches_contain_the_written_records(log, tmp_path, codec, access):
    path, spans = write_segment(tmp_path, log_of([3, 1, 20], codec=codec))
    batches = list(segment_of(log, path, access).batches())
    assert [(b.position, b.size) for b in batches] == spans
    assert {b.compression for b in batches} == {codec}
    records = [record for b in batches for record in b.records]
    assert [r.offset for r in records] == list(range(24))
    assert [r.key for r in records] == [b"key %d" % n for n in range(24)]
    assert {(r.value, r.headers) for r in records} == {(b"value", (("h", b"x"),))}


@pytest.mark.parametrize(
    ("magic", "codec"),
    [
        *((0, codec) for codec in ("none", "gzip", "snappy")),
        *((1, codec) for codec in ("none", "gzip", "snappy", "lz4")),
    ],
)
def test_messages_of_old_formats_are_read(log, tmp_path, magic, codec):
    """Magic 0 and 1 messages are returned in batches.

    Consecutive uncompressed messages form one batch. Every compressed message is a
    batch.
    """
    sets = [messages(10 * n, 10, magic=magic, codec=codec) for n in range(4)]
    path, spans = write_segment(tmp_path, sets)
    batches = list(log.Segment(path).batches())
    if codec == "none":
        assert [(b.position, b.size) for b in batches] == [(0, path.stat().st_size)]
    else:
        assert [(b.position, b.size) for b in batches] == spans
    records = [record for b in batches for record in b.records]
    assert [(r.offset, r.key) for r in records] == [
        (n, b"key %d" % n) for n in range(40)
    ]
    expected = [BASE_TIME + n for n in range(40)] if magic else [-1] * 40
    assert [r.timestamp for r in records] == expected


def test_one_segment_may_hold_all_formats(log, tmp_path):
    contents = [
        messages(0, 5, magic=0),
        messages(5, 5, magic=1),
        messages(10, 5, magic=1, codec="gzip"),
        batch(15, 5, codec="zstd"),
        messages(20, 5, magic=1),
    ]
    path, _ = write_segment(tmp_path, contents)
    segment = log.Segment(path)
    assert [b.magic for b in segment.batches()] == [0, 1, 1, 2, 1]
    assert [r.offset for b in segment.batches() for r in b.records] == list(range(25))
    assert list(segment.problems(deep=True)) == []


@pytest.mark.parametrize("access", ACCESS)
def test_batches_may_be_larger_than_the_window(log, tmp_path, access):
    """Batches are read if they cross the 4 MiB read window, or are larger."""
    large = os.urandom(3 << 20)
    contents = [
        batch(0, 1, value=large),
        batch(1, 1, value=large),
        batch(2, 3, value=large),
        *log_of([2] * 50, 5, value=os.urandom(60_000)),
    ]
    path, spans = write_segment(tmp_path, contents)
    segment = segment_of(log, path, access)
    headers = list(segment.headers(check_crc=True))
    assert [(h.position, h.size) for h in headers] == spans
    assert sum(len(b.records) for b in segment.batches()) == 105
    assert next(segment.batches()).records[0].value == large


@pytest.mark.parametrize("access", ACCESS)
def test_empty_segment_has_no_batches_and_no_problems(log, tmp_path, access):
    path, _ = write_segment(tmp_path, [])
    segment = segment_of(log, path, access)
    assert list(segment.headers()) == list(segment.batches()) == []
    assert list(segment.problems()) == list(segment.good_regions()) == []
    assert segment.seek(0) is None and segment.seek_timestamp(0) is None


def test_a_part_of_a_file_has_the_batches_that_begin_in_it(log, tmp_path):
    path, spans = write_segment(tmp_path, log_of([2] * 10))
    segment = log.Segment(path)
    first, last = spans[3][0], spans[6][0]
    for end in (last, last - 1, spans[5][0] + 1):
        offsets = [b.base_offset for b in segment.batches(first, end)]
        assert offsets == [6, 8, 10]
    assert [b.base_offset for b in segment.batches(first, last + 1)] == [6, 8, 10, 12]
    assert list(segment.headers(path.stat().st_size)) == []


def test_offsets_limit_the_returned_batches(log, tmp_path):
    path, _ = write_segment(tmp_path, log_of([4] * 10))
    segment = log.Segment(path)
    batches = list(segment.batches(start_offset=6, end_offset=13))
    assert [r.offset for b in batches for r in b.records] == list(range(6, 13))
    assert [b.base_offset for b in batches] == [4, 8, 12]
    assert list(segment.batches(start_offset=40)) == []
    assert list(segment.batches(end_offset=0)) == []


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_offsets_bound_old_formats_too(log, tmp_path, codec):
    """``start_offset`` and ``end_offset`` also apply to the messages in a wrapper.

    A compressed wrapper has the last offset of its messages, so they must be examined.
    """
    path, _ = write_segment(
        tmp_path, [messages(10 * n, 10, codec=codec) for n in range(5)]
    )
    batches = log.Segment(path).batches(start_offset=15, end_offset=33)
    assert [r.offset for b in batches for r in b.records] == list(range(15, 33))


class TestSeek:
    """Seek by offset and timestamp, with, without, and with wrong indexes."""

    @pytest.fixture
    def folder(self, tmp_path):
        folder = Folder(tmp_path / "orders-0")
        self.path, self.spans = folder.segment(1000, log_of([5] * 200, 1000))
        return folder

    def check(self, log):
        segment = log.Segment(self.path)
        for offset in (0, 1000, 1004, 1005, 1502, 1999):
            number = max(offset - 1000, 0) // 5
            assert segment.seek(offset) == self.spans[number][0], offset
        assert segment.seek(2000) is None
        for offset in (1000, 1003, 1502, 1999):
            result = segment.seek_timestamp(BASE_TIME + offset)
            assert result == self.spans[(offset - 1000) // 5][0]
        assert segment.seek_timestamp(0) == 0
        assert segment.seek_timestamp(BASE_TIME + 2000) is None

    def entries(self, *numbers):
        return [(number * 5 + 4, self.spans[number][0]) for number in numbers]

    def times(self, *numbers):
        return [(BASE_TIME + 1004 + 5 * n, 5 * n + 4) for n in numbers]

    def test_seek_finds_every_batch_without_an_index(self, log, folder):
        self.check(log)

    def test_seek_finds_every_batch_with_indexes(self, log, folder):
        numbers = range(10, 200, 10)
        folder.beside(1000, ".index", ">ii", *self.entries(*numbers))
        folder.beside(1000, ".timeindex", ">qi", *self.times(*numbers))
        self.check(log)

    def test_seek_reads_only_from_the_indexed_position(self, log, folder, monkeypatch):
        """A seek reads no batches before the position that the indexes contain."""
        folder.beside(1000, ".index", ">ii", *self.entries(50, 100))
        folder.beside(1000, ".timeindex", ">qi", *self.times(50, 100))
        begins = []
        segments = sys.modules[log.Segment.__module__]
        walk_segment = segments.walk_segment

        def walk(segment, file, **options):
            begins.append(options["start"])
            return walk_segment(segment, file, **options)

        monkeypatch.setattr(segments, "walk_segment", walk)
        log.Segment(self.path).seek(1506)
        assert set(begins) == {self.spans[100][0]}
        begins.clear()
        log.Segment(self.path).seek_timestamp(BASE_TIME + 1506)
        assert set(begins) == {self.spans[100][0]}

    def test_zeros_after_the_entries_are_not_entries(self, log, folder):
        """Zeros after the entries of an index are not entries.

        A broker creates the indexes of the newest segment at their full size.
        """
        zeros = [(0, 0)] * 1000
        folder.beside(1000, ".index", ">ii", *self.entries(50, 100), *zeros)
        folder.beside(1000, ".timeindex", ">qi", *self.times(50, 100), *zeros)
        segment = log.Segment(self.path)
        assert len(segment.index.entries) == len(segment.time_index.entries) == 2
        assert not segment.index.has_stray_bytes
        self.check(log)

    @pytest.mark.parametrize(
        "entries",
        [
            [(4, 100), (9, 3_000_000), (14, 4_000_000)],
            [(4, 17), (504, 18), (900, 2**31 - 1)],
            [(504, 61), (3, 4), (-5, -8), (-(2**31), -(2**31))],
            [(2**31 - 1, 0)],
            [(0, 5), (4, 0), (4, 0)],
        ],
    )
    def test_wrong_index_does_not_change_the_result(self, log, folder, entries):
        folder.beside(1000, ".index", ">ii", *entries)
        lies = [(BASE_TIME + n, offset) for n, (offset, _) in enumerate(entries)]
        folder.beside(1000, ".timeindex", ">qi", *lies)
        self.check(log)

    def test_index_of_another_segment_does_not_change_the_result(self, log, folder):
        """If an index has wrong offsets, a seek still returns the correct batch.

        The entries refer to batches with higher offsets than they state.
        """
        shifted = [(n * 5 + 4, self.spans[n + 7][0]) for n in range(0, 190, 10)]
        folder.beside(1000, ".index", ">ii", *shifted)
        self.check(log)

    def test_truncated_indexes_are_read_up_to_their_end(self, log, folder):
        path = folder.beside(1000, ".index", ">ii", *self.entries(50, 100))
        path.write_bytes(path.read_bytes()[:-3])
        assert log.Segment(self.path).index.entries == ((1254, self.spans[50][0]),)
        self.check(log)


@pytest.mark.parametrize("access", ACCESS)
def test_a_file_may_grow_while_it_is_read(log, tmp_path, access):
    """Batches that are appended during an iteration are not returned."""
    path, _ = write_segment(tmp_path, log_of([3] * 4))
    headers = segment_of(log, path, access).headers()
    assert next(headers).base_offset == 0
    with path.open("ab") as file:
        file.write(batch(12))
    assert [h.base_offset for h in headers] == [3, 6, 9]
    longer = segment_of(log, path, access).headers()
    assert [h.base_offset for h in longer] == [0, 3, 6, 9, 12]


@pytest.mark.parametrize("access", ACCESS)
def test_a_file_may_shrink_while_it_is_read(log, tmp_path, access):
    """If the file is truncated during an iteration, the remaining batches are read."""
    if sys.platform == "win32" and access == "map":
        pytest.skip("Windows cuts no file that is mapped")
    contents = log_of([1] * 30, value=os.urandom(1 << 20))
    path, spans = write_segment(tmp_path, contents)
    headers = segment_of(log, path, access).headers(check_crc=True)
    first = next(headers)
    with path.open("r+b") as file:
        file.truncate(spans[20][0] + 5)
    read_headers = [first, *headers]
    assert [h.base_offset for h in read_headers] == list(range(20))


def test_good_regions_are_maximal(log, tmp_path):
    path, _ = write_segment(tmp_path, log_of([3] * 40))
    size = path.stat().st_size
    assert list(log.Segment(path).good_regions()) == [(0, size)]


def test_a_checkpoint_of_kraft_is_a_segment(log, tmp_path):
    """A KRaft snapshot is read as a segment.

    Its file name contains the offset of the snapshot, but its batches start at offset
    0.
    """
    folder = Folder(tmp_path / "__cluster_metadata-0")
    folder.segment(500, log_of([2, 3]), "-0000000007.checkpoint")
    (partition,) = log.LogDirectory(tmp_path)
    (segment,) = partition.snapshots
    assert partition.segments == ()
    assert (segment.kind, segment.base_offset) == ("checkpoint", 0)
    assert [h.base_offset for h in segment.headers()] == [0, 2]
    assert list(segment.problems()) == []


def test_abandoned_iteration_closes_its_file(log, tmp_path, recwarn):
    """An iteration that is not consumed completely closes its file."""
    path, _ = write_segment(tmp_path, log_of([3] * 4))
    before = len(os.listdir("/proc/self/fd"))
    for access in ACCESS:
        next(segment_of(log, path, access).headers())
        next(segment_of(log, path, access).batches())
        segment_of(log, path, access).seek(5)
    assert len(os.listdir("/proc/self/fd")) == before
    assert len(recwarn) == 0


def test_columns_of_a_file_that_is_copied_are_read_in_few_calls(
    kwire, log, tmp_path, monkeypatch
):
    """Reading columns of 200 compressed batches needs few read calls.

    Searching for runs of uncompressed batches once needed one call per batch.
    """
    records = module(kwire, "records")
    batches = [
        records.encode_batch(
            [(b"k", os.urandom(100_000), 1, [])], base_offset=base, compression="gzip"
        )
        for base in range(200)
    ]
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(b"".join(batches))
    calls = []
    files = module(kwire, "log.file_bytes").FileBytes
    read_range = files._read_range

    def count(file, start, end):
        calls.append(start)
        return read_range(file, start, end)

    monkeypatch.setattr(files, "_read_range", count)
    [partition] = log.LogDirectory(path, access="read")
    tables = list(partition.segments[0].columns())
    assert sum(map(len, tables)) == 200
    assert len(calls) < 20


def test_verified_offsets_are_not_checked_again(kwire, log, tmp_path):
    """With ``are_offsets_right``, the offsets of a segment are not checked.

    The caller has already checked the file. Without it, a wrong offset is a problem.
    """
    records = module(kwire, "records")
    batches = [
        records.encode_batch([(b"k", b"v", 1, [])], base_offset=base)
        for base in (5, 900, 6)
    ]
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(b"".join(batches))
    [partition] = log.LogDirectory(path)
    [segment] = partition.segments
    problems = []
    list(segment.columns(on_corrupt=problems.append))
    assert [problem.reason for problem in problems] == ["offset"]
    tables = segment.columns(are_offsets_right=True)
    assert [int(o) for table in tables for o in table.offset] == [5, 900, 6]
