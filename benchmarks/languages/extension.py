# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Size of the compiled engine by section and by symbol kind.

Requires ``nm``, ``size`` and ``strip``, which are installed together with a C compiler.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

SECTIONS = {
    "code": (".text", ".init", ".fini", ".plt", ".plt.got", ".plt.sec"),
    "constants, strings and docstrings": (".rodata",),
    "tables for unwinding": (".eh_frame", ".eh_frame_hdr"),
    "names and relocations": (
        ".dynsym",
        ".dynstr",
        ".rela.dyn",
        ".rela.plt",
        ".gnu.hash",
        ".gnu.version",
        ".gnu.version_r",
        ".dynamic",
        ".got",
        ".got.plt",
    ),
    "data": (".data", ".data.rel.ro", ".init_array", ".fini_array", ".tbss", ".tdata"),
    "debug information": (),
}
"""Object file sections by their content. Debug information is in ``.debug_*``."""

SYMBOLS = (
    ("pickling of classes, by Cython", r"(reduce|setstate)_cython|__pyx_unpickle"),
    (
        "set-up of modules",
        r"pymod_exec|PyInit|pyx_mstate|CreateString|Constants",
    ),
    ("Cython's own helpers", r"__Pyx"),
    ("kwire", r"."),
)
"""Function kinds with a pattern for the symbol name.

The first matching pattern counts.
"""


def find_modules() -> list[Path]:
    """Return the paths of the extension modules of the installed engine."""
    spec = importlib.util.find_spec("kwire._engine.fast")
    assert spec is not None and spec.origin is not None
    return sorted(Path(spec.origin).parent.glob("*.so"))


def read_sections(text: str) -> Counter[str]:
    """Return the total size of the sections in the output of ``size -A`` by kind."""
    kinds = {name: kind for kind, names in SECTIONS.items() for name in names}
    sizes: Counter[str] = Counter()
    for name, size in re.findall(r"^(\.\S+)\s+(\d+)\s", text, re.MULTILINE):
        if name != ".bss":
            kind = "debug information" if name.startswith(".debug") else "other"
            sizes[kinds.get(name, kind)] += int(size)
    return sizes


def read_symbols(text: str) -> Counter[str]:
    """Return the total size of the functions in the output of ``nm -S``, by kind."""
    sizes: Counter[str] = Counter()
    for size, name in re.findall(r"^\S+ (\S+) [tT] (\S+)$", text, re.MULTILINE):
        kind = next(kind for kind, pattern in SYMBOLS if re.search(pattern, name))
        sizes[kind] += int(size, 16)
    return sizes


def measure() -> dict[str, Any]:
    """Return the sizes of the installed engine's sections and symbols in bytes."""
    modules = find_modules()
    sections: Counter[str] = Counter()
    symbols: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for module in modules:
            sections += read_sections(_print("size", "-A", str(module)))
            symbols += read_symbols(_print("nm", "-S", str(module)))
            shutil.copy(module, folder)
        copies = [str(each) for each in Path(folder).iterdir()]
        _print("strip", "--strip-all", *copies)
        contents = [Path(each).read_bytes() for each in copies]
    return {
        "modules": len(modules),
        "bytes": sum(module.stat().st_size for module in modules),
        "stripped": sum(map(len, contents)),
        "compressed": sum(len(zlib.compress(each)) for each in contents),
        "sections": dict(sections.most_common()),
        "functions": dict(symbols.most_common()),
    }


def _print(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
