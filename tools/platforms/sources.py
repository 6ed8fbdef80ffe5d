# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds CPythons that Debian has no packages of, from Debian's source of CPython.

Those are the free-threaded one, that one with ThreadSanitizer, and one for musl.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from roots import WORK, find_mirror, install_missing, run

# Debian 13 has the source of this version.
VERSION = "3.13"
BUILDS = {
    "3.13t": ["--disable-gil"],
    "3.13t-sanitized": ["--disable-gil", "--with-thread-sanitizer"],
    "3.13-musl": ["CC=musl-gcc"],
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
    options = list(BUILDS[name])
    if name.endswith("musl"):
        install_missing({"musl-gcc": "musl-tools"})
        options += build_zlib(download("zlib", work / "apt-zlib"))
    source = download(f"python{VERSION}", work / "apt")
    run(
        *(source / "configure", "--quiet", f"--prefix={place}", "--without-ensurepip"),
        *("--disable-test-modules", "CFLAGS=-O1", *options),
        cwd=work,
    )
    run("make", "--quiet", f"--jobs={os.cpu_count()}", cwd=work)
    run("make", "--quiet", "install", cwd=work)
    shutil.copy(source / SUPPRESSIONS, place)
    shutil.rmtree(work)
    return program


def build_zlib(source: Path) -> list[str]:
    """Compile zlib for musl; return the options of CPython's configure that name it."""
    run("env", "CC=musl-gcc", "CFLAGS=-fPIC -O1", "./configure", "--static", cwd=source)
    run("make", "--quiet", "libz.a", cwd=source)
    return [f"ZLIB_CFLAGS=-I{source}", f"ZLIB_LIBS={source}/libz.a"]
