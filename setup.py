# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the compiled engine; everything else is in pyproject.toml.

Environment variables choose another build: ``KWIRE_BUILD_PURE=1`` compiles nothing,
``KWIRE_BUILD_DEBUG=1`` compiles with -O0, assertions and line tracing,
``KWIRE_BUILD_SANITIZE=1`` with the address and undefined-behaviour sanitizers,
``KWIRE_BUILD_QUICK=1`` with little optimisation, for an engine that is run once. A
failed C build is an error, never a silent fall-back.
"""

from __future__ import annotations

import glob
import os
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

sys.path.insert(0, ".")  # build backends leave it out
from tools.release.software_bill import BuildWheel

PURE, DEBUG, SANITIZE, QUICK = (
    os.environ.get(f"KWIRE_BUILD_{name}", "") not in ("", "0")
    for name in ("PURE", "DEBUG", "SANITIZE", "QUICK")
)


class BuildEngine(build_ext):
    """Compile the engine; if that fails, report what to do in one line."""

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
    """Choose the flags of the compiler and of the linker."""
    if sys.platform == "win32":
        return ["/O2"], []
    level = "-O0" if DEBUG else "-O1" if QUICK or SANITIZE else "-O3"
    flags = [level, "-g3" if DEBUG else "-g0"]
    flags += ["-fno-strict-aliasing", "-fvisibility=hidden"]
    # Calls into Python go through the table of addresses, not through a stub.
    flags += ["-fno-plt"] if sys.platform == "linux" else []
    if not SANITIZE:
        return flags, []
    links = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    # Python's own flags make signed overflow defined, and so unseen.
    return [*flags, *links, "-g", "-fno-omit-frame-pointer", "-fno-wrapv"], links


def make_extensions() -> list[Extension]:
    """Make the C of the engine and list its extension modules."""
    from Cython.Build import cythonize

    flags, links = choose_flags()
    modules = [
        Extension(
            source.removeprefix("src/").removesuffix(".pyx").replace("/", "."),
            [source],
            include_dirs=["src/kwire/_engine/fast"],
            # This file as well: it has the flags.
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
