# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Restores of exports: files that were changed, damaged, or written by others.

Each is refused by one sentence where its tables do not agree. ``test_restore.py`` has
the restores that are killed, and those of logs.
"""

import importlib
import random

import pyarrow.parquet
import pytest
from restore_broker import RestoreBroker
from restored_logs import make_rows, rows_of, with_offsets, write_log

import kwire as installed


def sort_downwards(table):
    return table.sort_by([("offset", "descending")])


def leave_out_the_first(table):
    return table.slice(1)


def rename_values(table):
    return table.rename_columns(
        ["text" if name == "value" else name for name in table.column_names]
    )


def number_values(table):
    return table.set_column(
        *(table.column_names.index("value"), "value", table["offset"])
    )


def forget_an_offset(table):
    offsets = table["offset"].to_pylist()
    return table.set_column(
        *(table.column_names.index("offset"), "offset"),
        pyarrow.array([*offsets[:-1], None], "int64"),
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (sort_downwards, "are not in the order of their offsets"),
        (leave_out_the_first, "the export has 29 records of it, and its table"),
        (rename_values, "is not a table of an export, or is damaged"),
        (number_values, "is not a table of an export, or is damaged"),
        (forget_an_offset, "are not in the order of their offsets"),
    ],
    ids=lambda each: each.__name__ if callable(each) else "",
)
def test_an_export_that_was_changed_is_refused(
    run_restore, tmp_path, wanted, change, text
):
    """What is not as the tables announce is one sentence, and not a traceback."""
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    (path,) = (tmp_path / "out" / "records").glob("*.parquet")
    pyarrow.parquet.write_table(change(pyarrow.parquet.read_table(path)), path)
    with RestoreBroker({"orders": 2}) as broker:
        code, err = run_restore(broker, tmp_path / "out")
    assert (code, err.count(text)) == (2, 1), err


@pytest.mark.parametrize("table", ["records", "coverage", "batches"])
def test_damage_in_each_table_of_an_export_is_one_sentence(
    run_restore, tmp_path, wanted, table
):
    """A file that was cut off, at each eighth."""
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


def test_an_export_without_statistics_is_restored(run_restore, tmp_path, wanted):
    """They are optional in Parquet: other programs may have written the files anew."""
    installed.jobs.export([tmp_path / "logs"], tmp_path / "out")
    (path,) = (tmp_path / "out" / "records").glob("*.parquet")
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table, path, write_statistics=False)
    with RestoreBroker({"orders": 2}) as broker:
        assert run_restore(broker, tmp_path / "out")[0] == 0
        assert rows_of(broker) == [with_offsets(rows) for rows in wanted]


def test_small_partitions_of_an_export_share_what_is_read(
    run_restore, kwire, tmp_path, monkeypatch
):
    """Each row group is read once, not once for each partition in it."""
    module = importlib.import_module(f"{kwire.__name__}.jobs.restore_job.sources")
    for number in range(40):
        folder = tmp_path / "in" / f"orders-{number}"
        write_log(folder, make_rows(random.Random(number), 3))
    installed.jobs.export([tmp_path / "in"], tmp_path / "out")
    read = []
    load = module._RowGroups._load

    def count(self, path, number, is_shared):
        if (path, number) not in self._held:
            read.append((path, number))
        return load(self, path, number, is_shared)

    monkeypatch.setattr(module._RowGroups, "_load", count)
    with RestoreBroker({"orders": 40}) as broker:
        assert run_restore(broker, tmp_path / "out")[0] == 0
        assert [len(rows) for rows in rows_of(broker)] == [3] * 40
    assert len(read) == len(set(read)) == 1
