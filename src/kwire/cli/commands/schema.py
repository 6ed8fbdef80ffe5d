# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire schema``: prints a release's protocol, or a message layout.

``explain/apis.py``, ``explain/guide.py`` and ``explain/guide_page.py`` create the
content. This module selects and prints it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from ..._text import format_size
from ...explain import apis, guide
from ...schema import registry, releases
from ...schema.versions import HIGHEST, NONE, VersionRange
from ..output.tables import JsonLines, Table, html_option, open_output
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...explain.apis import Api
    from ...explain.guide import Layout
    from ..output.tables import Output

    Found = TypeVar("Found")

_NAME_WIDTH = 28
"""Width in characters of the column for API names in a terminal. Only one name is
longer, and shifts the rest of its line.
"""


class Chosen(NamedTuple):
    """Messages and versions that the user has selected, and the Kafka release.

    ``of_release`` is True if the user has selected the release. Then only the versions
    that it supports are printed.
    """

    release: str
    names: list[str]
    versions: VersionRange | None
    of_release: bool


_EXAMPLES = """\b
Examples:
  kwire schema --release 2.8
  kwire schema FetchRequest --version 12
  kwire schema --release 4.0 --since 3.9
  kwire schema --html protocol.html
"""


@click.command(
    epilog=_EXAMPLES, short_help="Document the protocol: releases, APIs, layouts."
)
@click.argument("message", required=False)
@click.option("--release", metavar="R", help="This release; default: the newest.")
@click.option(
    "--since", metavar="R", help="Show what an upgrade from R removes and adds."
)
@click.option(
    "--version", "-v", "versions", metavar="N", help="The version of the message."
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also messages without an API, of any release.",
)
@html_option
@click.option(
    "--format",
    "-o",
    "form",
    type=click.Choice(("table", "jsonl")),
    default="table",
    help="Text (the default), or JSON lines.",
)
def command(
    message: str | None,
    release: str | None,
    since: str | None,
    versions: str | None,
    everything: bool,
    html: str | None,
    form: str,
) -> None:
    """Document Kafka's protocol, in the notation of its guide.

    Without MESSAGE: the APIs of a release and their versions. With MESSAGE: its
    layouts, in all versions, or with --release in those that the release supports.
    MESSAGE is an API (Fetch, or its key 1), a message (FetchRequest), or a record of
    metadata or of a coordinator (TopicRecord, GroupMetadataValue). --version accepts
    a range such as 9-12. --html also accepts a directory, in which it creates the page.
    """
    name = apis.NEWEST
    if release is not None:
        name = _find_known(apis.release_name, release, "--release")
    names = _find_known(apis.find_messages, message, "MESSAGE") if message else []
    chosen = Chosen(name, names, _range(versions), release is not None)
    if versions is not None and not names:
        raise click.UsageError("--version requires a MESSAGE")
    if since is not None and (html or versions or everything):
        raise click.UsageError("--since excludes all options but --release")
    if html is not None and (versions or everything):
        raise click.UsageError("--html excludes all options but --release")
    if html is not None:
        _write_page(chosen, html)
        return
    with open_output() as output:
        if since is not None:
            old = _find_known(apis.release_name, since, "--since")
            _write_changes(output, form, chosen, old)
        elif names:
            _write_layouts(output, form, chosen)
        else:
            _write_list(output, form, chosen, everything)


def _find_known(find: Callable[[str], Found], text: str, option: str) -> Found:
    try:
        return find(text)
    except KeyError as error:
        raise click.BadParameter(error.args[0], param_hint=option) from None


def _range(text: str | None) -> VersionRange | None:
    if text is None:
        return None
    try:
        return VersionRange.from_text(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--version") from None


def _write_list(output: Output, form: str, chosen: Chosen, everything: bool) -> None:
    rows = [("", _api_facts(api)) for api in apis.apis(chosen.release)]
    if everything:
        for heading, names in apis.other_messages():
            rows += [(heading, _message_facts(name)) for name in names]
    if form == "jsonl":
        lines = JsonLines(output)
        for _, row in rows:
            lines.write(row)
        return
    width = max(len(row["name"]) for _, row in rows)
    if output.width is not None and not everything:
        width = _NAME_WIDTH
    columns = ("KEY", -3), ("NAME", width), ("VERSIONS", 8), ("NOTES", 18)
    table = Table(output, (*columns, ("LISTENERS", 0)))
    for heading, row in rows:
        cells = (
            "" if row["api_key"] is None else str(row["api_key"]),
            row["name"],
            row["versions"] or "-",
            _notes_text([(note["versions"], note["note"]) for note in row["notes"]]),
            ",".join(row["listeners"]),
        )
        table.write(cells, heading)


def _api_facts(api: Api) -> dict[str, Any]:
    return {
        "api_key": api.api_key,
        "name": api.name,
        "kind": "api",
        **_range_facts(api.versions),
        "notes": _note_facts(api.notes()),
        "listeners": list(api.listeners),
    }


def _message_facts(name: str) -> dict[str, Any]:
    entry = registry.find(name)
    return {
        "api_key": entry.api_key,
        "name": name,
        "kind": entry.kind,
        **_range_facts(entry.valid_versions),
        "notes": [],
        "listeners": [],
    }


def _range_facts(versions: VersionRange) -> dict[str, Any]:
    ends = (versions.min, versions.max) if versions else (None, None)
    return {
        "versions": _text(versions),
        "min_version": ends[0],
        "max_version": ends[1],
    }


def _note_facts(notes: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"versions": versions, "note": note} for versions, note in notes]


def _notes_text(notes: list[tuple[str, str]]) -> str:
    return ", ".join(f"{versions} {note}" for versions, note in notes)


def _write_layouts(output: Output, form: str, chosen: Chosen) -> None:
    lines = JsonLines(output)
    by_key = {api.api_key: api for api in apis.apis(chosen.release)}
    begun = False
    for name in chosen.names:
        entry = registry.find(name)
        is_api = entry.kind in ("request", "response")
        api = (
            by_key.get(entry.api_key) if is_api and entry.api_key is not None else None
        )
        for layout in _layouts(chosen, name, api, is_api):
            notes = [] if api is None else api.notes(layout.versions)
            if form == "jsonl":
                lines.write(_layout_facts(layout, notes))
                continue
            if begun:
                output.write("\n")
            begun = True
            _write_layout(output, layout, notes)


def _layouts(chosen: Chosen, name: str, api: Api | None, is_api: bool) -> list[Layout]:
    """Return the message layouts for the selected versions.

    Raises ``ClickException`` if a selected version is not available.
    """
    message = registry.load(name)
    known = message.valid_versions
    who, hint = "kwire supports", ""
    if is_api and chosen.of_release:
        known = NONE if api is None else api.versions
        who = f"Kafka {chosen.release} supports"
        hint = "; omit --release to see all versions that kwire supports"
    wanted = known if chosen.versions is None else chosen.versions
    if wanted.max == HIGHEST:
        wanted = VersionRange(wanted.min, max(wanted.min, known.max))
    if not wanted or not known.contains(wanted):
        missing = "" if chosen.versions is None else f", not {chosen.versions}"
        has = f"versions {known}" if known else "no version"
        raise click.ClickException(f"{who} {has} of {name}{missing}{hint}")
    return guide.layouts(message, wanted)


def _layout_facts(layout: Layout, notes: list[tuple[str, str]]) -> dict[str, Any]:
    entry = registry.find(layout.message)
    return {
        "name": layout.message,
        "kind": entry.kind,
        "api_key": entry.api_key,
        **_range_facts(layout.versions),
        "flexible": layout.flexible,
        "header_version": layout.header_version,
        "notes": _note_facts(notes),
        "fields": guide.field_facts(layout.fields),
    }


def _write_layout(output: Output, layout: Layout, notes: list[tuple[str, str]]) -> None:
    remarks = []
    if layout.header_version is not None:
        remarks.append(f"header version {layout.header_version}")
    for versions, note in notes:
        same = versions == str(layout.versions)
        remarks.append(note if same else f"{versions} {note}")
    first, end, rest = layout.text(output.width).partition("\n")
    if remarks:
        output.write(f"# {', '.join(remarks)}\n")
    output.write_bold(first)
    output.write(end + rest)


def _write_changes(output: Output, form: str, chosen: Chosen, old: str) -> None:
    """Write the API versions that were added or removed between two releases."""
    if releases.NAMES.index(old) >= releases.NAMES.index(chosen.release):
        raise click.UsageError(
            f"--since {old} is not before {chosen.release}; name the older release"
            " with --since, the newer with --release"
        )
    entries = [registry.find(name) for name in chosen.names]
    if any(entry.kind not in ("request", "response") for entry in entries):
        raise click.UsageError(
            "--since compares requests and responses; give the MESSAGE of one, or"
            " none for all"
        )
    keys = [entry.api_key for entry in entries]
    changes = releases.changes(old, chosen.release)
    rows: list[dict[str, Any]] = [
        {
            "api_key": key,
            "name": releases.name_of(key),
            "removed": _text(changes.removed.get(key)),
            "added": _text(changes.added.get(key)),
        }
        for key in sorted(changes.removed.keys() | changes.added.keys())
        if not keys or key in keys
    ]
    if form == "jsonl":
        lines = JsonLines(output)
        for row in rows:
            lines.write(row)
        return
    width = max([len(row["name"]) for row in rows], default=0)
    columns = ("KEY", -3), ("API", width), ("REMOVED", 8), ("ADDED", 8)
    table = Table(output, columns)
    for row in rows:
        table.write(["-" if cell is None else str(cell) for cell in row.values()])


def _text(versions: VersionRange | None) -> str | None:
    return str(versions) if versions else None


def _write_page(chosen: Chosen, path: str) -> None:
    # Import the page modules here, because only ``--html`` requires their dependencies.
    from ...explain import guide_page

    if os.path.isdir(path):
        path = os.path.join(path, f"kafka-{chosen.release}.html")
    served_keys = {api.api_key for api in apis.apis(chosen.release)}
    for entry in map(registry.find, chosen.names):
        if entry.kind in ("request", "response") and entry.api_key not in served_keys:
            raise click.ClickException(f"Kafka {chosen.release} has no {entry.name}")
    page = guide_page.page(chosen.release, chosen.names)
    with open_output(path) as output:
        output.write(page)
    say(f"{path}: Kafka {chosen.release}, {format_size(len(page.encode()))}")
