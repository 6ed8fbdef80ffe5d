# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses a text in Kafka's JSON message language into a ``Message``.

This module implements the keys and type conversions of Kafka's JSON reader.
``json_text.py`` parses the JSON and ``rules.py`` validates the result. Every ``str``
either produces a ``Message`` or raises ``SchemaError`` with the position.

Conversions: a single value is accepted as a list with one element, a number or boolean
as its string, and a string as a number or boolean. If a key is repeated, the last value
is used. A null value has the same meaning as a missing key.

kwire rejects some schemas that Kafka accepts: names that no programming language
supports, version ranges with reversed bounds, ``fields`` in an array field with
primitive elements, structs that contain themselves, and numbers that only Java can
parse (``1f``), that have no digits (``0x``) or that Java parses as octal (``010``).
kwire accepts one additional feature: a field can refer to a struct that another field
defines.
Source: ``org.apache.kafka.message.MessageSpec``, ``StructSpec`` and ``FieldSpec``.
"""

from __future__ import annotations

from ..errors import SchemaError
from . import json_text, rules
from .model import KINDS, Field, Message, Struct
from .versions import NONE, VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NoReturn

_MESSAGE_KEYS = (
    "name",
    "type",
    "apiKey",
    "validVersions",
    "flexibleVersions",
    "deprecatedVersions",
    "listeners",
    "latestVersionUnstable",
    "fields",
    "commonStructs",
    "about",
)
_STRUCT_KEYS = ("name", "versions", "fields")
_FIELD_KEYS = (
    "name",
    "type",
    "versions",
    "nullableVersions",
    "taggedVersions",
    "tag",
    "default",
    "ignorable",
    "mapKey",
    "entityType",
    "flexibleVersions",
    "zeroCopy",
    "fields",
    "about",
)
_LISTENERS = ("zkBroker", "broker", "controller")
_BOOLEANS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
    "": False,
}


def read_message(text: str) -> Message:
    """Parse one message and validate all rules that apply to a single message.

    All fields that refer to a struct share one ``Struct``. A JSON null as the default
    means that there is no default, whereas the string ``"null"`` specifies a default of
    null. If ``validVersions`` is ``none``, the message has no fields, because it only
    reserves its name and its key.
    Raises ``SchemaError`` for the first error. JSON errors have priority over errors in
    keys and values, followed by violations of ``rules.check``.
    """
    root = json_text.read_value(text)
    keys = _Keys(root, _MESSAGE_KEYS, "a message", "", _read_name(root, ""))
    message = _read_message(keys)
    _link_structs(message)
    rules.check(message)
    if not message.valid_versions:
        message.struct.fields = []
        message.common_structs = []
    return message


class _Keys:
    """Members of a JSON object, with the type conversions of Kafka's JSON reader.

    ``path`` is the path of the field that the object describes and is used in errors. A
    null member is equivalent to a missing member.
    """

    def __init__(
        self,
        value: json_text.Value,
        allowed: tuple[str, ...],
        what: str,
        path: str,
        message_name: str,
    ) -> None:
        self.members = value.members
        self.what = what
        self.path = path
        self.message_name = message_name
        self.position = value.position
        if value.kind != json_text.OBJECT:
            self.fail(
                "value-invalid",
                f"{what} must be a JSON object (got {_describe_kind(value)})",
            )
        for key in value.members:
            if key not in allowed:
                self.fail("key-unknown", self.advice(key, allowed), key)

    def fail(self, rule: str, reason: str, key: str = "") -> NoReturn:
        position = self.members[key][0] if key in self.members else self.position
        raise SchemaError(reason, rule, self.path, self.message_name, *position)

    def advice(self, key: str, allowed: Iterable[str]) -> str:
        import difflib

        similar_keys = difflib.get_close_matches(key[:40], allowed, 1)
        remedy = f"did you mean {similar_keys[0]}?" if similar_keys else "remove it"
        return f"{self.what} has no key {rules.quote(key)}; {remedy}"

    def value(self, key: str) -> json_text.Value | None:
        member = self.members.get(key)
        if member is None or member[1].kind == json_text.NULL:
            return None
        return member[1]

    def text(self, key: str) -> str | None:
        value = self.value(key)
        if value is None:
            return None
        if value.kind in (json_text.ARRAY, json_text.OBJECT):
            self.fail(
                "value-invalid",
                f"{key} must be a string (got {_describe_kind(value)})",
                key,
            )
        return value.text

    def require_text(self, key: str) -> str:
        text = self.text(key)
        if text is None:
            self.fail("key-missing", f"{self.what} needs a {key}; add it")
        return text

    def choice(self, key: str, value: json_text.Value, choices: Iterable[str]) -> str:
        if value.kind != json_text.STRING or value.text not in choices:
            names = ", ".join(choices)
            reason = f"{key} must be one of {names} (got {_describe_value(value)})"
            self.fail("value-invalid", reason, key)
        return value.text

    def flag(self, key: str) -> bool:
        value = self.value(key)
        if value is None:
            return False
        text = value.text.strip()
        if value.kind in (json_text.STRING, json_text.BOOL) and text in _BOOLEANS:
            return _BOOLEANS[text]
        if value.kind == json_text.NUMBER and text.lstrip("-").isdigit():
            return text.strip("-0") != ""
        self.fail(
            "value-invalid",
            f"{key} must be true or false (got {_describe_value(value)})",
            key,
        )

    def integer(self, key: str, bits: int) -> int | None:
        value = self.value(key)
        if value is None:
            return None
        text = value.text.strip()
        if value.kind == json_text.STRING and not text:
            return None
        digits = text.removeprefix("-")
        limit = 1 << bits - 1
        # Check the length before the conversion, because Python raises an error for
        # very long numbers.
        if (
            value.kind in (json_text.NUMBER, json_text.STRING)
            and (digits.isascii() and digits.isdigit() and len(digits) <= 20)
            and -limit <= int(text) < limit
        ):
            return int(text)
        self.fail(
            "value-invalid",
            f"{key} must be {-limit} to {limit - 1} (got {_describe_value(value)})",
            key,
        )

    def versions(self, key: str) -> VersionRange | None:
        text = self.text(key)
        if text is None or not text.strip():
            return None
        try:
            return VersionRange.from_text(text)
        except ValueError:
            self.fail(
                "versions-invalid",
                f"{key} must be a range such as 3, 0-5, 2+ or none, of versions up to"
                f" 32767 (got {rules.quote(text)})",
                key,
            )

    def array(self, key: str) -> list[json_text.Value]:
        value = self.value(key)
        if value is None:
            return []
        return value.elements if value.kind == json_text.ARRAY else [value]


def _describe_kind(value: json_text.Value) -> str:
    if value.kind == json_text.NULL:
        return "null"
    article = "an" if value.kind in (json_text.ARRAY, json_text.OBJECT) else "a"
    return f"{article} {value.kind}"


def _describe_value(value: json_text.Value) -> str:
    if value.kind in (json_text.ARRAY, json_text.OBJECT):
        return _describe_kind(value)
    return rules.quote(value.text)


def _read_message(keys: _Keys) -> Message:
    fields = _read_fields(keys)
    common = [
        _read_common_struct(keys, value, index)
        for index, value in enumerate(keys.array("commonStructs"))
    ]
    name = keys.require_text("name")
    keys.require_text("type")
    kind = keys.choice("type", keys.members["type"][1], KINDS)
    api_key = keys.integer("apiKey", 16)
    valid = keys.versions("validVersions")
    if valid is None:
        keys.fail("versions-missing", "a message needs validVersions; add them")
    deprecated = keys.versions("deprecatedVersions") or NONE
    flexible = NONE
    listeners = tuple(
        keys.choice("listeners", value, _LISTENERS) for value in keys.array("listeners")
    )
    unstable = keys.flag("latestVersionUnstable")
    if valid:
        if keys.value("flexibleVersions") is None:
            keys.fail(
                "flexible-versions-bounded",
                f'a {kind} needs flexibleVersions; add them, "0+" if it is new',
            )
        flexible = keys.versions("flexibleVersions") or NONE
    return Message(
        kind,
        api_key,
        Struct(name, valid, fields, keys.position),
        flexible,
        common_structs=common,
        deprecated_versions=deprecated,
        listeners=listeners if valid else (),
        latest_version_unstable=unstable if valid else False,
    )


def _read_common_struct(above: _Keys, value: json_text.Value, index: int) -> Struct:
    path = _read_name(value, f"commonStructs[{index}]")
    keys = _Keys(value, _STRUCT_KEYS, "a common struct", path, above.message_name)
    fields = _read_fields(keys)
    name = keys.require_text("name")
    versions = keys.versions("versions")
    if versions is None:
        keys.fail("versions-missing", "a common struct needs versions; add them")
    return Struct(name, versions, fields, keys.position)


def _read_fields(above: _Keys) -> list[Field]:
    return [
        _read_field(above, value, index)
        for index, value in enumerate(above.array("fields"))
    ]


def _read_field(above: _Keys, value: json_text.Value, index: int) -> Field:
    path = rules.join(above.path, _read_name(value, f"fields[{index}]"))
    keys = _Keys(value, _FIELD_KEYS, "a field", path, above.message_name)
    fields = _read_fields(keys)
    name = keys.require_text("name")
    tagged = keys.versions("taggedVersions") or NONE
    versions = keys.versions("versions")
    explicit_versions = versions
    if versions is None:
        if not tagged:
            keys.fail(
                "versions-missing",
                "a field needs versions, or taggedVersions to take them from; add them",
            )
        versions = tagged
    type_name, is_array = _read_type(keys)
    is_struct = type_name not in rules.PRIMITIVES
    if fields and not is_struct:
        type_text = f"[]{type_name}" if is_array else type_name
        keys.fail(
            "fields-on-primitive",
            f"{type_text} cannot have fields; remove them",
            "fields",
        )
    if fields and explicit_versions is None:
        keys.fail(
            "struct-versions-missing",
            f"the struct {type_name} needs versions, taggedVersions are not enough;"
            " add them",
        )
    entity_value = keys.value("entityType")
    entity_type = None
    if entity_value is not None:
        choices = ("unknown", *rules.ENTITY_TYPES)
        entity_type = keys.choice("entityType", entity_value, choices)
    field = Field(
        name,
        type_name,
        versions,
        is_array=is_array,
        nullable_versions=keys.versions("nullableVersions") or NONE,
        tagged_versions=tagged,
        tag=keys.integer("tag", 32),
        default=keys.text("default"),
        ignorable=keys.flag("ignorable"),
        map_key=keys.flag("mapKey"),
        entity_type=None if entity_type == "unknown" else entity_type,
        flexible_versions=keys.versions("flexibleVersions"),
        zero_copy=keys.flag("zeroCopy"),
        position=keys.position,
    )
    if is_struct and keys.value("fields") is not None:
        field.struct = Struct(type_name, versions, fields, keys.position)
    return field


def _read_name(value: json_text.Value, otherwise: str) -> str:
    _, name = value.members.get("name", (None, None))
    return name.text if name and name.kind != json_text.NULL else otherwise


def _read_type(keys: _Keys) -> tuple[str, bool]:
    text = keys.require_text("type").strip()
    is_array = text.startswith("[]")
    element = text[2:].strip() if is_array else text
    if element in rules.PRIMITIVES or element[:1].isupper():
        return element, is_array
    if is_array and not element:
        reason = "an array needs the type of its elements; write it after []"
    elif element.startswith("[]"):
        reason = "an array cannot hold arrays; use an array of structs"
    else:
        reason = (
            f"{rules.quote(text)} is not a type; use one of"
            f" {', '.join(sorted(rules.PRIMITIVES))}, or a struct, whose name starts"
            " with a capital letter"
        )
    keys.fail("type-unknown", reason, "type")


def _link_structs(message: Message) -> None:
    """Resolve the struct of every field that refers to a struct by name."""
    fields = [
        field for _, struct in rules.each_struct(message) for field in struct.fields
    ]
    structs_by_name = {
        struct.name: struct for struct in reversed(message.common_structs)
    }
    for field in fields:
        if field.struct is not None and field.struct.fields:
            structs_by_name.setdefault(field.type, field.struct)
    for field in fields:
        # Kafka treats an empty list of fields like a missing list, so such a field does
        # not define a new struct.
        if field.type not in rules.PRIMITIVES and not (
            field.struct and field.struct.fields
        ):
            field.struct = structs_by_name.get(field.type, field.struct)
