# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns contain the same values as objects, for every format and compression.

The compiled engine has a separate reader for columns, so the tests compare everything
with ``decode_batches``. Other libraries that read columns are tested in
``test_column_consumers.py``.
"""

import importlib
import random

import numpy
import pyarrow
import pytest

from tests.harness.sweeps import sweep
from tests.records.record_bytes import batch, compressed_batch, message, record, wrapper
from tests.records.record_sets import HEADERS, SETS, rows_of, table_of

BATCH_COLUMNS = (
    "batch_position",
    "base_offset",
    "magic",
    "attributes",
    "partition_leader_epoch",
    "producer_id",
    "producer_epoch",
    "base_sequence",
)
DTYPES = ["int64", "int64", "int8", "int16", "int32", "int64", "int16", "int32"]


@sweep("name", SETS)
@sweep("headers", [True, False])
@sweep("batch_columns", [True, False])
def test_columns_are_the_records(records, columns, name, headers, batch_columns):
    """Columns contain the same values as the records, for all selections of columns."""
    table = columns.decode_records(
        SETS[name], headers=headers, batch_columns=batch_columns
    )
    expected = rows_of(records.decode_batches(SETS[name]), control=False)
    if not headers:
        expected = [(*row[:4], (), row[5]) for row in expected]
        assert table.headers is None
    assert table_of(table) == expected
    assert len(table) == len(expected)
    assert table.end_position == len(SETS[name])
    names = ("offset", "timestamp", "timestamp_type", "key", "value")
    assert table.names == (
        names + ("headers",) * headers + BATCH_COLUMNS * batch_columns
    )


@sweep("name", SETS)
def test_batch_columns_equal_the_batch_header(records, columns, name):
    """Batch columns equal the header that ``decode_batches`` returns."""
    data = SETS[name]
    table = columns.decode_records(b"\xff" + data, position=1, batch_columns=True)
    for column, dtype in zip(BATCH_COLUMNS, DTYPES, strict=True):
        values = getattr(table, column)
        assert values.dtype == dtype and values.shape == (len(table),)
        for row in range(len(table)):
            position = int(table.batch_position[row])
            end = position - 1 + records.read_batch_header(data, position - 1).size
            (head,) = records.decode_batches(data, position=position - 1, end=end)
            expected = position if column == "batch_position" else getattr(head, column)
            assert values[row] == expected


SLICES = [
    slice(None),
    slice(1, 3),
    slice(2),
    slice(-2, None),
    slice(None, -1),
    slice(1, None),
    slice(5, 2),
    slice(-99, 99),
    slice(99, 199),
    slice(0, 0),
    slice(-3, -1, 1),
    slice(numpy.int64(1), True + 1),
]


@sweep("name", SETS)
@sweep("headers", [True, False])
def test_slices_are_those_of_a_list(columns, name, headers):
    """A slice equals the slice of a list, also if it is sliced again."""
    options = {"headers": headers, "batch_columns": True}
    table = columns.decode_records(SETS[name], **options)
    rows = table_of(table)
    for rows_wanted in SLICES:
        sliced = table[rows_wanted]
        assert type(sliced) is type(table) and sliced.names == table.names
        assert len(sliced) == len(rows[rows_wanted])
        assert table_of(sliced, whole=False) == rows[rows_wanted]
        assert sliced.end_position == table.end_position
        for column_name in ("offset", "timestamp_type", *BATCH_COLUMNS):
            assert (
                getattr(sliced, column_name) == getattr(table, column_name)[rows_wanted]
            ).all()
        for part_column, column in (
            (sliced.key, table.key),
            (sliced.value, table.value),
        ):
            assert [part_column[row] for row in range(len(part_column))] == [
                column[row] for row in range(len(column))
            ][rows_wanted]
            assert (part_column.validity == column.validity[rows_wanted]).all()
            assert part_column.null_count == (~part_column.validity).sum()
            assert len(part_column.offsets) == len(part_column) + 1
            with pytest.raises(IndexError):
                part_column[len(part_column)]
        for inner in SLICES:
            resliced = table_of(sliced[inner], whole=False)
            assert resliced == rows[rows_wanted][inner]


def test_slices_count_their_nulls_correctly(columns):
    """The null count of a slice is correct for every start bit in the bitmap."""
    keys = [None if row % 3 == 0 or 40 < row < 60 else b"%d" % row for row in range(99)]
    rows = [record(row, row, key, None, HEADERS) for row, key in enumerate(keys)]
    table = columns.decode_records(batch(*rows))
    for start in range(99):
        for stop in (start, start + 1, start + 7, start + 8, start + 9, 99):
            key = table[start:stop].key
            assert key.null_count == keys[start:stop].count(None)
            assert [key[row] for row in range(len(key))] == keys[start:stop]


def test_slices_share_the_buffers_of_the_table(columns):
    """A slice shares and keeps the memory of the complete table."""
    table = columns.decode_records(SETS["headers"])
    sliced = table[1:]
    assert numpy.shares_memory(sliced.offset, table.offset)
    assert numpy.shares_memory(sliced.value.data, table.value.data)
    expected = table_of(sliced, whole=False)
    del table
    assert table_of(sliced, whole=False) == expected
    with pytest.raises(ValueError, match="read-only"):
        sliced.offset[:1] = 0


def test_columns_reject_invalid_slices(columns):
    """Indexes other than integers and slices with step 1 raise an error.

    The error suggests a valid expression.
    """
    table = columns.decode_records(SETS["headers"])
    for step in (2, -1):
        with pytest.raises(ValueError, match=rf"no step \(got {step}\)"):
            table[::step]
    for key in (0, -1, "key", None, (slice(1), slice(1))):
        with pytest.raises(TypeError, match=r"such as records\[10:20\]"):
            table[key]
    with pytest.raises(TypeError):
        table["a":"b"]
    with pytest.raises(TypeError, match="indexed by a slice"):
        list(table)


@pytest.mark.parametrize("name", ["headers", "magic 2 lz4", "all magics", "run"])
def test_slices_are_encoded(columns, name):
    """A slice is encoded to a batch that contains only its rows."""
    table = columns.decode_records(SETS[name])
    for rows_wanted in SLICES[:6]:
        sliced = table[rows_wanted]
        assert len(sliced)
        decoded = columns.decode_records(columns.encode_batch(sliced))
        rows = table_of(sliced, whole=False)
        # The timestamp type belongs to the batch, and is 0 in a new batch.
        assert [row[:5] for row in table_of(decoded)] == [row[:5] for row in rows]


def test_columns_grow_over_many_record_sets(records, columns):
    """Columns are complete if they grow over hundreds of small and large batches."""
    dice = random.Random(5)
    names = [name for name in SETS if name != "transactions"]
    parts = [SETS[dice.choice(names)] for _ in range(300)]
    for size in (10_000, 100, 70_000):
        rows = [record(i, i, bytes(dice.randrange(9)), b"v") for i in range(size // 50)]
        large = record(0, 0, bytes(size), None, HEADERS * (size // 100))
        parts.insert(dice.randrange(300), batch(large, *rows))
        parts.insert(dice.randrange(300), compressed_batch(*rows, large))
    data = b"".join(parts)
    expected = rows_of(records.decode_batches(data))
    table = columns.decode_records(data, batch_columns=True)
    assert table_of(table) == expected
    assert (numpy.diff(table.batch_position) >= 0).all()
    assert len(expected) > 4000


def test_validity_bits_are_correct_at_every_position(records, columns):
    """Validity bits are correct at every position within a byte."""
    dice = random.Random(6)
    for count in (1, 7, 8, 9, 63, 64, 65, 300):
        for share in (0.0, 0.1, 0.9, 1.0):
            keys = [None if dice.random() < share else b"k" for _ in range(count)]
            values = [None if dice.random() < share else b"" for _ in range(count)]
            rows = [
                record(i, 0, keys[i], values[i], [(b"h", values[i])])
                for i in range(count)
            ]
            half = count // 2
            data = batch(*rows[:half]) + batch(*rows[half:])
            table = columns.decode_records(data)
            assert [table.key[row] for row in range(count)] == keys
            assert [table.value[row] for row in range(count)] == values
            assert [table.headers.value[row] for row in range(count)] == values
            assert table.key.null_count == keys.count(None)
            assert table.headers.value.null_count == values.count(None)
            assert table.headers.key.null_count == 0
            assert table_of(table) == rows_of(records.decode_batches(data))


STAMPS = [0, 1, -1, 999, -999, 1000, -1000, -1001, 1_700_000_000_123]
STAMPS += [
    s * (n + d)
    for n in (2**63 - 1000, (2**63 - 1) // 1000)
    for s, d in ((1, 0), (1, 1), (-1, 0), (-1, 1))
]
STAMPS += [(2**63 - 1) // 10**6, (2**63 - 1) // 10**6 + 1, -((2**63 - 1) // 10**6)]
STAMPS += [2**63 - 1, -(2**63), -(2**63) + 1]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("write", [batch, compressed_batch])
def test_timestamp_units_round_down_and_overflow_to_null(columns, unit, write):
    """Timestamps are rounded down to the requested unit.

    Timestamps of -1, and those that a unit cannot represent, are null.
    """
    data = b"".join(write(record(), base_timestamp=stamp) for stamp in STAMPS)
    table = columns.decode_records(data, timestamp_unit=unit)
    factors = {"s": (1, 1000), "ms": (1, 1), "us": (1000, 1), "ns": (10**6, 1)}
    factor, divisor = factors[unit]
    expected = [
        None
        if stamp == -1 or (factor > 1 and abs(stamp) > (2**63 - 1) // factor)
        else stamp * factor // divisor
        for stamp in STAMPS
    ]
    timestamps = pyarrow.record_batch(table).column("timestamp")
    timestamps.validate(full=True)
    assert timestamps.type == pyarrow.timestamp(unit, "UTC")
    assert timestamps.view("int64").to_pylist() == expected
    assert table.timestamp.dtype == "int64"
    # numpy arrays have no nulls: a missing timestamp is -1, an overflow is 0.
    assert table.timestamp.tolist() == [
        -1 if stamp == -1 else value or 0
        for stamp, value in zip(STAMPS, expected, strict=True)
    ]


def test_input_without_records_yields_empty_columns(columns):
    """Empty input and emptied batches yield empty columns."""
    for data in (b"", b"\0" * 11, SETS["emptied"], bytearray()):
        table = columns.decode_records(data, batch_columns=True)
        assert len(table) == 0 and table_of(table) == []
        for name in ("offset", "timestamp", "timestamp_type", *BATCH_COLUMNS):
            assert getattr(table, name).shape == (0,)
        for column in (table.key, table.value, table.headers.key, table.headers.value):
            assert column.offsets.tolist() == [0]
            assert column.data.shape == column.validity.shape == (0,)
            assert column.null_count == len(column) == 0
            with pytest.raises(IndexError):
                column[0]


def test_a_column_of_bytes_is_a_sequence(columns):
    """A bytes column can be indexed from both ends. A null is None."""
    table = columns.decode_records(
        batch(record(key=b"a"), record(1), record(2, 0, b"", b"v"))
    )
    assert len(table.key) == 3
    assert [table.key[row] for row in (0, 1, 2, -1, -3)] == [b"a", None, b"", b"", b"a"]
    for row in (3, -4):
        with pytest.raises(IndexError):
            table.key[row]
    assert table.key.validity.tolist() == [True, False, True]
    assert table.key.validity.dtype == bool
    assert table.value.null_count == 2
    assert list(table.key) == [b"a", None, b""]


def test_arrays_cannot_be_written(columns):
    """The arrays of a column are read-only, because Arrow consumers may share them."""
    table = columns.decode_records(SETS["headers"])
    arrays = (table.offset, table.timestamp, table.key.offsets, table.key.data)
    for array in (*arrays, table.headers.offsets, table.headers.key.data):
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


def test_columns_are_independent_of_the_batch(columns):
    """A numpy array remains valid after its input and its table are deleted."""
    data = bytearray(SETS["headers"])
    table = columns.decode_records(data)
    expected = table_of(table)
    data[:] = bytes(len(data))
    data.extend(b"resized")
    assert table_of(table) == expected
    content, offset = table.value.data, table.offset
    del table
    assert content.tobytes() == b"v"
    assert offset.tolist() == [0, 1]


def test_omitted_columns_are_absent(columns):
    """Accessing a column that was not decoded raises an error with its name.

    Batch columns only exist if they are requested.
    """
    table = columns.decode_records(SETS["headers"])
    for name in (*BATCH_COLUMNS, "nothing"):
        with pytest.raises(AttributeError, match=f"no column '{name}'"):
            getattr(table, name)
    assert repr(table) == (
        "Records(<2>, columns=offset, timestamp, timestamp_type, key, value, headers)"
    )


@pytest.mark.parametrize("field", ["key", "value"])
@pytest.mark.parametrize("write", [batch, compressed_batch])
def test_columns_are_limited_by_arrow_offsets(
    kwire, records, columns, monkeypatch, field, write
):
    """If a column exceeds the range of its Arrow offsets, an error is raised.

    The limit is 2 GiB, which the test reduces to 1000 bytes.
    """
    module = f"{kwire.__name__}._engine.{kwire.backend}.record_columns"
    monkeypatch.setattr(importlib.import_module(module), "LARGEST_OFFSET", 1000)
    data = write(record(0, 0, **{field: bytes(500)}))
    assert len(columns.decode_records(2 * data)) == 2
    with pytest.raises(
        kwire.errors.LimitExceeded, match="decode fewer bytes"
    ) as caught:
        columns.decode_records(3 * data)
    assert (caught.value.offset, caught.value.path) == (2 * len(data), "")
    assert len(list(records.decode_batches(3 * data))) == 3


def test_offset_range_applies_within_wrappers(records, columns):
    """``start_offset`` and ``end_offset`` apply to single messages in a wrapper."""
    data = wrapper(1, *(message(1, i, bytes([i])) for i in range(6)), offset=15)
    data += compressed_batch(*(record(i) for i in range(4)), base_offset=16)
    every = rows_of(records.decode_batches(data))
    for start in range(9, 21):
        for end in range(start, 22):
            table = columns.decode_records(
                data, start_offset=start, end_offset=end, batch_columns=True
            )
            assert table_of(table) == [row for row in every if start <= row[0] < end]
            assert table.end_position == len(data)


def test_headers_of_omitted_rows_are_omitted(records, columns):
    """If a row is omitted, its headers are omitted, too."""
    rows = [record(i, 0, b"k", None, HEADERS[: i % 5]) for i in range(20)]
    for data in (batch(*rows), compressed_batch(*rows)):
        every = rows_of(records.decode_batches(data))
        for start, end in ((3, 20), (0, 17), (4, 5), (7, 7)):
            table = columns.decode_records(data, start_offset=start, end_offset=end)
            assert table_of(table) == every[start:end]


def test_both_engines_make_the_same_columns(twins):
    """All buffers are equal, except for values of null rows."""
    for name, data in SETS.items():
        for unit in ("s", "ms", "us", "ns"):
            tables = [
                importlib.import_module(f"{p.__name__}.records.columns").decode_records(
                    data, batch_columns=True, timestamp_unit=unit
                )
                for p in twins
            ]
            assert tables[0].names == tables[1].names
            assert table_of(tables[0]) == table_of(tables[1]), name
            for column in (*BATCH_COLUMNS, "offset", "timestamp"):
                pair = [getattr(table, column) for table in tables]
                assert pair[0].dtype == pair[1].dtype
                assert pair[0].tolist() == pair[1].tolist()
