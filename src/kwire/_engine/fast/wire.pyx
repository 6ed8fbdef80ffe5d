# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes single values of the protocol's primitive types.

``decode_*(data, offset=0)`` returns the value and the offset after it. Both offsets are
in bytes from the start of ``data``, which is a contiguous bytes-like object. Invalid
bytes raise ``DecodeError``. ``encode_*(value)`` returns bytes, and raises
``EncodeError`` if the value cannot be encoded. ``bulk.pyx`` contains functions for many
values in one call.

Twin: ``pure/wire.py``. Differs from its twin in: errors are fault codes.

Only in Cython: ``begin``, ``read_sized``, ``write_sized``.
"""

from libc.stdint cimport (
    INT32_MAX,
    INT32_MIN,
    INT64_MAX,
    INT64_MIN,
    UINT32_MAX,
    int32_t,
    int64_t,
    uint8_t,
    uint32_t,
    uint64_t,
)

from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.decoder cimport get_input
from kwire._engine.fast.primitives cimport *
from kwire._engine.fast.program cimport OP_UUID, size_of
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.writer cimport *

from kwire import errors
from kwire.schema import plan as plans
from kwire.schema.model import FIXED_SIZES

__all__ = [
    "decode_array",
    "encode_array",
    "decode_bytes",
    "encode_bytes",
    "decode_compact_array",
    "encode_compact_array",
    "decode_compact_bytes",
    "encode_compact_bytes",
    "decode_compact_nullable_bytes",
    "encode_compact_nullable_bytes",
    "decode_compact_nullable_string",
    "encode_compact_nullable_string",
    "decode_compact_string",
    "encode_compact_string",
    "decode_nullable_bytes",
    "encode_nullable_bytes",
    "decode_nullable_string",
    "encode_nullable_string",
    "decode_string",
    "encode_string",
    "decode_tagged_fields",
    "encode_tagged_fields",
    "decode_unsigned_varint",
    "encode_unsigned_varint",
    "decode_uuid",
    "encode_uuid",
    "decode_varint",
    "encode_varint",
    "decode_varlong",
    "encode_varlong",
]

cdef struct Input:
    Cursor cursor
    Py_buffer buffer
    bint held

# Readers and writers of strings and bytes. The last two parameters are compact and
# nullable.
ctypedef PyObject* (*ReadSized)(Cursor*, bint, bint) noexcept
ctypedef bint (*WriteSized)(Writer*, PyObject*, bint, bint) noexcept


def encode_unsigned_varint(value):
    """Encode an UNSIGNED_VARINT.

    Shape: 1 to 5 bytes with 7 bits each, lowest bits first. Range: 0 to 2**32 - 1.
    Source: ``ByteUtils.writeUnsignedVarint``.
    """
    cdef Writer writer
    begin(&writer)
    return finish_write(&writer, write_uint32(&writer, <PyObject*>value), "a uint32")


def decode_unsigned_varint(data, Py_ssize_t offset=0):
    """Decode an UNSIGNED_VARINT.

    Shape: 1 to 5 bytes with 7 bits each, lowest bits first. Range: 0 to 2**32 - 1.
    Source: ``ByteUtils.readUnsignedVarint``.
    """
    cdef Input source
    open_input(&source, data, offset)
    return finish_read(
        &source, PyLong_FromUnsignedLong(read_unsigned_varint(&source.cursor))
    )


def encode_varint(value):
    """Encode a VARINT.

    Shape: zigzag-encoded int32 in 1 to 5 bytes.
    Source: ``ByteUtils.writeVarint``.
    """
    cdef Writer writer
    begin(&writer)
    return finish_write(&writer, write_varint(&writer, <PyObject*>value), "an int32")


def decode_varint(data, Py_ssize_t offset=0):
    """Decode a VARINT.

    Shape: zigzag-encoded int32 in 1 to 5 bytes.
    Source: ``ByteUtils.readVarint``.
    """
    cdef Input source
    open_input(&source, data, offset)
    return finish_read(&source, int_of(read_varint(&source.cursor)))


def encode_varlong(value):
    """Encode a VARLONG.

    Shape: zigzag-encoded int64 in 1 to 10 bytes.
    Source: ``ByteUtils.writeVarlong``.
    """
    cdef Writer writer
    begin(&writer)
    return finish_write(&writer, write_varlong(&writer, <PyObject*>value), "an int64")


def decode_varlong(data, Py_ssize_t offset=0):
    """Decode a VARLONG.

    Shape: zigzag-encoded int64 in 1 to 10 bytes.
    Source: ``ByteUtils.readVarlong``.
    """
    cdef Input source
    open_input(&source, data, offset)
    return finish_read(&source, int_of(read_varlong(&source.cursor)))


def encode_string(value):
    """Encode a STRING.

    Shape: INT16 size, then that number of UTF-8 bytes.
    Source: KIP-482.
    """
    return write_sized(write_string, value, False, False, "a str")


def decode_string(data, Py_ssize_t offset=0):
    """Decode a STRING.

    Shape: INT16 size, then that number of UTF-8 bytes.
    Source: KIP-482.
    """
    return read_sized(read_string, data, offset, False, False)


def encode_compact_string(value):
    """Encode a COMPACT_STRING.

    Shape: UNSIGNED_VARINT size + 1, then at most 32767 UTF-8 bytes.
    Source: KIP-482.
    """
    return write_sized(write_string, value, True, False, "a str")


def decode_compact_string(data, Py_ssize_t offset=0):
    """Decode a COMPACT_STRING.

    Shape: UNSIGNED_VARINT size + 1, then at most 32767 UTF-8 bytes.
    Source: KIP-482.
    """
    return read_sized(read_string, data, offset, True, False)


def encode_nullable_string(value):
    """Encode a NULLABLE_STRING.

    Shape: INT16 size (-1 for null), then that number of UTF-8 bytes.
    Source: KIP-482.
    """
    return write_sized(write_string, value, False, True, "a str or None")


def decode_nullable_string(data, Py_ssize_t offset=0):
    """Decode a NULLABLE_STRING.

    Shape: INT16 size (-1 for null), then that number of UTF-8 bytes.
    Source: KIP-482.
    """
    return read_sized(read_string, data, offset, False, True)


def encode_compact_nullable_string(value):
    """Encode a COMPACT_NULLABLE_STRING.

    Shape: UNSIGNED_VARINT size + 1 (0 for null), then at most 32767 UTF-8 bytes.
    Source: KIP-482.
    """
    return write_sized(write_string, value, True, True, "a str or None")


def decode_compact_nullable_string(data, Py_ssize_t offset=0):
    """Decode a COMPACT_NULLABLE_STRING.

    Shape: UNSIGNED_VARINT size + 1 (0 for null), then at most 32767 UTF-8 bytes.
    Source: KIP-482.
    """
    return read_sized(read_string, data, offset, True, True)


def encode_bytes(value):
    """Encode BYTES.

    Shape: INT32 size, then that number of bytes.
    Source: KIP-482.
    """
    return write_sized(write_bytes, value, False, False, "bytes")


def decode_bytes(data, Py_ssize_t offset=0):
    """Decode BYTES.

    Shape: INT32 size, then that number of bytes.
    Source: KIP-482.
    """
    return read_sized(read_bytes, data, offset, False, False)


def encode_compact_bytes(value):
    """Encode COMPACT_BYTES.

    Shape: UNSIGNED_VARINT size + 1, then the bytes.

    Source: KIP-482.
    """
    return write_sized(write_bytes, value, True, False, "bytes")


def decode_compact_bytes(data, Py_ssize_t offset=0):
    """Decode COMPACT_BYTES.

    Shape: UNSIGNED_VARINT size + 1, then the bytes.

    Source: KIP-482.
    """
    return read_sized(read_bytes, data, offset, True, False)


def encode_nullable_bytes(value):
    """Encode NULLABLE_BYTES.

    Shape: INT32 size (-1 for null), then that number of bytes.
    Source: KIP-482.
    """
    return write_sized(write_bytes, value, False, True, "bytes or None")


def decode_nullable_bytes(data, Py_ssize_t offset=0):
    """Decode NULLABLE_BYTES.

    Shape: INT32 size (-1 for null), then that number of bytes.
    Source: KIP-482.
    """
    return read_sized(read_bytes, data, offset, False, True)


def encode_compact_nullable_bytes(value):
    """Encode COMPACT_NULLABLE_BYTES.

    Shape: UNSIGNED_VARINT size + 1 (0 for null), then the bytes.
    Source: KIP-482.
    """
    return write_sized(write_bytes, value, True, True, "bytes or None")


def decode_compact_nullable_bytes(data, Py_ssize_t offset=0):
    """Decode COMPACT_NULLABLE_BYTES.

    Shape: UNSIGNED_VARINT size + 1 (0 for null), then the bytes.
    Source: KIP-482.
    """
    return read_sized(read_bytes, data, offset, True, True)


def encode_uuid(value):
    """Encode a UUID.

    Shape: 16 bytes, most significant byte first.
    Source: KIP-516.
    """
    cdef Writer writer
    begin(&writer)
    return finish_write(
        &writer, write_fixed(&writer, OP_UUID, <PyObject*>value), "a uuid.UUID"
    )


def decode_uuid(data, Py_ssize_t offset=0):
    """Decode a UUID.

    Shape: 16 bytes, most significant byte first.
    Source: KIP-516.
    """
    cdef Input source
    open_input(&source, data, offset)
    return finish_read(&source, read_fixed(&source.cursor, OP_UUID))


def encode_array(value, str type="int32"):
    """Encode an ARRAY.

    ``type`` is the fixed-size type of the elements: "int8", "int16", "int32", "int64",
    "uint16", "uint32", "bool", "float64" or "uuid".

    Shape: INT32 count (-1 for null), then the elements.
    Source: KIP-482.
    """
    cdef Writer writer
    cdef int code = find_code(type)
    begin(&writer)
    return finish_write(&writer, write_array(&writer, value, code, False), "a sequence")


def decode_array(data, str type="int32", Py_ssize_t offset=0):
    """Decode an ARRAY.

    ``type`` is the fixed-size type of the elements: "int8", "int16", "int32", "int64",
    "uint16", "uint32", "bool", "float64" or "uuid".

    Shape: INT32 count (-1 for null), then the elements.
    Source: KIP-482.
    """
    cdef Input source
    cdef int code = find_code(type)
    open_input(&source, data, offset)
    return finish_read(&source, read_array(&source, code, False))


def encode_compact_array(value, str type="int32"):
    """Encode a COMPACT_ARRAY.

    ``type`` is the fixed-size type of the elements: "int8", "int16", "int32", "int64",
    "uint16", "uint32", "bool", "float64" or "uuid".

    Shape: UNSIGNED_VARINT count + 1 (0 for null), then the elements.
    Source: KIP-482.
    """
    cdef Writer writer
    cdef int code = find_code(type)
    begin(&writer)
    return finish_write(&writer, write_array(&writer, value, code, True), "a sequence")


def decode_compact_array(data, str type="int32", Py_ssize_t offset=0):
    """Decode a COMPACT_ARRAY.

    ``type`` is the fixed-size type of the elements: "int8", "int16", "int32", "int64",
    "uint16", "uint32", "bool", "float64" or "uuid".

    Shape: UNSIGNED_VARINT count + 1 (0 for null), then the elements.
    Source: KIP-482.
    """
    cdef Input source
    cdef int code = find_code(type)
    open_input(&source, data, offset)
    return finish_read(&source, read_array(&source, code, True))


def encode_tagged_fields(value):
    """Encode a TAGGED_FIELDS section.

    ``value`` is a dict from tags to bytes. The tags may be in any order.

    Shape: UNSIGNED_VARINT count, then for each field in ascending tag order: tag, size
    and bytes.

    Source: KIP-482.
    """
    cdef Writer writer
    begin(&writer)
    return finish_write(
        &writer, write_tagged_fields(&writer, value), "a dict of tags to bytes"
    )


def decode_tagged_fields(data, Py_ssize_t offset=0):
    """Decode a TAGGED_FIELDS section to a dict from tags to bytes.

    Tags that are repeated or not in ascending order are an error.

    Shape: UNSIGNED_VARINT count, then for each field in ascending tag order: tag, size
    and bytes.

    Source: KIP-482.
    """
    cdef Input source
    cdef dict found = {}
    open_input(&source, data, offset)
    if not read_tagged_fields(&source, found):
        return finish_read(&source, NULL)
    return finish_read(&source, new_ref(<PyObject*>found))


cdef int open_input(Input* source, object data, Py_ssize_t offset) except -1:
    """Create a cursor at an offset of the input.

    Raises ``ValueError`` if ``offset`` is outside of the input.
    """
    cdef Py_ssize_t size
    source.held = False
    source.cursor.fault = 0
    source.cursor.lenient = False
    source.cursor.max_elements = source.cursor.max_tags = INT64_MAX
    source.cursor.view = NULL
    if PyBytes_CheckExact(<PyObject*>data):
        source.cursor.start = <const uint8_t*>PyBytes_AS_STRING(<PyObject*>data)
        size = PyBytes_GET_SIZE(<PyObject*>data)
    else:
        get_input(data, &source.buffer)
        source.held = True
        source.cursor.start = <const uint8_t*>source.buffer.buf
        size = source.buffer.len
    source.cursor.at = source.cursor.start
    source.cursor.end = source.cursor.start + size
    if not 0 <= offset <= size:
        finish_read(source, new_ref(NONE))
        raise ValueError(
            f"offset must be 0 to {size}, the length of the input"
            f" (got {offset})"
        )
    source.cursor.at += offset
    return 0


cdef object finish_read(Input* source, PyObject* value):
    """Return the result of a read, and the offset after the value.

    Raises ``DecodeError`` if reading has failed.
    """
    cdef Cursor* cursor = &source.cursor
    if source.held:
        PyBuffer_Release(&source.buffer)
    if cursor.fault or value == NULL:
        Py_XDECREF(value)
        if cursor.fault <= 0:
            raise_pending()
        raise errors.decode_failure(
            cursor.fault, cursor.fault_detail, cursor.fault_offset, ""
        )
    result = <object>value
    Py_XDECREF(value)
    return result, cursor.at - cursor.start


cdef object read_sized(
    ReadSized read, object data, Py_ssize_t offset, bint compact, bint nullable
):
    """Read a string or bytes from the input."""
    cdef Input source
    open_input(&source, data, offset)
    return finish_read(&source, read(&source.cursor, compact, nullable))


cdef void begin(Writer* writer) noexcept:
    start(writer, ON_STACK)


cdef object finish_write(Writer* writer, bint done, str expected):
    """Return the encoded bytes of a value.

    Raises ``EncodeError`` if writing has failed.
    """
    cdef PyObject* out = finish(writer) if done else NULL
    if out != NULL:
        result = <bytes>out
        Py_XDECREF(out)
        return result
    Py_XDECREF(writer.out)
    if writer.fault <= 0:
        raise_pending()
    if writer.expected != NULL:
        expected = writer.expected.decode()
    raise errors.encode_failure(writer.fault, expected, <object>writer.value, "")


cdef object write_sized(
    WriteSized write, object value, bint compact, bint nullable, str expected
):
    """Write a string or bytes."""
    cdef Writer writer
    begin(&writer)
    return finish_write(
        &writer, write(&writer, <PyObject*>value, compact, nullable), expected
    )


cdef int find_code(str type) except -1:
    code = plans.CODES.get(type, 0)
    if code not in plans.SIZES:
        known = ", ".join([name for name in plans.CODES if name in FIXED_SIZES])
        raise ValueError(f"type must be one of {known} (got {type!r})")
    return code


cdef int32_t read_varint(Cursor* cursor) noexcept:
    cdef uint32_t raw = read_unsigned_varint(cursor)
    return <int32_t>(raw >> 1 ^ (0 - (raw & 1)))


cdef int64_t read_varlong(Cursor* cursor) noexcept:
    cdef uint64_t raw = read_unsigned_varlong(cursor)
    return <int64_t>(raw >> 1 ^ (0 - (raw & 1)))


cdef PyObject* read_array(Input* source, int code, bint compact) noexcept:
    cdef Cursor* cursor = &source.cursor
    cdef Py_ssize_t count = read_count(cursor, compact, True, size_of(code))
    cdef Py_ssize_t index
    cdef PyObject* made
    cdef PyObject* value
    cdef int steps = STEPS
    if count < 0:
        return NULL if cursor.fault else new_ref(NONE)
    made = PyTuple_New(count)
    if made == NULL:
        return NULL
    for index in range(count):
        value = get_fixed(cursor, code) if take_step(&steps) else NULL
        if value == NULL:
            Py_XDECREF(made)
            return NULL
        PyTuple_SET_ITEM(made, index, value)
    return made


cdef bint read_tagged_fields(Input* source, dict found) except -1:
    cdef Cursor* cursor = &source.cursor
    cdef const uint8_t* start = cursor.at
    cdef uint32_t count = read_unsigned_varint(cursor)
    cdef uint32_t tag, size
    cdef int64_t previous = -1
    if not cursor.fault and count > <size_t>(cursor.end - cursor.at) // 2:
        note(cursor, BAD_COUNT, start, count)
    if cursor.fault:
        return False
    for _ in range(count):
        start = cursor.at
        tag = read_unsigned_varint(cursor)
        if not cursor.fault and tag <= previous:
            note(cursor, TAG_OUT_OF_ORDER, start, tag)
        if cursor.fault:
            return False
        previous = tag
        size = read_unsigned_varint(cursor)
        if cursor.fault or not require(cursor, size):
            return False
        found[tag] = <bytes>cursor.at[:size]
        cursor.at += size
    return True


cdef bint write_uint32(Writer* writer, PyObject* value) noexcept:
    cdef int64_t number = 0
    if not as_int(writer, value, 0, UINT32_MAX, &number):
        return False
    return write_unsigned_varint(writer, <uint32_t>number)


cdef bint write_varint(Writer* writer, PyObject* value) noexcept:
    cdef int64_t number = 0
    if not as_int(writer, value, INT32_MIN, INT32_MAX, &number):
        return False
    return write_unsigned_varint(
        writer, <uint32_t>(<uint64_t>number << 1 ^ <uint64_t>(number >> 31))
    )


cdef bint write_varlong(Writer* writer, PyObject* value) noexcept:
    cdef int64_t number = 0
    if not as_int(writer, value, INT64_MIN, INT64_MAX, &number):
        return False
    return write_unsigned_varlong(
        writer, <uint64_t>number << 1 ^ <uint64_t>(number >> 63)
    )


cdef bint write_array(Writer* writer, object value, int code, bint compact) except -1:
    cdef Py_ssize_t index, count
    if value is None:
        return write_length(writer, -1, compact, 4)
    elements = get_elements(value)
    if elements is None:
        return blame(writer, WRONG_TYPE, <PyObject*>value)
    count = len(elements)
    if count > LARGEST:
        return blame(writer, TOO_LARGE, <PyObject*>value)
    if not write_length(writer, count, compact, 4):
        return False
    for index in range(count):
        element = elements[index]
        if not take_step(&writer.steps):
            writer.fault = WRITE_ERROR
            return False
        if not write_fixed(writer, code, <PyObject*>element):
            if writer.fault > 0:
                Py_XDECREF(writer.out)
                writer.out = NULL
                raise errors.encode_failure(
                    writer.fault, plans.WORDS[code], element, f"[{index}]"
                )
            return False
    return True


cdef tuple get_elements(object value):
    cdef tuple elements = None
    if not isinstance(value, (str, bytes, bytearray, memoryview)):
        try:
            elements = tuple(value)
        except TypeError:
            pass
    return elements


cdef bint write_tagged_fields(Writer* writer, object value) except -1:
    if type(value) is not dict:
        return blame(writer, WRONG_TYPE, <PyObject*>value)
    for tag in value:
        if type(tag) is not int:
            return blame(writer, WRONG_TYPE, <PyObject*>value)
    if not write_unsigned_varint(writer, <uint32_t>len(value)):
        return False
    for tag, content in sorted(value.items()):
        if not write_uint32(writer, <PyObject*>tag):
            writer.expected = "a uint32"
            return False
        if type(content) is not bytes:
            writer.expected = "bytes"
            return blame(writer, WRONG_TYPE, <PyObject*>content)
        if len(content) > LARGEST:
            return blame(writer, TOO_LARGE, <PyObject*>content)
        if not write_unsigned_varint(writer, <uint32_t>len(content)):
            return False
        if not write_raw(writer, PyBytes_AS_STRING(<PyObject*>content), len(content)):
            return False
    return True
