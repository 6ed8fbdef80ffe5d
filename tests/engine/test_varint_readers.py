# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""All varint readers of both engines accept, reject and return the same values.

The reference is ``read_unsigned_varint`` in ``cursor``. Performance-critical loops have
their own copies, which its docstring lists. Every copy is tested with the same bytes.
"""

import importlib
import random
import re
from pathlib import Path

import pytest

import kwire as installed
from tests.harness.sweeps import sweep
from tests.records.record_bytes import batch

SOURCE = Path(installed.__file__).parent

BOUNDS = [0, 1, *(1 << bits for bits in range(1, 64))]
NUMBERS = sorted({bound + near for bound in BOUNDS for near in (-1, 0, 1)} - {-1})


def write_varint(value, size=1):
    """Encode a varint in at least ``size`` bytes.

    If the value needs fewer bytes, 7-bit groups without set bits are appended, which is
    valid but not minimal.
    """
    groups = []
    while value or len(groups) < size:
        groups.append(value & 0x7F)
        value >>= 7
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])


def read_by_definition(data, bits):
    """Decode an unsigned varint of up to ``bits`` bits bit by bit.

    Return the value, or None if the varint is truncated or too long.
    """
    most = -(-bits // 7)
    for size, byte in enumerate(data[:most], 1):
        if byte < 0x80:
            value = sum((data[index] & 0x7F) << 7 * index for index in range(size))
            return value if value < 1 << bits else None
    return None


def unzigzag(raw):
    """Convert an unsigned zigzag value to the signed integer that it encodes."""
    return raw >> 1 ^ -(raw & 1)


def inputs():
    """Return a list of encoded varints at every limit.

    The list includes minimal, padded, truncated, too long and random varints.
    """
    encodings = [b"", *(b"\xff" * size for size in range(1, 12))]
    for value in NUMBERS:
        encodings += [write_varint(value, size) for size in range(1, 12)]
        encodings += [write_varint(value)[:-1], write_varint(value) + b"\x80"]
    encodings += [
        b"\x80" * size + bytes([last]) for size in (4, 9) for last in range(32)
    ]
    dice = random.Random(5)
    encodings += [dice.randbytes(dice.randrange(1, 12)) for _ in range(200)]
    return sorted(set(encodings))


INPUTS = inputs()


def bytes_of_record(timestamp=b"\0", offset=b"\0", key=b"\1", count=b"\0"):
    """Return a magic 2 record whose fields are varints that the caller has encoded.

    The varints are used unchanged, so that they may be padded or invalid.
    """
    body = b"\0" + timestamp + offset + key + b"\1" + count
    return write_varint(len(body) << 1) + body


def read_single(kwire, data, form):
    """Decode one varint with ``kwire.messages.wire``, which calls the reference."""
    wire = importlib.import_module(f"{kwire.__name__}.messages.wire")
    return getattr(wire, f"decode_{form}")(data)[0]


def read_bulk(kwire, data, form, after=b""):
    """Decode one varint with the bulk function that returns a numpy array.

    ``after`` contains further varints of one byte. Return only the first value.
    """
    pytest.importorskip("numpy")
    wire = importlib.import_module(f"{kwire.__name__}.messages.wire")
    return int(getattr(wire, f"decode_{form}s")(data + after, 1 + len(after))[0][0])


def read_object(kwire, **fields):
    """Decode a batch with one record, whose varints are ``fields``, as an object."""
    (row,) = kwire.records.decode_records(batch_of(**fields))[0]
    return row


def read_columns(kwire, **fields):
    """Decode a batch with one record, whose varints are ``fields``, as columns."""
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    table = columns.decode_records(batch_of(**fields))
    assert len(table) == 1
    return table


def batch_of(**fields):
    """Encode a batch with one record, whose varints are ``fields``."""
    return batch(bytes_of_record(**fields), count=1, last_delta=0)


def read_tag(kwire, data):
    """Decode an ApiVersions request with an unknown tagged field whose tag is ``data``.

    Return the tag as an integer.
    """
    body = b"\1\1\1" + data + b"\0"
    message = kwire.decode(kwire.messages.ApiVersionsRequest, body, version=3)
    ((tag, _),) = message.unknown_tagged_fields
    return tag


READERS = {
    "unsigned varint": (32, False, lambda k, d: read_single(k, d, "unsigned_varint")),
    "varint": (32, True, lambda k, d: read_single(k, d, "varint")),
    "varlong": (64, True, lambda k, d: read_single(k, d, "varlong")),
    "bulk unsigned": (32, False, lambda k, d: read_bulk(k, d, "unsigned_varint")),
    "bulk varint": (32, True, lambda k, d: read_bulk(k, d, "varint")),
    "bulk varlong": (64, True, lambda k, d: read_bulk(k, d, "varlong")),
    "bulk, more after": (
        32,
        False,
        lambda k, d: read_bulk(k, d, "unsigned_varint", bytes(9)),
    ),
    "offset": (32, True, lambda k, d: read_object(k, offset=d).offset),
    "timestamp": (64, True, lambda k, d: read_object(k, timestamp=d).timestamp),
    "offset column": (32, True, lambda k, d: int(read_columns(k, offset=d).offset[0])),
    "timestamp column": (
        64,
        True,
        lambda k, d: int(read_columns(k, timestamp=d).timestamp[0]),
    ),
    "tag": (32, False, read_tag),
}


@pytest.mark.parametrize("name", READERS)
def test_readers_agree_with_the_definition(kwire, name):
    """Readers return the defined value of a valid varint, and reject an invalid one."""
    bits, is_zigzag, read = READERS[name]
    refused = 0
    for data in INPUTS:
        # Remove the bytes after the varint, because the decoder would read them as the
        # next field.
        size = next(
            (index for index, byte in enumerate(data, 1) if byte < 0x80), len(data)
        )
        raw = read_by_definition(data, bits)
        try:
            value = read(kwire, data[:size])
        except kwire.DecodeError:
            refused += 1
            assert raw is None, (name, data)
            continue
        assert raw is not None, (name, data)
        assert value == (unzigzag(raw) if is_zigzag else raw), (name, data)
    assert 20 < refused < len(INPUTS) - 200


@sweep("size", [0, 1, 125, 126, 127, 128, 16381, 16382, 16383, 20000])
@sweep("width", [1, 2, 3, 4, 5])
def test_lengths_agree_with_the_definition(kwire, size, width):
    """Size prefixes of records and messages are accepted even if they are not minimal.

    ``width`` is the number of bytes of the prefix.
    """
    content = bytes(size)
    prefixed = write_varint(size << 1, width) + content
    assert read_object(kwire, key=prefixed).key == content
    assert read_columns(kwire, key=prefixed).key[0] == content
    body = write_varint(size + 1, width) + content + b"\1\0"
    message = kwire.decode(kwire.messages.ApiVersionsRequest, body, version=3)
    assert message.client_software_name == content.decode()


LOOPS = re.compile(r"& (0x7F|127)\)? <<|<< 7\) - 128|>> 24 & 0x7F")
DEFINITION = re.compile(r"(?:cdef|cpdef|(?:    )?def) .*?(\w+)\(")


def functions_with_loops():
    """Return the names of all functions in both engines that contain a varint loop."""
    names = set()
    # Match complete suffixes, because compiled modules on Windows end in .pyd.
    sources = ("_engine/fast/*.pyx", "_engine/fast/*.pxd", "_engine/pure/*.py")
    for path in (path for source in sources for path in SOURCE.glob(source)):
        name = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            start = DEFINITION.match(line)
            if start is not None:
                name = start.group(1)
            if LOOPS.search(line):
                names.add(f"{path.stem}.{name}")
    return names


def test_the_reference_lists_its_copies(kwire):
    """The docstring of the reference lists all functions that contain a varint loop.

    A new varint loop must be added to this list and to ``READERS``, which tests it.
    """
    cursor = importlib.import_module("kwire._engine.pure.cursor")
    listed = set(re.findall(r"``(\w+\.\w+)``", cursor.read_unsigned_varint.__doc__))
    listed -= {"ByteUtils.readUnsignedVarint"}
    reference = {"cursor.read_unsigned_varint", "cursor.read_unsigned_varlong"}
    assert functions_with_loops() == listed | reference
