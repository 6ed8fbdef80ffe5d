# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Starts pytest in Pyodide, which is CPython for WebAssembly, under Node.js."""

from __future__ import annotations

from pathlib import Path

from tools.platforms.roots import WORK, run

VERSION = "314.0.7"


def prepare(tree: Path, packages: Path) -> list[str]:
    """Install Pyodide, once; return the command, which takes pytest's arguments."""
    place = WORK / "wasm"
    if not (place / "node_modules/pyodide").exists():
        place.mkdir(parents=True, exist_ok=True)
        run("npm", "install", "--silent", f"pyodide@{VERSION}", cwd=place)
    script = Path(__file__).with_name("wasm.mjs")
    return ["node", str(script), str(place), str(packages), str(tree)]
