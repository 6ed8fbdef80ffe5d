# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Replicas with different content: the choice of ``export``, and its problems."""

import random
import shutil
from pathlib import Path

from tests.jobs.broken_logs import (
    listed_losses,
    make_batch,
    read_table,
    recovered_rows,
    set_field,
    with_nonsense,
)
from tests.jobs.exports import run_export
from tests.jobs.small_logs import flip, one_log, position, write_log


def test_records_stay_of_one_replica_as_long_as_it_has_them(tmp_path):
    """``export`` reads from one replica until the next damaged batch in this replica.

    Every replica has one damaged batch, so that the source changes once or twice.
    """
    folders, batches = one_log(tmp_path)
    flip(folders[0], batches, 40)
    flip(folders[1], batches, 60)
    result = run_export(tmp_path)
    rows = sorted(read_table(result, "records"), key=lambda row: row["offset"])
    folder_of = [Path(row["file_path"]).parent for row in rows]
    changes = [
        index for index in range(1, 84) if folder_of[index] != folder_of[index - 1]
    ]
    assert changes in ([40, 60], [60])
    uses = [row["use"] for row in read_table(result, "batches")]
    assert (uses.count("used"), uses.count("copy")) == (21, 19)


def test_a_stale_replica_is_not_taken_for_the_log(tmp_path):
    """The batches of a stale leader are not exported.

    Its replica ends where the newer leader epoch starts, which the stale leader does
    not know, although the replica has more batches.
    """
    folders, batches = one_log(tmp_path)
    (change,) = (
        b.base
        for b, a in zip(batches[1:], batches, strict=False)
        if b.epoch > a.epoch == 3
    )
    generator = random.Random(1)
    remaining = [batch for batch in batches if batch.base < change]
    tail, base = [], change
    for _ in range(60):
        tail.append(make_batch(generator, base, 3, 3, mark=b"stale"))
        base += 3
    shutil.rmtree(folders[1].parent)
    write_log(folders[1], [*remaining, *tail])
    result = run_export(tmp_path)
    assert recovered_rows(result)["t", 0] == [
        row for batch in batches for row in batch.rows
    ]
    (coverage,) = read_table(result, "coverage")
    assert not coverage["replicas_agree"]
    assert coverage["end_offset"] == 84
    stale_problems = [
        row for row in read_table(result, "problems") if row["reason"] == "diverged"
    ]
    assert "leader epoch 3" in stale_problems[0]["detail"]


def test_stale_batch_with_a_damaged_epoch_is_not_exported(tmp_path):
    """A stale batch is not exported, even if its leader epoch was damaged.

    Its epoch does not show that the replica has diverged, but the batch before it does.
    The stale batch is after the log end offset, so no other replica contradicts it.
    """
    folders, batches = one_log(tmp_path)
    change = next(batch.base for batch in batches if batch.epoch == 4)
    generator = random.Random(1)
    stale = [batch for batch in batches if batch.base < change]
    for base in range(change, 120, 3):
        stale.append(make_batch(generator, base, 3, 3, mark=b"stale"))
    shutil.rmtree(folders[1].parent)
    write_log(folders[1], stale)
    name, start = position(stale, stale[-1].base)
    set_field(folders[1] / name, start, "epoch", 1)
    result = run_export(tmp_path)
    assert recovered_rows(result)["t", 0] == [
        row for batch in batches for row in batch.rows
    ]
    (coverage,) = read_table(result, "coverage")
    assert coverage["end_offset"] == 84


def test_a_checkpoint_may_not_know_the_last_epoch_yet(tmp_path):
    """The only batch of a new leader is exported if the checkpoint lacks its epoch.

    A broker may crash before it writes the new epoch to ``leader-epoch-checkpoint``.
    """
    folders, batches = one_log(tmp_path)
    generator = random.Random(5)
    newer = [make_batch(generator, base, 4, 9, codec="none") for base in (84, 88)]
    old = (folders[0] / "leader-epoch-checkpoint").read_text()
    for folder in folders:
        shutil.rmtree(folder.parent)
    write_log(folders[0], [*batches, newer[0]])
    (folders[0] / "leader-epoch-checkpoint").write_text(old)
    write_log(folders[1], [*batches, *newer])
    flip(folders[1], [*batches, *newer], 84)
    result = run_export(tmp_path)
    expected = [row for batch in (*batches, *newer) for row in batch.rows]
    assert recovered_rows(result)["t", 0] == expected


def test_majority_of_replicas_wins_within_an_epoch(tmp_path):
    """If replicas disagree within an epoch, the content of most replicas is exported.

    One replica of three has a segment with other records. The problem contains the
    reason.
    """
    folders, batches = one_log(tmp_path, brokers=3)
    generator = random.Random(2)
    other_batches = [
        make_batch(generator, b.base, 4, b.epoch, mark=b"x") for b in batches
    ]
    data = b"".join(batch.data for batch in other_batches[7:14])
    (folders[0] / f"{28:020}.log").write_bytes(data)
    result = run_export(tmp_path)
    assert recovered_rows(result)["t", 0] == [
        row for batch in batches for row in batch.rows
    ]
    (problem,) = read_table(result, "problems")
    assert problem["reason"] == "disagrees"
    assert "more replicas have it, 2 to 1" in problem["detail"]
    assert not read_table(result, "coverage")[0]["replicas_agree"]


def test_contradicting_file_is_not_used_for_other_batches(tmp_path):
    """No batch is used from a segment that contradicts most replicas.

    The batch at offset 52 is damaged in both other replicas. It is reported as lost,
    because the copy in the contradicting segment may belong to another log.
    """
    folders, batches = one_log(tmp_path, brokers=3)
    generator = random.Random(2)
    other_batches = [
        make_batch(generator, b.base, 4, b.epoch, mark=b"x") for b in batches
    ]
    data = b"".join(batch.data for batch in other_batches[7:14])
    (folders[0] / f"{28:020}.log").write_bytes(data)
    for folder in folders[1:]:
        flip(folder, batches, 52)
    result = run_export(tmp_path)
    expected = [row for batch in batches if batch.base != 52 for row in batch.rows]
    assert recovered_rows(result)["t", 0] == expected
    assert listed_losses(result)["t", 0] == [(52, 55)]


def test_undecodable_batch_is_read_from_another_replica(tmp_path):
    """If the records of a batch cannot be decoded, another replica's copy is used.

    The checksum is valid in both replicas. If no replica has a decodable copy, the
    batch is reported as lost.
    """
    folders, batches = one_log(tmp_path)
    for number, base in ((0, 40), (0, 60), (1, 60)):
        name, start = position(batches, base)
        path = folders[number] / name
        data = path.read_bytes()
        size = len(next(batch for batch in batches if batch.base == base).data)
        path.write_bytes(
            data[:start]
            + with_nonsense(data[start : start + size])
            + data[start + size :]
        )
    result = run_export(tmp_path)
    expected = [row for batch in batches if batch.base != 60 for row in batch.rows]
    assert recovered_rows(result)["t", 0] == expected
    (lost,) = read_table(result, "lost")
    assert (lost["first_offset"], lost["last_offset"]) == (60, 63)
    assert lost["reason"] == "undecodable"
    problems = {
        (row["path"], row["last_good_offset"] + 1): row["filled"]
        for row in read_table(result, "problems")
        if row["reason"] == "records"
    }
    assert problems[str(folders[0] / position(batches, 40)[0]), 40] is True
    assert False in problems.values()


def test_a_damaged_leader_epoch_costs_nothing(tmp_path):
    """A damaged leader epoch is reported as a problem, but loses no records.

    The checksum does not include the leader epoch, but the batches before and after
    show its correct value.
    """
    folders, batches = one_log(tmp_path, brokers=1)
    for base, byte in ((0, 12), (40, 13), (80, 14)):
        flip(folders[0], batches, base, byte)
    result = run_export(tmp_path)
    assert recovered_rows(result)["t", 0] == [
        row for batch in batches for row in batch.rows
    ]
    assert [row["reason"] for row in read_table(result, "problems")] == [
        "leader-epoch"
    ] * 3
