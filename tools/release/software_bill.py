# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Add a software bill of materials to wheels, in ``.dist-info/sboms`` (PEP 770).

kwire bundles no libraries. The bill lists the compiler, Cython, and the Kafka release
that the message definitions were imported from. ``setup.py`` builds wheels with
``BuildWheel``.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

from setuptools.command.bdist_wheel import bdist_wheel  # type: ignore[import-untyped]

from tools import ROOT


class BuildWheel(bdist_wheel):  # type: ignore[misc]
    """Command of setuptools that builds a wheel with a bill of materials."""

    def write_wheelfile(self, wheelfile_base: str, *args: str, **named: str) -> None:
        """Write the file WHEEL as setuptools does, and the bill of materials."""
        super().write_wheelfile(wheelfile_base, *args, **named)
        folder = Path(wheelfile_base, "sboms")
        folder.mkdir()
        tools = list_build_tools() if self.distribution.ext_modules else []
        bill = make_bill(self.distribution.get_version(), tools)
        text = json.dumps(bill, indent=2) + "\n"
        (folder / "kwire.cdx.json").write_text(text, encoding="utf-8")


def list_build_tools() -> list[dict[str, str]]:
    """Return the CycloneDX components of the tools that compile the engine."""
    return [
        {
            "type": "application",
            "name": "Cython",
            "version": metadata.version("Cython"),
        },
        {"type": "application", "name": "C compiler", "version": find_compiler()},
    ]


def find_compiler() -> str:
    """Return the first line that the C compiler prints for ``--version``."""
    if sys.platform == "win32":
        return platform.python_compiler()
    command = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC"))
    done = subprocess.run(
        [command[0], "--version"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[0]


def make_bill(version: str, tools: list[dict[str, str]]) -> dict[str, object]:
    """Return the bill of materials in CycloneDX format.

    ``tools`` contains the components of the build tools.
    """
    facts = ROOT / "src" / "kwire" / "schema" / "facts" / "releases.txt"
    text = facts.read_text(encoding="utf-8")
    newest = re.findall(r"^release (\S+)", text, re.MULTILINE)[-1]
    licenses = [{"license": {"id": "Apache-2.0"}}]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": tools},
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
