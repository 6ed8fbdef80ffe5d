# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
r"""Reads and writes kwire's own notation for message definitions.

A file contains the messages of one API key or record family. A message consists of a
header line and its fields. Every nesting level is indented by two more spaces:

    response HeartbeatResponse 12 versions 0-4 flexible 4+
      ThrottleTimeMs int32 1+ ignorable
      ErrorCode int16 0+

    header := kind name [api key] versions R flexible R [deprecated R] [unstable]
              [listeners a,b]
    field  := name type R [nullable R] [tag N] [tagged R] [flexible R] [ignorable]
              [key] [zero-copy] [secret] [entity E] [default TEXT]
    struct NAME R        declares a common struct; its fields follow, indented

``R`` is a version range (``3``, ``0-2``, ``9+``, ``none``). ``tagged`` is only written
if it differs from the field's versions. In a field, ``flexible`` is only written if it
overrides the message's flexible versions. ``secret`` marks fields that must not be
printed or recorded. Kafka has no equivalent mark. ``default`` is the last property and
extends to the end of the line. The default value is enclosed in JSON quotes if it is
empty or contains spaces. A line that starts with ``#`` is a comment.

The reader does not validate the meaning of a definition, because tests check all
definition files. ``rules.py`` validates schemas from other sources.
"""

from __future__ import annotations

from ..errors import SchemaError
from .model import FIXED_SIZES, VARIABLE_TYPES, Field, Message, Struct
from .versions import NONE, VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_PRIMITIVES = frozenset((*FIXED_SIZES, *VARIABLE_TYPES))


def read_message(text: str, name: str) -> Message:
    """Parse the message ``name`` from the text of a definition file.

    Raises ``SchemaError`` with the line number if a fact cannot be parsed, or if the
    text does not contain the message.
    """
    needle = f" {name} "
    name_index = text.find(needle)
    while name_index >= 0:
        start = text.rfind("\n", 0, name_index) + 1
        if text[start : start + 1].isalpha() and text.find(" ", start) == name_index:
            end = start
            while True:
                end = text.find("\n", end) + 1
                if not end:
                    end = len(text)
                    break
                if text[end : end + 1] not in (" ", "#", "\n"):
                    break
            return _Reader(text[start:end], text.count("\n", 0, start)).parse_message()
        name_index = text.find(needle, name_index + 1)
    raise SchemaError("the definition file lacks this message", message_name=name)


def write_message(message: Message) -> str:
    """Format one message in the notation. The result ends with a newline."""
    words = [message.kind, message.name]
    if message.api_key is not None:
        words.append(str(message.api_key))
    words += ["versions", str(message.valid_versions)]
    words += ["flexible", str(message.flexible_versions)]
    if message.deprecated_versions:
        words += ["deprecated", str(message.deprecated_versions)]
    if message.latest_version_unstable:
        words.append("unstable")
    if message.listeners:
        words += ["listeners", ",".join(message.listeners)]
    lines = [" ".join(words)]
    declared = {struct.name for struct in message.common_structs}

    def write_fields(fields: list[Field], indent: str) -> None:
        for field in fields:
            lines.append(indent + _format_field(field))
            if field.struct is not None and field.struct.name not in declared:
                write_fields(field.struct.fields, indent + "  ")

    write_fields(message.struct.fields, "  ")
    for struct in message.common_structs:
        lines.append(f"  struct {struct.name} {struct.versions}")
        write_fields(struct.fields, "    ")
    return "\n".join(lines) + "\n"


def _format_field(field: Field) -> str:
    words = [field.name, f"{'[]' if field.is_array else ''}{field.type}"]
    words.append(str(field.versions))
    if field.nullable_versions:
        words += ["nullable", str(field.nullable_versions)]
    if field.tag is not None:
        words += ["tag", str(field.tag)]
        if field.tagged_versions != field.versions:
            words += ["tagged", str(field.tagged_versions)]
    if field.flexible_versions is not None:
        words += ["flexible", str(field.flexible_versions)]
    if field.ignorable:
        words.append("ignorable")
    if field.map_key:
        words.append("key")
    if field.zero_copy:
        words.append("zero-copy")
    if field.secret:
        words.append("secret")
    if field.entity_type is not None:
        words += ["entity", field.entity_type]
    if field.default is not None:
        words += ["default", _format_default(field.default)]
    return " ".join(words)


def _format_default(default: str) -> str:
    if default and default.isascii() and default.isprintable() and " " not in default:
        return default
    import json

    return json.dumps(default)


class _Reader:
    """Parser for the lines of one message.

    ``before`` is the number of lines in the file before this message.
    """

    def __init__(self, block: str, before: int) -> None:
        self.lines = [
            (number, line)
            for number, line in enumerate(block.split("\n"), before + 1)
            if line and line[0] != "#"
        ]
        self.name = ""

    def parse_message(self) -> Message:
        number, header = self.lines[0]
        words = header.split()
        kind, self.name = words[0], words[1]
        api_key = int(words[2]) if words[2] != "versions" else None
        facts = self.parse_properties(words[2 if api_key is None else 3 :], number)
        fields: list[Field] = []
        common: list[Struct] = []
        struct_fields: list[Field] = []
        # Stack with the field list of every open nesting level. When a line is parsed,
        # its indentation selects the list that receives the field.
        levels = [fields]
        for number, line in self.lines[1:]:
            content = line.lstrip(" ")
            depth = (len(line) - len(content)) // 2
            if not 1 <= depth <= len(levels):
                self.fail("the indent matches no line above", number)
            del levels[depth:]
            words = content.split(" ", 3)
            if words[0] == "struct":
                struct = Struct(words[1], self.parse_range(words[2], number), [])
                common.append(struct)
                levels.append(struct.fields)
                continue
            field = self.parse_field(words, number)
            levels[-1].append(field)
            if field.type in _PRIMITIVES:
                continue
            struct = Struct(field.type, field.versions, [], field.position)
            field.struct = struct
            struct_fields.append(field)
            levels.append(struct.fields)
        declared = {struct.name: struct for struct in common}
        for field in struct_fields:
            field.struct = declared.get(field.type, field.struct)
        return Message(
            kind,
            api_key,
            Struct(self.name, self.parse_range(str(facts["versions"]), number), fields),
            self.parse_range(str(facts["flexible"]), number),
            common_structs=common,
            deprecated_versions=self.parse_range(
                str(facts.get("deprecated", "none")), 0
            ),
            listeners=tuple(str(facts["listeners"]).split(","))
            if "listeners" in facts
            else (),
            latest_version_unstable="unstable" in facts,
        )

    def parse_field(self, words: list[str], number: int) -> Field:
        if len(words) < 3:
            self.fail("a field needs a name, a type and versions", number)
        name, type_text, versions_text = words[:3]
        is_array = type_text.startswith("[]")
        field = Field(
            name,
            type_text[2:] if is_array else type_text,
            self.parse_range(versions_text, number),
            is_array=is_array,
            position=(number, 1),
        )
        if len(words) == 3:
            return field
        properties, has_default, default = words[3].partition("default ")
        if has_default:
            if default.startswith('"'):
                import json

                default = json.loads(default)
            field.default = default
        for key, value in self.parse_properties(properties.split(), number).items():
            if key == "nullable":
                field.nullable_versions = self.parse_range(str(value), number)
            elif key == "tag":
                field.tag = int(value)
                field.tagged_versions = field.tagged_versions or field.versions
            elif key == "tagged":
                field.tagged_versions = self.parse_range(str(value), number)
            elif key == "flexible":
                field.flexible_versions = self.parse_range(str(value), number)
            elif key == "ignorable":
                field.ignorable = True
            elif key == "key":
                field.map_key = True
            elif key == "zero-copy":
                field.zero_copy = True
            elif key == "secret":
                field.secret = True
            elif key == "entity":
                field.entity_type = str(value)
            else:
                self.fail(f"unknown word {key!r}", number)
        return field

    def parse_properties(self, words: list[str], number: int) -> dict[str, str]:
        facts = {}
        remaining_words = iter(words)
        for word in remaining_words:
            if word in ("ignorable", "key", "zero-copy", "secret", "unstable"):
                facts[word] = ""
            else:
                value = next(remaining_words, None)
                if value is None:
                    self.fail(f"{word!r} lacks its value", number)
                facts[word] = str(value)
        return facts

    def parse_range(self, text: str, number: int) -> VersionRange:
        versions = _RANGES.get(text)
        if versions is None:
            try:
                versions = _RANGES[text] = VersionRange.from_text(text)
            except ValueError as error:
                self.fail(str(error), number)
        return versions

    def fail(self, reason: str, number: int) -> NoReturn:
        raise SchemaError(reason, "notation", "", self.name, number, 1)


_RANGES: dict[str, VersionRange] = {"none": NONE}
