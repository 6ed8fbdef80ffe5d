# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Memory layout of struct objects and their classes.

    object                       type
     0 reference count            ...
     8 type ------------------->  tp_methods ---> Layout.methods, the first member
    16 slot 0: first field                        count, names, defaults, binding, ...
    24 slot 1: second field
     . last slot: unknown tagged fields

The offsets are those of a 64-bit CPython with the GIL. A heap type stores the pointer
to the method table that was passed when the type was created. Because this table is the
first member of a ``Layout``, two loads are sufficient to get from an object to its
``Layout``.
"""

from cpython.object cimport PyObject, PyTypeObject

from kwire._engine.fast.big_endian cimport likely

cdef extern from "Python.h":
    ctypedef struct PyMethodDef:
        const char* ml_name
        void* ml_meth
        int ml_flags
        const char* ml_doc

    void* PyObject_Malloc(size_t size)
    void PyObject_Free(void* memory)
    PyObject* PyObject_Init(PyObject* memory, PyTypeObject* type)

cdef extern from *:
    """
    #define kwire_type_of(o) Py_TYPE((PyObject *)(o))
    #define kwire_slots(o) ((PyObject **)((char *)(o) + sizeof(PyObject)))
    #define kwire_methods(t) ((void *)((PyTypeObject *)(t))->tp_methods)
    #define kwire_dealloc(t) ((void *)((PyTypeObject *)(t))->tp_dealloc)
    #define kwire_is_type(o) PyType_Check((PyObject *)(o))
    #define kwire_set_refcount(o, n) Py_SET_REFCNT((PyObject *)(o), (n))
    /* Freed structs are only kept for reuse if the GIL protects the list. Debug
       builds and address sanitizers do not keep them, because they detect the use of
       freed memory. */
    #if defined(Py_GIL_DISABLED) || defined(Py_DEBUG) || defined(__SANITIZE_ADDRESS__)
    #define KWIRE_MOST_SPARE 0
    #else
    #define KWIRE_MOST_SPARE 65536
    #endif
    """
    PyTypeObject* type_of "kwire_type_of"(void* value) noexcept
    PyObject** slots_of "kwire_slots"(void* value) noexcept
    void* methods_of "kwire_methods"(void* cls) noexcept
    void* dealloc_of "kwire_dealloc"(void* cls) noexcept
    bint is_type "kwire_is_type"(void* value) noexcept
    void set_refcount "kwire_set_refcount"(PyObject* value, Py_ssize_t count) noexcept
    # Maximum size in bytes of the freed structs that a class keeps for reuse.
    Py_ssize_t MOST_SPARE "KWIRE_MOST_SPARE"

cdef enum:
    # Number of methods, including the terminating table entry.
    METHODS = 7
    # Programs of versions from this number on are looked up in the binding's dict.
    CACHED_VERSIONS = 32

cdef struct Layout:
    # Must be the first member: a Layout is found by the method table of its type.
    PyMethodDef methods[METHODS]
    # Number of slots: the fields, and unknown_tagged_fields if the struct is tagged.
    Py_ssize_t count
    bint tagged
    PyObject** names
    # Dict from a field name to its slot, for keywords in any order.
    PyObject* places
    PyObject** defaults
    bint* arrays
    # Binding of a message, or None for other structs.
    PyObject* binding
    # Freed structs for reuse, as a linked list through their first slots. They keep the
    # reference to their type.
    PyObject* spare
    Py_ssize_t spare_room
    PyObject* programs[CACHED_VERSIONS]

cdef Layout* layout_of(PyObject* cls) noexcept


cdef inline PyObject* take_struct(Layout* layout, PyTypeObject* cls) noexcept:
    """Allocate a struct without initializing its slots. The caller must fill them all.

    Returns NULL with ``MemoryError`` set if there is no memory.
    """
    cdef PyObject* made = layout.spare
    if likely(made != NULL):
        layout.spare = slots_of(made)[0]
        layout.spare_room += 1
        set_refcount(made, 1)
        return made
    made = <PyObject*>PyObject_Malloc(
        sizeof(PyObject) + <size_t>layout.count * sizeof(PyObject*)
    )
    if made == NULL:
        set_no_memory()
        return NULL
    return PyObject_Init(made, cls)


cdef inline PyObject* new_struct(PyTypeObject* cls, Py_ssize_t count) noexcept:
    """Allocate a struct with empty slots.

    Returns NULL with ``MemoryError`` set if there is no memory.
    """
    cdef PyObject* made = take_struct(<Layout*>methods_of(cls), cls)
    cdef Py_ssize_t index
    if made != NULL:
        for index in range(count):
            slots_of(made)[index] = NULL
    return made


cdef extern from *:
    """
    #define kwire_set_no_memory() ((void)PyErr_NoMemory())
    """
    void set_no_memory "kwire_set_no_memory"() noexcept
