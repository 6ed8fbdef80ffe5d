# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the compiled engine. All other settings are in pyproject.toml.

Environment variables select the type of build:

* ``KWIRE_BUILD_PURE=1``: compile nothing.
* ``KWIRE_BUILD_DEBUG=1``: compile with -O0, assertions and line tracing.
* ``KWIRE_BUILD_SANITIZE=1``: compile with the address and undefined-behaviour
  sanitizers.
* ``KWIRE_BUILD_QUICK=1``: compile with less optimisation, for an engine that only runs
  once.

If the C build fails, the installation fails. There is no automatic fallback to the
Python engine.
"""

from __future__ import annotations

import glob
import os
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, ".")  # build backends do not add the current directory
from tools.release.software_bill import BuildWheel

PURE, DEBUG, SANITIZE, QUICK = (
    os.environ.get(f"KWIRE_BUILD_{name}", "") not in ("", "0")
    for name in ("PURE", "DEBUG", "SANITIZE", "QUICK")
)


class BuildEngine(build_ext):
    """Compile the engine. If that fails, print a one-line error with a solution."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            raise SystemExit(
                f"kwire: the C build failed ({error}). Install a C compiler and the "
                "headers of Python, or set KWIRE_BUILD_PURE=1 for the engine in plain "
                "Python."
            ) from None


def choose_flags() -> tuple[list[str], list[str]]:
    """Return the flags for the compiler and for the linker."""
    if sys.platform == "win32":
        return ["/O2"], []
    level = "-O0" if DEBUG else "-O1" if QUICK or SANITIZE else "-O3"
    flags = [level, "-g3" if DEBUG else "-g0"]
    flags += ["-fno-strict-aliasing", "-fvisibility=hidden"]
    # Call functions of the interpreter through the global offset table, without the
    # additional jump through the procedure linkage table.
    flags += ["-fno-plt"] if sys.platform == "linux" else []
    if not SANITIZE:
        return flags, []
    links = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    # CPython's own flags contain -fwrapv. It defines signed overflow, so the sanitizer
    # would not report it.
    return [*flags, *links, "-g", "-fno-omit-frame-pointer", "-fno-wrapv"], links


def make_extensions() -> list[Extension]:
    """Generate the C code of the engine, and return its extension modules."""
    from Cython.Build import cythonize

    flags, links = choose_flags()
    modules = [
        Extension(
            source.removeprefix("src/").removesuffix(".pyx").replace("/", "."),
            [source],
            include_dirs=["src/kwire/_engine/fast"],
            # Compile the engine again if the flags in this file change.
            depends=[*glob.glob("src/kwire/_engine/fast/*.h"), "setup.py"],
            extra_compile_args=flags,
            extra_link_args=links,
            define_macros=[("CYTHON_TRACE_NOGIL", "1")] if DEBUG else [],
        )
        for source in sorted(glob.glob("src/kwire/_engine/fast/*.pyx"))
    ]
    directives = {
        "language_level": 3,
        "boundscheck": False,
        "wraparound": False,
        "cdivision": True,
        "initializedcheck": False,
        "embedsignature": False,
        "auto_pickle": False,
        "freethreading_compatible": True,
        "linetrace": DEBUG,
        "warn.unused": True,
    }
    return cythonize(
        modules, compiler_directives=directives, build_dir="build/cython", quiet=True
    )


setup(
    ext_modules=[] if PURE else make_extensions(),
    cmdclass={"build_ext": BuildEngine, "bdist_wheel": BuildWheel},
)
