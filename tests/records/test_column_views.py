# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test view columns: equal rows without a copy, and their memory.

With ``decode_records(views=True)``, the bytes of keys and values stay in the input or
in the decompressed batch. Every row is compared with the regular columns.
"""

import gc
import mmap
import sys
import weakref

import duckdb
import numpy
import polars
import pyarrow
import pytest

from tests.harness.sweeps import sweep
from tests.records.record_bytes import batch, compressed_batch, message, record, wrapper
from tests.records.record_sets import SETS, rows_of, table_of

LONG = bytes(range(256)) * 4
SIZES = batch(*(record(i, i, LONG[:i], LONG[i : 2 * i]) for i in range(64)))
MANY = {
    **SETS,
    "all sizes": SIZES,
    "long and compressed": b"".join(
        (
            compressed_batch(record(key=LONG, value=LONG[9:]), base_offset=0),
            batch(record(value=LONG), base_offset=1),
            compressed_batch(record(key=None, value=LONG[5:]), base_offset=2),
            message(1, 3, LONG[1:], LONG[2:], 5),
            wrapper(1, message(1, 0, LONG), message(1, 1, None, LONG[3:]), offset=5),
            wrapper(0, message(0, 6, LONG), message(0, 7, LONG[4:], LONG)),
            message(0, 8, LONG[6:], None),
            batch(record(key=LONG[7:]), base_offset=9),
        )
    ),
}
BINARY, VIEW = pyarrow.binary(), pyarrow.binary_view()


@sweep("name", MANY)
@sweep("headers", [True, False])
@sweep("batch_columns", [True, False])
def test_views_are_the_records(records, columns, name, headers, batch_columns):
    """View columns have the same rows as the records, and are valid for pyarrow."""
    options = {"headers": headers, "batch_columns": batch_columns}
    plain = columns.decode_records(MANY[name], **options)
    table = columns.decode_records(MANY[name], views=True, **options)
    assert table_of(table) == table_of(plain)
    assert table.names == plain.names
    assert table.end_position == plain.end_position
    assert table.next_offset == plain.next_offset
    arrow_batch = pyarrow.record_batch(table)
    arrow_batch.validate(full=True)
    assert (
        arrow_batch.schema.field("key").type
        == arrow_batch.schema.field("value").type
        == VIEW
    )
    expected = pyarrow.record_batch(plain)
    for column in table.names:
        kind = expected.schema.field(column).type
        assert arrow_batch.column(column).cast(kind).equals(expected.column(column)), (
            column
        )


def test_views_omit_records_outside_the_offset_range(columns):
    """View columns and regular columns omit the same records outside the range."""
    for data in MANY.values():
        for start in (None, 1, 4, 6):
            for end in (None, 3, 7, 102):
                bounds = {"start_offset": start, "end_offset": end}
                table = columns.decode_records(data, views=True, **bounds)
                assert table_of(table) == table_of(
                    columns.decode_records(data, **bounds)
                )
                pyarrow.record_batch(table).validate(full=True)


def test_views_share_the_bytes_of_the_input(columns):
    """A value of more than 12 bytes is a view of the input.

    Later changes of the input are therefore visible. Shorter values are copied.
    """
    data = bytearray(batch(record(key=b"k" * 12, value=b"v" * 13)))
    table = columns.decode_records(data, views=True)
    position = data.index(b"v" * 13)
    data[position + 5] = ord("x")
    data[data.index(b"k" * 12)] = ord("x")
    assert table.value[0] == b"vvvvvxvvvvvvv"
    assert table.key[0] == b"k" * 12
    assert pyarrow.array(table.value).to_pylist() == [b"vvvvvxvvvvvvv"]
    buffer = pyarrow.array(table.value).buffers()[2]
    assert buffer.address == numpy.frombuffer(data, "u1").ctypes.data


def test_the_input_is_held_as_long_as_a_column(columns, arrow):
    """The input is kept as long as a table, slice, column or exported array exists."""
    for take in (
        lambda data: columns.decode_records(data, views=True),
        lambda data: columns.decode_records(data, views=True)[1:2],
        lambda data: columns.decode_records(data, views=True).value,
        lambda data: pyarrow.array(columns.decode_records(data, views=True).key),
        lambda data: arrow.records_to_arrow(data, views=True),
        lambda data: arrow.records_to_arrow(data, views=True).column("value")[3:4],
        lambda data: polars.DataFrame(columns.decode_records(data, views=True)),
    ):
        data = bytearray(SIZES)
        column = take(data)
        gc.collect()
        if not isinstance(column, polars.DataFrame):
            with pytest.raises(BufferError):
                data.append(0)
        del column
        gc.collect()
        data.append(0)


def test_views_keep_the_input_alive(columns):
    """If nothing else refers to the input, the columns still keep it alive."""
    source = numpy.frombuffer(MANY["long and compressed"], "u1").copy()
    watched = weakref.ref(source)
    expected = table_of(columns.decode_records(source))
    value = columns.decode_records(source, views=True).value
    del source
    gc.collect()
    assert [value[i] for i in range(len(value))] == [row[3] for row in expected]
    assert watched() is not None
    del value
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("write", [compressed_batch, lambda *_: b""])
def test_an_input_without_views_is_not_held(columns, write):
    """If no value is a view of the input, the input is not kept.

    For a compressed batch, the decompressed bytes are kept instead.
    """
    data = bytearray(write(record(key=LONG, value=LONG)))
    table = columns.decode_records(data, views=True)
    data.append(0)
    assert [row[3] for row in table_of(table)] == [LONG] * len(table)


def test_errors_release_the_input(kwire, columns, arrow):
    """The input is released even if the error and its traceback are kept."""
    bad = SETS["headers"], MANY["long and compressed"], SIZES
    for data in (
        *(content + b"\0" * 20 for content in bad),
        *(d[:-1] + b"x" for d in bad),
    ):
        for read in (columns.decode_records, arrow.records_to_arrow):
            source = bytearray(data)
            with pytest.raises(kwire.DecodeError) as caught:
                read(source, views=True)
            with pytest.raises(kwire.DecodeError) as plain:
                read(source)
            source.append(0)
            assert str(caught.value) == str(plain.value)
            assert caught.value.offset == plain.value.offset


def test_sliced_views_export_only_their_rows(records, columns):
    """Only the rows of the slice are exported to pyarrow, polars and DuckDB."""
    data = MANY["long and compressed"]
    rows = rows_of(records.decode_batches(data), control=False)
    table = columns.decode_records(data, views=True)
    for rows_slice in (slice(1, 3), slice(-2, None), slice(2, 2), slice(0, None)):
        sliced = table[rows_slice]
        expected = [row[2:4] for row in rows[rows_slice]]
        arrow_batch = pyarrow.record_batch(sliced)
        arrow_batch.validate(full=True)
        pairs = zip(
            *(arrow_batch.column(n).to_pylist() for n in ("key", "value")), strict=True
        )
        assert list(pairs) == expected
        assert [
            (sliced.key[i], sliced.value[i]) for i in range(len(sliced))
        ] == expected
        assert sliced.key.null_count == sum(key is None for key, _ in expected)
        assert sliced.key.validity.tolist() == [key is not None for key, _ in expected]
        frame = polars.DataFrame(sliced)
        assert list(zip(frame["key"], frame["value"], strict=True)) == expected
        selected = duckdb.from_arrow(sliced).select("key, value").fetchall()
        assert selected == expected


def test_views_are_encoded(columns):
    """Views and their slices are encoded to the same bytes as other columns."""
    for data in (SIZES, MANY["long and compressed"]):
        plain = columns.decode_records(data)
        table = columns.decode_records(data, views=True)
        for rows_slice in (slice(None), slice(1, 4), slice(4, None)):
            encoded = columns.encode_batch(table[rows_slice])
            assert encoded == columns.encode_batch(plain[rows_slice])
        assert columns.encode_batch(pyarrow.record_batch(table)) == (
            columns.encode_batch(plain)
        )


def test_views_have_no_flat_arrays(columns):
    """A view column has no flat arrays. The error suggests indexing instead."""
    table = columns.decode_records(SETS["headers"], views=True)
    for column in (table.key, table.value):
        for name in ("data", "offsets"):
            with pytest.raises(AttributeError, match=f"views has no {name}: take rows"):
                getattr(column, name)
        assert column.validity.dtype == bool
    assert table.headers.key.data.tobytes().startswith(b"h")
    assert not table.offset.flags.writeable


def test_views_of_inputs_above_a_gigabyte_have_several_buffers(columns):
    """If the input has more than 1 GiB, the views refer to several buffers.

    The offset in a view has 31 bits, so a single buffer would be too large.
    """
    size = len(SIZES)
    # A 32-bit platform cannot map such an input.
    gigabytes = 2 if sys.maxsize >> 32 else 1
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    with mmap.mmap(-1, (gigabytes << 30) + (1 << 20), flags=flags) as data:
        for position in ((1 << 30) - size // 2, (gigabytes << 30) + 100):
            data[position : position + size] = SIZES
            table = columns.decode_records(
                data, position=position, end=position + size, views=True
            )
            assert table_of(table) == table_of(columns.decode_records(SIZES))
            array = pyarrow.array(table.value)
            array.validate(full=True)
            assert array.cast(BINARY).to_pylist() == [row[3] for row in table_of(table)]
            assert len(array.buffers()) == 2 + gigabytes + 1
            del table, array
            gc.collect()


def test_both_engines_make_the_same_views(twins):
    """Both engines return view columns with equal buffers."""
    for name, data in MANY.items():
        batches = [
            pyarrow.record_batch(
                package.records.columns.decode_records(data, views=True)
            )
            for package in twins
        ]
        for column in ("key", "value"):
            fast, pure = (arrow_batch.column(column) for arrow_batch in batches)
            assert fast.equals(pure), name
            buffers = [
                [b and b.to_pybytes() for b in array.buffers()]
                for array in (fast, pure)
            ]
            rows = 16 * len(fast)
            assert buffers[0][1][:rows] == buffers[1][1][:rows], name
            assert buffers[0][2:] == buffers[1][2:], name
