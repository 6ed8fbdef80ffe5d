# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the compiled engine; everything else is in pyproject.toml.

Switches, by environment variable: ``KWIRE_BUILD_PURE=1`` builds no extension,
``KWIRE_BUILD_DEBUG=1`` builds with -O0, assertions and line tracing,
``KWIRE_BUILD_SANITIZE=1`` with the address and undefined-behaviour sanitizers. A
failed C build is an error, never a silent fall-back.
"""

from __future__ import annotations

import glob
import os
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


def is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


DEBUG = is_set("KWIRE_BUILD_DEBUG")
SANITIZE = is_set("KWIRE_BUILD_SANITIZE")


class BuildEngine(build_ext):
    """Compiles the engine, and says in one line what to do where that fails."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            raise SystemExit(
                f"kwire: the C build failed ({error}). Install a C compiler and the "
                "headers of Python, or set KWIRE_BUILD_PURE=1 for the engine in plain "
                "Python."
            ) from None


def extensions() -> list[Extension]:
    from Cython.Build import cythonize

    flags, links = ["/O2"] if sys.platform == "win32" else [], []
    if sys.platform != "win32":
        flags = ["-O0" if DEBUG else "-O3", "-g3" if DEBUG else "-g0"]
        flags += ["-fno-strict-aliasing", "-fvisibility=hidden"]
        # Calls into Python go through the table of addresses, not through a stub.
        flags += ["-fno-plt"] if sys.platform == "linux" else []
    if SANITIZE:
        links = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        flags += [*links, "-g", "-fno-omit-frame-pointer"]
    modules = [
        Extension(
            source.removeprefix("src/").removesuffix(".pyx").replace("/", "."),
            [source],
            include_dirs=["src/kwire/_fast"],
            depends=glob.glob("src/kwire/_fast/*.h"),
            extra_compile_args=flags,
            extra_link_args=links,
            define_macros=[("CYTHON_TRACE", "1")] if DEBUG else [],
        )
        for source in sorted(glob.glob("src/kwire/_fast/*.pyx"))
    ]
    directives = {
        "language_level": 3,
        "boundscheck": False,
        "wraparound": False,
        "cdivision": True,
        "initializedcheck": False,
        "embedsignature": False,
        "freethreading_compatible": True,
        "linetrace": DEBUG,
        "warn.unused": True,
    }
    return cythonize(
        modules,
        compiler_directives=directives,
        build_dir="build/cython",
        quiet=True,
    )


setup(
    ext_modules=[] if is_set("KWIRE_BUILD_PURE") else extensions(),
    cmdclass={"build_ext": BuildEngine},
)
