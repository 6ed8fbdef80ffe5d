# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Allocates column memory, and creates Arrow arrays from it.

``Memory`` is a block of bytes with the buffer protocol. ``Array`` is an Arrow array
node that consists of such blocks. It is exported through the Arrow PyCapsule interface,
so that numpy, pyarrow, polars and DuckDB can use it without a copy. The export does not
require any of them. ``record_columns`` and ``message_columns`` fill the columns.

Twin: ``pure/arrays.py``. Differs from its twin in: memory is allocated without
initialization, and large blocks are reused, because the kernel needs more time to
provide new pages than a walk needs to fill them. A single ``malloc`` provides the C
structs for a whole tree.

Only in Cython: ``take_block``, ``grow_block``, ``resize_block``, ``give_block``,
``reuse_block``, ``align``, ``make_memory``, ``shrink``, ``check_made``, ``new_array``,
``set_up``, ``new_export``, ``export_array``, ``fill_array``, ``fill_schema``,
``drop_array``, ``drop_schema``, ``close_array``, ``close_schema``, ``release_export``,
``encode_metadata``.
"""

cimport cython
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES, PyBUF_WRITABLE
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint8_t, uintptr_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memmove, memset

from kwire._engine.fast.arrays cimport *
from kwire._engine.fast.python_api cimport (
    MOST_ROOM,
    PyBytes_AS_STRING,
    PyMemoryView_GET_BUFFER,
    PyTuple_GET_ITEM,
    PyTuple_GET_SIZE,
    load_hint,
)

from sys import byteorder

cdef enum:
    ALIGNMENT = 64
    # Minimum size in bytes of a block that is kept for reuse. malloc provides smaller
    # blocks without new pages.
    SMALLEST_KEPT = 65536
    MOST_KEPT = 32
    MOST_BYTES_KEPT = 67108864

cdef extern from *:
    """
    #include <pythread.h>
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define kwire_is_last(live) (_InterlockedDecrement((volatile long *)(live)) == 0)
    #else
    #define kwire_is_last(live) (__atomic_sub_fetch((live), 1, __ATOMIC_ACQ_REL) == 0)
    #endif
    /* Several threads may acquire buffers of one memory at the same time. */
    #if defined(Py_GIL_DISABLED)
    #define kwire_count(exports, by) ((void)_Py_atomic_add_ssize((exports), (by)))
    #else
    #define kwire_count(exports, by) ((void)(*(exports) += (by)))
    #endif
    """
    bint is_last "kwire_is_last"(int32_t* live) noexcept nogil
    void count_exports "kwire_count"(Py_ssize_t* exports, Py_ssize_t by) noexcept
    const char* PyUnicode_AsUTF8(str text) except NULL
    ctypedef void* PyThread_type_lock
    PyThread_type_lock PyThread_allocate_lock()
    int PyThread_acquire_lock(PyThread_type_lock lock, int wait) noexcept nogil
    void PyThread_release_lock(PyThread_type_lock lock) noexcept nogil
    int Py_IsInitialized() noexcept nogil
    ctypedef int PyGILState_STATE
    # The caller must hold the GIL.
    void release_owner "Py_DECREF"(PyObject* owner) noexcept nogil
    PyGILState_STATE PyGILState_Ensure() noexcept nogil
    void PyGILState_Release(PyGILState_STATE state) noexcept nogil

# Freed large blocks, oldest first. The code never waits for the lock: a walk without
# the GIL, or a process that was forked while the lock was held, calls malloc instead.
cdef Block _kept[MOST_KEPT]
cdef int _kept_count = 0
cdef Py_ssize_t _kept_bytes = 0
cdef PyThread_type_lock _kept_lock = PyThread_allocate_lock()


cdef bint take_block(Block* block, int64_t room) noexcept nogil:
    """Allocate ``room`` bytes without initialization. Returns False if that fails."""
    if room < ALIGNMENT:
        room = ALIGNMENT
    if room >= SMALLEST_KEPT and reuse_block(block, room):
        return True
    block.raw = NULL
    if room <= MOST_ROOM:
        block.raw = malloc(<size_t>room + 2 * ALIGNMENT)
    block.room = 0 if block.raw == NULL else <Py_ssize_t>room
    block.data = NULL if block.raw == NULL else align(block.raw)
    return block.raw != NULL


cdef bint grow_block(Block* block, int64_t used, int64_t room) noexcept nogil:
    """Grow a block to at least ``room`` bytes. The first ``used`` bytes are kept.

    Returns False if there is no memory. Then the block is unchanged.
    """
    cdef Block larger
    if room <= block.room:
        return True
    if room > MOST_ROOM:
        return False
    if block.room >= SMALLEST_KEPT and reuse_block(&larger, room):
        memcpy(larger.data, block.data, <size_t>used)
        give_block(block)
        block[0] = larger
        return True
    if block.raw == NULL:
        return take_block(block, room)
    return resize_block(block, used, room)


cdef bint resize_block(Block* block, int64_t used, int64_t room) noexcept nogil:
    """Resize a block with ``realloc``.

    The data is moved if its alignment has changed.
    """
    cdef Py_ssize_t shift = block.data - <uint8_t*>block.raw
    cdef void* raw = realloc(block.raw, <size_t>room + 2 * ALIGNMENT)
    if raw == NULL:
        return False
    block.raw = raw
    block.data = align(raw)
    block.room = <Py_ssize_t>room
    if block.data != <uint8_t*>raw + shift:
        memmove(block.data, <uint8_t*>raw + shift, <size_t>used)
    return True


cdef void give_block(Block* block) noexcept nogil:
    """Free a block. A large block is kept for the next request."""
    global _kept_count, _kept_bytes
    cdef void* oldest
    if block.room < SMALLEST_KEPT or block.room > MOST_BYTES_KEPT or (
        not PyThread_acquire_lock(_kept_lock, 0)
    ):
        free(block.raw)
        return
    while _kept_count == MOST_KEPT or _kept_bytes + block.room > MOST_BYTES_KEPT:
        oldest = _kept[0].raw
        _kept_bytes -= _kept[0].room
        _kept_count -= 1
        memmove(&_kept[0], &_kept[1], <size_t>_kept_count * sizeof(Block))
        free(oldest)
    _kept[_kept_count] = block[0]
    _kept_count += 1
    _kept_bytes += block.room
    PyThread_release_lock(_kept_lock)


cdef bint reuse_block(Block* block, int64_t room) noexcept nogil:
    """Take the smallest kept block that is large enough.

    Returns False if there is none, or if most of its bytes would remain unused.
    """
    global _kept_count, _kept_bytes
    cdef int index
    cdef int best = -1
    if not PyThread_acquire_lock(_kept_lock, 0):
        return False
    for index in range(_kept_count):
        if room <= _kept[index].room and _kept[index].room // 8 <= room and (
            best < 0 or _kept[index].room < _kept[best].room
        ):
            best = index
    if best >= 0:
        block[0] = _kept[best]
        _kept_count -= 1
        _kept_bytes -= block.room
        memmove(
            &_kept[best],
            &_kept[best + 1],
            <size_t>(_kept_count - best) * sizeof(Block),
        )
    PyThread_release_lock(_kept_lock)
    return best >= 0


cdef inline uint8_t* align(void* raw) noexcept nogil:
    """Return the first aligned address of raw memory."""
    cdef uintptr_t start = <uintptr_t>raw + ALIGNMENT - 1
    return <uint8_t*>raw + (start - start % ALIGNMENT - <uintptr_t>raw)


@cython.final
@cython.no_gc
@cython.freelist(32)
cdef class Memory:
    """Fixed-size block of bytes, with the buffer protocol.

    It is writable until an ``Array`` has been created from it, and must not be modified
    afterwards. The start is aligned to 64 bytes, and the 64 bytes after the end may be
    read. Neither applies to the caller's memory (``hold_memory``), which is not
    writable.
    """

    def __dealloc__(self):
        if self.block.raw != NULL:
            give_block(&self.block)

    def __len__(self):
        return self.size

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        if self.held is not None and flags & PyBUF_WRITABLE:
            raise BufferError("the memory of an input cannot be written here")
        # Fill the fields directly: Cython has set obj to None, and PyBuffer_FillInfo
        # would lose this reference.
        buffer.obj = self
        buffer.buf = self.data
        buffer.len = self.size
        buffer.itemsize = 1
        buffer.readonly = self.held is not None
        buffer.ndim = 1
        buffer.format = <char*>b"B" if flags & PyBUF_FORMAT else NULL
        buffer.shape = &self.size if flags & PyBUF_ND else NULL
        buffer.strides = NULL
        if flags & PyBUF_STRIDES == PyBUF_STRIDES:
            buffer.strides = &buffer.itemsize
        buffer.suboffsets = NULL
        buffer.internal = NULL
        count_exports(&self.exports, 1)

    def __releasebuffer__(self, Py_buffer* buffer):
        count_exports(&self.exports, -1)


cpdef Memory new_memory(Py_ssize_t size):
    """Allocate a memory of ``size`` bytes."""
    cdef Block block
    if size < 0:
        raise ValueError(f"size must be 0 or more (got {size})")
    if not take_block(&block, size):
        raise MemoryError
    return make_memory(&block, size)


cpdef Memory grow_memory(Memory memory, Py_ssize_t used, Py_ssize_t size):
    """Return a memory of ``size`` bytes that begins with ``used`` bytes of ``memory``.

    ``memory`` must not be used afterwards. Existing views of it remain valid.
    """
    cdef Memory larger
    if not 0 <= used <= memory.size <= size:
        raise ValueError(
            f"a Memory of {memory.size} bytes cannot grow to {size} and keep {used}"
        )
    if load_hint(&memory.exports) or memory.held is not None:
        larger = new_memory(size)
        memcpy(larger.data, memory.data, <size_t>used)
        return larger
    if not grow_block(&memory.block, used, size):
        raise MemoryError
    memory.data = memory.block.data
    memory.size = size
    memset(memory.data + size, 0, ALIGNMENT)
    return memory


cpdef Memory hold_memory(object view, Py_ssize_t start):
    """Create a memory from a view without a copy, beginning at byte ``start``.

    ``view`` is a flat memoryview of bytes that no other code uses. The memory keeps a
    reference to it, so that the bytes are not moved or freed.
    """
    cdef Memory memory
    cdef Py_buffer* buffer
    if not isinstance(view, memoryview):
        raise TypeError(f"a memoryview is required (got {type(view).__name__})")
    if not 0 <= start <= view.nbytes:
        raise ValueError(
            f"start must be 0 to {view.nbytes}, the length of the view"
            f" (got {start})"
        )
    memory = Memory.__new__(Memory)
    buffer = PyMemoryView_GET_BUFFER(<PyObject*>view)
    memory.held = view
    memory.data = <uint8_t*>buffer.buf + start
    memory.size = buffer.len - start
    return memory


cdef Memory make_memory(Block* block, Py_ssize_t size):
    """Create a ``Memory`` that owns a block, of which ``size`` bytes are used."""
    cdef Memory memory = None
    try:
        memory = Memory.__new__(Memory)
    finally:
        if memory is None:
            give_block(block)
    memory.block = block[0]
    memory.data = block.data
    shrink(memory, size)
    return memory


cdef int shrink(Memory memory, Py_ssize_t size) except -1:
    """Reduce the size of a memory. Unused space of large blocks is freed."""
    memory.size = size
    if memory.block.room >= 4 * SMALLEST_KEPT and size < memory.block.room // 4:
        resize_block(&memory.block, size, max(size, ALIGNMENT))
        memory.data = memory.block.data
    memset(memory.data + size, 0, ALIGNMENT)
    return 0


cdef struct ArrowSchema:
    const char* format
    const char* name
    const char* metadata
    int64_t flags
    int64_t n_children
    ArrowSchema** children
    ArrowSchema* dictionary
    void (*release)(ArrowSchema*) noexcept nogil
    void* private_data

cdef struct ArrowArray:
    int64_t length
    int64_t null_count
    int64_t offset
    int64_t n_buffers
    int64_t n_children
    const void** buffers
    ArrowArray** children
    ArrowArray* dictionary
    void (*release)(ArrowArray*) noexcept nogil
    void* private_data

cdef enum:
    NULLABLE_FLAG = 2

# An export is one allocation: this struct, then the structs of all nodes (the root
# first), then the pointers of all nodes. live is the number of structs that a consumer
# can still read, plus one for the capsule. The export is freed when the last one is
# released.
cdef struct Export:
    int32_t live
    PyObject* owner

# Positions at which the next node stores its children and its pointers.
cdef struct ExportCursor:
    Export* export
    char* node
    void** pointer


@cython.final
@cython.no_gc
@cython.freelist(32)
cdef class Array:
    """Arrow array node: its format, buffers and children.

    * ``format``: format string of the Arrow C data interface.
    * ``buffers``: a tuple of ``Memory`` or None in the order that Arrow defines.
    * ``metadata``: a dict that is exported with the schema.
    * ``offset``: row of the buffers at which the array begins.

    Arrays are immutable. The memory is kept until all consumers have released all nodes
    of the tree.
    """

    def __init__(
        self,
        str format not None,
        str name not None,
        int64_t length,
        int64_t null_count,
        tuple buffers not None,
        tuple children=(),
        bint nullable=True,
        dict metadata=None,
        int64_t offset=0,
    ):
        if self.buffers is not None:
            raise TypeError("an Array cannot be changed; make a new one")
        for buffer in buffers:
            if buffer is not None and not isinstance(buffer, Memory):
                raise TypeError(
                    f"a buffer must be a Memory or None (got {buffer!r:.40})"
                )
        for child in children:
            if not isinstance(child, Array):
                raise TypeError(f"a child must be an Array (got {child!r:.40})")
            check_made(child)
        set_up(self, format, name, length, null_count, buffers, children, nullable)
        self.offset = offset
        if metadata:
            self.metadata = metadata
            self.metadata_bytes = encode_metadata(metadata)

    def __len__(self):
        return <Py_ssize_t>self.length

    def __arrow_c_schema__(self):
        """Export the type as a capsule that contains an ``ArrowSchema``."""
        cdef ExportCursor place
        cdef ArrowSchema* root
        cdef Export* export = new_export(self, sizeof(ArrowSchema), 0)
        root = <ArrowSchema*>(export + 1)
        place.export = export
        place.node = <char*>(root + 1)
        place.pointer = <void**>(root + self.nodes)
        fill_schema(self, root, &place)
        made = None
        try:
            made = PyCapsule_New(root, "arrow_schema", close_schema)
        finally:
            if made is None:
                root.release(root)
                release_export(export)
        return made

    def __arrow_c_array__(self, requested_schema=None):
        """Export type and data as capsules of an ``ArrowSchema`` and an ``ArrowArray``.

        The data is not converted to ``requested_schema``. The protocol permits that.
        """
        cdef ArrowArray* root = export_array(self)
        made = None
        try:
            made = PyCapsule_New(root, "arrow_array", close_array)
        finally:
            if made is None:
                root.release(root)
                release_export((<Export*>root) - 1)
        return self.__arrow_c_schema__(), made

    def import_with(self, take, schema):
        """Call ``take(address, schema)``, for example pyarrow's ``_import_from_c``.

        ``address`` is an ``ArrowArray`` address, and ``take`` must move the content out
        of it. A consumer can pass a schema that it has already imported, so that it
        does not need to parse the schema again.
        """
        cdef ArrowArray* root = export_array(self)
        cdef Export* export = (<Export*>root) - 1
        try:
            return take(<uintptr_t>root, schema)
        finally:
            if root.release != NULL:
                root.release(root)
            release_export(export)


cdef int check_made(Array array) except -1:
    """Raise an exception if ``__init__`` of an ``Array`` has not been called."""
    if array.buffers is None:
        raise TypeError("this Array has no content: make it with Array(format, ...)")
    return 0


cdef Array new_array(
    str format,
    str name,
    int64_t length,
    int64_t null_count,
    tuple buffers,
    tuple children,
    bint nullable,
):
    """Create an ``Array``. The caller must have checked buffers and children."""
    cdef Array made = Array.__new__(Array)
    set_up(made, format, name, length, null_count, buffers, children, nullable)
    return made


cdef int set_up(
    Array array,
    str format,
    str name,
    int64_t length,
    int64_t null_count,
    tuple buffers,
    tuple children,
    bint nullable,
) except -1:
    """Set the attributes, and count the structs and pointers that an export needs."""
    cdef Array child
    array.format = format
    array.format_text = PyUnicode_AsUTF8(format)
    array.name = name
    array.name_text = PyUnicode_AsUTF8(name)
    array.length = length
    array.null_count = null_count
    array.buffers = buffers
    array.children = children
    array.nullable = nullable
    array.nodes = 1
    array.slots = <int>PyTuple_GET_SIZE(<PyObject*>buffers)
    for child in children:
        array.nodes += child.nodes
        array.slots += child.slots
    return 0


cdef bytes encode_metadata(dict metadata):
    """Encode the metadata of a schema in the Arrow C data interface format."""
    parts = [len(metadata).to_bytes(4, byteorder)]
    for pair in metadata.items():
        for text in pair:
            raw = text.encode()
            parts += [len(raw).to_bytes(4, byteorder), raw]
    return b"".join(parts)


cdef Export* new_export(Array array, size_t struct_size, int slots) except NULL:
    """Allocate an export, which keeps a reference to the array."""
    cdef Export* export
    check_made(array)
    export = <Export*>malloc(
        sizeof(Export)
        + <size_t>array.nodes * (struct_size + sizeof(void*))
        + <size_t>slots * sizeof(void*)
    )
    if export == NULL:
        raise MemoryError
    export.live = array.nodes + 1
    Py_INCREF(array)
    export.owner = <PyObject*>array
    return export


cdef ArrowArray* export_array(Array array) except NULL:
    """Export the data of a tree. The root directly follows the ``Export`` struct."""
    cdef ExportCursor place
    cdef Export* export = new_export(array, sizeof(ArrowArray), array.slots)
    cdef ArrowArray* root = <ArrowArray*>(export + 1)
    place.export = export
    place.node = <char*>(root + 1)
    place.pointer = <void**>(root + array.nodes)
    fill_array(array, root, &place)
    return root


cdef void fill_array(Array array, ArrowArray* out, ExportCursor* place) noexcept:
    """Fill the ``ArrowArray`` of a node and its children."""
    cdef PyObject* buffers = <PyObject*>array.buffers
    cdef PyObject* children = <PyObject*>array.children
    cdef PyObject* buffer
    cdef ArrowArray* child
    cdef Py_ssize_t index
    out.length = array.length
    out.null_count = array.null_count
    out.offset = array.offset
    out.n_buffers = PyTuple_GET_SIZE(buffers)
    out.n_children = PyTuple_GET_SIZE(children)
    out.buffers = <const void**>place.pointer
    place.pointer += out.n_buffers
    out.children = <ArrowArray**>place.pointer
    place.pointer += out.n_children
    out.dictionary = NULL
    out.release = drop_array
    out.private_data = place.export
    for index in range(out.n_buffers):
        buffer = PyTuple_GET_ITEM(buffers, index)
        out.buffers[index] = NULL if buffer == <PyObject*>None else (
            (<Memory>buffer).data
        )
    for index in range(out.n_children):
        child = <ArrowArray*>place.node
        place.node += sizeof(ArrowArray)
        out.children[index] = child
        fill_array(<Array>PyTuple_GET_ITEM(children, index), child, place)


cdef void fill_schema(Array array, ArrowSchema* out, ExportCursor* place) noexcept:
    """Fill the ``ArrowSchema`` of a node and its children."""
    cdef PyObject* children = <PyObject*>array.children
    cdef ArrowSchema* child
    cdef Py_ssize_t index
    out.format = array.format_text
    out.name = array.name_text
    out.metadata = NULL
    if array.metadata_bytes is not None:
        out.metadata = PyBytes_AS_STRING(<PyObject*>array.metadata_bytes)
    out.flags = NULLABLE_FLAG if array.nullable else 0
    out.n_children = PyTuple_GET_SIZE(children)
    out.children = <ArrowSchema**>place.pointer
    place.pointer += out.n_children
    out.dictionary = NULL
    out.release = drop_schema
    out.private_data = place.export
    for index in range(out.n_children):
        child = <ArrowSchema*>place.node
        place.node += sizeof(ArrowSchema)
        out.children[index] = child
        fill_schema(<Array>PyTuple_GET_ITEM(children, index), child, place)


cdef void drop_array(ArrowArray* array) noexcept nogil:
    """Release a node and its children, unless they were moved. Runs on any thread."""
    cdef int64_t index
    for index in range(array.n_children):
        if array.children[index].release != NULL:
            array.children[index].release(array.children[index])
    array.release = NULL
    release_export(<Export*>array.private_data)


cdef void drop_schema(ArrowSchema* schema) noexcept nogil:
    """Release a schema and its children, unless they were moved."""
    cdef int64_t index
    for index in range(schema.n_children):
        if schema.children[index].release != NULL:
            schema.children[index].release(schema.children[index])
    schema.release = NULL
    release_export(<Export*>schema.private_data)


cdef void close_array(object capsule) noexcept:
    """Release the content of a capsule, unless a consumer has moved it."""
    cdef ArrowArray* root = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
    if root.release != NULL:
        root.release(root)
    release_export((<Export*>root) - 1)


cdef void close_schema(object capsule) noexcept:
    """Release the content of a capsule, unless a consumer has moved it."""
    cdef ArrowSchema* root
    root = <ArrowSchema*>PyCapsule_GetPointer(capsule, "arrow_schema")
    if root.release != NULL:
        root.release(root)
    release_export((<Export*>root) - 1)


cdef void release_export(Export* export) noexcept nogil:
    """Decrement the number of live structs. Frees the export after the last one."""
    cdef PyGILState_STATE state
    # After Python has been finalized, its memory can no longer be released.
    if not is_last(&export.live) or not Py_IsInitialized():
        return
    state = PyGILState_Ensure()
    release_owner(export.owner)
    PyGILState_Release(state)
    free(export)
