# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Describe the differences between two states of the definitions.

``+`` marks a new field and ``-`` a removed field. ``!`` marks a version whose binary
layout was different before, because Kafka changed it after the release.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator

from kwire.schema import rules
from kwire.schema.model import Field, Message
from kwire.schema.plan import compile_plan
from kwire.schema.versions import VersionRange
from tools.generate.schema_files import Entries, Entry
from tools.generate.schema_merge import BYTES, layout_change

WIDTH = 80

Facts = dict[str, str]


def describe(before: Entries, after: Entries) -> list[str]:
    """Describe the differences between two states of the definitions.

    The lines have at most 80 columns and are sorted by message.
    """
    lines = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None and new is not None:
            lines += _wrap(f"new {name}: {_summary(new)}", 0)
        elif new is None:
            lines.append(f"gone {name}")
        elif old is not None:
            changes = list(_entry_changes(old, new))
            if changes:
                lines.append(f"{name}:")
                for change in changes:
                    lines += _wrap(change, 2)
    return lines


def _wrap(text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 4),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _summary(entry: Entry) -> str:
    message = entry.message
    key = "" if message.api_key is None else f" {message.api_key}"
    versions = f"versions {message.valid_versions}"
    return f"{message.kind}{key}, {versions}, in {entry.family}.txt"


def _entry_changes(old: Entry, new: Entry) -> Iterator[str]:
    if old.family != new.family:
        yield f"moved from {old.family}.txt to {new.family}.txt"
    before, after = _message_facts(old.message), _message_facts(new.message)
    words = _fact_changes(before, after)
    if words:
        yield words
    yield from _field_changes(old.message, new.message)
    yield from _layout_changes(old.message, new.message)


def _message_facts(message: Message) -> Facts:
    return {
        "type": message.kind,
        "key": "none" if message.api_key is None else str(message.api_key),
        "versions": str(message.valid_versions),
        "flexible": str(message.flexible_versions),
        "deprecated": str(message.deprecated_versions),
        "newest version unstable": _yes(message.latest_version_unstable),
        "listeners": " and ".join(message.listeners) or "none",
    }


def _field_facts(field: Field) -> Facts:
    flexible = field.flexible_versions
    return {
        "type": f"{'[]' if field.is_array else ''}{field.type}",
        "versions": str(field.versions),
        "nullable": str(field.nullable_versions),
        "tag": "none" if field.tag is None else str(field.tag),
        "tagged": str(field.tagged_versions),
        "flexible": "as the message" if flexible is None else str(flexible),
        "default": "none" if field.default is None else repr(field.default),
        "ignorable": _yes(field.ignorable),
        "key": _yes(field.map_key),
        "entity": field.entity_type or "none",
        "zero-copy": _yes(field.zero_copy),
        "secret": _yes(field.secret),
    }


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def _fact_changes(before: Facts, after: Facts) -> str:
    return ", ".join(
        f"{what} {value} -> {after[what]}"
        for what, value in before.items()
        if value != after[what]
    )


def _field_changes(old: Message, new: Message) -> Iterator[str]:
    """Yield the differences between the fields of two messages.

    Fields with the same path correspond, so a renamed field counts as removed and new.
    """
    before, after = _facts_by_path(old), _facts_by_path(new)
    for path, facts in after.items():
        if path not in before:
            said = [
                f"{what} {value}"
                for what, value in facts.items()
                if value not in ("none", "no", "as the message")
            ]
            yield f"+ {path}: {', '.join(said)}"
        elif facts != before[path]:
            yield f"{path}: {_fact_changes(before[path], facts)}"
    for path in before:
        if path not in after:
            yield f"- {path}"
    shared = before.keys() & after.keys()
    order = [path for path in after if path in shared]
    if order != [path for path in before if path in shared]:
        yield "the order of the fields"


def _facts_by_path(message: Message) -> dict[str, Facts]:
    facts = {
        rules.join(path, field.name): _field_facts(field)
        for path, struct in rules.each_struct(message)
        for field in struct.fields
    }
    for struct in message.common_structs:
        facts[f"struct {struct.name}"] = {"versions": str(struct.versions)}
    return facts


def _layout_changes(old: Message, new: Message) -> Iterator[str]:
    """Yield the version ranges that both states contain with different layouts."""
    changes = [
        layout_change(compile_plan(old, version), compile_plan(new, version), BYTES)
        for version in old.valid_versions & new.valid_versions
    ]
    version = (old.valid_versions & new.valid_versions).min
    for change, same in itertools.groupby(changes):
        versions = VersionRange(version, version + len(list(same)) - 1)
        version = versions.max + 1
        if change:
            yield f"! version {versions} had another layout: {change}"
