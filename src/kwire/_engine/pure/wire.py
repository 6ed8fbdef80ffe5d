# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes single values of the protocol's primitive types.

``decode_*(data, offset=0)`` returns the value and the offset after it. Both offsets are
in bytes from the start of ``data``, which is a contiguous bytes-like object. Invalid
bytes raise ``DecodeError``. ``encode_*(value)`` returns bytes, and raises
``EncodeError`` if the value cannot be encoded. ``bulk.py`` contains functions for many
values in one call.

Twin: ``fast/wire.pyx``. Differs from its twin in: errors are exceptions.
"""

from __future__ import annotations

from ... import errors
from ...schema import plan
from ...schema.model import FIXED_SIZES
from .cursor import (
    Cursor,
    CursorFault,
    read_unsigned_varint,
    read_unsigned_varlong,
    require,
)
from .path import format_path
from .primitives import (
    LARGEST,
    read_bytes,
    read_count,
    read_fixed,
    read_fixed_array,
    read_string,
    write_bytes,
    write_count,
    write_fixed,
    write_length,
    write_string,
)
from .writer import (
    ValueFault,
    Writer,
    write_unsigned_varint,
    write_unsigned_varlong,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any
    from uuid import UUID

    from typing_extensions import Buffer

__all__ = [
    "decode_array",
    "decode_bytes",
    "decode_compact_array",
    "decode_compact_bytes",
    "decode_compact_nullable_bytes",
    "decode_compact_nullable_string",
    "decode_compact_string",
    "decode_nullable_bytes",
    "decode_nullable_string",
    "decode_string",
    "decode_tagged_fields",
    "decode_unsigned_varint",
    "decode_uuid",
    "decode_varint",
    "decode_varlong",
    "encode_array",
    "encode_bytes",
    "encode_compact_array",
    "encode_compact_bytes",
    "encode_compact_nullable_bytes",
    "encode_compact_nullable_string",
    "encode_compact_string",
    "encode_nullable_bytes",
    "encode_nullable_string",
    "encode_string",
    "encode_tagged_fields",
    "encode_unsigned_varint",
    "encode_uuid",
    "encode_varint",
    "encode_varlong",
]


def encode_unsigned_varint(value: int) -> bytes:
    """Encode an UNSIGNED_VARINT.

    Shape: 1 to 5 bytes with 7 bits each, lowest bits first. Range: 0 to 2**32 - 1.
    Source: ``ByteUtils.writeUnsignedVarint``.
    """
    return finish_write("a uint32", write_uint32, value)


def decode_unsigned_varint(data: Buffer, offset: int = 0) -> tuple[int, int]:
    """Decode an UNSIGNED_VARINT.

    Shape: 1 to 5 bytes with 7 bits each, lowest bits first. Range: 0 to 2**32 - 1.
    Source: ``ByteUtils.readUnsignedVarint``.
    """
    return finish_read(open_input(data, offset), read_unsigned_varint)


def encode_varint(value: int) -> bytes:
    """Encode a VARINT.

    Shape: zigzag-encoded int32 in 1 to 5 bytes.
    Source: ``ByteUtils.writeVarint``.
    """
    return finish_write("an int32", write_varint, value)


def decode_varint(data: Buffer, offset: int = 0) -> tuple[int, int]:
    """Decode a VARINT.

    Shape: zigzag-encoded int32 in 1 to 5 bytes.
    Source: ``ByteUtils.readVarint``.
    """
    return finish_read(open_input(data, offset), read_varint)


def encode_varlong(value: int) -> bytes:
    """Encode a VARLONG.

    Shape: zigzag-encoded int64 in 1 to 10 bytes.
    Source: ``ByteUtils.writeVarlong``.
    """
    return finish_write("an int64", write_varlong, value)


def decode_varlong(data: Buffer, offset: int = 0) -> tuple[int, int]:
    """Decode a VARLONG.

    Shape: zigzag-encoded int64 in 1 to 10 bytes.
    Source: ``ByteUtils.readVarlong``.
    """
    return finish_read(open_input(data, offset), read_varlong)


def encode_string(value: str) -> bytes:
    """Encode a STRING.

    Shape: INT16 size, then that number of UTF-8 bytes.
    Source: KIP-482.
    """
    return finish_write("a str", write_string, value, False, False)


def decode_string(data: Buffer, offset: int = 0) -> tuple[str, int]:
    """Decode a STRING.

    Shape: INT16 size, then that number of UTF-8 bytes.
    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_string, False, False)


def encode_compact_string(value: str) -> bytes:
    """Encode a COMPACT_STRING.

    Shape: UNSIGNED_VARINT size + 1, then at most 32767 UTF-8 bytes.
    Source: KIP-482.
    """
    return finish_write("a str", write_string, value, True, False)


def decode_compact_string(data: Buffer, offset: int = 0) -> tuple[str, int]:
    """Decode a COMPACT_STRING.

    Shape: UNSIGNED_VARINT size + 1, then at most 32767 UTF-8 bytes.
    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_string, True, False)


def encode_nullable_string(value: str | None) -> bytes:
    """Encode a NULLABLE_STRING.

    Shape: INT16 size (-1 for null), then that number of UTF-8 bytes.
    Source: KIP-482.
    """
    return finish_write("a str or None", write_string, value, False, True)


def decode_nullable_string(data: Buffer, offset: int = 0) -> tuple[str | None, int]:
    """Decode a NULLABLE_STRING.

    Shape: INT16 size (-1 for null), then that number of UTF-8 bytes.
    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_string, False, True)


def encode_compact_nullable_string(value: str | None) -> bytes:
    """Encode a COMPACT_NULLABLE_STRING.

    Shape: UNSIGNED_VARINT size + 1 (0 for null), then at most 32767 UTF-8 bytes.
    Source: KIP-482.
    """
    return finish_write("a str or None", write_string, value, True, True)


def decode_compact_nullable_string(
    data: Buffer, offset: int = 0
) -> tuple[str | None, int]:
    """Decode a COMPACT_NULLABLE_STRING.

    Shape: UNSIGNED_VARINT size + 1 (0 for null), then at most 32767 UTF-8 bytes.
    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_string, True, True)


def encode_bytes(value: Buffer) -> bytes:
    """Encode BYTES.

    Shape: INT32 size, then that number of bytes.
    Source: KIP-482.
    """
    return finish_write("bytes", write_bytes, value, False, False)


def decode_bytes(data: Buffer, offset: int = 0) -> tuple[bytes, int]:
    """Decode BYTES.

    Shape: INT32 size, then that number of bytes.
    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_bytes, False, False)


def encode_compact_bytes(value: Buffer) -> bytes:
    """Encode COMPACT_BYTES.

    Shape: UNSIGNED_VARINT size + 1, then the bytes.

    Source: KIP-482.
    """
    return finish_write("bytes", write_bytes, value, True, False)


def decode_compact_bytes(data: Buffer, offset: int = 0) -> tuple[bytes, int]:
    """Decode COMPACT_BYTES.

    Shape: UNSIGNED_VARINT size + 1, then the bytes.

    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_bytes, True, False)


def encode_nullable_bytes(value: Buffer | None) -> bytes:
    """Encode NULLABLE_BYTES.

    Shape: INT32 size (-1 for null), then that number of bytes.
    Source: KIP-482.
    """
    return finish_write("bytes or None", write_bytes, value, False, True)


def decode_nullable_bytes(data: Buffer, offset: int = 0) -> tuple[bytes | None, int]:
    """Decode NULLABLE_BYTES.

    Shape: INT32 size (-1 for null), then that number of bytes.
    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_bytes, False, True)


def encode_compact_nullable_bytes(value: Buffer | None) -> bytes:
    """Encode COMPACT_NULLABLE_BYTES.

    Shape: UNSIGNED_VARINT size + 1 (0 for null), then the bytes.
    Source: KIP-482.
    """
    return finish_write("bytes or None", write_bytes, value, True, True)


def decode_compact_nullable_bytes(
    data: Buffer, offset: int = 0
) -> tuple[bytes | None, int]:
    """Decode COMPACT_NULLABLE_BYTES.

    Shape: UNSIGNED_VARINT size + 1 (0 for null), then the bytes.
    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_bytes, True, True)


def encode_uuid(value: UUID) -> bytes:
    """Encode a UUID.

    Shape: 16 bytes, most significant byte first.
    Source: KIP-516.
    """
    return finish_write("a uuid.UUID", write_fixed, plan.UUID, value)


def decode_uuid(data: Buffer, offset: int = 0) -> tuple[UUID, int]:
    """Decode a UUID.

    Shape: 16 bytes, most significant byte first.
    Source: KIP-516.
    """
    return finish_read(open_input(data, offset), read_fixed, plan.UUID)


def encode_array(value: Iterable[object] | None, type: str = "int32") -> bytes:
    """Encode an ARRAY.

    ``type`` is the fixed-size type of the elements: "int8", "int16", "int32", "int64",
    "uint16", "uint32", "bool", "float64" or "uuid".

    Shape: INT32 count (-1 for null), then the elements.
    Source: KIP-482.
    """
    return finish_write("a sequence", write_array, value, find_code(type), False)


def decode_array(
    data: Buffer, type: str = "int32", offset: int = 0
) -> tuple[tuple[Any, ...] | None, int]:
    """Decode an ARRAY.

    ``type`` is the fixed-size type of the elements: "int8", "int16", "int32", "int64",
    "uint16", "uint32", "bool", "float64" or "uuid".

    Shape: INT32 count (-1 for null), then the elements.
    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_array, find_code(type), False)


def encode_compact_array(value: Iterable[object] | None, type: str = "int32") -> bytes:
    """Encode a COMPACT_ARRAY.

    ``type`` is the fixed-size type of the elements: "int8", "int16", "int32", "int64",
    "uint16", "uint32", "bool", "float64" or "uuid".

    Shape: UNSIGNED_VARINT count + 1 (0 for null), then the elements.
    Source: KIP-482.
    """
    return finish_write("a sequence", write_array, value, find_code(type), True)


def decode_compact_array(
    data: Buffer, type: str = "int32", offset: int = 0
) -> tuple[tuple[Any, ...] | None, int]:
    """Decode a COMPACT_ARRAY.

    ``type`` is the fixed-size type of the elements: "int8", "int16", "int32", "int64",
    "uint16", "uint32", "bool", "float64" or "uuid".

    Shape: UNSIGNED_VARINT count + 1 (0 for null), then the elements.
    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_array, find_code(type), True)


def encode_tagged_fields(value: dict[int, bytes]) -> bytes:
    """Encode a TAGGED_FIELDS section.

    ``value`` is a dict from tags to bytes. The tags may be in any order.

    Shape: UNSIGNED_VARINT count, then for each field in ascending tag order: tag, size
    and bytes.

    Source: KIP-482.
    """
    return finish_write("a dict of tags to bytes", write_tagged_fields, value)


def decode_tagged_fields(data: Buffer, offset: int = 0) -> tuple[dict[int, bytes], int]:
    """Decode a TAGGED_FIELDS section to a dict from tags to bytes.

    Tags that are repeated or not in ascending order are an error.

    Shape: UNSIGNED_VARINT count, then for each field in ascending tag order: tag, size
    and bytes.

    Source: KIP-482.
    """
    return finish_read(open_input(data, offset), read_tagged_fields)


def open_input(data: Buffer, offset: int) -> Cursor:
    """Create a cursor at an offset of the input.

    Raises ``ValueError`` if ``offset`` is outside of the input.
    """
    with memoryview(data) as view:
        if not view.c_contiguous:
            raise TypeError("the input must be contiguous in memory; pass bytes(data)")
        size = view.nbytes
        body = data if type(data) is bytes else view.tobytes()
    if not 0 <= offset <= size:
        raise ValueError(
            f"offset must be 0 to {size}, the length of the input (got {offset})"
        )
    return Cursor(body, offset, size)


def finish_read(cursor: Cursor, read: Any, *arguments: Any) -> tuple[Any, int]:
    """Return the result of a read, and the offset after the value.

    Raises ``DecodeError`` if reading has failed.
    """
    try:
        return read(cursor, *arguments), cursor.at
    except CursorFault as fault:
        path = format_path(cursor.path)
        raise errors.decode_failure(
            fault.code, fault.detail, fault.offset, path
        ) from None


def finish_write(expected: str, write: Any, *arguments: Any) -> bytes:
    """Return the encoded bytes of a value.

    Raises ``EncodeError`` if writing has failed.
    """
    writer = Writer()
    try:
        write(writer, *arguments)
    except ValueFault as fault:
        words = fault.expected or expected
        path = format_path(writer.path)
        raise errors.encode_failure(fault.code, words, fault.value, path) from None
    return bytes(writer.out)


def find_code(type: str) -> int:
    code = plan.CODES.get(type, 0)
    if code not in plan.SIZES:
        known = ", ".join([name for name in plan.CODES if name in FIXED_SIZES])
        raise ValueError(f"type must be one of {known} (got {type!r})")
    return code


def read_varint(cursor: Cursor) -> int:
    raw = read_unsigned_varint(cursor)
    return (raw >> 1) ^ -(raw & 1)


def read_varlong(cursor: Cursor) -> int:
    raw = read_unsigned_varlong(cursor)
    return (raw >> 1) ^ -(raw & 1)


def read_array(cursor: Cursor, code: int, compact: bool) -> tuple[Any, ...] | None:
    count = read_count(cursor, compact, True, plan.SIZES[code])
    if count < 0:
        return None
    if code < plan.UUID:
        return read_fixed_array(cursor, code, count)
    return tuple([read_fixed(cursor, code) for _ in range(count)])


def read_tagged_fields(cursor: Cursor) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    start = cursor.at
    count = read_unsigned_varint(cursor)
    if count > (cursor.end - cursor.at) // 2:
        raise CursorFault(errors.BAD_COUNT, start, count)
    previous = -1
    for _ in range(count):
        start = cursor.at
        tag = read_unsigned_varint(cursor)
        if tag <= previous:
            raise CursorFault(errors.TAG_OUT_OF_ORDER, start, tag)
        previous = tag
        size = read_unsigned_varint(cursor)
        require(cursor, size)
        found[tag] = bytes(cursor.data[cursor.at : cursor.at + size])
        cursor.at += size
    return found


def write_uint32(writer: Writer, value: Any) -> None:
    write_unsigned_varint(writer, _int_of(value, plan.UINT32))


def write_varint(writer: Writer, value: Any) -> None:
    number = _int_of(value, plan.INT32)
    write_unsigned_varint(writer, (number << 1) ^ (number >> 31))


def write_varlong(writer: Writer, value: Any) -> None:
    number = _int_of(value, plan.INT64)
    write_unsigned_varlong(writer, (number << 1) ^ (number >> 63))


def _int_of(value: Any, code: int) -> int:
    writer = Writer()
    write_fixed(writer, code, value)
    return int.from_bytes(writer.out, "big", signed=code != plan.UINT32)


def write_array(writer: Writer, value: Any, code: int, compact: bool) -> None:
    if value is None:
        write_length(writer, -1, compact, 4)
        return
    elements = get_elements(value)
    write_count(writer, len(elements), compact)
    for index, element in enumerate(elements):
        writer.path.append(index)
        try:
            write_fixed(writer, code, element)
        except ValueFault as fault:
            fault.expected = plan.WORDS[code]
            raise
        writer.path.pop()


def get_elements(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        raise ValueFault(errors.WRONG_TYPE, value)
    try:
        return tuple(value)
    except TypeError:
        raise ValueFault(errors.WRONG_TYPE, value) from None


def write_tagged_fields(writer: Writer, value: Any) -> None:
    if type(value) is not dict:
        raise ValueFault(errors.WRONG_TYPE, value)
    if not all(type(tag) is int for tag in value):
        raise ValueFault(errors.WRONG_TYPE, value)
    write_unsigned_varint(writer, len(value))
    for tag, content in sorted(value.items()):
        try:
            write_uint32(writer, tag)
        except ValueFault as fault:
            fault.expected = "a uint32"
            raise
        if type(content) is not bytes:
            raise ValueFault(errors.WRONG_TYPE, content, "bytes")
        if len(content) > LARGEST:
            raise ValueFault(errors.TOO_LARGE, content)
        write_unsigned_varint(writer, len(content))
        writer.out += content
