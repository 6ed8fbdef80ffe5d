# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generate the table of exception classes in ``docs/reference/errors.md``.

The table is generated from the classes in ``src/kwire``, so that it is complete.

    python -m tools.generate.error_classes             check the table
    python -m tools.generate.error_classes --record    write the table
"""

from __future__ import annotations

import argparse
import ast
import builtins
import importlib
import sys
from collections.abc import Iterator
from typing import NamedTuple

from tools import ROOT

SOURCE = ROOT / "src" / "kwire"
PAGE = ROOT / "docs" / "reference" / "errors.md"
INTERNAL = {"kwire.records.compression.blocks"}
"""Modules whose exceptions are always handled inside kwire."""

PUBLIC_MODULES = {"kwire._files": "kwire.log"}
"""Public module from which the classes of a private module can be imported."""

HEAD = "| class | base | import from | meaning |\n|---|---|---|---|\n"


class ErrorClass(NamedTuple):
    """Exception class of kwire, as read from its source.

    * ``bases``: names of the base classes.
    * ``module``: module that defines the class.
    * ``meaning``: first sentence of the docstring.
    """

    name: str
    bases: tuple[str, ...]
    module: str
    meaning: str


def find_classes() -> dict[str, ErrorClass]:
    """Return all public exception classes by name, sorted by the path of their file."""
    defined = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        if module in INTERNAL or any(part.startswith("_") for part in parts[:-1]):
            continue
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                bases = tuple(ast.unparse(base) for base in node.bases)
                meaning = read_summary(ast.get_docstring(node) or "")
                defined[node.name] = ErrorClass(node.name, bases, module, meaning)
    return {name: each for name, each in defined.items() if is_error(name, defined)}


def is_error(name: str, defined: dict[str, ErrorClass]) -> bool:
    """Return whether a class is derived from ``BaseException``.

    ``defined`` contains kwire's classes. All other names are looked up in ``builtins``.
    """
    if name in defined:
        return any(is_error(base, defined) for base in defined[name].bases)
    builtin = getattr(builtins, name, None)
    return isinstance(builtin, type) and issubclass(builtin, BaseException)


def read_summary(text: str) -> str:
    """Return the first sentence of a docstring, without its full stop."""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return paragraph.split(". ")[0].removesuffix(".")


def order_classes(classes: dict[str, ErrorClass]) -> Iterator[ErrorClass]:
    """Yield every base class immediately before its subclasses.

    Subclasses of the same class are sorted by name.
    """

    def follow(name: str) -> Iterator[ErrorClass]:
        yield classes[name]
        for subclass in sorted(classes):
            if name == classes[subclass].bases[0]:
                yield from follow(subclass)

    # Roots are the classes that are not derived from another class of kwire.
    # ``KwireError`` is the first of them.
    roots = [name for name in classes if classes[name].bases[0] not in classes]
    for root in sorted(roots, key=lambda name: (name != "KwireError", name)):
        yield from follow(root)


def find_public_module(error_class: ErrorClass) -> str:
    """Return the shortest module name from which the class can be imported."""
    if error_class.module in PUBLIC_MODULES:
        return PUBLIC_MODULES[error_class.module]
    parts = error_class.module.split(".")
    for count in range(1, len(parts)):
        module = ".".join(parts[:count])
        if hasattr(importlib.import_module(module), error_class.name):
            return module
    return error_class.module


def write_table() -> str:
    """Return the table in Markdown, with a row for each class."""
    rows = [
        f"| `{cls.name}` | {', '.join(f'`{base}`' for base in cls.bases)}"
        f" | `{find_public_module(cls)}` | {cls.meaning} |\n"
        for cls in order_classes(find_classes())
    ]
    return HEAD + "".join(rows)


def replace_table(page: str, table: str) -> str:
    """Replace the table of exception classes in a page."""
    before, _, rest = page.partition(HEAD)
    _, _, after = rest.partition("\n\n")
    return f"{before}{table}\n{after}"


def main() -> int:
    """Compare the page with the classes, or write the table with ``--record``.

    Returns the exit code: 1 if the page is outdated.
    """
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--record", action="store_true")
    is_recorded = parser.parse_args().record
    page = PAGE.read_text("utf-8")
    expected = replace_table(page, write_table())
    if is_recorded:
        PAGE.write_text(expected, "utf-8")
    elif page != expected:
        print(f"{PAGE.name}: run python -m tools.generate.error_classes --record")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
