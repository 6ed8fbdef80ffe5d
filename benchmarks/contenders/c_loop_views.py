# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run ``c_views.c``, the lower bound for messages with memoryviews as records."""

from __future__ import annotations

import ctypes
import sysconfig
from pathlib import Path

from benchmarks.contenders.c_loop import compile_loops
from benchmarks.harness.statement import Statement

BUILDS = "the memoryviews of a message, and nothing else"
CHECKS = "none"

_SOURCE = Path(__file__).parent / "c" / "c_views.c"
_FIELDS = 100
"""Number of ``records`` fields in the ``zero_copy`` messages: 10 topics x 10
partitions.
"""
_ROUNDS = 20


def read_views() -> Statement:
    """Create and free ``_FIELDS`` memoryviews, as a message with views does."""
    flag = f"-I{sysconfig.get_path('include')}"
    make = compile_loops(_SOURCE, ctypes.PyDLL, flag).make_views
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.py_object, ctypes.c_long, ctypes.c_long)
    names = {"make": make, "view": memoryview(bytes(_FIELDS))}
    return Statement(f"make(view, {_FIELDS}, {_ROUNDS})", names, calls=_ROUNDS)
