# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Messages of magic 0 and 1 whose header is a C struct.

Twin: ``pure/legacy_records.py``.
"""

from libc.stdint cimport int64_t, uint8_t

from kwire._engine.fast.record_decoder cimport Reading

cdef tuple read_run(Reading* r, const uint8_t* start, Py_ssize_t stop, bint check_crc)
cdef (int64_t, int64_t) find_entry_payload(
    Reading* r, const uint8_t* start
) except *
cdef tuple read_inner(Reading* r, const uint8_t* start, Py_ssize_t end, bint check_crc)
