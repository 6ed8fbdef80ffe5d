# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``EncodedRows.extend_columns`` adds rows of columns like ``extend`` adds rows.

A producer groups the rows of a table by partition without copying them. Inconsistent
columns are tested in ``test_lying_columns.py``.
"""

import array
import importlib
import random

import pyarrow
import pytest

from tests.harness.sweeps import sweep
from tests.records.test_column_encoding import PAIR
from tests.records.test_encoded_rows import MOST, encoded_rows, make_header

__all__ = ["encoded_rows", "make_header"]

NOW = 77
"""Timestamp that the call passes for rows without a timestamp."""


@pytest.fixture(scope="module")
def open_rows(kwire, records):
    """Return a function that converts a table to ``ColumnRows``, as a producer does."""
    arrow_input = importlib.import_module(f"{kwire.__name__}.records.tables")
    return lambda table: records.batches.engine.ColumnRows(
        *arrow_input.split_table(table)
    )


def numbers_of(rows):
    """Return row numbers as an int64 buffer."""
    return array.array("q", rows)


def some_rows(seed, count):
    """Return ``count`` different rows. Some keys, values and timestamps are None."""
    dice = random.Random(seed)
    return [
        (
            dice.choice([None, b"", dice.randbytes(dice.randrange(200))]),
            dice.choice([None, dice.randbytes(dice.randrange(9000))]),
            dice.choice([None, -1, 0, dice.randrange(2**63), 1_700_000_000_000]),
            [("h" * dice.randrange(3), b"x"), ("\u00e9", None)][: dice.randrange(3)],
        )
        for _ in range(count)
    ]


def table_of(rows, *, is_large=False):
    """Convert rows to a pyarrow table, optionally with 64-bit offsets."""
    text, binary = pyarrow.string(), pyarrow.binary()
    pair, lists = PAIR, pyarrow.list_
    if is_large:
        text, binary = pyarrow.large_string(), pyarrow.binary_view()
        pair = pyarrow.struct([("key", text), ("value", pyarrow.large_binary())])
        lists = pyarrow.large_list
    keys, values, times, headers = zip(*rows, strict=True)
    pairs = [
        None if not row_headers else [{"key": k, "value": v} for k, v in row_headers]
        for row_headers in headers
    ]
    return pyarrow.table(
        {
            "key": pyarrow.array(keys, binary),
            "value": pyarrow.array(values, binary),
            "timestamp": pyarrow.array(times, pyarrow.int64()),
            "headers": pyarrow.array(pairs, lists(pair)),
        }
    )


def timed(rows):
    """Replace the timestamp None by ``NOW``. The timestamp -1 is kept."""
    return [(k, v, NOW if time is None else time, h) for k, v, time, h in rows]


@sweep("seed", range(6))
@sweep("layout", ["plain", "large", "slice", "chunks", "dictionary"])
def test_the_batch_is_that_of_the_rows(
    records, encoded_rows, make_header, open_rows, seed, layout
):
    """The batch from columns equals the batch from the same rows.

    Rows are added in any order, repeatedly, and in portions of any size.
    """
    rows = some_rows(seed, 200)
    table = table_of(rows, is_large=layout == "large")
    if layout == "slice":
        # Slice the table, so that no bitmap and no offset starts at the first byte of
        # its buffer.
        table, rows = table.slice(13, 171), rows[13:184]
    if layout == "chunks":
        table = pyarrow.concat_tables([table.slice(0, 3), table.slice(3)])
    if layout == "dictionary":
        key = table.column("key").dictionary_encode()
        table = table.set_column(0, "key", key)
    dice = random.Random(seed)
    chosen = dice.choices(range(len(rows)), k=300)
    encoder, index = encoded_rows(MOST), 0
    columns = open_rows(table)
    while index < len(chosen):
        row_numbers = numbers_of(chosen[: index + dice.randrange(60)])
        index = encoder.extend_columns(columns, row_numbers, index, NOW)
    expected = records.encode_batch([timed(rows)[number] for number in chosen])
    assert encoder.make_batch(make_header(len(chosen))) == expected
    assert len(encoder) == len(chosen) and encoder.content == len(expected) - 61


def test_rows_and_columns_may_share_a_batch(
    records, encoded_rows, make_header, open_rows
):
    """Rows from lists and rows from columns can be added to the same batch."""
    rows = some_rows(1, 40)
    encoder, columns = encoded_rows(MOST), open_rows(table_of(rows[10:30]))
    encoder.extend(rows[:10], 0, NOW)
    assert encoder.extend_columns(columns, numbers_of(range(20)), 0, NOW) == 20
    encoder.extend(rows[30:], 0, NOW)
    # ``extend`` treats a timestamp of -1 as missing, unlike ``extend_columns``.
    listed = [(k, v, NOW if t == -1 else t, h) for k, v, t, h in timed(rows)]
    expected = [*listed[:10], *timed(rows)[10:30], *listed[30:]]
    assert encoder.make_batch(make_header(40)) == records.encode_batch(expected)


def test_extend_columns_stops_at_the_size_limit(
    encoded_rows, make_header, records, open_rows
):
    """``extend_columns`` adds as many rows as ``extend``, up to the size limit."""
    rows = [(b"%d" % n, bytes(n % 300), 5, ()) for n in range(1000)]
    columns, numbers = open_rows(table_of(rows)), numbers_of(range(1000))
    index = 0
    while index < len(rows):
        encoder, listed = encoded_rows(1000), encoded_rows(1000)
        before, index = index, encoder.extend_columns(columns, numbers, index)
        assert listed.extend(rows, before) == index
        header = make_header(index - before)
        assert encoder.make_batch(header) == listed.make_batch(header)
        assert encoder.content <= 1000
    assert encoded_rows(1000).extend_columns(columns, numbers, 1000) == 1000
    assert encoded_rows(1000).extend_columns(columns, numbers, 2000) == 2000
    large = open_rows(table_of([(b"k", bytes(5000), 5, ()), (None, None, 5, ())]))
    encoder = encoded_rows(10)
    assert encoder.extend_columns(large, numbers_of([0, 1])) == 1
    assert encoder.extend_columns(large, numbers_of([0, 1]), 1) == 1
    assert len(encoder) == 1


def test_columns_without_timestamps_have_the_time_of_the_call(
    records, encoded_rows, make_header, open_rows
):
    """Without a timestamp column, all rows have the timestamp of the call.

    An empty table adds no rows.
    """
    table = pyarrow.table({"key": ["k", None], "value": [b"v", b"w"]})
    encoder = encoded_rows(MOST)
    encoder.extend_columns(open_rows(table), numbers_of([1, 0, 1]), 0, 9)
    rows = [(None, b"w", 9), (b"k", b"v", 9), (None, b"w", 9)]
    assert encoder.make_batch(make_header(3)) == records.encode_batch(rows)
    empty = open_rows(table.slice(0, 0))
    assert len(empty) == 0
    assert encoder.extend_columns(empty, numbers_of([])) == 0
    assert len(encoder) == 3


def test_impossible_row_is_rejected(
    kwire, records, encoded_rows, make_header, open_rows
):
    """An invalid row raises an error whose path contains the row number.

    Rows before it have been added.
    """
    table = pyarrow.table(
        {"key": ["a", "b", "c"], "value": ["1", "2", "3"], "timestamp": [5, -2, -1]}
    )
    columns = open_rows(table)
    for numbers, path in (([2, 1, 0], "[1].timestamp"), ([2, 3, 0], "[3]")):
        encoder = encoded_rows(MOST)
        with pytest.raises(kwire.EncodeError) as caught:
            encoder.extend_columns(columns, numbers_of(numbers))
        assert caught.value.path == f"records{path}"
        assert encoder.extend_columns(columns, numbers_of([0])) == 1
        expected = records.encode_batch([(b"c", b"3"), (b"a", b"1", 5)])
        assert encoder.make_batch(make_header(2)) == expected


def test_invalid_row_numbers_are_rejected(encoded_rows, open_rows):
    """Row numbers that are not an int64 buffer raise an error."""
    columns = open_rows(pyarrow.table({"key": ["k"], "value": ["v"]}))
    with pytest.raises(ValueError, match=r"numbers must be int64 \(got 4 bytes\)"):
        encoded_rows(MOST).extend_columns(columns, bytes(4))
    with pytest.raises(TypeError):
        encoded_rows(MOST).extend_columns(columns, [0])
