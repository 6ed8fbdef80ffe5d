# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test compressed messages in magic 0 and 1, which contain a message set.

Inner offsets are absolute in magic 0. In magic 1, they are relative to the offset of
the wrapper, and old producers wrote them from 0. Objects and columns must agree.
"""

import gzip
import struct

import pytest

from tests.records.record_bytes import batch, message, wrapper
from tests.records.record_sets import rows_of, table_of

FRONT = message(0, 0, b"in front")


def decode_both(records, columns, data, **options):
    """Decode the data as objects and as columns, which must agree. Return the rows."""
    decoded_rows = rows_of(records.decode_batches(data, **options))
    assert table_of(columns.decode_records(data, **options)) == decoded_rows
    return decoded_rows


def catch_error(kwire, records, columns, data, kind, **options):
    """Assert that objects and columns raise the same error of class ``kind``.

    Return the error.
    """
    errors = []
    for read in (
        lambda: list(records.decode_batches(data, **options)),
        lambda: columns.decode_records(data, **options),
    ):
        with pytest.raises(kwire.errors.DecodeError) as caught:
            read()
        error = caught.value
        errors.append((type(error).__name__, error.offset, error.path, error.reason))
    assert errors[0] == errors[1]
    assert errors[0][:2] == (kind, len(FRONT))
    return caught.value


def offsets_of(decoded_rows):
    """Return the offsets of the rows."""
    return [row[0] for row in decoded_rows]


def test_offsets_of_magic_0_are_absolute(records, columns):
    """Magic 0: the inner offsets are absolute, and gaps are kept.

    The offset of the wrapper is ignored.
    """
    data = wrapper(0, message(0, 17), message(0, 19), message(0, 25))
    assert offsets_of(decode_both(records, columns, data)) == [17, 19, 25]
    data = wrapper(0, message(0, 17), message(0, 19), offset=3)
    assert offsets_of(decode_both(records, columns, data)) == [17, 19]


@pytest.mark.parametrize(
    ("inner", "outer", "expected"),
    [
        ([0, 1, 2], 12, [10, 11, 12]),
        ([0, 3, 7], 40, [33, 36, 40]),
        ([2, 3], 3, [2, 3]),
        ([5], 2**63 - 1, [2**63 - 1]),
        ([30, 31], 31, [30, 31]),
        ([0, 1, 2], 0, [0, 1, 2]),
        ([7, 8], 0, [7, 8]),
        ([0], 0, [0]),
        # Kafka only uses the last inner offset.
        ([9, 4], 14, [19, 14]),
        ([-3, -1], -1, [-3, -1]),
    ],
)
def test_offsets_of_magic_1_are_relative_to_the_wrapper(
    records, columns, inner, outer, expected
):
    """Magic 1: the last inner message has the offset of the wrapper.

    The other inner offsets are relative to it. If the wrapper's offset is 0, the inner
    offsets are kept.
    """
    messages = [message(1, offset) for offset in inner]
    data = wrapper(1, *messages, offset=outer)
    assert offsets_of(decode_both(records, columns, data)) == expected
    (decoded,) = records.decode_batches(data)
    assert (decoded.base_offset, decoded.last_offset) == (expected[0], outer)
    assert (decoded.record_count, decoded.compression) == (len(inner), "gzip")


@pytest.mark.parametrize(("inner", "outer"), [([0, 5], 4), ([1], -1), ([2], -(2**63))])
def test_a_wrapper_below_its_last_message_is_damage(
    kwire, records, columns, inner, outer
):
    """An offset of the wrapper below its last inner offset raises CorruptBatch."""
    data = FRONT + wrapper(1, *(message(1, o) for o in inner), offset=outer)
    error = catch_error(kwire, records, columns, data, "CorruptBatch")
    assert error.reason == (
        "the offset of a compressed message is below its last inner offset,"
        f" {inner[-1]}"
    )


@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrapper_without_a_value_is_damage(kwire, records, columns, magic):
    """A wrapper with a null value raises CorruptBatch."""
    data = FRONT + wrapper(magic, offset=5, value=None)
    error = catch_error(kwire, records, columns, data, "CorruptBatch")
    assert error.reason == "a compressed message without a value"


@pytest.mark.parametrize("magic", [0, 1])
def test_a_wrapper_without_a_message_is_damage(kwire, records, columns, magic):
    """A wrapper with an empty value or an empty message set raises CorruptBatch."""
    data = FRONT + wrapper(magic, offset=5, value=gzip.compress(b""))
    error = catch_error(kwire, records, columns, data, "CorruptBatch")
    assert error.reason == "a compressed message without inner messages"
    data = FRONT + wrapper(magic, offset=5, value=b"")
    catch_error(kwire, records, columns, data, "CorruptBatch")


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [1, 2, 3])
def test_a_wrapper_within_a_wrapper_is_damage(kwire, records, columns, magic, codec):
    """A compressed inner message raises CorruptBatch, whatever its value is."""
    inner = message(magic, 1, None, b"whatever", attributes=codec)
    data = FRONT + wrapper(magic, message(magic, 0), inner)
    error = catch_error(kwire, records, columns, data, "CorruptBatch")
    assert error.path == "records[1]"
    assert error.reason.startswith("inner message 1 of a compressed message is")


@pytest.mark.parametrize("magic", [0, 1])
def test_other_magics_within_are_damage(kwire, records, columns, magic):
    """An inner message of another magic than the wrapper raises CorruptBatch."""
    for foreign in (message(1 - magic, 1), batch(base_offset=1, last_delta=0)):
        data = FRONT + wrapper(magic, message(magic, 0), foreign)
        error = catch_error(kwire, records, columns, data, "CorruptBatch")
        assert error.path == "records[1]"
        assert "has another magic" in error.reason


@pytest.mark.parametrize("magic", [0, 1])
def test_checksums_within_are_checked(kwire, records, columns, magic):
    """A wrong inner checksum raises CorruptBatch, unless ``check_crc`` is False."""
    valid = message(magic, 0, b"k")
    damaged = message(magic, 1, b"l", crc=77)
    data = FRONT + wrapper(magic, valid, damaged)
    error = catch_error(kwire, records, columns, data, "CorruptBatch")
    assert error.path == "records[1]"
    assert "the header has another" in error.reason
    decoded_rows = decode_both(records, columns, data, check_crc=False)
    assert [row[2] for row in decoded_rows] == [b"in front", b"k", b"l"]


@pytest.mark.parametrize("magic", [0, 1])
def test_truncated_inner_message_is_damage(kwire, records, columns, magic):
    """A truncated inner message raises Truncated.

    Only the last entry of a Fetch response may be truncated.
    """
    messages = message(magic, 0, b"k") + message(magic, 1, b"l", b"v")
    first = len(message(magic, 0, b"k"))
    for cut in range(1, len(messages)):
        if cut == first:
            continue
        data = FRONT + wrapper(magic, offset=1, value=gzip.compress(messages[:cut]))
        error = catch_error(kwire, records, columns, data, "Truncated")
        assert error.path == f"records[{int(cut > first)}]"


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize(
    ("body", "kind", "path"),
    [
        (b"\xff\xff\xff\xfe\xff\xff\xff\xff", "InvalidLength", "key"),
        (b"\0\0\0\1k\x80\0\0\0", "InvalidLength", "value"),
        (b"\0\0\0\5k\0\0\0\0", "Truncated", "value"),
        (b"\0\0\0\6k\0\0\0\0", "Truncated", "key"),
        (b"\xff\xff\xff\xff\0\0\0\2v", "Truncated", "value"),
        (b"\xff\xff\xff\xff\0\0\0\0v", "TrailingBytes", ""),
        (b"\x7f\xff\xff\xff\0\0\0\0", "Truncated", "key"),
    ],
)
def test_invalid_key_and_value_lengths_are_damage(
    kwire, records, columns, magic, body, kind, path
):
    """An invalid key or value length raises an error, in single and inner messages.

    The error path of an inner message contains its index.
    """
    alone = message(magic, 1, body=body)
    for read in (
        lambda: list(records.decode_batches(FRONT + alone)),
        lambda: columns.decode_records(FRONT + alone),
    ):
        with pytest.raises(kwire.errors.DecodeError) as caught:
            read()
        error = caught.value
        assert type(error).__name__ == kind
        assert error.path == path
        assert len(FRONT) < error.offset <= len(FRONT + alone)
    data = FRONT + wrapper(magic, message(magic, 0), alone)
    error = catch_error(kwire, records, columns, data, kind)
    assert error.path == "records[1]" + (f".{path}" if path else "")


@pytest.mark.parametrize("attributes", [0, 8])
@pytest.mark.parametrize("inner", [0, 8])
def test_wrapper_sets_the_timestamp_type(records, columns, attributes, inner):
    """If a wrapper has log append time, its timestamp applies to all inner messages.

    With create time, every inner message keeps its own timestamp.
    """
    data = wrapper(
        1,
        message(1, 0, timestamp=5, attributes=inner),
        message(1, 1, timestamp=9),
        timestamp=77,
        attributes=attributes,
    )
    decoded_rows = decode_both(records, columns, data)
    assert [row[1] for row in decoded_rows] == ([77, 77] if attributes else [5, 9])
    assert [row[5] for row in decoded_rows] == [attributes // 8] * 2
    (decoded,) = records.decode_batches(data)
    assert (decoded.max_timestamp, decoded.timestamp_type) == (77, attributes // 8)


def test_magic_0_has_no_timestamps_at_all(records, columns):
    """In magic 0, bit 3 of the attributes is ignored, as there are no timestamps."""
    data = wrapper(0, message(0, 4, b"k", attributes=8), attributes=8)
    assert decode_both(records, columns, data) == [(4, -1, b"k", None, (), -1)]


@pytest.mark.parametrize("magic", [0, 1])
def test_wrapper_key_is_ignored(records, columns, magic):
    """The key of a wrapper is ignored. No client writes one."""
    data = wrapper(magic, message(magic, 0, b"k"), key=b"of the wrapper")
    assert [row[2] for row in decode_both(records, columns, data)] == [b"k"]


@pytest.mark.parametrize("magic", [0, 1])
def test_invalid_key_and_value_of_a_wrapper_are_damage(kwire, records, columns, magic):
    """An invalid key or value length in a wrapper raises an error."""
    packed = gzip.compress(message(magic, 0))
    body = struct.pack(">ii", -1, len(packed)) + packed
    for bad, kind, path in (
        (body + b"x", "TrailingBytes", ""),
        (body[:-1], "Truncated", "value"),
        (b"\xff\xff\xff\xfe" + body[4:], "InvalidLength", "key"),
    ):
        data = FRONT + message(magic, 0, attributes=1, body=bad)
        for read in (
            lambda data=data: list(records.decode_batches(data)),
            lambda data=data: columns.decode_records(data),
        ):
            with pytest.raises(kwire.errors.DecodeError) as caught:
                read()
            assert type(caught.value).__name__ == kind
            assert caught.value.path == path
            assert caught.value.offset > len(FRONT)


def test_wrapper_separates_runs(records, columns):
    """A wrapper between single messages results in three batches."""
    data = message(1, 0) + message(1, 1)
    data += wrapper(1, message(1, 0), message(1, 1), offset=3) + message(1, 4)
    batches = list(records.decode_batches(data))
    assert [len(decoded.records) for decoded in batches] == [2, 2, 1]
    assert offsets_of(decode_both(records, columns, data)) == [0, 1, 2, 3, 4]


def test_a_damaged_message_ends_the_run_before_it(kwire, records):
    """The messages before a damaged message are returned before the error."""
    valid = message(1, 0) + message(1, 1)
    for bad, position in (
        (message(1, 2, crc=5), 0),
        (message(1, 2, body=b"\xff\xff\xff\xfe" + bytes(4)), 26),
    ):
        batches = records.decode_batches(valid + bad)
        assert len(next(batches).records) == 2
        with pytest.raises(kwire.DecodeError) as caught:
            next(batches)
        assert caught.value.offset == len(valid) + position
