# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A record without a timestamp is null in Arrow, and -1 in numpy and in objects.

Magic 0 records have no timestamp. In magic 1 and 2, -1 represents a missing timestamp.
"""

import pyarrow
import pytest

from tests.records.record_bytes import batch, compressed_batch, message, record, wrapper

LOG_APPEND_TIME = 0x08

# Every set has a record without a timestamp and, if the format allows it, a record with
# one.
SETS = {
    "magic 0": (message(0, 0), [-1]),
    "magic 0, compressed": (wrapper(0, message(0, 0), message(0, 1)), [-1, -1]),
    "magic 1": (message(1, 0, timestamp=-1) + message(1, 1, timestamp=5), [-1, 5]),
    "magic 1, compressed": (
        wrapper(1, message(1, 0, timestamp=5), message(1, 1, timestamp=-1)),
        [5, -1],
    ),
    "magic 1, log append time": (
        wrapper(
            1, message(1, 0, timestamp=5), timestamp=-1, attributes=LOG_APPEND_TIME
        ),
        [-1],
    ),
    "magic 2": (
        batch(record(0, 0), record(1, -6), base_timestamp=5, max_timestamp=5),
        [5, -1],
    ),
    "magic 2, compressed": (
        compressed_batch(record(0, 0), record(1, 1), base_timestamp=-1),
        [-1, 0],
    ),
    "magic 2, log append time": (
        batch(record(), attributes=LOG_APPEND_TIME, max_timestamp=-1),
        [-1],
    ),
}
UNITS = {"s": (1, 1000), "ms": (1, 1), "us": (1000, 1), "ns": (10**6, 1)}


def find_timestamps(table):
    """Return the timestamps of a record batch as numbers in its unit, or None."""
    column = pyarrow.record_batch(table)["timestamp"]
    column.validate(full=True)
    return column.view("int64").to_pylist()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("views", [False, True])
def test_missing_timestamp_is_null_in_arrow_and_minus_one_in_numpy(
    columns, arrow, name, unit, views
):
    """Arrays of numpy have no validity bitmap, so -1 represents the null."""
    data, stamps = SETS[name]
    factor, divisor = UNITS[unit]
    nulls = [None if stamp == -1 else stamp * factor // divisor for stamp in stamps]
    table = columns.decode_records(data, timestamp_unit=unit, views=views)
    assert table.timestamp.tolist() == [-1 if n is None else n for n in nulls]
    assert find_timestamps(table) == nulls
    batch = arrow.records_to_arrow(data, timestamp_unit=unit, views=views)
    assert find_timestamps(batch) == nulls
    # Call it again, because the first call caches the schema.
    assert find_timestamps(arrow.records_to_arrow(data, timestamp_unit=unit)) == nulls


@pytest.mark.parametrize("name", SETS)
def test_missing_timestamp_is_minus_one_in_records(records, name):
    """A record without a timestamp has -1, as in the encoded bytes."""
    data, stamps = SETS[name]
    timestamps = [
        row.timestamp for b in records.decode_batches(data) for row in b.records
    ]
    assert timestamps == stamps


def test_only_minus_one_means_that_there_is_no_timestamp(columns):
    """A negative timestamp other than -1 is a time before 1970.

    Old producers have sent such timestamps.
    """
    stamps = [-2, -1, 0, -1000]
    data = b"".join(message(1, n, timestamp=stamp) for n, stamp in enumerate(stamps))
    assert find_timestamps(columns.decode_records(data)) == [-2, None, 0, -1000]


def test_timestamps_without_a_gap_have_no_validity(columns):
    """Without missing timestamps, no validity bitmap is allocated."""
    data = batch(record(0, 0), record(1, 1), base_timestamp=5)
    column = pyarrow.record_batch(columns.decode_records(data))["timestamp"]
    assert column.null_count == 0 and column.buffers()[0] is None


def test_nulls_of_a_slice_match_its_rows(columns):
    """The nulls of a slice are correct, although its first bit is within a byte."""
    stamps = [-1 if n % 3 == 0 else n for n in range(40)]
    data = b"".join(message(1, n, timestamp=stamp) for n, stamp in enumerate(stamps))
    table = columns.decode_records(data)
    for start in (0, 1, 7, 8, 9, 31):
        sliced = table[start : start + 11]
        expected = [
            None if stamp == -1 else stamp for stamp in stamps[start : start + 11]
        ]
        assert find_timestamps(sliced) == expected
        column = pyarrow.record_batch(sliced)["timestamp"]
        assert column.null_count == expected.count(None)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_null_timestamps_are_written_as_minus_one(records, columns, magic):
    """A null timestamp is encoded as -1, from kwire's columns and from pyarrow."""
    stamps = [5, -1, 6] if magic else [-1, -1, -1]
    rows = [(b"k", b"v", stamp) for stamp in stamps]
    data = records.encode_batch(rows, magic=magic)
    table = columns.decode_records(data)
    assert columns.encode_batch(table, magic=magic) == data
    imported = pyarrow.Table.from_batches([pyarrow.record_batch(table)])
    assert columns.encode_batch(imported, magic=magic) == data
