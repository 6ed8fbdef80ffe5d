# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run ``c_messages.c``: C decoders that are specialized for a single message.

They are the lower bounds for messages as objects. Their input is encoded by kwire.
"""

from __future__ import annotations

import ctypes
import functools
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.contenders import kwire
from benchmarks.contenders.c_loop import compile_loops
from benchmarks.harness.statement import Statement
from benchmarks.workloads.messages import Workload, neutral

BUILDS = "objects with a slot for each field of the version, tuples"
CHECKS = "bounds, counts against remaining bytes, UTF-8, all bytes used"

#: Workloads that have a specialized decoder, ordered like ``methods`` in the C file.
DECODED = ("offset_fetch_v8", "metadata_v9_ids")

_SOURCE = Path(__file__).parent / "c" / "c_messages.c"

build = kwire.build
encode = kwire.encode


@functools.cache
def _load_decoders() -> dict[str, Callable[[bytes], Any]]:
    """Compile the decoders once per process. Returns the decoder of each message."""
    flag = f"-I{sysconfig.get_path('include')}"
    library = compile_loops(_SOURCE, ctypes.PyDLL, flag)
    library.prepare.restype = ctypes.py_object
    library.prepare()
    library.function_of.restype = ctypes.py_object
    decoders = [library.function_of(index) for index in range(len(DECODED))]
    return dict(zip(("OffsetFetchResponse", "MetadataResponse"), decoders, strict=True))


def values(workload: Workload, message: Any) -> Any:
    """Return the values of a decoded message in the form of the workload."""
    return neutral(message, workload.values)


def decode(workload: Workload, data: bytes) -> Statement:
    """Decode a message with its specialized C function."""
    names = {"decode": _load_decoders()[workload.message], "data": data}
    return Statement("decode(data)", names)
