# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What other Pythons than CPython lack, so that tests that need it skip by a reason.

PyPy counts no references and traces no memory, and WebAssembly has no processes and no
threads. A test of the codec that needs none of them runs there as everywhere.
"""

import gc
import importlib.util
import subprocess
import sys
import threading
from types import ModuleType

import pytest


class Untraced(ModuleType):
    """A ``tracemalloc`` that skips the test that uses it."""

    def __getattr__(self, name):
        pytest.skip("this Python traces no memory")


def skip_for(reason):
    """Make a function that skips the test that calls it."""

    def skip(*arguments, **named):
        pytest.skip(reason)

    return skip


def replace_missing():
    """Put what skips a test, or does nothing, where this Python has nothing."""
    if not hasattr(gc, "freeze"):
        # It saves time and changes no result.
        gc.freeze = gc.unfreeze = lambda: None
    if not hasattr(sys, "getrefcount"):
        sys.getrefcount = skip_for("this Python counts no references")
    if importlib.util.find_spec("_tracemalloc") is None:
        sys.modules["tracemalloc"] = Untraced("tracemalloc")
    if sys.platform == "emscripten":
        subprocess.Popen.__init__ = skip_for("WebAssembly has no processes")
        threading.Thread.start = skip_for("WebAssembly has no threads")
