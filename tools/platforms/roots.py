# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Debian root directories for other processors and Pythons, and their launchers.

mmdebstrap unpacks a root directory without executing its programs. If the native
processor is compatible, chroot runs its Python. Otherwise qemu-user runs it. This
module does not depend on kwire.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from tools import ROOT

WORK = ROOT / "build" / "platforms"
# Tests start subprocesses with ``sys.executable``. It must be the launcher, because the
# Python does not run without its launcher.
SITE = 'import os, sys\nsys.executable = os.environ["KWIRE_PLATFORM_PYTHON"]\n'


class Debian(NamedTuple):
    """Root directory with a Python of a Debian suite.

    * ``triplet``: name of the architecture in the paths of libraries.
    * ``numpy``: install Debian's numpy as well.
    * ``emulator``: qemu program that runs the Python, or "" to run it with chroot.
    """

    suite: str
    arch: str
    triplet: str
    python: str
    numpy: bool
    emulator: str = ""

    def path(self) -> Path:
        """Return the directory where the root is unpacked."""
        return WORK / "roots" / f"{self.arch}-{self.python}"

    def headers(self) -> list[Path]:
        """Return the directories with the headers of Python and of the C library."""
        include = self.path() / "usr/include"
        return [include / self.python, include]

    def packages(self) -> list[str]:
        """Return the Debian packages for Python, its headers and numpy."""
        if self.python.startswith("pypy"):
            return ["pypy3"]
        names = [self.python, f"lib{self.python}-dev", "libc6-dev"]
        # numpy's wheels require libstdc++. Debian's numpy package would install it.
        return [*names, "python3-numpy" if self.numpy else "libstdc++6"]


def run(*command: str | Path, cwd: Path | None = None) -> None:
    """Run a command. Raises ``CalledProcessError`` if it fails."""
    subprocess.run([str(each) for each in command], check=True, cwd=cwd)


def install_missing(tools: dict[str, str]) -> None:
    """Install the Debian packages of commands that are missing on this machine.

    ``tools`` maps each command to its packages, separated by spaces.
    """
    missing = [names for tool, names in tools.items() if shutil.which(tool) is None]
    if missing:
        packages = sorted({name for names in missing for name in names.split()})
        run("apt-get", "update", "--quiet")
        run("apt-get", "install", "--yes", "--no-install-recommends", *packages)


def find_mirror() -> str:
    """Return the Debian mirror that apt uses on this machine."""
    form = "$(LABEL) $(REPO_URI)"
    command = ["apt-get", "indextargets", "--format", form, "Created-By: Packages"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        label, _, address = line.rpartition(" ")
        if label == "Debian":
            return address
    raise SystemExit("apt has no lists of Debian's packages: run apt-get update")


def make_root(debian: Debian) -> None:
    """Unpack the Debian root unless it is already complete."""
    root = debian.path()
    if (root / ".complete").exists():
        return
    shutil.rmtree(root, ignore_errors=True)
    root.parent.mkdir(parents=True, exist_ok=True)
    run(
        "mmdebstrap",
        "--quiet",
        "--variant=extract",
        # A mirror may serve an index whose expiration date has passed.
        "--aptopt=Acquire::Check-Valid-Until false",
        f"--architectures={debian.arch}",
        f"--include={','.join(debian.packages())}",
        debian.suite,
        root,
        # Use only the main archive, because these tests do not need updates.
        f"deb {find_mirror()} {debian.suite} main",
    )
    # Debian's base-files package would create these links, but it is not installed.
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        if (root / "usr" / name).is_dir() and not (root / name).exists():
            (root / name).symlink_to(f"usr/{name}")
    # qemu would resolve an absolute link in the root directory of this machine, so make
    # the link relative.
    for link in root.glob("lib*/ld*.so*"):
        target = os.readlink(link)
        if target.startswith("/"):
            link.unlink()
            link.symlink_to(os.path.relpath(root / target[1:], link.parent))
    (root / ".complete").touch()


def write_launcher(script: Path, command: str) -> Path:
    """Write an executable shell script that runs a command. Returns its path."""
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"#!/bin/sh\n{command}\n")
    script.chmod(0o755)
    return script


def launch(debian: Debian) -> Path:
    """Write a script that starts the Python of a Debian root. Returns its path."""
    root = debian.path()
    script = WORK / "launchers" / root.name
    # qemu does not map all paths into the root directory, so specify the full path.
    prefix = root if debian.emulator else ""
    libraries = f"{prefix}/usr/lib/{debian.triplet}"
    path = ":".join(f"{libraries}{part}" for part in ("", "/blas", "/lapack"))
    name = "pypy3" if debian.python.startswith("pypy") else debian.python
    if debian.emulator:
        return write_launcher(
            script,
            f"PYTHONHOME={root}/usr exec {debian.emulator} -L {root} "
            f'-E LD_LIBRARY_PATH={path} {root}/usr/bin/{name} "$@"',
        )
    inside = " && ".join(
        [
            *(f"mount --rbind /{each} {root}/{each}" for each in ("proc", "dev")),
            f"mount --rbind {ROOT} {root}{ROOT}",
            f"export LC_ALL=C PYTHONUTF8=1 LD_LIBRARY_PATH={path}",
            f'exec unshare --root={root} --wd="$PWD" /usr/bin/{name} "$@"',
        ]
    )
    for each in ("proc", "dev", str(ROOT)[1:]):
        (root / each).mkdir(parents=True, exist_ok=True)
    return write_launcher(
        script, f'exec unshare --mount sh -c {shlex.quote(inside)} sh "$@"'
    )


def write_site() -> Path:
    """Write a ``sitecustomize`` module that sets ``sys.executable`` to the launcher.

    Returns the directory that contains the module.
    """
    site = WORK / "site"
    site.mkdir(parents=True, exist_ok=True)
    (site / "sitecustomize.py").write_text(SITE)
    return site
