# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares the functions of the encoder that ``frames.pyx`` calls."""

from cpython.object cimport PyObject

from kwire._engine.fast.program cimport Program, Table
from kwire._engine.fast.writer cimport Writer

cdef bint write_struct(Writer* writer, Table* table, PyObject* value) noexcept
cdef bint write_slots(Writer* writer, Table* table, PyObject** slots) noexcept
cdef object make_failure(Writer* writer, Program program)
