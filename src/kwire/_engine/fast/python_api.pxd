# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares Python's C API with plain pointers, without Cython's reference counting.

Hot functions count references explicitly and store fault codes instead of raising
exceptions. Therefore, none of these functions is declared to raise, and the caller must
check for NULL or -1. Without a twin.
"""

from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int64_t

cdef extern from "Python.h":
    # Numbers
    PyObject* PyLong_FromUnsignedLong(unsigned long value)
    PyObject* PyLong_FromUnsignedLongLong(unsigned long long value)
    long long PyLong_AsLongLongAndOverflow(PyObject* value, int* overflow)
    unsigned long long PyLong_AsUnsignedLongLong(PyObject* value)
    unsigned long long PyLong_AsUnsignedLongLongMask(PyObject* value)
    bint PyLong_CheckExact(PyObject* value)
    PyObject* PyFloat_FromDouble(double value)
    double PyFloat_AsDouble(PyObject* value)
    PyObject* PyNumber_Lshift(PyObject* value, PyObject* by)
    PyObject* PyNumber_Rshift(PyObject* value, PyObject* by)
    PyObject* PyNumber_Or(PyObject* a, PyObject* b)
    # Bytes and buffers
    PyObject* PyBytes_FromStringAndSize(const char* data, Py_ssize_t size)
    char* PyBytes_AS_STRING(PyObject* data)
    bint PyBytes_CheckExact(PyObject* value)
    Py_ssize_t PyBytes_GET_SIZE(PyObject* value)
    int _PyBytes_Resize(PyObject** data, Py_ssize_t size)
    int PyObject_CheckBuffer(PyObject* value)
    int PyObject_GetBuffer(PyObject* value, Py_buffer* buffer, int flags)
    void PyBuffer_Release(Py_buffer* buffer)
    int PyBUF_SIMPLE
    Py_buffer* PyMemoryView_GET_BUFFER(PyObject* view)
    # Text
    PyObject* PyUnicode_DecodeUTF8(
        const char* data, Py_ssize_t size, const char* errors
    )
    PyObject* PyUnicode_New(Py_ssize_t size, Py_UCS4 maximum)
    void* PyUnicode_1BYTE_DATA(PyObject* text)
    bint PyUnicode_Check(PyObject* value)
    bint PyUnicode_IS_COMPACT_ASCII(PyObject* value)
    Py_ssize_t PyUnicode_GET_LENGTH(PyObject* value)
    const char* PyUnicode_AsUTF8AndSize(PyObject* value, Py_ssize_t* size)
    int PyUnicodeDecodeError_GetStart(PyObject* error, Py_ssize_t* start)
    # Containers and objects
    PyObject* PyTuple_New(Py_ssize_t size)
    void PyTuple_SET_ITEM(PyObject* values, Py_ssize_t index, PyObject* value)
    bint PyTuple_CheckExact(PyObject* value)
    Py_ssize_t PyTuple_GET_SIZE(PyObject* values)
    PyObject* PyTuple_GET_ITEM(PyObject* values, Py_ssize_t index)
    PyObject* PyList_AsTuple(PyObject* values)
    int PyObject_RichCompareBool(PyObject* a, PyObject* b, int op)
    PyObject* PyObject_GetAttr(PyObject* value, PyObject* name)
    int PyObject_GenericSetAttr(PyObject* target, PyObject* name, PyObject* value)
    int PyObject_IsInstance(PyObject* value, PyObject* cls)
    void PyObject_GC_UnTrack(PyObject* value)
    void Py_XDECREF(PyObject* value)
    # Errors
    PyObject* PyErr_Occurred()
    void PyErr_Clear()
    PyObject* PyErr_NoMemory()
    void PyErr_Fetch(PyObject** kind, PyObject** value, PyObject** trace)
    void PyErr_NormalizeException(PyObject** kind, PyObject** value, PyObject** trace)
    int PyErr_GivenExceptionMatches(PyObject* given, PyObject* kind)
    int PyErr_ExceptionMatches(PyObject* kind)
    int PyErr_CheckSignals()
    PyObject* PyExc_MemoryError
    PyObject* PyExc_UnicodeDecodeError

cdef extern from *:
    """
    static inline PyObject *kwire_new_ref(PyObject *o) { Py_INCREF(o); return o; }
    #define kwire_items(o) (((PyTupleObject *)(o))->ob_item)
    /* State that threads share without a lock: pointers that are stored after their
       target has been initialized, and size hints for which any value is valid. With
       the GIL, no further synchronization is required. */
    #if defined(Py_GIL_DISABLED)
    #define kwire_load_pointer(at) ((PyObject *)_Py_atomic_load_ptr_acquire(at))
    #define kwire_publish_pointer(at, made) _Py_atomic_store_ptr_release((at), (made))
    #define kwire_load_hint(at) _Py_atomic_load_ssize_relaxed(at)
    #define kwire_store_hint(at, size) _Py_atomic_store_ssize_relaxed((at), (size))
    #else
    #define kwire_load_pointer(at) (*(at))
    #define kwire_publish_pointer(at, made) ((void)(*(at) = (made)))
    #define kwire_load_hint(at) (*(at))
    #define kwire_store_hint(at, size) ((void)(*(at) = (size)))
    #endif
    /* Cache of Python's small ints, which avoids a function call. Most error codes,
       leaders and partitions are small ints. They exist as long as the process, and
       all threads use the same objects. */
    static PyObject *kwire_small_ints[262];
    #define kwire_is_kept(value) ((unsigned long long)(value) + 5 < 262)
    /* PyLong_FromLong is faster than PyLong_FromLongLong for ints with a single
       digit. */
    #if LONG_MAX == LLONG_MAX
    #define kwire_new_int(value) PyLong_FromLong((long)(value))
    #else
    #define kwire_new_int(value) PyLong_FromLongLong(value)
    #endif
    static inline PyObject *kwire_int_of(long long value) {
        PyObject *known;
        if (!kwire_is_kept(value))
            return kwire_new_int(value);
        known = kwire_load_pointer(&kwire_small_ints[value + 5]);
        if (known == NULL) {
            known = PyLong_FromLong((long)value);
            kwire_publish_pointer(&kwire_small_ints[value + 5], known);
        }
        Py_XINCREF(known);
        return known;
    }
    /* The same without the NULL check, for modules that have called
       kwire_keep_ints(). */
    static inline PyObject *kwire_kept_int(long long value) {
        PyObject *known = kwire_small_ints[value + 5];
        Py_INCREF(known);
        return known;
    }
    static inline void kwire_keep_ints(void) {
        for (int value = -5; value < 257; value++)
            Py_XDECREF(kwire_int_of(value));
    }
    /* Cache of Python's empty string. */
    static PyObject *kwire_no_text;
    static inline PyObject *kwire_empty_text(void) {
        PyObject *known = kwire_load_pointer(&kwire_no_text);
        if (known == NULL) {
            known = PyUnicode_New(0, 0);
            kwire_publish_pointer(&kwire_no_text, known);
        }
        Py_XINCREF(known);
        return known;
    }
    /* Maximum size of one object in bytes. On 32-bit machines, the protocol permits
       larger sizes. */
    #define KWIRE_MOST_ROOM ((int64_t)PY_SSIZE_T_MAX - 256)
    static inline PyObject *kwire_new_bytes(int64_t size) {
        if (size > KWIRE_MOST_ROOM)
            return PyErr_NoMemory();
        return PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    }
    /* Return a part of a flat memoryview of bytes. Copying the view and moving its
       start takes half the time of creating a slice object and using memoryview's
       general indexing. */
    static inline PyObject *kwire_part_of_view(
        PyObject *view, Py_ssize_t start, Py_ssize_t size)
    {
        PyObject *part = PyMemoryView_FromObject(view);
        if (part != NULL) {
            Py_buffer *window = PyMemoryView_GET_BUFFER(part);
            window->buf = (char *)window->buf + start;
            window->len = size;
            window->shape[0] = size;
        }
        return part;
    }
    /* Clear an exception that an object of the caller has raised when its value was
       read. Returns 0 without clearing exceptions that must propagate: MemoryError,
       and exceptions that are not derived from Exception, for example
       KeyboardInterrupt. */
    static inline int kwire_forget_exception(void) {
        if (PyErr_ExceptionMatches(PyExc_MemoryError)
            || !PyErr_ExceptionMatches(PyExc_Exception))
            return 0;
        PyErr_Clear();
        return 1;
    }
    /* Raise the pending exception. If memory is exhausted, there may be none, and
       MemoryError is raised. */
    static inline PyObject *kwire_raise_pending(void) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return NULL;
    }
    /* Count one step of a long loop. After every KWIRE_STEPS steps, which take a few
       milliseconds, signal handlers are run. Returns 0 with an exception set if one
       of them has raised. */
    #define KWIRE_STEPS 65536
    static inline int kwire_take_step(int *steps) {
        if (--*steps >= 0)
            return 1;
        *steps = KWIRE_STEPS;
        return PyErr_CheckSignals() == 0;
    }
    #if PY_VERSION_HEX >= 0x030C0000
    #define kwire_is_small_int(v) \
        (PyLong_CheckExact(v) && PyUnstable_Long_IsCompact((PyLongObject *)(v)))
    #define kwire_small_int(v) PyUnstable_Long_CompactValue((PyLongObject *)(v))
    #else
    #define kwire_is_small_int(v) \
        (PyLong_CheckExact(v) && (size_t)(Py_SIZE(v) + 1) < 3)
    #define kwire_small_int(v) \
        ((int64_t)Py_SIZE(v) * (int64_t)((PyLongObject *)(v))->ob_digit[0])
    #endif
    """
    PyObject* new_ref "kwire_new_ref"(PyObject* value) noexcept
    PyObject** items_of "kwire_items"(PyObject* values) noexcept
    PyObject* load_pointer "kwire_load_pointer"(PyObject** at) noexcept
    void publish_pointer "kwire_publish_pointer"(PyObject** at, PyObject* made) noexcept
    Py_ssize_t load_hint "kwire_load_hint"(Py_ssize_t* at) noexcept
    void store_hint "kwire_store_hint"(Py_ssize_t* at, Py_ssize_t size) noexcept
    bint is_kept "kwire_is_kept"(long long value) noexcept
    PyObject* int_of "kwire_int_of"(long long value) noexcept
    PyObject* kept_int "kwire_kept_int"(long long value) noexcept
    void keep_ints "kwire_keep_ints"() noexcept
    PyObject* empty_text "kwire_empty_text"() noexcept
    int64_t MOST_ROOM "KWIRE_MOST_ROOM"
    PyObject* new_bytes "kwire_new_bytes"(int64_t size) noexcept
    PyObject* part_of_view "kwire_part_of_view"(
        PyObject* view, Py_ssize_t start, Py_ssize_t size
    ) noexcept
    bint forget_exception "kwire_forget_exception"() noexcept
    object raise_pending "kwire_raise_pending"()
    int STEPS "KWIRE_STEPS"
    bint take_step "kwire_take_step"(int* steps) noexcept
    bint is_small_int "kwire_is_small_int"(PyObject* value) noexcept
    int64_t small_int "kwire_small_int"(PyObject* value) noexcept
    PyObject* NONE "Py_None"
    PyObject* TRUE "Py_True"
    PyObject* FALSE "Py_False"

cdef extern from *:
    """
    #include <stdlib.h>
    /* The variable is volatile, because compilers would otherwise remove the unused
       allocation. */
    static inline void kwire_take_and_free(size_t size) {
        void *volatile block = malloc(size);
        free(block);
    }
    """
    void take_and_free "kwire_take_and_free"(size_t size) noexcept nogil
