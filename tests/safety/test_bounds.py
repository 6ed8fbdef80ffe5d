# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the last valid and the first invalid value for all bounds in the readers.

``tools/prove/cursor_mutants.py`` shifts a bounds comparison by one, inverts it, or
removes it. These tests detect the mutants that other tests miss. Bounds of record sets
are tested in ``test_record_bounds.py``.
"""

import importlib
import mmap
import sys
import uuid
from functools import partial
from itertools import product

import numpy
import pyarrow
import pytest

from tests.harness.guard_pages import Guarded, check, in_child
from tests.harness.hostile import unsigned_varint
from tests.harness.sweeps import sweep

LARGEST = 2**31 - 2
SIZES = [1, 2, 5, 6, 7, 8, 9, 15, 16, 17, 23, 24]


def fault_of(kwire, call):
    """Assert that a call fails. Return (class name, offset, path) of the error."""
    with pytest.raises(kwire.DecodeError) as caught:
        call()
    return type(caught.value).__name__, caught.value.offset, caught.value.path


@sweep("bits", range(1, 33))
@sweep("after", [b"", b"\0", b"\xff" * 8])
def test_varints_end_after_their_last_bit(kwire, bits, after):
    """Varints of every bit length are decoded, whatever bytes follow them.

    The smallest and the largest number of a bit length are tested.
    """
    wire = kwire.messages.wire
    for number in (2 ** (bits - 1), 2**bits - 1):
        data = unsigned_varint(number)
        assert wire.encode_unsigned_varint(number) == data
        assert wire.decode_unsigned_varint(data + after) == (number, len(data))
        encoded = wire.encode_unsigned_varints(numpy.array([number, 1, number], "u4"))
        assert encoded == data + b"\1" + data
        values, end = wire.decode_unsigned_varints(encoded + after, 3)
        assert values.tolist() == [number, 1, number]
        assert end == len(encoded)


@sweep("bits", range(1, 65))
@sweep("after", [b"", b"\0", b"\xff" * 12])
def test_varlongs_end_after_their_last_bit(kwire, bits, after):
    """Zigzag varlongs of every bit length are decoded, whatever bytes follow them."""
    wire = kwire.messages.wire
    for raw in (2 ** (bits - 1), 2**bits - 1):
        number = raw >> 1 ^ -(raw & 1)
        data = unsigned_varint(raw)
        assert wire.encode_varlong(number) == data
        assert wire.decode_varlong(data + after) == (number, len(data))
        encoded = wire.encode_varlongs(numpy.array([number, 1], "i8"))
        assert encoded == data + b"\2"
        assert wire.decode_varlongs(encoded + after, 2)[0].tolist() == [number, 1]


@pytest.mark.parametrize("last", [0x10, 0x7F, 0x80, 0xFF])
def test_varint_with_more_than_32_bits_is_rejected(kwire, last):
    """A varint with more than 32 bits is rejected at its first byte.

    Single and bulk functions are tested.
    """
    wire = kwire.messages.wire
    data = b"\0" + b"\xff" * 4 + bytes((last, 0, 0, 0, 0))
    refused = ("InvalidVarint", 1, "")
    assert fault_of(kwire, lambda: wire.decode_unsigned_varint(data, 1)) == refused
    call = partial(wire.decode_unsigned_varints, data, 2)
    assert fault_of(kwire, call) == ("InvalidVarint", 1, "[1]")


@pytest.mark.parametrize("last", [0x02, 0x7F, 0x80, 0xFF])
def test_varlong_with_more_than_64_bits_is_rejected(kwire, last):
    """A varlong with more than 64 bits is rejected at its first byte."""
    wire = kwire.messages.wire
    data = b"\0" + b"\xff" * 9 + bytes((last, 0, 0, 0, 0))
    assert fault_of(kwire, lambda: wire.decode_varlong(data, 1))[1] == 1
    assert fault_of(kwire, lambda: wire.decode_varlongs(data, 2))[1:] == (1, "[1]")


def test_a_lenient_reader_drops_bits_of_a_fifth_byte(kwire):
    """In the lenient mode, excess bits of a fifth varint byte up to 0x7f are dropped.

    Kafka's reader does the same.
    """
    cls = kwire.messages.MetadataResponse
    for last, name in ((0x10, "ab"), (0x70, "ab"), (0x7F, None)):
        size = b"\x83\x80\x80\x80" + bytes((last,))
        data = bytes(4) + b"\1" + size + b"ab" * bool(name) + bytes(4) + b"\1\0"
        assert kwire.decode(cls, data, 12, compat="java").cluster_id == name
    for last in (0x80, 0xF0):
        data = bytes(4) + b"\1\x83\x80\x80\x80" + bytes((last,)) + bytes(9)
        call = partial(kwire.decode, cls, data, 12, compat="java")
        assert fault_of(kwire, call) == ("InvalidVarint", 5, "cluster_id")


NULLS = [
    ("SaslHandshakeRequest", 1, b"\xff\xff", "mechanism"),
    ("SaslAuthenticateRequest", 1, b"\xff\xff\xff\xff", "auth_bytes"),
    ("SaslAuthenticateRequest", 2, b"\0\0", "auth_bytes"),
    ("MetadataRequest", 0, b"\xff\xff\xff\xff", "topics"),
    ("DescribeGroupsRequest", 0, b"\xff\xff\xff\xff", "groups"),
    ("DescribeGroupsRequest", 5, b"\0\0\0", "groups"),
]


@pytest.mark.parametrize("compat", [None, "java"])
@pytest.mark.parametrize(("name", "version", "data", "field"), NULLS)
def test_null_is_rejected_by_non_nullable_types(
    kwire, name, version, data, field, compat
):
    """Null is rejected for a string, bytes or an array that is not nullable.

    Classic and compact encodings are tested.
    """
    cls = getattr(kwire.messages, name)
    call = partial(kwire.decode, cls, data, version, compat=compat)
    assert fault_of(kwire, call)[1:] == (0, field)


def test_lenient_reader_decodes_negative_lengths_as_null(kwire):
    """In the lenient mode, a length that is negative as an int32 means null.

    Kafka's reader converts lengths to int32 in the same way.
    """
    cls = kwire.messages.MetadataResponse
    for raw, is_null in ((2**31 - 1, 0), (2**31, 0), (2**31 + 1, 1), (2**32 - 1, 1)):
        data = bytes(4) + b"\1" + unsigned_varint(raw) + bytes(4) + b"\1\0"

        def call(data=data):
            return kwire.decode(cls, data, 12, compat="java").cluster_id

        if is_null:
            assert call() is None
        else:
            assert fault_of(kwire, call) == ("InvalidLength", 5, "cluster_id")
    for size, is_strict in ((-1, True), (-2, False), (-(2**15), False)):
        data = bytes(4) + size.to_bytes(2, "big", signed=True) + bytes(8)
        assert kwire.decode(cls, data, 2, compat="java").cluster_id is None
        if is_strict:
            assert kwire.decode(cls, data, 2).cluster_id is None
        else:
            call = partial(kwire.decode, cls, data, 2)
            assert fault_of(kwire, call) == ("InvalidLength", 4, "cluster_id")


def test_string_with_more_than_32767_bytes_is_rejected(kwire):
    """A string of 32767 UTF-8 bytes is accepted, and a longer string is rejected.

    This applies to both encodings.
    """
    wire = kwire.messages.wire
    for longest in ("x" * 32767, "\xe9" * 16383 + "x"):
        assert wire.decode_string(wire.encode_string(longest))[0] == longest
        data = wire.encode_compact_string(longest)
        assert wire.decode_compact_string(data) == (longest, len(data))
        for encode in (wire.encode_string, wire.encode_compact_string):
            with pytest.raises(kwire.EncodeError):
                encode(longest + "x")
    data = unsigned_varint(32769) + b"x" * 32768
    refused = ("InvalidLength", 0, "")
    assert fault_of(kwire, partial(wire.decode_compact_string, data)) == refused
    arrow = importlib.import_module(f"{kwire.__name__}.messages.arrow")
    cls = kwire.messages.HeartbeatRequest
    for size, name in ((32768, "[0].group_id"), (32767, "")):
        body = unsigned_varint(size + 1) + b"x" * size + bytes(4) + b"\1\0\0"
        rows = pyarrow.array([body])
        call = partial(arrow.messages_to_arrow, rows, cls, 4)
        if name:
            assert fault_of(kwire, call) == ("InvalidLength", 0, name)
        else:
            assert call().field("group_id")[0].as_py() == "x" * size


@pytest.mark.parametrize("size", SIZES)
def test_invalid_utf8_is_found_at_each_position(kwire, size):
    """Invalid UTF-8 is detected at every position of a string.

    The decoder checks 8 bytes at a time, and the remaining bytes one by one.
    """
    for position in range(size):
        for bad in (0x80, 0xFF):
            text = bytearray(b"\x7f" * size)
            text[position] = bad
            data = size.to_bytes(2, "big") + text
            call = partial(kwire.messages.wire.decode_string, data)
            assert fault_of(kwire, call) == ("InvalidValue", 2 + position, "")
    good = size.to_bytes(2, "big") + b"\x7f" * size
    assert kwire.messages.wire.decode_string(good) == ("\x7f" * size, 2 + size)


FIXED = {
    "int8": (1, -(2**7), 2**7 - 1),
    "int16": (2, -(2**15), 2**15 - 1),
    "uint16": (2, 0, 2**16 - 1),
    "int32": (4, -(2**31), 2**31 - 1),
    "uint32": (4, 0, 2**32 - 1),
    "int64": (8, -(2**63), 2**63 - 1),
}


@pytest.mark.parametrize("kind", FIXED)
def test_integers_outside_of_their_range_are_rejected(kwire, kind):
    """The minimum and maximum of every integer type are accepted.

    The integers below the minimum and above the maximum are rejected.
    """
    size, low, high = FIXED[kind]
    wire = kwire.messages.wire
    data = wire.encode_array([low, high], kind)
    assert len(data) == 4 + 2 * size
    assert wire.decode_array(data, kind) == ((low, high), len(data))
    for number in (low - 1, high + 1):
        with pytest.raises(kwire.EncodeError):
            wire.encode_array([number], kind)


@pytest.mark.parametrize("kind", [*FIXED, "bool", "float64", "uuid"])
def test_count_is_limited_by_the_following_bytes(kwire, kind):
    """A count that exceeds the remaining bytes by one is rejected."""
    wire = kwire.messages.wire
    element = {"uuid": uuid.UUID(int=5), "bool": True}.get(kind, 1)
    data = wire.encode_array([element] * 3, kind)
    size = (len(data) - 4) // 3
    assert wire.decode_array(data, kind) == ((element,) * 3, len(data))
    for spare in range(1, size + 1):
        call = partial(wire.decode_array, data[:-spare], kind)
        assert fault_of(kwire, call) == ("InvalidLength", 0, "")


def test_no_byte_after_short_text_is_read(twins):
    """No byte after a short text or a truncated varint is read.

    The input ends at an inaccessible page.
    """
    package, guarded = twins.fast, Guarded()
    wire, cls = package.messages.wire, package.messages.SaslHandshakeRequest

    def work(note):
        for size in SIZES:
            note(size)
            data = guarded.put(size.to_bytes(2, "big") + b"x" * size)
            assert wire.decode_string(data) == ("x" * size, 2 + size)
            assert package.decode(cls, data, 1).mechanism == "x" * size
        encodings = (b"\1", b"\x80\1", b"\x80\x80\1", b"\x80\x80\x80\1")
        for count, encoded_one in product(range(1, 9), encodings):
            note((encoded_one, count))
            data = guarded.put(encoded_one * count)
            for decode in (wire.decode_unsigned_varints, wire.decode_varlongs):
                assert decode(data, count)[1] == len(data)
                if len(encoded_one) > 1:
                    call = partial(decode, data, count + 1)
                    assert fault_of(package, call)[2] == f"[{count}]"

    check(work)


def test_bulk_begins_and_ends_within_the_input(kwire):
    """Bulk functions reject an offset or a count beyond the end of the input."""
    wire = kwire.messages.wire
    for decode in (wire.decode_unsigned_varints, wire.decode_varlongs):
        assert decode(b"\2\4", 2)[1] == 2
        assert decode(b"\2\4", 0, 2)[1] == 2
        for offset in (-1, 3, 2**62):
            with pytest.raises(ValueError, match="offset"):
                decode(b"\2\4", 0, offset)
        with pytest.raises(ValueError, match=r"count must be 0 or more \(got -1\)"):
            decode(b"\2\4", -1)
        for count in (3, 4, 2**40):
            call = partial(decode, b"\2\4", count)
            assert fault_of(kwire, call) == ("Truncated", 2, "")


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("encode_unsigned_varints", 0, 2**32 - 1),
        ("encode_varints", -(2**31), 2**31 - 1),
    ],
)
def test_bulk_encoders_check_the_range_of_integers(kwire, name, low, high):
    """Bulk encoders reject integers that are out of the range of their type.

    The integers are in an array of a wider type.
    """
    encode = getattr(kwire.messages.wire, name)
    encode_one = getattr(kwire.messages.wire, name[:-1])
    values = numpy.array([0, low, high, 1], "i8")
    assert encode(values) == b"".join(encode_one(int(value)) for value in values)
    for bad in (low - 1, high + 1):
        with pytest.raises(kwire.EncodeError) as caught:
            encode(numpy.array([0, 0, bad], "i8"))
        assert caught.value.path == "[2]"


def test_bytes_with_gaps_are_not_written(kwire):
    """A buffer that is not contiguous is rejected before its bytes are read."""
    gaps = memoryview(bytearray(40))[::2]
    for encode in (
        kwire.messages.wire.encode_bytes,
        kwire.messages.wire.encode_compact_nullable_bytes,
    ):
        with pytest.raises(kwire.EncodeError, match="contiguous"):
            encode(gaps)
        assert encode(gaps.tobytes())[-20:] == bytes(20)


def test_negative_api_keys_have_no_header_version(twins):
    """The API key -1 has no header version.

    With the maximum version, it would refer to the byte before the table.
    """
    module = importlib.import_module("kwire._engine.fast.header_columns")
    table, width = module.load_header_versions()
    # A dict caches the hash of bytes in the memory before the data.
    assert hash(table) and table[-1] == 255
    frame = b"\xff\xff" + (width - 1).to_bytes(2, "big") + bytes(20)
    with pytest.raises(twins.fast.UnsupportedVersion):
        twins.fast.messages.arrow.request_headers_to_arrow(pyarrow.array([frame]))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on memory")
@pytest.mark.parametrize("kind", ["bytes", "memoryview"])
def test_largest_length_is_accepted(kwire, kind):
    """A value of the maximum length is only rejected by the memory limit.

    If it is one byte longer, its length is rejected.
    """
    resource = pytest.importorskip("resource")
    outcomes = []
    for size in (LARGEST, LARGEST + 1):
        # Unwritten pages do not use memory.
        value = bytes(size) if kind == "bytes" else memoryview(mmap.mmap(-1, size))

        def work(note, value=value):
            with open("/proc/self/statm") as statm:
                used = int(statm.read().split()[0]) * mmap.PAGESIZE
            resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, used + 2**26))
            try:
                kwire.messages.wire.encode_bytes(value)
            except (MemoryError, kwire.EncodeError) as error:
                note(type(error).__name__)

        outcomes.append(in_child(work))
    assert outcomes == [(0, "'MemoryError'"), (0, "'EncodeError'")]
