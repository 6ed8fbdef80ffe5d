# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""CPython for Windows in wine, with the required compiler and linker options.

CPython is downloaded as a Maven artifact that includes its headers. wine 8 does not
implement all Windows functions. Missing functions are implemented here, or an older
library version is selected that does not require them.
"""

from __future__ import annotations

import shlex
import shutil
import zipfile
from pathlib import Path

from tools.platforms.roots import WORK, install_missing, run, write_launcher

VERSION = "3.11"
ARTIFACT = "org.bytedeco:cpython:3.11.3-1.5.9:jar:windows-x86_64"
GET = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
COMPILER = "x86_64-w64-mingw32-gcc"
TOOLS = {
    "mvn": "maven",
    "wine": "wine wine64",
    COMPILER: "gcc-mingw-w64-x86-64-win32",
}
PLACE = WORK / "windows"
PYTHON = PLACE / "org/bytedeco/cpython/windows-x86_64"
HEADERS = PYTHON / "include"
# Link with the C library that CPython uses. The default of mingw-w64 is older.
DEFINED = ("-DMS_WIN64", "-D_UCRT")
LIBRARIES = (
    "-nodefaultlibs",
    "-lmingw32",
    "-lgcc",
    "-lmoldname",
    "-lmingwex",
    "-lucrt",
    "-lkernel32",
    str(PYTHON / "python311.dll"),
)
# wine does not implement the functions for complex numbers that numpy 2 calls.
NUMPY = "numpy<2"
# Rust calls ProcessPrng to obtain random bytes. wine only provides the older
# SystemFunction036.
RANDOM = """
__declspec(dllimport) unsigned char SystemFunction036(void *, unsigned long);
__declspec(dllexport) int ProcessPrng(unsigned char *data, unsigned long long size)
{
    return SystemFunction036(data, (unsigned long)size);
}
"""


def prepare() -> Path:
    """Unpack CPython for Windows if it is missing. Returns its launcher."""
    install_missing(TOOLS)
    if not (PLACE / ".complete").exists():
        shutil.rmtree(PLACE, ignore_errors=True)
        PLACE.mkdir(parents=True)
        output_option = f"-DoutputDirectory={PLACE}"
        run("mvn", "-q", "-B", GET, f"-Dartifact={ARTIFACT}", output_option)
        (archive,) = PLACE.glob("*.jar")
        with zipfile.ZipFile(archive) as jar:
            jar.extractall(PLACE)
        # wine searches for a library in the directory of the executable.
        for library in (PYTHON / "lib").glob("vcruntime140*.dll"):
            shutil.copy2(library, PYTHON)
        source = PLACE / "random.c"
        source.write_text(RANDOM)
        options = ("-shared", "-nostdlib", "-Wl,--entry=0", "-o")
        library = PYTHON / "bcryptprimitives.dll"
        run(COMPILER, source, *options, library, "-ladvapi32")
        (PLACE / ".complete").touch()
    # In wine, CPython cannot write its output to a file, only to a pipe.
    command = f'wine {PYTHON / "python.exe"} "$@" 2>&1 </dev/null | cat'
    return write_launcher(
        WORK / "launchers/windows",
        f"export WINEPREFIX={PLACE / 'prefix'} WINEDEBUG=-all\n"
        "export WINEDLLOVERRIDES=mscoree,mshtml=\n"
        f'exec bash -o pipefail -c {shlex.quote(command)} bash "$@"',
    )


def join_paths(paths: list[Path]) -> str:
    """Format paths for Windows.

    In wine, drive Z: is the root directory of this machine.
    """
    return ";".join("Z:" + str(path).replace("/", "\\") for path in paths)
