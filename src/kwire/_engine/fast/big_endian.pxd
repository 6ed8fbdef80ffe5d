# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Loads and stores big-endian integers, and provides branch hints for compilers.

The functions do not check bounds; the caller must have checked them. Each load reads
the input only once. Another process or thread may modify the input, so a number that
has been checked must not be loaded again.

Without a twin: the Python engine uses ``struct`` and ``int.from_bytes``.
"""

from libc.stdint cimport (
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.string cimport memcpy

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <stdlib.h>
    #define kwire_swap16 _byteswap_ushort
    #define kwire_swap32 _byteswap_ulong
    #define kwire_swap64 _byteswap_uint64
    #define kwire_likely(x) (x)
    #define kwire_unlikely(x) (x)
    #else
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define kwire_swap16(x) (x)
    #define kwire_swap32(x) (x)
    #define kwire_swap64(x) (x)
    #else
    #define kwire_swap16 __builtin_bswap16
    #define kwire_swap32 __builtin_bswap32
    #define kwire_swap64 __builtin_bswap64
    #endif
    #define kwire_likely(x) __builtin_expect(!!(x), 1)
    #define kwire_unlikely(x) __builtin_expect(!!(x), 0)
    #endif
    /* When registers are scarce, a compiler may load a value from memory a second
       time. This function hides the origin of the value, so that the compiler cannot
       do that. */
    static inline unsigned long long kwire_once(unsigned long long value) {
    #if defined(__GNUC__)
        __asm__("" : "+r"(value));
        return value;
    #else
        volatile unsigned long long kept = value;
        return kept;
    #endif
    }
    """
    uint16_t swap16 "kwire_swap16"(uint16_t) noexcept nogil
    uint32_t swap32 "kwire_swap32"(uint32_t) noexcept nogil
    uint64_t swap64 "kwire_swap64"(uint64_t) noexcept nogil
    uint64_t once "kwire_once"(uint64_t) noexcept nogil
    bint likely "kwire_likely"(bint) noexcept nogil
    bint unlikely "kwire_unlikely"(bint) noexcept nogil


cdef inline uint64_t load_byte(const uint8_t* at) noexcept nogil:
    """Load a byte as 64 bits, which varints require.

    The caller must have checked the bounds.
    """
    return once(at[0])


cdef inline int16_t load_int16(const uint8_t* at) noexcept nogil:
    """Load a big-endian int16. The caller must have called ``require``."""
    cdef uint16_t raw
    memcpy(&raw, at, 2)
    return <int16_t>swap16(<uint16_t>once(raw))


cdef inline int32_t load_int32(const uint8_t* at) noexcept nogil:
    """Load a big-endian int32. The caller must have called ``require``."""
    cdef uint32_t raw
    memcpy(&raw, at, 4)
    return <int32_t>swap32(<uint32_t>once(raw))


cdef inline int64_t load_int64(const uint8_t* at) noexcept nogil:
    """Load a big-endian int64. The caller must have called ``require``."""
    cdef uint64_t raw
    memcpy(&raw, at, 8)
    return <int64_t>swap64(once(raw))


cdef inline void store_int16(uint8_t* at, uint16_t value) noexcept nogil:
    """Store two bytes, most significant byte first."""
    value = swap16(value)
    memcpy(at, &value, 2)


cdef inline void store_int32(uint8_t* at, uint32_t value) noexcept nogil:
    """Store four bytes, most significant byte first."""
    value = swap32(value)
    memcpy(at, &value, 4)


cdef inline void store_int64(uint8_t* at, uint64_t value) noexcept nogil:
    """Store eight bytes, most significant byte first."""
    value = swap64(value)
    memcpy(at, &value, 8)
