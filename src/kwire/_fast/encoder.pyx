# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encoding by walking the plan: the interpreter behind ``kwire.encode``.

The functions write fields, arrays, structs and tag sections in the order of the wire
and stop at the first value that cannot be written. They return whether it went well;
the fault and the value to blame are noted in the writer, the path on the way out.
Nothing is raised before ``failure`` at the top.

Twin: ``_pure/encoder.py``. Differs from its twin in: noted faults for exceptions and
a path that is written when unwinding.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport Py_EQ, PyObject
from cpython.ref cimport Py_XDECREF
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove

from kwire._fast.big_endian cimport likely, store_int16, store_int32, store_int64, unlikely
from kwire._fast.decoder cimport DEEPEST, LARGEST, LONGEST_STRING
from kwire._fast.encoder cimport *
from kwire._fast.program cimport *
from kwire._fast.structs cimport slots_of, type_of
from kwire._fast.writer cimport *

from kwire import errors
from kwire import plan as plans

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(PyObject* value, int* overflow)
    bint PyLong_Check(PyObject* value)
    bint PyLong_CheckExact(PyObject* value)
    unsigned long long PyLong_AsUnsignedLongLongMask(PyObject* value)
    double PyFloat_AsDouble(PyObject* value)
    bint PyTuple_CheckExact(PyObject* value)
    Py_ssize_t PyTuple_GET_SIZE(PyObject* values)
    PyObject* PyTuple_GET_ITEM(PyObject* values, Py_ssize_t index)
    bint PyBytes_CheckExact(PyObject* value)
    Py_ssize_t PyBytes_GET_SIZE(PyObject* value)
    bint PyUnicode_Check(PyObject* value)
    bint PyUnicode_IS_COMPACT_ASCII(PyObject* value)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject* value)
    void* PyUnicode_1BYTE_DATA(PyObject* value)
    const char* PyUnicode_AsUTF8AndSize(PyObject* value, Py_ssize_t* size)
    int PyObject_RichCompareBool(PyObject* a, PyObject* b, int op)
    PyObject* PyObject_GetAttr(PyObject* value, PyObject* name)
    PyObject* PyNumber_Rshift(PyObject* value, PyObject* by)
    int PyObject_IsInstance(PyObject* value, PyObject* cls)
    int PyObject_CheckBuffer(PyObject* value)
    PyObject* PyErr_Occurred()
    int PyErr_ExceptionMatches(PyObject* kind)
    void PyErr_Clear()
    PyObject* PyExc_BufferError

cdef extern from *:
    PyObject* NONE "Py_None"
    PyObject* TRUE "Py_True"
    PyObject* FALSE "Py_False"

_TAGS = "unknown_tagged_fields"

cdef object _uuid_type = None
cdef object _int_name = "int"
cdef object _sixty_four = 64
cdef Step _unnamed


cdef bint write_struct(Writer* writer, Table* table, PyObject* value) noexcept:
    """Write a struct of the right class, or note that it is none."""
    if unlikely(type_of(value) != table.cls):
        return blame(writer, NULL_NOT_ALLOWED if value == NONE else WRONG_TYPE, value)
    return write_slots(writer, table, slots_of(value))


cdef bint write_slots(Writer* writer, Table* table, PyObject** slots) noexcept:
    """Write the fields of a struct in schema order, then its tag section.

    A field that the version lacks has to hold its default, unless the schema lets it
    be ignored. Source: section ``ignorable`` of Kafka's message language.
    """
    cdef Step* step = table.steps
    cdef Step* last = step + table.step_count
    cdef PyObject* value
    cdef PyObject* unknown
    cdef int op
    cdef int64_t number
    cdef bint done
    while step < last:
        op = step.op
        if op == OP_CHECK:
            if unlikely(not ensure(writer, step.size)):
                return False
            step += 1
            continue
        value = slots[step.slot]
        if op == OP_INT32:
            done = as_int(writer, value, -2147483648, 2147483647, &number)
            store_int32(writer.at, <uint32_t>number)
            writer.at += 4
        elif op == OP_COMPACT_STRING:
            done = write_string(writer, value, True, step.nullable)
        elif op == OP_ARRAY:
            done = write_array(writer, step, value)
        elif op <= OP_UUID:
            done = put_fixed(writer, op, value)
        elif op == OP_ABSENT:
            done = value == step.default or check_default(writer, value, step.default)
        elif op > OP_ABSENT or op == OP_TAGGED:
            done = True
        else:
            done = write_field(writer, step, op, value)
        if unlikely(not done):
            if writer.step == NULL:
                writer.step = step
            note_path(writer, step)
            return False
        step += 1
    unknown = slots[table.slots - 1]
    if likely(table.tagged_count == 0 and is_empty(unknown)):
        if table.flexible:
            if unlikely(not ensure(writer, 1)):
                return False
            writer.at[0] = 0
            writer.at += 1
        return True
    if table.flexible:
        return write_tagged_fields(writer, table, slots)
    blame(writer, TAGS_NOT_IN_VERSION, unknown)
    note_path(writer, NULL)
    return False


cdef bint check_default(Writer* writer, PyObject* value, PyObject* default) noexcept:
    """Check that a field which the version lacks equals its default."""
    cdef int equal = PyObject_RichCompareBool(value, default, Py_EQ)
    if equal < 0:
        writer.fault = WRITE_ERROR
        return False
    return True if equal else blame(writer, NOT_IN_VERSION, value)


cdef bint write_field(Writer* writer, Step* step, int op, PyObject* value) noexcept:
    """Write one field that stands in line."""
    if op == OP_ARRAY:
        return write_array(writer, step, value)
    if op <= OP_UUID:
        return ensure(writer, size_of(op)) and put_fixed(writer, op, value)
    if op == OP_STRING or op == OP_COMPACT_STRING:
        return write_string(writer, value, step.compact, step.nullable)
    if op == OP_BYTES:
        return write_bytes(writer, value, step.compact, step.nullable)
    if op == OP_NULLABLE_STRUCT:
        if not ensure(writer, 1):
            return False
        writer.at[0] = 0xFF if value == NONE else 1
        writer.at += 1
        if value == NONE:
            return True
    return write_struct(writer, step.table, value)


cdef bint write_array(Writer* writer, Step* step, PyObject* value) noexcept:
    """Write an array: its count, then its elements."""
    cdef Py_ssize_t count
    cdef Py_ssize_t index
    cdef int inner = step.inner
    cdef PyObject* element
    cdef bint done
    if value == NONE:
        return write_null(writer, step.compact, 4, step.nullable)
    if unlikely(not PyTuple_CheckExact(value)):
        return blame(writer, WRONG_TYPE, value)
    count = PyTuple_GET_SIZE(value)
    if unlikely(count > LARGEST):
        return blame(writer, TOO_LARGE, value)
    if not write_length(writer, count, step.compact, 4):
        return False
    if inner <= OP_UUID and not ensure(writer, <size_t>count * size_of(inner)):
        return False
    for index in range(count):
        element = PyTuple_GET_ITEM(value, index)
        if inner == OP_STRUCT:
            done = write_struct(writer, step.table, element)
        elif inner <= OP_UUID:
            done = put_fixed(writer, inner, element)
        elif inner == OP_BYTES:
            done = write_bytes(writer, element, step.compact, False)
        else:
            done = write_string(writer, element, step.compact, False)
        if unlikely(not done):
            if writer.step == NULL:
                writer.step = step
                writer.element = True
            note_index(writer, index)
            return False
    return True


cdef bint write_tagged_fields(Writer* writer, Table* table, PyObject** slots) noexcept:
    """Write a tag section: known fields that differ from their default, and the
    unknown ones that the struct keeps, all in ascending order.

    Source: KIP-482.
    """
    cdef PyObject* unknown = slots[table.slots - 1]
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t count
    cdef Py_ssize_t known = 0
    cdef int index
    cdef Step* step
    cdef int differs[256]
    if not check_unknown_tags(writer, unknown, table):
        note_path(writer, NULL)
        return False
    count = PyTuple_GET_SIZE(unknown)
    for index in range(table.tagged_count):
        step = &table.tagged[index]
        differs[index & 255] = slots[step.slot] != step.default and not equals(
            writer, slots[step.slot], step.default
        )
        known += differs[index & 255]
    if writer.fault or not write_unsigned_varint(writer, <uint32_t>(known + count)):
        return False
    for index in range(table.tagged_count):
        if not differs[index & 255]:
            continue
        step = &table.tagged[index]
        while kept < count and tag_of(unknown, kept) < step.tag:
            if not write_unknown_tag(writer, PyTuple_GET_ITEM(unknown, kept)):
                return False
            kept += 1
        if not write_tagged_field(writer, step, slots[step.slot]):
            if writer.step == NULL:
                writer.step = step
            note_path(writer, step)
            return False
    while kept < count:
        if not write_unknown_tag(writer, PyTuple_GET_ITEM(unknown, kept)):
            return False
        kept += 1
    return True


cdef bint check_unknown_tags(Writer* writer, PyObject* unknown, Table* table) noexcept:
    """Check that unknown tags are (tag, bytes) pairs, ascending, and really unknown."""
    cdef Py_ssize_t index
    cdef int known
    cdef int64_t previous = -1
    cdef int64_t tag
    cdef int overflow = 0
    cdef PyObject* pair
    cdef bint taken
    if not PyTuple_CheckExact(unknown):
        return blame(writer, TAGS_NOT_PAIRS, unknown)
    for index in range(PyTuple_GET_SIZE(unknown)):
        pair = PyTuple_GET_ITEM(unknown, index)
        if (
            not PyTuple_CheckExact(pair)
            or PyTuple_GET_SIZE(pair) != 2
            or not PyLong_CheckExact(PyTuple_GET_ITEM(pair, 0))
            or not PyBytes_CheckExact(PyTuple_GET_ITEM(pair, 1))
        ):
            return blame(writer, TAGS_NOT_PAIRS, unknown)
        tag = PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(pair, 0), &overflow)
        taken = overflow != 0 or not previous < tag <= 0xFFFFFFFF
        for known in range(table.tagged_count):
            taken = taken or table.tagged[known].tag == tag
        for known in range(table.invalid_count):
            taken = taken or table.invalid_tags[known] == tag
        if taken:
            return blame(writer, TAGS_OUT_OF_ORDER, unknown)
        previous = tag
    return True


cdef bint write_unknown_tag(Writer* writer, PyObject* pair) noexcept:
    """Write one tag that was kept from decoding."""
    cdef PyObject* content = PyTuple_GET_ITEM(pair, 1)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(content)
    cdef int overflow = 0
    cdef long long tag = PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(pair, 0), &overflow)
    if size > LARGEST:
        return blame(writer, TOO_LARGE, content)
    return (
        write_unsigned_varint(writer, <uint32_t>tag)
        and write_unsigned_varint(writer, <uint32_t>size)
        and write_raw(writer, PyBytes_AS_STRING(content), size)
    )


cdef bint write_tagged_field(Writer* writer, Step* step, PyObject* value) noexcept:
    """Write the tag, the size in bytes and the content of one known field.

    One byte is left for the size, and the content moved if that was too little.
    """
    cdef Py_ssize_t place
    cdef Py_ssize_t size
    cdef int more
    if not write_unsigned_varint(writer, step.tag) or not ensure(writer, 1):
        return False
    writer.at += 1
    place = writer.at - writer.start
    if step.inner != OP_NULLABLE_STRUCT:
        if not write_field(writer, step, step.inner, value):
            return False
    else:
        if not write_unsigned_varint(writer, value != NONE):
            return False
        if value != NONE and not write_struct(writer, step.table, value):
            return False
    size = writer.at - writer.start - place
    if size > LARGEST:
        return blame(writer, TOO_LARGE, value)
    if size > 0x7F:
        more = varint_size(<uint32_t>size) - 1
        if not ensure(writer, more):
            return False
        memmove(writer.start + place + more, writer.start + place, <size_t>size)
    writer.at = writer.start + place - 1
    if not write_unsigned_varint(writer, <uint32_t>size):
        return False
    writer.at += size
    return True


cdef inline bint write_length(
    Writer* writer, Py_ssize_t length, bint compact, int classic_size
) noexcept:
    """Write the length of a string, bytes or array; -1 stands for null."""
    if compact:
        return write_unsigned_varint(writer, <uint32_t>(length + 1))
    if unlikely(not ensure(writer, classic_size)):
        return False
    if classic_size == 2:
        store_int16(writer.at, <uint16_t>length)
    else:
        store_int32(writer.at, <uint32_t>length)
    writer.at += classic_size
    return True


cdef bint write_string(
    Writer* writer, PyObject* value, bint compact, bint nullable
) noexcept:
    """Write a STRING or COMPACT_STRING of at most 32767 bytes."""
    cdef const char* text
    cdef Py_ssize_t size
    if value == NONE:
        return write_null(writer, compact, 2, nullable)
    if unlikely(not PyUnicode_Check(value)):
        return blame(writer, WRONG_TYPE, value)
    if likely(PyUnicode_IS_COMPACT_ASCII(value)):
        text = <const char*>PyUnicode_1BYTE_DATA(value)
        size = PyUnicode_GET_LENGTH(value)
    else:
        text = PyUnicode_AsUTF8AndSize(value, &size)
        if text == NULL:
            PyErr_Clear()
            return blame(writer, NOT_UTF8, value)
    if unlikely(size > LONGEST_STRING):
        return blame(writer, TEXT_TOO_LONG, value)
    return write_length(writer, size, compact, 2) and write_raw(writer, text, size)


cdef bint write_bytes(
    Writer* writer, PyObject* value, bint compact, bint nullable
) noexcept:
    """Write BYTES, COMPACT_BYTES or RECORDS from any contiguous bytes-like."""
    cdef Py_buffer buffer
    cdef bint done
    if PyBytes_CheckExact(value):
        if unlikely(PyBytes_GET_SIZE(value) > LARGEST):
            return blame(writer, TOO_LARGE, value)
        return write_length(
            writer, PyBytes_GET_SIZE(value), compact, 4
        ) and write_raw(writer, PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value))
    if value == NONE:
        return write_null(writer, compact, 4, nullable)
    if not PyObject_CheckBuffer(value):
        return blame(writer, WRONG_TYPE, value)
    if not get_buffer(value, &buffer):
        writer.expected = "contiguous bytes"
        return blame(writer, WRONG_TYPE, value)
    if buffer.len > LARGEST:
        done = blame(writer, TOO_LARGE, value)
    else:
        done = write_length(writer, buffer.len, compact, 4) and write_raw(
            writer, <const char*>buffer.buf, buffer.len
        )
    PyBuffer_Release(&buffer)
    return done


cdef bint write_null(
    Writer* writer, bint compact, int classic_size, bint nullable
) noexcept:
    """Write null, or refuse it where the version cannot carry it."""
    if not nullable:
        return blame(writer, NULL_NOT_ALLOWED, NONE)
    return write_length(writer, -1, compact, classic_size)


cdef inline bint write_raw(Writer* writer, const char* data, Py_ssize_t size) noexcept:
    """Write bytes as they are."""
    if unlikely(not ensure(writer, <size_t>size)):
        return False
    memcpy(writer.at, data, <size_t>size)
    writer.at += size
    return True


cdef bint put_fixed(Writer* writer, int op, PyObject* value) noexcept:
    """Write one fixed-size value for which ``ensure`` has made room."""
    cdef int64_t number = 0
    cdef double real
    cdef uint64_t raw
    if op == OP_INT32:
        if not as_int(writer, value, -2147483648, 2147483647, &number):
            return False
        store_int32(writer.at, <uint32_t>number)
    elif op == OP_INT16:
        if not as_int(writer, value, -32768, 32767, &number):
            return False
        store_int16(writer.at, <uint16_t>number)
    elif op == OP_INT64:
        if not as_int(writer, value, INT64_MIN, INT64_MAX, &number):
            return False
        store_int64(writer.at, <uint64_t>number)
    elif op == OP_BOOL:
        if value != TRUE and value != FALSE:
            return blame(writer, NULL_NOT_ALLOWED if value == NONE else WRONG_TYPE, value)
        writer.at[0] = value == TRUE
    elif op == OP_INT8:
        if not as_int(writer, value, -128, 127, &number):
            return False
        writer.at[0] = <uint8_t>number
    elif op == OP_UINT16:
        if not as_int(writer, value, 0, 65535, &number):
            return False
        store_int16(writer.at, <uint16_t>number)
    elif op == OP_UINT32:
        if not as_int(writer, value, 0, 4294967295, &number):
            return False
        store_int32(writer.at, <uint32_t>number)
    elif op == OP_FLOAT64:
        if value == NONE:
            return blame(writer, NULL_NOT_ALLOWED, value)
        real = PyFloat_AsDouble(value)
        if real == -1.0 and PyErr_Occurred():
            PyErr_Clear()
            return blame(writer, WRONG_TYPE, value)
        memcpy(&raw, &real, 8)
        store_int64(writer.at, raw)
    else:
        return put_uuid(writer, value)
    writer.at += size_of(op)
    return True


cdef inline bint as_int(
    Writer* writer, PyObject* value, int64_t low, int64_t high, int64_t* number
) noexcept:
    """Get an int within a range out of anything that has ``__index__``."""
    cdef int overflow = 0
    number[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
    if unlikely(number[0] == -1 and not overflow and PyErr_Occurred()):
        PyErr_Clear()
        return blame(writer, NULL_NOT_ALLOWED if value == NONE else WRONG_TYPE, value)
    if unlikely(overflow or number[0] < low or number[0] > high):
        return blame(writer, OUT_OF_RANGE, value)
    return True


cdef bint put_uuid(Writer* writer, PyObject* value) noexcept:
    """Write a ``uuid.UUID``: 16 bytes, most significant first."""
    cdef PyObject* number
    cdef PyObject* half
    if _uuid_type is None and not load_uuid():
        writer.fault = WRITE_ERROR
        return False
    if PyObject_IsInstance(value, <PyObject*>_uuid_type) != 1:
        PyErr_Clear()
        return blame(writer, NULL_NOT_ALLOWED if value == NONE else WRONG_TYPE, value)
    number = PyObject_GetAttr(value, <PyObject*>_int_name)
    half = NULL if number == NULL else PyNumber_Rshift(number, <PyObject*>_sixty_four)
    if half == NULL:
        Py_XDECREF(number)
        writer.fault = WRITE_ERROR
        return False
    store_int64(writer.at, PyLong_AsUnsignedLongLongMask(half))
    store_int64(writer.at + 8, PyLong_AsUnsignedLongLongMask(number))
    writer.at += 16
    Py_XDECREF(half)
    Py_XDECREF(number)
    return True


cdef bint load_uuid() noexcept:
    global _uuid_type
    try:
        import uuid

        _uuid_type = uuid.UUID
    except MemoryError:
        return False
    return True


cdef inline bint is_empty(PyObject* unknown) noexcept:
    return PyTuple_CheckExact(unknown) and PyTuple_GET_SIZE(unknown) == 0


cdef bint equals(Writer* writer, PyObject* value, PyObject* default) noexcept:
    cdef int equal = PyObject_RichCompareBool(value, default, Py_EQ)
    if equal < 0:
        writer.fault = WRITE_ERROR
    return equal == 1


cdef inline int64_t tag_of(PyObject* unknown, Py_ssize_t index) noexcept:
    cdef int overflow = 0
    cdef PyObject* pair = PyTuple_GET_ITEM(unknown, index)
    return PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(pair, 0), &overflow)


cdef inline int varint_size(uint32_t value) noexcept nogil:
    cdef int size = 1
    while value > 0x7F:
        value >>= 7
        size += 1
    return size


cdef bint get_buffer(PyObject* value, Py_buffer* buffer) noexcept:
    try:
        PyObject_GetBuffer(<object>value, buffer, PyBUF_SIMPLE)
    except BufferError:
        return False
    return True


cdef bint blame(Writer* writer, int fault, PyObject* value) noexcept nogil:
    """Note a value that cannot be written; always False."""
    writer.fault = fault
    writer.value = value
    return False


cdef void note_path(Writer* writer, Step* step) noexcept nogil:
    """Write down the field that a fault came through; NULL for the unknown tags."""
    if writer.depth < DEEPEST and (
        writer.depth == 0 or writer.path[writer.depth - 1].step != &_unnamed
    ):
        writer.path[writer.depth].index = -1
        writer.depth += 1
    writer.path[writer.depth - 1].step = step


cdef void note_index(Writer* writer, Py_ssize_t index) noexcept nogil:
    """Write down the element of an array that a fault came through."""
    if writer.depth < DEEPEST:
        writer.path[writer.depth].step = &_unnamed
        writer.path[writer.depth].index = index
        writer.depth += 1


def encode(message, version):
    """Encode a message body: no size, no header.

    Raises ``EncodeError`` with the path of the first value that cannot be written,
    or ``UnsupportedVersion``.
    """
    cdef Program program = program_of(type(message), version)
    cdef Writer writer
    cdef PyObject* out = NULL
    if start(&writer, program.size_hint) and write_slots(
        &writer, program.table, slots_of(<void*>message)
    ):
        program.size_hint = writer.at - writer.start + 16
        out = finish(&writer)
    if out == NULL:
        raise failure(&writer, program)
    result = <bytes>out
    Py_XDECREF(out)
    return result


cdef object failure(Writer* writer, Program program):
    """Build the exception of a noted fault and let the buffer go."""
    cdef int index
    path = ""
    expected = ""
    Py_XDECREF(writer.out)
    writer.out = NULL
    if writer.fault <= 0:
        return pending()
    for index in range(writer.depth - 1, -1, -1):
        if writer.path[index].step == NULL:
            name = _TAGS
        elif writer.path[index].step == &_unnamed:
            name = ""
        else:
            name = <object>writer.path[index].step.attribute
        path += f".{name}" if path and name else name
        if writer.path[index].index >= 0:
            path += f"[{writer.path[index].index}]"
    if writer.expected != NULL:
        expected = writer.expected.decode()
    elif writer.step != NULL:
        expected = plans.expected(<object>writer.step.step, writer.element)
    return errors.encode_failure(
        writer.fault,
        expected,
        <object>writer.value,
        path,
        program.layout.name,
        program.layout.version,
    )


cdef object pending():
    """Take the exception that is set, for want of memory or from a user's object."""
    try:
        raise_pending()
    except BaseException as error:
        return error


cdef extern from *:
    """
    static PyObject *kwire_raise_pending(void) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return NULL;
    }
    """
    object raise_pending "kwire_raise_pending"()
