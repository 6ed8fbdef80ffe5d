# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Generate docs/drafts/requirements.md: function and test for every requirement.

``kwire.drafts.runs`` is the only list of requirements. ``--check`` checks that the page
is up to date, and that all listed functions and tests exist.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kwire.drafts.runs import DOCUMENTS
from tools import ROOT

if TYPE_CHECKING:
    from kwire.drafts.runs.requirement import Requirement

PAGE = ROOT / "docs" / "drafts" / "requirements.md"
TESTS = ROOT / "tests" / "drafts"
_COMMAND = "python -m tools.generate.draft_requirements"

_HEAD = """# Requirements

This page lists all requirements of the documents, with the functions that implement
them and the tests that verify them. Functions are in `kwire.drafts`, tests in
`tests/drafts`. `python -m kwire.drafts DOCUMENT` runs a document on loopback sockets,
and prints every requirement together with the observed behaviour.

`python -m tools.generate.draft_requirements` generates this page from the lists in
`src/kwire/drafts/runs`.
"""


def make_page() -> str:
    """Return the page with a table of requirements for each document."""
    parts = [_HEAD]
    for document in DOCUMENTS:
        parts.append(f"\n## [{document.title}]({document.page}.md)\n\n")
        parts.append(f"`python -m kwire.drafts {document.number}`\n\n")
        parts.append("| requirement | required behaviour | function | test |\n")
        parts.append("|---|---|---|---|\n")
        parts.extend(map(_make_row, document.requirements))
    return "".join(parts)


def find_problems() -> Iterator[str]:
    """Yield a problem for each missing function or test of a requirement."""
    for document in DOCUMENTS:
        for requirement in document.requirements:
            where = f"document {document.number}, {requirement.text!r}"
            if not _function_exists(requirement.function):
                yield f"{where}: no function is named {requirement.function!r}"
            name, _, test = requirement.test.partition("::")
            if not test or test not in _list_tests(name):
                yield f"{where}: no test is named {requirement.test!r}"


def _make_row(requirement: Requirement) -> str:
    name, _, test = requirement.test.partition("::")
    cells = (
        requirement.text,
        requirement.expected,
        f"`{requirement.function}`",
        f"`{name}`: `{test}`",
    )
    return f"| {' | '.join(cells)} |\n"


def _function_exists(path: str) -> bool:
    module, *names = path.split(".")
    try:
        found = importlib.import_module(f"kwire.drafts.{module}")
    except ModuleNotFoundError:
        return False
    for name in names:
        found = getattr(found, name, None)  # type: ignore[assignment]
    return bool(names) and callable(found)


@functools.cache
def _list_tests(name: str) -> frozenset[str]:
    path = TESTS / name
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text("utf-8"))
    names = (node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    return frozenset(each for each in names if each.startswith("test_"))


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or check it if ``--check`` is specified.

    Returns the exit code: 1 if there are problems.
    """
    parser = argparse.ArgumentParser(description="The requirements of the drafts")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    problems = list(find_problems())
    text = make_page()
    if not options.check:
        PAGE.write_text(text, "utf-8")
    elif not PAGE.is_file() or PAGE.read_text("utf-8") != text:
        problems.append(f"{PAGE.name} is stale; run: {_COMMAND}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
