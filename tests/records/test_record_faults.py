# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test every error within a magic 2 batch.

Error class, offset and path are verified. In compressed records, the offset is the
batch position, because their bytes are not part of the input. Objects and columns raise
the same error.
"""

import gzip

import pytest

from tests.harness.sweeps import sweep
from tests.records.record_bytes import (
    batch,
    compressed_batch,
    framed,
    message,
    raw_varint,
    record,
    repaired,
    sized,
    varint,
)
from tests.records.record_sets import SETS

GOOD = record(key=b"k", value=b"v" * 20)
HEAD = b"\0\0\2"
"""Encoded attributes, timestamp delta and offset delta of the second record."""
LONG = b"\x80\x80\x80\x80\x80\x01"
LONGER = b"\x80" * 10 + b"\1"

FAULTS = {
    # (bytes of the record, offset of the error in them, error class, path, text in the
    # message). The offset -1 is the end of the bytes.
    "a length that is negative": (b"\1", 0, "InvalidLength", "", "-1 is not"),
    "a length over the rest": (varint(99), -1, "Truncated", "", "still needed: 99"),
    "a length without an end": (b"\x80\x80", -1, "Truncated", "", "needed: 1"),
    "a length of six bytes": (LONG, 0, "InvalidVarint", "", "32 bits"),
    "a length over 32 bits": (
        b"\xff\xff\xff\xff\x10" + bytes(20),
        0,
        "InvalidVarint",
        "",
        "32 bits",
    ),
    "no byte at all": (framed(b""), -1, "Truncated", "", "still needed: 1"),
    "no timestamp": (framed(b"\0"), -1, "Truncated", "", "still needed: 1"),
    "a timestamp of eleven bytes": (
        framed(b"\0" + LONGER + b"\2\1\1\0"),
        2,
        "InvalidVarint",
        "",
        "64 bits",
    ),
    "a timestamp over 64 bits": (
        framed(b"\0" + b"\xff" * 9 + b"\2" + b"\2\1\1\0"),
        2,
        "InvalidVarint",
        "",
        "64 bits",
    ),
    "an offset of six bytes": (
        framed(b"\0\0" + LONG + b"\1\1\0"),
        3,
        "InvalidVarint",
        "",
        "32 bits",
    ),
    "a key that is too long": (
        framed(HEAD + varint(9) + b"k\1\0"),
        -1,
        "Truncated",
        "key",
        "still needed: 6",
    ),
    "a key of length -2": (
        framed(HEAD + b"\3\1\0"),
        4,
        "InvalidLength",
        "key",
        "-2 is not a valid length",
    ),
    "a key of length -2^31": (
        framed(HEAD + b"\xff\xff\xff\xff\x0f" + b"\1\0"),
        4,
        "InvalidLength",
        "key",
        "-2147483648 is not",
    ),
    "a key of the largest length": (
        framed(HEAD + b"\xfe\xff\xff\xff\x0f" + b"\1\0"),
        -1,
        "Truncated",
        "key",
        "still needed: 2147483645",
    ),
    "a key length of six bytes": (
        framed(HEAD + LONG + b"\1\0"),
        4,
        "InvalidVarint",
        "key",
        "32 bits",
    ),
    "a key length of six empty bytes": (
        framed(HEAD + b"\x80\x80\x80\x80\x80\0" + b"\1\0"),
        4,
        "InvalidVarint",
        "key",
        "32 bits",
    ),
    "no key": (framed(HEAD), -1, "Truncated", "key", "still needed: 1"),
    "a value that is too long": (
        framed(HEAD + b"\1" + varint(3) + b"v\0"),
        -1,
        "Truncated",
        "value",
        "still needed: 1",
    ),
    "a value of length -2": (
        framed(HEAD + b"\1\3\0"),
        5,
        "InvalidLength",
        "value",
        "-2 is not a valid length",
    ),
    "no value": (framed(HEAD + b"\1"), -1, "Truncated", "value", "still needed: 1"),
    "no headers": (framed(HEAD + b"\1\1"), -1, "Truncated", "headers", "needed: 1"),
    "a negative count of headers": (
        framed(HEAD + b"\1\1\1"),
        6,
        "InvalidLength",
        "headers",
        "a count of -1",
    ),
    "more headers than bytes": (
        framed(HEAD + b"\1\1\4\2h\1"),
        6,
        "InvalidLength",
        "headers",
        "a count of 2 cannot fit",
    ),
    "the most headers": (
        framed(HEAD + b"\1\1\xfe\xff\xff\xff\x0f"),
        6,
        "InvalidLength",
        "headers",
        "a count of 2147483647",
    ),
    "fewer headers than bytes": (
        framed(HEAD + b"\1\1\2\2h\1\2i\1"),
        10,
        "TrailingBytes",
        "",
        "left over: 3",
    ),
    "a header without a key": (
        framed(HEAD + b"\1\1\2\1\1"),
        7,
        "InvalidValue",
        "headers[0].key",
        "null",
    ),
    "a header key of length -2": (
        framed(HEAD + b"\1\1\2\3\1"),
        7,
        "InvalidLength",
        "headers[0].key",
        "-2 is not",
    ),
    "a header key that is too long": (
        framed(HEAD + b"\1\1\4\0\1\x08ab"),
        -1,
        "Truncated",
        "headers[1].key",
        "needed: 2",
    ),
    "a header key that is not UTF-8": (
        framed(HEAD + b"\1\1\4\0\1" + sized(b"ab\xc3(") + b"\1"),
        12,
        "InvalidValue",
        "headers[1].key",
        "not UTF-8",
    ),
    "a header key with a surrogate": (
        framed(HEAD + b"\1\1\2" + sized(b"\xed\xa0\x80") + b"\1"),
        8,
        "InvalidValue",
        "headers[0].key",
        "not UTF-8",
    ),
    "a header value of length -2": (
        framed(HEAD + b"\1\1\2\2h\3"),
        9,
        "InvalidLength",
        "headers[0].value",
        "-2 is not",
    ),
    "a header without a value": (
        framed(HEAD + b"\1\1\2\2h"),
        -1,
        "Truncated",
        "headers[0].value",
        "needed: 1",
    ),
    "a byte too many": (framed(HEAD + b"\1\1\0x"), 7, "TrailingBytes", "", "over: 1"),
}


def failure(kwire, call, kind):
    """Assert that a call raises the error class ``kind`` and no subclass.

    Return the error.
    """
    with pytest.raises(kwire.errors.DecodeError) as caught:
        call()
    assert type(caught.value).__name__ == kind
    return caught.value


def readers(records, columns, data, **options):
    """Return calls without arguments, one per function that decodes records."""
    return (
        lambda: list(records.decode_batches(data, **options)),
        lambda: columns.decode_records(data, **options),
        lambda: columns.decode_records(data, headers=False, batch_columns=True),
        lambda: columns.decode_records(data, aborted_transactions=[], **options),
    )


def readers_of_parts(records, columns, data):
    """Return calls that decode a range of offsets, but validate all records."""
    return (
        lambda: list(records.decode_batches(data, start_offset=1)),
        lambda: columns.decode_records(data, start_offset=1, timestamp_unit="us"),
        lambda: columns.decode_records(data, end_offset=1),
        lambda: columns.decode_records(data, end_offset=1, headers=False),
    )


@sweep("name", FAULTS)
def test_faults_of_records_are_named(kwire, records, columns, name):
    """An error in a record has the path ``records[1]`` and the position of the byte.

    The record is the second one in its batch, and a message precedes the batch.
    """
    content, position, kind, path, words = FAULTS[name]
    front = message(1, 0, b"first")
    # The damaged record is the last one. Otherwise, its missing bytes would be read
    # from the next record.
    data = front + batch(GOOD, content, last_delta=1)
    position = len(data) if position < 0 else len(front) + 61 + len(GOOD) + position
    expected = "records[1]" + (f".{path}" if path else "")
    calls = readers(records, columns, data)
    for read in (*calls, *readers_of_parts(records, columns, data)):
        error = failure(kwire, read, kind)
        assert (error.offset, error.path) == (position, expected)
        assert words in error.reason


@sweep("name", FAULTS)
def test_faults_of_compressed_records_are_those_of_their_batch(
    kwire, records, columns, name
):
    """In a compressed batch, errors have the same class and path.

    The position is that of the batch, because decompressed bytes have no position.
    """
    content, _, kind, path, words = FAULTS[name]
    data = batch(GOOD) + compressed_batch(GOOD, content)
    expected = "records[1]" + (f".{path}" if path else "")
    for read in readers(records, columns, data):
        error = failure(kwire, read, kind)
        assert (error.offset, error.path) == (len(batch(GOOD)), expected)
        assert words in error.reason


@sweep("name", [n for n, f in FAULTS.items() if f[1] != -1])
def test_following_bytes_do_not_change_the_fault(kwire, records, columns, name):
    """An error within a record does not depend on the following bytes."""
    content, position, kind, _, words = FAULTS[name]
    data = batch(GOOD, content, bytes(40), count=3)
    for read in readers(records, columns, data):
        error = failure(kwire, read, kind)
        assert error.offset == 61 + len(GOOD) + position
        assert words in error.reason


def test_a_record_does_not_reach_into_the_next(kwire, records, columns):
    """A field that exceeds the length of its record is an error.

    The following bytes belong to the next record.
    """
    data = batch(framed(HEAD + varint(9) + b"k\1\0"), GOOD, GOOD)
    end = 61 + 1 + len(HEAD + varint(9) + b"k\1\0")
    for read in readers(records, columns, data):
        error = failure(kwire, read, "Truncated")
        assert (error.offset, error.path) == (end, "records[0].key")


@pytest.mark.parametrize("excess", [b"\0", GOOD, bytes(100)])
def test_bytes_after_the_last_record_are_damage(kwire, records, columns, excess):
    """Bytes after the last record are damage, as in Kafka.

    This applies to uncompressed and to decompressed records.
    """
    plain = batch(GOOD, excess, count=1)
    packed = compressed_batch(GOOD, excess, count=1)
    for data, position in ((plain, 61 + len(GOOD)), (packed, 0)):
        for read in readers(records, columns, data):
            error = failure(kwire, read, "TrailingBytes")
            assert (error.offset, error.path) == (position, "")
            assert f"left over: {len(excess)}" in error.reason


def test_too_few_records_are_damage(kwire, records, columns):
    """If a batch has fewer records than its header declares, Truncated is raised."""
    data = batch(record(value=bytes(90)), count=9)
    for read in readers(records, columns, data):
        error = failure(kwire, read, "Truncated")
        assert (error.offset, error.path) == (len(data), "records[1]")
    data = compressed_batch(record(value=bytes(90)), count=9)
    for read in readers(records, columns, data):
        error = failure(kwire, read, "Truncated")
        assert (error.offset, error.path) == (0, "records[1]")


@pytest.mark.parametrize("count", [5, 1000, 2**31 - 1])
def test_record_count_above_the_decompressed_size_is_damage(
    kwire, records, columns, count
):
    """A record count that exceeds the decompressed size raises an error.

    No record is decoded before.
    """
    data = batch(GOOD) + compressed_batch(GOOD, count=count)
    for read in readers(records, columns, data):
        error = failure(kwire, read, "CorruptBatch")
        assert (error.offset, error.path) == (len(batch(GOOD)), "")
        assert f"{count} records cannot fit" in error.reason


def test_an_emptied_batch_has_no_bytes_either(kwire, records, columns):
    """If a batch declares no records, but contains bytes, CorruptBatch is raised."""
    data = batch(b"\0", count=0, last_delta=5)
    for read in readers(records, columns, data):
        assert failure(kwire, read, "TrailingBytes").offset == 61
    data = compressed_batch(count=0, last_delta=5)
    assert [decoded.records for decoded in records.decode_batches(data)] == [()]
    assert len(columns.decode_records(data)) == 0


@pytest.mark.parametrize("errors", ["strict", "replace"])
def test_header_keys_that_are_not_utf8_are_rejected_or_replaced(
    kwire, records, columns, errors
):
    """A header key of invalid UTF-8 raises an error.

    With ``errors="replace"``, the invalid bytes become U+FFFD.
    """
    keys = [
        b"ok",
        b"\xff",
        b"a\xc3(b\xe2\x82",
        b"\xed\xa0\x80",
        b"\xf8\x88\x80\x80\x80",
    ]
    for write in (batch, compressed_batch):
        data = write(*(record(i, headers=[(key, b"v")]) for i, key in enumerate(keys)))
        calls = readers(records, columns, data, errors=errors)
        if errors == "strict":
            for read in calls:
                assert failure(kwire, read, "InvalidValue").reason == "not UTF-8"
            continue
        texts = [key.decode(errors="replace") for key in keys]
        (decoded,) = calls[0]()
        assert [decoded_record.headers for decoded_record in decoded.records] == [
            ((t, b"v"),) for t in texts
        ]
        table = calls[1]()
        names = [table.headers.key[row] for row in range(len(keys))]
        assert names == [text.encode() for text in texts]
        assert table.headers.offsets.tolist() == list(range(len(keys) + 1))


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_damaged_compression_is_damage_of_the_batch(kwire, records, columns, codec):
    """If decompression fails, CorruptBatch is raised at the position of the batch."""
    valid = SETS[f"magic 2 {codec}"]
    for cut in (61, 62, 70, len(valid) - 1):
        damaged = repaired(valid[:8] + (cut - 12).to_bytes(4, "big") + valid[12:cut])
        for read in readers(records, columns, valid + damaged):
            error = failure(kwire, read, "CorruptBatch")
            assert (error.offset, error.path) == (len(valid), "")
            assert codec in error.reason or "records cannot fit" in error.reason


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_limits_hold_for_each_batch(kwire, records, columns, magic):
    """A batch that exceeds the limit of bytes or records raises LimitExceeded.

    The error names the option.
    """
    data = records.encode_batch(
        [(None, bytes(5000))] * 3, magic=magic, compression="gzip"
    )
    first = batch(GOOD)
    for limits, words in (
        (kwire.Limits(decompressed_bytes=4000), "decompressed_bytes"),
        (kwire.Limits(decompressed_ratio=10), "decompressed_ratio"),
        (kwire.Limits(records=2), "3 records are over the limit"),
    ):
        for read in (
            lambda limits=limits: list(
                records.decode_batches(first + data, limits=limits)
            ),
            lambda limits=limits: columns.decode_records(first + data, limits=limits),
        ):
            error = failure(kwire, read, "LimitExceeded")
            assert (error.offset, error.path) == (len(first), "")
            assert words in error.reason
    enough = kwire.Limits(records=3, decompressed_bytes=15200)
    assert len(columns.decode_records(first + data, limits=enough)) == 4


def test_batches_of_the_helper_functions_are_valid(records):
    """The helper functions in ``record_bytes.py`` encode valid batches.

    Otherwise, the other tests would not reach the tested error.
    """
    (decoded,) = records.decode_batches(compressed_batch(GOOD))
    assert (decoded.compression, decoded.records[0].value) == ("gzip", b"v" * 20)
    assert gzip.decompress(compressed_batch(GOOD)[61:]) == GOOD
    assert raw_varint(300) == b"\xac\2" and varint(-150) == raw_varint(299)
