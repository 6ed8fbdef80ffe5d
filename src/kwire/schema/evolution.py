# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Validates how a message changes between two releases.

``check_evolution`` compares two states of a message. Both must already comply with
``rules.py``. Kafka applies this check to its metadata records.
"""

from __future__ import annotations

from ..errors import SchemaError
from .model import Field, Message, Struct
from .rules import join, quote, refuse
from .versions import VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .rules import RuleViolation


def check_evolution(old: Message, new: Message) -> None:
    """Check that ``new`` is a valid later state of the message ``old``.

    Both states must agree on every version that they share, so that existing data
    remains readable. New versions can add fields, and any version can add tagged
    fields. A field can be renamed without moving it: an untagged field is identified by
    its position and a tagged field by its tag.
    Raises ``SchemaError`` with the path and position in ``new``. If a field was
    removed, the position is the struct that contained it.
    Source: ``EvolutionVerifier`` and ``Unifier``. kwire additionally checks tags.
    """
    refuse(new, "", None, _find_message_changes(old, new))
    shared = old.valid_versions & new.valid_versions
    pending_pairs = [("", old.struct, new.struct)]
    seen = set()
    while pending_pairs:
        path, before, after = pending_pairs.pop()
        if (id(before), id(after)) in seen:
            continue
        seen.add((id(before), id(after)))
        old_fields = {field.name: field for field in before.fields}
        for new_field in after.fields:
            if new_field.name in old_fields:
                changes = _find_range_changes(
                    shared, old_fields[new_field.name], new_field
                )
                refuse(new, path, new_field, changes)
        for old_field, new_field in _pair_fields(new, path, shared, before, after):
            refuse(new, path, new_field, _find_type_changes(old_field, new_field))
            refuse(
                new, path, new_field, _find_range_changes(shared, old_field, new_field)
            )
            if old_field.struct is not None and new_field.struct is not None:
                field_path = join(path, new_field.name)
                pending_pairs.append((field_path, old_field.struct, new_field.struct))


def _find_message_changes(old: Message, new: Message) -> Iterator[RuleViolation]:
    before, after = old.valid_versions, new.valid_versions
    if old.api_key != new.api_key:
        reason = f"the apiKey was {old.api_key} and is {new.api_key}; keep it"
        yield "evolution-api-key", reason
    if old.kind != new.kind:
        yield "evolution-type", f"the type was {old.kind} and is {new.kind}; keep it"
    if not new.flexible_versions.contains(old.flexible_versions):
        yield (
            "evolution-flexible-versions",
            f"the flexibleVersions were {old.flexible_versions} and are"
            f" {new.flexible_versions}; they may only grow",
        )
    if after.max < before.max:
        yield (
            "evolution-max-version",
            f"the highest version was {before.max}, now validVersions are {after}; it"
            " may not fall",
        )
    if after.min < before.min:
        yield (
            "evolution-min-version",
            f"the lowest version was {before.min}, now validVersions are {after}; it"
            " may not fall",
        )


def _pair_fields(
    new: Message, path: str, shared: VersionRange, before: Struct, after: Struct
) -> list[tuple[Field, Field]]:
    old_inline, new_inline = (
        _list_inline_fields(before, shared),
        _list_inline_fields(after, shared),
    )
    names = {field.name for field in old_inline}, {field.name for field in new_inline}
    new_by_tag = {field.tag: field for field in _list_tagged_fields(after, shared)}
    removed_fields = [
        field
        for field in _list_tagged_fields(before, shared)
        if field.tag not in new_by_tag
    ]
    if len(old_inline) > len(new_inline):
        removed_fields += [field for field in old_inline if field.name not in names[1]]
    for field in removed_fields:
        field_path = join(path, field.name)
        reason = "the field is gone from versions that exist; keep it in those"
        rule = "evolution-field-removed"
        raise SchemaError(reason, rule, field_path, new.name, *after.position)
    for field in new_inline:
        if len(old_inline) < len(new_inline) and field.name not in names[0]:
            reason = f"its versions exist already; set versions to {shared.max + 1}+"
            refuse(new, path, field, [("evolution-field-added", reason)])
    for field, new_field in zip(old_inline, new_inline, strict=True):
        # If the old name is missing in the new state and the new name in the old state,
        # the field was renamed in place.
        if (
            new_field.name != field.name
            and {field.name, new_field.name} & names[0] & names[1]
        ):
            reason = f"{field.name} was in this place; keep the order of the fields"
            refuse(new, path, new_field, [("evolution-order", reason)])
    tagged = [
        (field, new_by_tag[field.tag]) for field in _list_tagged_fields(before, shared)
    ]
    for field, new_field in tagged:
        if new_field.name != field.name:
            reason = f"tag {field.tag} belongs to {field.name}; use another"
            refuse(new, path, new_field, [("evolution-tag-reused", reason)])
    return [*zip(old_inline, new_inline, strict=True), *tagged]


def _list_tagged_fields(struct: Struct, shared: VersionRange) -> list[Field]:
    return [field for field in struct.fields if field.tagged_versions & shared]


def _list_inline_fields(struct: Struct, shared: VersionRange) -> list[Field]:
    """List the fields that a shared version encodes outside the tag section."""
    return [
        field
        for field in struct.fields
        if field.versions & shared != field.tagged_versions & shared
    ]


def _find_type_changes(old: Field, new: Field) -> Iterator[RuleViolation]:
    if (old.type, old.is_array) != (new.type, new.is_array):
        before, after = (
            f"[]{field.type}" if field.is_array else field.type for field in (old, new)
        )
        yield "evolution-type", f"the type was {before} and is {after}; keep it"
    if (old.default or "") != (new.default or ""):
        before, after = (quote(field.default or "") for field in (old, new))
        yield "evolution-default", f"the default was {before} and is {after}; keep it"


def _find_range_changes(
    shared: VersionRange, old: Field, new: Field
) -> Iterator[RuleViolation]:
    for key, before_range, after_range in (
        ("versions", old.versions, new.versions),
        ("nullableVersions", old.nullable_versions, new.nullable_versions),
        ("taggedVersions", old.tagged_versions, new.tagged_versions),
    ):
        if before_range & shared != after_range & shared:
            yield (
                "evolution-versions",
                f"{key} were {before_range} and are {after_range}; keep them the same"
                f" within {shared}",
            )
