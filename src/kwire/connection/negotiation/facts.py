# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Parses ``schema/facts/negotiation.txt`` without interpreting the facts.

This module also converts API parameters (a class or an API key) to API keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ...schema import registry, releases
from ...schema.versions import NONE, VersionRange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.model import Field, Struct

    Api: TypeAlias = type | int
    Range: TypeAlias = VersionRange | tuple[int, int] | str
    Ranges: TypeAlias = Mapping[int, VersionRange]


def facts(kind: str) -> list[tuple[str, dict[int, VersionRange]]]:
    """List the facts of one type ("feature", "refused", ...) in file order."""
    matching_facts = []
    for line in registry.fact_text("negotiation").splitlines():
        subject, colon, ranges_text = line.partition(":")
        if colon and subject.startswith(f"{kind} "):
            matching_facts.append(
                (subject.removeprefix(f"{kind} "), _parse_ranges(ranges_text))
            )
    return matching_facts


def first_version(message: str, path: str) -> int:
    """Return the minimum message version that has a field ("topics.topic_id")."""
    return _find_field(message, path).versions.min


def first_nullable_version(message: str, path: str) -> int:
    """Return the minimum message version in which a field is nullable."""
    return _find_field(message, path).nullable_versions.min


def _find_field(message: str, path: str) -> Field:
    struct: Struct | None = registry.load(message).struct
    for attribute in path.split("."):
        assert struct is not None, f"{message}: {path} names a field without fields"
        field = next(
            candidate for candidate in struct.fields if candidate.attribute == attribute
        )
        struct = field.struct
    return field


def _parse_ranges(text: str) -> dict[int, VersionRange]:
    ranges = {}
    for part in filter(None, text.strip().split(", ")):
        name, versions = part.split(" ")
        ranges[releases.key_of(name)] = VersionRange.from_text(versions)
    return ranges


def find_api_key(api: Api) -> int:
    """Return the API key of a request class, or the number itself.

    Raises ``TypeError`` if ``api`` is neither a request or response class nor a number.
    """
    key = api if isinstance(api, int) else getattr(api, "api_key", None)
    kind = "request" if isinstance(api, int) else getattr(api, "kind", None)
    if not isinstance(key, int) or kind not in ("request", "response"):
        raise TypeError(f"api must be a request class or an API key (got {api!r:.60})")
    return key


def name_of(api_key: int) -> str:
    """Return Kafka's name of an API. If kwire does not know it: "API key 200"."""
    try:
        return releases.name_of(api_key)
    except KeyError:
        return f"API key {api_key}"


def as_range(value: Range) -> VersionRange:
    """Convert a range, a (min, max) pair or a string to a ``VersionRange``.

    Raises ``ValueError`` if a pair or string is not a valid range.
    """
    if isinstance(value, VersionRange):
        return value
    if isinstance(value, str):
        return VersionRange.from_text(value)
    low, high = value
    return VersionRange(low, high)


def range_or_none(low: int, high: int) -> VersionRange:
    """Create a range from two received numbers. An invalid range becomes empty."""
    return VersionRange(low, high) if 0 <= low <= high else NONE
