# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test which rows can be encoded, and their bytes.

The bytes are compared with the encoder in ``record_bytes.py``. Other programs read them
in other tests. Invalid rows are tested in ``test_refused_rows.py``.
"""

import array
import gzip
import importlib
import inspect
import re
from pathlib import Path

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.record_bytes import batch, message, record, wrapper
from tests.records.record_sets import row_of

MAGICS_AND_CODECS = [
    (magic, codec)
    for magic in (0, 1, 2)
    for codec in ("none", "gzip", "snappy", "lz4", "zstd")
    if magic == 2 or codec != "zstd"
]


def decode_fields(records, data):
    """Decode all batches, and return their rows as one list."""
    return [
        row_of(decoded_record)
        for b in records.decode_batches(data)
        for decoded_record in b.records
    ]


def test_rows_of_every_form_are_accepted(records):
    """Rows may be tuples of two to four elements, lists, or records.

    The bytes may be any bytes-like objects.
    """
    rows = [
        (b"k", b"v"),
        [bytearray(b"k"), memoryview(b"xvx")[1:2]],
        (None, array.array("B", b"v"), None),
        (b"k", b"v", 5),
        (b"k", b"v", numpy.int64(6), ()),
        (b"k", b"v", 7, None),
        (b"k", b"v", 8, [("h", b"1"), ["i", None]]),
        (b"k", b"v", -1, (("h", bytearray(b"1")), ("h", memoryview(b"2")))),
        (b"k", b"v", 9, (pair for pair in [("h", b"")])),
        records.Record(offset=20, timestamp=3, key=b"r", headers=[("h", b"x")]),
        (b"k", b"after a record"),
    ]
    expected = [
        (0, -1, b"k", b"v", ()),
        (1, -1, b"k", b"v", ()),
        (2, -1, None, b"v", ()),
        (3, 5, b"k", b"v", ()),
        (4, 6, b"k", b"v", ()),
        (5, 7, b"k", b"v", ()),
        (6, 8, b"k", b"v", (("h", b"1"), ("i", None))),
        (7, -1, b"k", b"v", (("h", b"1"), ("h", b"2"))),
        (8, 9, b"k", b"v", (("h", b""),)),
        (20, 3, b"r", None, (("h", b"x"),)),
        (21, -1, b"k", b"after a record", ()),
    ]
    assert decode_fields(records, records.encode_batch(row for row in rows)) == expected


def test_every_header_field_has_its_bytes(records):
    """Every header field is encoded at its position."""
    data = records.encode_batch(
        [(b"k", None, 70, [("h", b"x"), ("", None)]), (None, b"", 60)],
        base_offset=1000,
        last_offset=1009,
        producer_id=0x0102030405060708,
        producer_epoch=0x1112,
        base_sequence=0x21222324,
        partition_leader_epoch=0x31323334,
        is_transactional=True,
    )
    assert data == batch(
        record(0, 0, b"k", None, [(b"h", b"x"), (b"", None)]),
        record(1, -10, None, b""),
        base_offset=1000,
        last_delta=9,
        producer_id=0x0102030405060708,
        producer_epoch=0x1112,
        base_sequence=0x21222324,
        leader_epoch=0x31323334,
        attributes=0x10,
        base_timestamp=70,
        max_timestamp=70,
    )


def test_defaults_are_minus_one(records):
    """Timestamps, producer fields and the leader epoch are -1 by default."""
    assert records.encode_batch([(None, None), (None, None)]) == batch(
        record(), record(1), leader_epoch=-1, base_timestamp=-1, max_timestamp=-1
    )


def test_a_delete_horizon_is_the_base_of_the_timestamps(records):
    """With a delete horizon, timestamp deltas are relative to it.

    The timestamps of the records are unchanged.
    """
    data = records.encode_batch(
        [(None, None, 50), (b"k", None, 70)], delete_horizon=900
    )
    assert data == batch(
        record(0, -850),
        record(1, -830, b"k"),
        attributes=0x40,
        base_timestamp=900,
        max_timestamp=70,
        leader_epoch=-1,
    )
    assert [row[1] for row in decode_fields(records, data)] == [50, 70]


def test_log_append_time_is_the_largest_timestamp(records):
    """A log append time is the maximum timestamp of a batch or message."""
    rows = [(None, b"v", 5), (None, b"w", 9)]
    data = records.encode_batch(rows, log_append_time=77)
    (decoded,) = records.decode_batches(data)
    assert (decoded.timestamp_type, decoded.max_timestamp, decoded.base_timestamp) == (
        1,
        77,
        5,
    )
    assert records.encode_batch(rows, magic=1, log_append_time=77) == b"".join(
        message(1, i, None, rows[i][1], 77, 8) for i in range(2)
    )
    packed = records.encode_batch(
        rows, magic=1, log_append_time=77, compression="gzip", base_offset=4
    )
    (decoded,) = records.decode_batches(packed)
    assert (decoded.timestamp_type, decoded.max_timestamp) == (1, 77)
    assert [row[:2] for row in decode_fields(records, packed)] == [(4, 77), (5, 77)]


def test_batch_without_rows_requires_a_last_offset(records):
    """If a batch is empty, it requires a last offset."""
    data = records.encode_batch(
        [],
        base_offset=10,
        last_offset=15,
        producer_id=4,
        producer_epoch=0,
        base_sequence=3,
    )
    assert data == batch(
        base_offset=10,
        last_delta=5,
        base_timestamp=-1,
        max_timestamp=-1,
        producer_id=4,
        producer_epoch=0,
        base_sequence=3,
        leader_epoch=-1,
    )
    data = records.encode_batch([], base_offset=10, last_offset=9)
    assert [decoded.next_offset for decoded in records.decode_batches(data)] == [10]


def test_control_batch_has_an_epoch_and_no_sequence(records):
    """A transaction marker has a producer epoch and the sequence number -1."""
    data = records.encode_batch(
        [(b"\0\0\0\1", b"\0\0\0\0\0\3")],
        is_control=True,
        is_transactional=True,
        producer_id=5,
        producer_epoch=2,
    )
    (decoded,) = records.decode_batches(data)
    assert decoded.control_records[0].type_name == "COMMIT"
    assert (decoded.attributes, decoded.producer_epoch, decoded.base_sequence) == (
        0x30,
        2,
        -1,
    )


@pytest.mark.parametrize("magic", [0, 1])
def test_inner_offsets_depend_on_the_magic(records, magic):
    """Inner offsets are absolute in magic 0, and relative to the wrapper in magic 1."""
    make = records.Record
    rows = [make(offset=o, timestamp=t, value=b"v") for o, t in ((40, 9), (43, 5))]
    data = records.encode_batch(rows, magic=magic, compression="gzip")
    (decoded,) = records.decode_batches(data)
    assert decoded.header.last_offset == 43
    inner = gzip.decompress(data[26 if magic == 0 else 34 :])
    base = 0 if magic == 0 else 40
    stamps = (9, 5) if magic else (0, 0)
    expected = [
        message(magic, o - base, None, b"v", t)
        for o, t in zip((40, 43), stamps, strict=True)
    ]
    assert inner == b"".join(expected)
    rebuilt = wrapper(
        magic, *expected, offset=43, timestamp=9, value=data[26 + 8 * magic :]
    )
    assert data == rebuilt


@pytest.mark.parametrize(("magic", "codec"), MAGICS_AND_CODECS)
def test_every_compression_level_is_passed_on(kwire, records, magic, codec):
    """The compression level changes the bytes, but not the decoded records.

    A level that the codec does not support raises an error.
    """
    rows = [(b"k", bytes(range(64)) * 40 + str(i).encode() * i) for i in range(30)]
    usual = records.encode_batch(rows, magic=magic, compression=codec)
    assert [r[2:4] for r in decode_fields(records, usual)] == rows
    if codec == "none":
        return
    with pytest.raises(kwire.EncodeError) as caught:
        records.encode_batch(rows, magic=magic, compression=codec, compression_level=23)
    assert caught.value.path == "compression_level"
    if codec != "snappy":
        best = records.encode_batch(
            rows, magic=magic, compression=codec, compression_level=9
        )
        assert decode_fields(records, best) == decode_fields(records, usual)
        assert len(best) <= len(usual) + 50


@pytest.mark.parametrize(("magic", "codec"), MAGICS_AND_CODECS)
def test_largest_offsets_are_encoded(records, magic, codec):
    """The maximum offset, 2^63 - 1, is encoded without an overflow."""
    for base in (2**63 - 2, 2**63 - 2**31, 2**63 - 2**31 - 1):
        data = records.encode_batch(
            [(b"k", b"v")] * 2, magic=magic, compression=codec, base_offset=base
        )
        assert [row[0] for row in decode_fields(records, data)] == [base, base + 1]


def test_values_are_released_after_encoding(kwire, records):
    """A bytearray can be resized after the call, whether it succeeds or fails."""
    for last in (b"v", "bad"):
        value, content = bytearray(b"v"), bytearray(b"h")
        rows = [(value, value, 5, [("h", content)]), (b"k", last)]
        try:
            records.encode_batch(rows)
        except kwire.EncodeError as error:
            error_kept = error
            assert error_kept.path == "records[1].value"
        value.append(0)
        content.append(0)


NUMBERS = st.integers(-1, 2**63 - 1) | st.integers(-1, 200)
BYTES = st.none() | st.binary(max_size=20) | st.binary(min_size=60, max_size=70)
HEADERS = st.lists(st.tuples(st.text(max_size=5), BYTES), max_size=3)
ROWS = st.lists(st.tuples(BYTES, BYTES, NUMBERS, HEADERS), min_size=1, max_size=6)
GAPS = st.lists(st.integers(0, 2**30) | st.integers(0, 3), min_size=6, max_size=6)


@given(
    rows=ROWS, gaps=GAPS, base=st.integers(0, 2**62), codec=st.sampled_from(range(5))
)
def test_both_engines_write_the_same_bytes(twins, rows, gaps, base, codec):
    """Both engines encode the same bytes, and decoding them returns the rows."""
    name = ("none", "gzip", "snappy", "lz4", "zstd")[codec]
    for magic in (0, 1, 2):
        if magic < 2 and name == "zstd":
            continue
        encodings = []
        for package in twins:
            module = package.records
            offset, records = base - 1, []
            for row, gap in zip(rows, gaps, strict=False):
                offset += 1 + (gap if magic < 2 else gap % 2**28)
                headers = row[3] if magic == 2 else ()
                records.append(
                    module.Record(
                        offset=offset,
                        timestamp=row[2],
                        key=row[0],
                        value=row[1],
                        headers=headers,
                    )
                )
            options = {"magic": magic, "compression": name, "base_offset": base}
            encodings.append(module.encode_batch(records, **options))
            expected = [row_of(record_given) for record_given in records]
            if magic == 0:
                expected = [(row[0], -1, *row[2:]) for row in expected]
            assert decode_fields(module, encodings[-1]) == expected
        assert encodings[0] == encodings[1]


def test_options_are_the_arguments_of_encode_batch(kwire):
    """``BatchOptions`` and ``encode_batch`` have the same options.

    Names, defaults and declared types are compared.
    """
    options = importlib.import_module(f"{kwire.__name__}.records.options").BatchOptions
    signature = inspect.signature(kwire.records.encode_batch)
    arguments = dict(signature.parameters)
    del arguments["records"]
    assert set(arguments) == set(options._fields)
    defaults = {name: parameter.default for name, parameter in arguments.items()}
    # The default base offset depends on the first row, so it is not constant.
    assert defaults == options()._asdict() | {"base_offset": None}
    stub = (
        Path(inspect.getfile(kwire)).parent / "_engine" / "record_types.pyi"
    ).read_text()
    body = stub.partition("class BatchArguments")[2].partition("\n\n#")[0]
    typed = dict(re.findall(r"^    (\w+): (.+)$", body, re.MULTILINE))
    assert typed == {
        name: parameter.annotation for name, parameter in arguments.items()
    }


def test_columns_take_no_other_options(kwire):
    """An unknown option of the column encoder raises an error."""
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    table = columns.decode_records(kwire.records.encode_batch([(b"k", b"v")]))
    with pytest.raises(TypeError, match="codec"):
        columns.encode_batch(table, codec="gzip")
