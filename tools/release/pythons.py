# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Find installed CPythons that support kwire, and create virtual environments."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tools import ROOT

OLDEST = (3, 11)

ASK = (
    "import sys, sysconfig; v = sys.version_info; print(sys.implementation.name, "
    "v.major, v.minor, sysconfig.get_config_var('Py_DEBUG') or 0, "
    "'%d.%d.%d' % v[:3], 'cp%d%d%s' % (*v[:2], sys.abiflags), sys.base_prefix)"
)


class Python(NamedTuple):
    """Installed CPython.

    * ``tag``: tag of its wheels, for example "cp312-cp312".
    * ``prefix``: directory of the installation.
    """

    path: Path
    version: str
    tag: str
    prefix: str

    def __str__(self) -> str:
        return f"{self.version} ({'system' if self.prefix == '/usr' else 'own'})"


def candidates() -> Iterator[Path]:
    """Yield executables named python3.N from PATH and from pyenv's directories."""
    folders = [Path(name) for name in os.environ.get("PATH", "").split(os.pathsep)]
    folders += sorted(Path.home().glob(".pyenv/versions/*/bin"))
    for folder in folders:
        for path in sorted(folder.glob("python3.*")):
            if re.fullmatch(r"python3\.\d+t?", path.name):
                yield path


def pythons() -> list[Python]:
    """Return each CPython from 3.11 on once, oldest first.

    Debug builds are omitted.
    """
    pythons_by_tag: dict[tuple[str, str], Python] = {}
    for path in candidates():
        done = subprocess.run(
            [path, "-I", "-c", ASK], capture_output=True, text=True, check=False
        )
        # A pyenv command fails if its Python version is not selected.
        if done.returncode:
            continue
        name, major, minor, debug, version, tag, prefix = done.stdout.split(maxsplit=6)
        if name != "cpython" or (int(major), int(minor)) < OLDEST or int(debug):
            continue
        prefix = os.path.realpath(prefix.strip())
        pythons_by_tag.setdefault((tag, prefix), Python(path, version, tag, prefix))
    return sorted(
        pythons_by_tag.values(), key=lambda one: [*map(int, one.version.split("."))]
    )


def environment(python: Python, folder: Path) -> Path:
    """Create an empty virtual environment in ``folder``. Returns its interpreter."""
    run([python.path, "-m", "venv", "--without-pip", folder])
    return folder / "bin" / "python"


def install(python: Path, *what: str | Path) -> None:
    """Install packages into an environment, with the pinned versions of the project."""
    pins = ROOT / "constraints.txt"
    run([*pip(python), "install", "--quiet", "--constraint", pins, *what])


def pip(python: Path) -> list[str]:
    """Return a command prefix that runs this process's pip for another environment."""
    begin = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    return [*begin, "--python", str(python)]


def run(
    command: Sequence[str | Path],
    folder: Path | None = None,
    environment: dict[str, str] | None = None,
) -> str:
    """Run a command in ``folder``. Returns its output.

    If the command fails, the program exits with the complete output. ``environment``
    contains additional environment variables.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        line = " ".join(map(str, command))
        sys.exit(f"{done.stdout}\n{line}\nfailed with exit code {done.returncode}")
    return done.stdout


def epoch() -> str:
    """Return the timestamp of all files in a release, in seconds.

    It is ``SOURCE_DATE_EPOCH``, or the time of the last commit if that is not set.
    """
    said = os.environ.get("SOURCE_DATE_EPOCH")
    return said or run(["git", "log", "-1", "--format=%ct"], ROOT).strip()
