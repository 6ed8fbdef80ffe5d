# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes messages by interpreting the program of a plan.

The functions write fields, arrays, structs and tag sections in wire order and stop at
the first value that cannot be encoded. A function returns False after it has stored the
fault code and the value in the writer. On an error, each function adds its part of the
path and returns. Only the function ``make_failure``, called by ``encode``, creates an
exception.

Twin: ``pure/encoder.py``. Differs from its twin in: errors are fault codes, and the
path is recorded while the functions return.

Only in Cython: ``write_slots``, ``write_structs``, ``put_int``, ``put_short_array``,
``blame_element``, ``write_int32_array``, ``has_no_tags``, ``pending``,
``make_failure``.
"""

from cpython.object cimport Py_EQ
from libc.stdint cimport (
    INT64_MAX,
    INT64_MIN,
    UINT32_MAX,
    int64_t,
    uint8_t,
    uint32_t,
    uint64_t,
)
from libc.string cimport memmove

from kwire._engine.fast.big_endian cimport (
    likely,
    store_int32,
    store_int64,
    unlikely,
)
from kwire._engine.fast.encoder cimport *
from kwire._engine.fast.path cimport note_field, note_index, format_path
from kwire._engine.fast.primitives cimport *
from kwire._engine.fast.program cimport *
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.structs cimport slots_of, type_of
from kwire._engine.fast.writer cimport *

from kwire import errors
from kwire.schema import plan as plans


cdef object _empty = ()


cdef bint write_struct(Writer* writer, Table* table, PyObject* value) noexcept:
    """Write a struct: its fields in schema order, then its tag section.

    A field that the version does not have must be equal to its default, unless the
    schema marks it as ignorable.

    Source: section ``ignorable`` of Kafka's message language.
    """
    return write_structs(writer, table, &value, 1, NULL) == 1


cdef bint write_slots(Writer* writer, Table* table, PyObject** slots) noexcept:
    """Write a struct from its slots. Headers have slots but no struct object."""
    return write_structs(writer, table, NULL, 1, slots) == 1


cdef Py_ssize_t write_structs(
    Writer* writer,
    Table* table,
    PyObject** values,
    Py_ssize_t count,
    PyObject** slots,
) noexcept:
    """Write ``count`` structs of one class; return the number that was written.

    The result is less than ``count`` after an error. All elements of an array are
    written in one call, because a call for each struct would take too long. If
    ``slots`` is not NULL, ``values`` is NULL and these slots are written as a single
    struct.
    """
    cdef Step* step
    cdef Step* last_int
    cdef Step* last = table.steps + table.step_count
    # Position of the next byte. It is copied to writer.at before each call of a
    # function that writes, and read again afterwards.
    cdef uint8_t* at = writer.at
    cdef PyObject* value
    cdef PyObject* unknown
    cdef Py_ssize_t index
    cdef int op
    cdef bint done
    for index in range(count):
        if likely(values != NULL):
            value = values[index]
            if unlikely(type_of(value) != table.cls):
                blame(writer, NULL_NOT_ALLOWED if value == NONE else WRONG_TYPE, value)
                return index
            slots = slots_of(value)
        if unlikely(not take_step(&writer.steps)):
            writer.fault = WRITE_ERROR
            return index
        step = table.steps
        while step < last:
            op = step.op
            value = slots[step.slot]
            if op == OP_CHECK:
                # put_int always stores eight bytes, regardless of the field size.
                if unlikely(writer.end - at < step.room):
                    writer.at = at
                    if not grow(writer, step.room):
                        return index
                    at = writer.at
                done = True
                last_int = step.last_int
                while step < last_int:
                    step += 1
                    done = put_int(writer, at, step.spare_bits, slots[step.slot])
                    if unlikely(not done):
                        break
                    at += step.size
            elif op == OP_ARRAY and step.inner == OP_INT32 and (
                put_short_array(&at, writer.end, step.compact, value)
            ):
                done = True
            elif op == OP_COMPACT_STRING:
                writer.at = at
                done = write_string(writer, value, True, step.nullable)
                at = writer.at
            elif size_of(op):
                done = store_fixed(writer, at, op, value)
                at += step.size
            elif op == OP_IGNORED or op == OP_TAGGED:
                done = True
            elif op == OP_ABSENT:
                done = is_default(writer, value, step.default) or (
                    not writer.fault and blame(writer, NOT_IN_VERSION, value)
                )
            else:
                writer.at = at
                if op == OP_ARRAY:
                    done = write_array(writer, step, value)
                elif op == OP_BYTES:
                    done = write_bytes(writer, value, step.compact, step.nullable)
                else:
                    done = write_field(writer, step, op, value)
                at = writer.at
            if unlikely(not done):
                if writer.step == NULL:
                    writer.step = step
                note_field(&writer.path, step)
                return index
            step += 1
        if likely(table.flexible and has_no_tags(table, slots) and at < writer.end):
            at[0] = 0
            at += 1
            continue
        writer.at = at
        if not table.flexible:
            unknown = slots[table.slots - 1]
            if unlikely(not is_empty(unknown)):
                blame(writer, TAGS_NOT_IN_VERSION, unknown)
                note_field(&writer.path, NULL)
                return index
        elif not write_tagged_fields(writer, table, slots):
            return index
        at = writer.at
    writer.at = at
    return count


cdef inline bint put_int(
    Writer* writer, uint8_t* at, int shift, PyObject* value
) noexcept:
    """Store a signed integer of 64 - ``shift`` bits.

    Eight bytes are stored; the bytes after the integer are zero and are overwritten by
    the next field.
    """
    cdef int64_t number
    cdef uint64_t raw
    if likely(is_small_int(value)):
        number = small_int(value)
        raw = <uint64_t>number << shift
        if likely(<int64_t>raw >> shift == number):
            store_int64(at, raw)
            return True
    if unlikely(
        not as_large_int(
            writer, value, INT64_MIN >> shift, INT64_MAX >> shift, &number
        )
    ):
        return False
    store_int64(at, <uint64_t>number << shift)
    return True


cdef inline bint put_short_array(
    uint8_t** to, uint8_t* end, bint compact, PyObject* value
) noexcept:
    """Store a compact int32 array if it is a short tuple of small ints.

    Short means less than 127 elements that fit into the buffer. Otherwise returns False
    without a fault, and the caller uses ``write_array``.
    """
    cdef Py_ssize_t count
    cdef Py_ssize_t index
    cdef uint8_t* at = to[0]
    cdef PyObject* element
    if unlikely(not compact or at == end):
        return False
    if value == <PyObject*>_empty:
        at[0] = 1
        to[0] = at + 1
        return True
    if unlikely(not PyTuple_CheckExact(value)):
        return False
    count = PyTuple_GET_SIZE(value)
    if unlikely(count >= 0x7F or end - at <= 4 * count):
        return False
    at[0] = <uint8_t>(count + 1)
    at += 1
    for index in range(count):
        element = PyTuple_GET_ITEM(value, index)
        if unlikely(not is_small_int(element)):
            return False
        store_int32(at, <uint32_t>small_int(element))
        at += 4
    to[0] = at
    return True


cdef bint is_default(Writer* writer, PyObject* value, PyObject* default) noexcept:
    """Return whether a value is identical or equal to the default of the field.

    The result is False if the comparison raises an exception. ``MemoryError`` is not
    suppressed.
    """
    cdef int equal
    if likely(value == default):
        return True
    equal = PyObject_RichCompareBool(value, default, Py_EQ)
    if unlikely(equal < 0 and not forget_exception()):
        writer.fault = WRITE_ERROR
    return equal == 1


cdef bint write_field(Writer* writer, Step* step, int op, PyObject* value) noexcept:
    """Write one field that is not in the tag section."""
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
    if inner == OP_INT32:
        return write_int32_array(writer, step, value)
    if value == NONE:
        return write_null(writer, step.compact, 4, step.nullable)
    if unlikely(not PyTuple_CheckExact(value)):
        return blame(writer, WRONG_TYPE, value)
    count = PyTuple_GET_SIZE(value)
    if unlikely(count > LARGEST):
        return blame(writer, TOO_LARGE, value)
    if not write_length(writer, count, step.compact, 4):
        return False
    if inner <= OP_UUID and not ensure(writer, <uint64_t>count * size_of(inner)):
        return False
    if inner == OP_STRUCT:
        index = write_structs(writer, step.table, items_of(value), count, NULL)
        if likely(index == count):
            return True
        return blame_element(writer, step, index)
    for index in range(count):
        element = PyTuple_GET_ITEM(value, index)
        if unlikely(not take_step(&writer.steps)):
            writer.fault = WRITE_ERROR
            return False
        if inner <= OP_UUID:
            done = put_fixed(writer, inner, element)
        elif inner == OP_BYTES:
            done = write_bytes(writer, element, step.compact, False)
        else:
            done = write_string(writer, element, step.compact, False)
        if unlikely(not done):
            return blame_element(writer, step, index)
    return True


cdef bint blame_element(Writer* writer, Step* step, Py_ssize_t index) noexcept nogil:
    """Record which array element cannot be encoded. Always returns False."""
    if writer.step == NULL:
        writer.step = step
        writer.element = True
    note_index(&writer.path, index)
    return False


cdef bint write_int32_array(Writer* writer, Step* step, PyObject* value) noexcept:
    """Write an int32 array: its count, then its elements."""
    cdef Py_ssize_t count
    cdef Py_ssize_t index
    cdef int64_t number
    if value == NONE:
        return write_null(writer, step.compact, 4, step.nullable)
    if unlikely(not PyTuple_CheckExact(value)):
        return blame(writer, WRONG_TYPE, value)
    count = PyTuple_GET_SIZE(value)
    if unlikely(count > LARGEST):
        return blame(writer, TOO_LARGE, value)
    if not write_length(writer, count, step.compact, 4):
        return False
    if not ensure(writer, <uint64_t>count * 4):
        return False
    for index in range(count):
        if unlikely(not as_int32(writer, PyTuple_GET_ITEM(value, index), &number)):
            return blame_element(writer, step, index)
        store_int32(writer.at, <uint32_t>number)
        writer.at += 4
    return True


cdef bint write_tagged_fields(Writer* writer, Table* table, PyObject** slots) noexcept:
    """Write a tag section in ascending tag order.

    It contains the known fields that differ from their defaults, and the unknown fields
    that the struct has kept from decoding.

    Source: KIP-482.
    """
    cdef PyObject* unknown = slots[table.slots - 1]
    cdef Py_ssize_t count
    cdef Py_ssize_t known = 0
    cdef Py_ssize_t index
    cdef Step* step
    if not check_unknown_tags(writer, unknown, table):
        note_field(&writer.path, NULL)
        return False
    count = PyTuple_GET_SIZE(unknown)
    for index in range(table.tagged_count):
        step = &table.tagged[index]
        known += not is_default(writer, slots[step.slot], step.default)
    if unlikely(writer.fault):
        return False
    if not write_unsigned_varint(writer, <uint32_t>(known + count)):
        return False
    for index in range(table.tagged_count):
        step = &table.tagged[index]
        if is_default(writer, slots[step.slot], step.default):
            continue
        if unlikely(writer.fault):
            return False
        if not write_tagged_field(writer, step, slots[step.slot]):
            if writer.step == NULL:
                writer.step = step
            note_field(&writer.path, step)
            return False
    # Known tags are contiguous from 0, so all unknown tags are greater.
    for index in range(count):
        if not write_unknown_tag(writer, PyTuple_GET_ITEM(unknown, index)):
            return False
    return True


cdef bint check_unknown_tags(Writer* writer, PyObject* unknown, Table* table) noexcept:
    """Check that the unknown tagged fields are (tag, bytes) pairs in ascending order.

    A tag that the schema defines, for this or another version, is an error.
    """
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
        taken = overflow != 0 or tag <= previous or tag > <int64_t>UINT32_MAX
        for known in range(table.tagged_count):
            taken = taken or table.tagged[known].tag == tag
        for known in range(table.invalid_count):
            taken = taken or table.invalid_tags[known] == tag
        if taken:
            return blame(writer, TAGS_OUT_OF_ORDER, unknown)
        previous = tag
    return True


cdef bint write_unknown_tag(Writer* writer, PyObject* pair) noexcept:
    """Write one unknown tag with the bytes that decoding has kept."""
    cdef PyObject* content = PyTuple_GET_ITEM(pair, 1)
    cdef Py_ssize_t size = PyBytes_GET_SIZE(content)
    cdef int overflow = 0
    cdef long long tag = PyLong_AsLongLongAndOverflow(
        PyTuple_GET_ITEM(pair, 0), &overflow
    )
    if size > LARGEST:
        return blame(writer, TOO_LARGE, content)
    return (
        write_unsigned_varint(writer, <uint32_t>tag)
        and write_unsigned_varint(writer, <uint32_t>size)
        and write_raw(writer, PyBytes_AS_STRING(content), size)
    )


cdef bint write_tagged_field(Writer* writer, Step* step, PyObject* value) noexcept:
    """Write one known tagged field: tag, size in bytes, and content."""
    # Reserve one byte for the size. If the size needs more bytes, the content is moved
    # afterwards.
    cdef Py_ssize_t place
    cdef Py_ssize_t size
    cdef int more
    if not write_unsigned_varint(writer, step.tag) or not ensure(writer, 1):
        return False
    writer.at += 1
    place = writer.at - writer.start
    if step.content != OP_NULLABLE_STRUCT:
        if not write_field(writer, step, step.content, value):
            return False
    else:
        if not write_unsigned_varint(writer, value != NONE):
            return False
        if value != NONE and not write_struct(writer, step.table, value):
            return False
    size = writer.at - writer.start - place
    if size > LARGEST:
        return blame(writer, TOO_LARGE, value)
    # Ensure capacity for the longest size before the content is moved: the content must
    # be below writer.at when the buffer grows, because only bytes below it are copied.
    if not ensure(writer, 5):
        return False
    if size > 0x7F:
        more = varint_size(<uint32_t>size) - 1
        memmove(writer.start + place + more, writer.start + place, <size_t>size)
    writer.at = writer.start + place - 1
    if not write_unsigned_varint(writer, <uint32_t>size):
        return False
    writer.at += size
    return True


cdef inline bint has_no_tags(Table* table, PyObject** slots) noexcept:
    """Whether the tag section is empty.

    Only the identity with the defaults is checked. An equal value that is another
    object takes the slower path.
    """
    cdef int index
    for index in range(table.tagged_count):
        if slots[table.tagged[index].slot] != table.tagged[index].default:
            return False
    return is_empty(slots[table.slots - 1])


cdef inline bint is_empty(PyObject* unknown) noexcept:
    return PyTuple_CheckExact(unknown) and PyTuple_GET_SIZE(unknown) == 0


cdef inline int varint_size(uint32_t value) noexcept nogil:
    cdef int size = 1
    while value > 0x7F:
        value >>= 7
        size += 1
    return size


def encode(message, version=None):
    """Encode a message body, without frame size and header.

    Shape: the fields in schema order. In flexible versions, each struct ends with its
    tag section.

    Raises ``EncodeError`` with the path of the first value that cannot be encoded.
    Raises ``UnsupportedVersion`` if the message does not have this version.

    Source: ``ApiMessage.write`` of Kafka's generated classes.
    """
    cdef Program program = find_program(type(message), version)
    cdef Writer writer
    cdef PyObject* out = NULL
    if start(&writer, load_hint(&program.size_hint)) and write_slots(
        &writer, program.table, slots_of(<void*>message)
    ):
        store_hint(&program.size_hint, writer.at - writer.start + 16)
        out = finish(&writer)
    if out == NULL:
        raise make_failure(&writer, program)
    result = <bytes>out
    Py_XDECREF(out)
    return result


cdef object make_failure(Writer* writer, Program program):
    """Create the exception for the fault in the writer, and free the buffer.

    The size hint is reset. Otherwise, after one large message, each rejected message
    would allocate a buffer of that size.
    """
    expected = ""
    store_hint(&program.size_hint, 64)
    Py_XDECREF(writer.out)
    writer.out = NULL
    if writer.fault <= 0:
        return pending()
    if writer.expected != NULL:
        expected = writer.expected.decode()
    elif writer.step != NULL:
        expected = plans.describe_expected(<object>writer.step.step, writer.element)
    return errors.encode_failure(
        writer.fault,
        expected,
        <object>writer.value,
        format_path(&writer.path),
        program.layout.name,
        program.layout.version,
    )


cdef object pending():
    """Return the pending exception.

    It is a ``MemoryError``, or an exception that an object of the caller has raised.
    """
    cdef object failure = None
    # Do not return from the except clause: Cython would then drop the traceback, and
    # would crash if there was no memory for one.
    try:
        raise_pending()
    except BaseException as error:
        failure = error
    return failure
