# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``verify`` compares the files next to the segments with the batches."""

import struct

import pytest

from tests.log.log_files import (
    ABORT,
    BASE_TIME,
    COMMIT,
    Folder,
    aborted_entry,
    batch,
    flip,
    log_of,
    module,
    overwrite,
    producer_snapshot,
)


@pytest.fixture
def log(kwire):
    return module(kwire, "log")


class Sound:
    """Partition with two segments, their indexes, snapshots and checkpoints."""

    def __init__(self, tmp_path):
        self.root = tmp_path
        self.folder = Folder(tmp_path / "orders-0")
        first = log_of([5] * 20, epoch=1)
        second = [
            *log_of([5] * 10, 100, epoch=3),
            batch(150, 3, producer=7, epoch=3),
            batch(153, control=ABORT, producer=7, epoch=3),
            batch(154, 3, producer=7, epoch=3),
            batch(157, control=COMMIT, producer=7, epoch=3),
        ]
        self.first, self.spans = self.folder.segment(0, first)
        self.second, self.more_spans = self.folder.segment(100, second)
        numbers = (4, 9, 14)
        entries = [(5 * n + 4, self.spans[n][0]) for n in numbers]
        times = [(BASE_TIME + 5 * n + 4, 5 * n + 4) for n in (*numbers, 19)]
        self.index = self.folder.beside(0, ".index", ">ii", *entries)
        self.time_index = self.folder.beside(0, ".timeindex", ">qi", *times)
        self.folder.beside(100, ".index", ">ii", (24, self.more_spans[4][0]))
        self.folder.beside(100, ".timeindex", ">qi", (BASE_TIME + 124, 24))
        self.txnindex = self.folder.path / f"{100:020}.txnindex"
        self.txnindex.write_bytes(aborted_entry(7, 150, 153))
        self.epochs = self.folder.path / "leader-epoch-checkpoint"
        self.epochs.write_text("0\n2\n1 0\n3 100\n")
        self.snapshot = self.folder.path / f"{100:020}.snapshot"
        self.snapshot.write_bytes(producer_snapshot((7, 0, 5, 90, 2, 9, 0, -1)))
        self.metadata = self.folder.path / "partition.metadata"
        self.metadata.write_text("version: 0\ntopic_id: X_PRpIxbTw6djitqPB1OXw\n")


@pytest.fixture
def sound(tmp_path):
    return Sound(tmp_path)


def find_problems(log, sound, **options):
    partition = log.LogDirectory(sound.root)["orders", 0]
    return [
        (p.path, p.position, p.length, p.reason)
        for p in log.verify(partition, **options)
    ]


def test_sound_partition_has_no_problems(log, sound):
    assert find_problems(log, sound, deep=True, strict_tail=True) == []
    for segment in log.LogDirectory(sound.root).segments:
        assert list(log.verify(segment, deep=True)) == []


def test_reported_progress_adds_up_to_the_partition_size(log, sound):
    done = []
    assert find_problems(log, sound, progress=done.append) == []
    partition = log.LogDirectory(sound.root)["orders", 0]
    assert sum(done) == partition.size and min(done) > 0


def test_wrong_offset_index_entry_is_reported(log, sound):
    path = str(sound.index)
    position = sound.spans[9][0]
    overwrite(sound.index, 12, (position + 1).to_bytes(4, "big"))
    assert find_problems(log, sound) == [(path, 8, 8, "index")]
    overwrite(sound.index, 12, position.to_bytes(4, "big"))
    overwrite(sound.index, 8, (44).to_bytes(4, "big"))
    assert find_problems(log, sound) == [(path, 8, 8, "index")]
    overwrite(sound.index, 8, (49).to_bytes(4, "big"))
    assert find_problems(log, sound) == []
    with sound.index.open("ab") as file:
        file.write(bytes(80))
    assert find_problems(log, sound) == []
    with sound.index.open("ab") as file:
        file.write(b"\1")
    assert find_problems(log, sound) == [(path, 24, 81, "index")]


def test_index_with_entries_after_the_log_end_is_a_problem(log, sound):
    with sound.index.open("ab") as file:
        file.write((2000).to_bytes(4, "big") + (10**6).to_bytes(4, "big"))
    assert find_problems(log, sound) == [(str(sound.index), 24, 8, "index")]


def test_time_index_above_the_limit_is_named_in_the_problem(
    kwire, log, sound, monkeypatch
):
    """If a time index exceeds the size limit, the problem contains its path.

    Offset index and time index are read separately.
    """
    indexes = module(kwire, "log.indexes")
    read_small_file = indexes.read_small_file
    limits = kwire.Limits(frame_bytes=sound.index.stat().st_size)
    assert sound.time_index.stat().st_size > limits.frame_bytes
    monkeypatch.setattr(
        indexes, "read_small_file", lambda path, _: read_small_file(path, limits)
    )
    reasons = {path: reason for path, _, _, reason in find_problems(log, sound)}
    assert reasons[str(sound.time_index)] == "timeindex"
    assert str(sound.index) not in reasons


def test_wrong_time_index_entry_is_reported(log, sound):
    path = str(sound.time_index)
    overwrite(sound.time_index, 12, (BASE_TIME + 48).to_bytes(8, "big"))
    assert find_problems(log, sound) == [(path, 12, 12, "timeindex")]
    overwrite(sound.time_index, 12, (BASE_TIME + 49).to_bytes(8, "big"))
    overwrite(sound.time_index, 44, (500).to_bytes(4, "big"))
    assert find_problems(log, sound) == [(path, 36, 12, "timeindex")]


def test_indexes_that_point_into_damage_are_not_blamed(log, sound):
    flip(sound.first, sound.spans[9][0] + 30)
    position, size = sound.spans[9]
    assert find_problems(log, sound) == [(str(sound.first), position, size, "crc")]


def test_wrong_or_missing_transaction_index_is_reported(log, sound):
    path = str(sound.txnindex)
    sound.txnindex.write_bytes(aborted_entry(7, 150, 153) + aborted_entry(8, 1, 2))
    assert find_problems(log, sound) == [(path, 34, 34, "txnindex")]
    sound.txnindex.write_bytes(aborted_entry(7, 150, 153)[:20])
    assert find_problems(log, sound) == [(path, 20, 0, "txnindex")]
    sound.txnindex.unlink()
    assert find_problems(log, sound) == [(path, 0, 0, "txnindex")]


def test_wrong_leader_epoch_is_reported(log, sound):
    """``verify`` reports a wrong leader epoch.

    The batch checksum does not include the leader epoch.
    """
    flip(sound.first, sound.spans[7][0] + 15, 4)
    position, size = sound.spans[7]
    assert find_problems(log, sound) == [
        (str(sound.first), position, size, "leader-epoch")
    ]
    flip(sound.first, sound.spans[7][0] + 15, 4)
    for content, length in (("0\n2\n3 0\n1 100\n", 0), ("0\n9\n", 2)):
        sound.epochs.write_text(content)
        (problem,) = find_problems(log, sound)
        assert (problem[0], problem[3]) == (str(sound.epochs), "leader-epoch")
        assert problem[2] == length


def test_damaged_snapshot_and_metadata_are_reported(log, sound):
    flip(sound.snapshot, 20)
    size = sound.snapshot.stat().st_size
    assert find_problems(log, sound) == [(str(sound.snapshot), 2, size - 2, "snapshot")]
    sound.snapshot.unlink()
    sound.metadata.write_text("version: 0\n")
    assert find_problems(log, sound) == [(str(sound.metadata), 0, 11, "metadata")]


def test_only_deep_verification_detects_invalid_records(log, sound):
    from tests.log.log_files import checked, patched

    position, size = sound.spans[3]
    data = sound.first.read_bytes()[position : position + size]
    overwrite(sound.first, position, checked(patched(data, 61, ">b", 2)))
    problems = find_problems(log, sound, deep=True)
    assert problems == [(str(sound.first), position, size, "records")]
    assert find_problems(log, sound) == []


def test_kraft_checkpoints_are_verified_too(log, tmp_path):
    folder = Folder(tmp_path / "__cluster_metadata-0")
    path, spans = folder.segment(500, log_of([2, 3]), "-0000000007.checkpoint")
    folder.segment(0, log_of([3, 3]))
    partition = log.LogDirectory(tmp_path)["__cluster_metadata", 0]
    assert list(log.verify(partition)) == []
    path.write_bytes(path.read_bytes()[:-5])
    (problem,) = log.verify(partition)
    assert (problem.path, problem.reason) == (str(path), "cut")
    assert (problem.position, problem.length) == (spans[1][0], spans[1][1] - 5)


def truncate_last_batch(sound, keep=5):
    """Truncate the last batch to ``keep`` bytes.

    Return (position, offset) of the batch.
    """
    position, size = sound.more_spans[-1]
    data = sound.second.read_bytes()
    assert len(data) == position + size
    sound.second.write_bytes(data[: position + keep])
    return position, 157


def append_to_file(path, content):
    with path.open("ab") as file:
        file.write(content)


def test_index_entries_within_an_incomplete_end_are_valid(log, sound):
    """Index entries of an incomplete last batch are not reported.

    When a broker starts, it truncates the incomplete batch and rebuilds the indexes.
    """
    position, offset = truncate_last_batch(sound)
    index = sound.folder.path / f"{100:020}.index"
    append_to_file(
        index, struct.pack(">iiii", offset - 100, position, 300, position + 9000)
    )
    time_index = index.with_suffix(".timeindex")
    append_to_file(time_index, struct.pack(">qi", BASE_TIME + 157, offset - 100))
    append_to_file(sound.txnindex, aborted_entry(7, 154, offset))
    later = sound.folder.path / f"{160:020}.snapshot"
    later.write_bytes(b"\0\1\0\0")
    assert find_problems(log, sound) == []
    places = {problem[::3] for problem in find_problems(log, sound, strict_tail=True)}
    assert places == {
        (str(sound.second), "cut"),
        (str(index), "index"),
        (str(later), "snapshot"),
    }


def test_indexes_beside_a_torn_tail_may_be_unfinished(log, sound):
    """If the last batch is incomplete, missing or partial index entries are valid.

    A broker rebuilds the indexes when it starts.
    """
    truncate_last_batch(sound)
    index = sound.folder.path / f"{100:020}.index"
    append_to_file(index, bytes(64) + b"\1\2\3\4")
    append_to_file(index.with_suffix(".timeindex"), bytes(64) + b"\1\2\3\4")
    sound.txnindex.write_bytes(b"\0\0\0")
    assert find_problems(log, sound) == []
    sound.txnindex.unlink()
    assert find_problems(log, sound) == []


def test_a_torn_tail_excuses_nothing_before_it(log, sound):
    """If the last batch is incomplete, the entries of all other batches are checked."""
    truncate_last_batch(sound)
    index = sound.folder.path / f"{100:020}.index"
    time_index, earlier = index.with_suffix(".timeindex"), sound.snapshot
    index.write_bytes(struct.pack(">ii", 24, sound.more_spans[4][0] + 1))
    time_index.write_bytes(struct.pack(">qi", BASE_TIME + 999, 24))
    sound.txnindex.write_bytes(aborted_entry(8, 150, 153))
    flip(earlier, 20)
    reasons = {problem[3] for problem in find_problems(log, sound)}
    assert reasons == {"index", "timeindex", "txnindex", "snapshot"}


def test_entries_into_the_cut_end_of_an_older_segment_stay_damage(log, sound):
    """If an older segment is truncated within a batch, the lost data is reported.

    A broker only repairs the newest segment. Entries for the lost batch cause no
    further problem.
    """
    position, _ = sound.spans[-1]
    sound.first.write_bytes(sound.first.read_bytes()[: position + 5])
    append_to_file(sound.index, struct.pack(">ii", 99, position))
    assert [problem[::3] for problem in find_problems(log, sound)] == [
        (str(sound.first), "cut")
    ]


def test_entries_after_a_complete_end_are_damage(log, sound):
    """If the newest segment is complete, index entries after its end are a problem.

    The indexed batches once existed, so data was lost.
    """
    index = sound.folder.path / f"{100:020}.index"
    append_to_file(index, struct.pack(">ii", 300, 10**6))
    assert [problem[::3] for problem in find_problems(log, sound)] == [
        (str(index), "index")
    ]


def test_batches_appended_during_verify_are_not_damage(log, sound, monkeypatch):
    """Batches that are appended while ``verify`` runs cause no problem.

    The indexes are read before the log, so they contain no newer batches.
    """
    index = sound.folder.path / f"{100:020}.index"
    grown = log_of([4], 158, epoch=3)[0]

    def open_late(segment, open_file=log.Segment.open):
        file = open_file(segment)
        if segment.path == sound.second:
            position = len(sound.second.read_bytes())
            append_to_file(sound.second, grown)
            append_to_file(index, struct.pack(">ii", 61, position))
            append_to_file(
                index.with_suffix(".timeindex"), struct.pack(">qi", BASE_TIME + 161, 61)
            )
        return file

    monkeypatch.setattr(log.Segment, "open", open_late)
    assert find_problems(log, sound) == []
