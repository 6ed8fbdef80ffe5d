# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares the checks and errors that ``header_columns.pyx`` also uses.

Twin: ``pure/message_columns.py``. See ``message_columns.pyx`` for the differences.
"""


cdef int check_sizes(
    Py_ssize_t start,
    Py_ssize_t count,
    bint is_large,
    object validity_size,
    Py_ssize_t offsets_size,
) except -1
cdef object make_column_failure(object layout)
