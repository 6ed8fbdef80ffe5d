# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the engine once, when imported: ``KWIRE_BACKEND=auto|fast|pure``.

``auto`` is the default. It selects the compiled engine if it has been built for this
platform, and the Python engine otherwise. With ``fast``, the import raises
``ImportError`` if there is no compiled engine. ``pure`` always selects the Python
engine.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .pure import engine as engine
    from .pure import record_engine as record_engine

_WANTED = os.environ.get("KWIRE_BACKEND", "auto")


def _choose() -> tuple[str, str]:
    if _WANTED not in ("auto", "fast", "pure"):
        raise ImportError(
            f"KWIRE_BACKEND must be auto, fast or pure (got {_WANTED!r}); change or"
            " unset it"
        )
    if _WANTED == "pure":
        return "pure", f"KWIRE_BACKEND={_WANTED}"
    try:
        __import__(f"{__package__}.fast.decoder")
    except ModuleNotFoundError as error:
        # If the extension was not built, use the Python engine. If it exists but one of
        # its own imports is missing, the installation is broken: re-raise the error.
        if error.name != f"{__package__}.fast.decoder":
            raise
    except ImportError as error:
        if "interpreter" not in str(error):
            raise
        # CPython 3.12 and newer refuse to load the extension in an isolated
        # subinterpreter, which has a GIL of its own.
        why = "another interpreter has loaded it"
        if "does not support loading in subinterpreters" in str(error):
            why = "this one is an isolated subinterpreter, which it does not support"
        raise ImportError(
            f"kwire's compiled engine works in one interpreter of a process, and {why};"
            " set KWIRE_BACKEND=pure before this one imports kwire"
        ) from error
    else:
        return "fast", "KWIRE_BACKEND=fast" if _WANTED == "fast" else "it is built"
    if _WANTED == "fast":
        raise ImportError(
            "KWIRE_BACKEND=fast, but this kwire has no compiled engine: install a wheel"
            " for this platform, or build one with a C compiler"
        )
    return "pure", "no compiled engine is built"


backend, reason = _choose()

if not TYPE_CHECKING:
    if backend == "fast":
        from .fast import engine as engine
    else:
        from .pure import engine as engine


def __getattr__(name: str) -> object:
    # Programs that only use messages do not need the record engine, so it is imported
    # on first access.
    if name != "record_engine":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    # Store the module in the globals, so that later accesses do not call __getattr__.
    found = import_module(f"{__package__}.{backend}.record_engine")
    globals()[name] = found
    return found
