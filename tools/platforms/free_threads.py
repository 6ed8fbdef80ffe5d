# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds a free-threaded CPython from Debian's source, as Debian has none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from roots import WORK, find_mirror, run


def unpack_source(version: str, apt: Path) -> Path:
    """Unpack Debian's source of a version, with lists of apt beside the machine's."""
    for name in ("etc/preferences.d", "etc/apt.conf.d", "lists/partial", "dpkg"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    # Debian 13 has the source of 3.13.
    (apt / "etc/sources.list").write_text(
        "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg "
        f"check-valid-until=no] {find_mirror()} trixie main\n"
    )
    (apt / "dpkg/status").touch()
    options = [
        f"-oDir::Etc={apt}/etc",
        f"-oDir::State={apt}",
        f"-oDir::State::status={apt}/dpkg/status",
        f"-oDir::Cache={apt}/cache",
        "-oAPT::Sandbox::User=root",
    ]
    run("apt-get", *options, "--quiet", "update")
    run("apt-get", *options, "source", "--download-only", f"python{version}", cwd=apt)
    (archive,) = apt.glob("*.orig.tar.xz")
    run("tar", "--extract", "--file", archive, "--directory", apt)
    return next(path for path in apt.glob("Python-*") if path.is_dir())


def build(version: str, *options: str) -> Path:
    """Compile the free-threaded CPython of a version (``3.13t``), once."""
    place = WORK / "pythons" / (version + "".join(options))
    program = place / "bin" / f"python{version}"
    if program.exists():
        return program
    work = place.with_name(place.name + "-build")
    shutil.rmtree(work, ignore_errors=True)
    source = unpack_source(version.removesuffix("t"), work / "apt")
    run(
        *(source / "configure", "--quiet", "--disable-gil", f"--prefix={place}"),
        *("--without-ensurepip", "--disable-test-modules", "CFLAGS=-O1", *options),
        cwd=work,
    )
    run("make", "--quiet", f"--jobs={os.cpu_count()}", cwd=work)
    run("make", "--quiet", "install", cwd=work)
    shutil.rmtree(work)
    return program
