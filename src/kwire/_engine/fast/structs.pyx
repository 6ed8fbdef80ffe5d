# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Creates struct classes: immutable, keyword-only, compared by class and value.

``make_struct`` creates one class for all versions of a struct. It is a final heap type
without garbage collection, because immutable structs and tuples cannot form reference
cycles. Its constructor uses the vectorcall protocol, so Python does not pack the
arguments into a dict.

Twin: ``pure/structs.py``. Differs from its twin in: there is no builder class, because
C fills the slots before any other code can access the object.

Only in Cython: ``reduce_method``, ``read_dict``, ``layout_of``, ``take_struct``,
``new_struct``, ``struct_dealloc``, ``free_waiting``, ``empty``, ``find``, ``store``,
``fill``, ``new_ref``, ``write_signature``.
"""

from cpython.mem cimport PyMem_Calloc
from cpython.object cimport Py_EQ, Py_NE, PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM

from kwire._engine.fast.structs cimport (
    MOST_SPARE,
    Layout,
    PyMethodDef,
    PyObject_Free,
    dealloc_of,
    is_type,
    methods_of,
    new_struct,
    slots_of,
    type_of,
)

cdef extern from "structmember.h":
    ctypedef struct PyMemberDef:
        const char* name
        int type
        Py_ssize_t offset
        int flags
        const char* doc
    int T_OBJECT_EX
    int READONLY

cdef extern from "Python.h":
    ctypedef struct PyGetSetDef:
        const char* name
        void* get
        void* set
        const char* doc
        void* closure
    ctypedef struct PyType_Slot:
        int slot
        void* pfunc
    ctypedef struct PyType_Spec:
        const char* name
        int basicsize
        int itemsize
        unsigned int flags
        PyType_Slot* slots
    object PyType_FromSpec(PyType_Spec* spec)
    int Py_tp_dealloc, Py_tp_repr, Py_tp_richcompare, Py_tp_hash, Py_tp_new
    int Py_tp_members, Py_tp_methods, Py_tp_getset, Py_tp_doc
    unsigned int Py_TPFLAGS_DEFAULT
    int METH_VARARGS, METH_KEYWORDS, METH_NOARGS, METH_O
    PyObject* PyTuple_GET_ITEM(PyObject* values, Py_ssize_t index)
    Py_ssize_t PyTuple_GET_SIZE(PyObject* values)
    bint PyTuple_CheckExact(PyObject* value)
    int PyObject_RichCompareBool(PyObject* a, PyObject* b, int op) except -1
    const char* PyUnicode_AsUTF8(object text) except NULL
    bint Py_EnterRecursiveCall(const char* where) noexcept
    void Py_LeaveRecursiveCall()

cdef enum:
    # Maximum nesting depth of structs that are freed recursively. Each call uses about
    # 100 bytes of the C stack.
    MOST_NESTED = 100
    # Maximum size in bytes of a struct that is kept for reuse when it is freed.
    LARGEST_SPARE = 512

cdef extern from *:
    """
    #if !defined(Py_GIL_DISABLED)
    /* With the GIL, all threads can share one count, which can only be too high. */
    #define KWIRE_OF_THREAD static
    #elif defined(_MSC_VER)
    #define KWIRE_OF_THREAD static __declspec(thread)
    #else
    #define KWIRE_OF_THREAD static __thread
    #endif
    /* Current nesting depth of struct_dealloc(), and the queue of structs that are
       freed after the outermost one, linked through their first words. */
    KWIRE_OF_THREAD int kwire_nested;
    KWIRE_OF_THREAD PyObject *kwire_waiting;
    """
    int nested "kwire_nested"
    PyObject* waiting "kwire_waiting"

cdef extern from *:
    """
    #define kwire_set_vectorcall(t, f) \
        (((PyTypeObject *)(t))->tp_vectorcall = (vectorcallfunc)(f))
    #define kwire_nargs(n) PyVectorcall_NARGS(n)
    """
    void set_vectorcall "kwire_set_vectorcall"(PyObject* cls, void* function)
    Py_ssize_t nargs_of "kwire_nargs"(size_t nargsf)


from sys import intern

from kwire.schema import plan as plans

cdef object _reduce_struct = None


def bind_pickle(reduce_struct):
    """Set the function that describes a struct for pickle.

    The function needs the module of the messages. The engine cannot import this module,
    because it imports the engine.
    """
    global _reduce_struct
    _reduce_struct = reduce_struct


def make_struct(
    str name,
    str qualname,
    tuple attributes,
    tuple defaults,
    tuple arrays,
    dict namespace,
    bint tagged=True,
):
    """Create the class of a struct.

    * ``attributes``: field names in schema order.
    * ``defaults``: field defaults. Structs are instances, which all objects share.
    * ``arrays``: True for each field that contains an array.
    * ``namespace``: other attributes of the class: ``__module__``, facts about the
      message, and ``_secrets``, the field names that ``repr`` masks.
    * ``tagged``: add a slot for unknown tagged fields. True for structs of messages,
      False for records and batches.
    """
    cdef Py_ssize_t count = len(attributes) + tagged
    cdef Py_ssize_t size = sizeof(PyObject) + count * sizeof(PyObject*)
    # Never freed: the layout must exist as long as the type and its objects.
    cdef Layout* layout = <Layout*>allocate(sizeof(Layout))
    cdef PyMemberDef* members = <PyMemberDef*>allocate(
        (count + 1) * sizeof(PyMemberDef)
    )
    cdef Py_ssize_t index
    cdef PyGetSetDef* properties = <PyGetSetDef*>allocate(2 * sizeof(PyGetSetDef))
    cdef PyType_Slot slots[10]
    cdef PyType_Spec spec
    layout.count = count
    layout.names = <PyObject**>allocate(count * sizeof(PyObject*))
    layout.defaults = <PyObject**>allocate(count * sizeof(PyObject*))
    layout.arrays = <bint*>allocate(count * sizeof(bint))
    cdef tuple fields = tuple(map(intern, attributes))
    cdef tuple values = defaults
    if tagged:
        fields += ("unknown_tagged_fields",)
        values += ((),)
    cdef dict places = {}
    layout.tagged = tagged
    layout.places = new_ref(places)
    for index in range(count):
        layout.names[index] = new_ref(fields[index])
        places[fields[index]] = index
        layout.defaults[index] = new_ref(values[index])
        layout.arrays[index] = index < count - tagged and arrays[index]
        members[index].name = PyUnicode_AsUTF8(fields[index])
        members[index].type = T_OBJECT_EX
        members[index].offset = sizeof(PyObject) + index * sizeof(PyObject*)
        members[index].flags = READONLY
    layout.binding = new_ref(namespace.get("_binding"))
    if size <= LARGEST_SPARE:
        layout.spare_room = MOST_SPARE // size
    layout.methods[0] = method(
        b"replace", <void*>replace, METH_VARARGS | METH_KEYWORDS
    )
    layout.methods[0].ml_doc = (
        b"replace($self, /, **changes)\n--\n\nReturn a copy with some fields changed."
    )
    layout.methods[1] = method(b"__reduce__", <void*>reduce_method, METH_NOARGS)
    layout.methods[2] = method(b"__copy__", <void*>return_self, METH_NOARGS)
    layout.methods[3] = method(b"__deepcopy__", <void*>return_self, METH_O)
    layout.methods[4] = layout.methods[0]
    layout.methods[4].ml_name = b"__replace__"
    layout.methods[5] = method(b"to_dict", <void*>to_dict, METH_NOARGS)
    layout.methods[5].ml_doc = (
        b"to_dict($self, /)\n--\n\n"
        b"Return the fields as plain dicts, lists and values, at any depth."
    )
    # Spark and vars() read the fields of an object from __dict__.
    properties[0].name = b"__dict__"
    properties[0].get = <void*>read_dict
    properties[0].doc = b"The fields, as ``to_dict`` returns them."
    doc = (write_signature(name, fields, values) + "\n--\n\n").encode()
    slots[0] = slot(Py_tp_dealloc, <void*>struct_dealloc)
    slots[1] = slot(Py_tp_repr, <void*>struct_repr)
    slots[2] = slot(Py_tp_richcompare, <void*>struct_richcompare)
    slots[3] = slot(Py_tp_hash, <void*>struct_hash)
    slots[4] = slot(Py_tp_new, <void*>struct_new)
    slots[5] = slot(Py_tp_members, members)
    slots[6] = slot(Py_tp_methods, &layout.methods[0])
    slots[7] = slot(Py_tp_doc, <void*><const char*>doc)
    slots[8] = slot(Py_tp_getset, properties)
    slots[9] = slot(0, NULL)
    full_name = f"{namespace['__module__']}.{name}".encode()
    spec.name = full_name
    spec.basicsize = <int>size
    spec.itemsize = 0
    spec.flags = Py_TPFLAGS_DEFAULT
    spec.slots = slots
    made = PyType_FromSpec(&spec)
    if methods_of(<void*>made) != &layout.methods[0]:
        raise SystemError(
            "the compiled engine cannot run on this Python; set KWIRE_BACKEND=pure"
        )
    set_vectorcall(<PyObject*>made, <void*>struct_vectorcall)
    made.__qualname__ = qualname
    made.__match_args__ = attributes
    for key, value in namespace.items():
        setattr(made, key, value)
    return made


cdef object replace(object self, object args, PyObject* kwargs):
    """Return a copy with some fields changed."""
    cdef Layout* layout = <Layout*>methods_of(type_of(<void*>self))
    cdef PyObject* made
    cdef Py_ssize_t index, place
    if args:
        raise TypeError("replace() takes keyword arguments only")
    made = new_struct(type_of(<void*>self), layout.count)
    if made == NULL:
        raise MemoryError
    result = <object>made
    Py_DECREF(result)
    if kwargs != NULL:
        for name, value in (<dict>kwargs).items():
            place = find(type(self), layout, <PyObject*>name, 0)
            store(layout, made, place, value)
    for index in range(layout.count):
        if slots_of(made)[index] == NULL:
            slots_of(made)[index] = new_ref(<object>slots_of(<void*>self)[index])
    return result


cdef object reduce_method(object self, object ignored):
    """Return the data with which pickle restores the struct in either engine."""
    return _reduce_struct(type(self), values_of(self))


cdef object to_dict(object self, object ignored):
    """Return the fields as plain dicts, lists and values, at any depth."""
    cdef tuple values = values_of(self)
    names = type(self).__match_args__
    fields = {}
    for name, value in zip(names, values):
        fields[name] = plain(value)
    if len(values) > len(names) and values[len(names)]:
        fields["unknown_tagged_fields"] = list(values[len(names)])
    return fields


cdef object read_dict(object self, void* closure):
    """Return the same dict as ``to_dict``."""
    return to_dict(self, None)


cdef object plain(object value):
    """Convert a struct to a dict and an array to a list.

    Other values are returned unchanged.
    """
    if is_struct(<PyObject*>value):
        # Call the method through Python, which limits the recursion depth.
        return value.to_dict()
    if not isinstance(value, tuple):
        return value
    elements = []
    for element in <tuple>value:
        if is_struct(<PyObject*>element):
            element = element.to_dict()
        elements.append(element)
    return elements


cdef inline bint is_struct(PyObject* value) noexcept:
    """Return whether the class of a value was created by ``make_struct``."""
    return dealloc_of(type_of(value)) == <void*>struct_dealloc


cdef object return_self(object self, object ignored):
    """Return the struct itself as its copy, because it cannot change."""
    return self


cdef Layout* layout_of(PyObject* cls) noexcept:
    """Return the layout of a class created by ``make_struct``.

    Returns NULL for other objects.
    """
    if not is_type(cls) or dealloc_of(cls) != <void*>struct_dealloc:
        return NULL
    return <Layout*>methods_of(cls)


def binding_of(cls):
    """Return the binding of a message class. Raises ``TypeError`` for other objects."""
    cdef Layout* layout = layout_of(<PyObject*>cls)
    if layout == NULL or <object>layout.binding is None:
        raise plans.make_class_error(cls)
    return <object>layout.binding


cdef void struct_dealloc(PyObject* self) noexcept:
    """Free a struct and release its references.

    Freeing nested structs is recursive and uses the C stack at each level. Structs
    below the maximum depth are therefore queued until the outermost struct has been
    freed. CPython's mechanism for this purpose, the trashcan, requires objects that the
    garbage collector tracks.
    """
    global nested, waiting
    cdef PyTypeObject* cls = type_of(self)
    cdef Layout* layout = <Layout*>methods_of(cls)
    cdef PyObject** slot = slots_of(self)
    cdef PyObject** last = slot + layout.count
    if nested == MOST_NESTED:
        # The object has no references left, so its first word can store the link to the
        # next queued object.
        (<PyObject**>self)[0] = waiting
        waiting = self
        return
    nested += 1
    while slot < last:
        Py_XDECREF(slot[0])
        slot += 1
    nested -= 1
    if layout.spare_room > 0:
        layout.spare_room -= 1
        slots_of(self)[0] = layout.spare
        layout.spare = self
    else:
        PyObject_Free(self)
        Py_XDECREF(<PyObject*>cls)
    if waiting != NULL and nested == 0:
        free_waiting()


cdef void free_waiting() noexcept:
    """Free the queued structs, and the structs to which they refer."""
    global nested, waiting
    cdef PyObject* value
    # With nested above 0, struct_dealloc does not call this function recursively.
    nested = 1
    while waiting != NULL:
        value = waiting
        waiting = (<PyObject**>value)[0]
        struct_dealloc(value)
    nested = 0


cdef object struct_repr(object self):
    cdef tuple values = values_of(self)
    names = type(self).__match_args__
    secrets = getattr(type(self), "_secrets", ())
    fields = []
    # Use a loop: without memory, Cython's comprehensions release an item twice.
    for name, value in zip(names, values):
        text = plans.mask_secret(value) if name in secrets else repr(value)
        fields.append(f"{name}={text}")
    if len(values) > len(names) and values[len(names)]:
        fields.append(f"unknown_tagged_fields={values[len(names)]!r}")
    return f"{type(self).__name__}({', '.join(fields)})"


cdef object struct_richcompare(object self, object other, int op):
    cdef Layout* layout = <Layout*>methods_of(type_of(<void*>self))
    cdef Py_ssize_t index
    cdef bint equal = True
    if (op != Py_EQ and op != Py_NE) or type_of(<void*>self) != type_of(<void*>other):
        return NotImplemented
    for index in range(layout.count):
        if not PyObject_RichCompareBool(
            slots_of(<void*>self)[index], slots_of(<void*>other)[index], Py_EQ
        ):
            equal = False
            break
    return equal if op == Py_EQ else not equal


cdef Py_hash_t struct_hash(object self) except -1:
    # Unlike repr() and ==, hash() does not check the recursion depth.
    if Py_EnterRecursiveCall(" while hashing a struct"):
        return -1
    try:
        return hash((type(self).__qualname__, values_of(self)))
    finally:
        Py_LeaveRecursiveCall()


cdef object struct_new(object cls, object args, PyObject* kwargs):
    cdef Layout* layout = <Layout*>methods_of(<void*>cls)
    if args:
        raise TypeError(f"{cls.__name__}() takes keyword arguments only")
    made = empty(cls)
    if kwargs != NULL:
        for name, value in (<dict>kwargs).items():
            store(
                layout, <PyObject*>made, find(cls, layout, <PyObject*>name, 0), value
            )
    fill(layout, <PyObject*>made)
    return made


cdef object struct_vectorcall(
    object cls, PyObject** args, size_t nargsf, PyObject* kwnames
):
    cdef Layout* layout = <Layout*>methods_of(<void*>cls)
    cdef Py_ssize_t index
    cdef Py_ssize_t place = -1
    if nargs_of(nargsf):
        raise TypeError(f"{cls.__name__}() takes keyword arguments only")
    made = empty(cls)
    if kwnames != NULL:
        for index in range(PyTuple_GET_SIZE(kwnames)):
            place = find(cls, layout, PyTuple_GET_ITEM(kwnames, index), place + 1)
            store(layout, <PyObject*>made, place, <object>args[index])
    fill(layout, <PyObject*>made)
    return made


cdef inline object empty(object cls):
    """Allocate a struct of a struct class with empty slots."""
    cdef PyObject* made = new_struct(
        <PyTypeObject*>cls, (<Layout*>methods_of(<void*>cls)).count
    )
    if made == NULL:
        raise MemoryError
    result = <object>made
    Py_DECREF(result)
    return result


cdef inline Py_ssize_t find(
    object cls, Layout* layout, PyObject* name, Py_ssize_t guess
) except -1:
    """Return the slot of a field. Keywords usually are interned and in schema order.

    Raises ``TypeError`` if there is no field of that name.
    """
    if guess < layout.count and layout.names[guess] == name:
        return guess
    place = (<dict>layout.places).get(<object>name)
    if place is not None:
        return place
    near = plans.suggest_field(<object>name, <dict>layout.places)
    raise TypeError(
        f"{cls.__name__}() got an unexpected keyword argument {<object>name!r}{near}"
    )


cdef inline int store(
    Layout* layout, PyObject* made, Py_ssize_t index, object value
) except -1:
    """Store the value of a field.

    A sequence is converted to a tuple if it is an array.
    """
    if layout.arrays[index] and not PyTuple_CheckExact(<PyObject*>value):
        value = as_array(value)
    elif layout.tagged and index == layout.count - 1:
        value = tuple(value)
    Py_XDECREF(slots_of(made)[index])
    slots_of(made)[index] = new_ref(value)
    return 0


cdef object as_array(object value):
    if value is None:
        return value
    if isinstance(value, (str, bytes, bytearray, memoryview)):
        kind = type(value).__name__
        raise TypeError(f"an array must be a sequence of its elements (got {kind})")
    return tuple(value)


cdef inline void fill(Layout* layout, PyObject* made) noexcept:
    """Fill the empty slots with the default values."""
    cdef Py_ssize_t index
    for index in range(layout.count):
        if slots_of(made)[index] == NULL:
            slots_of(made)[index] = new_ref(<object>layout.defaults[index])


cdef inline PyObject* new_ref(object value) noexcept:
    """Return a new reference for C code."""
    Py_INCREF(value)
    return <PyObject*>value


cdef tuple values_of(object self):
    cdef Layout* layout = <Layout*>methods_of(type_of(<void*>self))
    cdef Py_ssize_t index
    cdef tuple values = PyTuple_New(layout.count)
    for index in range(layout.count):
        value = <object>slots_of(<void*>self)[index]
        Py_INCREF(value)
        PyTuple_SET_ITEM(values, index, value)
    return values


cdef str write_signature(str name, tuple fields, tuple values):
    """Return the constructor signature in the format that ``inspect`` parses."""
    plain = (bool, int, float, str, bytes, tuple, type(None))
    parts = []
    for field, value in zip(fields, values):
        text = repr(value) if isinstance(value, plain) else "..."
        parts.append(f"{field}={text}")
    return f"{name}(*, {', '.join(parts)})"


cdef void* allocate(size_t size) except NULL:
    cdef void* memory = PyMem_Calloc(1, size)
    if memory == NULL:
        raise MemoryError
    return memory


cdef PyMethodDef method(const char* name, void* function, int flags) noexcept:
    cdef PyMethodDef made
    made.ml_name = name
    made.ml_meth = function
    made.ml_flags = flags
    made.ml_doc = NULL
    return made


cdef PyType_Slot slot(int number, void* value) noexcept:
    cdef PyType_Slot made
    made.slot = number
    made.pfunc = value
    return made
