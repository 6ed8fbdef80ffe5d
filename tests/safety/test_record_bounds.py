# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests both sides of all bounds in the record readers, as in ``test_bounds.py``.

Objects and columns have separate readers, so both are tested.
"""

import contextlib
import gzip
import importlib
from functools import partial

import pytest

from tests.harness.guard_pages import Guarded, check
from tests.harness.traced import peak_of
from tests.records.record_bytes import (
    batch,
    framed,
    message,
    record,
    repaired,
    varint,
    wrapper,
)

LEAST = record()
"""Encoded record of the minimum size, which is 7 bytes."""


def fails(kwire, call, offset=0):
    """Assert that a call raises a DecodeError at ``offset``. Return the class name."""
    with pytest.raises(kwire.DecodeError) as caught:
        call()
    assert caught.value.offset == offset
    return type(caught.value).__name__


def columns_of(kwire):
    """Import one engine's ``columns`` module."""
    return importlib.import_module(f"{kwire.__name__}.records.columns")


def offsets(kwire, data, **options):
    """Decode the offsets as objects and as columns, which must agree. Return them."""
    options = {"check_crc": False} | options
    rows = kwire.records.decode_batches(data, **options)
    decoded_offsets = [
        decoded_record.offset
        for decoded_batch in rows
        for decoded_record in decoded_batch.records
    ]
    table = columns_of(kwire).decode_records(data, **options)
    assert table.offset.tolist() == decoded_offsets
    return decoded_offsets


def test_header_is_within_the_readable_range(kwire):
    """Bytes after ``end`` are not read, even if they exist and are invalid."""
    read = partial(kwire.records.read_batch_header, check_crc=False)
    # If all bytes of the size field are available, a size below the minimum is an
    # error.
    short = bytes(8) + (13).to_bytes(4, "big") + bytes(20)
    assert read(short, end=11) is None
    assert fails(kwire, partial(read, short, end=12)) == "CorruptBatch"
    # If the byte at position 16 is available, an unknown magic is an error.
    strange = bytes(8) + (14).to_bytes(4, "big") + bytes(4) + b"\3" + bytes(20)
    assert read(strange, end=16) is None
    assert fails(kwire, partial(read, strange, end=17)) == "CorruptBatch"


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_header_has_a_minimum_size(kwire, magic):
    """A size below the minimum raises an error.

    The minimum for magic 0, 1 and 2 is 14, 22 and 49 bytes after the size field.
    """
    read = partial(kwire.records.read_batch_header, check_crc=False)
    least = (14, 22, 49)[magic]
    for spare in (0, 1):
        size = (least + spare).to_bytes(4, "big")
        data = bytes(8) + size + bytes(4) + bytes([magic]) + bytes(60)
        end = 12 + least + spare
        assert read(data, end=end).size == end
        assert read(data, end=end - 1) is None
    size = (least - 1).to_bytes(4, "big")
    data = bytes(8) + size + bytes(4) + bytes([magic]) + bytes(60)
    assert fails(kwire, partial(read, data)) == "CorruptBatch"


def test_header_is_within_the_input(kwire):
    """A position or end outside the input is rejected."""
    data = batch(LEAST) + batch(LEAST, base_offset=1)
    read = kwire.records.read_batch_header
    half = len(data) // 2
    assert read(data, 0, end=len(data)).base_offset == 0
    assert read(data, half).base_offset == 1
    assert read(data, len(data)) is None
    assert read(data, half, end=half) is None
    for position, end in (
        (-1, None),
        (0, len(data) + 1),
        (5, 4),
        (len(data) + 1, None),
    ):
        with pytest.raises(ValueError, match=r"^(position|end) must be "):
            read(data, position, end=end)
    run = partial(kwire.records.measure_run, last_start=2**40, most_bytes=2**40)
    assert run(data, 0, len(data), expected=0) == (len(data), 2)
    assert run(data, half, half, expected=1) == (half, 1)
    for position, end in ((-1, 5), (0, len(data) + 1), (5, 4)):
        with pytest.raises(ValueError, match=r"^(position|end) must be "):
            run(data, position, end, expected=0)


def test_a_run_has_no_batch_that_ends_before_it_begins(kwire):
    """A run ends before a batch whose last offset is below its first offset.

    Such a batch would not advance a reader.
    """
    run = partial(kwire.records.measure_run, last_start=2**40, most_bytes=2**40)
    assert run(batch(LEAST, base_offset=5), 0, 68, expected=5) == (68, 6)
    for delta in (-1, -2):
        data = batch(LEAST, base_offset=5, last_delta=delta)
        assert run(data, 0, len(data), expected=5) == (0, 5)


@pytest.mark.parametrize("extra", [0, 1, 2, 6])
def test_a_batch_has_no_more_records_than_bytes_for_them(kwire, extra):
    """A record count that requires more bytes than the batch has is rejected.

    A record has at least 7 bytes, so the header alone shows the error.
    """
    read = kwire.records.read_batch_header
    data = batch(LEAST, LEAST, bytes(extra))
    for count in (0, 2):
        assert (
            read(batch(LEAST, LEAST, bytes(extra), count=count)).record_count == count
        )
    for count in (-1, 3):
        data = batch(LEAST, LEAST, bytes(extra), count=count)
        assert fails(kwire, partial(read, data)) == "CorruptBatch"
    if not extra:
        assert offsets(kwire, batch(LEAST, LEAST)) == [0, 0]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_unknown_codec_number_is_rejected(kwire, magic):
    """A codec number above 4 in magic 2, or above 3 in magic 0 and 1, is rejected."""
    read = kwire.records.read_batch_header
    most = 4 if magic == 2 else 3

    def make(codec):
        if magic == 2:
            return batch(b"x", count=1, attributes=codec)
        return message(magic, value=b"x", attributes=codec)

    for codec in range(most + 1):
        if codec:
            assert read(make(codec)).attributes == codec
    for codec in range(most + 1, 8):
        assert fails(kwire, partial(read, make(codec))) == "CorruptBatch"


def sized_record(spare, **fields):
    """Encode a record whose size field is ``spare`` bytes too high."""
    body = record(**fields)[1:]
    return framed(body, size=len(body) + spare)


@pytest.mark.parametrize("spare", [-7, -6, -1, 1, 2])
def test_record_size_is_verified(kwire, spare):
    """A record whose size field is wrong raises an error, whatever follows it."""
    for behind in (b"", LEAST, LEAST * 2):
        data = batch(sized_record(spare), behind, count=1 + len(behind) // 7)
        for read in (
            partial(offsets, kwire),
            lambda data: columns_of(kwire).decode_records(data),
        ):
            with pytest.raises(kwire.DecodeError):
                read(data)


PARTS = {
    "key": lambda size: b"\0\0\0" + varint(size) + b"\1\0",
    "value": lambda size: b"\0\0\0\1" + varint(size) + b"\0",
    "header key": lambda size: b"\0\0\0\1\1\2" + varint(size) + b"\1",
    "header value": lambda size: b"\0\0\0\1\1\2\0" + varint(size),
    "headers": lambda size: b"\0\0\0\1\1" + varint(size),
}


@pytest.mark.parametrize("part", PARTS)
def test_lengths_in_a_record_are_limited_by_its_size(kwire, part):
    """The length of a key or value may reach, but not exceed, the end of its record."""
    for size in (-2, 1, 2, 3, 2**31 - 1):
        data = batch(framed(PARTS[part](size)), LEAST, LEAST)
        with pytest.raises(kwire.DecodeError):
            offsets(kwire, data)
        with pytest.raises(kwire.DecodeError):
            columns_of(kwire).decode_records(data)
    if part != "headers":
        assert offsets(kwire, batch(framed(PARTS[part](0)))) == [0]


def test_header_count_is_limited_by_the_remaining_bytes(kwire):
    """A header count must not exceed the remaining bytes of its record."""
    for count in (1, 2, 15, 16, 17, 33):
        body = b"\0\0\0\1\1" + varint(count) + b"\0\1" * count
        assert offsets(kwire, batch(framed(body))) == [0]
        for wrong in (count - 1, count + 1):
            body = b"\0\0\0\1\1" + varint(wrong) + b"\0\1" * count
            with pytest.raises(kwire.DecodeError):
                columns_of(kwire).decode_records(batch(framed(body)))


def test_a_varint_may_end_where_its_record_ends(kwire):
    """A header count may be the last bytes of a record, even in a longer encoding."""
    for longer in range(5):
        count = b"\x80" * longer + b"\0"
        assert offsets(kwire, batch(framed(b"\0\0\0\1\1" + count))) == [0]


def test_the_last_byte_of_a_varint_is_of_any_value(kwire):
    """The last byte of a varint may have any value up to 127.

    A fifth byte of a varint has only 4 bits, and a tenth byte of a varlong only 1 bit.
    """
    for shift in range(0, 63, 7):
        raw = 0x7F << shift
        delta = raw >> 1 ^ -(raw & 1)
        data = batch(record(timestamp=delta))
        assert offsets(kwire, data) == [0]
        (decoded_record,) = next(iter(kwire.records.decode_batches(data))).records
        assert decoded_record.timestamp == delta
    for body in (
        b"\0\0\0\1\1" + b"\x80" * 4 + b"\x10",
        b"\0" + b"\x80" * 9 + b"\2" + b"\0\1\1\0",
    ):
        with pytest.raises(kwire.DecodeError):
            columns_of(kwire).decode_records(batch(framed(body)))


def test_no_byte_after_the_last_record_is_read(twins):
    """No byte after the last record is read.

    The input ends at an inaccessible page. The last record is truncated or has a wrong
    size.
    """
    decode, guarded = columns_of(twins.fast).decode_records, Guarded()
    last = [b"\0", *(sized_record(spare, value=b"v" * 9) for spare in (-1, 0, 1, 2))]
    sample_record = record(value=b"v" * 9, headers=[(b"h", b"w")] * 2)
    last += [framed(sample_record[1:cut]) for cut in range(1, len(sample_record))]
    for size in (0, 1, 2, 3, 5, 64, 2**31 - 1):
        last += [framed(make(size)) for make in PARTS.values()]
        last += [framed(b"\0\0\0\1\1\2" + varint(size) + b"k" * 3 + b"\1")]
    # Test truncated header counts.
    last += [framed(b"\0\0\0\1\1" + b"\x80" * length) for length in range(1, 5)]

    def work(note):
        for last_record in last:
            for first in (record(value=b"v" * 60), record(value=b"v" * 200)):
                data = batch(first, last_record)
                note(data)
                with contextlib.suppress(twins.fast.DecodeError):
                    decode(guarded.put(data))

    check(work)


@pytest.mark.parametrize("magic", [0, 1])
def test_lengths_in_a_message_are_limited_by_its_size(kwire, magic):
    """The length of a key or value may reach the end of its message.

    The lengths have four bytes, and -1 is null.
    """
    good = message(magic, key=b"k", value=None)
    assert offsets(kwire, good) == [0]
    length_position = 26 if magic else 18
    for position, lengths in (
        (length_position, (-2, 0, 2, 5, 6, 2**31 - 1)),
        (length_position + 5, (-2, 1, 2)),
    ):
        for length in lengths:
            data = bytearray(good)
            data[position : position + 4] = length.to_bytes(4, "big", signed=True)
            with pytest.raises(kwire.DecodeError):
                offsets(kwire, repaired(data))
            with pytest.raises(kwire.DecodeError):
                columns_of(kwire).decode_records(repaired(data))
    for cut in range(1, 6):
        body = (b"\0\0\0\1k" + b"\xff" * 4)[:-cut]
        with pytest.raises(kwire.DecodeError):
            columns_of(kwire).decode_records(message(magic, body=body))


SETS = {
    "batches": [
        batch(*(record(offset=i) for i in range(3)), base_offset=first)
        for first in (10, 13, 16)
    ],
    "messages": [message(1, offset) for offset in range(10, 19)],
    "wrappers": [
        wrapper(1, *(message(1, i) for i in range(3)), offset=first + 2)
        for first in (10, 13, 16)
    ],
}


@pytest.mark.parametrize("kind", SETS)
def test_start_and_end_offset_select_records(kwire, kind):
    """All combinations of a start and an end offset select the correct records.

    The offsets are before, within and after the batches.
    """
    data = b"".join(SETS[kind])
    decode = columns_of(kwire).decode_records
    for start in range(9, 21):
        for end in range(9, 21):
            table = decode(data, start_offset=start, end_offset=end)
            expected = [offset for offset in range(10, 19) if start <= offset < end]
            assert table.offset.tolist() == expected, (start, end)


def test_header_offsets_decide_about_the_range(kwire):
    """The offsets in a batch header decide whether the batch is decoded."""
    data = batch(record(offset=0), record(offset=7), base_offset=10, last_delta=2)
    decode = columns_of(kwire).decode_records
    for start, end in ((10, 13), (9, 14)):
        decoded_offsets = decode(
            data, start_offset=start, end_offset=end
        ).offset.tolist()
        assert decoded_offsets == [10, 17]
    assert decode(data, start_offset=10, end_offset=12).offset.tolist() == [10]
    assert decode(data, start_offset=11, end_offset=13).offset.tolist() == []


def test_unselected_empty_batch_is_not_decoded(kwire):
    """A batch without records outside the range is not decoded.

    Bytes after its header are ignored.
    """
    decode = columns_of(kwire).decode_records
    data = SETS["batches"][0] + batch(b"what", count=0, last_delta=2, base_offset=13)
    assert decode(data, end_offset=13).offset.tolist() == [10, 11, 12]
    assert decode(data, start_offset=16).offset.tolist() == []
    with pytest.raises(kwire.TrailingBytes):
        decode(data, end_offset=14)


@pytest.mark.parametrize("kind", ["batches", "messages"])
def test_unselected_batches_are_not_decoded(kwire, kind):
    """Damage in batches outside the range is ignored."""
    decode = partial(columns_of(kwire).decode_records, check_crc=False)
    first, *_, last = SETS[kind]
    bad_first, bad_last = (batch_bytes[:-1] + b"\x7f" for batch_bytes in (first, last))
    middle = b"".join(SETS[kind][1:-1])
    data = bad_first + middle + bad_last
    low = 13 if kind == "batches" else 11
    high = 16 if kind == "batches" else 18
    decoded_offsets = decode(data, start_offset=low, end_offset=high).offset.tolist()
    assert decoded_offsets == list(range(low, high))
    for options in (
        {"start_offset": low - 1, "end_offset": high},
        {"start_offset": low, "end_offset": high + 1},
    ):
        with pytest.raises(kwire.DecodeError):
            decode(data, **options)


def test_record_limit_applies_to_batches_and_wrappers(kwire):
    """The limit of records applies to a batch and to a compressed message."""
    decode = columns_of(kwire).decode_records
    for data in (SETS["batches"][0], SETS["wrappers"][0]):
        limits = kwire.Limits(records=3)
        assert decode(data, limits=limits).offset.tolist() == [10, 11, 12]
        with pytest.raises(kwire.LimitExceeded):
            decode(data, limits=kwire.Limits(records=2))


def test_wrapper_has_the_offset_of_its_last_message(kwire):
    """The offset of a wrapper is at least its last inner offset, or 0.

    If it is 0, the inner offsets are kept.
    """
    inner = [message(1, 5), message(1, 7)]
    assert offsets(kwire, wrapper(1, *inner, offset=0)) == [5, 7]
    assert offsets(kwire, wrapper(1, *inner, offset=7)) == [5, 7]
    assert offsets(kwire, wrapper(1, *inner, offset=8)) == [6, 8]
    for wrong in (1, 6):
        with pytest.raises(kwire.DecodeError):
            offsets(kwire, wrapper(1, *inner, offset=wrong))
        with pytest.raises(kwire.DecodeError):
            columns_of(kwire).decode_records(wrapper(1, *inner, offset=wrong))


@pytest.mark.parametrize("spare", [1, 2, 11, 12])
def test_bytes_after_the_last_inner_message_are_rejected(kwire, spare):
    """A single byte after the last inner message raises an error."""
    inner = message(1, 5) + message(1, 6)
    decode = columns_of(kwire).decode_records
    good = message(1, 6, value=gzip.compress(inner), attributes=1)
    assert decode(good).offset.tolist() == [5, 6]
    bad = message(1, 6, value=gzip.compress(inner + bytes(spare)), attributes=1)
    with pytest.raises(kwire.DecodeError):
        decode(bad)


@pytest.mark.parametrize("count", [1, 15, 16, 17, 31, 32, 33, 64, 65])
def test_columns_grow_at_any_row_count(kwire, count):
    """Columns are correct at all row counts at which their memory grows."""
    pieces = [
        batch(record(offset=0, headers=[(b"h", b"v")] * 3), base_offset=i)
        for i in range(count)
    ]
    table = columns_of(kwire).decode_records(b"".join(pieces))
    assert table.offset.tolist() == list(range(count))
    messages = b"".join(message(1, i) for i in range(count))
    assert offsets(kwire, messages) == list(range(count))


def test_false_header_allocates_no_memory(kwire):
    """A huge size or count in a header does not cause an allocation."""
    head = bytearray(batch(LEAST * 10, count=10))
    head[8:12] = (2**31 - 1).to_bytes(4, "big")
    head[57:61] = (2**28).to_bytes(4, "big")
    decode = columns_of(kwire).decode_records

    def check_refused_header(data):
        try:
            decode(data)
        except kwire.CorruptBatch as error:
            assert error.offset == len(data) - len(head)

    for size in (2**31 - 1, 0xFFFFFFF4, 0xFFFFFFFF, 0x80000000, 0):
        head[8:12] = (size % 2**32).to_bytes(4, "big")
        for data in (bytes(head), batch(LEAST) + bytes(head)):
            most = 2**20 - 1
            assert peak_of(partial(check_refused_header, data), most)[0] <= most


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_timestamps_within_the_range_of_a_unit(kwire, unit):
    """The minimum and maximum timestamp of a unit are kept, and others become null."""
    factor = {"s": 1, "ms": 1, "us": 1000, "ns": 10**6}[unit]
    last = (2**63 - 1) // factor
    decode = partial(columns_of(kwire).decode_records, timestamp_unit=unit)
    numbers = (last, -last, last + 1, -last - 1, 999, 1000, -2, -999, -1000, -1001)
    for number in numbers:
        if not -(2**63) <= number < 2**63:
            continue
        table = decode(message(1, timestamp=number))
        expected_timestamp = number // 1000 if unit == "s" else number * factor
        valid = abs(number) <= last or factor == 1
        timestamps = table.timestamp.astype("i8").tolist() if valid else None
        assert timestamps == ([expected_timestamp] if valid else None)
