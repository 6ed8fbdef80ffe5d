# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``export`` recovers all records in any replica once, and lists lost offsets.

Disks have random faults, or faults from a list. The recoverable records follow from the
unchanged bytes, so that the tests compare single offsets. Every other file
``test_export_*.py`` covers one subject.
"""

from pathlib import Path

import pyarrow.parquet
import pytest

from kwire import jobs
from tests.jobs.broken_logs import (
    Disks,
    listed_losses,
    read_table,
    recovered_rows,
)
from tests.jobs.cleaned_logs import Cleaned
from tests.jobs.exports import assert_exact, run_export
from tests.jobs.page_reader import PageReader
from tests.jobs.small_logs import cut, delete, flip, one_log, zero


@pytest.mark.parametrize("seed", [*range(25), 11572])
def test_all_that_any_replica_holds_is_recovered(tmp_path, seed):
    """``export`` recovers all recoverable records after up to thirty random faults.

    Some replicas are stale: their leader was replaced, and they have other records.
    """
    disks = Disks(tmp_path / "in", seed)
    disks.break_some(disks.random.randint(0, 30))
    assert_exact(disks, run_export(tmp_path))


@pytest.mark.parametrize("seed", range(24))
def test_a_false_field_in_each_file_costs_no_other_batch(tmp_path, seed):
    """A wrong value in one header field of a batch loses no other batch.

    The number of replicas is one to three, and several files have a wrong value.
    """
    disks = Disks(tmp_path / "in", seed, brokers=1 + seed % 3)
    for _ in range(disks.random.randint(1, 12)):
        disks.damage_field()
    assert_exact(disks, run_export(tmp_path))


@pytest.mark.parametrize("seed", range(15))
def test_cleaned_replicas_complete_each_other(tmp_path, seed):
    """A record in a compacted topic is exported once if any replica has the record."""
    cleaned = Cleaned(tmp_path / "in", seed)
    result = run_export(tmp_path)
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
    result = run_export(tmp_path)
    assert recovered_rows(result)["t", 0] == [
        row for batch in batches for row in batch.rows
    ]
    assert result.findings == 0
    if (fault, base) != (delete, 0):
        # If the first segment is deleted, no problem is expected, because a replica may
        # start at a later offset than another replica.
        (problem,) = read_table(result, "problems")
        assert (problem["filled"], problem["topic"]) == (True, "t")
        assert problem["last_good_offset"] == lost[0] - 1
        assert problem["records_lost"] == lost[1] - lost[0] + 1
        assert problem["path"].startswith(str(folders[0]))


@pytest.mark.parametrize(("fault", "base", "lost", "reason"), FAULTS)
def test_a_fault_in_all_replicas_is_lost(tmp_path, fault, base, lost, reason):
    """Offsets that are damaged in all replicas are reported as lost.

    The report contains the exact offsets, the damaged files, and the reason.
    """
    folders, batches = one_log(tmp_path)
    for folder in folders:
        fault(folder, batches, base)
    result = run_export(tmp_path)
    (row,) = read_table(result, "lost")
    assert (row["first_offset"], row["last_offset"]) == lost
    assert row["offsets"] == lost[1] - lost[0] + 1
    assert row["reason"] == reason
    assert "no file holds them" not in row["detail"]
    (coverage,) = read_table(result, "coverage")
    assert coverage["lost_offsets"] == row["offsets"]
    assert coverage["recovered_percent"] == 100 * (84 - row["offsets"]) / 84
    assert (coverage["start_offset"], coverage["end_offset"]) == (0, 84)
    assert all(not problem["filled"] for problem in read_table(result, "problems"))


def test_an_object_store_gives_the_same_as_a_disk(tmp_path):
    """The result for an object store equals the result for the same files on a disk.

    Only the paths in the result differ, because they are URIs.
    """
    disks = Disks(tmp_path / "in", 3)
    disks.break_some(20)
    result = jobs.export([(tmp_path / "in").as_uri()], tmp_path / "store")
    assert_exact(disks, result)
    local = run_export(tmp_path)
    assert local.counts == result.counts
    assert listed_losses(local) == listed_losses(result)


def test_only_requested_partitions_are_read(tmp_path):
    """Only the specified topics and partitions are exported.

    The directories of other partitions are not read.
    """
    Disks(tmp_path / "in", 1, partitions=3)
    result = run_export(tmp_path, topics=["orders"], partitions=[2])
    assert {row["partition"] for row in read_table(result, "coverage")} == {2}
    with pytest.raises(FileNotFoundError, match=r"orders-0, orders-1, orders-2"):
        jobs.export([tmp_path / "in"], tmp_path / "no", topics=["others"])
    with pytest.raises(FileNotFoundError, match="no partition in"):
        jobs.export([tmp_path / "out"], tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_progress_counts_each_byte_of_the_input_once(tmp_path):
    folders, _ = one_log(tmp_path)
    progress = []
    run_export(tmp_path, progress=progress.append)
    size = sum(path.stat().st_size for f in folders for path in f.glob("*.log"))
    assert sum(progress) == size


def test_records_have_the_columns_of_sparks_kafka_source(tmp_path):
    one_log(tmp_path)
    result = run_export(tmp_path)
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


def test_page_shows_the_rows_of_the_tables(tmp_path):
    folders, batches = one_log(tmp_path)
    for folder in folders:
        flip(folder, batches, 40)
    flip(folders[0], batches, 60)
    result = run_export(tmp_path)
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
        (attributes["data-start"], attributes["data-end"]) for attributes, _ in spans
    }
