# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Translates a ``Plan`` into the C tables that the decoder and the encoder interpret.

Every decision that depends only on the message and its version is made here, so that it
is made once and not for each field that is read or written.

Twin: ``pure/program.py``. Differs from its twin in: ``fast`` interprets tables, whereas
``pure`` generates Python code without branches (``pure/emitter.py``).

Only in Cython: ``fold_type``, ``size_of``.
"""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int64_t, uint32_t

from kwire._engine.fast.program cimport *
from kwire._engine.fast.python_api cimport (
    is_small_int,
    load_pointer,
    publish_pointer,
    small_int,
)
from kwire._engine.fast.structs cimport CACHED_VERSIONS, Layout, layout_of

from kwire.schema import plan as plans

cdef frozenset SIGNED = frozenset((plans.INT8, plans.INT16, plans.INT32, plans.INT64))


cdef class Program:
    """Tables of one message version.

    The program owns the objects to which the tables refer.
    """

    def __cinit__(self, layout, binding):
        self.layout = layout
        self.binding = binding
        self.memory = []
        self.tables = {}
        self.api_key = binding.message.api_key
        self.size_hint = 64
        self.table = self.table_of(layout)

    cdef Table* table_of(self, object plan) except NULL:
        cdef Table* table
        cdef Step* run = NULL
        cdef int index
        known = self.tables.get(id(plan))
        if known is not None:
            return <Table*>PyBytes_AS_STRING(known)
        table = <Table*>self.allocate(sizeof(Table))
        self.tables[id(plan)] = self.memory[len(self.memory) - 1]
        struct = plan.struct
        defaults = self.binding.defaults[struct.name]
        table.cls = <PyTypeObject*><PyObject*>self.binding.classes[struct.name]
        table.slots = len(struct.fields) + 1
        table.flexible = plan.flexible
        # There is at most one CHECK before each field.
        table.steps = <Step*>self.allocate(2 * len(plan.steps) * sizeof(Step))
        for step in plan.steps:
            if step.is_fixed:
                if run == NULL:
                    run = &table.steps[table.step_count]
                    run.op = OP_CHECK
                    run.last_int = run
                    run.step = <PyObject*>step
                    table.step_count += 1
                run.size += plans.SIZES[step.code]
                run.room = run.size + 7
                if (
                    step.code in SIGNED
                    and run.last_int + 1 == &table.steps[table.step_count]
                ):
                    run.last_int += 1
            elif step.place == plans.PRESENT:
                run = NULL
            self.fill(&table.steps[table.step_count], step, defaults[step.slot])
            table.step_count += 1
        table.line = <Step*>self.allocate(table.step_count * sizeof(Step))
        for index in range(table.step_count):
            if table.steps[index].op <= OP_ARRAY or table.steps[index].op == OP_CHECK:
                table.line[table.line_count] = table.steps[index]
                table.line_count += 1
        table.tagged_count = len(plan.tagged)
        table.tagged = <Step*>self.allocate(table.tagged_count * sizeof(Step))
        for index, step in enumerate(plan.tagged):
            self.fill(&table.tagged[index], step, defaults[step.slot])
        table.invalid_count = len(plan.invalid_tags)
        table.invalid_tags = <uint32_t*>self.allocate(
            table.invalid_count * sizeof(uint32_t)
        )
        for index, tag in enumerate(plan.invalid_tags):
            table.invalid_tags[index] = tag
        return table

    cdef int fill(self, Step* made, object step, object default) except -1:
        """Translate one step of a plan."""
        made.inner = fold_type(step)
        made.content = OP_ARRAY if step.is_array else made.inner
        made.op = {
            plans.PRESENT: made.content,
            plans.TAGGED: OP_TAGGED,
            plans.ABSENT: OP_ABSENT,
            plans.IGNORED: OP_IGNORED,
        }[step.place]
        made.slot = step.slot
        made.compact = step.compact
        made.nullable = step.nullable
        made.tag = max(step.tag, 0)
        made.size = step.element_least
        if step.code in SIGNED:
            made.spare_bits = 64 - 8 * plans.SIZES[step.code]
        made.table = NULL if step.plan is None else self.table_of(step.plan)
        made.default = <PyObject*>default
        made.attribute = <PyObject*>step.attribute
        made.step = <PyObject*>step
        return 0

    cdef void* allocate(self, Py_ssize_t size) except NULL:
        block = bytes(size + 1)
        self.memory.append(block)
        return PyBytes_AS_STRING(block)


cdef int fold_type(object step) except -1:
    """Choose the opcode of a step's type in this version."""
    if step.code <= plans.UUID:
        return step.code
    if step.code == plans.STRING:
        return OP_COMPACT_STRING if step.compact else OP_STRING
    if step.code != plans.STRUCT:
        return OP_BYTES
    return OP_NULLABLE_STRUCT if step.nullable and not step.is_array else OP_STRUCT


cdef Program find_program(object cls, object version):
    """Return the program for one version of a message class, or create it.

    Raises ``TypeError`` if ``cls`` is not a message class, and ``UnsupportedVersion``
    if the message does not have this version.
    """
    cdef Layout* layout = layout_of(<PyObject*>cls)
    cdef Program program
    cdef PyObject* known
    cdef int64_t number = -1
    if layout == NULL or <object>layout.binding is None:
        raise plans.make_class_error(cls)
    if is_small_int(<PyObject*>version):
        number = small_int(<PyObject*>version)
    if not 0 <= number < CACHED_VERSIONS:
        number = -1
    else:
        known = load_pointer(&layout.programs[number])
        if known != NULL:
            return <Program>known
    binding = <object>layout.binding
    key = version if type(version) is int else binding.number(version)
    program = binding.programs.get(key)
    if program is None:
        made = Program(binding.plan(key), binding)
        program = binding.programs.setdefault(key, made)
    # The class of a nested struct has the same binding as its message.
    if <PyObject*>program.table.cls != <PyObject*>cls:
        raise TypeError(f"{cls.__qualname__} is a struct of a message, not a message")
    if number >= 0:
        publish_pointer(&layout.programs[number], <PyObject*>program)
    return program
