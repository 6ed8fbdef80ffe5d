# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Results have exactly the type that ``schema`` specifies, without Spark.

Compares the arrays that ``from_kafka_records`` and ``from_kafka_message`` return for a
schema with the values in the complete type.
"""

import importlib

import pyarrow
import pytest

ROW_TIME = 1_700_000_000_123


def load(kwire, name):
    """Import a module of the column functions on one engine."""
    return importlib.import_module(f"{kwire.__name__}.{name}")


def list_of(*fields, nullable=True):
    """Return an array type of structs. Its child has the name that Spark uses."""
    element = pyarrow.struct(list(fields))
    return pyarrow.list_(pyarrow.field("element", element, nullable))


def make_rows(kwire, *more):
    """Return a column with a batch, a null, a damaged batch, and the rows ``more``."""
    data = kwire.records.encode_batch(
        [(b"k", b"v", ROW_TIME, [("h", b"x"), ("i", None)]), (None, None), (b"", b"w")],
        base_offset=7,
    )
    bad = data[:-1] + bytes([data[-1] ^ 1])
    return pyarrow.array([data, None, data + bad + data, *more], pyarrow.binary())


HEADERS = list_of(("VALUE", pyarrow.binary()), ("key", pyarrow.string()))
BIGINT_TIME = list_of(
    ("value", pyarrow.binary()),
    ("offset", pyarrow.int64()),
    ("timestamp", pyarrow.int64()),
    ("timestamp_type", pyarrow.int64()),
    ("headers", HEADERS),
)


def test_records_have_requested_fields_order_names_and_types(kwire):
    """Records have the fields, order, names and types of the schema.

    A timestamp of type bigint is in milliseconds, or -1. A damaged batch is a null
    element.
    """
    column = load(kwire, "records.record_lists").read_records(
        make_rows(kwire), schema=BIGINT_TIME
    )
    column.validate(full=True)
    assert column.type.equals(BIGINT_TIME, check_metadata=True)
    good = [
        {
            "value": b"v",
            "offset": 7,
            "timestamp": ROW_TIME,
            "timestamp_type": 0,
            "headers": [{"VALUE": b"x", "key": "h"}, {"VALUE": None, "key": "i"}],
        },
        {
            "value": None,
            "offset": 8,
            "timestamp": -1,
            "timestamp_type": 0,
            "headers": None,
        },
        {
            "value": b"w",
            "offset": 9,
            "timestamp": -1,
            "timestamp_type": 0,
            "headers": None,
        },
    ]
    assert column.to_pylist() == [good, None, [*good, None, *good]]


@pytest.mark.parametrize(
    "names",
    [
        ["offset"],
        ["timestamp"],
        ["timestampType", "key"],
        ["headers", "value"],
        ["_error"],
        ["_error", "headers", "offset"],
        [],
        ["value", "key", "offset", "headers", "timestampType", "timestamp", "_error"],
    ],
)
def test_any_fields_of_records_equal_those_of_the_whole_type(kwire, names):
    """Any selection of fields has the same values as the complete type."""
    lists = load(kwire, "records.record_lists")
    source = lists.RECORD_LIST.value_type
    schema = list_of(*((name, source.field(name).type) for name in names))
    for rows in (make_rows(kwire), make_rows(kwire)[:2], make_rows(kwire)[1:2]):
        all_records = lists.read_records(rows)
        column = lists.read_records(rows, schema=schema)
        column.validate(full=True)
        assert column.type == schema
        expected = [
            row
            and [
                {name: record[name] for name in names}
                if "_error" in names or record["_error"] is None
                else None
                for record in row
            ]
            for row in all_records.to_pylist()
        ]
        assert column.to_pylist() == expected


def test_exploded_records_have_the_columns_of_the_schema(kwire):
    """Exploded records have the columns of the schema after the columns that are kept.

    Damage is a row of nulls.
    """
    table = pyarrow.record_batch({"id": [1, 2, 3], "sets": make_rows(kwire)})
    schema = pyarrow.struct(
        [("TIMESTAMP", pyarrow.int64()), ("offset", pyarrow.int64())]
    )
    (exploded,) = load(kwire, "records.record_lists").explode_records(
        [table], "sets", ["id"], schema=schema
    )
    assert exploded.schema.names == ["id", "TIMESTAMP", "offset"]
    assert exploded.column("id").to_pylist() == [1] * 3 + [3] * 7
    assert exploded.column("offset").to_pylist() == [7, 8, 9] * 2 + [None] + [7, 8, 9]
    assert exploded.column("TIMESTAMP").to_pylist()[:2] == [ROW_TIME, -1]


def test_failfast_raises_whatever_the_schema_has(kwire):
    """FAILFAST raises the error even if no selected field would show the damage."""
    lists = load(kwire, "records.record_lists")
    with pytest.raises(kwire.CorruptBatch):
        lists.read_records(make_rows(kwire), failfast=True, schema=BIGINT_TIME)
    good = make_rows(kwire)[:1]
    schema = list_of(("_error", pyarrow.string()))
    column = lists.read_records(good, failfast=True, schema=schema)
    assert column.to_pylist() == [[{"_error": None}] * 3]


def test_nulls_that_a_schema_does_not_permit_are_errors(kwire):
    """A null that the schema does not permit raises an error.

    Nulls within a null parent are ignored.
    """
    lists = load(kwire, "records.record_lists")
    good, bad = make_rows(kwire)[:2], make_rows(kwire)[2:]
    offset = pyarrow.field("offset", pyarrow.int64(), nullable=False)
    key = pyarrow.field("key", pyarrow.binary(), nullable=False)
    strict = list_of(offset, nullable=False)
    assert lists.read_records(good, schema=strict).type == strict
    assert lists.read_records(bad, schema=list_of(offset)).to_pylist()[0][3] is None
    value = pyarrow.field("value", pyarrow.binary(), nullable=False)
    for rows, schema, words in (
        (bad, strict, "an element of the result is NOT NULL"),
        (good, list_of(key), "key is NOT NULL"),
        (good, list_of(("headers", list_of(value))), "headers.value is NOT NULL"),
    ):
        with pytest.raises(ValueError, match=words):
            lists.read_records(rows, schema=schema)


def make_messages(kwire):
    """Return Metadata responses in several versions, invalid responses and a null."""
    cls = kwire.messages.MetadataResponse
    topic = cls.MetadataResponseTopic(
        name="orders",
        partitions=[cls.MetadataResponsePartition(partition_index=3, leader_id=1)],
    )
    broker = cls.MetadataResponseBroker(node_id=1, host="b", port=9092)
    message = cls(brokers=[broker], topics=[topic], throttle_time_ms=5)
    versions = [0, 9, 12, 13, 12, 77, 12]
    rows = [
        kwire.messages.framing.encode_response(message, version)[4:]
        for version in versions[:4]
    ]
    rows += [rows[2][:-1], rows[2], None]
    return pyarrow.array(rows, pyarrow.binary()), pyarrow.array(versions)


def test_messages_have_requested_fields_at_every_level(kwire):
    """Messages have the fields of the schema at every level.

    All other fields are omitted, invalid rows are null, and integers may be wider.
    """
    rows, versions = make_messages(kwire)
    partition = [("leader_id", pyarrow.int32()), ("partitionIndex", pyarrow.int64())]
    schema = pyarrow.struct(
        [
            (
                "topics",
                list_of(
                    ("partitions", list_of(*partition)),
                    ("topicId", pyarrow.string()),
                ),
            ),
            ("ThrottleTimeMs", pyarrow.int64()),
        ]
    )
    read = load(kwire, "messages.columns.message_reading").read_messages
    column = read(rows, "MetadataResponse", versions, schema=schema)
    column.validate(full=True)
    assert column.type == schema
    topic = {"partitions": [{"leader_id": 1, "partitionIndex": 3}]}
    message_rows = column.to_pylist()
    assert [row and row["ThrottleTimeMs"] for row in message_rows[:4]] == [
        None,
        5,
        5,
        5,
    ]
    assert [row["topics"] for row in message_rows[:4]] == [
        [topic | {"topicId": uuid}] for uuid in (None, None, "A" * 22, "A" * 22)
    ]
    assert message_rows[4:] == [None] * 3
    with_error = pyarrow.struct([*schema, ("_error", pyarrow.string())])
    texts = read(rows, "MetadataResponse", versions, schema=with_error).to_pylist()
    is_bad = [bool(row and row["_error"]) for row in texts]
    assert is_bad == [False] * 4 + [True] * 2 + [False]


def test_whole_types_of_all_messages_are_found_by_any_spelling(kwire):
    """A field is found if its name differs in case or underscores.

    Two fields of a struct never differ only in these.
    """
    types = load(kwire, "messages.columns.message_types")
    chosen = load(kwire, "messages.columns.chosen_fields")

    def spell(kind, change):
        if pyarrow.types.is_struct(kind):
            return pyarrow.struct(
                [(change(field.name), spell(field.type, change)) for field in kind]
            )
        if pyarrow.types.is_list(kind):
            return types.make_list_type(spell(kind.value_type, change))
        return kind

    for name in kwire.messages.ALL:
        kind = types.with_error(types.message_type(name))
        for change in (str.upper, lambda text: text.replace("_", "").title()):
            assert chosen.narrow_type(kind, spell(kind, change)) == kind


WRONG = [
    (
        list_of(("offsets", pyarrow.int64())),
        "unknown field 'offsets'; did you mean 'offset'? available fields: offset,",
    ),
    (
        list_of(("offset", pyarrow.int32())),
        "offset cannot be int; use bigint; available fields: offset, timestamp,",
    ),
    (
        list_of(("timestamp", pyarrow.string())),
        "timestamp cannot be string; use timestamp or bigint; available",
    ),
    (
        list_of(("headers", list_of(("key", pyarrow.binary())))),
        "headers.key cannot be binary; use string; available fields: key, value",
    ),
    (
        list_of(("headers", list_of(("name", pyarrow.string())))),
        "unknown field 'headers.name'; available fields: key, value",
    ),
    (
        list_of(("headers", pyarrow.string())),
        "headers cannot be string; use array<struct<`key`:string,`value`:binary>>;",
    ),
    (
        list_of(("key", pyarrow.binary()), ("KEY", pyarrow.binary())),
        "'KEY' appears twice; remove one",
    ),
    (pyarrow.int64(), "the result cannot be bigint; use array<struct<"),
]


@pytest.mark.parametrize(("schema", "words"), WRONG)
def test_wrong_schemas_are_errors_that_help(kwire, schema, words):
    """A wrong schema raises an error.

    It contains the field, its valid types, and the available fields.
    """
    lists = load(kwire, "records.record_lists")
    with pytest.raises(ValueError) as caught:
        lists.read_records(make_rows(kwire), schema=schema)
    assert words in str(caught.value)
