/* SPDX-FileCopyrightText: 2026 The kwire authors */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reference implementation for `zero_copy`: a C loop that creates memoryviews with the
 * fastest function of CPython, frees them, and does nothing else.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

enum { MOST = 1000 };

/*
 * Create `count` views of a view and free them, `rounds` times. Return None, or NULL if
 * memory allocation fails.
 */
PyObject *make_views(PyObject *view, long count, long rounds)
{
    PyObject *made[MOST];
    for (long round = 0; round < rounds; round++) {
        long ready = 0;
        while (ready < count && ready < MOST
               && (made[ready] = PyMemoryView_FromObject(view)) != NULL)
            ready++;
        for (long index = 0; index < ready; index++)
            Py_DECREF(made[index]);
        if (ready < count)
            return PyErr_NoMemory();
    }
    return Py_NewRef(Py_None);
}
