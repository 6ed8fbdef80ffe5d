# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Invalid Arrow data from other libraries raises ``EncodeError`` in every function.

pyarrow's kernels use offsets, views and indexes without validation. If a kernel read
this data first, the process would crash, or unrelated memory would be written to a
record. All cases therefore run in a child process.
"""

import importlib
import random
import struct

import pyarrow
import pytest

from fuzz.targets.c_arrays import NUMBERS, DamagedArray, build, make_roomy
from tests.harness.guard_pages import check

FAR = 1 << 30
PAIR = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])
HEADERS = pyarrow.list_(PAIR)


def int32s(*numbers):
    """Return the bytes of int32 values, such as Arrow offsets."""
    return struct.pack(f"={len(numbers)}i", *numbers)


def view(size, buffer=0, offset=0):
    """Return the bytes of a 16-byte view, with the prefix of the data in ``views``."""
    return struct.pack("=i4sii", size, b"aaaa", buffer, offset)


def views(kind, *rows):
    """Return an array whose rows are views of a buffer of 100 bytes."""
    return build(kind, len(rows), [None, b"".join(rows), b"a" * 100])


def pairs(key, count=2):
    """Return an array of headers with the keys ``key`` and valid values."""
    value = pyarrow.array([b"v"] * count, pyarrow.binary())
    return build(PAIR, count, [None], 0, 0, [key, value])


def bad_keys():
    """Return header keys whose last offset is far outside the data."""
    return build(pyarrow.string(), 2, [None, int32s(0, FAR, 2), b"ab"])


COLUMNS = {
    "a view that ends outside": views(
        pyarrow.binary_view(), view(90), view(50, 0, FAR)
    ),
    "a text view outside": views(pyarrow.string_view(), view(1 << 20, 0, 1 << 20)),
    "a view before the data": views(pyarrow.binary_view(), view(20, 0, -FAR)),
    "a view of no buffer": views(pyarrow.binary_view(), view(20, 1 << 20)),
    "a view of a negative buffer": views(pyarrow.string_view(), view(20, -1)),
    "an offset outside": build(pyarrow.binary(), 2, [None, int32s(0, FAR, 2), b"ab"]),
    "a large offset outside": build(
        pyarrow.large_binary(), 2, [None, struct.pack("=3q", 0, 1 << 60, 2), b"ab"]
    ),
    "an offset before": build(pyarrow.binary(), 2, [None, int32s(0, -FAR, 2), b"ab"]),
    "text that is not UTF-8": build(pyarrow.string(), 1, [None, int32s(0, 1), b"\xff"]),
    "an index outside": pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0, FAR], pyarrow.int32()), pyarrow.array([b"a"]), safe=False
    ),
    "a dictionary of views outside": pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0, 0]), views(pyarrow.string_view(), view(1 << 20, 0, FAR))
    ),
    "a view of a null row outside": build(
        pyarrow.binary_view(), 2, [b"\1", view(20) + view(-1)], 1
    ),
    "a null count that is false": build(
        pyarrow.binary_view(), 1, [b"\0", view(20, 0, FAR), b"a" * 100], 0
    ),
}

LISTS = {
    "a null list and a false offset of a key": build(
        HEADERS, 2, [b"\1", int32s(0, 1, 2)], 1, 0, [pairs(bad_keys())]
    ),
    "a false offset of a key": build(
        HEADERS, 2, [None, int32s(0, 1, 2)], 0, 0, [pairs(bad_keys())]
    ),
    "a null header and a false offset of its key": build(
        HEADERS,
        1,
        [None, int32s(0, 2)],
        0,
        0,
        [build(PAIR, 2, [b"\1"], 1, 0, [bad_keys(), pyarrow.array([b"a", b"b"])])],
    ),
    "a list outside": build(
        HEADERS, 2, [None, int32s(0, FAR, 2)], 0, 0, [pairs(pyarrow.array(["a", "b"]))]
    ),
    "a view of a key outside": build(
        pyarrow.list_(pyarrow.struct([("key", pyarrow.string_view())])),
        1,
        [None, int32s(0, 1)],
        0,
        0,
        [
            pyarrow.StructArray.from_arrays(
                [views(pyarrow.string_view(), view(1 << 20, 0, FAR))], ["key"]
            )
        ],
    ),
}


def encode(kwire, column, name):
    """Encode the column as the column ``name`` of a batch."""
    table = {"key": column, "value": column, name: column}
    table = {
        role: table[role] if role == name else pyarrow.nulls(len(column))
        for role in table
    }
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    columns.encode_batch(pyarrow.record_batch(table))


def send(kwire, column, name):
    """Prepare the column for a producer, in a table with several chunks."""
    module = importlib.import_module(f"{kwire.__name__}.client.table_batches")
    chunks = pyarrow.chunked_array([column[:0], column, column])
    table = {"value": pyarrow.nulls(len(chunks)), name: chunks}
    roles = {"key": None, "headers": None, "timestamp": None, name: name}
    module.TableColumns(
        pyarrow.table(table), **({"value": "value"} | roles), partition=None
    )


def write_from_spark(kwire, column, name):
    """Write the column in the same way as a Spark task.

    An invalid column raises an error before a broker is contacted.
    """
    module = importlib.import_module(f"{kwire.__name__}.spark.live.writing")
    options = importlib.import_module(f"{kwire.__name__}.spark.live.sink_options")
    table = {"topic": ["t", "u"][: len(column)], name: column}
    columns = options.SinkColumns(
        *(
            list(table).index(field_name) if field_name in table else None
            for field_name in FIELDS
        )
    )
    list(module._split_by_topic(pyarrow.record_batch(table), columns, None))


FIELDS = importlib.import_module("kwire.spark.live.sink_options").SinkColumns._fields


def decode(kwire, column, name):
    """Decode the column with ``messages_to_arrow``."""
    arrow = importlib.import_module(f"{kwire.__name__}.messages.arrow")
    arrow.messages_to_arrow(column, kwire.messages.ApiVersionsRequest, 0)


def hash_keys(kwire, column, name):
    """Compute the partition hashes of the column."""
    partitioners = importlib.import_module(f"{kwire.__name__}.records.partitioners")
    partitioners.murmur2_column(column)


ENTRIES = {
    "encode_batch": encode,
    "send_table": send,
    "Spark": write_from_spark,
    "messages_to_arrow": decode,
    "murmur2_column": hash_keys,
}
OF_TABLES = ("encode_batch", "send_table", "Spark")


@pytest.mark.parametrize("entry", ENTRIES)
def test_invalid_values_are_an_encode_error(kwire, entry):
    """Invalid values in a column raise EncodeError.

    The types are all types that pyarrow casts to bytes.
    """

    def work(note):
        for words, column in COLUMNS.items():
            note(words)
            with pytest.raises(kwire.EncodeError, match="Arrow data") as caught:
                ENTRIES[entry](kwire, column, "value")
            if entry in OF_TABLES:
                assert caught.value.path == "value"

    check(work)


@pytest.mark.parametrize("entry", OF_TABLES)
def test_invalid_headers_are_an_encode_error(kwire, entry):
    """Invalid header lists, header keys and null headers raise EncodeError."""

    def work(note):
        for words, column in LISTS.items():
            note(words)
            with pytest.raises(kwire.EncodeError, match="Arrow data") as caught:
                ENTRIES[entry](kwire, column, "headers")
            assert caught.value.path == "headers"

    check(work)


def rename_column(batch):
    """Return a record batch that has a column name of invalid UTF-8."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    data = sink.getvalue().to_pybytes().replace(b"renamed", b"\xff\xfeename")
    return pyarrow.ipc.open_stream(data).read_next_batch()


@pytest.mark.parametrize("entry", ["encode_batch", "send_table"])
def test_column_names_that_are_not_utf_8_are_an_encode_error(kwire, entry):
    """A column name of invalid UTF-8 raises EncodeError.

    pyarrow raises ``UnicodeDecodeError`` when the name is read.
    """
    batch = rename_column(pyarrow.record_batch({"value": [b"a"], "renamed": [1]}))
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    module = importlib.import_module(f"{kwire.__name__}.client.table_batches")
    with pytest.raises(kwire.EncodeError, match=r"UTF-8 \(got b'\\xff\\xfeename'\)"):
        if entry == "encode_batch":
            columns.encode_batch(batch)
        else:
            prepare(module, batch)


def prepare(module, table, **roles):
    """Prepare a table for a producer."""
    names = {"key": None, "value": "value", "headers": None, "timestamp": None}
    return module.TableColumns(table, **(names | {"partition": None} | roles))


def test_a_cast_with_an_invalid_result_is_an_encode_error(kwire):
    """If a cast of pyarrow returns an invalid array, EncodeError is raised.

    pyarrow 26 casts list views to lists without a last offset. Other versions return a
    correct result, which is accepted.
    """
    module = importlib.import_module(f"{kwire.__name__}.client.table_batches")
    lists = pyarrow.array([[("a", b"b")], [("c", b"d")]], pyarrow.list_view(PAIR))
    table = pyarrow.table({"value": ["a", "b"], "headers": lists})
    try:
        prepared = prepare(module, table, headers="headers")
    except kwire.EncodeError as error:
        assert error.path == "headers"
    else:
        (piece,) = prepared.pieces()
        assert piece["headers"].to_pylist() == lists.to_pylist()


def test_values_that_cannot_be_cast_name_their_column(kwire):
    """A value that cannot be cast raises EncodeError, a wrong type raises TypeError."""
    module = importlib.import_module(f"{kwire.__name__}.client.table_batches")
    times = pyarrow.array([2**63], pyarrow.uint64())
    keys = pyarrow.array([[{"key": b"\xff", "value": b"a"}]])
    table = pyarrow.table({"value": ["a"], "time": times, "list": keys})
    for roles in ({"timestamp": "time"}, {"headers": "list"}, {"partition": "time"}):
        (role, name), *_ = roles.items()
        with pytest.raises(kwire.EncodeError, match=f"{role} cannot be") as caught:
            prepare(module, table, **roles)
        assert caught.value.path == name
    with pytest.raises(TypeError, match="value cannot be column 'list'"):
        prepare(module, table, value="list")
    with pytest.raises(kwire.EncodeError, match="cannot be converted to Arrow"):
        prepare(module, {"value": ["a", "b"], "other": ["a"]})
    twice = pyarrow.Table.from_arrays([times, times], ["value", "value"])
    with pytest.raises(kwire.EncodeError, match="several columns have the name value"):
        prepare(module, twice)


def test_damaged_c_arrays_are_values_or_encode_errors(kwire, figure):
    """Damaged Arrow arrays are decoded, or raise EncodeError, and do not crash.

    Lengths, null counts and offsets are random, and buffers may be missing.
    """
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    rows = 8
    texts = [f"text {n}" for n in range(rows)]
    kinds = [
        pyarrow.string(),
        pyarrow.large_binary(),
        pyarrow.binary_view(),
        pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    ]
    headers = pyarrow.array([[(text, b"v")] for text in texts], HEADERS)
    done = {"value": 0, "error": 0}

    def work(note):
        dice = random.Random(1)
        for _ in range(3000):
            kind = dice.choice(kinds)
            value = make_roomy(pyarrow.array(texts).cast(kind))
            struct_array = pyarrow.StructArray.from_arrays(
                [value, value, make_roomy(headers)], ["key", "value", "headers"]
            )
            changes = []
            for _ in range(dice.randrange(1, 3)):
                field = dice.choice((0, 0, 1, 1, 2, 3))
                changes.append((dice.randrange(16), field, dice.choice(NUMBERS[field])))
            note((str(kind), changes))
            try:
                columns.encode_batch(DamagedArray(struct_array, changes))
            except (kwire.EncodeError, TypeError):
                done["error"] += 1
            else:
                done["value"] += 1
        assert min(done.values()) > 100, done

    check(work)
    figure("P6", "damaged C arrays", 3000, least=3000)
