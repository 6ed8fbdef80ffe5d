# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Damaged logs: problems match the faults, and no other batch is lost.

The tests damage an intact log with several segments. They compare all problems, and all
other batches.
"""

import random
import zlib
from itertools import pairwise

import pytest

from tests.harness.hostile import some
from tests.log.log_files import (
    ACCESS,
    Folder,
    batch,
    flip,
    log_of,
    messages,
    module,
    overwrite,
)

COUNTS = [3, 1, 7, 2, 5, 4, 6, 1, 2, 9]


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


class Sound:
    """Partition with three undamaged segments of ten batches each.

    * ``paths``: segment files.
    * ``spans``: (position, size) of the batches, by segment.
    * ``offsets``: base offsets of the batches, by segment.
    """

    def __init__(self, tmp_path, **options):
        self.root = tmp_path
        self.folder = Folder(tmp_path / "orders-0")
        self.paths, self.spans, self.offsets = [], [], []
        base = 1000
        for _ in range(3):
            batches = log_of(COUNTS, base, **options)
            path, spans = self.folder.segment(base, batches)
            self.paths.append(path)
            self.spans.append(spans)
            bases = [base + sum(COUNTS[:n]) for n in range(10)]
            self.offsets.append(bases)
            base += sum(COUNTS)
        self.end = base

    def all_offsets(self, *without):
        return [
            offset
            for segment, offsets in enumerate(self.offsets)
            for number, offset in enumerate(offsets)
            if (segment, number) not in without
        ]

    def fault(self, segment, first, last=None):
        """Return the expected problem if batches ``first`` to ``last`` are damaged.

        It is (path, position, length, last offset before, first offset after).
        """
        last = first if last is None else last
        start = self.spans[segment][first][0]
        position, size = self.spans[segment][last]
        begin = self.offsets[segment][first]
        return (
            str(self.paths[segment]),
            start,
            position + size - start,
            begin - 1,
            self.offsets[segment][last] + COUNTS[last],
        )


@pytest.fixture(params=ACCESS)
def open_log(request, log):
    def opened(sound, **options):
        if request.param == "stored":
            logs = log.LogDirectory(sound.root.as_uri(), **options)
        else:
            logs = log.LogDirectory(sound.root, access=request.param, **options)
        return logs["orders", 0]

    return opened


@pytest.fixture
def sound(tmp_path):
    return Sound(tmp_path)


def local_path(path):
    """Return the path of a local file. If ``path`` is a file URI, remove its scheme."""
    return path.removeprefix("file://")


def find_problems(partition, **options):
    return [
        (
            local_path(p.path),
            p.position,
            p.length,
            p.last_good_offset,
            p.next_good_offset,
        )
        for p in partition.problems(**options)
    ]


def read_offsets(partition, **options):
    return [b.base_offset for b in partition.batches(on_corrupt="skip", **options)]


def test_a_sound_log_has_no_problems(sound, open_log):
    partition = open_log(sound)
    assert find_problems(partition, deep=True, strict_tail=True) == []
    assert read_offsets(partition) == sound.all_offsets()
    assert (partition.start_offset, partition.end_offset) == (1000, sound.end)


@pytest.mark.parametrize("number", [0, 4, 9])
@pytest.mark.parametrize("segment", [0, 1])
def test_each_flipped_bit_of_a_batch_costs_that_batch(sound, log, segment, number):
    """Flipping any bit of a batch only loses this batch, and reports one problem.

    The leader epoch is not tested, because the checksum does not include it.
    """
    position, size = sound.spans[segment][number]
    path = sound.paths[segment]
    data = path.read_bytes()
    expected_problems = [sound.fault(segment, number)]
    expected = sound.all_offsets((segment, number))
    for byte in some(range(size)):
        if 12 <= byte < 16:
            continue
        bit = 1 << byte % 8
        damaged = bytearray(data)
        damaged[position + byte] ^= bit
        path.write_bytes(damaged)
        partition = log.LogDirectory(sound.root)["orders", 0]
        assert find_problems(partition) == expected_problems, (byte, bit)
        assert read_offsets(partition) == expected, (byte, bit)


@pytest.mark.parametrize(
    ("byte", "reason"),
    [
        (7, "offset"),
        (0, "offset"),
        (9, "size"),
        (11, "crc"),
        (16, "header"),
        (17, "crc"),
        (30, "crc"),
        (70, "crc"),
    ],
)
def test_problem_reason_describes_the_damage(sound, open_log, byte, reason):
    flip(sound.paths[1], sound.spans[1][4][0] + byte, 0x40)
    partition = open_log(sound)
    (problem,) = partition.problems()
    assert problem.reason == reason
    assert (problem.topic, problem.partition) == ("orders", 0)
    assert str(problem.position) in str(problem) and problem.detail in str(problem)


def test_raised_error_names_the_file_and_the_byte(sound, open_log, kwire):
    flip(sound.paths[1], sound.spans[1][4][0] + 40)
    with pytest.raises(kwire.CorruptBatch) as caught:
        list(open_log(sound).batches())
    assert caught.value.offset == sound.spans[1][4][0]
    assert local_path(caught.value.path) == str(sound.paths[1])
    assert str(sound.paths[1]) in str(caught.value)


def test_iteration_reports_each_problem_at_its_position(sound, open_log):
    flip(sound.paths[0], sound.spans[0][2][0] + 40)
    flip(sound.paths[2], sound.spans[2][5][0] + 40)
    partition, problems = open_log(sound), []
    offsets = [b.base_offset for b in partition.batches(on_corrupt=problems.append)]
    assert offsets == sound.all_offsets((0, 2), (2, 5))
    assert problems == list(partition.problems())
    with pytest.raises(TypeError, match="on_corrupt"):
        list(partition.batches(on_corrupt="never"))


def test_neighbours_are_one_region(sound, open_log):
    for number in (3, 4, 5):
        flip(sound.paths[1], sound.spans[1][number][0] + 40)
    partition = open_log(sound)
    assert find_problems(partition) == [sound.fault(1, 3, 5)]
    assert read_offsets(partition) == sound.all_offsets((1, 3), (1, 4), (1, 5))


def test_batches_between_damaged_batches_are_read(sound, open_log):
    for number in (1, 3, 5, 7):
        flip(sound.paths[1], sound.spans[1][number][0] + 20)
    partition = open_log(sound)
    assert find_problems(partition) == [
        sound.fault(1, number) for number in (1, 3, 5, 7)
    ]
    assert read_offsets(partition) == sound.all_offsets((1, 1), (1, 3), (1, 5), (1, 7))


@pytest.mark.parametrize("fill", [b"\0", b"\xff", b"\x02", b"\x7f"])
def test_a_region_written_over_costs_the_batches_in_it(sound, open_log, fill):
    start, end = sound.spans[1][2][0], sound.spans[1][5][0]
    overwrite(sound.paths[1], start, fill * (end - start))
    partition = open_log(sound)
    assert find_problems(partition) == [sound.fault(1, 2, 4)]
    assert read_offsets(partition) == sound.all_offsets((1, 2), (1, 3), (1, 4))
    (problem,) = partition.problems()
    # The byte 2 is the magic of a valid batch, so the reader reports the size instead.
    expected_reason = {b"\0": "zeros", b"\x02": "size"}.get(fill, "header")
    assert problem.reason == expected_reason


@pytest.mark.parametrize("garbage", [b"\0" * 100, b"hello" * 50, b"\x02" * 31, b"x"])
def test_inserted_garbage_costs_no_batch(sound, open_log, garbage):
    path, position = sound.paths[1], sound.spans[1][4][0]
    data = path.read_bytes()
    path.write_bytes(data[:position] + garbage + data[position:])
    partition = open_log(sound)
    offset = sound.offsets[1][4]
    assert find_problems(partition) == [
        (str(path), position, len(garbage), offset - 1, offset)
    ]
    assert read_offsets(partition) == sound.all_offsets()


def test_a_removed_stretch_is_found(sound, open_log):
    """If bytes are missing, all batches that lack bytes are reported as one problem.

    The missing bytes start within one batch and end within a later one.
    """
    path = sound.paths[1]
    first, last = sound.spans[1][3][0], sound.spans[1][6][0]
    data = path.read_bytes()
    path.write_bytes(data[: first + 70] + data[last + 80 :])
    partition = open_log(sound)
    size = sound.spans[1][7][0] - last - 80 + 70
    begin = sound.offsets[1][3]
    expected = (str(path), first, size, begin - 1, sound.offsets[1][7])
    assert find_problems(partition) == [expected]
    assert read_offsets(partition) == sound.all_offsets(*((1, n) for n in range(3, 7)))


def test_a_removed_batch_is_a_gap(sound, open_log):
    path = sound.paths[1]
    (first, _), (last, _) = sound.spans[1][3], sound.spans[1][4]
    data = path.read_bytes()
    path.write_bytes(data[:first] + data[last:])
    partition = open_log(sound)
    begin = sound.offsets[1][3]
    expected = (str(path), first, 0, begin - 1, sound.offsets[1][4])
    assert find_problems(partition) == [expected]
    assert [p.reason for p in partition.problems()] == ["gap"]
    assert read_offsets(partition) == sound.all_offsets((1, 3))
    assert len(list(partition.batches())) == 29, "nothing to raise for"


def test_a_removed_segment_is_a_gap(sound, open_log):
    sound.paths[1].unlink()
    partition = open_log(sound)
    path = str(sound.paths[2])
    middle = [sound.offsets[1][0] - 1, sound.offsets[2][0]]
    assert find_problems(partition) == [(path, 0, 0, *middle)]
    assert read_offsets(partition) == sound.all_offsets(*((1, n) for n in range(10)))


def test_gaps_in_a_compacted_topic_are_not_problems(sound, open_log):
    """In a compacted topic, skipped offsets are not a problem.

    The caller can specify that the topic is compacted. Otherwise, the cleaner
    checkpoint or a batch with skipped offsets shows it.
    """
    sound.paths[1].unlink()
    assert find_problems(open_log(sound, compacted=True)) == []
    checkpoint = sound.root / "cleaner-offset-checkpoint"
    checkpoint.write_text("0\n1\norders 0 1030\n")
    assert find_problems(open_log(sound)) == []
    assert len(find_problems(open_log(sound, compacted=False))) == 1
    checkpoint.write_text("0\n1\norders 1 1030\n")
    assert len(find_problems(open_log(sound))) == 1


def test_a_batch_with_holes_shows_a_compacted_topic(tmp_path, open_log, kwire):
    folder = Folder(tmp_path / "orders-0")
    records = module(kwire, "records")
    holes = records.encode_batch([(b"k", b"v")], base_offset=20, last_offset=25)
    folder.segment(0, [batch(0), batch(10), holes, batch(40)])
    sound = type("Root", (), {"root": tmp_path})
    assert find_problems(open_log(sound)) == []
    _, spans = folder.segment(0, [batch(0), batch(10), batch(40)])
    assert [p[1:] for p in find_problems(open_log(sound))] == [
        (spans[1][0], 0, 2, 10),
        (spans[2][0], 0, 12, 40),
    ]


@pytest.mark.parametrize("cut", [1, 5, 11, 12, 16, 17, 40, 60, 61, 80])
def test_incomplete_end_of_the_newest_segment_is_not_a_problem(sound, open_log, cut):
    """An incomplete batch at the end of the newest segment is not a problem.

    It is normal after a crash. With ``strict_tail``, it is reported.
    """
    path, (position, _) = sound.paths[2], sound.spans[2][9]
    path.write_bytes(path.read_bytes()[: position + cut])
    partition = open_log(sound)
    assert find_problems(partition) == []
    assert [b.base_offset for b in partition.batches()] == sound.all_offsets((2, 9))
    offset = sound.offsets[2][9]
    expected = (str(path), position, cut, offset - 1, -1)
    assert find_problems(partition, strict_tail=True) == [expected]
    with pytest.raises(ValueError, match="within a batch"):
        list(partition.batches(strict_tail=True))


@pytest.mark.parametrize("cut", [1, 16, 40, 80])
def test_a_cut_in_an_older_segment_is_a_problem(sound, open_log, cut):
    """An incomplete batch at the end of an older segment is one problem.

    The lost offsets are not reported again as a gap before the next segment.
    """
    path, (position, _) = sound.paths[1], sound.spans[1][6]
    path.write_bytes(path.read_bytes()[: position + cut])
    partition = open_log(sound)
    offset = sound.offsets[1][6]
    after = sound.offsets[2][0]
    assert find_problems(partition) == [(str(path), position, cut, offset - 1, after)]
    assert [p.reason for p in partition.problems()] == ["cut"]
    assert read_offsets(partition) == sound.all_offsets(*((1, n) for n in range(6, 10)))


def test_a_cut_between_batches_is_a_gap(sound, open_log):
    path, (position, _) = sound.paths[1], sound.spans[1][6]
    path.write_bytes(path.read_bytes()[:position])
    partition = open_log(sound)
    after = sound.offsets[2][0]
    expected = (str(sound.paths[2]), 0, 0, sound.offsets[1][6] - 1, after)
    assert find_problems(partition) == [expected]


@pytest.mark.parametrize("zeros", [1, 11, 12, 17, 61, 5000, 3 << 20])
def test_zeros_at_the_end_are_a_torn_tail(sound, open_log, zeros):
    """Zeros at the end of the newest segment are not a problem.

    With ``preallocate``, Kafka creates files at their full size.
    """
    for segment in (2, 1):
        path = sound.paths[segment]
        size = path.stat().st_size
        path.write_bytes(path.read_bytes() + bytes(zeros))
        partition = open_log(sound)
        assert read_offsets(partition) == sound.all_offsets()
        if segment == 2:
            assert find_problems(partition) == []
    after = sound.offsets[2][0]
    assert find_problems(partition) == [(str(path), size, zeros, after - 1, after)]


def test_last_batch_that_ends_in_zeros_is_torn(sound, open_log):
    path, (position, size) = sound.paths[2], sound.spans[2][9]
    overwrite(path, position + 100, bytes(size - 100))
    partition = open_log(sound)
    assert find_problems(partition) == [(*sound.fault(2, 9)[:4], -1)], (
        "the file ends there"
    )
    path.write_bytes(path.read_bytes() + bytes(100_000))
    assert find_problems(open_log(sound)) == []
    assert read_offsets(open_log(sound)) == sound.all_offsets((2, 9))


def test_a_bad_last_batch_is_a_problem_even_in_the_newest(sound, open_log):
    flip(sound.paths[2], sound.spans[2][9][0] + 66)
    partition = open_log(sound)
    assert find_problems(partition) == [(*sound.fault(2, 9)[:4], -1)]
    assert read_offsets(partition) == sound.all_offsets((2, 9))


def test_overlapping_segments_are_reported_once(sound, open_log, tmp_path):
    """If two segments contain the same offsets, one problem is reported.

    A log may be assembled from two replicas, so the batches of both segments are read.
    """
    base = sound.offsets[1][0] - 9
    batches = log_of([9, *COUNTS], base)
    sound.paths[1].unlink()
    path, _ = sound.folder.segment(base, batches)
    partition = open_log(sound)
    assert [p.reason for p in partition.problems()] == ["overlap"]
    assert find_problems(partition) == [(str(path), 0, 0, base + 8, base)]
    assert len(read_offsets(partition)) == 31


def test_old_formats_are_resynchronised_too(tmp_path, open_log):
    folder = Folder(tmp_path / "orders-0")
    sets = [messages(n, 1, magic=n % 2, value=b"v" * 50) for n in range(40)]
    path, spans = folder.segment(0, sets)
    sound = type("Root", (), {"root": tmp_path})
    for byte in (0, 9, 13, 16, 18, 30):
        flip(path, spans[17][0] + byte, 0x10)
        partition = open_log(sound)
        assert find_problems(partition) == [(str(path), *spans[17], 16, 18)], byte
        batches = partition.batches(on_corrupt="skip")
        offsets = [r.offset for b in batches for r in b.records]
        assert offsets == [n for n in range(40) if n != 17]
        flip(path, spans[17][0] + byte, 0x10)


def test_batches_inside_a_damaged_batch_are_not_taken(tmp_path, open_log):
    """Batches inside of record values are not read if the outer batch is damaged.

    Otherwise, the values would become records of the log.
    """
    inner = b"".join(log_of([2, 2], 500))
    folder = Folder(tmp_path / "orders-0")
    contents = [batch(0), batch(3, value=inner), batch(6), batch(9)]
    path, spans = folder.segment(0, contents)
    flip(path, spans[1][0] + 30)
    sound = type("Root", (), {"root": tmp_path})
    assert find_problems(open_log(sound)) == [(str(path), *spans[1], 2, 6)]
    assert read_offsets(open_log(sound)) == [0, 6, 9]


def test_batches_inside_are_not_taken_if_their_offsets_are_lower(tmp_path, open_log):
    """Batches inside of a value are not read, even if the outer header is damaged.

    The end of the outer batch is unknown, and the inner batches have lower offsets.
    """
    inner = b"".join(log_of([2, 2], 7))
    folder = Folder(tmp_path / "orders-0")
    contents = [batch(500), batch(503, value=inner), batch(506), batch(509)]
    path, spans = folder.segment(500, contents)
    flip(path, spans[1][0] + 16, 0x10)
    sound = type("Root", (), {"root": tmp_path})
    assert find_problems(open_log(sound)) == [(str(path), *spans[1], 502, 506)]
    assert read_offsets(open_log(sound)) == [500, 506, 509]


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("number", range(10))
def test_an_offset_that_is_off_by_little_is_found(sound, log, number, bit):
    """If the last byte of a base offset has a flipped bit, only this batch is lost.

    The batches before and after it show which of two contradicting batches is wrong.
    """
    position, _ = sound.spans[1][number]
    flip(sound.paths[1], position + 7, 1 << bit)
    partition = log.LogDirectory(sound.root)["orders", 0]
    assert find_problems(partition) == [sound.fault(1, number)]
    assert read_offsets(partition) == sound.all_offsets((1, number))


def test_low_offset_in_a_compacted_log_keeps_the_previous_batch(tmp_path, open_log):
    """In a compacted log, a batch with a too low offset does not displace another one.

    Compaction skips offsets, so the batch before it may have any higher offset.
    """
    folder = Folder(tmp_path / "orders-0")
    contents = [batch(0), batch(100, 40), batch(240), batch(301), batch(402)]
    path, spans = folder.segment(0, contents)
    flip(path, spans[2][0] + 7, 0x80)
    sound = type("Root", (), {"root": tmp_path})
    partition = open_log(sound, compacted=True)
    assert find_problems(partition) == [(str(path), *spans[2], 139, 301)]
    assert read_offsets(partition) == [0, 100, 301, 402]


@pytest.mark.parametrize("byte", [9, 40])
def test_wrong_offset_after_a_damaged_batch_affects_no_other_batch(
    sound, open_log, byte
):
    """A wrong base offset directly after a damaged batch only loses these two batches.

    No intact batch before it shows the correct offset, but the batches after it do.
    """
    flip(sound.paths[1], sound.spans[1][4][0] + byte)
    flip(sound.paths[1], sound.spans[1][5][0] + 6)
    partition = open_log(sound)
    assert find_problems(partition) == [sound.fault(1, 4, 5)]
    assert read_offsets(partition) == sound.all_offsets((1, 4), (1, 5))


def test_a_wrong_offset_before_a_damaged_batch_costs_no_other(sound, open_log):
    flip(sound.paths[1], sound.spans[1][4][0] + 6)
    flip(sound.paths[1], sound.spans[1][5][0] + 40)
    partition = open_log(sound)
    assert find_problems(partition) == [sound.fault(1, 4), sound.fault(1, 5)]
    assert read_offsets(partition) == sound.all_offsets((1, 4), (1, 5))


def test_a_wrong_offset_between_damaged_batches_costs_no_other(sound, open_log):
    flip(sound.paths[1], sound.spans[1][4][0] + 40)
    flip(sound.paths[1], sound.spans[1][5][0] + 6)
    flip(sound.paths[1], sound.spans[1][6][0] + 40)
    partition = open_log(sound)
    assert read_offsets(partition) == sound.all_offsets((1, 4), (1, 5), (1, 6))


@pytest.mark.parametrize("byte", [9, 40])
def test_wrong_offset_of_the_last_batch_keeps_the_previous_batch(sound, open_log, byte):
    """If the last batch has a wrong offset, the batch before it is not lost.

    The batch before it follows a damaged batch, so no other batch confirms its offset.
    """
    *_, before, last = range(len(COUNTS))
    flip(sound.paths[2], sound.spans[2][before - 1][0] + byte)
    data = bytearray(sound.paths[2].read_bytes())
    position, _ = sound.spans[2][last]
    data[position : position + 8] = (sound.offsets[2][before] + 1).to_bytes(8, "big")
    sound.paths[2].write_bytes(data)
    partition = open_log(sound)
    assert read_offsets(partition) == sound.all_offsets((2, before - 1), (2, last))


def test_undecodable_batch_does_not_affect_other_batches(tmp_path, open_log, kwire):
    """A batch with a valid checksum and invalid records only affects itself.

    Only a deep check, which decodes the records, reports it.
    """
    from tests.log.log_files import checked, patched

    folder = Folder(tmp_path / "orders-0")
    contents = log_of([3, 3, 3])
    contents[1] = checked(patched(contents[1], 61, ">b", 2))
    path, spans = folder.segment(0, contents)
    sound = type("Root", (), {"root": tmp_path})
    partition = open_log(sound)
    assert find_problems(partition) == []
    assert find_problems(partition, deep=True) == [(str(path), *spans[1], 2, 6)]
    problems = []
    assert [b.base_offset for b in partition.batches(on_corrupt=problems.append)] == [
        0,
        6,
    ]
    assert [p.reason for p in problems] == ["records"]
    with pytest.raises(kwire.DecodeError) as caught:
        list(partition.batches())
    assert spans[1][0] < caught.value.offset < sum(spans[1])
    assert local_path(caught.value.path).startswith(str(path))


def test_any_bytes_are_read_or_reported_as_problems(tmp_path, log, kwire):
    """Any bytes are read as batches, or reported as problems, without other exceptions.

    The files are random or randomly damaged, and are read with all methods.
    """
    chance = random.Random(11)
    sound = b"".join(log_of([3, 1, 2, 5], codec="gzip")) + messages(11, 4)
    path = Folder(tmp_path / "orders-0").segment(0, [])[0]
    for round_ in range(300):
        data = bytearray(sound)
        for _ in range(chance.randrange(1, 6)):
            position = chance.randrange(len(data))
            length = chance.choice([1, 2, 4, 8, 40])
            data[position : position + length] = chance.randbytes(
                chance.choice([0, length])
            )
        if round_ % 10 == 0:
            data = bytearray(chance.randbytes(chance.randrange(2000)))
        path.write_bytes(data)
        segment = log.Segment(path)
        problems = list(segment.problems(deep=True))
        assert all(0 <= p.position <= len(data) for p in problems)
        assert all(p.position + p.length <= len(data) for p in problems)
        list(segment.batches(on_corrupt="skip", isolation_level="read_committed"))
        segment.seek(chance.randrange(20)), segment.seek_timestamp(5)
        try:
            list(segment.batches())
        except kwire.DecodeError as error:
            assert error.path.startswith(str(path))


def test_repaired_copies_are_sound(sound, log, tmp_path):
    """A repaired copy contains the intact batches unchanged, and has no problems.

    Repairing does not replace existing files.
    """
    for number in (0, 4, 5):
        flip(sound.paths[1], sound.spans[1][number][0] + 40)
    with sound.paths[1].open("ab") as file:
        file.write(b"torn")
    before = sound.paths[1].read_bytes()
    target = tmp_path / "copy" / "orders-0" / sound.paths[1].name
    target.parent.mkdir(parents=True)
    segment = log.Segment(sound.paths[1])
    done = []
    report = log.copy_good(segment, target, progress=done.append)
    assert sound.paths[1].read_bytes() == before
    assert sum(done) == len(before)
    copied = target.read_bytes()
    spans = [span for n, span in enumerate(sound.spans[1]) if n not in (0, 4, 5)]
    assert copied == b"".join(before[start : start + size] for start, size in spans)
    assert report.batches == 7 and report.bytes_copied == len(copied)
    assert report.bytes_left_out == len(before) - len(copied)
    assert [p.reason for p in report.problems] == ["crc", "crc"]
    regions = [before[start : start + size] for start, size in segment.good_regions()]
    assert b"".join(regions) == copied and len(regions) == 2
    assert len(list(log.Segment(target).batches())) == 7
    with pytest.raises(FileExistsError):
        log.copy_good(segment, target)
    assert zlib.crc32(target.read_bytes()) == zlib.crc32(copied)


def test_any_split_position_finds_the_next_batch(sound, log):
    """If a file is split at any byte, every batch is in exactly one part.

    A batch belongs to the part in which it starts.
    """
    segment = log.Segment(sound.paths[1])
    size = segment.size
    for parts in (2, 3, 7, 40):
        cuts = [size * n // parts for n in range(parts + 1)]
        positions = []
        for start, end in pairwise(cuts):
            valid = segment.headers(start, check_crc=True, on_corrupt="skip")
            first = next(valid, None)
            if first is not None and first.position < end:
                positions += [h.position for h in segment.headers(first.position, end)]
        assert positions == [position for position, _ in sound.spans[1]], parts


def test_adjacent_batches_with_distant_offsets_are_rejected(log, tmp_path):
    """A batch with a distant offset is rejected, even after another such batch.

    The offset of a rejected batch must not be used as the expected offset of the next
    one.
    """
    from tests.log.log_files import checked, patched

    folder = Folder(tmp_path / "orders-0")
    contents = log_of([3] * 6, 70)
    contents[1] = patched(contents[1], 0, ">q", 2**43 + 73)
    contents[2] = checked(patched(contents[2], 0, ">q", 2**45 + 76))
    folder.segment(70, contents)
    (partition,) = log.LogDirectory(tmp_path)
    problems = []
    bases = [
        decoded.base_offset for decoded in partition.batches(on_corrupt=problems.append)
    ]
    assert bases == [70, 79, 82, 85]
    assert {problem.reason for problem in problems} == {"offset"}


def test_offset_of_the_next_segment_is_rejected_in_the_last_batch(log, tmp_path):
    """An offset of the next segment is rejected in the last batch of a segment.

    The name of the next segment is the first offset that cannot be in this segment.
    """
    from tests.log.log_files import patched

    folder = Folder(tmp_path / "orders-0")
    contents = log_of([3] * 4, 0)
    contents[2] = patched(contents[2], 0, ">q", 5000)
    folder.segment(0, [*contents[:3], contents[3][:-9]])
    folder.segment(12, log_of([3], 12))
    (partition,) = log.LogDirectory(tmp_path)
    problems = []
    bases = [
        decoded.base_offset for decoded in partition.batches(on_corrupt=problems.append)
    ]
    assert bases == [0, 3, 12]
    assert [problem.reason for problem in problems] == ["offset", "cut"]
