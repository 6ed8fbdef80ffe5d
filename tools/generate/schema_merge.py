# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Merge two states of one message. The result contains all versions of both.

The *newer* state is authoritative for all of its versions, and its notation is
preserved if possible. The *older* state is authoritative for lower versions, which
Kafka has since removed: fields and version ranges that only these versions require are
restored. Every fact must be expressed by a single range, so a merge that would require
a range with a gap is rejected. ``_verify`` compiles all versions of the result and
compares them with the original state.

Defaults, ``ignorable`` and field types are not versioned, so the newer state determines
them. If that would change the bytes of an older version, the merge is rejected.
"""

from __future__ import annotations

import copy

from kwire.errors import SchemaError
from kwire.schema import notation, rules
from kwire.schema.model import Field, Message, Struct
from kwire.schema.plan import PRESENT, TAGGED, Plan, Step, compile_plan
from kwire.schema.versions import HIGHEST, NONE, VersionRange
from tools.generate.schema_sources import ImportRefused


def merge(older: Message, newer: Message) -> Message:
    """Merge two states of one message.

    Raises ``ImportRefused`` with the message, version and field if the result cannot be
    expressed, or if ``newer`` is not the newer state.
    """
    if not newer.valid_versions:
        return older
    was_data = _is_record_as_data(older, newer)
    if was_data and newer.kind == "coordinator-key":
        # Kafka now describes the version of the key as its record type. The bytes are
        # identical, so the new schema replaces the old one.
        return newer
    if (
        _is_record_as_data(newer, older)
        or newer.valid_versions.max < older.valid_versions.max
    ):
        raise ImportRefused(
            f"{newer.name}: the source has the {newer.kind} in {newer.valid_versions},"
            f" the definitions have the {older.kind} in {older.valid_versions} already;"
            " absorb older releases before newer ones"
        )
    if older.api_key != newer.api_key and not was_data:
        raise ImportRefused(
            f"{newer.name}: the apiKey was {older.api_key} and is {newer.api_key}; one"
            " message has one key for good"
        )
    merged = _Union(older, newer).message
    _verify(merged, older, newer)
    return merged


def _is_record_as_data(message: Message, other: Message) -> bool:
    """Return whether only ``other`` is marked as a coordinator record (since 4.1)."""
    return message.kind == "data" and other.kind.startswith("coordinator")


def kept_versions(older: Message, newer: Message) -> VersionRange:
    """Return the versions of ``older`` below the lowest version of ``newer``.

    Kafka has removed these versions, so the merge has to preserve them.
    """
    if newer.valid_versions.min <= older.valid_versions.min:
        return NONE
    return VersionRange(older.valid_versions.min, newer.valid_versions.min - 1)


class _Union:
    """Merge of two states of a message. It proceeds from struct to struct."""

    def __init__(self, older: Message, newer: Message) -> None:
        self.name = newer.name
        self.newer = newer
        self.kept = kept_versions(older, newer)
        self.live = VersionRange(newer.valid_versions.min, HIGHEST)
        self.partners: dict[int, Struct] = {}
        self.built: dict[int, Struct] = {}
        self.flexible = self.join(
            "flexible", older.flexible_versions, newer.flexible_versions, ""
        )
        self.flexible_before = older.flexible_versions
        self.pair(older.struct, newer.struct)
        common = {struct.name: struct for struct in older.common_structs}
        for struct in newer.common_structs:
            if struct.name in common:
                self.pair(common[struct.name], struct)
        root = self.struct(newer.struct, "")
        declared = [self.struct(struct, struct.name) for struct in newer.common_structs]
        for struct in older.common_structs:
            partner = self.built.get(id(struct))
            if partner is not None and partner not in declared:
                declared.append(partner)
        # Only Kafka 3.7 to 3.9 specify deprecated versions. If the newer state does not
        # specify them, keep those of the older state.
        deprecated = older.deprecated_versions
        if newer.deprecated_versions:
            deprecated = self.join(
                "deprecated", deprecated, newer.deprecated_versions, ""
            )
        self.message = Message(
            newer.kind,
            newer.api_key,
            root,
            self.flexible,
            common_structs=declared,
            deprecated_versions=deprecated,
            listeners=newer.listeners,
            latest_version_unstable=newer.latest_version_unstable,
        )

    def join(
        self, what: str, before: VersionRange, now: VersionRange, path: str
    ) -> VersionRange:
        """Join two ranges of one fact: the older for kept versions, else the newer.

        Raises ``ImportRefused`` if the result has a gap and is therefore not a range.
        """
        low = before & self.kept
        if now & self.kept == low:
            return now
        high = now & self.live
        if not low or not high:
            return low or high
        if low.max + 1 != high.min:
            advice = (
                "; give the field another name from there on, by hand"
                if path
                else "; absorb the releases between them first"
            )
            where = f"{self.name}: {path}" if path else self.name
            raise ImportRefused(
                f"{where}: the {what} would be {low} and {high}, and one range cannot"
                f" say that{advice}"
            )
        return VersionRange(low.min, high.max)

    def pair(self, before: Struct, now: Struct) -> None:
        """Store that two structs correspond, and that their equally named fields do."""
        if id(before) in self.partners:
            return
        self.partners[id(before)] = now
        self.partners.setdefault(id(now), before)
        fields = {field.name: field for field in before.fields}
        for field in now.fields:
            other = fields.get(field.name)
            if other is not None and other.struct is not None and field.struct:
                self.pair(other.struct, field.struct)

    def struct(self, now: Struct, path: str) -> Struct:
        """Return the union of a newer struct and the corresponding older struct."""
        built = self.built.get(id(now))
        if built is not None:
            return built
        before = self.partners.get(id(now))
        versions = now.versions
        if before is not None:
            versions = self.join("versions", before.versions, now.versions, path)
        built = self.built[id(now)] = Struct(now.name, versions, [])
        mine = {field.name: field for field in before.fields} if before else {}
        for field in now.fields:
            united = self.field(mine.get(field.name), field, path)
            # A field has no versions left if only the older state is authoritative for
            # them.
            if united.versions or not field.versions:
                built.fields.append(united)
        if before is not None:
            self.put_back(before, built.fields, path)
        return built

    def put_back(self, before: Struct, fields: list[Field], path: str) -> None:
        """Insert the fields that only kept versions contain into ``fields``.

        Each of them is inserted after the field that precedes it in the older state.
        """
        names = [field.name for field in fields]
        at = 0
        for field in before.fields:
            if field.name in names:
                at = names.index(field.name) + 1
            elif field.versions & self.kept:
                fields.insert(at, self.gone(field, path))
                names.insert(at, field.name)
                at += 1

    def gone(self, field: Field, path: str) -> Field:
        """Return a copy of a field that the newer state lacks, for kept versions."""
        kept = copy.copy(field)
        kept.versions &= self.kept
        kept.tagged_versions &= self.kept
        if field.struct is not None:
            place = rules.join(path, field.name)
            kept.struct = self.gone_struct(field.struct, place)
        return kept

    def gone_struct(self, struct: Struct, path: str) -> Struct:
        partner = self.partners.get(id(struct))
        if partner is not None:
            return self.struct(partner, path)
        built = self.built.get(id(struct))
        if built is None:
            built = self.built[id(struct)] = Struct(struct.name, struct.versions, [])
            for field in struct.fields:
                inner = copy.copy(field)
                if field.struct is not None:
                    inner.struct = self.gone_struct(
                        field.struct, rules.join(path, field.name)
                    )
                built.fields.append(inner)
        return built

    def field(self, before: Field | None, now: Field, path: str) -> Field:
        """Return the union of a field and the older field of the same name, if any."""
        path = rules.join(path, now.name)
        field = copy.copy(now)
        if now.struct is not None:
            field.struct = self.struct(now.struct, path)
        if before is None:
            field.versions = self.join("versions", NONE, now.versions, path)
            field.tagged_versions = now.tagged_versions & field.versions
            return field
        for what in ("versions", "nullable_versions", "tagged_versions"):
            words = what.partition("_")[0]
            united = self.join(words, getattr(before, what), getattr(now, what), path)
            setattr(field, what, united)
        # The secret mark is kwire's own addition. Kafka's schemas do not contain it, so
        # keep the mark of the older state.
        field.secret = now.secret or before.secret
        field.flexible_versions = self.flexible_override(before, now, path)
        if now.versions.contains(
            self.newer.valid_versions
        ) and not before.versions.contains(self.kept):
            # All versions of the newer state contain the field, so its ``ignorable``
            # has no effect. Keep the older value.
            field.ignorable = before.ignorable
        return field

    def flexible_override(
        self, before: Field, now: Field, path: str
    ) -> VersionRange | None:
        mine = before.flexible_versions
        if mine is None:
            mine = self.flexible_before
        theirs = now.flexible_versions
        if theirs is None:
            theirs = self.newer.flexible_versions
        united = self.join("flexible", mine, theirs, path)
        if now.flexible_versions is None and united == self.flexible:
            return None
        return united


BYTES, NAMES, VALUES = range(3)
"""Required similarity of two layouts.

BYTES: the bytes of all messages are identical. NAMES: field names are also identical.
VALUES: the handling of values whose field is not written is also identical.
"""


def _verify(merged: Message, older: Message, newer: Message) -> None:
    """Check that every version of the result has the layout of the authoritative state.

    Raises ``ImportRefused`` for the first difference, or if the result violates a rule.
    """
    text = notation.write_message(merged)
    try:
        rules.check(merged)
        reread = notation.read_message(text, merged.name)
    except SchemaError as error:
        raise ImportRefused(
            f"the union of both states breaks a rule: {error}"
        ) from None
    if notation.write_message(reread) != text:
        raise ImportRefused(f"{merged.name}: kwire's notation cannot hold it")
    checks = [(version, newer, VALUES) for version in newer.valid_versions]
    checks += [(version, older, NAMES) for version in kept_versions(older, newer)]
    for version, state, exact in checks:
        before = compile_plan(state, version)
        change = layout_change(before, compile_plan(reread, version), exact)
        if change:
            whose = "source" if state is newer else "definitions"
            raise ImportRefused(
                f"{merged.name}: version {version} of the union is not as the {whose}"
                f" have it: {change}; unite the two by hand"
            )


def layout_change(before: Plan, after: Plan, exact: int, path: str = "") -> str:
    """Describe the first difference between the layouts of one version in two plans.

    Returns "" if they are equal. Fields that only one of the plans contains are ignored
    if the version does not include them. ``exact`` determines whether names and
    defaults are compared in addition to the bytes.
    """
    for place, words in ((PRESENT, "in line"), (TAGGED, "tagged")):
        mine, theirs = _placed(before, place), _placed(after, place)
        for step, other in zip(mine, theirs, strict=False):
            where = rules.join(path, step.name)
            change = _step_change(step, other, exact, where)
            if step.name != other.name and (change or exact >= NAMES):
                return f"{where} has given way to {other.name}, {words}"
            if change:
                return change
        if len(mine) != len(theirs):
            gone = len(mine) > len(theirs)
            step = mine[len(theirs)] if gone else theirs[len(mine)]
            what = "gone" if gone else "new"
            return f"{rules.join(path, step.name)} is {what}, {words}"
    if exact >= VALUES:
        found = {step.name: (step.place, repr(step.default)) for step in after.steps}
        for step in before.steps:
            fate = step.place, repr(step.default)
            if found.get(step.name, fate) != fate:
                return f"{rules.join(path, step.name)} has another default or ignorable"
    return ""


def _placed(plan: Plan, place: int) -> list[Step]:
    if place == TAGGED:
        return list(plan.tagged)
    return [step for step in plan.steps if step.place == place]


def _step_change(before: Step, after: Step, exact: int, path: str) -> str:
    if (before.code, before.is_array) != (after.code, after.is_array):
        return f"{path} has another type"
    if before.nullable != after.nullable:
        return f"{path} is {'not ' if before.nullable else ''}nullable now"
    if before.compact != after.compact:
        return f"{path} is {'not ' if before.compact else ''}flexible now"
    if before.place == TAGGED:
        if before.tag != after.tag:
            return f"{path} has tag {after.tag} instead of {before.tag}"
        if repr(before.default) != repr(after.default):
            return f"{path} has another default"
    if before.plan is not None and after.plan is not None:
        return layout_change(before.plan, after.plan, exact, path)
    return ""
