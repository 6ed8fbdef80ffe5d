# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Build CPython variants that Debian does not package, from Debian's CPython source.

The variants are free-threaded builds, one of them with ThreadSanitizer, and a build
with musl as its C library, including the required libraries.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from tools.platforms.roots import (
    WORK,
    find_mirror,
    install_missing,
    run,
    write_launcher,
)


class Build(NamedTuple):
    """Configuration of a CPython build.

    * ``suite``: Debian suite that contains the source.
    * ``options``: options of the configure script.
    * ``is_musl``: use musl as the C library.
    """

    suite: str
    options: tuple[str, ...] = ()
    is_musl: bool = False


FREE = ("--disable-gil",)
BUILDS = {
    "3.13t": Build("trixie", FREE),
    "3.13t-sanitized": Build("trixie", (*FREE, "--with-thread-sanitizer")),
    "3.13-musl": Build("trixie", is_musl=True),
}
MUSL = "usr/lib/x86_64-linux-musl"
# Libraries that CPython requires, with their configure options. musl-gcc cannot use the
# libraries of this machine.
MUSL_LIBRARIES = {
    "zlib": ("--static",),
    # Trampolines require kernel headers, which musl-gcc does not find.
    "libffi": (
        "--disable-shared",
        "--with-pic",
        "--disable-exec-static-tramp",
        "--disable-docs",
    ),
}
# Commands that build libffi, whose source has no configure script, and the packages
# that contain the commands.
MUSL_TOOLS = {
    "autoreconf": "autoconf",
    "automake": "automake",
    "libtoolize": "libtool",
    "pkg-config": "pkg-config",
    "ltdl.m4": "libltdl-dev",
}
# Data races inside CPython that its authors know and have listed.
SUPPRESSIONS = "Tools/tsan/suppressions_free_threading.txt"


def read_lists(suite: str, apt: Path) -> list[str]:
    """Configure apt for an additional suite, and download its package lists.

    Returns the options that make apt use this configuration.
    """
    for name in ("etc/preferences.d", "etc/apt.conf.d", "lists/partial", "dpkg"):
        (apt / name).mkdir(parents=True, exist_ok=True)
    repository = (
        "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg "
        f"check-valid-until=no] {find_mirror()} {suite} main"
    )
    lists = "".join(f"{kind} {repository}\n" for kind in ("deb", "deb-src"))
    (apt / "etc/sources.list").write_text(lists)
    (apt / "dpkg/status").touch()
    options = [
        f"-oDir::Etc={apt}/etc",
        f"-oDir::State={apt}",
        f"-oDir::State::status={apt}/dpkg/status",
        f"-oDir::Cache={apt}/cache",
        "-oAPT::Sandbox::User=root",
    ]
    run("apt-get", *options, "--quiet", "update")
    return options


def download(package: str, suite: str, apt: Path) -> Path:
    """Download and unpack the Debian source of a package. Returns its directory."""
    options = read_lists(suite, apt)
    # Omit Debian's patches, which can be newer than the index of a mirror.
    run("apt-get", *options, "source", "--tar-only", package, cwd=apt)
    (archive,) = apt.glob(f"{package}_*.orig.tar.*z")
    source = apt / package
    source.mkdir()
    run("tar", "--extract", "--strip=1", "--file", archive, "--directory", source)
    return source


def download_musl(suite: str, apt: Path, folder: Path) -> None:
    """Unpack musl, and write ``musl-gcc``, which compiles with it.

    musl is not installed, because Java libraries assume that a machine with the musl
    loader has no other C library. The musl version in Debian 12 is too old for current
    wheels.
    """
    run("apt-get", *read_lists(suite, apt), "download", "musl", "musl-dev", cwd=apt)
    root = folder / "musl"
    root.mkdir(parents=True, exist_ok=True)
    for archive in apt.glob("musl*.deb"):
        run("dpkg-deb", "--extract", archive, root)
    specs = root / MUSL / "musl-gcc.specs"
    text = specs.read_text().replace("/lib/ld-musl-x86_64.so.1", f"/{MUSL}/libc.so")
    specs.write_text(text.replace("/usr/", f"{root}/usr/"))
    # CPython's configure rejects a compiler that reports a different platform than
    # configure detects.
    write_launcher(
        folder / "musl-gcc",
        'test "$1" = --print-multiarch && exec echo x86_64-linux-musl\n'
        f'exec gcc "$@" -specs {specs}',
    )


def build_musl_libraries(suite: str, work: Path, compiler: Path) -> list[str]:
    """Compile the libraries of ``MUSL_LIBRARIES``.

    Returns the options that make CPython's configure script use them.
    """
    install_missing(MUSL_TOOLS)
    folder = work / "libraries"
    for package, options in MUSL_LIBRARIES.items():
        source = download(package, suite, work / "apt")
        configure = source / "configure"
        if not configure.exists():
            run("autoreconf", "--install", cwd=source)
        variables = (f"CC={compiler}", "CFLAGS=-O1 -fPIC")
        run("env", *variables, configure, f"--prefix={folder}", *options, cwd=source)
        run("make", "--quiet", "install", cwd=source)
    return [f"CC={compiler}", f"PKG_CONFIG_LIBDIR={folder}/lib/pkgconfig"]


def build(name: str) -> Path:
    """Compile a variant from ``BUILDS`` if it is missing. Returns its executable."""
    folder = WORK / "pythons" / name
    version, _, _ = name.partition("-")
    program = folder / "bin" / f"python{version}"
    if program.exists():
        return program
    how = BUILDS[name]
    work = folder.with_name(f"{name}-build")
    shutil.rmtree(work, ignore_errors=True)
    libraries = []
    if how.is_musl:
        download_musl(how.suite, work / "apt", folder)
        libraries = build_musl_libraries(how.suite, work, folder / "musl-gcc")
    source = download(f"python{version.rstrip('t')}", how.suite, work / "apt")
    run(
        source / "configure",
        "--quiet",
        f"--prefix={folder}",
        "--without-ensurepip",
        "--disable-test-modules",
        "CFLAGS=-O1",
        *libraries,
        *how.options,
        cwd=work,
    )
    run("make", "--quiet", f"--jobs={os.cpu_count()}", cwd=work)
    # Compile only imported modules to bytecode. With the sanitizer, compiling all
    # modules takes several minutes.
    run("make", "--quiet", "install", "COMPILEALL_OPTS=-l", cwd=work)
    shutil.copy(source / SUPPRESSIONS, folder)
    shutil.rmtree(work)
    return program
