# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finalized features of a cluster (KIP-584), from its newest response.

Brokers learn of a new agreement one after another, so a client hears old and new ones
in turn; the epoch shows which is newer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.versions import VersionRange
    from .tables import ApiVersionTable


class FinalizedFeatures:
    """The finalized features of one cluster, over all brokers and connections.

    ``levels`` maps names to ranges of version levels, ``epoch`` counts agreements and
    is -1 before the first.
    """

    __slots__ = ("epoch", "levels")

    def __init__(self) -> None:
        self.epoch = -1
        self.levels: Mapping[str, VersionRange] = {}

    def update(self, table: ApiVersionTable) -> bool:
        """Take the response of one broker; return whether it was new.

        An epoch below the highest seen is an old agreement and changes nothing, and so
        does -1, a broker that knows of none.
        """
        if table.finalized_features_epoch <= self.epoch:
            return False
        self.epoch = table.finalized_features_epoch
        self.levels = table.finalized_features
        return True

    def level(self, name: str) -> int:
        """Return the level of a feature ("metadata.version"), 0 if it is off."""
        agreed = self.levels.get(name)
        return agreed.max if agreed else 0

    def __repr__(self) -> str:
        levels = {name: value.max for name, value in self.levels.items()}
        return f"FinalizedFeatures(epoch={self.epoch}, {levels})"
