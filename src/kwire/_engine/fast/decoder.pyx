# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes messages by interpreting the program of a plan.

The functions read fields, arrays, structs and tag sections in wire order and stop at
the first error. A size is checked before its content is read, and before memory is
allocated for the content.

A function returns a new reference, or NULL after it has stored a fault code in the
cursor. On an error, each function adds its part of the path and returns. Only the
function ``make_failure``, called by ``decode_part``, creates an exception.

Twin: ``pure/decoder.py``. Differs from its twin in: errors are fault codes, the path is
recorded while the functions return, and equal ints are shared (``shared_ints``).

Only in Cython: ``read_structs``, ``is_section_empty``, ``drop_struct``,
``is_next_empty``, ``read_values``, ``keep_unknown``, ``is_invalid``, ``note_run``,
``run``, ``exceeds``, ``bound_counts``.
"""

from libc.stdint cimport INT64_MAX, int8_t, int32_t, int64_t, uint8_t, uint32_t

from kwire._engine.fast.big_endian cimport *
from kwire._engine.fast.cursor cimport *
from kwire._engine.fast.decoder cimport *
from kwire._engine.fast.path cimport note_field, note_index, format_path
from kwire._engine.fast.primitives cimport (
    get_fixed,
    make_fixed,
    read_bytes,
    read_count,
    read_string,
)
from kwire._engine.fast.program cimport *
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.shared_ints cimport *
from kwire._engine.fast.structs cimport Layout, methods_of, slots_of, take_struct

from kwire import errors
from kwire._engine import frame_hints, java_utf8
from kwire._limits import DEFAULT

# primitives.pxd refers to the codec error handler by name. Importing the module
# registers the handler.
assert java_utf8.HANDLER == "kwire-java"

keep_ints()

cdef object _empty = ()
cdef object _default_limits = DEFAULT
cdef Py_ssize_t _default_limit = DEFAULT.frame_bytes


cdef PyObject* read_struct(Decoding* d, Table* table) noexcept:
    """Read a struct: its fields in schema order, then its tag section.

    Fields that the version does not have are set to their defaults.
    """
    cdef PyObject* made
    return NULL if read_structs(d, table, &made, 1) else made


cdef Py_ssize_t read_structs(
    Decoding* d, Table* table, PyObject** into, Py_ssize_t count
) noexcept:
    """Read ``count`` adjacent structs; return the number of unread structs.

    The result is 0 unless there is an error. All elements are read in one loop, because
    a function call for each struct takes as long as reading several of its fields.
    """
    cdef Layout* layout = <Layout*>methods_of(table.cls)
    cdef Step* last = table.steps + table.step_count
    cdef Step* step
    cdef Step* run
    cdef PyObject* made
    cdef PyObject** slot
    cdef PyObject* value
    cdef const uint8_t* at = d.cursor.at
    cdef Py_ssize_t left
    cdef int64_t number
    cdef int op
    while count:
        made = take_struct(layout, table.cls) if take_step(&d.steps) else NULL
        if unlikely(made == NULL):
            d.cursor.fault = PYTHON_ERROR
            return count
        slot = slots_of(made)
        step = table.steps
        while step < last:
            op = step.op
            if op == OP_CHECK:
                at = d.cursor.at
                left = d.cursor.end - at
                if unlikely(left < step.size):
                    break
                d.cursor.at = at + step.size
                # Load each integer as an int64 and shift out the spare bits. Near the
                # end of the input, where this would read too far, the steps below read
                # the integers.
                run = step.last_int if left >= step.room else step
                step += 1
                while step <= run:
                    number = load_int64(at) >> step.spare_bits
                    at += step.size
                    if likely(is_kept(number)):
                        value = kept_int(number)
                    elif step.op == OP_INT64:
                        value = make_int64(&d.ints, number)
                    elif step.op == OP_INT32:
                        value = make_int32(&d.ints, <int32_t>number)
                    else:
                        value = int_of(number)
                    if unlikely(value == NULL):
                        break
                    slot[0] = value
                    slot += 1
                    step += 1
                if unlikely(step <= run):
                    break
                continue
            elif op == OP_INT32:
                value = make_int32(&d.ints, load_int32(at))
                at += 4
            elif op == OP_COMPACT_STRING:
                if is_next_empty(&d.cursor, True):
                    d.cursor.at += 1
                    value = empty_text()
                else:
                    value = read_string(&d.cursor, True, step.nullable)
            elif op == OP_ARRAY:
                if is_next_empty(&d.cursor, step.compact):
                    d.cursor.at += 1
                    value = new_ref(<PyObject*>_empty)
                elif step.inner == OP_INT32:
                    value = read_int32_array(
                        &d.ints, &d.cursor, step.compact, step.nullable
                    )
                else:
                    value = read_array(d, step)
            elif op == OP_INT16:
                value = int_of(load_int16(at))
                at += 2
            elif op == OP_INT64:
                value = make_int64(&d.ints, load_int64(at))
                at += 8
            elif op == OP_TAGGED or op == OP_ABSENT or op == OP_IGNORED:
                value = new_ref(step.default)
            elif op == OP_BYTES:
                value = read_bytes(&d.cursor, step.compact, step.nullable)
            elif (
                op == OP_BOOL
                or op == OP_INT8
                or op == OP_UINT16
                or op == OP_UINT32
                or op == OP_FLOAT64
                or op == OP_UUID
            ):
                value = make_fixed(at, op)
                at += size_of(op)
            else:
                value = read_field(d, step, op)
            if unlikely(value == NULL):
                break
            slot[0] = value
            slot += 1
            step += 1
        if unlikely(step < last):
            drop_struct(d, made, step, last)
            return count
        if not table.flexible or is_section_empty(&d.cursor):
            slot[0] = new_ref(<PyObject*>_empty)
        elif not read_tagged_fields(d, table, slots_of(made)):
            Py_XDECREF(made)
            return count
        into[0] = made
        into += 1
        count -= 1
    return 0


cdef inline bint is_section_empty(Cursor* cursor) noexcept nogil:
    """Consume the next byte if it is an empty tag section; return whether it was."""
    if unlikely(cursor.at >= cursor.end or load_byte(cursor.at) != 0):
        return False
    cursor.at += 1
    return True


cdef void drop_struct(Decoding* d, PyObject* made, Step* step, Step* last) noexcept:
    """Free a struct after an error at ``step``, and add the field to the path.

    The slots from ``step`` on have not been filled yet.
    """
    cdef Step* unread = step
    while unread < last:
        if unread.op != OP_CHECK:
            slots_of(made)[unread.slot] = NULL
        unread += 1
    slots_of(made)[(unread - 1).slot + 1] = NULL
    if step.op == OP_CHECK:
        step = note_run(d, step)
    elif not d.cursor.fault:
        d.cursor.fault = PYTHON_ERROR
    note_field(&d.path, step)
    Py_XDECREF(made)


cdef inline bint is_next_empty(Cursor* cursor, bint compact) noexcept nogil:
    """Whether the next byte is the compact length of an empty array or string."""
    return compact and cursor.at < cursor.end and load_byte(cursor.at) == 1


cdef PyObject* read_field(Decoding* d, Step* step, int op) noexcept:
    """Read one field that is not in the tag section."""
    if op == OP_ARRAY:
        if step.inner == OP_INT32:
            return read_int32_array(
                &d.ints, &d.cursor, step.compact, step.nullable
            )
        return read_array(d, step)
    if op <= OP_UUID:
        if not require(&d.cursor, size_of(op)):
            return NULL
        return get_fixed(&d.cursor, op)
    if op == OP_STRING or op == OP_COMPACT_STRING:
        return read_string(&d.cursor, step.compact, step.nullable)
    if op == OP_BYTES:
        return read_bytes(&d.cursor, step.compact, step.nullable)
    if op == OP_NULLABLE_STRUCT and not read_marker(&d.cursor):
        return NULL if d.cursor.fault else new_ref(NONE)
    return read_struct(d, step.table)


cdef PyObject* read_array(Decoding* d, Step* step) noexcept:
    """Read an array as a tuple. The result is None if the array is null.

    Shape: the count (UNSIGNED_VARINT of n + 1, or INT32), then n elements.
    """
    cdef Py_ssize_t count = read_count(
        &d.cursor, step.compact, step.nullable, step.size
    )
    cdef Py_ssize_t left
    cdef PyObject* made
    if count < 0:
        return NULL if d.cursor.fault else new_ref(NONE)
    if count == 0:
        return new_ref(<PyObject*>_empty)
    made = PyTuple_New(count)
    if unlikely(made == NULL):
        return NULL
    if step.inner == OP_STRUCT:
        left = read_structs(d, step.table, items_of(made), count)
    else:
        left = read_values(d, step, items_of(made), count)
    if unlikely(left):
        note_index(&d.path, count - left)
        Py_XDECREF(made)
        return NULL
    # Decoded values cannot contain reference cycles, so the garbage collector does not
    # need to track the tuple.
    PyObject_GC_UnTrack(made)
    return made


cdef Py_ssize_t read_values(
    Decoding* d, Step* step, PyObject** into, Py_ssize_t count
) noexcept:
    """Read array elements that are not structs; return the number of unread elements.

    The result is 0 unless there is an error, as for ``read_structs``.
    """
    cdef int inner = step.inner
    cdef PyObject* value
    while count:
        if unlikely(not take_step(&d.steps)):
            value = NULL
        elif inner == OP_COMPACT_STRING or inner == OP_STRING:
            value = read_string(&d.cursor, step.compact, False)
        elif inner <= OP_UUID:
            value = get_fixed(&d.cursor, inner)
        else:
            value = read_bytes(&d.cursor, step.compact, False)
        if unlikely(value == NULL):
            if not d.cursor.fault:
                d.cursor.fault = PYTHON_ERROR
            return count
        into[0] = value
        into += 1
        count -= 1
    return 0


cdef bint read_marker(Cursor* cursor) noexcept:
    """Read the INT8 before a nullable struct: 1 if it is present, -1 for null.

    Any other value is an error. A lenient cursor accepts it and uses only its sign.
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
    """Read the marker of a tagged nullable struct: UNSIGNED_VARINT 1 or 0.

    Any other value is an error at its first byte. A lenient cursor interprets it as an
    int32 and uses only its sign.
    """
    cdef const uint8_t* start = cursor.at
    cdef uint32_t marker = read_unsigned_varint(cursor)
    if cursor.fault:
        return False
    if marker > 1 and not cursor.lenient:
        note(cursor, BAD_MARKER, start, marker)
        return False
    return 0 < <int32_t>marker


cdef bint read_tagged_fields(Decoding* d, Table* table, PyObject** slots) noexcept:
    """Read a tag section. The content of unknown tags is kept as bytes.

    Shape: UNSIGNED_VARINT count, then for each field its tag, its size (bytes) and its
    content. Tags must be in ascending order, and the content of a known field must have
    exactly its size. A lenient cursor checks neither.

    Source: KIP-482.
    """
    cdef PyObject* unknown = NULL
    cdef const uint8_t* start = d.cursor.at
    cdef uint32_t count = read_unsigned_varint(&d.cursor)
    cdef bint done
    slots[table.slots - 1] = NULL
    done = read_tags(d, table, slots, start, count, &unknown)
    if done and unknown == NULL:
        slots[table.slots - 1] = new_ref(<PyObject*>_empty)
    elif done:
        slots[table.slots - 1] = PyList_AsTuple(unknown)
        if slots[table.slots - 1] == NULL:
            d.cursor.fault = PYTHON_ERROR
            done = False
    Py_XDECREF(unknown)
    return done


cdef bint read_tags(
    Decoding* d,
    Table* table,
    PyObject** slots,
    const uint8_t* start,
    uint32_t count,
    PyObject** unknown,
) noexcept:
    cdef Cursor* cursor = &d.cursor
    cdef uint32_t tag, size
    cdef int64_t previous = -1
    cdef int known
    cdef Step* step
    cdef PyObject* value
    if not cursor.fault and count > <size_t>(cursor.end - cursor.at) // 2:
        note(cursor, BAD_COUNT, start, count)
    if not cursor.fault and count > cursor.max_tags:
        note(cursor, TOO_MANY_TAGS, start, count)
    if cursor.fault:
        note_field(&d.path, NULL)
        return False
    for _ in range(count):
        if unlikely(not take_step(&d.steps)):
            cursor.fault = PYTHON_ERROR
            return False
        start = cursor.at
        tag = read_unsigned_varint(cursor)
        if not cursor.fault and tag <= previous and not cursor.lenient:
            note(cursor, TAG_OUT_OF_ORDER, start, tag)
        if not cursor.fault and is_invalid(table, tag):
            note(cursor, TAG_NOT_IN_VERSION, start, tag)
        if cursor.fault:
            note_field(&d.path, NULL)
            return False
        previous = tag
        size = read_unsigned_varint(cursor)
        step = NULL
        for known in range(table.tagged_count):
            if table.tagged[known].tag == tag:
                step = &table.tagged[known]
                break
        # Kafka ignores the size of a known tag, and so does a lenient cursor.
        if not cursor.fault and (step == NULL or not cursor.lenient):
            require(cursor, size)
        if cursor.fault:
            note_field(&d.path, NULL)
            return False
        if step == NULL:
            if not keep_unknown(cursor, tag, size, unknown):
                return False
            continue
        value = read_tagged_field(d, step, size)
        if value == NULL:
            if not cursor.fault:
                cursor.fault = PYTHON_ERROR
            note_field(&d.path, step)
            return False
        Py_XDECREF(slots[step.slot])
        slots[step.slot] = value
    return True


cdef PyObject* read_tagged_field(Decoding* d, Step* step, uint32_t size) noexcept:
    """Read the content of one known tag. ``size`` is its length in bytes."""
    cdef Cursor* cursor = &d.cursor
    cdef const uint8_t* end = cursor.end
    cdef PyObject* value
    if not cursor.lenient:
        cursor.end = cursor.at + size
    if step.content != OP_NULLABLE_STRUCT:
        value = read_field(d, step, step.content)
    elif read_tagged_marker(cursor):
        value = read_struct(d, step.table)
    else:
        value = NULL if cursor.fault else new_ref(NONE)
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
    """Append an unknown tag and its content to the list of (tag, bytes) pairs."""
    cdef bint done = False
    try:
        pair = (tag, <bytes>cursor.at[:size])
        if unknown[0] == NULL:
            pairs = []
            unknown[0] = new_ref(<PyObject*>pairs)
        else:
            pairs = <list>unknown[0]
        pairs.append(pair)
        done = True
    except MemoryError:
        cursor.fault = PYTHON_ERROR
    cursor.at += size if done else 0
    return done


cdef bint is_invalid(Table* table, uint32_t tag) noexcept nogil:
    """Whether the schema defines this tag for other versions only."""
    cdef int index
    for index in range(table.invalid_count):
        if table.invalid_tags[index] == tag:
            return True
    return False


cdef Step* note_run(Decoding* d, Step* check) noexcept nogil:
    """Store a truncation fault for a run of fixed-size fields that exceeds the input.

    Returns the first field of the run that does not fit.
    """
    cdef Step* step = check + 1
    cdef Py_ssize_t left = d.cursor.end - d.cursor.at
    while size_of(step.op) <= left:
        left -= size_of(step.op)
        step += 1
    note(&d.cursor, TRUNCATED, d.cursor.end, size_of(step.op) - left)
    return step


def decode(
    cls,
    data,
    version=None,
    *,
    bint zero_copy=False,
    compat=None,
    limits=_default_limits,
):
    """Decode one message body, without frame size and header.

    * ``data``: contiguous bytes-like object that contains exactly one message.
    * ``zero_copy``: return memoryviews of ``data`` for bytes and records fields.
    * ``compat``: with ``"java"``, accept the same invalid input as Kafka's own classes.
      Trailing bytes and superfluous varint bits are ignored, tags may have any order,
      and invalid UTF-8 is replaced.
    * ``limits``: maximum input size, maximum number of elements in each array, and
      maximum number of fields in each tag section. None means the default limits.

    Shape: the fields in schema order. In flexible versions, each struct ends with its
    tag section. Time and memory are linear in the input size.

    Raises ``DecodeError`` with the path of the field and the offset in ``data``
    (bytes). Raises ``UnsupportedVersion`` if the message does not have this version.

    Source: ``ApiMessage.read`` of Kafka's generated classes.
    """
    cdef bint lenient = compat is not None and is_lenient(compat)
    cdef bint whole = not lenient
    cdef Py_ssize_t at = 0
    try:
        return decode_part(cls, data, version, &at, zero_copy, lenient, limits, whole)
    except errors.DecodeError as error:
        # If there is no memory for a traceback, Cython assigns a MemoryError to the
        # variable instead.
        if isinstance(error, errors.DecodeError):
            message = find_program(cls, version).binding.message
            facts = message.kind, message.api_key, version
            frame_hints.hint_at_header(error, data, *facts)
        raise


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
    """Decode the message that begins at byte ``start``; more bytes may follow it.

    Returns the message and its end offset. The other parameters and the errors are the
    same as for ``decode``. Raises ``ValueError`` if ``start`` is outside of ``data``.
    """
    cdef bint lenient = compat is not None and is_lenient(compat)
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
    cdef Program program = find_program(cls, version)
    cdef Decoding d
    cdef Py_buffer buffer
    cdef PyObject* made
    cdef Py_ssize_t size
    cdef object view = None
    if zero_copy:
        # Export the buffer only once, because an object may return a different buffer
        # for the second request.
        view = data = view_bytes(data)
    d.path.depth = 0
    d.cursor.view = NULL
    d.cursor.fault = 0
    d.cursor.lenient = lenient
    bound_counts(&d.cursor, limits)
    cdef bint held = False
    if PyBytes_CheckExact(<PyObject*>data):
        d.cursor.start = <const uint8_t*>PyBytes_AS_STRING(<PyObject*>data)
        size = PyBytes_GET_SIZE(<PyObject*>data)
    else:
        get_input(data, &buffer)
        held = True
        d.cursor.start = <const uint8_t*>buffer.buf
        size = buffer.len
    try:
        d.cursor.at = d.cursor.start
        d.cursor.end = d.cursor.start + size
        if zero_copy:
            d.cursor.view = <PyObject*>view
        if exceeds(size, limits):
            note(&d.cursor, FRAME_TOO_LARGE, d.cursor.start, size)
        elif not 0 <= at[0] <= size:
            raise ValueError(
                f"start must be 0 to {size}, the length of the input"
                f" (got {at[0]})"
            )
        else:
            d.cursor.at += at[0]
        made = NULL if d.cursor.fault else run(&d, program.table, whole)
        if made == NULL:
            raise make_failure(&d, program)
        at[0] = d.cursor.at - d.cursor.start
        result = <object>made
        Py_XDECREF(made)
        return result
    finally:
        if held:
            PyBuffer_Release(&buffer)


cdef PyObject* run(Decoding* d, Table* table, bint whole) noexcept:
    """Read one message, then release the references that only this call needed."""
    cdef PyObject* made
    d.steps = STEPS
    begin_sharing(&d.ints)
    made = read_struct(d, table)
    end_sharing(&d.ints)
    if made != NULL and whole and d.cursor.at != d.cursor.end:
        note(&d.cursor, TRAILING_BYTES, d.cursor.at, d.cursor.end - d.cursor.at)
        Py_XDECREF(made)
        return NULL
    return made


cdef object make_failure(Decoding* d, Program program):
    """Create the exception for the fault in the cursor."""
    if d.cursor.fault == PYTHON_ERROR:
        raise_pending()
    return errors.decode_failure(
        d.cursor.fault,
        d.cursor.fault_detail,
        d.cursor.fault_offset,
        format_path(&d.path),
        program.layout.name,
        program.layout.version,
    )


cdef bint exceeds(Py_ssize_t size, object limits) except -1:
    """Whether the input is larger than the frame size limit."""
    if limits is _default_limits or limits is None:
        return size > _default_limit
    return limits.frame_bytes is not None and size > limits.frame_bytes


cdef int bound_counts(Cursor* cursor, object limits) except -1:
    """Set the limits of a cursor for array elements and tagged fields."""
    cursor.max_elements = cursor.max_tags = INT64_MAX
    if limits is _default_limits or limits is None:
        return 0
    if limits.array_elements is not None:
        cursor.max_elements = min(int(limits.array_elements), INT64_MAX)
    if limits.tagged_fields is not None:
        cursor.max_tags = min(int(limits.tagged_fields), INT64_MAX)
    return 0


cdef object view_bytes(object data):
    view = memoryview(data)
    if not view.c_contiguous:
        raise TypeError("the input must be contiguous in memory; pass bytes(data)")
    return view.cast("B") if view.nbytes else memoryview(b"")


cdef int get_input(object data, Py_buffer* buffer) except -1:
    if PyObject_GetBuffer(<PyObject*>data, buffer, PyBUF_SIMPLE) < 0:
        if not forget_exception():
            return -1
        if PyObject_CheckBuffer(<PyObject*>data):
            raise TypeError("the input must be contiguous in memory; pass bytes(data)")
        raise TypeError(f"a bytes-like object is required, not {type(data).__name__!r}")
    return 0


cdef bint is_lenient(object compat) except -1:
    """Return whether the ``compat`` argument makes the cursor lenient.

    Raises ``ValueError`` if it is neither None nor ``"java"``.
    """
    if compat == "java":
        return True
    raise ValueError(f'compat must be None or "java" (got {errors.quote(compat)})')
