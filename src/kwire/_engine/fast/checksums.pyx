# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""CRC-32C and CRC-32: the checksums of records.

Both continue from ``value``, the checksum of the bytes before: the checksum of a
whole is that of its second part, continued from that of its first.

Twin: ``pure/checksums.py``. Differs from its twin in: the kernels of
``checksums.h``, chosen by what the processor has, and no lock held over large inputs.
C needs for itself: ``crc32c_of``, ``crc32_of``, ``checksum``.
"""

from libc.stdint cimport uint8_t, uint32_t

from kwire._engine.fast.python_api cimport (
    PyBUF_SIMPLE,
    PyBuffer_Release,
    PyObject,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
    forget_exception,
    raise_pending,
)

__all__ = ["crc32", "crc32c"]

cdef extern from "checksums.h":
    ctypedef uint32_t (*Kernel "kwire_kernel")(
        uint32_t crc, const uint8_t* at, size_t size
    ) noexcept nogil
    ctypedef struct Checksums "kwire_checksums":
        const char* name
        Kernel crc32c
        Kernel crc32
    Checksums[3] usable "kwire_usable"
    int usable_count "kwire_usable_count"
    void prepare_checksums "kwire_prepare_checksums"() noexcept

cdef extern from "Python.h":
    unsigned long PyLong_AsUnsignedLongMask(object value) except? -1

cdef enum:
    # From so many bytes on, a thread that waits for the lock gains by getting it.
    LARGE = 16384

prepare_checksums()


def crc32c(data, value=0):
    """Return the CRC-32C of any contiguous bytes-like object.

    The polynomial of Castagnoli, as in RFC 3720; it covers batches of magic 2.
    Source: ``Crc32C``.
    """
    return checksum(data, value, usable[0].crc32c)


def crc32(data, value=0):
    """Return the CRC-32 of any contiguous bytes-like object.

    The polynomial of IEEE 802.3, as in ``zlib``; it covers messages of magic 0 and 1.
    Source: ``Crc32``.
    """
    return checksum(data, value, usable[0].crc32)


def _implementations():
    """Return all that this machine can run: by name, ``crc32c`` and ``crc32``."""
    return {
        usable[index].name.decode(): (
            lambda data, value=0, index=index: checksum(
                data, value, usable[<int>index].crc32c
            ),
            lambda data, value=0, index=index: checksum(
                data, value, usable[<int>index].crc32
            ),
        )
        for index in range(usable_count)
    }


cdef uint32_t crc32c_of(
    uint32_t value, const uint8_t* data, size_t size
) noexcept nogil:
    """Return the CRC-32C of memory."""
    return ~usable[0].crc32c(~value, data, size)


cdef uint32_t crc32_of(
    uint32_t value, const uint8_t* data, size_t size
) noexcept nogil:
    """Return the CRC-32 of memory."""
    return ~usable[0].crc32(~value, data, size)


cdef object checksum(object data, object value, Kernel kernel):
    """Run a kernel over a buffer."""
    cdef Py_buffer buffer
    cdef uint32_t crc = ~<uint32_t>PyLong_AsUnsignedLongMask(value)
    if PyObject_GetBuffer(<PyObject*>data, &buffer, PyBUF_SIMPLE) < 0:
        if not forget_exception():
            raise_pending()
        if PyObject_CheckBuffer(<PyObject*>data):
            raise TypeError("the input must be contiguous in memory; pass bytes(data)")
        raise TypeError(f"a bytes-like object is required, not {type(data).__name__!r}")
    if buffer.len < LARGE:
        crc = kernel(crc, <const uint8_t*>buffer.buf, buffer.len)
    else:
        with nogil:
            crc = kernel(crc, <const uint8_t*>buffer.buf, buffer.len)
    PyBuffer_Release(&buffer)
    return <uint32_t>~crc
