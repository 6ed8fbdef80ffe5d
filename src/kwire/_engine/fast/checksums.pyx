# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""CRC-32C and CRC-32, the checksums of records.

``value`` is the checksum of the preceding bytes. The checksum of a concatenation can
therefore be computed part by part: pass the result for the first part as ``value`` for
the second part.

Twin: ``pure/checksums.py``. Differs from its twin in: the kernels of ``checksums.h``
are used, which are selected by processor features, and the GIL is released for large
inputs.

Only in Cython: ``crc32c_of``, ``crc32_of``, ``checksum``.
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
    # Minimum input size in bytes for which releasing the GIL is worthwhile for other
    # threads.
    LARGE = 16384

prepare_checksums()


def crc32c(data, value=0):
    """Return the CRC-32C of a contiguous bytes-like object.

    It uses the Castagnoli polynomial of RFC 3720 and covers magic 2 record batches.

    Source: ``Crc32C``.
    """
    return checksum(data, value, usable[0].crc32c)


def crc32(data, value=0):
    """Return the CRC-32 of a contiguous bytes-like object.

    It uses the polynomial of IEEE 802.3, as ``zlib`` does, and covers magic 0 and 1
    messages.

    Source: ``Crc32``.
    """
    return checksum(data, value, usable[0].crc32)


def _implementations():
    """Return the kernels that this machine supports, by name.

    Each entry contains a ``crc32c`` and a ``crc32`` function.
    """
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
    """Return the CRC-32C of a memory area."""
    return ~usable[0].crc32c(~value, data, size)


cdef uint32_t crc32_of(
    uint32_t value, const uint8_t* data, size_t size
) noexcept nogil:
    """Return the CRC-32 of a memory area."""
    return ~usable[0].crc32(~value, data, size)


cdef object checksum(object data, object value, Kernel kernel):
    """Compute a checksum of a buffer with a kernel."""
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
