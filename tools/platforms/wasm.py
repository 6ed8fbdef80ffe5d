# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run pytest in Pyodide (CPython for WebAssembly) with Node.js."""

from __future__ import annotations

from pathlib import Path

from tools.platforms.roots import WORK, run

VERSION = "314.0.7"


def prepare(tree: Path, packages: Path) -> list[str]:
    """Install Pyodide if it is missing.

    Returns the command that runs pytest in Pyodide and accepts pytest's arguments.
    """
    folder = WORK / "wasm"
    if not (folder / "node_modules/pyodide").exists():
        folder.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--silent", f"pyodide@{VERSION}", cwd=folder)
    script = Path(__file__).with_name("wasm.mjs")
    return ["node", str(script), str(folder), str(packages), str(tree)]
