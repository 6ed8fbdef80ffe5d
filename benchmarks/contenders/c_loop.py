# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Build and run ``c_loop.c``, the lower bound for codecs.

The C function repeats the loop several times per call, and its arrays are allocated
before the measurement. Therefore the figure contains only the loop itself.
"""

from __future__ import annotations

import ctypes
import functools
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.statement import Statement
from benchmarks.workloads.messages import integers

BUILDS = "an array of int32"
CHECKS = "bounds, varint width"

_SOURCE = Path(__file__).parent / "c" / "c_loop.c"


def compile_loops(source: Path, load: type[ctypes.CDLL], *flags: str) -> Any:
    """Compile a C file to a shared library.

    ``load`` is the class of ``ctypes`` that loads the library. Returns the library.
    """
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "c_loop.so"
        usual = ["-O3", "-shared", "-fPIC", "-o", str(built)]
        subprocess.run([compiler, *flags, *usual, str(source)], check=True)
        return load(str(built))


@functools.cache
def load_loops() -> Any:
    """Compile the C loops and load them, once per process."""
    library = compile_loops(_SOURCE, ctypes.CDLL)
    for name in ("decode", "encode", "split_records", "join_records"):
        getattr(library, name).restype = ctypes.c_long
    return library


def _rounds(count: int) -> int:
    """Return how many times a call repeats the loop, for 100,000 values in total."""
    return max(1, 100_000 // count)


def encode_integers(kind: str, count: int) -> Statement:
    """Encode an array of integers with the C loop."""
    dtype = np.uint32 if kind == "unsigned_varint" else np.int32
    source = np.array(integers(kind, count), dtype)
    target = np.empty(5 * count, np.uint8)
    rounds = _rounds(count)

    def encode_all() -> Any:
        size = load_loops().encode(
            ctypes.c_void_p(source.ctypes.data),
            ctypes.c_long(count),
            ctypes.c_void_p(target.ctypes.data),
            ctypes.c_int(kind == "varint"),
            ctypes.c_long(rounds),
        )
        return memoryview(target)[:size]

    return Statement("encode_all()", {"encode_all": encode_all}, calls=rounds)


def decode_integers(kind: str, count: int, data: bytes) -> Statement:
    """Decode an array of integers with the C loop.

    Raises ``ValueError`` if the loop does not read all bytes.
    """
    dtype = np.uint32 if kind == "unsigned_varint" else np.int32
    target = np.empty(count, dtype)
    rounds = _rounds(count)

    def decode_all() -> Any:
        size = load_loops().decode(
            ctypes.c_char_p(data),
            ctypes.c_long(len(data)),
            ctypes.c_void_p(target.ctypes.data),
            ctypes.c_long(count),
            ctypes.c_int(kind == "varint"),
            ctypes.c_long(rounds),
        )
        if size != len(data):
            raise ValueError(f"the C loop read {size} of {len(data)} bytes")
        return target

    return Statement("decode_all()", {"decode_all": decode_all}, calls=rounds)
