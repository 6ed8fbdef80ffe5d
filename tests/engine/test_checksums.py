# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""CRC-32C and CRC-32 in every implementation that this machine supports.

A kernel depends on the length remainder, on thresholds, and on where parallel streams
and registers end. All small lengths are therefore tested. The references are a bitwise
division in this file, RFC 3720, ``zlib`` and ``crc32c``.
"""

import array
import ctypes
import mmap
import os
import random
import sys
import zlib
from importlib import import_module
from pathlib import Path

import crc32c as peer
import pytest

from tests.harness.guard_pages import Guarded, check

CASTAGNOLI, IEEE = 0x1EDC6F41, 0x04C11DB7
BYTES = random.Random(3720).randbytes(100_000)


def checksums_of(kwire):
    """Return the module ``checksums`` of the tested engine."""
    return import_module(f"{kwire.__name__}._engine.{kwire.backend}.checksums")


def implementations(kwire):
    """Return all implementations as (name, crc32c, crc32).

    The list contains the automatic choice and, for the compiled engine, every
    implementation that the processor supports.
    """
    module = checksums_of(kwire)
    functions_by_name = {"chosen": (module.crc32c, module.crc32)}
    if kwire.backend == "fast":
        functions_by_name |= module._implementations()
    return [(name, *functions) for name, functions in functions_by_name.items()]


def prefixes_by_division(data, polynomial):
    """Return the checksums of all prefixes of ``data``, starting with the empty prefix.

    The checksums are computed bit by bit by polynomial division.
    """
    register = 0xFFFFFFFF
    results = [0]
    for byte in data:
        for bit in range(8):
            top = (register >> 31) ^ (byte >> bit & 1)
            register = (register << 1 & 0xFFFFFFFF) ^ (polynomial if top else 0)
        results.append(int(f"{register:032b}"[::-1], 2) ^ 0xFFFFFFFF)
    return results


def test_checksums_match_the_published_check_values(kwire):
    """The checksum of "123456789" is the check value that CRC catalogs list."""
    for name, crc32c, crc32 in implementations(kwire):
        assert crc32c(b"123456789") == 0xE3069283, name
        assert crc32(b"123456789") == 0xCBF43926, name
        assert (crc32c(b""), crc32(b"")) == (0, 0), name


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (bytes(32), "aa36918a"),
        (b"\xff" * 32, "43aba862"),
        (bytes(range(32)), "4e79dd46"),
        (bytes(range(31, -1, -1)), "5cdb3f11"),
        (
            bytes.fromhex(
                "01c00000 00000000 00000000 00000000 14000000 00000400"
                "00000014 00000018 28000000 00000000 02000000 00000000"
            ),
            "563a96d9",
        ),
    ],
    ids=["zeros", "ones", "rising", "falling", "scsi read"],
)
def test_crc32c_matches_the_vectors_of_rfc_3720(kwire, data, expected):
    """The examples in RFC 3720, appendix B.4, have the checksums of the RFC.

    The RFC prints a checksum in wire byte order.
    """
    for name, crc32c, _ in implementations(kwire):
        assert crc32c(data).to_bytes(4, "little").hex() == expected, name


def test_every_small_length_at_every_alignment(kwire):
    """Inputs of 0 to 600 bytes at 16 addresses have the checksum of the division."""
    data = BYTES[:600]
    by_c = prefixes_by_division(data, CASTAGNOLI)
    by_ieee = prefixes_by_division(data, IEEE)
    for name, crc32c, crc32 in implementations(kwire):
        for shift in range(16):
            view = memoryview(bytes(shift) + data)[shift:]
            checksums = [crc32c(view[:size]) for size in range(601)]
            assert checksums == by_c, (name, shift)
            checksums = [crc32(view[:size]) for size in range(601)]
            assert checksums == by_ieee, (name, shift)


@pytest.mark.parametrize(
    "sizes",
    [range(600, 1700), range(1700, 40_000, 251), range(6700, 7300, 7)],
    ids=["600 to 1700", "to 40000", "one state of the pure engine"],
)
def test_longer_lengths_agree_with_others(kwire, sizes):
    """Cover the lengths at which kernels change to other streams, registers or tables.

    The expected values come from ``crc32c`` and ``zlib``.
    """
    for name, crc32c, crc32 in implementations(kwire):
        for size in sizes:
            data = BYTES[size % 16 : size % 16 + size]
            assert crc32c(data) == peer.crc32c(data), (name, size)
            assert crc32(data) == zlib.crc32(data), (name, size)


def test_block_remainders_are_included_in_checksums(kwire):
    """Sizes one byte below, at, and one byte above a multiple of a block size.

    The blocks are the units that the kernels of both engines process in one step.
    """
    blocks = (12_288, 6293, 4096, 256)
    ends = [n * block + d for n in (1, 2, 5) for block in blocks for d in (-1, 0, 1)]
    ends += [6777 + n * 6293 + d for n in (0, 1, 2, 7) for d in (-1, 0, 1)]
    for name, crc32c, crc32 in implementations(kwire):
        for size in ends:
            data = BYTES[:size]
            assert crc32c(data, 77) == peer.crc32c(data, 77), (name, size)
            assert crc32(data, 77) == zlib.crc32(data, 77), (name, size)


def test_parts_continue_each_other(kwire):
    """A checksum can be computed in parts of random sizes.

    The checksum of one part is the start value for the next part. The last checksum
    must be equal to the checksum of the whole input.
    """
    randomness = random.Random(4)
    for name, crc32c, crc32 in implementations(kwire):
        for longest in (9, 300, 5000, 50_000):
            end = value_c = value_ieee = 0
            for _ in range(12):
                part = BYTES[end : end + randomness.randrange(longest)]
                end += len(part)
                value_c, value_ieee = crc32c(part, value_c), crc32(part, value_ieee)
            assert value_c == peer.crc32c(BYTES[:end]), (name, longest)
            assert value_ieee == zlib.crc32(BYTES[:end]), (name, longest)


def test_start_value_is_reduced_to_32_bits(kwire):
    """The start value is reduced to 32 bits, as ``zlib.crc32`` does.

    Start values that are not integers raise TypeError.
    """
    for name, crc32c, crc32 in implementations(kwire):
        for value in (0, 1, 2**31, 2**32 - 1, 2**32 + 5, -1, -(2**40)):
            for data in (b"", b"a", BYTES[:1000]):
                low = value & 0xFFFFFFFF
                assert crc32c(data, value) == peer.crc32c(data, low), (name, value)
                assert crc32(data, value=value) == zlib.crc32(data, low), (name, value)
        with pytest.raises(TypeError):
            crc32c(b"", "0")
        with pytest.raises(TypeError):
            crc32(b"", None)


def test_checksum_of_ten_megabytes_is_correct(kwire):
    """The checksum of ten megabytes is correct.

    The input is larger than any buffer or block of a kernel.
    """
    data = BYTES * 105
    for name, crc32c, crc32 in implementations(kwire):
        assert crc32c(data) == peer.crc32c(data), name
        assert crc32(data) == zlib.crc32(data), name


@pytest.mark.parametrize("size", [0, 5, 3000, 100_000])
def test_checksums_accept_any_contiguous_buffer(kwire, size):
    """All contiguous buffers are accepted, and no export remains afterwards."""
    data = BYTES[:size]
    mapped = mmap.mmap(-1, max(size, 1))
    mapped[:size] = data
    growing = bytearray(data)
    kinds = [
        growing,
        memoryview(data),
        memoryview(b"x" + data + b"y")[1:-1],
        memoryview(mapped)[:size],
        array.array("b", data),
        (ctypes.c_ubyte * size).from_buffer_copy(data),
    ]
    if size % 8 == 0:
        kinds += [
            array.array("q", data),
            (ctypes.c_int32.__ctype_be__ * (size // 4)).from_buffer_copy(data),
            (ctypes.c_ubyte * 8 * (size // 8)).from_buffer_copy(data),
        ]
    for name, crc32c, crc32 in implementations(kwire):
        for kind in kinds:
            assert crc32c(kind) == peer.crc32c(data), (name, type(kind))
            assert crc32(kind) == zlib.crc32(data), (name, type(kind))
    growing += b"more"
    del kinds
    mapped.close()


@pytest.mark.parametrize(
    "data",
    [memoryview(b"123456")[::2], memoryview(bytes(16))[1::4], "text", 7, None],
    ids=["every other", "a column", "text", "int", "None"],
)
def test_checksums_reject_other_types(kwire, data):
    """Strided buffers and objects without a buffer raise TypeError."""
    for _, crc32c, crc32 in implementations(kwire):
        for function in (crc32c, crc32):
            with pytest.raises(TypeError, match="bytes"):
                function(data)


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither fork nor mprotect"
)
def test_no_kernel_reads_past_the_end(kwire):
    """Inputs of all small lengths end directly before an inaccessible page.

    A kernel that reads a byte beyond its input crashes the test process.
    """
    guarded = Guarded()

    def work(note):
        for name, crc32c, crc32 in implementations(kwire):
            for size in [*range(1100), 12_289, 30_001]:
                note((name, size))
                data = BYTES[:size]
                assert crc32c(guarded.put(data)) == peer.crc32c(data)
                assert crc32(guarded.put(data)) == zlib.crc32(data)

    check(work)


@pytest.mark.skipif(sys.maxsize < 2**32, reason="32 bits have the tables alone")
def test_implementations_match_the_processor_flags(twins):
    """The available implementations match the processor flags, the fastest one first.

    The table implementation is always available. In an emulator, /proc/cpuinfo shows
    the flags of the host processor, so ``KWIRE_CPU_FLAGS`` lists the emulated flags
    instead.
    """
    names = list(checksums_of(twins.fast)._implementations())
    cpuinfo = Path("/proc/cpuinfo")
    cpu_text = cpuinfo.read_text() if cpuinfo.exists() else ""
    emulated = os.environ.get("KWIRE_CPU_FLAGS")
    flags = set((cpu_text if emulated is None else emulated).split())
    expected = [
        name
        for name, needed in [
            ("avx512", {"sse4_2", "pclmulqdq", "avx512f", "vpclmulqdq"}),
            ("sse42", {"sse4_2", "pclmulqdq"}),
            ("arm", {"crc32", "asimd"}),
        ]
        if needed <= flags
    ]
    assert names[-1] == "table"
    assert [name for name in names if name in expected] == expected
    assert emulated is None or names[:-1] == expected


def test_sparse_multiples_are_multiples(twins):
    """The Python engine's sparse polynomials are multiples of the CRC-32C polynomial.

    The engine folds the input with these polynomials. If one of them were not a
    multiple, the fold would change the checksum.
    """
    module = checksums_of(twins.pure)
    multiples = {powers for _, powers in module.SPARSE[:-1]}
    multiples.add((module.STATE, module.HIGH, module.LOW, 0))
    power, remainders = 1, []
    for _ in range(module.STATE + 1):
        remainders.append(power)
        power <<= 1
        if power >> 32:
            power ^= 1 << 32 | CASTAGNOLI
    assert len(multiples) >= 9
    for powers in multiples:
        total = 0
        for exponent in powers:
            total ^= remainders[exponent]
        assert total == 0, powers
    assert module.SPARSE[-1] == (8 * len(module.ROWS), ())
    assert all(min(shifts) >= 0 for *_, shifts in module.CUTS)
