# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Declares checksums of memory areas, which run without the GIL.

``value`` is the checksum of the preceding bytes, 0 at the beginning.
"""

from libc.stdint cimport uint8_t, uint32_t

cdef uint32_t crc32c_of(
    uint32_t value, const uint8_t* data, size_t size
) noexcept nogil
cdef uint32_t crc32_of(
    uint32_t value, const uint8_t* data, size_t size
) noexcept nogil
