# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats the layouts of messages as Kafka's protocol guide does.

Layouts are made from plans (``schema/plan.py``). The text form is here, the HTML page
in ``guide_page.py``. Which versions a release supports is in ``apis.py``.

    Heartbeat Response (Version: 4) => throttle_time_ms error_code _tagged_fields
      throttle_time_ms => INT32
      error_code => INT16

An array is in brackets in the line of its struct. After ``#`` come the form of its
length, null, and a default that is not zero or empty. A tag follows the field's name.
"""

from __future__ import annotations

from json import dumps
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import version_failure
from ..schema import plan as plans
from ..schema.versions import VersionRange

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
