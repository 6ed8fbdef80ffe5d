# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares the checks and errors that ``header_columns.pyx`` uses too.

Twin: ``pure/message_columns.py``. What differs there is said in
``message_columns.pyx``.
"""


cdef int check_sizes(
    Py_ssize_t start,
    Py_ssize_t count,
    bint is_large,
    object validity_size,
    Py_ssize_t offsets_size,
) except -1
cdef object make_column_failure(object layout)
