# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Build the documentation website in build/docs, with additional checks.

When run as a program, it builds the website with all warnings as errors. Then it checks
that the pages load no external resources. As a Sphinx extension, it converts kwire's
plain docstrings to reStructuredText and generates the message table. Pages and settings
are in ``docs/``.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tools import ROOT

SOURCE = ROOT / "docs"
SITE = ROOT / "build" / "docs"

_PARTS = ("Shape", "Units", "Cost", "Raises", "Source")
_PART = re.compile(rf"(?:{'|'.join(_PARTS)})\b:? ")
_LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "link": "href",
}


def as_rst(lines: list[str]) -> list[str]:
    """Convert a plain docstring to reStructuredText.

    Text in double backticks and indented lines are code. Lists remain lists. A sentence
    that starts with "Shape:", "Raises" or similar words becomes a paragraph.
    """
    converted: list[str] = []
    in_code = False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not in_code and (not converted or not converted[-1]):
            converted += ["::", ""]
            in_code = True
        elif line and not indented:
            in_code = False
        if in_code:
            converted.append(line)
            continue
        if _PART.match(line) and converted and converted[-1]:
            converted.append("")
        converted.append(_escaped(line))
    return converted


def _escaped(line: str) -> str:
    """Escape special characters outside double backticks.

    A section name at the start of the line, such as "Raises", is formatted in bold.
    """
    pieces = line.split("``")
    for number in range(0, len(pieces), 2):
        bullet = re.match(r"\s*[*-] ", pieces[number]) if number == 0 else None
        start = bullet.end() if bullet else 0
        plain = re.sub(r"([*|\\`])|(?<=\w)(_)(?!\w)", r"\\\1\2", pieces[number][start:])
        pieces[number] = pieces[number][:start] + plain
    # reStructuredText does not recognize backticks that are next to a letter or digit.
    # An escaped space separates them.
    text = pieces[0]
    for number, piece in enumerate(pieces[1:], 1):
        left = "\\ " if number % 2 and text[-1:].isalnum() else ""
        right = "\\ " if not number % 2 and piece[:1].isalnum() else ""
        text += f"{left}``{right}{piece}"
    return re.sub(rf"^({'|'.join(_PARTS)})(:?) ", r"**\1**\2 ", text)


def message_rows() -> Iterator[tuple[str, ...]]:
    """Yield a row for each message, with its name, kind, API key and versions.

    The API key is empty for messages that are neither requests nor responses. The last
    two cells are the valid versions and the flexible versions.
    """
    from kwire import messages

    for name in messages.ALL:
        cls = getattr(messages, name)
        key = "" if cls.api_key is None else str(cls.api_key)
        flexible = str(cls.flexible_versions or "")
        yield name, cls.kind, key, str(cls.valid_versions), flexible


def linked(name: str, kind: str) -> str:
    """Return a link from a message to its API page.

    Only requests and responses have an API page. For other messages, this function
    returns the plain name.
    """
    if kind not in ("request", "response"):
        return name
    return f":doc:`{name} </apis/{name.removesuffix(kind.capitalize())}>`"


def command_helps() -> Iterator[tuple[str, str]]:
    """Yield every kwire command and its help text, formatted for 80 columns."""
    import click

    from kwire.cli.main import program

    settings = program.context_settings
    top = click.Context(program, info_name="kwire", terminal_width=80, **settings)
    for name in program.list_commands(top):
        command = program.get_command(top, name)
        assert command is not None, "the list has the names of commands"
        inner = click.Context(command, top, name, terminal_width=80)
        yield f"kwire {name}", command.get_help(inner)


def setup(app: Any) -> dict[str, bool]:
    """Register kwire's directives and event handlers with Sphinx."""
    # Import Sphinx dynamically, because it is not installed where type checkers run.
    directive: Any = importlib.import_module("sphinx.util.docutils").SphinxDirective

    class MessageTable(directive):  # type: ignore[misc]
        """Directive that creates the table of all messages."""

        def run(self) -> list[Any]:
            head = ("message", "kind", "key", "versions", "flexible")
            lines = [".. list-table::", "   :header-rows: 1", ""]
            for row in (head, *message_rows()):
                marks = ("   * - ", *["     - "] * (len(row) - 1))
                row = (linked(*row[:2]), *row[1:])
                lines += [m + cell for m, cell in zip(marks, row, strict=True)]
            found: list[Any] = self.parse_text_to_nodes("\n".join(lines))
            return found

    class Commands(directive):  # type: ignore[misc]
        """Directive that creates the help text of every command, with a heading."""

        def run(self) -> list[Any]:
            lines: list[str] = []
            for name, text in command_helps():
                lines += [f".. rubric:: {name}", "", "::", ""]
                lines += [f"   {line}" for line in text.splitlines()] + [""]
            found: list[Any] = self.parse_text_to_nodes("\n".join(lines))
            return found

    app.add_directive("kwire-messages", MessageTable)
    app.add_directive("kwire-commands", Commands)
    app.connect("autodoc-process-docstring", _on_docstring)
    app.connect("autodoc-skip-member", _on_member)
    app.connect("source-read", _on_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _on_docstring(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    # The docstring of a module describes its source file. The page of the module
    # contains a text for users instead.
    lines[:] = [] if what == "module" else as_rst(lines)


def _on_member(
    app: Any, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Return True to exclude members whose docstring only repeats a field name.

    Returns None for other members, so that Sphinx applies its own rules.
    """
    text = getattr(obj, "__doc__", None) or ""
    return text.startswith(("Alias for field", "The header's ``")) or None


def _on_source(app: Any, name: str, source: list[str]) -> None:
    """Remove the empty line at the end of an example, which only doctest requires."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


class _Loads(HTMLParser):
    """Parser that collects the addresses of the resources that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(
        self, tag: str, attributes: list[tuple[str, str | None]]
    ) -> None:
        value = dict(attributes).get(_LOADS.get(tag, ""))
        if value:
            self.found.append(value)


def loads_from_elsewhere(page: Path) -> list[str]:
    """Return the addresses of the resources that a page loads from other servers."""
    parser = _Loads()
    text = page.read_text(encoding="utf-8")
    parser.feed(text)
    return [address for address in parser.found if re.match(r"(\w+:)?//", address)]


def main() -> int:
    """Build the website and check its pages.

    Returns the exit code: 1 if Sphinx fails or a page loads an external resource.
    """
    shutil.rmtree(SITE, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning"]
    command += ["--keep-going", "--fresh-env", "--builder", "html"]
    if subprocess.run([*command, str(SOURCE), str(SITE)], check=False).returncode:
        print("docs: the site was not built: see above", file=sys.stderr)
        return 1
    pages = sorted(SITE.rglob("*.html"))
    for page in pages:
        for address in loads_from_elsewhere(page):
            print(f"docs: {page.relative_to(SITE)} loads {address}", file=sys.stderr)
            return 1
    print(f"{len(pages)} pages: {SITE.relative_to(ROOT) / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
