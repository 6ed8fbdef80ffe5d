# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``export`` recovers each record of any replica once, and lists what is lost.

Disks are broken at random and by list. What is to be recovered is known from the bytes
that were left as they were, so every test compares offset by offset.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet
import pytest

from kwire import jobs, log
from kwire.jobs import running
from kwire.jobs.export_job import records
from tests.harness.processor_time import growth
from tests.jobs.broken_logs import (
    FIELDS,
    Disks,
    listed_losses,
    make_batch,
    read_table,
    recovered_rows,
    set_field,
    with_nonsense,
)
from tests.jobs.cleaned_logs import Cleaned
from tests.jobs.page_reader import PageReader
from tests.jobs.small_logs import cut, delete, flip, one_log, position, write_log, zero

DATA = Path(__file__).parents[1] / "data"


def export(path, *inputs, **options):
    """Export what lies in ``path``/in, or the inputs, to ``path``/out."""
    return jobs.export(inputs or [path / "in"], path / "out", **options)


def assert_exact(disks, result):
    """Compare rows and losses with what the disks still hold."""
    rows, lost = disks.expected()
    found, losses = recovered_rows(result), listed_losses(result)
    for key in disks.logs:
        assert found.get(key, []) == rows[key], key
        assert losses.get(key, []) == lost[key], key
    assert set(found) <= set(disks.logs)
    assert result.findings == sum(map(len, lost.values()))


@pytest.mark.parametrize("seed", [*range(25), 11572])
def test_all_that_any_replica_holds_is_recovered(tmp_path, seed):
    """Up to thirty faults of all kinds; stale replicas that went on alone as well."""
    disks = Disks(tmp_path / "in", seed)
    disks.break_some(disks.random.randint(0, 30))
    assert_exact(disks, export(tmp_path))


@pytest.mark.parametrize("seed", range(24))
def test_a_false_field_in_each_file_costs_no_other_batch(tmp_path, seed):
    """One field of one header in some files, of one to three replicas."""
    disks = Disks(tmp_path / "in", seed, brokers=1 + seed % 3)
    for _ in range(disks.random.randint(1, 12)):
        disks.damage_field()
    assert_exact(disks, export(tmp_path))


@pytest.mark.parametrize("seed", range(15))
def test_cleaned_replicas_complete_each_other(tmp_path, seed):
    """Of a compacted topic every record that anybody has comes, and comes once."""
    cleaned = Cleaned(tmp_path / "in", seed)
    result = export(tmp_path)
    assert recovered_rows(result).get(("ids", 0), []) == cleaned.rows
    assert listed_losses(result).get(("ids", 0), []) == cleaned.lost


FAULTS = [
    (flip, 40, (40, 43), "damaged"),
    (zero, 28, (28, 39), "damaged"),
    (cut, 48, (48, 55), "cut"),
    (cut, 76, (76, 83), "cut"),
    (delete, 0, (0, 27), "missing"),
    (delete, 28, (28, 55), "missing"),
    (delete, 56, (56, 83), "missing"),
]


@pytest.mark.parametrize(("fault", "base", "lost", "reason"), FAULTS)
def test_a_fault_costs_nothing_where_another_replica_is_whole(
    tmp_path, fault, base, lost, reason
):
    folders, batches = one_log(tmp_path)
    fault(folders[0], batches, base)
    result = export(tmp_path)
    assert recovered_rows(result)["t", 0] == [
        row for each in batches for row in each.rows
    ]
    assert result.findings == 0
    if (fault, base) != (delete, 0):
        # That a replica begins later than another one is no problem.
        (problem,) = read_table(result, "problems")
        assert (problem["filled"], problem["topic"]) == (True, "t")
        assert problem["last_good_offset"] == lost[0] - 1
        assert problem["records_lost"] == lost[1] - lost[0] + 1
        assert problem["path"].startswith(str(folders[0]))


@pytest.mark.parametrize(("fault", "base", "lost", "reason"), FAULTS)
def test_a_fault_in_all_replicas_is_lost(tmp_path, fault, base, lost, reason):
    """Exactly its offsets, with the files that had them and why they do not."""
    folders, batches = one_log(tmp_path)
    for folder in folders:
        fault(folder, batches, base)
    result = export(tmp_path)
    (row,) = read_table(result, "lost")
    assert (row["first_offset"], row["last_offset"]) == lost
    assert row["offsets"] == lost[1] - lost[0] + 1
    assert row["reason"] == reason
    assert "no file holds them" not in row["detail"]
    (coverage,) = read_table(result, "coverage")
    assert coverage["lost_offsets"] == row["offsets"]
    assert coverage["recovered_percent"] == 100 * (84 - row["offsets"]) / 84
    assert (coverage["start_offset"], coverage["end_offset"]) == (0, 84)
    assert all(not each["filled"] for each in read_table(result, "problems"))


def test_records_stay_of_one_replica_as_long_as_it_has_them(tmp_path):
    """Another one is read from where the first one is damaged on."""
    folders, batches = one_log(tmp_path)
    flip(folders[0], batches, 40)
    flip(folders[1], batches, 60)
    result = export(tmp_path)
    rows = sorted(read_table(result, "records"), key=lambda row: row["offset"])
    folder_of = [Path(row["file_path"]).parent for row in rows]
    changes = [at for at in range(1, 84) if folder_of[at] != folder_of[at - 1]]
    assert changes in ([40, 60], [60])
    uses = [row["use"] for row in read_table(result, "batches")]
    assert (uses.count("used"), uses.count("copy")) == (21, 19)


def test_a_stale_replica_is_not_taken_for_the_log(tmp_path):
    """It was cut off at the leader epoch that it has not heard of."""
    folders, batches = one_log(tmp_path)
    (change,) = (
        b.base
        for b, a in zip(batches[1:], batches, strict=False)
        if b.epoch > a.epoch == 3
    )
    generator = random.Random(1)
    kept = [batch for batch in batches if batch.base < change]
    tail, base = [], change
    for _ in range(60):
        tail.append(make_batch(generator, base, 3, 3, mark=b"stale"))
        base += 3
    shutil.rmtree(folders[1].parent)
    write_log(folders[1], [*kept, *tail])
    result = export(tmp_path)
    assert recovered_rows(result)["t", 0] == [
        row for each in batches for row in each.rows
    ]
    (coverage,) = read_table(result, "coverage")
    assert not coverage["replicas_agree"]
    assert coverage["end_offset"] == 84
    told = [
        row for row in read_table(result, "problems") if row["reason"] == "diverged"
    ]
    assert "leader epoch 3" in told[0]["detail"]


def test_a_checkpoint_may_not_know_the_last_epoch_yet(tmp_path):
    """The one batch of a new leader is no stale one for that."""
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
    result = export(tmp_path)
    expected = [row for each in (*batches, *newer) for row in each.rows]
    assert recovered_rows(result)["t", 0] == expected


def test_what_most_replicas_have_wins_within_an_epoch(tmp_path):
    """A segment of another leader in one replica; the problem names it and why."""
    folders, batches = one_log(tmp_path, brokers=3)
    generator = random.Random(2)
    others = [make_batch(generator, b.base, 4, b.epoch, mark=b"x") for b in batches]
    data = b"".join(batch.data for batch in others[7:14])
    (folders[0] / f"{28:020}.log").write_bytes(data)
    result = export(tmp_path)
    assert recovered_rows(result)["t", 0] == [
        row for each in batches for row in each.rows
    ]
    (problem,) = read_table(result, "problems")
    assert problem["reason"] == "disagrees"
    assert "more replicas have it, 2 to 1" in problem["detail"]
    assert not read_table(result, "coverage")[0]["replicas_agree"]


def test_a_false_offset_does_not_condemn_the_batch_before(tmp_path):
    """The last batch of two replicas says 52, and the third one has another 50 to 59.

    What two replicas have of 50 to 59 wins, and the file with other records is not used
    for what follows.
    """
    generator = random.Random(9)
    batches = [
        make_batch(generator, base, 10, 0, codec="none") for base in range(0, 70, 10)
    ]
    other = make_batch(generator, 50, 10, 0, codec="none", mark=b"other")
    for number in range(3):
        folder = tmp_path / "in" / f"b{number}" / "t-0"
        if number == 2:
            write_log(folder, [*batches[:5], other, batches[6]])
            continue
        write_log(folder, batches)
        path = folder / f"{0:020}.log"
        data = bytearray(path.read_bytes())
        at = len(data) - len(batches[6].data)
        data[at : at + 8] = (52).to_bytes(8, "big")
        path.write_bytes(data)
    result = export(tmp_path)
    expected = [row for batch in batches[:6] for row in batch.rows]
    assert recovered_rows(result)["t", 0] == expected
    assert listed_losses(result)["t", 0] == [(60, 69)]


def test_a_false_header_field_costs_no_other_batch(tmp_path):
    """Each field, in each batch of two files, with a value nearby and one far away.

    Two replicas have the same damage. The third one has another batch before or after
    the damaged one, so that each batch has to be judged. Its copy of the damaged batch
    is used if the other replicas confirm a later batch of its file.
    """
    generator = random.Random(3)
    cases = [
        (field, index, change)
        for field in FIELDS
        for index in range(14)
        for change in (-8, 1 << 20)
    ]
    expected, lost = {}, {}
    for number, (field, index, change) in enumerate(cases):
        batches = [
            make_batch(generator, base, 5, 3, codec="none") for base in range(0, 70, 5)
        ]
        beside = index + 1 if index in (0, 7) else index - 1
        other = make_batch(generator, 5 * beside, 5, 3, codec="none", mark=b"other")
        for broker in range(3):
            folder = tmp_path / "in" / f"b{broker}" / f"t-{number}"
            held = list(batches)
            if broker == 2:
                held[beside] = other
            write_log(folder, held)
            if broker < 2:
                path, at = position(batches, 5 * index)
                set_field(folder / path, at, field, change)
        held = batches
        if field != "epoch" and index in (6, 13):
            held = [batch for batch in batches if batch is not batches[index]]
            lost["t", number] = [(5 * index, 5 * index + 4)]
        expected["t", number] = [row for batch in held for row in batch.rows]
    lines = ["0", str(len(cases)), *(f"t {n} 70" for n in range(len(cases)))]
    for folder in (tmp_path / "in").iterdir():
        (folder / "replication-offset-checkpoint").write_text("\n".join(lines) + "\n")
    result = export(tmp_path)
    found, losses = recovered_rows(result), listed_losses(result)
    for number, case in enumerate(cases):
        key = "t", number
        assert found[key] == expected[key], case
        assert losses.get(key, []) == lost.get(key, []), case


def test_damage_before_a_raised_offset_loses_only_what_it_can_have_held(tmp_path):
    """A damaged region, then the last batch of the log with an offset far away.

    No other replica shows the true offset. With a readable header in the region, an
    offset that is a little too high is rejected as well.
    """
    cases = [(8, 1 << 15), (8, 1 << 40), (70, 1 << 15), (70, 20)]
    for number, (damaged_byte, change) in enumerate(cases):
        folders, batches = one_log(tmp_path / str(number), brokers=1)
        flip(folders[0], batches, 76, at=damaged_byte)
        name, at = position(batches, 80)
        set_field(folders[0] / name, at, "base offset", change)
        result = jobs.export([tmp_path / str(number) / "in"], tmp_path / f"out{number}")
        assert listed_losses(result)["t", 0] == [(76, 83)], cases[number]
        (coverage,) = read_table(result, "coverage")
        assert coverage["end_offset"] == 84
        expected = [row for batch in batches[:19] for row in batch.rows]
        assert recovered_rows(result)["t", 0] == expected


def test_offsets_that_a_cleaner_removed_are_not_limited_by_bytes(tmp_path):
    """In a compacted log, a batch after a damaged region may have any offset."""
    generator = random.Random(8)
    batches = [make_batch(generator, base, 4, 0, codec="none") for base in (0, 4, 8)]
    batches.append(make_batch(generator, 100_000, 4, 0, codec="none"))
    folder = tmp_path / "in" / "b0" / "t-0"
    write_log(folder, batches)
    (folder.parent / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 100000\n")
    flip(folder, batches, 8, at=8)
    result = export(tmp_path)
    expected = [row for index in (0, 1, 3) for row in batches[index].rows]
    assert recovered_rows(result)["t", 0] == expected


def test_a_file_that_disagrees_is_not_used_where_nobody_contradicts_it(tmp_path):
    """Its other batches are of another leader too: better lost than wrong."""
    folders, batches = one_log(tmp_path, brokers=3)
    generator = random.Random(2)
    others = [make_batch(generator, b.base, 4, b.epoch, mark=b"x") for b in batches]
    data = b"".join(batch.data for batch in others[7:14])
    (folders[0] / f"{28:020}.log").write_bytes(data)
    for folder in folders[1:]:
        flip(folder, batches, 52)
    result = export(tmp_path)
    expected = [row for each in batches if each.base != 52 for row in each.rows]
    assert recovered_rows(result)["t", 0] == expected
    assert listed_losses(result)["t", 0] == [(52, 55)]


def test_segments_with_wrong_names_are_read_by_their_content(tmp_path):
    """Under each other's names, or under one of no segment; one batch is enough."""
    folders, batches = one_log(tmp_path, brokers=1)
    names = [folders[0] / f"{base:020}.log" for base in (0, 28, 56)]
    names[1].rename(folders[0] / f"{52:020}.log")
    aside = names[0].read_bytes()
    names[0].write_bytes(names[2].read_bytes()[: len(batches[14].data)])
    names[2].write_bytes(aside)
    result = export(tmp_path)
    expected = [row for each in batches[:15] for row in each.rows]
    assert recovered_rows(result)["t", 0] == expected
    assert listed_losses(result)["t", 0] == [(60, 83)]
    reasons = [row["reason"] for row in read_table(result, "problems")]
    assert reasons.count("name") == 3


def test_a_stranger_among_the_files_ends_no_segment(tmp_path):
    """Its name lies within the last batch of the log, and has no meaning."""
    folders, batches = one_log(tmp_path, brokers=1)
    (folders[0] / f"{82:020}.log").write_bytes(random.Random(3).randbytes(500))
    flip(folders[0], batches, 76, at=16)
    result = export(tmp_path)
    expected = [row for each in batches if each.base != 76 for row in each.rows]
    assert recovered_rows(result)["t", 0] == expected
    assert listed_losses(result)["t", 0] == [(76, 79)]


def test_what_was_deleted_is_not_lost(tmp_path):
    """Offsets below the one that the log begins with; what is still there comes."""
    folders, batches = one_log(tmp_path, brokers=1)
    (folders[0].parent / "log-start-offset-checkpoint").write_text("0\n1\nt 0 30\n")
    flip(folders[0], batches, 12)
    flip(folders[0], batches, 28)
    result = export(tmp_path)
    assert listed_losses(result)["t", 0] == [(30, 31)]
    assert recovered_rows(result)["t", 0][0][0] == 0
    assert read_table(result, "coverage")[0]["log_start_offset"] == 30


def test_room_at_the_end_is_no_damage_unless_there_was_more(tmp_path):
    """Files may be longer than what is written; the high watermark shows where."""
    folders, batches = one_log(tmp_path, brokers=1)
    name, at = position(batches, 80)
    path = folders[0] / name
    path.write_bytes(path.read_bytes() + bytes(5000))
    assert export(tmp_path).counts["problems"] == 0
    path.write_bytes(path.read_bytes()[:at] + bytes(5000))
    result = jobs.export([tmp_path / "in"], tmp_path / "again")
    (problem,) = read_table(result, "problems")
    assert (problem["reason"], problem["records_lost"]) == ("zeros", 4)
    assert [row["reason"] for row in read_table(result, "lost")] == ["cut"]


def test_the_heads_of_cut_batches_tell_what_is_lost(tmp_path):
    """Where no checkpoint of the data directory does."""
    folders, batches = one_log(tmp_path)
    for folder in folders:
        (folder.parent / "replication-offset-checkpoint").unlink()
        name, at = position(batches, 76)
        flip(folder, batches, 76)
        os.truncate(folder / name, at + len(batches[19].data) + 70)
    result = export(tmp_path)
    assert listed_losses(result)["t", 0] == [(76, 83)]


def test_a_batch_that_cannot_be_decoded_is_taken_from_elsewhere(tmp_path):
    """Though its checksum is right; without another copy it is lost, and said to be."""
    folders, batches = one_log(tmp_path)
    for number, base in ((0, 40), (0, 60), (1, 60)):
        name, at = position(batches, base)
        path = folders[number] / name
        data = path.read_bytes()
        size = len(next(batch for batch in batches if batch.base == base).data)
        path.write_bytes(
            data[:at] + with_nonsense(data[at : at + size]) + data[at + size :]
        )
    result = export(tmp_path)
    expected = [row for each in batches if each.base != 60 for row in each.rows]
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
    """No checksum covers it; what stands around the batch does."""
    folders, batches = one_log(tmp_path, brokers=1)
    for base, at in ((0, 12), (40, 13), (80, 14)):
        flip(folders[0], batches, base, at)
    result = export(tmp_path)
    assert recovered_rows(result)["t", 0] == [
        row for each in batches for row in each.rows
    ]
    assert [row["reason"] for row in read_table(result, "problems")] == [
        "leader-epoch"
    ] * 3


def test_nothing_is_lost_of_real_brokers_disks(tmp_path):
    """All formats, codecs, cleaners and transactions: as reading the log gives them."""
    for release in ("2.8.2", "3.9.2", "4.3.1"):
        result = jobs.export([DATA / release], tmp_path / release)
        assert result.findings == 0, read_table(result, "lost")
        assert result.counts["problems"] == 0, read_table(result, "problems")
        rows = {
            key: [row[:3] for row in each]
            for key, each in recovered_rows(result).items()
        }
        expected = {}
        for partition in log.LogDirectory(DATA / release):
            key = partition.topic, partition.partition
            for batch in partition.batches():
                if not batch.is_control:
                    each = [(r.offset, r.key, r.value) for r in batch.records]
                    expected.setdefault(key, []).extend(each)
        assert rows == {
            k: sorted(v, key=lambda row: row[0]) for k, v in expected.items() if v
        }


def test_two_broken_copies_of_a_real_disk_make_a_whole_one(tmp_path):
    """Each segment is damaged in one copy, at another place for each."""
    generator = random.Random(4)
    for number in range(2):
        shutil.copytree(DATA / "4.3.1" / "data", tmp_path / "in" / f"broker-{number}")
    paths = sorted((tmp_path / "in" / "broker-0").rglob("*.log"))
    for path in paths:
        if path.stat().st_size:
            other = Path(
                str(path).replace("broker-0", f"broker-{generator.randrange(2)}")
            )
            data = bytearray(other.read_bytes())
            data[generator.randrange(61, len(data))] ^= 1
            other.write_bytes(data)
    whole = jobs.export([DATA / "4.3.1" / "data"], tmp_path / "whole")
    result = export(tmp_path)
    assert recovered_rows(result) == recovered_rows(whole)
    assert listed_losses(result) == listed_losses(whole)


def test_tiered_storage_fills_what_brokers_no_longer_have(tmp_path):
    """Local segments and objects are two halves; alone, a half says what is missing."""
    data, remote = DATA / "4.3.1" / "data" / "tiered-0", DATA / "4.3.1" / "remote"
    local = jobs.export([data], tmp_path / "local")
    assert listed_losses(local) == {("tiered", 0): [(0, 159)]}
    assert "leader epochs" in read_table(local, "lost")[0]["detail"]
    both = jobs.export([data, remote], tmp_path / "both")
    assert both.findings == 0
    rows = recovered_rows(both)["tiered", 0]
    assert [row[0] for row in rows] == list(range(200))


def test_an_object_store_gives_the_same_as_a_disk(tmp_path):
    """By its URI, with the same faults; only the paths are written otherwise."""
    disks = Disks(tmp_path / "in", 3)
    disks.break_some(20)
    result = jobs.export([(tmp_path / "in").as_uri()], tmp_path / "store")
    assert_exact(disks, result)
    local = export(tmp_path)
    assert local.counts == result.counts
    assert listed_losses(local) == listed_losses(result)


def test_a_segment_that_is_twice_in_tiered_storage_comes_once(tmp_path):
    folder = tmp_path / "in" / "tiered-AAAAAAAAAAAAAAAAAAAAAQ" / "0"
    folder.mkdir(parents=True)
    generator = random.Random(3)
    batches = [make_batch(generator, base, 5, 0) for base in range(0, 60, 5)]
    for name, part in (("A", batches[:8]), ("B", batches[:12])):
        path = folder / f"{0:020}-{name * 22}.log"
        path.write_bytes(b"".join(batch.data for batch in part))
    result = export(tmp_path)
    assert [row[0] for row in recovered_rows(result)["tiered", 0]] == list(range(60))
    assert result.counts["problems"] == 0


def test_records_have_the_columns_of_sparks_kafka_source(tmp_path):
    one_log(tmp_path)
    result = export(tmp_path)
    schema = pyarrow.parquet.read_schema(next(Path(result.tables["records"]).iterdir()))
    assert schema.names[:8] == [
        "key",
        "value",
        "topic",
        "partition",
        "offset",
        "timestamp",
        "timestampType",
        "headers",
    ]
    assert schema.names[8:] == ["file_path", "batch_position", "partition_leader_epoch"]
    assert str(schema.field("timestamp").type) == "timestamp[us, tz=UTC]"
    row = read_table(result, "records")[30]
    data = Path(row["file_path"]).read_bytes()
    base = int.from_bytes(data[row["batch_position"] : row["batch_position"] + 8])
    assert base <= row["offset"] < base + 4
    headers = [row["headers"] for row in read_table(result, "records")]
    assert None in headers and [] not in headers and len(headers) > headers.count(None)


def test_the_page_says_what_the_tables_say(tmp_path):
    folders, batches = one_log(tmp_path)
    for folder in folders:
        flip(folder, batches, 40)
    flip(folders[0], batches, 60)
    result = export(tmp_path)
    reader = PageReader(Path(result.report).read_text("utf-8"))
    for name in ("lost", "problems", "coverage"):
        rows = reader.table(name)
        assert len(rows) == result.counts[name]
    (lost,) = read_table(result, "lost")
    assert reader.table("lost")[0][2:5] == [
        str(lost[name]) for name in ("first_offset", "last_offset", "offsets")
    ]
    spans = reader.find("rect", data_start=..., data_end=...)
    assert ("40", "44") in {
        (found["data-start"], found["data-end"]) for found, _ in spans
    }


def test_only_what_is_asked_for_is_read(tmp_path):
    """Topics, partitions, and folders of states that Kafka does not use."""
    Disks(tmp_path / "in", 1, partitions=3)
    result = export(tmp_path, topics=["orders"], partitions=[2])
    assert {row["partition"] for row in read_table(result, "coverage")} == {2}
    with pytest.raises(FileNotFoundError, match=r"orders-0, orders-1, orders-2"):
        jobs.export([tmp_path / "in"], tmp_path / "no", topics=["others"])
    with pytest.raises(FileNotFoundError, match="no partition in"):
        jobs.export([tmp_path / "out"], tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_progress_counts_each_byte_of_the_input_once(tmp_path):
    folders, _ = one_log(tmp_path)
    told = []
    export(tmp_path, progress=told.append)
    size = sum(path.stat().st_size for f in folders for path in f.glob("*.log"))
    assert sum(told) == size


@pytest.mark.parametrize("failing", [records.write, running.run_tasks])
def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch, failing):
    """Whatever happens in the middle, there is no half of a result."""
    one_log(tmp_path)
    before = sorted(tmp_path.iterdir())

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    for module in ("export_job.job", "running"):
        target = sys.modules[f"kwire.jobs.{module}"]
        if hasattr(target, failing.__name__):
            monkeypatch.setattr(target, failing.__name__, fail)
    with pytest.raises(OSError, match="No space left"):
        export(tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_a_killed_export_leaves_no_result(tmp_path):
    """SIGKILL while records are written: what is there is not called the result."""
    one_log(tmp_path)
    script = (
        "import sys, time\n"
        "from kwire import jobs\n"
        "from kwire.jobs.export_job import job\n"
        "def slow(task):\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "job.write = slow\n"
        "jobs.export([sys.argv[1]], sys.argv[2])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / "in", tmp_path / "out"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "out").exists()
    # What a killed one has left blocks no later run.
    assert export(tmp_path).counts["records"] == 84


def test_a_file_that_changes_meanwhile_is_said_to(tmp_path, monkeypatch):
    """Between the passes: one clear line, not wrong records."""
    folders, _ = one_log(tmp_path, brokers=1)
    path = folders[0] / f"{28:020}.log"
    export_job = sys.modules["kwire.jobs.export_job.job"]
    decide = export_job.decide

    def shortened(task):
        made = decide(task)
        os.truncate(path, path.stat().st_size - 30)
        return made

    monkeypatch.setattr(export_job, "decide", shortened)
    with pytest.raises(running.JobError, match=r"28\.log changed while it was read"):
        export(tmp_path)


MEMORY = """
import sys
import pyarrow.compute, pyarrow.parquet
from kwire import jobs
jobs.export([sys.argv[1]], sys.argv[2])
with open("/proc/self/status") as status:
    print(*[line.split()[1] for line in status if line.startswith("VmHWM")])
"""


@pytest.mark.gate
def test_memory_does_not_grow_with_a_segment(tmp_path):
    """Four times the bytes in one file, and as many record batches of them."""
    peaks = []
    batch = make_batch(random.Random(1), 0, 3000, 0, codec="none").data
    for number, size in enumerate((32, 128)):
        folder = tmp_path / str(size) / "big-0"
        folder.mkdir(parents=True)
        with (folder / f"{0:020}.log").open("wb") as file:
            for base in range(0, 3000 * (size << 20) // len(batch), 3000):
                file.write(base.to_bytes(8) + batch[8:])
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, folder, tmp_path / f"out{number}"],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout) >> 10)
    assert peaks[1] < 300
    assert peaks[1] - peaks[0] < 48


def test_many_damaged_batches_take_linear_time(tmp_path):
    """Every other one in both replicas, and the rest in disagreement."""
    generator = random.Random(9)

    def make_export(count):
        root = tmp_path / str(count)
        for broker in ("a", "b"):
            folder = root / broker / "t-0"
            folder.mkdir(parents=True)
            data = b""
            for base in range(count):
                batch = bytearray(make_batch(generator, base, 1, 0, codec="none").data)
                batch[-1] ^= base % 2
                data += batch
            (folder / f"{0:020}.log").write_bytes(data)

        def export():
            target = tempfile.mkdtemp(dir=tmp_path)
            assert jobs.export([root], target).findings == count // 2

        return export

    # 16 times as long, and not 256 times.
    assert growth(make_export, 100, 1600, most=64) < 64
