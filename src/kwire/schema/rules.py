# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Validates a schema with the rules of Kafka's own generator.

This module contains the rules about a schema's meaning. They apply to a ``Message``
from any source. The rules about the notation are in ``language.py``, which has access
to the raw keys, and the rules about changes are in ``evolution.py``.

``check`` validates one message and ``check_ids`` validates a family of messages. Both
raise ``SchemaError`` for the first violated rule. Rules that Kafka applies while it
parses a schema have priority over rules that it applies later.

Kafka accepts the following, so these functions accept it too: nullable versions outside
the field's own versions, gaps between field versions, and any default for ``records``.
Source: ``FieldSpec``, ``StructSpec``, ``MessageSpec`` and ``MessageDataGenerator`` in
``org.apache.kafka.message``.
"""

from __future__ import annotations

import re

from ..errors import SchemaError
from .model import FIXED_SIZES, VARIABLE_TYPES, Field, Message, Struct
from .versions import VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    RuleViolation = tuple[str, str]
    """Name of a rule, and the problem with its remedy."""

RULES = (
    "key-missing",
    "name-illegal",
    "versions-missing",
    "struct-versions-missing",
    "type-not-nullable",
    "entity-type-mismatch",
    "fields-on-primitive",
    "flexible-override-misplaced",
    "zero-copy-misplaced",
    "tag-on-map-key",
    "tag-negative",
    "tag-without-versions",
    "tag-missing",
    "tagged-versions-bounded",
    "tagged-versions-outside",
    "tagged-versions-not-flexible",
    "tagged-nullable-partly",
    "tag-duplicate",
    "tag-not-contiguous",
    "field-duplicate",
    "type-unknown",
    "struct-name-illegal",
    "struct-defined-twice",
    "struct-undefined",
    "flexible-versions-bounded",
    "request-only-key",
    "valid-versions-unbounded",
    "map-key-at-top",
    "default-invalid",
    "default-not-nullable",
    "default-not-empty",
    "records-tagged",
    "id-conflict",
    "coordinator-shape",
)
"""Stable names of Kafka's 34 rules. ``SchemaError.rule`` contains one of them.

``SchemaError.rule`` can also contain the following names:

* ``json``, ``key-unknown``, ``value-invalid`` and ``versions-invalid`` if the schema
  cannot be parsed.
* ``api-key-missing`` and ``flexible-override-outside``, which Kafka detects later.
* ``struct-recursive``, ``nesting-too-deep`` and ``layout-too-large``, which
  limit the stack depth and the memory that a schema can require.
* ``empty-element`` of ``plan.py``.
* The names in ``evolution.py``, which start with ``evolution-``.
"""

PRIMITIVES = frozenset((*FIXED_SIZES, *VARIABLE_TYPES))
"""Names of all types except structs."""

ENTITY_TYPES = {
    "transactionalId": "string",
    "groupId": "string",
    "topicName": "string",
    "producerId": "int64",
    "brokerId": "int32",
}
"""Required field type by entity type."""

MAX_STRUCT_DEPTH = 16
"""Maximum struct nesting depth, so that no recursion can exhaust the stack."""

MAX_LAYOUT_FIELDS = 65_536
"""Maximum number of fields in a message. A struct counts once per use.

A message's default value, its code in the Python engine and its Arrow columns grow with
this number. For example, if every struct contained the next one ten times, every
nesting level would multiply the number by ten. Encoding the default values could then
take hours, even if the schema is short. Kafka's largest message has 101 fields.
"""

_FIELD_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_CLASS_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)|0x[0-9A-Fa-f]+")
_FLOAT = re.compile(
    r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
)
_UUID = re.compile(r"[A-Za-z0-9_-]{22}")
_INTEGER_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_UNSIGNED_BITS = {"uint16": 16, "uint32": 32}
_KEYED_KINDS = ("request", "response", "metadata")
_UNIQUE_KINDS = (*_KEYED_KINDS, "coordinator-key", "coordinator-value")


def check(message: Message) -> None:
    """Check one message with all rules that do not involve other messages.

    A message without valid versions only reserves its name and its key. Therefore, the
    rules about the message as a whole and about generated code do not apply to it.
    Raises ``SchemaError`` with the rule, the path of the field and its position.
    """
    paths_and_structs = list(each_struct(message))
    for path, struct in paths_and_structs:
        for field in struct.fields:
            refuse(message, path, field, _find_field_violations(field))
        for field, violation in _find_struct_violations(struct):
            refuse(message, path, field, [violation])
    refuse(message, "", None, _find_name_violations(message))
    if not message.valid_versions:
        return
    refuse(message, "", None, _find_message_violations(message))
    refuse(message, "", None, _find_generated_message_violations(message))
    _check_structs(message, paths_and_structs)
    for path, struct in paths_and_structs:
        for field in struct.fields:
            refuse(
                message, path, field, _find_generated_field_violations(message, field)
            )
            if struct is message.struct and field.map_key:
                reason = "a field of the message itself is no mapKey; remove it"
                refuse(message, path, field, [("map-key-at-top", reason)])


def each_struct(message: Message) -> Iterator[tuple[str, Struct]]:
    """Yield all structs in a message without repetition, with their field paths.

    The common structs are first, and their path is their own name. They are followed by
    the message itself, which has an empty path, and by the structs that its fields
    define inline.
    """
    common = {id(struct) for struct in message.common_structs}
    common_starts = [(struct.name, struct) for struct in message.common_structs]
    pending_structs = [("", message.struct), *reversed(common_starts)]
    seen = set()
    while pending_structs:
        path, struct = pending_structs.pop()
        if id(struct) in seen:
            continue
        seen.add(id(struct))
        yield path, struct
        pending_structs += [
            (join(path, field.name), field.struct)
            for field in reversed(struct.fields)
            if field.struct is not None and id(field.struct) not in common
        ]


def join(path: str, name: str) -> str:
    """Append a name to a field path such as ``Responses.Partitions``."""
    return f"{path}.{name}" if path else name


def quote(text: str) -> str:
    """Quote a schema fragment for an error message.

    A fragment with more than 40 characters is truncated to 37 characters.
    """
    return repr(text) if len(text) <= 40 else f"{text[:37]!r}..."


def refuse(
    message: Message,
    path: str,
    field: Field | None,
    violations: Iterable[RuleViolation],
) -> None:
    """Raise ``SchemaError`` for the first error in a field at ``path``.

    Without a field, the error belongs to the message. Without errors, nothing is
    raised.
    """
    for rule, reason in violations:
        position = message.struct.position
        if field is not None:
            path = join(path, field.name)
            position = field.position
        raise SchemaError(reason, rule, path, message.name, *position)


def _find_field_violations(field: Field) -> Iterator[RuleViolation]:
    kind = f"[]{field.type}" if field.is_array else field.type
    is_text = not field.is_array and field.type in ("string", "bytes")
    if not _FIELD_NAME.fullmatch(field.name):
        yield (
            "name-illegal",
            f"{quote(field.name)} is not a field name; use ASCII letters and digits, a"
            " letter first",
        )
    if field.nullable_versions and not field.is_array and field.type in FIXED_SIZES:
        yield "type-not-nullable", f"{kind} cannot be null; remove nullableVersions"
    expected = ENTITY_TYPES.get(field.entity_type or "", field.type)
    if field.type != expected:
        yield (
            "entity-type-mismatch",
            f"the entityType {field.entity_type} requires type {expected} (got"
            f" {kind}); change one of them",
        )
    if field.flexible_versions is not None and not is_text:
        yield (
            "flexible-override-misplaced",
            f"only string and bytes fields can override flexibleVersions (got {kind});"
            " remove it",
        )
    if field.tag is not None and field.map_key:
        yield "tag-on-map-key", "a mapKey cannot be tagged; remove mapKey or the tag"
    yield from _find_tag_violations(field)
    if field.zero_copy and kind != "bytes":
        yield (
            "zero-copy-misplaced",
            f"only bytes fields can be zeroCopy (got {kind}); remove it",
        )


def _find_tag_violations(field: Field) -> Iterator[RuleViolation]:
    tagged = field.tagged_versions
    nullable = field.nullable_versions & tagged
    if field.tag is None:
        if tagged:
            yield "tag-missing", f"the taggedVersions {tagged} need a tag; add one"
        return
    if field.tag < 0:
        yield "tag-negative", f"the tag {field.tag} is negative; count tags from 0"
    if not tagged:
        yield (
            "tag-without-versions",
            f"the tag {field.tag} has no taggedVersions; add them or remove the tag",
        )
    if nullable and nullable != tagged:
        yield (
            "tagged-nullable-partly",
            f"of the taggedVersions {tagged} only {nullable} are nullable; make all of"
            " them nullable, or none",
        )
    if not tagged.is_open:
        yield (
            "tagged-versions-bounded",
            f"the taggedVersions {tagged} end; leave them open, as in {tagged.min}+",
        )
    if not field.versions.contains(tagged):
        yield (
            "tagged-versions-outside",
            f"the taggedVersions {tagged} are not all in versions {field.versions};"
            " make them a part of it",
        )


def _find_struct_violations(struct: Struct) -> Iterator[tuple[Field, RuleViolation]]:
    tags: dict[int, Field] = {}
    names: set[str] = set()
    for field in struct.fields:
        if field.tag is not None:
            if field.tag in tags:
                reason = (
                    f"tag {field.tag} already belongs to {tags[field.tag].name}, and a"
                    " struct uses a tag once, in whatever versions; give another tag"
                )
                yield field, ("tag-duplicate", reason)
            tags[field.tag] = field
        if field.name in names:
            reason = "the struct already has a field of this name; choose another"
            yield field, ("field-duplicate", reason)
        names.add(field.name)
    for expected, tag in enumerate(sorted(tags)):
        if tag != expected:
            reason = f"tag {tag} leaves a gap; tags count from 0, use {expected} first"
            yield tags[tag], ("tag-not-contiguous", reason)


def _find_name_violations(message: Message) -> Iterator[RuleViolation]:
    if not _CLASS_NAME.fullmatch(message.name):
        yield (
            "name-illegal",
            f"{quote(message.name)} is not a message name; use ASCII letters and"
            " digits, a letter first",
        )


def _find_message_violations(message: Message) -> Iterator[RuleViolation]:
    flexible = message.flexible_versions
    if flexible and not flexible.is_open:
        yield (
            "flexible-versions-bounded",
            f"the flexibleVersions {flexible} end; use {flexible.min}+ or none",
        )
    if message.listeners and message.kind != "request":
        yield "request-only-key", "only a request has listeners; remove them"
    if message.latest_version_unstable and message.kind != "request":
        yield (
            "request-only-key",
            "only a request has latestVersionUnstable; remove it",
        )
    if message.kind in ("coordinator-key", "coordinator-value"):
        subject = f"a {message.kind}"
        if message.api_key is None:
            yield (
                "coordinator-shape",
                f"{subject} needs its record type as apiKey; add it",
            )
    if message.kind == "coordinator-key":
        if message.valid_versions != VersionRange(0, 0):
            yield (
                "coordinator-shape",
                f"{subject} has version 0 alone (got {message.valid_versions}); set"
                ' validVersions to "0"',
            )
        if flexible:
            yield (
                "coordinator-shape",
                f'{subject} is never flexible; set flexibleVersions to "none"',
            )


def _find_generated_message_violations(message: Message) -> Iterator[RuleViolation]:
    if message.valid_versions.is_open:
        low = message.valid_versions.min
        yield (
            "valid-versions-unbounded",
            f"the validVersions {low}+ never end; give the highest, as in {low}-{low}",
        )
    if message.kind in _KEYED_KINDS and message.api_key is None:
        yield "api-key-missing", f"a {message.kind} message needs an apiKey; add it"


def _check_structs(
    message: Message, paths_and_structs: list[tuple[str, Struct]]
) -> None:
    common = {struct.name for struct in message.common_structs}
    structs_by_name: dict[str, Struct] = {message.name: message.struct}
    for path, struct in paths_and_structs:
        if struct is message.struct:
            continue
        rule = ""
        if not _CLASS_NAME.fullmatch(struct.name) or not struct.name[0].isupper():
            rule = "struct-name-illegal"
            reason = (
                f"{quote(struct.name)} is not a struct name; use ASCII letters and"
                " digits, a capital letter first"
            )
        elif struct.name in structs_by_name:
            rule = "struct-defined-twice"
            reason = f"the struct {struct.name} is already defined; give fields once"
            if struct.name in common and path != struct.name:
                reason = (
                    f"the struct {struct.name} is one of the commonStructs; remove"
                    " these fields"
                )
        if rule:
            raise SchemaError(reason, rule, path, message.name, *struct.position)
        structs_by_name[struct.name] = struct
    _check_nesting(message)
    _check_layout_sizes(message)


def _check_nesting(message: Message) -> None:
    heights: dict[int, int] = {}
    open_structs: set[int] = set()

    def visit(struct: Struct, path: str) -> int:
        height = 1
        open_structs.add(id(struct))
        for field in struct.fields:
            inner_struct = field.struct
            if inner_struct is None:
                continue
            field_path = join(path, field.name)
            if id(inner_struct) in open_structs:
                rule = "struct-recursive"
                reason = (
                    f"the struct {inner_struct.name} contains itself; remove the cycle"
                )
                raise SchemaError(
                    reason, rule, field_path, message.name, *field.position
                )
            if (
                id(inner_struct) not in heights
                and len(open_structs) <= MAX_STRUCT_DEPTH
            ):
                heights[id(inner_struct)] = visit(inner_struct, field_path)
            # ``heights`` lacks a struct only if it is already nested too deeply.
            height = max(height, 1 + heights.get(id(inner_struct), MAX_STRUCT_DEPTH))
            if height > MAX_STRUCT_DEPTH:
                rule = "nesting-too-deep"
                reason = f"structs nest deeper than {MAX_STRUCT_DEPTH}; flatten them"
                raise SchemaError(
                    reason, rule, field_path, message.name, *field.position
                )
        open_structs.discard(id(struct))
        return height

    for struct in message.common_structs:
        if id(struct) not in heights:
            heights[id(struct)] = visit(struct, struct.name)
    visit(message.struct, "")


def _check_layout_sizes(message: Message) -> None:
    """Limit the number of fields. Nested fields are counted for every use."""
    sizes: dict[int, int] = {}

    def measure(struct: Struct, path: str) -> None:
        size = 1
        for field in struct.fields:
            inner_struct = field.struct
            field_path = join(path, field.name)
            if inner_struct is not None and id(inner_struct) not in sizes:
                measure(inner_struct, field_path)
            size += 1 if inner_struct is None else sizes[id(inner_struct)]
            if size > MAX_LAYOUT_FIELDS:
                rule = "layout-too-large"
                reason = (
                    f"{struct.name} has more than {MAX_LAYOUT_FIELDS} fields, those of"
                    " inner structs counted at each use; use fewer structs in structs"
                )
                raise SchemaError(
                    reason, rule, field_path, message.name, *field.position
                )
        sizes[id(struct)] = size

    for struct in message.common_structs:
        if id(struct) not in sizes:
            measure(struct, struct.name)
    measure(message.struct, "")


def _find_generated_field_violations(
    message: Message, field: Field
) -> Iterator[RuleViolation]:
    if field.struct is None and field.type not in PRIMITIVES:
        yield (
            "struct-undefined",
            f"the struct {quote(field.type)} is defined nowhere; give it fields, here"
            " or in commonStructs",
        )
    flexible = field.flexible_versions
    if flexible is None:
        flexible = message.flexible_versions
    elif not message.flexible_versions.contains(flexible):
        yield (
            "flexible-override-outside",
            f"the field's flexibleVersions {flexible} are not all in those of the"
            f" message, {message.flexible_versions}; make them a part of it",
        )
    if not flexible.contains(field.tagged_versions):
        yield (
            "tagged-versions-not-flexible",
            f"the taggedVersions {field.tagged_versions} are not all in the"
            f" flexibleVersions {flexible}, and only flexible versions have tags; make"
            " them a part of it",
        )
    if field.tag is not None and field.type == "records" and not field.is_array:
        yield "records-tagged", "records cannot be tagged; remove the tag"
    yield from _find_default_violations(field)


def _find_default_violations(field: Field) -> Iterator[RuleViolation]:
    text = field.default
    kind = f"[]{field.type}" if field.is_array else field.type
    if not text or kind == "records":
        return
    nullable = kind not in FIXED_SIZES
    if nullable and text == "null":
        if not field.nullable_versions.contains(field.versions):
            yield (
                "default-not-nullable",
                "the default is null, but not all versions are nullable; set"
                f" nullableVersions to {field.versions} or remove the default",
            )
    elif nullable and kind != "string":
        subject = "a struct" if field.struct is not None else kind
        subject = "an array" if field.is_array else subject
        yield (
            "default-not-empty",
            f"{quote(text)} is no default for {subject}; only an empty one or null is",
        )
    elif kind == "bool" and text.lower() not in ("true", "false"):
        yield "default-invalid", f"{quote(text)} is no bool; use true or false"
    elif kind == "float64" and not _FLOAT.fullmatch(text):
        yield "default-invalid", f"{quote(text)} is no float64; use a form like -1.5e3"
    elif kind == "uuid" and not _UUID.fullmatch(text):
        yield (
            "default-invalid",
            f"{quote(text)} is no uuid; use 22 letters of URL-safe base64",
        )
    elif kind in _INTEGER_BITS:
        bits = _INTEGER_BITS[kind]
        yield from _find_integer_violations(
            text, kind, -(1 << bits - 1), (1 << bits - 1) - 1
        )
    elif kind in _UNSIGNED_BITS:
        yield from _find_integer_violations(
            text, kind, 0, (1 << _UNSIGNED_BITS[kind]) - 1
        )


def _find_integer_violations(
    text: str, kind: str, low: int, high: int
) -> Iterator[RuleViolation]:
    if not _INTEGER.fullmatch(text):
        yield (
            "default-invalid",
            f"{quote(text)} is no {kind}; use decimal digits without leading zeros, or"
            " 0x and hexadecimal ones",
        )
    # Check the length before the conversion, because Python raises an error for very
    # long numbers.
    elif len(text) > 24 or not low <= int(text, 0) <= high:
        yield (
            "default-invalid",
            f"{quote(text)} is outside {kind}; use {low} to {high}",
        )


def check_ids(messages: Iterable[Message]) -> None:
    """Check that the messages of a family have unique ids.

    A family contains the messages that Kafka generates together: all requests and
    responses, the records of one coordinator, or the metadata records. Two messages
    with the same kind must not have the same id. A coordinator record key requires a
    value with the same id, and a value requires a key.
    Raises ``SchemaError`` with rule ``id-conflict`` if a message violates these rules.
    Source: ``ApiMessageTypeGenerator``, ``CoordinatorRecordTypeGenerator``.
    """
    owners: dict[tuple[str, int], Message] = {}
    for message in messages:
        if message.kind not in _UNIQUE_KINDS or message.api_key is None:
            continue
        owner = owners.setdefault((message.kind, message.api_key), message)
        if owner is not message:
            _refuse_id(
                message,
                f"the {message.kind} {owner.name} has apiKey {message.api_key} already;"
                " choose another",
            )
    partners = {
        "coordinator-key": "coordinator-value",
        "coordinator-value": "coordinator-key",
    }
    for (kind, api_key), message in owners.items():
        if kind in partners and (partners[kind], api_key) not in owners:
            _refuse_id(
                message,
                f"the apiKey {api_key} has a {kind} but no {partners[kind]}; add the"
                " other half",
            )


def _refuse_id(message: Message, reason: str) -> None:
    refuse(message, "", None, [("id-conflict", reason)])
