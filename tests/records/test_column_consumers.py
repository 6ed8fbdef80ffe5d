# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""pyarrow, polars, DuckDB and numpy read the same records from columns."""

import subprocess
import sys

import duckdb
import numpy
import polars
import pyarrow
import pytest

from tests.harness.sweeps import sweep
from tests.records.record_sets import SETS, rows_of, table_of

SCHEMA = pyarrow.schema(
    [
        ("offset", pyarrow.int64()),
        ("timestamp", pyarrow.timestamp("ms", "UTC")),
        ("timestamp_type", pyarrow.int32()),
        ("key", pyarrow.binary()),
        ("value", pyarrow.binary()),
        (
            "headers",
            pyarrow.list_(
                pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])
            ),
        ),
    ]
)
DATED = {name: data for name, data in SETS.items() if name != "extremes"}
"""Record sets by name, whose timestamps fit in Python's datetime."""


def rows_of_table(records, data):
    """Return decoded rows in which a missing timestamp is None instead of -1."""
    rows = rows_of(records.decode_batches(data), control=False)
    return [(row[0], None if row[1] == -1 else row[1], *row[2:]) for row in rows]


def arrow_rows(batch):
    """Convert an Arrow table to the tuples that ``rows_of`` returns."""
    columns = [
        batch.column("offset").to_pylist(),
        batch.column("timestamp").cast("int64").to_pylist(),
        batch.column("key").to_pylist(),
        batch.column("value").to_pylist(),
        [
            tuple((pair["key"], pair["value"]) for pair in row)
            for row in batch.column("headers").to_pylist()
        ],
        batch.column("timestamp_type").to_pylist(),
    ]
    return list(zip(*columns, strict=True))


@sweep("name", SETS)
def test_pyarrow_reads_all_columns(records, columns, arrow, name):
    """The records of ``records_to_arrow`` and of the capsules are equal in pyarrow."""
    expected = rows_of_table(records, SETS[name])
    table = columns.decode_records(SETS[name])
    for batch in (
        arrow.records_to_arrow(SETS[name]),
        arrow.records_to_arrow(SETS[name]),
        pyarrow.record_batch(table),
    ):
        assert type(batch) is pyarrow.RecordBatch
        batch.validate(full=True)
        assert batch.schema == SCHEMA
        assert arrow_rows(batch) == expected
    for column in (table.key, table.value, table.headers):
        pyarrow.array(column).validate(full=True)
    assert pyarrow.array(table.key).to_pylist() == [row[2] for row in expected]


def test_slices_are_exported_with_their_own_rows(records, columns):
    """Only the rows of the slice are exported to pyarrow, polars and DuckDB."""
    for name in DATED:
        table = columns.decode_records(DATED[name])
        rows = rows_of_table(records, DATED[name])
        for rows_slice in (slice(1, 3), slice(-2, None), slice(2, 2), slice(1, None)):
            sliced = table[rows_slice]
            batch = pyarrow.record_batch(sliced)
            batch.validate(full=True)
            assert batch.schema == SCHEMA and batch.num_rows == len(sliced)
            assert arrow_rows(batch) == rows[rows_slice]
            assert batch.column("key").null_count == sliced.key.null_count
            for column in (sliced.key, sliced.value, sliced.headers):
                pyarrow.array(column).validate(full=True)
            keys = [row[2] for row in rows[rows_slice]]
            assert pyarrow.array(sliced.key).to_pylist() == keys
            frame = polars.DataFrame(sliced)
            assert frame["key"].to_list() == keys
            pairs = [tuple((h["key"], h["value"]) for h in r) for r in frame["headers"]]
            assert pairs == [row[4] for row in rows[rows_slice]]
            selected = (
                duckdb.from_arrow(sliced).select('"offset", key, value').fetchall()
            )
            assert selected == [(row[0], *row[2:4]) for row in rows[rows_slice]]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("headers", [True, False])
@pytest.mark.parametrize("batch_columns", [True, False])
def test_arrow_schema_matches_the_arguments(
    columns, arrow, unit, headers, batch_columns
):
    """The schema matches the arguments in repeated calls."""
    options = {
        "timestamp_unit": unit,
        "headers": headers,
        "batch_columns": batch_columns,
        "start_offset": 101,
        "end_offset": 104,
    }
    table = columns.decode_records(SETS["magic 2 lz4"], **options)
    for _ in range(2):
        batch = arrow.records_to_arrow(SETS["magic 2 lz4"], **options)
        batch.validate(full=True)
        assert batch == pyarrow.record_batch(table)
        assert batch.schema.names == list(table.names)
        assert batch.schema.field("timestamp").type == pyarrow.timestamp(unit, "UTC")
        assert batch.column("offset").to_pylist() == [101, 102, 103]


def test_records_to_arrow_filters_aborted_transactions(arrow):
    """``records_to_arrow`` has the same arguments as ``decode_records``."""
    data = SETS["transactions"]
    batch = arrow.records_to_arrow(data, aborted_transactions=[])
    assert batch.column("value").to_pylist() == [b"a", b"b", b"c", b"d"]


def test_arrow_names_the_damage(kwire, arrow):
    """An error in ``records_to_arrow`` contains the offset of the damaged bytes."""
    with pytest.raises(kwire.errors.CorruptBatch) as caught:
        arrow.records_to_arrow(SETS["headers"] + b"\0" * 20)
    assert caught.value.offset == len(SETS["headers"])


@sweep("name", DATED)
def test_polars_reads_all_columns(records, columns, name):
    """The columns have the same records as a polars data frame."""
    table = columns.decode_records(DATED[name])
    frame = polars.DataFrame(table)
    expected = rows_of_table(records, DATED[name])
    assert frame.columns == list(table.names)
    for index, column in (
        (0, "offset"),
        (2, "key"),
        (3, "value"),
        (5, "timestamp_type"),
    ):
        assert frame[column].to_list() == [row[index] for row in expected]
    stamps = frame["timestamp"].dt.timestamp("ms").to_list()
    assert stamps == [row[1] for row in expected]
    headers = [tuple((h["key"], h["value"]) for h in row) for row in frame["headers"]]
    assert headers == [row[4] for row in expected]


@sweep("name", DATED)
def test_duckdb_reads_capsules_and_tables(records, columns, arrow, name):
    """DuckDB reads the same records from the capsules and from a pyarrow table."""
    expected = rows_of_table(records, DATED[name])
    batch = arrow.records_to_arrow(DATED[name])
    for source in (columns.decode_records(DATED[name]), pyarrow.table(batch)):
        relation = duckdb.from_arrow(source)
        selected = relation.select(
            '"offset", epoch_ms(timestamp) AS t, key, value, headers, timestamp_type'
        ).fetchall()
        assert [
            (
                *row[:4],
                tuple((pair["key"], pair["value"]) for pair in row[4]),
                row[5],
            )
            for row in selected
        ] == expected


def test_numpy_arrays_share_the_memory_of_columns(columns):
    """Arrays of numpy need no Arrow, and share the memory of the columns."""
    table = columns.decode_records(SETS["run"])
    offsets = pyarrow.record_batch(table).column("offset")
    assert numpy.array_equal(table.offset, [0, 1, 2, 3])
    assert offsets.buffers()[1].address == table.offset.ctypes.data
    assert table.timestamp.astype("datetime64[ms]")[3] == numpy.datetime64(30, "ms")


def test_arrow_slices_have_the_correct_rows(arrow):
    """Sliced batches contain the correct rows and headers."""
    batch = arrow.records_to_arrow(SETS["magic 2 zstd"])
    rows = arrow_rows(batch)
    for start in range(len(rows)):
        sliced = batch.slice(start, 2)
        sliced.validate(full=True)
        assert arrow_rows(sliced) == rows[start : start + 2]


def test_consumers_keep_deleted_columns_alive(columns, arrow):
    """Exported arrays remain valid after the columns are deleted."""
    table = columns.decode_records(SETS["headers"])
    expected = table_of(table)
    key, batch = pyarrow.array(table.key), pyarrow.record_batch(table)
    frame = polars.DataFrame(table)
    del table
    assert key.to_pylist() == [row[2] for row in expected]
    assert arrow_rows(batch) == expected
    assert frame["value"].to_list() == [row[3] for row in expected]


LACKING = """
import sys
for name in {blocked!r}:
    sys.modules[name] = None
import kwire.records, kwire.records.columns, kwire.records.arrow
data = kwire.records.encode_batch([(b"k", b"v")])
table = kwire.records.columns.decode_records(data)
assert (len(table), table.key[0]) == (1, b"k")
assert kwire.records.columns.encode_batch(table)[17:] != b""
try:
    {call}
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("blocked", "call", "words"),
    [
        (["numpy"], "table.offset", "numpy: pip install kwire[numpy]"),
        (
            ["numpy", "pyarrow"],
            "kwire.records.arrow.records_to_arrow(data)",
            "pyarrow: pip install kwire[arrow]",
        ),
        (
            ["numpy", "pyarrow"],
            "kwire.records.columns.encode_batch(object())",
            "pyarrow: pip install kwire[arrow]",
        ),
    ],
)
def test_libraries_are_loaded_where_they_are_needed(kwire, blocked, call, words):
    """Columns only import the libraries that a call needs.

    If a library is missing, the error names the extra that installs it.
    """
    code = LACKING.format(blocked=blocked, call=call)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"KWIRE_BACKEND": kwire.backend},
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert words in done.stdout
