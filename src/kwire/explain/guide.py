# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats message layouts in the notation of Kafka's protocol guide.

Layouts are derived from plans (``schema/plan.py``). This module produces the text
format, and ``guide_page.py`` produces the HTML page. ``apis.py`` lists the supported
versions by release.

    Heartbeat Response (Version: 4) => throttle_time_ms error_code _tagged_fields
      throttle_time_ms => INT32
      error_code => INT16

In the line of a struct, an array is enclosed in brackets. The text after ``#`` contains
the array's length encoding, whether null is allowed, and the default if it is neither
zero nor empty. The name of a tagged field is followed by its tag.
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
"""Type names in the protocol guide, by type code (see ``schema/plan.py``)."""

_TAGGED_FIELDS = "_tagged_fields"
_HANGING = 4
"""Number of spaces by which the continuation of a wrapped line is indented more than
the line itself.
"""


class FieldLayout(NamedTuple):
    """One field of a struct in one version.

    * ``type``: type name in the guide. For an array, the element type. For a struct,
      its name.
    * ``array``: "ARRAY" or "COMPACT_ARRAY", or "" if the field is not an array.
    * ``tag``: tag, or -1 if the field is inline.
    * ``default``: default value, or "" if it is zero or empty.
    * ``fields``: fields of the struct. Empty if the field is not a struct.
    * ``flexible``: True if the struct has a tag section.
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
        """Properties that the notation cannot represent: array, null, default."""
        notes = [self.array] if self.array else []
        if self.nullable and "NULLABLE" not in self.type:
            notes.append("nullable")
        if self.default:
            notes.append(f"default {self.default}")
        return ", ".join(notes)


class Line(NamedTuple):
    """Layout line ``name => definition  # notes`` at nesting level ``depth``.

    ``path`` is unique even if several fields have the same name.
    """

    depth: int
    path: str
    name: str
    definition: str
    notes: str


class Layout(NamedTuple):
    """Layout that several consecutive message versions have in common.

    ``header_version`` is the version of the preceding header, or None if there is none.
    """

    message: str
    title: str
    versions: VersionRange
    header_version: int | None
    flexible: bool
    fields: tuple[FieldLayout, ...]

    def lines(self) -> list[Line]:
        """List the lines: first the message, then all fields, outer before inner."""
        name = f"{self.title} (Version: {self.versions})"
        first = Line(0, "", name, _format_contents(self.fields, self.flexible), "")
        return [first, *_list_lines(self.fields, 1, "")]

    def text(self, width: int | None = None) -> str:
        """Format the layout in the guide's notation. Every line ends with a newline.

        Lines are wrapped at ``width`` columns. By default, they are not wrapped.
        """
        return "".join(f"{line}\n" for line in self._wrap_lines(width))

    def _wrap_lines(self, width: int | None) -> Iterator[str]:
        for line in self.lines():
            words = f"{line.name} => {line.definition}".split()
            # Do not wrap between a name and its arrow, between a title and its arrow,
            # or within notes.
            start_count = len(line.name.split()) + 1
            pieces = [" ".join(words[:start_count]), *words[start_count:]]
            if line.notes:
                pieces.append(f" # {line.notes}")
            yield from _wrap(pieces, "  " * line.depth, width)


def layouts(message: Message, versions: Iterable[int] | None = None) -> list[Layout]:
    """List the layouts of message versions. Equal consecutive versions share a layout.

    By default, the result includes all supported versions.
    Raises ``UnsupportedVersion`` if the message does not have a version.
    """
    layout_list: list[Layout] = []
    for version in message.valid_versions if versions is None else versions:
        if version not in message.valid_versions:
            raise version_failure(message.name, message.valid_versions, version)
        plan = plans.compile_plan(message, version)
        layout = Layout(
            message.name,
            title(message),
            VersionRange(version, version),
            _find_header_version(message, version),
            plan.flexible,
            _list_fields(plan),
        )
        if layout_list and layout_list[-1].versions.max == version - 1:
            joined_versions = VersionRange(layout_list[-1].versions.min, version)
            if layout_list[-1]._replace(versions=joined_versions) == layout._replace(
                versions=joined_versions
            ):
                layout_list.pop()
                layout = layout._replace(versions=joined_versions)
        layout_list.append(layout)
    return layout_list


def title(message: Message) -> str:
    """Return the title of a message in the guide, for example ``Fetch Request``.

    The title is the unmodified name if the message is neither a request nor a response.
    """
    if message.kind in ("request", "response"):
        kind = message.kind.capitalize()
        return f"{message.name.removesuffix(kind)} {kind}"
    return message.name


def _find_header_version(message: Message, version: int) -> int | None:
    if message.kind == "request":
        return plans.request_header_version(message, version)
    if message.kind == "response":
        return plans.response_header_version(message, version)
    return None


def field_facts(fields: Iterable[FieldLayout]) -> list[dict[str, Any]]:
    """Convert fields to dicts for JSON. Structs are nested."""
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


def _list_fields(plan: Plan) -> tuple[FieldLayout, ...]:
    in_line = (step for step in plan.steps if step.place == plans.PRESENT)
    return tuple(_make_field(step) for step in (*in_line, *plan.tagged))


def _make_field(step: Step) -> FieldLayout:
    struct_plan = step.plan
    return FieldLayout(
        step.attribute,
        type_name(step, step.is_array) if struct_plan is None else struct_plan.name,
        type_name(step) if step.is_array else "",
        step.nullable,
        step.tag if step.place == plans.TAGGED else -1,
        _format_default(step),
        struct_plan is not None,
        () if struct_plan is None else _list_fields(struct_plan),
        struct_plan is not None and struct_plan.flexible,
    )


def type_name(step: Step, is_element: bool = False) -> str:
    """Return the type name of a field, or of its elements if the field is an array.

    The guide has no separate name for nullable records.
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


def _format_default(step: Step) -> str:
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


def _format_contents(fields: tuple[FieldLayout, ...], flexible: bool) -> str:
    names = [
        f"[{field.name}]" if field.array else field.name
        for field in fields
        if field.tag < 0
    ]
    return " ".join([*names, _TAGGED_FIELDS] if flexible else names)


def _list_lines(
    fields: tuple[FieldLayout, ...], depth: int, within: str
) -> Iterator[Line]:
    for field in fields:
        path = f"{within}{field.name}"
        name = field.name if field.tag < 0 else f"{field.name}<tag: {field.tag}>"
        definition = field.type
        if field.is_struct:
            definition = _format_contents(field.fields, field.flexible)
        yield Line(depth, path, name, definition, field.notes)
        yield from _list_lines(field.fields, depth + 1, f"{path}.")


def _wrap(pieces: list[str], indent: str, width: int | None) -> Iterator[str]:
    line = indent
    for piece in pieces:
        extended_line = f"{line} {piece}" if line.strip() else f"{indent}{piece}"
        if width is not None and len(extended_line) > width and line.strip():
            yield line
            extended_line = f"{indent}{' ' * _HANGING}{piece.lstrip()}"
        line = extended_line
    yield line
