# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the rows to encode, and splits them into their parts.

A row is a record, or a tuple of key, value, timestamp (ms, None for no timestamp) and
headers. Timestamp and headers are optional. A tuple gets the offset after the previous
row. ``record_encoder.pyx`` encodes the parts.

Twin: ``pure/rows.py``. Differs from its twin in: errors are fault codes, and the parts
are pointers into the caller's objects.

Only in Cython: ``compute_next_offset``, ``take_integer``, ``take_bytes``,
``copy_bytes``, ``take_headers``, ``normalize_headers``, ``normalize_pair``, ``take``,
``as_headers``, ``keep_row``, ``untrack_row``, ``blame_value``, ``clear``, ``drop``,
``guess_size``, ``pending``, ``make_failure``.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int64_t, uint32_t, uint64_t

from kwire._engine.fast.batches cimport (
    LOG_OVERHEAD,
    MESSAGE_OVERHEAD_0,
    MESSAGE_OVERHEAD_1,
)
from kwire._engine.fast.big_endian cimport likely, unlikely
from kwire._engine.fast.python_api cimport *
from kwire._engine.fast.record_encoder cimport LARGEST, sized_size, varint_size
from kwire._engine.fast.rows cimport *
from kwire._engine.fast.structs cimport slots_of, type_of
from kwire._engine.fast.writer cimport NOT_UTF8, OUT_OF_RANGE, WRITE_ERROR, WRONG_TYPE

from kwire import errors

cdef extern from "Python.h":
    PyObject* PyExc_TypeError
    PyObject* PyExc_BufferError
    PyObject* PyExc_ValueError
    PyObject* PyExc_UnicodeEncodeError
    bint PyTuple_Check(PyObject* value)
    bint PyList_Check(PyObject* value)
    bint PyDict_Check(PyObject* value)
    bint PyBytes_Check(PyObject* value)
    bint PyLong_CheckExact(PyObject* value)
    PyObject* PySequence_Tuple(PyObject* value)
    PyObject* PyObject_Bytes(PyObject* value)
    PyObject* PyMemoryView_FromObject(PyObject* value)
    int PyBuffer_IsContiguous(const Py_buffer* view, char order)
    Py_buffer* PyMemoryView_GET_BUFFER(PyObject* view)

cdef extern from "<time.h>":
    cdef struct timespec:
        int64_t tv_sec
        long tv_nsec
    int TIME_UTC
    int timespec_get(timespec* at, int base)

cdef PyTypeObject* _record_class = NULL
cdef object _no_headers = ()

cdef enum:
    MOST_GUESSED = 67108864


def bind_rows(cls):
    """Set the class of records, whose objects are accepted as rows.

    The engine cannot import it, because the module of the class imports the engine.
    """
    global _record_class
    _record_class = <PyTypeObject*>cls


cdef class RecordList:
    """List of records for one batch, with a size limit.

    * ``magic``: record format of the batch: 0, 1 or 2.
    * ``max_bytes``: maximum size of the encoded batch, without compression. It is
      compared with an upper bound of the size.

    ``append`` returns False if the records might exceed ``max_bytes`` with the new
    record. The first record is always added. ``records`` is the record list, and
    ``content`` is the upper bound for its size. Mutable values are copied. Invalid
    records raise ``EncodeError``.

    Units: bytes. Source: ``AbstractRecords.recordSizeUpperBound``.
    """

    cdef readonly list records
    cdef readonly int64_t content
    cdef int64_t max_bytes
    cdef int magic

    def __init__(self, int magic, int64_t max_bytes):
        self.records = []
        self.content = 0
        self.max_bytes = max_bytes
        self.magic = magic

    def __len__(self):
        return len(self.records)

    def append(self, key, value, timestamp=None, headers=()):
        """Add a record. Returns False if the batch might then be too large.

        Raises ``EncodeError`` if the record is invalid.
        """
        return self.take(key, value, timestamp, headers)

    cdef bint take(self, key, value, timestamp, headers) except -1:
        """Add a record. Returns False if the batch might then be too large."""
        cdef Blame e
        cdef Row parts
        cdef int64_t content = self.content
        cdef bint done, kept_as_is
        if type(headers) is not tuple:
            headers = as_headers(headers)
        row = (key, value, timestamp, headers)
        clear(&e)
        done = split(&e, <PyObject*>row, 0, &parts)
        if done and self.magic < 2:
            done = check_no_headers(&e, &parts)
        if done:
            content += bound_row(self.magic, &parts)
            if parts.owned[0] != NULL:
                key = <object>parts.owned[0]
            if parts.owned[1] != NULL:
                value = <object>parts.owned[1]
            headers = <object>parts.headers
            kept_as_is = (
                parts.owned[0] == NULL
                and parts.owned[1] == NULL
                and parts.owned[2] == NULL
            )
        drop(&parts)
        if not done:
            raise make_failure(&e)
        if content > self.max_bytes and self.records:
            return False
        self.content = content
        if not kept_as_is:
            row = (key, value, timestamp, headers)
        untrack_row(<PyObject*>row)
        self.records.append(row)
        return True

    def append_now(self, key, value, timestamp=None, headers=()):
        """Add a record with the current time as the default timestamp.

        Returns the current time (ms), even if ``timestamp`` is specified. Returns 0 if
        the batch might become too large, as ``append`` returns False then.
        """
        cdef timespec clock
        if timespec_get(&clock, TIME_UTC) != TIME_UTC:
            raise OSError("the system has no clock for the time of a record")
        now = <int64_t>clock.tv_sec * 1000 + clock.tv_nsec // 1000000
        when = <object>now
        if timestamp is None:
            timestamp = when
        return when if self.take(key, value, timestamp, headers) else 0

    def extend(self, records, Py_ssize_t start=0, int64_t timestamp=-1):
        """Add records from index ``start`` on. Returns the first index not added.

        ``records`` is a list or a tuple of records. ``timestamp`` (ms) is the default
        timestamp. The function stops before the first record with which the batch might
        be too large.

        Raises ``EncodeError`` if a record is invalid. The error path contains the
        record, and the records before it remain in the list.
        """
        cdef Blame e
        cdef Row parts
        cdef int64_t content
        cdef bint done
        cdef Py_ssize_t index
        check_rows(records)
        for index in range(max(start, 0), len(records)):
            row = records[index]
            clear(&e)
            done = split(&e, <PyObject*>row, 0, &parts)
            if done and self.magic < 2:
                done = check_no_headers(&e, &parts)
            if not done:
                drop(&parts)
                e.record = index
                raise make_failure(&e)
            content = self.content + bound_row(self.magic, &parts)
            if content > self.max_bytes and self.records:
                drop(&parts)
                return index
            if parts.timestamp < 0:
                parts.timestamp = timestamp
            try:
                kept = keep_row(row, &parts, timestamp)
            finally:
                drop(&parts)
            self.content = content
            self.records.append(kept)
        return max(start, <Py_ssize_t>len(records))


cdef object keep_row(object row, Row* parts, int64_t timestamp):
    """Return an immutable row: the row itself if possible, otherwise a new tuple."""
    cdef PyObject* item = <PyObject*>row
    if type_of(item) == _record_class:
        key, value = row.key, row.value
    else:
        if (
            PyTuple_CheckExact(item)
            and (timestamp < 0 or parts.timestamp != timestamp)
            and parts.owned[0] == NULL
            and parts.owned[1] == NULL
            and parts.owned[2] == NULL
        ):
            return row
        if parts.owned[3] != NULL:
            row = <object>parts.owned[3]
        key, value = row[0], row[1]
    if parts.owned[0] != NULL:
        key = <object>parts.owned[0]
    if parts.owned[1] != NULL:
        value = <object>parts.owned[1]
    made = (key, value, parts.timestamp, <object>parts.headers)
    untrack_row(<PyObject*>made)
    return made


cdef inline void untrack_row(PyObject* row) noexcept:
    """Exclude a new row from garbage collection if it cannot be part of a cycle.

    Its key and value are bytes or None, because ``split`` has converted them.
    """
    cdef PyObject* timestamp = PyTuple_GET_ITEM(row, 2)
    cdef PyObject* headers = PyTuple_GET_ITEM(row, 3)
    if (timestamp == NONE or PyLong_CheckExact(timestamp)) and (
        PyTuple_CheckExact(headers) and not PyTuple_GET_SIZE(headers)
    ):
        PyObject_GC_UnTrack(row)


cdef object as_headers(object headers):
    """Convert headers to a tuple, because an iterator can be read only once.

    Invalid values are returned unchanged, so that ``split`` reports them.
    """
    if headers is None or isinstance(headers, (list, str, bytes, dict)):
        return headers
    try:
        headers = tuple(headers)
    except TypeError:
        pass
    return headers


cdef int64_t bound_row(int magic, Row* row) noexcept nogil:
    """Return an upper bound for the encoded size of a row in bytes.

    It is the size for the specified magic without compression.
    """
    cdef int64_t content = <int64_t>max(row.key_size, 0) + max(row.value_size, 0)
    if magic == 0:
        return LOG_OVERHEAD + MESSAGE_OVERHEAD_0 + content
    if magic == 1:
        return LOG_OVERHEAD + MESSAGE_OVERHEAD_1 + content
    # Maximum sizes of the record length, attributes, timestamp delta, offset delta, key
    # length, value length and headers.
    return 5 + 1 + 10 + 5 + 5 + 5 + row.headers_size + content


cdef int check_rows(object rows) except -1:
    """Raise ``TypeError`` if the rows are not a list or a tuple."""
    if not isinstance(rows, (list, tuple)):
        raise TypeError(
            f"records must be a list or a tuple (got {type(rows).__name__})"
        )
    return 0


cdef bint check_no_headers(Blame* e, Row* row) noexcept:
    """Reject headers. The formats of magic 0 and 1 do not support them."""
    if PyTuple_GET_SIZE(row.headers) == 0:
        return True
    e.part = b"headers"
    e.expected = b"no headers, which require magic 2"
    return blame_value(e, WRONG_TYPE, row.headers)


cdef int64_t compute_next_offset(int64_t offset) noexcept nogil:
    """Compute the next offset. The sum overflows after the maximum."""
    return <int64_t>(<uint64_t>offset + 1)


cdef bint split(
    Blame* e, PyObject* item, int64_t offset, Row* row
) noexcept:
    """Split a row into offset, timestamp, key, value and headers.

    A tuple gets the offset ``offset``. A missing timestamp is -1. If a part is invalid,
    the name of the part is appended to the error path of the row.
    """
    cdef PyObject* key
    cdef PyObject* value
    cdef PyObject* timestamp = NONE
    cdef PyObject* headers = <PyObject*>_no_headers
    cdef Py_ssize_t size
    row.owned[0] = row.owned[1] = row.owned[2] = row.owned[3] = NULL
    row.offset = offset
    row.timestamp = -1
    if type_of(item) == _record_class:
        key = slots_of(item)[2]
        value = slots_of(item)[3]
        timestamp = slots_of(item)[1]
        headers = slots_of(item)[4]
        if not take_integer(e, b"offset", slots_of(item)[0], 0, &row.offset):
            return False
    else:
        if PyList_Check(item):
            item = row.owned[3] = PySequence_Tuple(item)
            if item == NULL:
                e.fault = WRITE_ERROR
                return False
        size = PyTuple_GET_SIZE(item) if PyTuple_Check(item) else 0
        if not 2 <= size <= 4:
            e.expected = b"a record or a tuple of key, value, timestamp and headers"
            return blame_value(e, WRONG_TYPE, item)
        if unlikely(offset < 0):
            # The offset after the maximum int64 has overflowed.
            e.part = b"offset"
            e.expected = b"an int64 from 0"
            row.owned[0] = PyLong_FromUnsignedLongLong(<uint64_t>offset)
            if row.owned[0] == NULL:
                e.fault = WRITE_ERROR
                return False
            return blame_value(e, OUT_OF_RANGE, row.owned[0])
        key = PyTuple_GET_ITEM(item, 0)
        value = PyTuple_GET_ITEM(item, 1)
        if size > 2:
            timestamp = PyTuple_GET_ITEM(item, 2)
        if size > 3:
            headers = PyTuple_GET_ITEM(item, 3)
    if timestamp != NONE and not take_integer(
        e, b"timestamp", timestamp, -1, &row.timestamp
    ):
        return False
    return (
        take_bytes(e, b"key", key, &row.key, &row.key_size, &row.owned[0])
        and take_bytes(e, b"value", value, &row.value, &row.value_size, &row.owned[1])
        and take_headers(e, headers, row)
    )


cdef inline bint take_integer(
    Blame* e, const char* name, PyObject* value, int64_t low, int64_t* number
) noexcept:
    """Check that an offset or timestamp is an int64 and at least ``low``."""
    cdef int overflow = 0
    if likely(is_small_int(value)):
        number[0] = small_int(value)
    else:
        number[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
        if number[0] == -1 and not overflow and PyErr_Occurred():
            if not PyErr_ExceptionMatches(PyExc_TypeError):
                e.fault = WRITE_ERROR
                return False
            PyErr_Clear()
            e.part = name
            e.expected = b"an int64 from 0" if low == 0 else b"an int64 from -1"
            return blame_value(e, WRONG_TYPE, value)
    if unlikely(overflow or number[0] < low):
        e.part = name
        e.expected = b"an int64 from 0" if low == 0 else b"an int64 from -1"
        return blame_value(e, OUT_OF_RANGE, value)
    return True


cdef inline bint take_bytes(
    Blame* e,
    const char* name,
    PyObject* value,
    const char** data,
    Py_ssize_t* size,
    PyObject** owned,
) noexcept:
    """Return the bytes in a contiguous buffer, or size -1 for None."""
    if likely(PyBytes_CheckExact(value)):
        data[0] = PyBytes_AS_STRING(value)
        size[0] = PyBytes_GET_SIZE(value)
        return True
    if value == NONE:
        size[0] = -1
        return True
    owned[0] = copy_bytes(value)
    if owned[0] == NULL:
        if PyErr_Occurred():
            e.fault = WRITE_ERROR
            return False
        e.part = name
        e.expected = b"bytes or None"
        return blame_value(e, WRONG_TYPE, value)
    data[0] = PyBytes_AS_STRING(owned[0])
    size[0] = PyBytes_GET_SIZE(owned[0])
    return True


cdef PyObject* copy_bytes(PyObject* value) noexcept:
    """Copy the bytes in a contiguous buffer.

    Returns NULL without an exception if the object has no such buffer.
    """
    cdef Py_buffer buffer
    cdef PyObject* made
    if PyObject_GetBuffer(value, &buffer, PyBUF_SIMPLE) < 0:
        if (
            PyErr_ExceptionMatches(PyExc_TypeError)
            or PyErr_ExceptionMatches(PyExc_BufferError)
            or PyErr_ExceptionMatches(PyExc_ValueError)
        ):
            PyErr_Clear()
        return NULL
    made = PyBytes_FromStringAndSize(<const char*>buffer.buf, buffer.len)
    PyBuffer_Release(&buffer)
    return made


cdef inline bint take_headers(Blame* e, PyObject* headers, Row* row) noexcept:
    """Check the headers of a row and compute their encoded size."""
    cdef Py_ssize_t count, index, size
    cdef PyObject* pair
    cdef PyObject* part
    row.headers = headers
    row.headers_size = 1
    if likely(headers == <PyObject*>_no_headers):
        return True
    if headers == NONE:
        row.headers = <PyObject*>_no_headers
        return True
    if not PyTuple_CheckExact(headers):
        if PyUnicode_Check(headers) or PyBytes_Check(headers) or PyDict_Check(headers):
            headers = NULL
        else:
            headers = row.owned[2] = PySequence_Tuple(headers)
            if headers == NULL and not PyErr_ExceptionMatches(PyExc_TypeError):
                e.fault = WRITE_ERROR
                return False
            PyErr_Clear()
        if headers == NULL:
            e.part = b"headers"
            e.expected = b"pairs of a string and bytes"
            return blame_value(e, WRONG_TYPE, row.headers)
        row.headers = headers
    count = PyTuple_GET_SIZE(headers)
    row.headers_size = varint_size(<uint32_t>count << 1)
    for index in range(count):
        pair = PyTuple_GET_ITEM(headers, index)
        if not PyTuple_Check(pair) or PyTuple_GET_SIZE(pair) != 2:
            return normalize_headers(e, row)
        part = PyTuple_GET_ITEM(pair, 0)
        if not PyUnicode_Check(part) or PyUnicode_AsUTF8AndSize(part, &size) == NULL:
            PyErr_Clear()
            return normalize_headers(e, row)
        row.headers_size += sized_size(size)
        part = PyTuple_GET_ITEM(pair, 1)
        if part != NONE and not PyBytes_CheckExact(part):
            return normalize_headers(e, row)
        row.headers_size += sized_size(-1 if part == NONE else PyBytes_GET_SIZE(part))
    return True


cdef bint normalize_headers(Blame* e, Row* row) noexcept:
    """Convert headers with lists and other buffers to tuples of str and bytes.

    Stores a fault for the first header that cannot be converted.
    """
    cdef Py_ssize_t count = PyTuple_GET_SIZE(row.headers)
    cdef Py_ssize_t index
    cdef PyObject* pair
    cdef PyObject* made = PyTuple_New(count)
    if made == NULL:
        e.fault = WRITE_ERROR
        return False
    for index in range(count):
        e.header = index
        pair = normalize_pair(e, PyTuple_GET_ITEM(row.headers, index))
        if pair == NULL:
            Py_XDECREF(made)
            return False
        PyTuple_SET_ITEM(made, index, pair)
    e.header = -1
    e.part = NULL
    e.expected = NULL
    Py_XDECREF(row.owned[2])
    row.owned[2] = made
    return take_headers(e, made, row)


cdef PyObject* normalize_pair(Blame* e, PyObject* pair) noexcept:
    """Convert one header to a tuple of str and bytes or None. NULL if it is invalid."""
    cdef PyObject* whole = NULL
    cdef PyObject* made = NULL
    cdef PyObject* content
    cdef Py_ssize_t size
    e.part = NULL
    e.expected = b"a pair of a string and bytes"
    if PyList_Check(pair):
        # Copy the list, because other code may modify it.
        whole = PySequence_Tuple(pair)
        if whole == NULL:
            e.fault = WRITE_ERROR
            return NULL
    elif PyTuple_Check(pair):
        whole = new_ref(pair)
    if whole == NULL or PyTuple_GET_SIZE(whole) != 2:
        blame_value(e, WRONG_TYPE, pair)
        Py_XDECREF(whole)
        return NULL
    e.part = b"key"
    e.expected = b"a string"
    pair = PyTuple_GET_ITEM(whole, 0)
    if not PyUnicode_Check(pair):
        blame_value(e, WRONG_TYPE, pair)
    elif PyUnicode_AsUTF8AndSize(pair, &size) == NULL:
        if PyErr_ExceptionMatches(PyExc_UnicodeEncodeError):
            PyErr_Clear()
            blame_value(e, NOT_UTF8, pair)
        else:
            e.fault = WRITE_ERROR
    else:
        e.part = b"value"
        e.expected = b"bytes or None"
        content = PyTuple_GET_ITEM(whole, 1)
        if content == NONE or PyBytes_CheckExact(content):
            content = new_ref(content)
        else:
            content = copy_bytes(content)
        if content != NULL:
            made = PyTuple_New(2)
            if made == NULL:
                Py_XDECREF(content)
                e.fault = WRITE_ERROR
            else:
                PyTuple_SET_ITEM(made, 0, new_ref(pair))
                PyTuple_SET_ITEM(made, 1, content)
        elif PyErr_Occurred():
            e.fault = WRITE_ERROR
        else:
            blame_value(e, WRONG_TYPE, PyTuple_GET_ITEM(whole, 1))
    Py_XDECREF(whole)
    return made


cdef bint blame_value(Blame* e, int fault, PyObject* value) noexcept:
    """Store a fault code and a reference to its value. Always returns False."""
    e.fault = fault
    e.blamed = NULL if value == NULL else new_ref(value)
    return False


cdef void clear(Blame* e) noexcept:
    """Reset the error state."""
    e.fault = 0
    e.blamed = NULL
    e.expected = NULL
    e.record = -1
    e.header = -1
    e.part = NULL


cdef void drop(Row* row) noexcept:
    """Release the objects that were created for a row."""
    cdef int index
    for index in range(4):
        Py_XDECREF(row.owned[index])


cdef int64_t guess_size(tuple rows) except -1:
    """Estimate the size of the rows in bytes from the first row.

    A good estimate avoids copying the output when it grows.
    """
    cdef int64_t content = 0
    cdef PyObject* part
    cdef int index
    if not rows:
        return 0
    item = rows[0]
    for index in range(2):
        part = NULL
        if type_of(<void*>item) == _record_class:
            part = slots_of(<void*>item)[2 + index]
        elif PyTuple_Check(<PyObject*>item) and len(<tuple>item) > 1:
            part = PyTuple_GET_ITEM(<PyObject*>item, index)
        if part != NULL and PyBytes_CheckExact(part):
            content += PyBytes_GET_SIZE(part)
    # Limit the estimate, because the first row may be much larger than the others.
    return min(
        <int64_t>len(rows) * min(content + 16, <int64_t>LARGEST),
        content + MOST_GUESSED,
    )


cdef object pending():
    """Return the pending exception, or ``MemoryError`` if there is none.

    If memory is exhausted, CPython may fail without setting an exception.
    """
    cdef PyObject* kind = NULL
    cdef PyObject* value = NULL
    cdef PyObject* trace = NULL
    PyErr_Fetch(&kind, &value, &trace)
    if kind == NULL:
        return MemoryError()
    PyErr_NormalizeException(&kind, &value, &trace)
    error = <object>value
    Py_XDECREF(kind)
    Py_XDECREF(value)
    Py_XDECREF(trace)
    return error


cdef object make_failure(
    Blame* e, int64_t offset=0, int64_t previous=0, int64_t base_offset=0
):
    """Create the ``EncodeError`` for a fault.

    If the offset of a row is invalid, the parameters contain this offset, the offset of
    the previous row, and the base offset.
    """
    if e.fault == WRITE_ERROR:
        return pending()
    cdef str text = "" if e.record < 0 else f"records[{e.record}]"
    cdef str expected = "" if e.expected == NULL else e.expected.decode()
    value = None
    if e.header >= 0:
        text += f"{'.' if text else ''}headers[{e.header}]"
    if e.part != NULL:
        text += ("." if text else "") + e.part.decode()
    if e.blamed != NULL:
        value = <object>e.blamed
        Py_XDECREF(e.blamed)
    elif e.fault == OUT_OF_RANGE:
        value = offset
        low = <object>previous + 1
        expected = f"an offset of at least {low}"
        if base_offset >= 0:
            expected = f"an offset from {low} to {<object>base_offset + LARGEST}"
    return errors.encode_failure(e.fault, expected, value, text)
