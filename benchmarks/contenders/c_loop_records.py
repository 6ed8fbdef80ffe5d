# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run C loops over records: lower bounds for columns and for objects.

The loops in ``c_loop.c`` split records into columns, or encode columns as records.
Their memory is allocated and touched before the measurement. The loop in
``c_objects.c`` creates tuples. Libraries compute CRCs and compress. No batch header is
involved, and record headers are counted but not stored.
"""

from __future__ import annotations

import ctypes
import functools
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from crc32c import crc32c

from benchmarks.contenders.c_loop import compile_loops, load_loops
from benchmarks.contenders.libraries import (
    compress_pieces,
    decompress_pieces,
    fastest,
)
from benchmarks.harness.statement import Statement
from benchmarks.workloads import records as workloads

BUILDS = "arrays of numbers, of ends and of bytes, made beforehand; or tuples"
CHECKS = "CRC, bounds, size of each record"

_OBJECTS = Path(__file__).parent / "c" / "c_objects.c"
_READ = """
for offset, timestamp, key, value, headers in build_all():
    pass
"""


class _Columns(ctypes.Structure):
    """Addresses of the arrays that the C loops read or write."""

    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in (
            "offsets",
            "timestamps",
            "key_ends",
            "value_ends",
            "keys",
            "values",
        )
    )


def _arrays(rows: list[workloads.Row]) -> dict[str, Any]:
    """Return the columns of records as NumPy arrays."""
    keys, values = [row[0] for row in rows], [row[1] for row in rows]
    return {
        "offsets": np.arange(len(rows), dtype=np.int64),
        "timestamps": np.array([row[2] for row in rows], np.int64),
        "key_ends": np.cumsum([len(key) for key in keys], dtype=np.int32),
        "value_ends": np.cumsum([len(value) for value in values], dtype=np.int32),
        "keys": np.frombuffer(b"".join(keys), np.uint8),
        "values": np.frombuffer(b"".join(values), np.uint8),
    }


def _pointers(arrays: dict[str, Any]) -> Any:
    addresses = {name: array.ctypes.data for name, array in arrays.items()}
    columns = _Columns(**addresses)
    # The structure contains only addresses. Keep a reference to the arrays, so that
    # their memory is not released.
    columns.arrays = arrays
    return ctypes.byref(columns)


def _values(arrays: dict[str, Any]) -> list[Any]:
    """Return [offset, timestamp, key, value, headers] for each row of columns."""

    def parts(name: str, ends: str) -> list[bytes]:
        data, stops = arrays[name].tobytes(), arrays[ends].tolist()
        return [data[start:end] for start, end in zip([0, *stops], stops, strict=False)]

    columns = (
        arrays["offsets"].tolist(),
        arrays["timestamps"].tolist(),
        parts("keys", "key_ends"),
        parts("values", "value_ends"),
    )
    return [[*record, []] for record in zip(*columns, strict=True)]


def _splitting(name: str, checked: bytes, unpack: Callable[[], Any]) -> Statement:
    """Prepare a statement that checks a CRC and splits records into columns.

    * ``checked``: bytes whose CRC is computed.
    * ``unpack``: returns the bytes of the records.
    """
    rows = workloads.rows(name)
    arrays = {key: np.ones_like(array) for key, array in _arrays(rows).items()}
    pointers, split = _pointers(arrays), load_loops().split_records

    def split_all() -> Any:
        crc32c(checked)
        data = np.frombuffer(unpack(), np.uint8)
        size = split(
            ctypes.c_void_p(data.ctypes.data),
            ctypes.c_long(len(data)),
            ctypes.c_long(len(rows)),
            ctypes.c_int64(0),
            ctypes.c_int64(rows[0][2]),
            pointers,
        )
        if size != len(data):
            raise ValueError(f"the C loop read {size} of {len(data)} bytes")
        return arrays

    return Statement(
        "split_all()", {"split_all": split_all}, values=lambda: _values(split_all())
    )


def split_records(name: str) -> Statement:
    """Compute the CRC of a batch and split its records into columns."""
    data = workloads.section(name)
    return _splitting(name, data, lambda: data)


def split_compressed(name: str, codec: str) -> Statement:
    """Compute the CRC, decompress with the fastest library, and split the records."""
    data = workloads.compressed(name, codec)
    return _splitting(name, data, fastest(name, codec))


def _joining(name: str) -> Callable[[], memoryview]:
    """Return a function that encodes the columns of a workload as records.

    The function returns a view of the encoded bytes.
    """
    arrays = _arrays(workloads.rows(name))
    target = np.ones(2 * len(workloads.section(name)), np.uint8)
    pointers, join = _pointers(arrays), load_loops().join_records
    count = len(workloads.rows(name))

    def join_all() -> memoryview:
        address = ctypes.c_void_p(target.ctypes.data)
        size = join(pointers, ctypes.c_long(count), address)
        return memoryview(target)[:size]

    return join_all


def join_records(name: str) -> Statement:
    """Encode columns as records and compute their CRC."""
    join = _joining(name)

    def join_all() -> bytes:
        joined = join().tobytes()
        crc32c(joined)
        return joined

    return Statement("join_all()", {"join_all": join_all})


def join_compressed(name: str, codec: str, level: int) -> Statement:
    """Encode columns as records, and compress them with the fastest library.

    The CRC is computed as well.
    """
    join = _joining(name)

    def join_all() -> bytes:
        compressed = b"".join(compress_pieces(codec, level, join()))
        crc32c(compressed)
        return compressed

    def values() -> bytes:
        return decompress_pieces(codec, compress_pieces(codec, level, join()))

    return Statement("join_all()", {"join_all": join_all}, values=values)


@functools.cache
def _load_objects() -> Any:
    """Compile the loop that creates record objects. Returns its function."""
    flag = f"-I{sysconfig.get_path('include')}"
    build = compile_loops(_OBJECTS, ctypes.PyDLL, flag).build_records
    build.restype = ctypes.py_object
    return build


def build_records(name: str) -> Statement:
    """Compute the CRC of a batch, create a tuple for each record, and unpack it."""
    data, rows = workloads.section(name), workloads.rows(name)
    arguments = (
        ctypes.py_object(data),
        ctypes.c_long(len(rows)),
        ctypes.c_int64(rows[0][2]),
        ctypes.py_object(()),
    )
    build = _load_objects()

    def build_all() -> Any:
        crc32c(data)
        return build(*arguments)

    def values() -> list[Any]:
        return [[*record[:4], list(record[4])] for record in build_all()]

    return Statement(_READ, {"build_all": build_all}, values=values)
