# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the test files for ``make quick`` by their imports.

``pytest --quick`` collects the directories in ``FOLDERS``. It skips a file that
imports, directly or through other files in this repository, a library outside the
dependency group ``quick``. A new test in these directories therefore runs
automatically, unless it requires a peer implementation or has the marker ``slow``.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
FOLDERS = {"engine", "messages", "records", "schema"}
OURS = {"kwire", "kwire_pure"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options ``--quick`` and ``--without``, which ``make quick`` uses."""
    parser.addoption("--quick", action="store_true", help="run the files of make quick")
    parser.addoption(
        "--without",
        default="",
        metavar="NAMES",
        help="with --quick: leave out what imports these libraries (a,b)",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files and directories outside ``make quick``."""
    if not config.getoption("--quick"):
        return None
    without = frozenset(config.getoption("--without").split(","))
    return is_left_out(collection_path, without) or None


def is_left_out(path: Path, without: frozenset[str] = frozenset()) -> bool:
    """Return whether ``make quick`` skips a test file or a directory.

    ``without`` contains libraries of the dependency group ``quick`` that have no wheel
    for this machine.
    """
    if path.parent == TESTS:
        return path.name not in FOLDERS
    return path.suffix == ".py" and find_heavy_import(path, without) is not None


def find_requirements(group: str) -> Iterator[str]:
    """Yield the distribution names of a dependency group, including nested groups."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    for requirement in groups[group]:
        if isinstance(requirement, dict):
            yield from find_requirements(requirement["include-group"])
        else:
            yield re.split(r"[^\w-]", requirement, maxsplit=1)[0]


@functools.cache
def find_light_modules() -> frozenset[str]:
    """Return the top-level modules that quick tests may import.

    Files of this repository are allowed in addition. A module whose name differs from
    its distribution counts as not allowed.
    """
    return frozenset({*sys.stdlib_module_names, *find_requirements("quick"), *OURS})


@functools.cache
def find_heavy_import(file: Path, without: frozenset[str] = frozenset()) -> str | None:
    """Return the first import of a file that is not available in the lane, or None."""
    light = find_light_modules() - without
    checked = {file}
    waiting = [file]
    for one in waiting:
        for name in _find_imports(one):
            if name.partition(".")[0] in light:
                continue
            local = _find_file(name, [one.parent, TESTS, ROOT])
            if local is None:
                return name
            if local not in checked:
                checked.add(local)
                waiting.append(local)
    return None


def _find_imports(file: Path) -> Iterable[str]:
    """Yield the modules that a file imports, including imports inside functions."""
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            # An imported name may be a submodule, so yield the complete dotted name.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _find_file(name: str, folders: list[Path]) -> Path | None:
    """Return the file of this repository that a dotted name refers to, or None."""
    for folder in folders:
        parts = name.split(".")
        while parts:
            path = folder.joinpath(*parts)
            for file in (path.with_suffix(".py"), path / "__init__.py"):
                if file.is_file():
                    return file
            parts.pop()
    return None
