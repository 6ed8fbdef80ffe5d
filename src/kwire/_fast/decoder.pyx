# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decoding by walking the plan: the interpreter behind ``kwire.decode``.

The functions read fields, arrays, structs and tag sections in the order of the wire
and stop at the first fault: size before content, content before allocation. They
return a new reference, or NULL with a fault noted in the cursor; the path is written
down on the way out. Nothing is raised before ``failure`` at the top.

Twin: ``_pure/decoder.py``. Differs from its twin in: noted faults for exceptions, a
path that is written when unwinding, and int arrays of equal bytes that are shared.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF
from libc.stdint cimport int8_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from kwire._fast.big_endian cimport likely, load_int16, load_int32, load_int64, unlikely
from kwire._fast.cursor cimport *
from kwire._fast.decoder cimport *
from kwire._fast.program cimport *
from kwire._fast.structs cimport new_struct, slots_of

from kwire import errors
from kwire.limits import DEFAULT

cdef extern from "Python.h":
    PyObject* PyLong_FromLong(long value)
    PyObject* PyLong_FromUnsignedLong(unsigned long value)
    PyObject* PyLong_FromLongLong(long long value)
    PyObject* PyLong_FromUnsignedLongLong(unsigned long long value)
    PyObject* PyFloat_FromDouble(double value)
    PyObject* PyBytes_FromStringAndSize(const char* data, Py_ssize_t size)
    PyObject* PyUnicode_DecodeUTF8(const char* data, Py_ssize_t size, const char* errors)
    PyObject* PyUnicode_New(Py_ssize_t size, Py_UCS4 maximum)
    void* PyUnicode_1BYTE_DATA(PyObject* text)
    PyObject* PyTuple_New(Py_ssize_t size)
    void PyTuple_SET_ITEM(PyObject* values, Py_ssize_t index, PyObject* value)
    PyObject* PySequence_GetSlice(PyObject* values, Py_ssize_t low, Py_ssize_t high)
    PyObject* PyNumber_Lshift(PyObject* value, PyObject* by)
    PyObject* PyNumber_Or(PyObject* a, PyObject* b)
    int PyObject_GenericSetAttr(PyObject* target, PyObject* name, PyObject* value)
    PyObject* PyList_AsTuple(PyObject* values)
    void PyObject_GC_UnTrack(PyObject* value)
    int PyUnicodeDecodeError_GetStart(PyObject* error, Py_ssize_t* start)
    PyObject* PyErr_Occurred()
    void PyErr_Clear()
    void PyErr_Fetch(PyObject** kind, PyObject** value, PyObject** trace)
    void PyErr_NormalizeException(PyObject** kind, PyObject** value, PyObject** trace)
    int PyErr_GivenExceptionMatches(PyObject* given, PyObject* kind)
    PyObject* PyExc_UnicodeDecodeError

cdef extern from *:
    """
    static inline PyObject *kwire_kept(PyObject *o) { Py_INCREF(o); return o; }
    static inline PyObject *kwire_new_of_type(PyObject *t) {
        PyObject *empty = PyTuple_New(0);
        PyObject *made = empty == NULL
            ? NULL
            : PyBaseObject_Type.tp_new((PyTypeObject *)t, empty, NULL);
        Py_XDECREF(empty);
        return made;
    }
    """
    PyObject* kept "kwire_kept"(PyObject* value) noexcept
    PyObject* new_of_type "kwire_new_of_type"(PyObject* cls) noexcept
    PyObject* NONE "Py_None"
    PyObject* TRUE "Py_True"
    PyObject* FALSE "Py_False"

_TAGS = "unknown_tagged_fields"

# uuid is dear to import and most messages have none, so it waits for the first.
cdef object _uuid_type = None
cdef object _uuid_unknown_safety = None
cdef object _uuid_zero = None
cdef object _int_name = "int"
cdef object _is_safe_name = "is_safe"
cdef object _sixty_four = 64
cdef object _no_tags = ()
# Stands for the array whose element a fault came through, until its field is known.
cdef Step _unnamed
cdef object _default_limits = DEFAULT
cdef Py_ssize_t _default_ceiling = DEFAULT.frame_bytes


cdef PyObject* read_struct(Decoding* d, Table* table) noexcept:
    """Read a struct: its fields in schema order, then its tag section.

    Fields that the version lacks get their default.
    """
    cdef PyObject* made = new_struct(table.cls, table.slots)
    cdef PyObject** slots
    cdef PyObject* value
    cdef Step* step = table.steps
    cdef Step* last = step + table.step_count
    cdef int op
    if made == NULL:
        d.cursor.fault = PYTHON_ERROR
        return NULL
    slots = slots_of(made)
    while step < last:
        op = step.op
        if op == OP_CHECK:
            if not require(&d.cursor, step.size):
                step = note_run(d, step)
                break
            step += 1
            continue
        elif op == OP_INT32:
            value = PyLong_FromLong(load_int32(d.cursor.at))
            d.cursor.at += 4
        elif op == OP_COMPACT_STRING:
            value = read_string(d, True, step.nullable)
        elif op == OP_ARRAY:
            value = read_array(d, step)
        elif op == OP_INT16:
            value = PyLong_FromLong(load_int16(d.cursor.at))
            d.cursor.at += 2
        elif op == OP_INT64:
            value = PyLong_FromLongLong(load_int64(d.cursor.at))
            d.cursor.at += 8
        elif op >= OP_TAGGED:
            value = kept(step.default)
        else:
            value = read_field(d, step, op)
        if unlikely(value == NULL):
            if not d.cursor.fault:
                d.cursor.fault = PYTHON_ERROR
            break
        slots[step.slot] = value
        step += 1
    if unlikely(d.cursor.fault):
        note_path(d, step)
        Py_XDECREF(made)
        return NULL
    if table.flexible and not (
        likely(d.cursor.at < d.cursor.end) and d.cursor.at[0] == 0
    ):
        if not read_tagged_fields(d, table, slots):
            Py_XDECREF(made)
            return NULL
        return made
    d.cursor.at += table.flexible
    slots[table.slots - 1] = kept(<PyObject*>_no_tags)
    return made


cdef PyObject* read_field(Decoding* d, Step* step, int op) noexcept:
    """Read one field that stands in line."""
    if op == OP_ARRAY:
        return read_array(d, step)
    if op <= OP_UUID:
        if not require(&d.cursor, size_of(op)):
            return NULL
        return get_fixed(d, op)
    if op == OP_STRING or op == OP_COMPACT_STRING:
        return read_string(d, step.compact, step.nullable)
    if op == OP_BYTES:
        return read_bytes(d, step.compact, step.nullable)
    if op == OP_NULLABLE_STRUCT and not read_marker(&d.cursor):
        return NULL if d.cursor.fault else kept(NONE)
    return read_struct(d, step.table)


cdef PyObject* read_array(Decoding* d, Step* step) noexcept:
    """Read an array into a tuple, or None for null.

    Shape: the count (UNSIGNED_VARINT of n + 1, or INT32), then n elements.
    """
    cdef Py_ssize_t count = read_count(
        &d.cursor, step.compact, step.nullable, step.size
    )
    cdef Py_ssize_t index
    cdef int inner = step.inner
    cdef PyObject* made
    cdef PyObject* value
    if count < 0:
        return NULL if d.cursor.fault else kept(NONE)
    if inner == OP_INT32 and count:
        return read_int32s(d, count)
    made = PyTuple_New(count)
    if made == NULL:
        return NULL
    for index in range(count):
        if inner == OP_STRUCT:
            value = read_struct(d, step.table)
        elif inner == OP_COMPACT_STRING or inner == OP_STRING:
            value = read_string(d, step.compact, False)
        elif inner <= OP_UUID:
            value = get_fixed(d, inner)
        else:
            value = read_bytes(d, step.compact, False)
        if unlikely(value == NULL):
            if not d.cursor.fault:
                d.cursor.fault = PYTHON_ERROR
            note_index(d, index)
            Py_XDECREF(made)
            return NULL
        PyTuple_SET_ITEM(made, index, value)
    if count:
        # Nothing that can be decoded holds a cycle: spare the collector the tuple.
        PyObject_GC_UnTrack(made)
    return made


cdef PyObject* read_int32s(Decoding* d, Py_ssize_t count) noexcept:
    """Read ``count`` int32s, whose bytes ``read_count`` has granted, into a tuple.

    Replica lists repeat within a message: lists of equal bytes become one tuple.
    """
    cdef const uint8_t* at = d.cursor.at
    cdef Py_ssize_t size = count * 4
    cdef Py_ssize_t index
    cdef uint32_t place = <uint32_t>(load_int32(at) * 31 + load_int32(at + size - 4))
    cdef SharedArray* shared = &d.shared[(place ^ <uint32_t>count) % SHARED_ARRAYS]
    cdef PyObject* made
    cdef PyObject* value
    d.cursor.at += size
    if shared.size == size and memcmp(shared.at, at, <size_t>size) == 0:
        return kept(shared.value)
    made = PyTuple_New(count)
    if made == NULL:
        return NULL
    for index in range(count):
        value = PyLong_FromLong(load_int32(at + 4 * index))
        if value == NULL:
            Py_XDECREF(made)
            return NULL
        PyTuple_SET_ITEM(made, index, value)
    PyObject_GC_UnTrack(made)
    Py_XDECREF(shared.value)
    shared.at = at
    shared.size = size
    shared.value = kept(made)
    return made


cdef PyObject* get_fixed(Decoding* d, int op) noexcept:
    """Take one fixed-size value whose bytes were granted."""
    cdef const uint8_t* at = d.cursor.at
    cdef uint64_t raw
    cdef double real
    d.cursor.at += size_of(op)
    if op == OP_BOOL:
        return kept(TRUE if at[0] else FALSE)
    if op == OP_INT8:
        return PyLong_FromLong(<int8_t>at[0])
    if op == OP_INT16:
        return PyLong_FromLong(load_int16(at))
    if op == OP_UINT16:
        return PyLong_FromLong(<uint16_t>load_int16(at))
    if op == OP_INT32:
        return PyLong_FromLong(load_int32(at))
    if op == OP_UINT32:
        return PyLong_FromUnsignedLong(<uint32_t>load_int32(at))
    if op == OP_INT64:
        return PyLong_FromLongLong(load_int64(at))
    if op == OP_FLOAT64:
        raw = <uint64_t>load_int64(at)
        memcpy(&real, &raw, 8)
        return PyFloat_FromDouble(real)
    return make_uuid(<uint64_t>load_int64(at), <uint64_t>load_int64(at + 8))


cdef bint read_marker(Cursor* cursor) noexcept:
    """Read the marker of a nullable struct in line: INT8, 1 present, -1 null.

    Another byte is refused where it stands; a lenient cursor goes by its sign.
    """
    cdef const uint8_t* start = cursor.at
    cdef int8_t marker = <int8_t>read_uint8(cursor)
    if cursor.fault:
        return False
    if marker != 1 and marker != -1 and not cursor.lenient:
        note(cursor, BAD_MARKER, start, marker)
        return False
    return marker >= 0


cdef bint read_tagged_marker(Cursor* cursor) noexcept:
    """Read the marker of a nullable struct with a tag: UNSIGNED_VARINT, 1 or 0.

    Another value is refused at its first byte; a lenient cursor takes it for 1.
    """
    cdef const uint8_t* start = cursor.at
    cdef uint32_t marker = read_unsigned_varint(cursor)
    if cursor.fault:
        return False
    if marker > 1 and not cursor.lenient:
        note(cursor, BAD_MARKER, start, marker)
        return False
    return marker != 0


cdef bint read_tagged_fields(Decoding* d, Table* table, PyObject** slots) noexcept:
    """Read a tag section into ``slots``; tags that nobody knows are kept as bytes.

    Shape: UNSIGNED_VARINT count, then for each tag, size (bytes) and content. Tags
    ascend, and a known field uses its size exactly; a lenient cursor checks neither.
    Source: KIP-482.
    """
    cdef PyObject* unknown = NULL
    cdef bint done = read_tags(d, table, slots, &unknown)
    if done and unknown == NULL:
        slots[table.slots - 1] = kept(<PyObject*>_no_tags)
    elif done:
        slots[table.slots - 1] = PyList_AsTuple(unknown)
        if slots[table.slots - 1] == NULL:
            d.cursor.fault = PYTHON_ERROR
            done = False
    Py_XDECREF(unknown)
    return done


cdef bint read_tags(
    Decoding* d, Table* table, PyObject** slots, PyObject** unknown
) noexcept:
    cdef Cursor* cursor = &d.cursor
    cdef const uint8_t* start = cursor.at
    cdef uint32_t count = read_unsigned_varint(cursor)
    cdef uint32_t tag, size
    cdef int64_t previous = -1
    cdef int known
    cdef Step* step
    cdef PyObject* value
    if not cursor.fault and count > <size_t>(cursor.end - cursor.at) // 2:
        note(cursor, BAD_COUNT, start, count)
    if cursor.fault:
        note_path(d, NULL)
        return False
    for _ in range(count):
        start = cursor.at
        tag = read_unsigned_varint(cursor)
        if not cursor.fault and tag <= previous and not cursor.lenient:
            note(cursor, TAG_OUT_OF_ORDER, start, tag)
        if not cursor.fault and is_invalid(table, tag):
            note(cursor, TAG_NOT_IN_VERSION, start, tag)
        if cursor.fault:
            note_path(d, NULL)
            return False
        previous = tag
        size = read_unsigned_varint(cursor)
        if cursor.fault or not require(cursor, size):
            note_path(d, NULL)
            return False
        step = NULL
        for known in range(table.tagged_count):
            if table.tagged[known].tag == tag:
                step = &table.tagged[known]
                break
        if step == NULL:
            if not keep_unknown(cursor, tag, size, unknown):
                return False
            continue
        value = read_tagged_field(d, step, size)
        if value == NULL:
            if not cursor.fault:
                cursor.fault = PYTHON_ERROR
            note_path(d, step)
            return False
        Py_XDECREF(slots[step.slot])
        slots[step.slot] = value
    return True


cdef PyObject* read_tagged_field(Decoding* d, Step* step, uint32_t size) noexcept:
    """Read the content of one known tag, which is ``size`` bytes long."""
    cdef Cursor* cursor = &d.cursor
    cdef const uint8_t* end = cursor.end
    cdef PyObject* value
    if not cursor.lenient:
        cursor.end = cursor.at + size
    if step.inner != OP_NULLABLE_STRUCT:
        value = read_field(d, step, step.inner)
    elif read_tagged_marker(cursor):
        value = read_struct(d, step.table)
    else:
        value = NULL if cursor.fault else kept(NONE)
    if value == NULL:
        return NULL
    if not cursor.lenient:
        if cursor.at != cursor.end:
            note(cursor, TRAILING_BYTES, cursor.at, cursor.end - cursor.at)
            Py_XDECREF(value)
            return NULL
        cursor.end = end
    return value


cdef bint keep_unknown(
    Cursor* cursor, uint32_t tag, uint32_t size, PyObject** unknown
) noexcept:
    """Keep one unknown tag as a (tag, bytes) pair."""
    try:
        pair = (tag, <bytes>cursor.at[:size])
        if unknown[0] == NULL:
            pairs = []
            unknown[0] = kept(<PyObject*>pairs)
        else:
            pairs = <list>unknown[0]
        pairs.append(pair)
    except MemoryError:
        cursor.fault = PYTHON_ERROR
        return False
    cursor.at += size
    return True


cdef bint is_invalid(Table* table, uint32_t tag) noexcept nogil:
    """Whether the schema knows a tag that this version must not carry."""
    cdef int index
    for index in range(table.invalid_count):
        if table.invalid_tags[index] == tag:
            return True
    return False


cdef inline Py_ssize_t read_length(
    Cursor* cursor, bint compact, int classic_size
) noexcept nogil:
    """Read the length of a string, bytes or array; -1 stands for null.

    Shape: UNSIGNED_VARINT (n + 1), or INT16/INT32 of ``classic_size`` bytes. Another
    negative length is refused at its first byte; a lenient cursor takes it for null.
    """
    cdef const uint8_t* start = cursor.at
    cdef int64_t length
    if compact:
        length = <int64_t>read_unsigned_varint(cursor) - 1
        if length > LARGEST and cursor.lenient:
            return -1
        return length
    length = read_int16(cursor) if classic_size == 2 else read_int32(cursor)
    if length < -1:
        if not cursor.lenient:
            note(cursor, BAD_LENGTH, start, length)
        return -1
    return length


cdef PyObject* read_string(Decoding* d, bint compact, bint nullable) noexcept:
    """Read a STRING or COMPACT_STRING, with null where ``nullable``.

    Strings over 32767 bytes are refused at their length, bad UTF-8 at the bad byte.
    Kafka's reader replaces bad UTF-8, and so does a lenient cursor.
    """
    cdef const uint8_t* start = d.cursor.at
    cdef Py_ssize_t size = read_length(&d.cursor, compact, 2)
    cdef PyObject* text
    cdef const char* on_error
    if unlikely(d.cursor.fault):
        return NULL
    if size < 0:
        if not nullable:
            note(&d.cursor, UNEXPECTED_NULL, start, 0)
            return NULL
        return kept(NONE)
    if unlikely(size > LONGEST_STRING):
        note(&d.cursor, STRING_TOO_LONG, start, size)
        return NULL
    if not require(&d.cursor, size):
        return NULL
    if is_ascii(d.cursor.at, size):
        text = PyUnicode_New(size, 127)
        if text != NULL:
            memcpy(PyUnicode_1BYTE_DATA(text), d.cursor.at, <size_t>size)
    else:
        on_error = "strict"
        if d.cursor.lenient:
            on_error = "replace"
        text = PyUnicode_DecodeUTF8(<const char*>d.cursor.at, size, on_error)
        if text == NULL:
            note_utf8(&d.cursor)
            return NULL
    d.cursor.at += size
    return text


cdef PyObject* read_bytes(Decoding* d, bint compact, bint nullable) noexcept:
    """Read BYTES, COMPACT_BYTES or RECORDS, with null where ``nullable``."""
    cdef const uint8_t* start = d.cursor.at
    cdef Py_ssize_t size = read_length(&d.cursor, compact, 4)
    if unlikely(d.cursor.fault):
        return NULL
    if size < 0:
        if not nullable:
            note(&d.cursor, UNEXPECTED_NULL, start, 0)
            return NULL
        return kept(NONE)
    if not require(&d.cursor, size):
        return NULL
    start = d.cursor.at
    d.cursor.at += size
    if d.view != NULL:
        return PySequence_GetSlice(
            d.view, start - d.cursor.start, d.cursor.at - d.cursor.start
        )
    return PyBytes_FromStringAndSize(<const char*>start, size)


cdef Py_ssize_t read_count(
    Cursor* cursor, bint compact, bint nullable, Py_ssize_t least
) noexcept nogil:
    """Read the count of an array whose elements take ``least`` bytes or more.

    -1 stands for null. A count that cannot fit in the bytes left is refused at its
    first byte, before anything is allocated for it.
    """
    cdef const uint8_t* start = cursor.at
    cdef Py_ssize_t count = read_length(cursor, compact, 4)
    if unlikely(cursor.fault):
        return -1
    if count < 0:
        if not nullable:
            note(cursor, UNEXPECTED_NULL, start, 0)
        return -1
    if unlikely(count > (cursor.end - cursor.at) // least):
        note(cursor, BAD_COUNT, start, count)
        return -1
    return count


cdef PyObject* make_uuid(uint64_t high, uint64_t low) noexcept:
    """Make a ``uuid.UUID`` of two halves, most significant first."""
    cdef PyObject* number
    cdef PyObject* shifted
    cdef PyObject* half
    cdef PyObject* made
    if _uuid_type is None and not load_uuid():
        return NULL
    if high == 0 and low == 0:
        return kept(<PyObject*>_uuid_zero)
    half = PyLong_FromUnsignedLongLong(high)
    shifted = NULL if half == NULL else PyNumber_Lshift(half, <PyObject*>_sixty_four)
    Py_XDECREF(half)
    half = NULL if shifted == NULL else PyLong_FromUnsignedLongLong(low)
    number = NULL if half == NULL else PyNumber_Or(shifted, half)
    Py_XDECREF(half)
    Py_XDECREF(shifted)
    made = NULL if number == NULL else new_of_type(<PyObject*>_uuid_type)
    if made != NULL and (
        PyObject_GenericSetAttr(made, <PyObject*>_int_name, number) < 0
        or PyObject_GenericSetAttr(
            made, <PyObject*>_is_safe_name, <PyObject*>_uuid_unknown_safety
        ) < 0
    ):
        Py_XDECREF(made)
        made = NULL
    Py_XDECREF(number)
    return made


cdef bint load_uuid() noexcept:
    global _uuid_type, _uuid_unknown_safety, _uuid_zero
    try:
        import uuid

        _uuid_unknown_safety = uuid.SafeUUID.unknown
        _uuid_zero = uuid.UUID(int=0)
        _uuid_type = uuid.UUID
    except MemoryError:
        return False
    return True


cdef inline bint is_ascii(const uint8_t* at, Py_ssize_t size) noexcept nogil:
    """Whether all bytes are below 0x80, eight at a time."""
    cdef uint64_t word
    while size >= 8:
        memcpy(&word, at, 8)
        if word & <uint64_t>0x8080808080808080:
            return False
        at += 8
        size -= 8
    while size > 0:
        if at[0] >= 0x80:
            return False
        at += 1
        size -= 1
    return True


cdef void note_utf8(Cursor* cursor) noexcept:
    """Turn the pending UnicodeDecodeError into a fault at the bad byte."""
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* trace
    cdef Py_ssize_t start = 0
    PyErr_Fetch(&kind, &value, &trace)
    PyErr_NormalizeException(&kind, &value, &trace)
    if PyErr_GivenExceptionMatches(kind, PyExc_UnicodeDecodeError):
        PyUnicodeDecodeError_GetStart(value, &start)
    Py_XDECREF(kind)
    Py_XDECREF(value)
    Py_XDECREF(trace)
    note(cursor, BAD_UTF8, cursor.at + start, 0)


cdef Step* note_run(Decoding* d, Step* check) noexcept nogil:
    """Note a truncation at the first field of a run that has no room, and find it."""
    cdef Step* step = check + 1
    cdef Py_ssize_t left = d.cursor.end - d.cursor.at
    while size_of(step.op) <= left:
        left -= size_of(step.op)
        step += 1
    note(&d.cursor, TRUNCATED, d.cursor.end, size_of(step.op) - left)
    return step


cdef void note_path(Decoding* d, Step* step) noexcept nogil:
    """Write down the field that a fault came through; NULL for the unknown tags."""
    if d.depth < DEEPEST and (d.depth == 0 or d.path[d.depth - 1].step != &_unnamed):
        d.path[d.depth].index = -1
        d.depth += 1
    if d.depth <= DEEPEST:
        d.path[d.depth - 1].step = step


cdef void note_index(Decoding* d, Py_ssize_t index) noexcept nogil:
    """Write down the element of an array that a fault came through."""
    if d.depth < DEEPEST:
        d.path[d.depth].step = &_unnamed
        d.path[d.depth].index = index
        d.depth += 1


def decode(
    cls,
    data,
    version,
    *,
    bint zero_copy=False,
    compat=None,
    limits=_default_limits,
):
    """Decode one message body: no size, no header.

    ``data`` is any contiguous bytes-like object, and all of it is used. ``zero_copy``
    gives memoryviews of ``data`` for bytes and records fields. ``compat="java"`` reads
    as leniently as Kafka's own classes: it ignores trailing bytes, unsorted tags, bad
    UTF-8 and spare varint bits. ``limits.frame_bytes`` bounds the input.
    Raises ``DecodeError`` with the offset in ``data`` and the field's path, or
    ``UnsupportedVersion``.
    """
    cdef bint lenient = compat is not None and lenient_of(compat)
    cdef Py_ssize_t at = 0
    return decode_part(cls, data, version, &at, zero_copy, lenient, limits, not lenient)


def decode_prefix(
    cls,
    data,
    version,
    Py_ssize_t start=0,
    *,
    bint zero_copy=False,
    compat=None,
    limits=_default_limits,
):
    """Decode one message at byte ``start``; return it and the offset of its end.

    As ``decode``, but bytes behind the message are left alone.
    """
    cdef bint lenient = compat is not None and lenient_of(compat)
    made = decode_part(cls, data, version, &start, zero_copy, lenient, limits, False)
    return made, start


cdef object decode_part(
    object cls,
    object data,
    object version,
    Py_ssize_t* at,
    bint zero_copy,
    bint lenient,
    object limits,
    bint whole,
):
    cdef Program program = program_of(cls, version)
    cdef Decoding d
    cdef Py_buffer buffer
    cdef PyObject* made
    cdef Py_ssize_t size
    cdef object view = None
    d.depth = 0
    d.view = NULL
    d.cursor.fault = 0
    d.cursor.lenient = lenient
    cdef bint held = False
    if PyBytes_CheckExact(data):
        d.cursor.start = <const uint8_t*>PyBytes_AS_STRING(data)
        size = PyBytes_GET_SIZE(data)
    else:
        get_buffer(data, &buffer)
        held = True
        d.cursor.start = <const uint8_t*>buffer.buf
        size = buffer.len
    try:
        d.cursor.at = d.cursor.start + at[0]
        d.cursor.end = d.cursor.start + size
        if zero_copy:
            view = memoryview(data).cast("B") if size else memoryview(b"")
            d.view = <PyObject*>view
        if exceeds(size, limits):
            note(&d.cursor, FRAME_TOO_LARGE, d.cursor.start, size)
        elif not 0 <= at[0] <= size:
            raise ValueError(f"start is a position in the input, not {at[0]}")
        made = NULL if d.cursor.fault else run(&d, program.table, whole)
        if made == NULL:
            raise failure(&d, program)
        at[0] = d.cursor.at - d.cursor.start
        result = <object>made
        Py_XDECREF(made)
        return result
    finally:
        if held:
            PyBuffer_Release(&buffer)


cdef PyObject* run(Decoding* d, Table* table, bint whole) noexcept:
    """Read one message, and drop the references that only the call needed."""
    cdef int index
    cdef PyObject* made
    for index in range(SHARED_ARRAYS):
        d.shared[index].size = 0
        d.shared[index].value = NULL
    made = read_struct(d, table)
    for index in range(SHARED_ARRAYS):
        Py_XDECREF(d.shared[index].value)
    if made != NULL and whole and d.cursor.at != d.cursor.end:
        note(&d.cursor, TRAILING_BYTES, d.cursor.at, d.cursor.end - d.cursor.at)
        Py_XDECREF(made)
        return NULL
    return made


cdef object failure(Decoding* d, Program program):
    """Build the exception of a noted fault."""
    cdef int index
    path = ""
    if d.cursor.fault == PYTHON_ERROR:
        PyErr_Clear()
        return MemoryError()
    for index in range(d.depth - 1, -1, -1):
        if d.path[index].step == NULL:
            name = _TAGS
        elif d.path[index].step == &_unnamed:
            name = ""
        else:
            name = <object>d.path[index].step.attribute
        path += f".{name}" if path and name else name
        if d.path[index].index >= 0:
            path += f"[{d.path[index].index}]"
    return errors.decode_failure(
        d.cursor.fault,
        d.cursor.fault_detail,
        d.cursor.fault_offset,
        path,
        program.layout.name,
        program.layout.version,
    )


cdef bint exceeds(Py_ssize_t size, object limits) except -1:
    """Whether the input is over the ceiling for frames."""
    if limits is _default_limits:
        return size > _default_ceiling
    return limits.frame_bytes is not None and size > limits.frame_bytes


cdef int get_buffer(object data, Py_buffer* buffer) except -1:
    try:
        PyObject_GetBuffer(data, buffer, PyBUF_SIMPLE)
    except BufferError:
        raise TypeError("only contiguous bytes can be decoded") from None
    return 0


cdef bint lenient_of(object compat) except -1:
    """Turn the ``compat=`` argument into the cursor's leniency."""
    if compat is None:
        return False
    if compat == "java":
        return True
    raise ValueError(f'compat is None or "java", not {compat!r}')
