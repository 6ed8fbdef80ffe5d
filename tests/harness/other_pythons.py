# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Replaces features that other Python implementations lack, so that tests skip.

PyPy has neither reference counts nor tracemalloc. WebAssembly has neither processes nor
threads. A test that uses a missing feature is skipped with a reason. All other codec
tests run as they do on CPython.
"""

import gc
import importlib.util
import subprocess
import sys
import threading
from types import ModuleType

import pytest


class Untraced(ModuleType):
    """Replacement for ``tracemalloc``. Using an attribute skips the current test."""

    def __getattr__(self, name):
        pytest.skip("this Python traces no memory")


def skip_for(reason):
    """Return a function that skips the current test when it is called."""

    def skip(*arguments, **named):
        pytest.skip(reason)

    return skip


def replace_missing():
    """Replace features that this Python lacks.

    The replacements skip the current test or, if tests do not depend on the feature, do
    nothing.
    """
    if not hasattr(gc, "freeze"):
        # gc.freeze only saves time, so tests do not depend on it.
        gc.freeze = gc.unfreeze = lambda: None
    if not hasattr(sys, "getrefcount"):
        sys.getrefcount = skip_for("this Python counts no references")
    if importlib.util.find_spec("_tracemalloc") is None:
        sys.modules["tracemalloc"] = Untraced("tracemalloc")
    if sys.platform == "emscripten":
        subprocess.Popen.__init__ = skip_for("WebAssembly has no processes")
        threading.Thread.start = skip_for("WebAssembly has no threads")
