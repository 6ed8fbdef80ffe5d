# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Lists APIs by release, and formats layouts as Kafka's protocol guide does.

Layouts are made from plans (``plan.py``); the versions that a release supports come
from ``schema/releases.py``. The text form is here, the HTML page in
``guide_page.py``.

    Heartbeat Response (Version: 4) => throttle_time_ms error_code _tagged_fields
      throttle_time_ms => INT32
      error_code => INT16

An array is in brackets in the line of its struct. After ``#`` come the form of its
length, null, and a default that is not zero or empty. A tag follows the field's name.
"""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any, NamedTuple

from .._text import suggest_names
from ..errors import version_failure
from ..schema import plan as plans
from ..schema import registry, releases
from ..schema.versions import NONE, VersionRange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..schema.model import Message
    from ..schema.plan import Plan, Step

TYPES = {code: name.upper() for name, code in plans.CODES.items()}
TYPES[plans.BOOL] = "BOOLEAN"
"""The guide's names of types, by the codes of a plan."""

_TAGGED_FIELDS = "_tagged_fields"
_HANGING = 4
"""The further indent of the second part of a wrapped line."""


class FieldLayout(NamedTuple):
    """One field of a struct in one version.

    ``type`` is the guide's name of the type, of the elements if ``array`` is not
    empty ("ARRAY", "COMPACT_ARRAY"); for a struct it is the struct's name, and
    ``fields`` are its own. ``tag`` is -1 for a field in line. ``default`` is empty
    if the default is zero or empty.
    """

    name: str
    type: str
    array: str
    nullable: bool
    tag: int
    default: str
    is_struct: bool
    fields: tuple[FieldLayout, ...]
    flexible: bool

    @property
    def notes(self) -> str:
        """What the notation itself does not express: array, null, default."""
        notes = [self.array] if self.array else []
        if self.nullable and "NULLABLE" not in self.type:
            notes.append("nullable")
        if self.default:
            notes.append(f"default {self.default}")
        return ", ".join(notes)


class Line(NamedTuple):
    """One line of a layout: ``name => definition  # notes``, ``depth`` levels deep.

    ``path`` distinguishes fields of the same name.
    """

    depth: int
    path: str
    name: str
    definition: str
    notes: str


class Layout(NamedTuple):
    """The layout that some neighbouring versions of a message have in common.

    ``header_version`` is that of the header before it, None if it has no header.
    """

    message: str
    title: str
    versions: VersionRange
    header_version: int | None
    flexible: bool
    fields: tuple[FieldLayout, ...]

    def lines(self) -> list[Line]:
        """List the lines: that of the message, then each field, outer before inner."""
        name = f"{self.title} (Version: {self.versions})"
        first = Line(0, "", name, _contents(self.fields, self.flexible), "")
        return [first, *_lines(self.fields, 1, "")]

    def text(self, width: int | None = None) -> str:
        """Write the layout in the guide's notation, with a line end after each line.

        Lines are wrapped to ``width`` columns; without one, each stays whole.
        """
        return "".join(f"{line}\n" for line in self._texts(width))

    def _texts(self, width: int | None) -> Iterator[str]:
        for line in self.lines():
            words = f"{line.name} => {line.definition}".split()
            # A name and its arrow stay together, so do a title and a note.
            head = len(line.name.split()) + 1
            pieces = [" ".join(words[:head]), *words[head:]]
            if line.notes:
                pieces.append(f" # {line.notes}")
            yield from _wrap(pieces, "  " * line.depth, width)


def layouts(message: Message, versions: Iterable[int] | None = None) -> list[Layout]:
    """List the layouts of versions of a message; equal neighbours share one.

    Without ``versions``, all that kwire knows. ``UnsupportedVersion`` for others.
    """
    found: list[Layout] = []
    for version in message.valid_versions if versions is None else versions:
        if version not in message.valid_versions:
            raise version_failure(message.name, message.valid_versions, version)
        plan = plans.compile_plan(message, version)
        layout = Layout(
            message.name,
            title(message),
            VersionRange(version, version),
            _header_version(message, version),
            plan.flexible,
            _fields(plan),
        )
        if found and found[-1].versions.max == version - 1:
            both = VersionRange(found[-1].versions.min, version)
            if found[-1]._replace(versions=both) == layout._replace(versions=both):
                found.pop()
                layout = layout._replace(versions=both)
        found.append(layout)
    return found


def title(message: Message) -> str:
    """Name a message as the guide does: ``Fetch Request``, other kinds as they are."""
    if message.kind in ("request", "response"):
        kind = message.kind.capitalize()
        return f"{message.name.removesuffix(kind)} {kind}"
    return message.name


def _header_version(message: Message, version: int) -> int | None:
    if message.kind == "request":
        return plans.request_header_version(message, version)
    if message.kind == "response":
        return plans.response_header_version(message, version)
    return None


def field_facts(fields: Iterable[FieldLayout]) -> list[dict[str, Any]]:
    """Turn fields into dicts for JSON, structs nested."""
    return [
        {
            "name": field.name,
            "type": field.type,
            "array": field.array or None,
            "nullable": field.nullable,
            "tag": None if field.tag < 0 else field.tag,
            "default": field.default or None,
            **({"fields": field_facts(field.fields)} if field.is_struct else {}),
        }
        for field in fields
    ]


def _fields(plan: Plan) -> tuple[FieldLayout, ...]:
    in_line = (step for step in plan.steps if step.place == plans.PRESENT)
    return tuple(_field(step) for step in (*in_line, *plan.tagged))


def _field(step: Step) -> FieldLayout:
    inner = step.plan
    return FieldLayout(
        step.attribute,
        type_name(step, step.is_array) if inner is None else inner.name,
        type_name(step) if step.is_array else "",
        step.nullable,
        step.tag if step.place == plans.TAGGED else -1,
        _default(step),
        inner is not None,
        () if inner is None else _fields(inner),
        inner is not None and inner.flexible,
    )


def type_name(step: Step, is_element: bool = False) -> str:
    """Name the type of a field, or of the elements of one that is an array.

    The guide has no separate name for records that may be null.
    """
    if step.is_array and not is_element:
        name = "ARRAY"
    elif step.code in (plans.STRING, plans.BYTES, plans.RECORDS):
        name = TYPES[step.code]
        if step.nullable and not is_element and step.code != plans.RECORDS:
            name = f"NULLABLE_{name}"
    else:
        return TYPES[step.code]
    return f"COMPACT_{name}" if step.compact else name


def _default(step: Step) -> str:
    default = step.default
    if default is None:
        return "null" if step.nullable else ""
    if isinstance(default, bool):
        return "true" if default else ""
    if isinstance(default, (int, float)):
        return str(default) if default else ""
    if isinstance(default, str):
        return dumps(default) if default else ""
    return str(default) if getattr(default, "int", 0) else ""


def _contents(fields: tuple[FieldLayout, ...], flexible: bool) -> str:
    names = [
        f"[{field.name}]" if field.array else field.name
        for field in fields
        if field.tag < 0
    ]
    return " ".join([*names, _TAGGED_FIELDS] if flexible else names)


def _lines(fields: tuple[FieldLayout, ...], depth: int, within: str) -> Iterator[Line]:
    for field in fields:
        path = f"{within}{field.name}"
        name = field.name if field.tag < 0 else f"{field.name}<tag: {field.tag}>"
        definition = field.type
        if field.is_struct:
            definition = _contents(field.fields, field.flexible)
        yield Line(depth, path, name, definition, field.notes)
        yield from _lines(field.fields, depth + 1, f"{path}.")


def _wrap(pieces: list[str], indent: str, width: int | None) -> Iterator[str]:
    line = indent
    for piece in pieces:
        longer = f"{line} {piece}" if line.strip() else f"{indent}{piece}"
        if width is not None and len(longer) > width and line.strip():
            yield line
            longer = f"{indent}{' ' * _HANGING}{piece.lstrip()}"
        line = longer
    yield line


class Api(NamedTuple):
    """One API in one release.

    ``versions`` are those that the release supports, empty if it supports none any
    more; ``listeners`` the kinds of node that have the API. ``status`` has a word for
    every version up to that release: "deprecated", "removed in 4.0", "unstable", or an
    empty text.
    """

    api_key: int
    name: str
    versions: VersionRange
    listeners: tuple[str, ...]
    status: dict[int, str]

    def notes(self, versions: VersionRange | None = None) -> list[tuple[str, str]]:
        """List the ranges of versions that have a status: ("0-3", "deprecated")."""
        found: list[tuple[VersionRange, str]] = []
        for version, note in self.status.items():
            if not note or (versions is not None and version not in versions):
                continue
            first = version
            if found and (found[-1][0].max, found[-1][1]) == (version - 1, note):
                first = found.pop()[0].min
            found.append((VersionRange(first, version), note))
        return [(str(range), note) for range, note in found]


NEWEST = releases.NAMES[-1]
"""The newest release whose documentation kwire has."""


def release_name(text: str) -> str:
    """Find the release line of a version of Kafka: "3.9" for "3.9.1"; ``KeyError``."""
    for name in (text, text.rpartition(".")[0]):
        if name in releases.NAMES:
            return name
    first, *_, last = releases.NAMES
    raise KeyError(f"no release {text:.40}; kwire has {first} to {last}, such as 2.8")


def apis(release: str = NEWEST) -> list[Api]:
    """List the APIs that a release supports, or that an older one did, by key."""
    names = releases.NAMES[: releases.NAMES.index(release) + 1]
    stable = releases.ranges(release)
    deprecated = releases.deprecated(release)
    history = [_find_offers(name) for name in names]
    heard = {name: _find_offers(release, name) for name in releases.listeners(release)}
    found = []
    for key in sorted({key for ranges in history for key in ranges}):
        status: dict[int, str] = {}
        offered = NONE
        for name, ranges in zip(names, history, strict=True):
            before, offered = offered, ranges.get(key, NONE)
            gone = (version for version in before if version not in offered)
            status |= dict.fromkeys(gone, f"removed in {name}")
        spoken = stable.get(key, NONE)
        status |= dict.fromkeys(offered, "unstable") | dict.fromkeys(spoken, "")
        status |= dict.fromkeys(deprecated.get(key, NONE), "deprecated")
        listeners = tuple(name for name, ranges in heard.items() if key in ranges)
        status = dict(sorted(status.items()))
        found.append(Api(key, releases.name_of(key), spoken, listeners, status))
    return found


def _find_offers(release: str, listener: str | None = None) -> dict[int, VersionRange]:
    """Map keys to the versions that a release can offer, unstable ones included."""
    offers = releases.advertisements(release, listener, unstable=True)
    return {key: choices[0] for key, choices in offers.items()}


def other_messages() -> list[tuple[str, list[str]]]:
    """List all messages that are of no API: ("Metadata records", names), sorted."""
    families: dict[str, list[str]] = {}
    for name in registry.names():
        entry = registry.find(name)
        if entry.kind not in ("request", "response"):
            heading = entry.family.replace("-", " ").capitalize()
            families.setdefault(heading, []).append(name)
    for names in families.values():
        names.sort(key=_number)
    return sorted(families.items())


def _number(name: str) -> tuple[int, str]:
    key = registry.find(name).api_key
    return (-1 if key is None else key), name


_ENDINGS = ("Request", "Response"), ("Key", "Value"), ("Record",)


def find_messages(text: str) -> list[str]:
    """Find messages by a name in any case: a whole one, an API's, or an API key.

    "Fetch" and "1" are ``FetchRequest`` and ``FetchResponse``, "TopicRecord" and
    "topic" one record. ``KeyError`` names what is near to anything else.
    """
    by_name = {name.lower(): name for name in registry.names()}
    wanted = text.lower()
    if text.isascii() and text.isdecimal():
        keys = {str(key): key for key in registry.keys("request")}
        if text not in keys:
            raise KeyError(
                f"no API has the key {text:.40}; kwire has 0 to {max(keys.values())}"
            )
        wanted = releases.name_of(keys[text]).lower()
    for endings in ("",), *_ENDINGS:
        found = [by_name.get(f"{wanted}{ending}".lower()) for ending in endings]
        names = [name for name in found if name is not None]
        if names:
            return names
    near = suggest_names(text, [*map(_stem, by_name.values()), *by_name.values()])
    near = near or "; kwire schema --all lists every message"
    raise KeyError(f"no message {text:.40}{near}")


def _stem(name: str) -> str:
    for ending in (ending for endings in _ENDINGS for ending in endings):
        name = name.removesuffix(ending)
    return name
