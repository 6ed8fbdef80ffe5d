# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The directory of a job's tables is published completely or not at all."""

import os
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kwire.jobs import Result
from kwire.jobs.tables import Output, open_table

SCHEMA = pa.schema([("offset", pa.int64()), ("value", pa.binary())])


def batch(first, count, size=10):
    """Return a record batch of ``count`` rows with offsets from ``first`` on.

    ``size`` is the number of bytes in every value.
    """
    rows = range(first, first + count)
    return pa.record_batch([list(rows), [bytes(size)] * count], schema=SCHEMA)


def names(folder):
    """Return the sorted names of the files in a directory."""
    return sorted(path.name for path in Path(folder).iterdir())


def test_rows_come_back_in_order_and_in_few_row_groups(tmp_path):
    """Small batches are merged into row groups, and large batches are split."""
    path = tmp_path / "a.parquet"
    with open_table(path, SCHEMA) as writer:
        for number in range(1000):
            writer.write(batch(number * 10, 10))
        assert writer.rows == 10_000
    assert pq.read_table(path)["offset"].to_pylist() == list(range(10_000))
    assert pq.read_metadata(path).num_row_groups == 1
    for count, groups in (5, 3), (4, 2):
        with open_table(path, SCHEMA) as writer:
            for number in range(count):
                writer.write(batch(number, 1, 7 << 20))
        assert pq.read_metadata(path).num_row_groups == groups
    assert pq.read_metadata(path).row_group(0).column(1).compression == "ZSTD"


def test_writer_accepts_a_complete_table(tmp_path):
    """A ``Table`` of several chunks is equivalent to its batches."""
    table = pa.Table.from_batches([batch(0, 3), batch(3, 4)])
    with open_table(tmp_path / "a.parquet", SCHEMA) as writer:
        writer.write(table)
    assert pq.read_table(tmp_path / "a.parquet").equals(table)


def test_table_without_rows_has_its_schema(tmp_path):
    """A table without rows has the columns of its schema."""
    for name, rows in ("none", []), ("empty", [batch(0, 0)]):
        path = tmp_path / name
        with open_table(path, SCHEMA) as writer:
            for row in rows:
                writer.write(row)
        assert pq.read_schema(path).equals(SCHEMA)
        assert pq.read_metadata(path).num_rows == 0


def test_file_does_not_exist_before_it_is_complete(tmp_path):
    """A table file appears only when it is complete.

    If a second attempt fails, the file of the first attempt remains unchanged.
    """
    path = tmp_path / "a.parquet"
    with open_table(path, SCHEMA) as writer:
        writer.write(batch(0, 5))
        assert not path.exists()
    assert names(tmp_path) == ["a.parquet"]
    with pytest.raises(KeyError), open_table(path, SCHEMA) as writer:
        writer.write(batch(0, 9))
        raise KeyError
    assert names(tmp_path) == ["a.parquet"]
    assert pq.read_metadata(path).num_rows == 5


def test_wrong_schema_leaves_nothing(tmp_path):
    """Rows with other columns raise an error, and no file remains."""
    wrong = pa.record_batch([[1]], names=["offset"])
    with (
        pytest.raises((pa.ArrowInvalid, ValueError)),
        open_table(tmp_path / "a", SCHEMA) as writer,
    ):
        writer.write(wrong)
    assert names(tmp_path) == []


def test_output_appears_at_the_end(tmp_path):
    """The output directory appears only when all tables and the report are complete."""
    target = tmp_path / "deep" / "out"
    with Output(target) as output:
        for task in 0, 1:
            with open_table(output.table_path("rows", task), SCHEMA) as writer:
                writer.write(batch(0, 5 + task))
        output.write_table("small", pa.table({"a": [1, 2]}))
        output.write_report("<p>\u6f22</p>\n")
        assert not target.exists()
    assert names(target.parent) == ["out"]
    result = output.result(7)
    assert result == Result(
        {"rows": str(target / "rows"), "small": str(target / "small")},
        {"rows": 11, "small": 2},
        str(target / "report.html"),
        7,
    )
    assert names(target / "rows") == ["part-00000.parquet", "part-00001.parquet"]
    assert Path(result.report).read_text(encoding="utf-8") == "<p>\u6f22</p>\n"
    assert pickle.loads(pickle.dumps(result)) == result


def test_failed_output_leaves_no_files(tmp_path):
    """If an error occurs, neither the output nor its temporary directory remains."""
    with pytest.raises(KeyboardInterrupt), Output(tmp_path / "out") as output:
        output.write_table("small", pa.table({"a": [1]}))
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_existing_directory_is_rejected_before_any_work(tmp_path):
    """If the output directory exists and is not empty, the job raises an error.

    The error is raised before any work, and existing files are never changed.
    """
    (tmp_path / "file").write_text("x")
    for target in tmp_path, tmp_path / "file":
        with pytest.raises(FileExistsError, match="remove it or choose another"):
            Output(target).__enter__()
    assert names(tmp_path) == ["file"]
    (tmp_path / "empty").mkdir()
    with Output(f"{tmp_path}/empty/") as output:
        output.write_table("a", pa.table({"a": [1]}))
    assert names(tmp_path / "empty") == ["a"]


def test_directory_created_during_the_job_is_not_replaced(tmp_path):
    """If the output directory is created during the job, the job raises an error.

    This happens if two jobs use the same directory.
    """
    target = tmp_path / "out"
    with pytest.raises(FileExistsError), Output(target) as output:
        output.write_report("mine")
        target.mkdir()
        (target / "theirs").write_text("theirs")
    assert names(tmp_path) == ["out"]
    assert names(target) == ["theirs"]


def test_files_of_a_killed_process_do_not_block_a_job(tmp_path):
    """Files of a killed process do not prevent a job with the same process id.

    In a container, the next process often has the same id, which is in the directory
    name.
    """
    leftovers = tmp_path / f"out.partial-{os.getpid()}"
    (leftovers / "rows").mkdir(parents=True)
    (leftovers / "rows" / "part-00007.parquet").write_text("half")
    with Output(tmp_path / "out") as output:
        output.write_table("rows", pa.table({"a": [1]}))
    assert names(tmp_path / "out" / "rows") == ["part-00000.parquet"]


def test_address_of_a_store_is_refused(tmp_path, monkeypatch):
    """A URL as output directory is rejected.

    Otherwise, the job would create a local directory named "s3:".
    """
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="not a local directory"):
        Output("s3://bucket/out")
    assert names(tmp_path) == []
