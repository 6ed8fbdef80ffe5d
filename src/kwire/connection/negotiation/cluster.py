# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterVersions``: versions that several brokers have in common (KIP-35).

These versions are used if a request can be sent to any broker, or if a feature requires
support from all brokers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import LocalProtocolError, UnsupportedVersion
from ...schema.versions import NONE, VersionRange
from .facts import find_api_key, name_of
from .features import FEATURES
from .finalized import FinalizedFeatures
from .policy import DEFAULT_POLICY
from .tables import no_common_version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .constraints import Constraint
    from .facts import Api
    from .features import Feature
    from .policy import VersionPolicy
    from .tables import ApiVersionTable


class ClusterVersions:
    """Intersection of the version tables of several brokers, by broker name.

    The intersection always reflects the current tables. Call ``update`` when a broker
    was reconnected, and ``remove`` when a broker was removed. Methods that compare the
    tables raise ``LocalProtocolError`` with the broker name if a table has expired
    together with its connection.
    """

    __slots__ = ("_finalized", "_policy", "_tables")

    def __init__(
        self,
        tables: Mapping[str, ApiVersionTable] | None = None,
        policy: VersionPolicy = DEFAULT_POLICY,
    ) -> None:
        self._policy = policy
        self._tables: dict[str, ApiVersionTable] = {}
        self._finalized = FinalizedFeatures()
        for broker, table in (tables or {}).items():
            self.update(broker, table)

    @property
    def brokers(self) -> tuple[str, ...]:
        """Broker names in insertion order."""
        return tuple(self._tables)

    def update(self, broker: str, table: ApiVersionTable) -> None:
        """Add a broker, or replace its table after a new connection."""
        self._tables[broker] = table
        self._finalized.update(table)

    def remove(self, broker: str) -> None:
        """Remove a broker. Raises ``KeyError`` if it does not exist."""
        del self._tables[broker]

    def ranges(self) -> dict[int, VersionRange]:
        """Return the versions that all brokers support, by API key in ascending order.

        A key is omitted if at least one broker does not support it. If all brokers
        support a key but have no common version, its range is empty, so the API is not
        usable.
        """
        range_tables = [self._require_alive(broker).ranges() for broker in self._tables]
        if not range_tables:
            return {}
        shared: dict[int, VersionRange] = {}
        for key, versions in range_tables[0].items():
            if all(key in broker_ranges for broker_ranges in range_tables):
                for broker_ranges in range_tables:
                    versions &= broker_ranges[key]
                shared[key] = versions
        return shared

    def range_of(self, api: Api) -> VersionRange:
        """Return the API versions that all brokers support, or an empty range."""
        key = find_api_key(api)
        versions: VersionRange | None = None
        for broker in self._tables:
            broker_range = self._require_alive(broker).range_of(key)
            versions = broker_range if versions is None else versions & broker_range
        return versions or NONE

    def usable(self, api: Api, *constraints: Constraint) -> tuple[int, ...]:
        """List the versions that this side and all brokers can use, ascending."""
        key = find_api_key(api)
        common_versions = self.range_of(key)
        for constraint in constraints:
            common_versions &= constraint.ranges.get(key, common_versions)
        return tuple(v for v in self._policy.versions(api) if v in common_versions)

    def pick(self, api: Api, *constraints: Constraint) -> int:
        """Return the maximum version that this side and all brokers can use.

        Raises ``UnsupportedVersion`` if there is none. The error contains the broker
        without a common version. If the brokers have no version in common, it contains
        all their ranges.
        """
        usable = self.usable(api, *constraints)
        if usable:
            return usable[-1]
        key = find_api_key(api)
        broker_ranges = {
            name: table.range_of(key) for name, table in self._tables.items()
        }
        for broker, versions in broker_ranges.items():
            allowed_versions = versions
            for constraint in constraints:
                allowed_versions &= constraint.ranges.get(key, allowed_versions)
            if not any(v in allowed_versions for v in self._policy.versions(api)):
                raise no_common_version(
                    api, self._policy, versions, constraints, f"broker {broker}"
                )
        if not broker_ranges:
            raise UnsupportedVersion(
                f"{name_of(key)}: the cluster has no brokers yet; add them with update",
                key,
                None,
                None,
            )
        range_list = ", ".join(
            f"{name} {versions}" for name, versions in broker_ranges.items()
        )
        raise UnsupportedVersion(
            f"{name_of(key)}: the brokers have no usable version in common:"
            f" {range_list}",
            key,
            self._policy.range_of(api),
            self.range_of(key),
        )

    def supports(self, feature: Feature) -> bool:
        """Return whether a feature is usable with all brokers."""
        return feature.is_usable(self.range_of)

    def features(self) -> tuple[str, ...]:
        """Return the names of usable features from ``negotiation.FEATURES``."""
        return tuple(feature.name for feature in FEATURES if self.supports(feature))

    def finalized_features(self) -> FinalizedFeatures:
        """Return the finalized features with the highest epoch from any broker.

        Features from removed brokers are included.
        """
        return self._finalized

    def _require_alive(self, broker: str) -> ApiVersionTable:
        table = self._tables[broker]
        if not table.is_alive:
            raise LocalProtocolError(
                f"the connection to broker {broker} has ended, and its table with it;"
                " update or remove the broker"
            )
        return table

    def __repr__(self) -> str:
        return f"<ClusterVersions of {', '.join(self._tables) or 'no broker'}>"
