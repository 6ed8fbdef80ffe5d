# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds CPythons that Debian has no packages of, from Debian's source of CPython.

Those are the free-threaded one, and that one with ThreadSanitizer.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from roots import WORK, find_mirror, run

# Debian 13 has the source of this version.
VERSION = "3.13"
BUILDS = {
    "3.13t": ["--disable-gil"],
    "3.13t-sanitized": ["--disable-gil", "--with-thread-sanitizer"],
}
# Reports of CPython itself that its authors know.
SUPPRESSIONS = "Tools/tsan/suppressions_free_threading.txt"


def download(package: str, apt: Path) -> Path:
    """Unpack Debian's source of a package, with lists of apt beside the machine's."""
    for name in ("etc/preferences.d", "etc/apt.conf.d", "lists/partial", "dpkg"):
        (apt / name).mkdir(parents=True, exist_ok=True)
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
    run("apt-get", *options, "source", "--download-only", package, cwd=apt)
    (archive,) = apt.glob(f"{package}_*.orig.tar.*z")
    source = apt / package
    source.mkdir()
    run("tar", "--extract", "--strip=1", "--file", archive, "--directory", source)
    return source


def build(name: str) -> Path:
    """Compile one of ``BUILDS``, once; return its program."""
    place = WORK / "pythons" / name
    program = place / "bin" / f"python{name.partition('-')[0]}"
    if program.exists():
        return program
    work = place.with_name(f"{name}-build")
    shutil.rmtree(work, ignore_errors=True)
    source = download(f"python{VERSION}", work / "apt")
    run(
        *(source / "configure", "--quiet", f"--prefix={place}", "--without-ensurepip"),
        *("--disable-test-modules", "CFLAGS=-O1", *BUILDS[name]),
        cwd=work,
    )
    run("make", "--quiet", f"--jobs={os.cpu_count()}", cwd=work)
    # All that Python would compile by itself takes the sanitized one minutes.
    run("make", "--quiet", "install", "COMPILEALL_OPTS=-l", cwd=work)
    shutil.copy(source / SUPPRESSIONS, place)
    shutil.rmtree(work)
    return program
