/* SPDX-FileCopyrightText: 2026 The kwire authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference implementation for records as objects: a plain C loop that creates one
 * tuple per record, with functions of CPython and the checks of the protocol.
 *
 * It only creates objects that a reader needs. Consecutive records with equal
 * timestamps share one object. Tuples are not tracked by the garbage collector, because
 * they cannot be part of a reference cycle here.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static int read_varint(struct cursor *c, int64_t *value)
{
    uint64_t raw = 0;
    for (int shift = 0; shift < 70 && c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        raw |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = (int64_t)((raw >> 1) ^ (0 - (raw & 1)));
            return 1;
        }
    }
    return 0;
}

static PyObject *read_part(struct cursor *c)
{
    int64_t size;
    PyObject *made;
    if (!read_varint(c, &size) || size < -1 || size > c->end - c->at)
        return NULL;
    if (size < 0)
        return Py_NewRef(Py_None);
    made = PyBytes_FromStringAndSize((const char *)c->at, (Py_ssize_t)size);
    c->at += size;
    return made;
}

/*
 * Fill a tuple with the fields of a record. Return 0 if the record is damaged or memory
 * allocation fails.
 */
static int fill_record(PyObject *record, struct cursor *c, int64_t first_timestamp,
                       PyObject **timestamp, int64_t *last_delta, PyObject *no_headers)
{
    int64_t delta, offset, headers;
    PyObject *part;
    if (c->at == c->end)
        return 0;
    c->at++;
    if (!read_varint(c, &delta) || !read_varint(c, &offset))
        return 0;
    if (*timestamp == NULL || delta != *last_delta) {
        Py_XSETREF(*timestamp, PyLong_FromLongLong(first_timestamp + delta));
        *last_delta = delta;
        if (*timestamp == NULL)
            return 0;
    }
    if ((part = PyLong_FromLongLong(offset)) == NULL)
        return 0;
    PyTuple_SET_ITEM(record, 0, part);
    PyTuple_SET_ITEM(record, 1, Py_NewRef(*timestamp));
    for (int place = 2; place < 4; place++) {
        if ((part = read_part(c)) == NULL)
            return 0;
        PyTuple_SET_ITEM(record, place, part);
    }
    PyTuple_SET_ITEM(record, 4, Py_NewRef(no_headers));
    return read_varint(c, &headers) && headers == 0 && c->at == c->end;
}

/* Create a tuple (offset, timestamp, key, value, headers) for each record. */
PyObject *build_records(PyObject *data, long count, int64_t first_timestamp,
                        PyObject *no_headers)
{
    const uint8_t *at = (const uint8_t *)PyBytes_AS_STRING(data);
    const uint8_t *end = at + PyBytes_GET_SIZE(data);
    PyObject *timestamp = NULL, *made = PyTuple_New(count);
    int64_t last_delta = 0;
    for (long index = 0; made != NULL && index < count; index++) {
        struct cursor c = {at, end};
        int64_t size;
        PyObject *record = PyTuple_New(5);
        int done = record != NULL && read_varint(&c, &size) && size > 0
                   && size <= end - c.at;
        if (done) {
            at = c.end = c.at + size;
            done = fill_record(record, &c, first_timestamp, &timestamp, &last_delta,
                               no_headers);
        }
        if (!done) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_ValueError, "the C loop cannot read the records");
            Py_XDECREF(record);
            Py_CLEAR(made);
            break;
        }
        PyObject_GC_UnTrack(record);
        PyTuple_SET_ITEM(made, index, record);
    }
    Py_XDECREF(timestamp);
    if (made != NULL && at != end) {
        PyErr_SetString(PyExc_ValueError, "the C loop left bytes behind the records");
        Py_CLEAR(made);
    }
    if (made != NULL)
        PyObject_GC_UnTrack(made);
    return made;
}
