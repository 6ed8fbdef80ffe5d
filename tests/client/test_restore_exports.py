# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Restore exports that were changed, damaged, or written by other programs.

An export is rejected with a one-sentence error if its tables contradict each other.
``test_restore.py`` covers killed restores, and restored logs.
"""

import importlib
import os
import random
import socket
from pathlib import Path

import pyarrow.compute
import pyarrow.parquet
import pytest

import kwire as installed
from tests.client.restore_broker import RestoreBroker
from tests.client.restored_logs import make_rows, rows_of, with_offsets, write_log
from tests.harness.hostile import some


def sort_downwards(table):
    return table.sort_by([("offset", "descending")])


def leave_out_the_first(table):
    return table.slice(1)


def rename_values(table):
    return table.rename_columns(
        ["text" if name == "value" else name for name in table.column_names]
    )


def number_values(table):
    return table.set_column(table.column_names.index("value"), "value", table["offset"])


def forget_an_offset(table):
    offsets = table["offset"].to_pylist()
    return table.set_column(
        table.column_names.index("offset"),
        "offset",
        pyarrow.array([*offsets[:-1], None], "int64"),
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (sort_downwards, "are not in offset order"),
        (leave_out_the_first, "the export has 29 records, but its table"),
        (rename_values, "is not a table of an export, or is damaged"),
        (number_values, "is not a table of an export, or is damaged"),
        (forget_an_offset, "are not in offset order"),
    ],
    ids=lambda parameter: parameter.__name__ if callable(parameter) else "",
)
def test_an_export_that_was_changed_is_refused(
    run_restore, tmp_path, rows_by_partition, change, text
):
    """A contradiction between the tables is a one-sentence error, not a traceback."""
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    (path,) = (tmp_path / "out" / "records").glob("*.parquet")
    pyarrow.parquet.write_table(change(pyarrow.parquet.read_table(path)), path)
    with RestoreBroker({"orders": 2}) as broker:
        code, err = run_restore(broker, tmp_path / "out")
    assert (code, err.count(text)) == (2, 1), err


@pytest.mark.parametrize("table", ["records", "coverage", "batches"])
def test_damage_in_each_table_of_an_export_is_one_sentence(
    run_restore, tmp_path, rows_by_partition, table
):
    """The file is truncated at each eighth of its size, and is always rejected."""
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    path = next((tmp_path / "out" / table).glob("*.parquet"))
    data = path.read_bytes()
    with RestoreBroker({"orders": 2}) as broker:
        for part in range(8):
            path.write_bytes(data[: len(data) * part // 8])
            code, err = run_restore(broker, tmp_path / "out")
            text = "is not a table of an export, or is damaged"
            assert (code, err.count(text)) == (2, 1), (part, err)
        assert rows_of(broker) == [[], []]


def damage(data, source):
    """Change some bytes in a file: in its pages, or in the metadata at its end."""
    data = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 5))):
        position = source.randrange(len(data))
        if source.random() < 0.5:
            position = max(position, len(data) - 2500)
        change = source.randrange(4)
        if change < 2:
            data[position] ^= 1 << source.randrange(8)
        elif change == 2:
            data[position] = source.choice((0, 0x7F, 0x80, 0xFF))
        else:
            size = source.randrange(1, 40)
            data[position : position + size] = source.randbytes(source.randrange(20))
    return bytes(data)


def read_export(kwire, path):
    """Read all records in an export, and build the batches that a restore writes."""
    sources = importlib.import_module(f"{kwire.__name__}.jobs.restore_job.sources")
    batches = importlib.import_module(f"{kwire.__name__}.jobs.restore_job.batches")
    export = sources.find_export(path)
    sources.has_transactions(path)
    for source in export:
        position, numbering = 0, None
        for piece in source.read():
            if numbering is None:
                producer_id = batches.make_producer_id(piece.rows)
                numbering = batches.Numbering(producer_id, "none")
            for batch in batches.cut_rows(
                piece.rows, position, numbering, is_first=not position
            ):
                batch.build(producer_id=1, producer_epoch=0, base_sequence=0)
            position += piece.rows.num_rows


def test_any_damage_in_an_export_is_read_or_a_typed_error(
    kwire, tmp_path, rows_by_partition
):
    """Damages random bytes in all files that a restore reads with pyarrow."""
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    files = [
        path
        for table in ("records", "coverage", "batches")
        for path in sorted((tmp_path / "out" / table).glob("*.parquet"))
    ]
    refused = 0
    for seed in some(range(1800)):
        source = random.Random(seed)
        path = source.choice(files)
        data = path.read_bytes()
        path.write_bytes(damage(data, source))
        try:
            read_export(kwire, tmp_path / "out")
        except kwire.KwireError:
            refused += 1
        path.write_bytes(data)
    assert refused > 20
    read_export(kwire, tmp_path / "out")


def test_timestamps_within_a_millisecond_are_a_typed_error(
    run_restore, tmp_path, rows_by_partition
):
    """Kafka's timestamps are in milliseconds, so exports contain no others."""
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    (path,) = (tmp_path / "out" / "records").glob("*.parquet")
    table = pyarrow.parquet.read_table(path)
    times = pyarrow.compute.add(table["timestamp"].cast("int64"), 7)
    index = table.column_names.index("timestamp")
    times = times.cast(table.schema.field("timestamp").type)
    table = table.set_column(index, "timestamp", times)
    pyarrow.parquet.write_table(table, path)
    with RestoreBroker({"orders": 2}) as broker:
        code, err = run_restore(broker, tmp_path / "out")
    assert (code, err.count("is not a table of an export, or is damaged")) == (2, 1)


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as unix_socket:
        unix_socket.bind(str(path))


def link_to_device(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("table", ["records", "coverage", "batches"])
@pytest.mark.parametrize("make", [make_fifo, make_socket, link_to_device, os.mkdir])
def test_an_export_with_a_file_that_is_not_regular_is_refused(
    run_restore, tmp_path, monkeypatch, rows_by_partition, table, make
):
    """The restore neither waits for the writer of a FIFO nor reads a device forever."""
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    # A Unix socket path has at most 107 bytes.
    monkeypatch.chdir(tmp_path / "out" / table)
    make(Path("a.parquet"))
    with RestoreBroker({"orders": 2}) as broker:
        code, err = run_restore(broker, tmp_path / "out")
        assert rows_of(broker) == [[], []]
    assert (code, err.count("not a regular file")) == (2, 1), err


def test_an_export_without_statistics_is_restored(
    run_restore, tmp_path, rows_by_partition
):
    """Statistics are optional in Parquet, and other programs may omit them."""
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    (path,) = (tmp_path / "out" / "records").glob("*.parquet")
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table, path, write_statistics=False)
    with RestoreBroker({"orders": 2}) as broker:
        assert run_restore(broker, tmp_path / "out")[0] == 0
        assert rows_of(broker) == [with_offsets(rows) for rows in rows_by_partition]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_missing_timestamps_are_null_in_an_export_and_restored_as_missing(
    run_restore, tmp_path, magic
):
    rows = [(b"k", b"%d" % n, -1 if n % 2 or magic == 0 else 5, []) for n in range(4)]
    write_log(tmp_path / "logs" / "orders-0", rows, magic=magic)
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    (path,) = (tmp_path / "out" / "records").glob("*.parquet")
    times = pyarrow.parquet.read_table(path)["timestamp"].cast("int64").to_pylist()
    assert times == [None if time == -1 else 1000 * time for _, _, time, _ in rows]
    for source in ("out", "logs"):
        with RestoreBroker({"orders": 1}) as broker:
            assert run_restore(broker, tmp_path / source)[0] == 0
            assert rows_of(broker) == [with_offsets(rows)]


def test_timestamps_beyond_the_range_of_an_export_are_not_restored_as_missing(
    run_restore, tmp_path
):
    """A timestamp out of the range is an error, while a missing one is restored.

    A producer that uses nanoseconds instead of milliseconds writes such timestamps.
    """
    write_log(tmp_path / "logs" / "orders-0", [(b"k", b"v", 1_700_000_000 * 10**9, [])])
    write_log(tmp_path / "logs" / "orders-1", [(b"k", b"v", -1, [])])
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    with RestoreBroker({"orders": 2}) as broker:
        code, err = run_restore(broker, tmp_path / "out")
    assert (code, err.count("orders-0: a record in")) == (2, 1), err
    assert "outside of the range of Parquet" in err and "orders-1" not in err


def test_small_partitions_of_an_export_share_row_groups(
    run_restore, kwire, tmp_path, monkeypatch
):
    """A row group is read once, even if it contains several partitions."""
    module = importlib.import_module(f"{kwire.__name__}.jobs.restore_job.sources")
    for number in range(40):
        folder = tmp_path / "in" / f"orders-{number}"
        write_log(folder, make_rows(random.Random(number), 3))
    installed.jobs.export([tmp_path / "in"], tmp_path / "out")
    read = []
    load = module._RowGroups._load_row_group

    def count(self, path, number, is_shared):
        if (path, number) not in self._cached_groups:
            read.append((path, number))
        return load(self, path, number, is_shared)

    monkeypatch.setattr(module._RowGroups, "_load_row_group", count)
    with RestoreBroker({"orders": 40}) as broker:
        assert run_restore(broker, tmp_path / "out")[0] == 0
        assert [len(rows) for rows in rows_of(broker)] == [3] * 40
    assert len(read) == len(set(read)) == 1
