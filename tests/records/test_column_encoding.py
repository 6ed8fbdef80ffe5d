# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns are encoded to the same bytes as the corresponding rows.

The columns come from kwire, or are pyarrow and polars tables with all types that can be
cast, sliced and in chunks. Inconsistent columns are tested in
``test_lying_columns.py``.
"""

import datetime
import re

import polars
import pyarrow
import pytest

from tests.harness.sweeps import sweep
from tests.records.record_sets import SETS, row_of, rows_of
from tests.records.test_writing import MAGICS_AND_CODECS

PAIR = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])
ROWS = [
    (10, 500, b"k", b"v", (("h", b"1"), ("\u00e4", None))),
    (11, -1, None, b"", ()),
    (15, 499, b"", None, (("h", b""),)),
    (16, 2**62, b"x" * 200, bytes(300), ()),
    (2**30, 0, b"last", b"row", (("h", b"1"), ("h", b"2"), ("", None))),
]


def table_of_rows(rows):
    """Return the rows as a pyarrow table."""
    fields = {
        "offset": pyarrow.array([row[0] for row in rows], pyarrow.int64()),
        "timestamp": pyarrow.array(
            [None if row[1] < 0 else row[1] for row in rows], pyarrow.int64()
        ).cast(pyarrow.timestamp("ms", "UTC")),
        "key": pyarrow.array([row[2] for row in rows], pyarrow.binary()),
        "value": pyarrow.array([row[3] for row in rows], pyarrow.binary()),
        "headers": pyarrow.array(
            [[{"key": k, "value": v} for k, v in row[4]] for row in rows],
            pyarrow.list_(PAIR),
        ),
    }
    return pyarrow.table(fields)


def as_records(records, rows):
    """Return the rows as ``Record`` objects."""
    names = ("offset", "timestamp", "key", "value", "headers")
    return [records.Record(**dict(zip(names, row, strict=True))) for row in rows]


@sweep("name", SETS)
def test_decoded_columns_can_be_encoded(kwire, records, columns, name):
    """Decoded columns are encoded to the same bytes as the records, in every magic."""
    expected = rows_of(records.decode_batches(SETS[name]), control=False)
    rows = [row[:5] for row in expected]
    table = columns.decode_records(SETS[name])
    for magic, codec in MAGICS_AND_CODECS:
        outcomes = []
        for encode, source in (
            (columns.encode_batch, table),
            (records.encode_batch, as_records(records, rows)),
        ):
            try:
                outcomes.append(encode(source, magic=magic, compression=codec))
            except kwire.EncodeError as error:
                outcomes.append(error.path)
        if outcomes[0] == "records[0].headers" and isinstance(outcomes[1], str):
            continue
        assert outcomes[0] == outcomes[1]


def test_encoded_table_equals_encoded_rows(records, columns):
    """A pyarrow table is encoded to the same bytes as its rows.

    It has gaps in the offsets, and null timestamps, values and headers.
    """
    expected = records.encode_batch(as_records(records, ROWS))
    table = table_of_rows(ROWS)
    for source in (
        table,
        table.to_batches()[0],
        pyarrow.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1)]),
        pyarrow.concat_tables([table, table]).slice(0, 5),
        pyarrow.concat_tables([table, table]).combine_chunks().slice(5, 5),
        polars.from_arrow(table),
    ):
        assert columns.encode_batch(source) == expected


@sweep("start", range(5))
@sweep("count", range(1, 5))
def test_slices_of_a_table_are_encoded(records, columns, start, count):
    """Only the rows of a slice are encoded, with their headers and nulls."""
    rows = ROWS[start : start + count]
    expected = records.encode_batch(as_records(records, rows))
    table = table_of_rows(ROWS)
    assert columns.encode_batch(table.slice(start, count)) == expected
    batch = table.to_batches()[0].slice(start, count)
    assert columns.encode_batch(batch) == expected
    assert columns.encode_batch(polars.from_arrow(table)[start : start + count]) == (
        expected
    )


def test_other_types_are_cast(records, columns):
    """Columns of other types are cast.

    They are strings, large types, views, smaller integers, and other time units.
    """
    rows = [(3, 5000, b"k", b"v", (("h", b"x"),)), (4, 6000, None, b"w", ())]
    expected = records.encode_batch(as_records(records, rows))
    table = table_of_rows(rows)
    large = pyarrow.struct(
        [("key", pyarrow.large_string()), ("value", pyarrow.large_binary())]
    )
    for changes in (
        {"key": pyarrow.string(), "value": pyarrow.large_string()},
        {"key": pyarrow.large_binary(), "value": pyarrow.binary_view()},
        {"key": pyarrow.string_view(), "offset": pyarrow.int32()},
        {"offset": pyarrow.uint8(), "timestamp": pyarrow.int64()},
        {"timestamp": pyarrow.timestamp("ns", "UTC")},
        {"timestamp": pyarrow.timestamp("s", "Europe/Vienna")},
        {"timestamp": pyarrow.timestamp("us")},
        {"headers": pyarrow.large_list(large)},
    ):
        schema = pyarrow.schema(
            [
                (field.name, changes.get(field.name, field.type))
                for field in table.schema
            ]
        )
        source = table.cast(schema)
        assert source.schema == schema
        assert columns.encode_batch(source) == expected
        assert columns.encode_batch(source.slice(1)) == records.encode_batch(
            as_records(records, rows[1:])
        )


def test_missing_columns_have_default_values(records, columns):
    """A missing offset column is numbered from the base offset.

    A missing timestamp column is -1 in every row, and missing headers are none.
    """
    table = pyarrow.table({"value": [b"v", b"w"], "key": ["k", None], "other": [1, 2]})
    rows = [(b"k", b"v"), (None, b"w")]
    assert columns.encode_batch(table) == records.encode_batch(rows)
    assert columns.encode_batch(table, base_offset=70) == (
        records.encode_batch(rows, base_offset=70)
    )
    frame = polars.DataFrame(
        {
            "key": ["k", None],
            "value": [b"v", b"w"],
            "timestamp": [datetime.datetime(1970, 1, 1, 0, 0, 5), None],
        }
    )
    assert columns.encode_batch(frame) == (
        records.encode_batch([(b"k", b"v", 5000), (None, b"w")])
    )


def test_column_options_equal_row_options(records, columns):
    """Every option has the same effect as for rows.

    Options are producer fields, attributes and compression levels.
    """
    options = {
        "base_offset": 5,
        "last_offset": 2**30 + 4,
        "producer_id": 6,
        "producer_epoch": 7,
        "base_sequence": 8,
        "partition_leader_epoch": 9,
        "is_transactional": True,
        "is_control": True,
        "log_append_time": 10,
        "delete_horizon": 11,
        "compression": "gzip",
        "compression_level": 9,
    }
    assert columns.encode_batch(table_of_rows(ROWS), **options) == (
        records.encode_batch(as_records(records, ROWS), **options)
    )


def test_empty_table_requires_a_last_offset(kwire, records, columns):
    """An empty table is rejected, unless a last offset is specified."""
    empty = table_of_rows(ROWS[:0])
    for source in (empty, columns.decode_records(b"")):
        with pytest.raises(kwire.EncodeError) as caught:
            columns.encode_batch(source)
        assert caught.value.path == "records"
        assert columns.encode_batch(source, base_offset=5, last_offset=9) == (
            records.encode_batch([], base_offset=5, last_offset=9)
        )


def replace_column(name, values, kind):
    """Return a table with valid rows in which one column is replaced."""
    table = table_of_rows(ROWS)
    index = table.schema.get_field_index(name)
    return table.set_column(index, name, pyarrow.array(values, kind))


def test_invalid_row_is_named_in_the_error_path(kwire, columns):
    """The error path contains the row, as for rows."""
    none_key = [[], [], [{"key": None, "value": b"v"}], [], []]
    for source, options, path in (
        (replace_column("offset", [1, 2, 2, 3, 4], "int64"), {}, "[2].offset"),
        (replace_column("offset", [1, 2, None, 3, 4], "int64"), {}, "[2].offset"),
        (
            replace_column("offset", [-5, 2, 3, 4, 5], "int64"),
            {"base_offset": 0},
            "[0].offset",
        ),
        (replace_column("offset", [1, 2, 3, 4, 2**31 + 1], "int64"), {}, "[4].offset"),
        (table_of_rows(ROWS), {"base_offset": 11}, "[0].offset"),
        (replace_column("timestamp", [1, 2, 3, -2, 5], "int64"), {}, "[3].timestamp"),
        (replace_column("headers", none_key, pyarrow.list_(PAIR)), {}, "[2].headers"),
        (replace_column("headers", none_key, pyarrow.list_(PAIR)), {"magic": 1}, None),
        (table_of_rows(ROWS), {"magic": 1}, "[0].headers"),
        (table_of_rows(ROWS), {"magic": 0, "compression": "gzip"}, "[0].headers"),
        (table_of_rows(ROWS), {"magic": 3}, ""),
        (table_of_rows(ROWS), {"is_transactional": True}, ""),
    ):
        with pytest.raises(kwire.EncodeError) as caught:
            columns.encode_batch(source, **options)
        if path:
            assert caught.value.path == f"records{path}"


def test_encode_batch_columns_rejects_other_objects(columns):
    """Objects that are not tables raise an error with their type.

    If a column is missing, the error names it.
    """
    for no_table, words in (
        (5, "(got int)"),
        ([(b"k", b"v")], "(got list)"),
        (pyarrow.table({"key": [b"k"]}), "key and value are required (got key)"),
    ):
        with pytest.raises(TypeError, match=re.escape(words)):
            columns.encode_batch(no_table)
    table = columns.decode_records(SETS["headers"], timestamp_unit="us")
    with pytest.raises(TypeError, match="timestamps in ms"):
        columns.encode_batch(table)


def test_null_headers_are_no_headers(records, columns):
    """A row whose header list is null has no headers, whatever its offsets are."""
    pairs = pyarrow.array(
        [{"key": "a", "value": b"x"}, {"key": "b", "value": b"y"}], PAIR
    )
    offsets = pyarrow.array([0, 1, 2], pyarrow.int32())
    lists = pyarrow.ListArray.from_arrays(
        offsets, pairs, mask=pyarrow.array([True, False])
    )
    source = pyarrow.table(
        {"key": [b"k", b"l"], "value": [b"v", b"w"], "headers": lists}
    )
    assert columns.encode_batch(source) == records.encode_batch(
        [(b"k", b"v"), (b"l", b"w", None, [("b", b"y")])]
    )


def test_null_pairs_are_no_headers(kwire, columns):
    """A null within a header list raises EncodeError, because a header requires a key.

    The values in the child arrays are ignored.
    """
    pairs = pyarrow.StructArray.from_arrays(
        [pyarrow.array(["a", "b"]), pyarrow.array([b"x", b"y"])],
        fields=list(PAIR),
        mask=pyarrow.array([False, True]),
    )
    lists = pyarrow.ListArray.from_arrays(pyarrow.array([0, 1, 2], "int32"), pairs)
    source = pyarrow.table(
        {"key": [b"k", b"l"], "value": [b"v", b"w"], "headers": lists}
    )
    with pytest.raises(kwire.EncodeError) as caught:
        columns.encode_batch(source)
    assert caught.value.path == "records[1].headers"


def with_a_null(values, kind):
    """Return an array without nulls that has a validity bitmap nevertheless."""
    return pyarrow.array([*values, None], kind).slice(0, len(values))


def test_every_column_may_have_nulls(records, columns):
    """Columns are encoded if all of their optional Arrow buffers exist."""
    pairs = pyarrow.StructArray.from_arrays(
        [
            with_a_null(["a", "b", "c"], pyarrow.string()),
            with_a_null([b"x", None, b"z"], pyarrow.binary()),
        ],
        fields=list(PAIR),
    )
    lists = pyarrow.ListArray.from_arrays(
        pyarrow.array([0, 2, 3], pyarrow.int32()), pairs
    )
    source = pyarrow.record_batch(
        {
            "offset": with_a_null([5, 6], pyarrow.int64()),
            "timestamp": with_a_null([7, 8], pyarrow.timestamp("ms", "UTC")),
            "key": with_a_null([b"k", None], pyarrow.binary()),
            "value": with_a_null([None, b"w"], pyarrow.binary()),
            "headers": lists,
        }
    )
    assert all(column.buffers()[0] is not None for column in source.columns[:4])
    (batch,) = records.decode_batches(columns.encode_batch(source))
    assert [row_of(record) for record in batch.records] == [
        (5, 7, b"k", None, (("a", b"x"), ("b", None))),
        (6, 8, None, b"w", (("c", b"z"),)),
    ]


B = pyarrow.array([b"a"], pyarrow.binary())


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("key", pyarrow.array([1])),
        ("value", pyarrow.array([[b"a"]])),
        ("offset", pyarrow.array([1.5])),
        ("offset", pyarrow.array([2**63], pyarrow.uint64())),
        ("timestamp", pyarrow.array(["noon"])),
        ("timestamp", pyarrow.array([2**62], pyarrow.timestamp("s"))),
        ("timestamp", pyarrow.array([2**64 - 1], pyarrow.uint64())),
        ("headers", pyarrow.array([[1]])),
        ("headers", pyarrow.array([[{"key": b"\xff", "value": b""}]])),
    ],
)
def test_columns_that_cannot_be_cast_are_named(kwire, columns, name, column):
    """If pyarrow cannot cast a column, EncodeError contains the column name.

    The error of pyarrow is not raised.
    """
    table = pyarrow.table({"key": B, "value": B} | {name: column})
    with pytest.raises(kwire.EncodeError) as caught:
        columns.encode_batch(table)
    assert type(caught.value) is kwire.EncodeError
    assert caught.value.path == name
    assert "\n" not in str(caught.value)


def test_duplicate_column_is_named(kwire, columns):
    """Two columns with the same name raise an error, because either could be used."""
    table = pyarrow.Table.from_arrays([B, B, B], ["key", "value", "key"])
    with pytest.raises(kwire.EncodeError) as caught:
        columns.encode_batch(table)
    assert caught.value.path == "key"


@pytest.mark.parametrize("protocol", ["array", "stream"])
def test_an_array_of_another_library_is_no_table(columns, protocol):
    """An Arrow array of another library raises TypeError, because it is not a table.

    The C interface only shows the type when the array is imported.
    """

    class Foreign:
        pass

    array = pyarrow.array([1]) if protocol == "array" else pyarrow.chunked_array([[1]])
    method = f"__arrow_c_{protocol}__"
    setattr(Foreign, method, lambda self, schema=None: getattr(array, method)())
    with pytest.raises(TypeError) as caught:
        columns.encode_batch(Foreign())
    assert type(caught.value) is TypeError
