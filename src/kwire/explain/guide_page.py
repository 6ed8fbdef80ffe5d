# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Creates the protocol guide for a release as a single HTML file.

``guide.py`` and ``apis.py`` provide the content, this module arranges it, and
``_text/pages.py`` renders it. The page is usable without JavaScript, which only adds a
search box and links to versions.
"""

from __future__ import annotations

from itertools import groupby
from re import split
from typing import TYPE_CHECKING, NamedTuple

from .._text import pages
from ..schema import registry, releases
from ..schema.versions import VersionRange
from . import apis, guide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .apis import Api
    from .guide import Layout


class _PageLine(NamedTuple):
    """Layout line.

    * ``depth``: nesting level.
    * ``start``: text before the definition.
    * ``definition``: the definition itself.
    * ``notes``: notes after the definition.
    * ``is_new``: True if the next older layout does not contain the line.
    """

    depth: int
    start: str
    definition: str
    notes: str
    is_new: bool


class Section(NamedTuple):
    """Content below one heading: an API, a record, or a key with its value."""

    group: str
    title: str
    number: int | None
    names: tuple[str, ...]
    api: Api | None

    @property
    def anchor(self) -> str:
        """Link target, unique even if an API and records have identical titles."""
        is_pair = self.api is None and self.title not in self.names
        return f"{self.title}-records" if is_pair else self.title

    @property
    def state(self) -> str:
        """Supported versions, or the API's status if no version is supported.

        The navigation displays this text beside the title.
        """
        if self.api is None:
            return _format_range(registry.find(self.names[-1]).valid_versions)
        if self.api.versions:
            return _format_range(self.api.versions)
        return next(reversed(self.api.status.values())).partition(" ")[0]

    @property
    def label(self) -> str:
        """API key or record type as text, or "" if the section has no number."""
        return "" if self.number is None else str(self.number)

    @property
    def words(self) -> list[str]:
        """Words of the title, between which a browser may wrap it."""
        return split("(?<=[a-z])(?=[A-Z])", self.title)

    @property
    def facts(self) -> str:
        """Description of the nodes that support these messages."""
        if self.api is None:
            return f"{self.group}: every version, of any release"
        return f"spoken by {', '.join(self.api.listeners) or 'no node any more'}"

    def messages(self) -> Iterator[dict[str, object]]:
        """Yield all messages with their layouts, newest layout first."""
        for name in self.names:
            versions = None if self.api is None else list(self.api.status)
            message_layouts = guide.layouts(registry.load(name), versions)
            pairs = list(zip(message_layouts, [None, *message_layouts], strict=False))
            layouts = [
                _describe_layout(layout, previous, self.api)
                for layout, previous in pairs
            ]
            yield {"name": name, "layouts": layouts[::-1]}


def page(release: str = apis.NEWEST, names: Sequence[str] = ()) -> str:
    """Create the page for a release as a complete HTML document.

    If ``names`` is specified, the page only contains these messages. A page with all
    messages takes about one second and has a size of 1 MB.

    Raises ``ImportError`` if Jinja2 is not installed, and ``ValueError`` if ``release``
    is not a release line such as "3.9".
    """
    sections = [
        section
        for section in _list_sections(release)
        if not names or set(names) & set(section.names)
    ]
    if names:
        sections = [
            section._replace(
                names=tuple(name for name in section.names if name in names)
            )
            for section in sections
        ]
    number = releases.NAMES.index(release)
    previous_release = releases.NAMES[number - 1] if number else None
    return pages.render(
        "protocol",
        title=f"Kafka {release} protocol",
        groups=[
            (group, list(group_sections))
            for group, group_sections in groupby(
                sections, key=lambda section: section.group
            )
        ],
        is_whole=not names,
        before=previous_release,
        changes=list(_list_changes(previous_release, release))
        if previous_release
        else [],
        sections=sections,
    )


def _list_sections(release: str) -> Iterator[Section]:
    for api in apis.apis(release):
        names = tuple(f"{api.name}{kind}" for kind in ("Request", "Response"))
        yield Section("APIs", api.name, api.api_key, names, api)
    for group, messages in apis.other_messages():
        names_by_title: dict[str, list[str]] = {}
        for name in messages:
            title = name
            if registry.find(name).kind.startswith("coordinator"):
                title = name.removesuffix("Key").removesuffix("Value")
            names_by_title.setdefault(title, []).append(name)
        for title, pair_names in names_by_title.items():
            number = registry.find(pair_names[0]).api_key
            yield Section(group, title, number, tuple(pair_names), None)


def _format_range(versions: VersionRange) -> str:
    return str(versions).replace("-", "\N{EN DASH}")


def _list_changes(before: str, release: str) -> Iterator[tuple[str, str, str]]:
    changes = releases.changes(before, release)
    for verb, ranges in ("added", changes.added), ("removed", changes.removed):
        for key, versions in sorted(ranges.items()):
            yield verb, releases.name_of(key), _format_range(versions)


def _describe_layout(
    layout: Layout, before: Layout | None, api: Api | None
) -> dict[str, object]:
    previous_lines = set() if before is None else set(before.lines()[1:])
    lines = []
    for line in layout.lines():
        start = f"{'  ' * line.depth}{line.name} => {line.definition}".rstrip()
        start = start.removesuffix(line.definition)
        is_new = before is not None and line.depth > 0 and line not in previous_lines
        lines.append(_PageLine(line.depth, start, line.definition, line.notes, is_new))
    notes = []
    for versions, note in [] if api is None else api.notes(layout.versions):
        range_prefix = "" if versions == str(layout.versions) else f"{versions} "
        notes.append((note.partition(" ")[0], f"{range_prefix}{note}"))
    return {
        "versions": list(layout.versions),
        "range": _format_range(layout.versions),
        "notes": notes,
        "flexible": layout.flexible,
        "header_version": layout.header_version,
        "lines": lines,
    }
