# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record set columns equal ``records.decode_batches``.

Tests the arrays of ``from_kafka_records`` and ``read_records`` without Spark: all
formats and codecs, rows that are truncated as by brokers, and damage that must not
affect valid records.
"""

import importlib
import random

import pyarrow
import pytest


def room(kwire):
    """Import the module of the record functions on one engine."""
    return importlib.import_module(f"{kwire.__name__}.records.record_lists")


def binary(rows):
    return pyarrow.array(rows, pyarrow.binary())


def batch(kwire, count, start=0, **options):
    """Encode a batch of ``count`` different records."""
    rows = [
        (b"k%d" % i if i % 3 else None, b"v" * i, 1_700_000_000_000 + i)
        for i in range(start, start + count)
    ]
    return kwire.records.encode_batch(rows, base_offset=start, **options)


def facts(column):
    """Return (offset, key, value, error) of the records, as one list per row."""
    return [
        row
        and [
            (record["offset"], record["key"], record["value"], record["_error"])
            for record in row
        ]
        for row in column.to_pylist()
    ]


def expected_facts(kwire, data):
    """Return the expected content of a row in the form that ``facts`` returns."""
    return [
        (record.offset, record.key, record.value, None)
        for decoded_batch in kwire.records.decode_batches(data)
        for record in decoded_batch.records
    ]


FORMATS = [(0, "none"), (0, "gzip"), (1, "none"), (1, "lz4"), (2, "none"), (2, "zstd")]


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_rows_hold_their_records(kwire, magic, codec):
    """Every row contains the records of its batches.

    A row has several batches, one or none, and may end within a batch.
    """
    make = room(kwire).read_records
    sets = [
        b"".join(
            batch(kwire, 3, 3 * turn, magic=magic, compression=codec)
            for turn in range(size)
        )
        for size in (1, 0, 3, 2)
    ]
    for rows in (sets, [*sets, sets[0] + sets[2][:-1], sets[0][:11]]):
        column = make(binary([*rows, None]))
        column.validate(full=True)
        assert facts(column) == [*(expected_facts(kwire, row) for row in rows), None]
        all_rows = binary([sets[0], *rows, None, sets[0]])
        assert make(all_rows.slice(1, len(rows) + 1)).equals(column)


def test_record_columns_equal_those_of_sparks_own_source(kwire):
    """The record fields have the names and types of Spark's own source.

    Headers keep their order.
    """
    data = kwire.records.encode_batch(
        [(b"k", None, 1_700_000_000_123, [("b", b"1"), ("a", None)])], base_offset=7
    )
    column = room(kwire).read_records(binary([data]), failfast=True)
    (record,) = column.values.to_pylist()
    assert record.pop("timestamp").timestamp() == 1_700_000_000.123
    assert record == {
        "offset": 7,
        "timestampType": 0,
        "key": b"k",
        "value": None,
        "headers": [{"key": "b", "value": b"1"}, {"key": "a", "value": None}],
    }


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_record_without_a_timestamp_has_null(kwire, magic):
    """A record without a timestamp has null.

    Spark's own source shows such a timestamp as one millisecond before 1970.
    """
    times = [-1, 5] if magic else [-1, -1]
    data = kwire.records.encode_batch([(b"a", b"1", t) for t in times], magic=magic)
    column = room(kwire).read_records(binary([data, data[:-1] + b"?", data]))
    timestamps = column.values.field("timestamp").cast("int64").to_pylist()
    micros = [None if t == -1 else 1000 * t for t in times]
    assert timestamps[:2] == timestamps[-2:] == micros


def test_a_record_without_headers_has_null_as_in_sparks_own_source(kwire):
    """A record without headers has null, as in Spark's own source.

    This also applies if a row has several batches or damaged batches.
    """
    headers = [("h", b"1")]
    rows = [(b"a", b"1"), (b"b", b"2", 5, headers), (b"c", None, 5, [])]
    data = kwire.records.encode_batch(rows)
    bad = data[:-1] + b"?"
    column = room(kwire).read_records(binary([data, data + bad + data, None]))
    row_headers = [record["headers"] for record in column.values.to_pylist()]
    three = [None, [{"key": "h", "value": b"1"}], None]
    assert row_headers == [*three, *three, None, *three]
    # The plain form has the count of the encoded bytes, which may be 0.
    plain = kwire.records.arrow.records_to_arrow(data)["headers"]
    assert plain.null_count == 0 and plain.to_pylist()[0] == []


def test_damage_costs_its_batch_alone(kwire):
    """Damage in a batch loses no record of another batch.

    Random bytes of random batches are changed.
    """
    make = room(kwire).read_records
    dice = random.Random(7)
    hurt = 0
    for _ in range(40):
        batches = [batch(kwire, 4, 4 * turn) for turn in range(dice.randint(1, 5))]
        bad = {turn for turn in range(len(batches)) if dice.random() < 0.4}
        hurt += len(bad)
        for turn in bad:
            # Skip base offset and size, because damage there hides the next batch.
            position = dice.randrange(21, len(batches[turn]))
            changed = bytearray(batches[turn])
            changed[position] ^= 1 << dice.randrange(8)
            batches[turn] = bytes(changed)
        good = batch(kwire, 2)
        row_facts = facts(make(binary([good, b"".join(batches), good])))
        assert row_facts[0] == row_facts[2] == expected_facts(kwire, good)
        expected = [
            fact
            for turn, data in enumerate(batches)
            for fact in ([None] if turn in bad else expected_facts(kwire, data))
        ]
        good_facts = [
            None if text else (o, k, v, text) for o, k, v, text in row_facts[1]
        ]
        assert good_facts == expected
    assert hurt > 20


def test_errors_point_into_their_row(kwire):
    """The error position is relative to the start of its row.

    In FAILFAST mode, the error of kwire is raised.
    """
    rooms = room(kwire)
    good, bad = batch(kwire, 2), bytearray(batch(kwire, 2))
    bad[-1] ^= 1
    rows = binary([good, good + bytes(bad) + good + bytes(bad)])
    texts = [fact[3] for fact in facts(rooms.read_records(rows))[1] if fact[3]]
    places = len(good), 3 * len(good)
    assert [text.split(":")[0] for text in texts] == [
        f"byte {position}" for position in places
    ]
    with pytest.raises(kwire.CorruptBatch) as caught:
        rooms.read_records(rows, failfast=True)
    assert str(caught.value) == texts[0]


def test_row_ends_at_bytes_that_are_not_batches(kwire):
    """A row that ends with other bytes than batches has exactly one error."""
    rows = [bytes(100_000), b"\xff" * 1000, b"GET / HTTP/1.1\r\n\r\n" * 9]
    row_facts = facts(room(kwire).read_records(binary([*rows, batch(kwire, 1)])))
    assert [[fact[:3] for fact in row] for row in row_facts[:3]] == [[(None,) * 3]] * 3
    assert all(row[0][3].startswith("byte 0: ") for row in row_facts[:3])
    assert row_facts[3] == expected_facts(kwire, batch(kwire, 1))


def test_header_keys_that_are_not_utf_8(kwire):
    """A header key of invalid UTF-8 is an error, unless the option replaces it."""
    make = room(kwire).read_records
    data = kwire.records.encode_batch([(b"k", b"v", 1, [("\u00e4", b"x")])])
    raw = bytearray(data.replace("\u00e4".encode(), b"\xff\xff"))
    crc = importlib.import_module("crc32c").crc32c(bytes(raw[21:]))
    raw[17:21] = crc.to_bytes(4, "big")
    rows = binary([bytes(raw)])
    assert "not UTF-8" in facts(make(rows))[0][0][3]
    (record,) = make(rows, errors="replace", failfast=True).values.to_pylist()
    assert record["headers"] == [{"key": "\ufffd\ufffd", "value": b"x"}]


def test_explode_gives_a_row_for_each_record(kwire):
    """``explode`` returns one row per record, with the columns that are kept.

    Batches have a few MiB, and rows without records are omitted.
    """
    rooms = room(kwire)
    sets = [batch(kwire, 2), None, b"", batch(kwire, 3), batch(kwire, 1)[:-1] + b"\xff"]
    table = pyarrow.record_batch(
        {"id": range(5), "sets": binary(sets), "more": ["x"] * 5}
    )
    (exploded,) = rooms.explode_records([table], "sets", ["id"])
    assert exploded.schema.names == ["id", *(f.name for f in rooms.RECORD), "_error"]
    assert exploded.column("id").to_pylist() == [0, 0, 3, 3, 3, 4]
    assert exploded.column("offset").to_pylist() == [0, 1, 0, 1, 2, None]
    assert exploded.column("_error").null_count == 5
    (again,) = rooms.explode_records([table.slice(3, 1)], "sets", ["id"])
    assert again.column("id").to_pylist() == [3, 3, 3]
    large = batch(kwire, 1500)
    table = pyarrow.record_batch({"sets": binary([large] * 9)})
    parts = list(rooms.explode_records([table], "sets", failfast=True))
    assert sum(map(len, parts)) == 9 * 1500
    assert len(parts) == -(-9 // max(1, (4 << 20) // len(large)))
