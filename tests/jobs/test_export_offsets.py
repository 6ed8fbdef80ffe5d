# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``export`` with damaged base offsets, and with wrong file names of segments."""

import os
import random

from kwire import jobs
from tests.jobs.broken_logs import (
    FIELDS,
    listed_losses,
    make_batch,
    read_table,
    recovered_rows,
    set_field,
)
from tests.jobs.exports import run_export
from tests.jobs.small_logs import flip, one_log, position, write_log


def test_a_false_offset_does_not_condemn_the_batch_before(tmp_path):
    """If the last batch has a wrong base offset, the batch before it is still exported.

    In two replicas, the batch with offsets 60 to 69 has the wrong base offset 52, which
    contradicts the batch 50 to 59. The third replica has other records at 50 to 59. The
    records 50 to 59 of the two replicas are exported. Offsets 60 to 69 are lost,
    because the contradicting file of the third replica is not used.
    """
    generator = random.Random(9)
    batches = [
        make_batch(generator, base, 10, 0, codec="none") for base in range(0, 70, 10)
    ]
    contradicting = make_batch(generator, 50, 10, 0, codec="none", mark=b"other")
    for number in range(3):
        folder = tmp_path / "in" / f"b{number}" / "t-0"
        if number == 2:
            write_log(folder, [*batches[:5], contradicting, batches[6]])
            continue
        write_log(folder, batches)
        path = folder / f"{0:020}.log"
        data = bytearray(path.read_bytes())
        start = len(data) - len(batches[6].data)
        data[start : start + 8] = (52).to_bytes(8, "big")
        path.write_bytes(data)
    result = run_export(tmp_path)
    expected = [row for batch in batches[:6] for row in batch.rows]
    assert recovered_rows(result)["t", 0] == expected
    assert listed_losses(result)["t", 0] == [(60, 69)]


def test_a_false_header_field_costs_no_other_batch(tmp_path):
    """A wrong value in a header field loses no other batch.

    The test changes every field in every batch by a small and by a large amount, with
    the same change in two replicas. The third replica has another batch before or after
    the changed one, so that ``export`` must decide for every batch. The third replica's
    copy of the changed batch is exported if the other replicas confirm a later batch in
    its file.
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
        contradicting = make_batch(
            generator, 5 * beside, 5, 3, codec="none", mark=b"other"
        )
        for broker in range(3):
            folder = tmp_path / "in" / f"b{broker}" / f"t-{number}"
            held_batches = list(batches)
            if broker == 2:
                held_batches[beside] = contradicting
            write_log(folder, held_batches)
            if broker < 2:
                path, start = position(batches, 5 * index)
                set_field(folder / path, start, field, change)
        held_batches = batches
        if field != "epoch" and index in (6, 13):
            held_batches = [batch for batch in batches if batch is not batches[index]]
            lost["t", number] = [(5 * index, 5 * index + 4)]
        expected["t", number] = [row for batch in held_batches for row in batch.rows]
    lines = ["0", str(len(cases)), *(f"t {n} 70" for n in range(len(cases)))]
    for folder in (tmp_path / "in").iterdir():
        (folder / "replication-offset-checkpoint").write_text("\n".join(lines) + "\n")
    result = run_export(tmp_path)
    rows_by_partition, losses = recovered_rows(result), listed_losses(result)
    for number, case in enumerate(cases):
        key = "t", number
        assert rows_by_partition[key] == expected[key], case
        assert losses.get(key, []) == lost.get(key, []), case


def test_loss_before_a_wrong_offset_is_limited_by_the_damaged_bytes(tmp_path):
    """If the last batch has a wrong offset, few offsets before it are lost.

    The batch before it is damaged, and no other replica shows the correct offset. The
    number of damaged bytes limits how many offsets they can have contained. If the
    header of the damaged batch is readable, even a slightly too high offset is
    rejected.
    """
    cases = [(8, 1 << 15), (8, 1 << 40), (70, 1 << 15), (70, 20)]
    for number, (damaged_byte, change) in enumerate(cases):
        folders, batches = one_log(tmp_path / str(number), brokers=1)
        flip(folders[0], batches, 76, byte=damaged_byte)
        name, start = position(batches, 80)
        set_field(folders[0] / name, start, "base offset", change)
        result = jobs.export([tmp_path / str(number) / "in"], tmp_path / f"out{number}")
        assert listed_losses(result)["t", 0] == [(76, 83)], cases[number]
        (coverage,) = read_table(result, "coverage")
        assert coverage["end_offset"] == 84
        expected = [row for batch in batches[:19] for row in batch.rows]
        assert recovered_rows(result)["t", 0] == expected


def test_offsets_that_a_cleaner_removed_are_not_limited_by_bytes(tmp_path):
    """In a compacted log, the offset after a damaged region may be any higher offset.

    The number of damaged bytes says nothing, because compaction removes offsets.
    """
    generator = random.Random(8)
    batches = [make_batch(generator, base, 4, 0, codec="none") for base in (0, 4, 8)]
    batches.append(make_batch(generator, 100_000, 4, 0, codec="none"))
    folder = tmp_path / "in" / "b0" / "t-0"
    write_log(folder, batches)
    (folder.parent / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 100000\n")
    flip(folder, batches, 8, byte=8)
    result = run_export(tmp_path)
    expected = [row for index in (0, 1, 3) for row in batches[index].rows]
    assert recovered_rows(result)["t", 0] == expected


def test_offsets_that_jump_twice_show_that_a_cleaner_ran(tmp_path):
    """If offsets are skipped twice, the log is treated as compacted.

    The skipped offsets are not reported as lost, although no cleaner checkpoint exists.
    """
    generator = random.Random(8)
    batches = [
        make_batch(generator, base, 4, 0, codec="none")
        for base in (0, 100_000, 200_000)
    ]
    write_log(tmp_path / "in" / "b0" / "t-0", batches)
    result = run_export(tmp_path)
    expected = [row for batch in batches for row in batch.rows]
    assert recovered_rows(result)["t", 0] == expected
    assert result.findings == 0
    assert read_table(result, "coverage")[0]["is_compacted"]


def test_segments_with_wrong_names_are_read_by_their_content(tmp_path):
    """Segments are read by their content if their file names are wrong.

    Two files have exchanged their names, and the third has a wrong name. A file with a
    single batch is recognized as well.
    """
    folders, batches = one_log(tmp_path, brokers=1)
    names = [folders[0] / f"{base:020}.log" for base in (0, 28, 56)]
    names[1].rename(folders[0] / f"{52:020}.log")
    aside = names[0].read_bytes()
    names[0].write_bytes(names[2].read_bytes()[: len(batches[14].data)])
    names[2].write_bytes(aside)
    result = run_export(tmp_path)
    expected = [row for batch in batches[:15] for row in batch.rows]
    assert recovered_rows(result)["t", 0] == expected
    assert listed_losses(result)["t", 0] == [(60, 83)]
    reasons = [row["reason"] for row in read_table(result, "problems")]
    assert reasons.count("name") == 3


def test_a_stranger_among_the_files_ends_no_segment(tmp_path):
    """A file without batches does not limit the segment before it.

    Its name is an offset within the last batch of the log, so the name is not a base
    offset.
    """
    folders, batches = one_log(tmp_path, brokers=1)
    (folders[0] / f"{82:020}.log").write_bytes(random.Random(3).randbytes(500))
    flip(folders[0], batches, 76, byte=16)
    result = run_export(tmp_path)
    expected = [row for batch in batches if batch.base != 76 for row in batch.rows]
    assert recovered_rows(result)["t", 0] == expected
    assert listed_losses(result)["t", 0] == [(76, 79)]


def test_deleted_offsets_are_not_lost(tmp_path):
    """Offsets before the log start offset are deleted, and are not reported as lost.

    If records before the log start offset still exist, they are exported.
    """
    folders, batches = one_log(tmp_path, brokers=1)
    (folders[0].parent / "log-start-offset-checkpoint").write_text("0\n1\nt 0 30\n")
    flip(folders[0], batches, 12)
    flip(folders[0], batches, 28)
    result = run_export(tmp_path)
    assert listed_losses(result)["t", 0] == [(30, 31)]
    assert recovered_rows(result)["t", 0][0][0] == 0
    assert read_table(result, "coverage")[0]["log_start_offset"] == 30


def test_unused_space_is_damage_only_below_the_high_watermark(tmp_path):
    """Zeros at the end of a segment are damage only below the high watermark.

    A broker may allocate a file at its full size. Below the high watermark, records
    must exist.
    """
    folders, batches = one_log(tmp_path, brokers=1)
    name, start = position(batches, 80)
    path = folders[0] / name
    path.write_bytes(path.read_bytes() + bytes(5000))
    assert run_export(tmp_path).counts["problems"] == 0
    path.write_bytes(path.read_bytes()[:start] + bytes(5000))
    result = jobs.export([tmp_path / "in"], tmp_path / "again")
    (problem,) = read_table(result, "problems")
    assert (problem["reason"], problem["records_lost"]) == ("zeros", 4)
    assert [row["reason"] for row in read_table(result, "lost")] == ["cut"]


def test_headers_of_truncated_batches_show_the_lost_offsets(tmp_path):
    """The header of a truncated batch shows the last lost offset.

    This is needed if no checkpoint of the data directory contains the log end offset.
    """
    folders, batches = one_log(tmp_path)
    for folder in folders:
        (folder.parent / "replication-offset-checkpoint").unlink()
        name, start = position(batches, 76)
        flip(folder, batches, 76)
        os.truncate(folder / name, start + len(batches[19].data) + 70)
    result = run_export(tmp_path)
    assert listed_losses(result)["t", 0] == [(76, 83)]
