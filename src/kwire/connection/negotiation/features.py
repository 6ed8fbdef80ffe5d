# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Client features that depend on broker versions (KIP-35).

Brokers also advertise features (KIP-584), which are a different concept. ``finalized``
implements them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .facts import as_range, facts, find_api_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...schema.versions import VersionRange
    from .facts import Range


class Feature:
    """Client feature that requires certain API versions.

    Every alternative maps API keys to ranges (``VersionRange``, (min, max) pair, or a
    string such as "2+"). The feature is usable if, in at least one alternative, *every*
    range overlaps the broker's versions.

        Feature("f", {0: (3, 3), 1: (2, 3)})

    Raises ``TypeError`` if there is no alternative, or if an alternative has no API.
    """

    __slots__ = ("alternatives", "name")

    def __init__(
        self, name: str, *alternatives: Mapping[int, Range] | Mapping[type, Range]
    ) -> None:
        if not alternatives or not all(alternatives):
            raise TypeError(f"feature {name} must use at least one API (got none)")
        self.name = name
        self.alternatives: tuple[dict[int, VersionRange], ...] = tuple(
            {find_api_key(key): as_range(value) for key, value in alternative.items()}
            for alternative in alternatives
        )

    def is_usable(self, range_of: Callable[[int], VersionRange]) -> bool:
        """Return whether the feature is usable with these broker versions."""
        return any(
            all(required & range_of(key) for key, required in alternative.items())
            for alternative in self.alternatives
        )

    def __repr__(self) -> str:
        texts = (
            str({key: str(value) for key, value in alternative.items()})
            for alternative in self.alternatives
        )
        return f"Feature({self.name!r}, {', '.join(texts)})"


def _load_features() -> tuple[Feature, ...]:
    alternatives_by_name: dict[str, list[dict[int, VersionRange]]] = {}
    for name, ranges in facts("feature"):
        alternatives_by_name.setdefault(name, []).append(ranges)
    return tuple(
        Feature(name, *alternatives)
        for name, alternatives in alternatives_by_name.items()
    )


FEATURES = _load_features()
"""Features that kwire includes. Their names are identical to librdkafka's names."""

LZ4 = next(feature for feature in FEATURES if feature.name == "LZ4")
"""Brokers decompress lz4.

Kafka 0.8.2 introduced lz4 together with group coordinators.
"""
