# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares the functions of ``uuids.pyx`` that ``primitives.pxd`` uses."""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

cdef PyObject* make_uuid(uint64_t high, uint64_t low) noexcept
cdef bint uuid_halves(PyObject* value, uint64_t* high, uint64_t* low) noexcept
