# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finalized cluster features (KIP-584) from the most recent broker response.

Brokers do not learn about a change at the same time, so a client can receive old and
new features alternately. The epoch determines which features are newer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.versions import VersionRange
    from .tables import ApiVersionTable


class FinalizedFeatures:
    """Finalized features of one cluster, combined from all brokers and connections.

    * ``levels``: range of version levels by feature name.
    * ``epoch``: number that the cluster increments when the features change, or -1
      before the first response.
    """

    __slots__ = ("epoch", "levels")

    def __init__(self) -> None:
        self.epoch = -1
        self.levels: Mapping[str, VersionRange] = {}

    def update(self, table: ApiVersionTable) -> bool:
        """Replace the known features with those in a broker's response, if it is newer.

        Returns False if the response is ignored, because its epoch is not higher than
        the current epoch. The epoch -1 means that the broker does not know any
        finalized features.
        """
        if table.finalized_features_epoch <= self.epoch:
            return False
        self.epoch = table.finalized_features_epoch
        self.levels = table.finalized_features
        return True

    def level(self, name: str) -> int:
        """Return a feature's level ("metadata.version"), or 0 if it is disabled."""
        level_range = self.levels.get(name)
        return level_range.max if level_range else 0

    def __repr__(self) -> str:
        levels = {name: value.max for name, value in self.levels.items()}
        return f"FinalizedFeatures(epoch={self.epoch}, {levels})"
