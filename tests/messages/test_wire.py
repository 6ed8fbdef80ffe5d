# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test ``kwire.messages.wire``: known and invalid bytes, and bulk functions."""

import random
import uuid

import numpy
import pytest

from tests.harness.sweeps import sweep

ONE = uuid.UUID("00010203-0405-0607-0809-0a0b0c0d0e0f")

# (type, value, bytes). The bytes were written by hand from Kafka's protocol guide.
KNOWN = [
    ("unsigned_varint", 0, "00"),
    ("unsigned_varint", 127, "7f"),
    ("unsigned_varint", 300, "ac02"),
    ("unsigned_varint", 2**32 - 1, "ffffffff0f"),
    ("varint", 0, "00"),
    ("varint", -1, "01"),
    ("varint", 1, "02"),
    ("varint", 2**31 - 1, "feffffff0f"),
    ("varint", -(2**31), "ffffffff0f"),
    ("varlong", -1, "01"),
    ("varlong", 2**63 - 1, "feffffffffffffffff01"),
    ("varlong", -(2**63), "ffffffffffffffffff01"),
    ("string", "é", "0002c3a9"),
    ("string", "", "0000"),
    ("compact_string", "abc", "04616263"),
    ("nullable_string", None, "ffff"),
    ("nullable_string", "a", "000161"),
    ("compact_nullable_string", None, "00"),
    ("compact_nullable_string", "", "01"),
    ("bytes", b"\x01\x02", "000000020102"),
    ("compact_bytes", b"\x01\x02", "030102"),
    ("nullable_bytes", None, "ffffffff"),
    ("compact_nullable_bytes", None, "00"),
    ("uuid", ONE, "000102030405060708090a0b0c0d0e0f"),
    ("array", (1, -2), "0000000200000001fffffffe"),
    ("array", None, "ffffffff"),
    ("compact_array", (1, -2), "0300000001fffffffe"),
    ("compact_array", None, "00"),
    ("tagged_fields", {}, "00"),
    ("tagged_fields", {0: b"a", 300: b""}, "02000161ac0200"),
]
KINDS = sorted({kind for kind, _, _ in KNOWN})


@sweep(("kind", "value", "text"), KNOWN)
def test_primitives_have_the_bytes_of_the_protocol_guide(kwire, kind, value, text):
    """A value has the bytes that the protocol guide defines, in both directions."""
    data = bytes.fromhex(text)
    assert getattr(kwire.messages.wire, f"encode_{kind}")(value) == data
    decode = getattr(kwire.messages.wire, f"decode_{kind}")
    assert decode(data) == (value, len(data))
    assert decode(b"xx" + data + b"yy", offset=2) == (value, len(data) + 2)
    assert decode(memoryview(bytearray(data))) == (value, len(data))


@sweep(("kind", "value", "text"), KNOWN)
def test_truncated_primitives_raise_a_typed_error(kwire, kind, value, text):
    """Every truncated value raises a DecodeError with an offset within the input."""
    data = bytes.fromhex(text)
    for size in range(len(data)):
        with pytest.raises(kwire.DecodeError) as caught:
            getattr(kwire.messages.wire, f"decode_{kind}")(data[:size])
        assert 0 <= caught.value.offset <= size


@pytest.mark.parametrize("length", [2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2])
@pytest.mark.parametrize("kind", ["string", "bytes", "array"])
def test_length_above_the_address_range_is_rejected(kwire, kind, length):
    """A length above the address range raises an error.

    On a 32-bit platform, it must not overflow to -1, which would be null.
    """
    nullable = "" if kind == "array" else "nullable_"
    data = kwire.messages.wire.encode_unsigned_varint(length + 1) + b"abc"
    with pytest.raises(kwire.DecodeError) as caught:
        getattr(kwire.messages.wire, f"decode_compact_{nullable}{kind}")(data)
    needed = str(length - 3 if kind == "bytes" else length)
    assert needed in caught.value.reason


@pytest.mark.parametrize("kind", KINDS)
def test_encoders_reject_values_of_wrong_types(twins, kind):
    """A value of a wrong type raises the same EncodeError on both engines."""
    for value in (object(), 1.5, -(2**70), {"a": 1}, ["x"]):
        errors = []
        for kwire in twins:
            with pytest.raises(kwire.EncodeError) as caught:
                getattr(kwire.messages.wire, f"encode_{kind}")(value)
            errors.append(str(caught.value))
        assert errors[0] == errors[1]


@pytest.mark.parametrize("kind", KINDS)
def test_any_bytes_give_the_same_on_both_engines(twins, kind):
    """Any bytes have the same value and end, or the same error, on both engines."""
    source = random.Random(kind)
    for _ in range(400):
        size = source.randrange(12)
        data = bytes(source.choice((0, 1, 2, 0x7F, 0x80, 0xFF)) for _ in range(size))
        outcomes = []
        for kwire in twins:
            try:
                outcomes.append(getattr(kwire.messages.wire, f"decode_{kind}")(data))
            except kwire.DecodeError as error:
                outcomes.append((type(error).__name__, error.offset, str(error)))
        assert outcomes[0] == outcomes[1], data.hex()


def test_arrays_take_every_fixed_size_type(kwire):
    """Arrays of all fixed-size types are decoded. Other element types raise an error.

    The types have the names of Kafka's schemas.
    """
    for kind, value in [
        ("bool", True),
        ("int8", -1),
        ("int16", -300),
        ("uint16", 65535),
        ("uint32", 2**32 - 1),
        ("int64", -(2**63)),
        ("float64", 1.5),
        ("uuid", ONE),
    ]:
        data = kwire.messages.wire.encode_compact_array([value, value], kind)
        decoded = kwire.messages.wire.decode_compact_array(data, kind)
        assert decoded == ((value, value), len(data))
    with pytest.raises(
        ValueError, match=r"type must be one of bool, .* \(got 'string'\)"
    ):
        kwire.messages.wire.encode_array(["a"], "string")


BULK = [
    ("unsigned_varints", "uint32", [0, 1, 127, 128, 16383, 16384, 2**28, 2**32 - 1]),
    ("varints", "int32", [0, -1, 63, -64, 64, 2**31 - 1, -(2**31)]),
    ("varlongs", "int64", [0, -1, 2**31, 2**63 - 1, -(2**63)]),
]


@pytest.mark.parametrize(("kind", "dtype", "values"), BULK)
def test_bulk_functions_equal_single_calls(kwire, kind, dtype, values):
    """A bulk function encodes and decodes like single calls.

    The numpy array has the documented dtype.
    """
    single = getattr(kwire.messages.wire, f"encode_{kind[:-1]}")
    expected = b"".join(single(value) for value in values)
    encode = getattr(kwire.messages.wire, f"encode_{kind}")
    decode = getattr(kwire.messages.wire, f"decode_{kind}")
    assert encode(numpy.array(values, dtype)) == expected
    assert encode(values) == expected
    array, end = decode(b"x" + expected + b"y", len(values), offset=1)
    assert (array.dtype, end) == (numpy.dtype(dtype), len(expected) + 1)
    assert array.tolist() == values


@pytest.mark.parametrize(("kind", "dtype", "values"), BULK)
def test_bulk_names_the_value_at_fault(twins, kind, dtype, values):
    """If a value of a bulk call is invalid, the path of the error is its index.

    Both engines raise the same error.
    """
    errors = []
    for kwire in twins:
        decode = getattr(kwire.messages.wire, f"decode_{kind}")
        encode = getattr(kwire.messages.wire, f"encode_{kind}")
        words = []
        for call in (
            lambda decode=decode: decode(b"\x01\x02" + b"\xff" * 12, 3),
            lambda decode=decode: decode(b"\x01", 2),
            lambda encode=encode: encode([1, 2**70]),
            lambda encode=encode: encode([1.5]),
            lambda encode=encode: encode(numpy.zeros((2, 2), dtype)),
        ):
            with pytest.raises(kwire.KwireError) as caught:
                call()
            words.append((type(caught.value).__name__, str(caught.value)))
        errors.append(words)
    assert errors[0] == errors[1]
    assert errors[0][0][1].startswith("[2]: byte 2:")


def test_bulk_random_values_agree(twins):
    """Bulk functions of both engines agree on thousands of random values."""
    source = numpy.random.default_rng(7)
    for kind, dtype, low, high in [
        ("unsigned_varints", "uint32", 0, 2**32),
        ("varints", "int32", -(2**31), 2**31),
        ("varlongs", "int64", -(2**63), 2**63 - 1),
    ]:
        shifts = source.integers(0, numpy.dtype(dtype).itemsize * 8, 3000)
        values = (source.integers(low, high, 3000) >> shifts).astype(dtype)
        data = [
            getattr(kwire.messages.wire, f"encode_{kind}")(values) for kwire in twins
        ]
        assert data[0] == data[1]
        for kwire in twins:
            array, end = getattr(kwire.messages.wire, f"decode_{kind}")(data[0], 3000)
            assert end == len(data[0])
            assert (array == values).all()
