# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Creates the columns of a message, and converts them to an ``Array``.

A ``ColumnShape`` is the type of a column, which is created once for a message class.
``build_columns`` creates the empty columns of one call from it, and ``make_array``
moves the filled memory to an ``Array``. ``column.pxd`` appends rows to columns, and
``message_columns.pyx`` chooses the rows.

Without a twin: the Python engine creates its columns from lists.
"""

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memset

from kwire._engine.fast.arrays cimport (
    Array,
    Block,
    Memory,
    hold_memory,
    make_memory,
    new_array,
    new_memory,
    take_block,
)
from kwire._engine.fast.column cimport *
from kwire._engine.fast.program cimport *
from kwire._engine.fast.python_api cimport PyBytes_AS_STRING

from weakref import WeakKeyDictionary

from kwire.schema import plan


@cython.final
@cython.no_gc
cdef class ColumnShape:
    """Type of a column. It is the same for all versions of a message."""


# Shapes by message class, without and with views. A shape is freed together with its
# class.
cdef object _shapes = WeakKeyDictionary()
cdef object _view_shapes = WeakKeyDictionary()

cdef ColumnShape _error_shape = ColumnShape.__new__(ColumnShape)
_error_shape.name = "_error"
_error_shape.format = "u"
_error_shape.children = ()

cdef dict FORMATS = {
    plan.BOOL: "b",
    plan.INT8: "c",
    plan.INT16: "s",
    plan.UINT16: "S",
    plan.INT32: "i",
    plan.UINT32: "I",
    plan.INT64: "l",
    plan.FLOAT64: "g",
    plan.UUID: "w:16",
    plan.STRING: "u",
    plan.BYTES: "z",
    plan.RECORDS: "z",
}


cdef ColumnShape find_shape(object cls, object struct, bint views):
    """Return the struct column type of a message class, or create it.

    With ``views``, bytes columns contain views.
    """
    known = _view_shapes if views else _shapes
    cdef ColumnShape shape = known.get(cls)
    if shape is None:
        shape = known[cls] = make_struct_shape("", False, struct, views)
    return shape


cdef ColumnShape make_struct_shape(
    str name, bint null_default, object struct, bint views
):
    """Create a struct column type."""
    cdef ColumnShape shape = ColumnShape.__new__(ColumnShape)
    shape.name = name
    shape.format = "+s"
    shape.kind = OP_STRUCT
    shape.null_default = null_default
    shape.children = tuple([make_field_shape(field, views) for field in struct.fields])
    shape.total = 1
    for child in shape.children:
        shape.total += (<ColumnShape>child).total
    return shape


cdef ColumnShape make_field_shape(object field, bint views):
    """Create the column type of a field."""
    cdef ColumnShape shape
    default = plan.resolve_default(field)
    if field.is_array:
        shape = ColumnShape.__new__(ColumnShape)
        shape.name = field.attribute
        shape.format = "+l"
        shape.kind = OP_ARRAY
        shape.null_default = default is None
        shape.children = (make_element_shape("item", field, None, views),)
        shape.total = 1 + (<ColumnShape>shape.children[0]).total
        return shape
    return make_element_shape(field.attribute, field, default, views)


cdef ColumnShape make_element_shape(
    str name, object field, object default, bint views
):
    """Create the type for a field that is not an array, or for array elements."""
    cdef ColumnShape shape
    if field.struct is not None:
        return make_struct_shape(name, default is None, field.struct, views)
    code = plan.CODES[field.type]
    shape = ColumnShape.__new__(ColumnShape)
    shape.name = name
    shape.format = FORMATS[code]
    shape.null_default = default is None
    shape.children = ()
    shape.total = 1
    if code <= plan.UUID:
        shape.kind = code
        shape.width = 0 if code == plan.BOOL else plan.SIZES[code]
    else:
        shape.kind = OP_STRING if code == plan.STRING else OP_BYTES
    shape.default = encode_default(code, default)
    if views and shape.kind == OP_BYTES:
        shape.kind = OF_VIEWS
        shape.format = "vz"
        shape.width = VIEW_WIDTH
        # The default of bytes fields is always empty or null.
        shape.default = bytes(VIEW_WIDTH)
    return shape


cdef bytes encode_default(int code, object default):
    """Encode a default in the format of the column."""
    if default is None:
        return b""
    if code == plan.STRING:
        return default.encode()
    if code == plan.UUID:
        return default.bytes
    if code > plan.UUID:
        return bytes(default)
    from struct import pack

    return pack("=" + _PACKED[code], default)


cdef str _PACKED = " ?bhHiIqd"


cdef void build_columns(
    Column* column,
    Column** next_column,
    ColumnShape shape,
    Table* table,
    int64_t limit,
    ViewSource* source,
) noexcept:
    """Initialize all columns in a tree.

    ``table`` is NULL if the version does not contain the struct. ``source`` is the
    memory to which views refer, or NULL if there are no views.
    """
    cdef Column* child
    cdef Step* step = NULL if table == NULL else table.steps
    cdef ColumnShape below
    cdef int index = 0
    column.kind = shape.kind
    column.width = shape.width
    column.null_default = shape.null_default
    column.limit = limit
    column.source = source
    column.used = column.kind == OF_VIEWS
    if shape.default is not None:
        column.default = <const uint8_t*>PyBytes_AS_STRING(<PyObject*>shape.default)
        column.default_size = len(shape.default)
    column.child_count = len(shape.children)
    column.children = next_column[0]
    next_column[0] += column.child_count
    for below in shape.children:
        child = &column.children[index]
        index += 1
        if shape.kind == OP_ARRAY:
            build_columns(child, next_column, below, table, limit, source)
            continue
        while step != NULL and step.op == OP_CHECK:
            step += 1
        if step != NULL:
            child.lazy = step.op > OP_ARRAY
        build_columns(
            child,
            next_column,
            below,
            NULL if step == NULL else step.table,
            limit,
            source,
        )
        if step != NULL:
            step += 1


cdef void link_columns(
    Column* column, Table* table, Column*** next_line
) noexcept nogil:
    """List the columns for steps outside the tag section, in all structs of a tree.

    A struct uses as many elements of ``next_line`` as its table has such steps, which
    are at most two for each field.
    """
    cdef Column* child
    cdef int index
    column.line = next_line[0]
    next_line[0] += table.line_count
    for index in range(table.line_count):
        column.line[index] = &column.children[table.line[index].slot]
    for index in range(table.step_count):
        if table.steps[index].table != NULL:
            child = &column.children[table.steps[index].slot]
            if child.kind == OP_ARRAY:
                child = child.children
            link_columns(child, table.steps[index].table, next_line)


cdef Array make_array(
    Column* column,
    ColumnShape shape,
    int64_t rows,
    Column* error_column,
    tuple sources,
):
    """Create the ``Array`` of a column, and move the column's memory to it.

    ``sources`` are the buffers that follow the views, as returned by ``end_sources``.
    """
    cdef list children = []
    cdef Memory validity = None
    cdef int64_t nulls = count_nulls(column, rows)
    cdef int64_t below = rows
    cdef int index
    cdef tuple buffers
    if nulls < 0:
        raise MemoryError
    if nulls:
        validity = move_block(&column.validity, (rows + 7) // 8)
    if column.kind == OP_STRUCT:
        buffers = (validity,)
    elif column.kind == OP_BOOL:
        end_bits(column.values.data, rows)
        buffers = validity, move_block(&column.values, (rows + 7) // 8)
    elif not has_offsets(column):
        buffers = validity, move_block(&column.values, rows * column.width)
        if column.kind == OF_VIEWS:
            buffers += sources
    else:
        buffers = validity, move_block(&column.values, 4 * (rows + 1))
        if column.kind == OP_ARRAY:
            below = column.children.length
        else:
            buffers += (move_block(&column.text, column.used),)
    for index in range(column.child_count):
        children.append(
            make_array(
                &column.children[index], shape.children[index], below, NULL, sources
            )
        )
    if error_column != NULL:
        children.append(make_array(error_column, _error_shape, rows, NULL, ()))
    return new_array(
        shape.format, shape.name, rows, nulls, buffers, tuple(children), True
    )


cdef list hold_windows(object view):
    """Create the buffers through which views access the bytes of a memoryview."""
    cdef list windows = []
    cdef int64_t number
    for number in range(count_windows(view.nbytes)):
        windows.append(hold_memory(view, <Py_ssize_t>(number << WINDOW_BITS)))
    return windows


cdef tuple end_sources(list memories):
    """Append the buffer that Arrow requires after the variadic buffers: their sizes."""
    cdef Memory sizes = new_memory(8 * len(memories))
    cdef int64_t* size = <int64_t*>sizes.data
    cdef Memory memory
    for memory in memories:
        size[0] = memory.size
        size += 1
    memories.append(sizes)
    return tuple(memories)


cdef Memory move_block(Block* block, int64_t size):
    """Create a ``Memory`` from the block of a column, and remove the block from it."""
    cdef Block taken = block[0]
    if taken.raw == NULL:
        if not take_block(&taken, size):
            raise MemoryError
        memset(taken.data, 0, <size_t>size)
    block.raw = NULL
    block.room = 0
    # The block has at least this number of bytes.
    return make_memory(&taken, <Py_ssize_t>size)
