# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes and encodes primitives of ``kwire.messages.wire``, individually and in bulk.

An input consists of a byte that selects the primitive, a byte for the start offset, and
the data.
"""

from fuzz import engines, guided

MODULES = ("messages.wire",)
TYPES = (
    "int8",
    "int16",
    "int32",
    "int64",
    "uint16",
    "uint32",
    "bool",
    "float64",
    "uuid",
)
SINGLE = (
    "unsigned_varint",
    "varint",
    "varlong",
    "uuid",
    "tagged_fields",
    "string",
    "compact_string",
    "nullable_string",
    "compact_nullable_string",
    "bytes",
    "compact_bytes",
    "nullable_bytes",
    "compact_nullable_bytes",
)
ARRAYS = tuple((name, each) for name in ("array", "compact_array") for each in TYPES)
BULK = ("varints", "varlongs", "unsigned_varints")


def decode(package, name, data, offset):
    """Decode one value of the primitive ``name``. Returns it and its end offset."""
    return getattr(package.messages.wire, f"decode_{name}")(data, offset=offset)


def encode(package, name, value):
    """Encode one value of the primitive ``name``."""
    return getattr(package.messages.wire, f"encode_{name}")(value)


def decode_array(package, name, data, offset, kind):
    """Decode an array of the primitive ``kind``, which has a fixed width."""
    return getattr(package.messages.wire, f"decode_{name}")(data, kind, offset)


def encode_array(package, name, value, kind):
    """Encode an array of the primitive ``kind``, which has a fixed width."""
    return getattr(package.messages.wire, f"encode_{name}")(value, kind)


def decode_bulk(package, name, data, count, offset):
    """Decode ``count`` varints into a numpy array.

    Returns the type and the values of the array, and the offset after the last value.
    """
    values, after = getattr(package.messages.wire, f"decode_{name}")(
        data, count, offset
    )
    return values.dtype.str, values.tolist(), after


def through_bulk(package, name, data, count, offset):
    """Decode ``count`` varints into a numpy array, and encode this array."""
    values, _ = getattr(package.messages.wire, f"decode_{name}")(data, count, offset)
    return getattr(package.messages.wire, f"encode_{name}")(values)


def value_of(package, name, data, offset, *kind):
    """Decode a value and encode it again. Returns the encoded bytes.

    Raises ``Finding`` if decoding the encoded bytes returns a different value.
    """
    read = getattr(package.messages.wire, f"decode_{name}")
    write = getattr(package.messages.wire, f"encode_{name}")
    value = read(data, *kind, offset)[0]
    written = write(value, *kind)
    again = read(written, *kind, 0)
    engines.equal(name, engines.neutral(again), engines.neutral((value, len(written))))
    return written


def TestOneInput(data):
    """Decode one input as a primitive, encode it again, and compare both engines."""
    if len(data) < 2:
        return
    choice, offset, data = data[0], data[1], data[2:]
    size = len(data)
    offset = min(offset & 7, size)
    names = (*SINGLE, *ARRAYS, *BULK)
    name = names[choice % len(names)]
    if name in BULK:
        count = choice // len(names) + size // 2
        arguments = name, data, count, offset
        if engines.agree(decode_bulk, *arguments, size=size)[0] == "value":
            engines.agree(through_bulk, *arguments)
        return
    if name in SINGLE:
        arguments = name, data, offset
        said = engines.agree(decode, *arguments, size=size)
    else:
        arguments = name[0], data, offset, name[1]
        said = engines.agree(decode_array, *arguments, size=size)
    if said[0] == "value":
        again = engines.agree(value_of, *arguments)
        engines.equal("what decodes can be encoded", again[0], "value")


if __name__ == "__main__":
    guided.main(TestOneInput, MODULES)
