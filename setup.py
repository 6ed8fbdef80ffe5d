# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the compiled engine; everything else is in pyproject.toml.

Switches, by environment variable: ``KWIRE_BUILD_PURE=1`` builds no extension,
``KWIRE_BUILD_DEBUG=1`` builds with -O0, assertions and line tracing,
``KWIRE_BUILD_SANITIZE=1`` with the address and undefined-behaviour sanitizers,
``KWIRE_BUILD_QUICK=1`` with little optimisation, for an engine that is run once. A
failed C build is an error, never a silent fall-back.

A wheel says what it was made of in ``.dist-info/sboms`` (PEP 770): kwire bundles
nothing, so there is the compiler, Cython, and where the messages' facts are from.
"""

from __future__ import annotations

import glob
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext


def is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


PURE = is_set("KWIRE_BUILD_PURE")
DEBUG = is_set("KWIRE_BUILD_DEBUG")
SANITIZE = is_set("KWIRE_BUILD_SANITIZE")
QUICK = is_set("KWIRE_BUILD_QUICK")


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


def compiler() -> str:
    """Name the C compiler in its own words."""
    if sys.platform == "win32":
        return platform.python_compiler()
    command = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC"))
    told = subprocess.run(
        [command[0], "--version"], capture_output=True, text=True, check=True
    )
    return told.stdout.splitlines()[0]


def build_tools() -> list[dict[str, str]]:
    """List what compiled this wheel: nothing, for one in plain Python."""
    if PURE:
        return []
    from Cython import __version__ as cython

    return [
        {"type": "application", "name": "Cython", "version": cython},
        {"type": "application", "name": "C compiler", "version": compiler()},
    ]


def software_bill(version: str) -> dict[str, object]:
    """Say what a wheel was made of, as CycloneDX has it."""
    facts = Path("src/kwire/schema/facts/releases.txt").read_text(encoding="utf-8")
    newest = re.findall(r"^release (\S+)", facts, re.MULTILINE)[-1]
    licenses = [{"license": {"id": "Apache-2.0"}}]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": build_tools()},
            "component": {
                "type": "library",
                "bom-ref": "kwire",
                "name": "kwire",
                "version": version,
                "purl": f"pkg:pypi/kwire@{version}",
                "licenses": licenses,
            },
        },
        "components": [
            {
                "type": "data",
                "bom-ref": "kafka-message-definitions",
                "name": "facts of Apache Kafka's message definitions",
                "version": newest,
                "licenses": licenses,
            }
        ],
        "dependencies": [
            {"ref": "kwire", "dependsOn": ["kafka-message-definitions"]},
            {"ref": "kafka-message-definitions"},
        ],
    }


class BuildWheel(bdist_wheel):
    """Puts the bill of what it was made of into the wheel."""

    def write_wheelfile(self, wheelfile_base: str, *args: str, **named: str) -> None:
        super().write_wheelfile(wheelfile_base, *args, **named)
        bills = Path(wheelfile_base, "sboms")
        bills.mkdir()
        text = json.dumps(software_bill(self.distribution.get_version()), indent=2)
        (bills / "kwire.cdx.json").write_text(text + "\n", encoding="utf-8")


def extensions() -> list[Extension]:
    from Cython.Build import cythonize

    flags, links = ["/O2"] if sys.platform == "win32" else [], []
    if sys.platform != "win32":
        level = "-O0" if DEBUG else "-O1" if QUICK or SANITIZE else "-O3"
        flags = [level, "-g3" if DEBUG else "-g0"]
        flags += ["-fno-strict-aliasing", "-fvisibility=hidden"]
        # Calls into Python go through the table of addresses, not through a stub.
        flags += ["-fno-plt"] if sys.platform == "linux" else []
    if SANITIZE:
        links = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        # Python's own flags make signed overflow defined, and so unseen.
        flags += [*links, "-g", "-fno-omit-frame-pointer", "-fno-wrapv"]
    modules = [
        Extension(
            source.removeprefix("src/").removesuffix(".pyx").replace("/", "."),
            [source],
            include_dirs=["src/kwire/_fast"],
            # This file as well: it has the flags.
            depends=[*glob.glob("src/kwire/_fast/*.h"), "setup.py"],
            extra_compile_args=flags,
            extra_link_args=links,
            define_macros=[("CYTHON_TRACE_NOGIL", "1")] if DEBUG else [],
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
    ext_modules=[] if PURE else extensions(),
    cmdclass={"build_ext": BuildEngine, "bdist_wheel": BuildWheel},
)
