# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write the site's page of each API: its releases, versions and fields.

The pages have what ``kwire schema`` prints. Each build writes them; they are not
committed. A page is a heading and one directive, which makes its tables without
reading them as text first: there are some thousand rows.
"""

from __future__ import annotations

import functools
import importlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = "apis"
"""Where the pages are, below the source of the site."""

HEAD = ("field", "type", "versions", "null", "tag", "default")
WIDTHS = (30, 22, 12, 10, 6, 20)
COLUMNS = 78
"""Of the layouts, as a terminal has them."""

INDENT = "\N{NO-BREAK SPACE}" * 4


class FieldRow(NamedTuple):
    """A field of a message in all of its versions; ``depth`` is 0 at the top."""

    depth: int
    name: str
    type: str
    versions: str
    null: str
    tag: str
    default: str


@functools.cache
def apis() -> dict[str, Any]:
    """Give the APIs by their names: all that kwire knows, the deleted ones too."""
    from kwire.explain.apis import apis as list_apis

    return {api.name: api for api in list_apis()}


def page_source(name: str, key: int) -> str:
    """Write the source of the page of an API, which no other page lists."""
    title = f"{name} (API key {key})"
    return f":orphan:\n\n{title}\n{'=' * len(title)}\n\n.. kwire-api:: {name}\n"


def spoken_text(name: str) -> str:
    """Say in a sentence which versions the newest release speaks, and where."""
    from kwire.explain.apis import NEWEST

    api = apis()[name]
    notes = [f"{versions} {note}" for versions, note in api.notes()]
    release = f"Kafka {NEWEST}"
    text = f"{release} speaks no version of {name}"
    if api.versions:
        plural = "s" if len(api.versions) > 1 else ""
        text = f"{release} speaks version{plural} {api.versions} of {name}"
        text += f" (listeners: {', '.join(api.listeners)})"
    return f"{text}; {', '.join(notes)}." if notes else f"{text}."


def field_rows(name: str) -> Iterator[FieldRow]:
    """List the fields of a message, outer before inner, over all of its versions."""
    from kwire.schema import registry

    message = registry.load(name)
    yield from _rows(message.struct.fields, message.valid_versions, 0)


def _rows(fields: Any, known: Any, depth: int) -> Iterator[FieldRow]:
    for field in fields:
        versions = field.versions & known
        null = field.nullable_versions & versions
        is_tagged = bool(field.tagged_versions & versions)
        yield FieldRow(
            depth,
            field.attribute,
            f"[{field.type}]" if field.is_array else field.type,
            str(versions),
            str(null) if null else "",
            str(field.tag) if is_tagged else "",
            field.default or "",
        )
        if field.struct is not None:
            yield from _rows(field.struct.fields, versions, depth + 1)


def newest_layout(name: str) -> tuple[str, str]:
    """Give the newest versions of a message that look alike, and how they look."""
    from kwire.explain import guide
    from kwire.schema import registry

    layout = guide.layouts(registry.load(name))[-1]
    return str(layout.versions), layout.text(COLUMNS)


def setup(app: Any) -> dict[str, bool]:
    """Join Sphinx: the directive, and files that come and go with the build."""
    # Type checkers run where there is no Sphinx.
    directive: Any = importlib.import_module("sphinx.util.docutils").SphinxDirective

    class Api(directive):  # type: ignore[misc]
        """What a page says of its API."""

        required_arguments = 1

        def run(self) -> list[Any]:
            (name,) = self.arguments
            nodes: Any = importlib.import_module("docutils.nodes")
            return [
                nodes.paragraph(text=spoken_text(name)),
                *(_section(nodes, f"{name}{kind}") for kind in ("Request", "Response")),
            ]

    app.add_directive("kwire-api", Api)
    app.connect("builder-inited", _write)
    app.connect("build-finished", _remove)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Any) -> None:
    _remove(app)
    folder = Path(app.srcdir, FOLDER)
    folder.mkdir()
    for name, api in apis().items():
        source = page_source(name, api.api_key)
        (folder / f"{name}.rst").write_text(source, encoding="utf-8")


def _remove(app: Any, error: object = None) -> None:
    shutil.rmtree(Path(app.srcdir, FOLDER), ignore_errors=True)


def _section(nodes: Any, name: str) -> Any:
    from kwire.schema import registry

    message = registry.load(name)
    section = nodes.section(ids=[name.lower()])
    section += nodes.title(text=name)
    flexible = message.flexible_versions & message.valid_versions
    words = f"{name} in kwire.messages has the versions {message.valid_versions}"
    words += f", flexible from {flexible.min} on." if flexible else ", none flexible."
    section += nodes.paragraph(text=words)
    rows = list(field_rows(name))
    if rows:
        section += _table(nodes, rows)
    versions, text = newest_layout(name)
    section += nodes.paragraph(text=f"On the wire, version {versions}:")
    section += nodes.literal_block(text, text.rstrip("\n"), language="none")
    return section


def _table(nodes: Any, rows: list[FieldRow]) -> Any:
    group = nodes.tgroup(cols=len(HEAD))
    group += [nodes.colspec(colwidth=width) for width in WIDTHS]
    head, body = nodes.thead(), nodes.tbody()
    head += _row(nodes, [nodes.Text(word) for word in HEAD])
    for row in rows:
        cells = [
            nodes.literal(text=word) if word else nodes.Text("") for word in row[2:]
        ]
        name = [nodes.Text(INDENT * row.depth), nodes.literal(text=row.name)]
        body += _row(nodes, [name, *cells])
    group += [head, body]
    table = nodes.table(classes=["fields"])
    table += group
    return table


def _row(nodes: Any, cells: list[Any]) -> Any:
    row = nodes.row()
    for cell in cells:
        paragraph, entry = nodes.paragraph(), nodes.entry()
        paragraph += cell
        entry += paragraph
        row += entry
    return row
