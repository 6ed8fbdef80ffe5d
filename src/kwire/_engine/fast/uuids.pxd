# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares what ``primitives.pxd`` uses of ``uuids.pyx``."""

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

cdef PyObject* make_uuid(uint64_t high, uint64_t low) noexcept
cdef bint uuid_halves(PyObject* value, uint64_t* high, uint64_t* low) noexcept
