# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ApiVersionTable``: broker versions on one connection, and version selection.

A table is not valid for the next connection to the same broker, because the broker may
have been upgraded in the meantime. Therefore, the connection owner calls ``expire``
when the connection ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import LocalProtocolError, RemoteProtocolError, UnsupportedVersion
from ...schema import error_codes, releases
from ...schema.versions import HIGHEST, NONE, VersionRange
from .facts import as_range, facts, find_api_key, name_of, range_or_none
from .features import FEATURES
from .policy import DEFAULT_POLICY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...messages import ApiVersionsResponse
    from .constraints import Constraint
    from .facts import Api, Range
    from .features import Feature
    from .policy import VersionPolicy

_refused = {
    releases.key_of(name): (VersionRange.from_text(versions), signs)
    for (name, versions), signs in (
        (subject.split(" "), signs) for subject, signs in facts("refused")
    )
}
"""Lowest API versions that some brokers advertise but reject, by API key.

A broker rejects these versions if it supports all APIs in the second element, but only
within the ranges that are specified there.
"""


class ApiVersionTable:
    """Versions on one connection: supported by the broker, and usable by this side.

    * ``advertised``: maps API keys to (min, max) in the received order, including
      unknown keys and invalid ranges.
    * ``supported_features``, ``finalized_features``: map names to ``VersionRange``
      (KIP-584). Finalized features are ignored unless their epoch is 0 or greater.

    Two tables are equal if their ranges and features are equal. After ``expire``, the
    methods ``copy``, ``usable``, ``pick``, ``supports`` and ``features`` raise
    ``LocalProtocolError``.
    """

    __slots__ = (
        "_alive",
        "_picked",
        "_ranges",
        "advertised",
        "finalized_features",
        "finalized_features_epoch",
        "policy",
        "supported_features",
        "throttle_time_s",
        "zk_migration_ready",
    )

    def __init__(
        self,
        advertised: Mapping[int, tuple[int, int]],
        policy: VersionPolicy = DEFAULT_POLICY,
        *,
        supported_features: Mapping[str, VersionRange] | None = None,
        finalized_features: Mapping[str, VersionRange] | None = None,
        finalized_features_epoch: int = -1,
        zk_migration_ready: bool = False,
        throttle_time_s: float = 0,
    ) -> None:
        has_finalized = finalized_features_epoch >= 0
        self.advertised = dict(advertised)
        self.policy = policy
        self.supported_features = dict(supported_features or {})
        self.finalized_features = (
            dict(finalized_features or {}) if has_finalized else {}
        )
        self.finalized_features_epoch = finalized_features_epoch
        self.zk_migration_ready = zk_migration_ready
        self.throttle_time_s = throttle_time_s
        self._ranges: dict[int, VersionRange] = {}
        self._picked: dict[Api, int] = {}
        self._alive = True

    @classmethod
    def from_response(
        cls, response: ApiVersionsResponse, policy: VersionPolicy = DEFAULT_POLICY
    ) -> ApiVersionTable:
        """Create a table from a response.

        Raises ``RemoteProtocolError`` if the response contains an error code.
        """
        if response.error_code:
            raise RemoteProtocolError(
                "the broker answers ApiVersions with error"
                f" {error_codes.name(response.error_code)} ({response.error_code})"
            )
        return cls(
            {
                row.api_key: (row.min_version, row.max_version)
                for row in response.api_keys
            },
            policy,
            supported_features={
                row.name: range_or_none(row.min_version, row.max_version)
                for row in response.supported_features
            },
            finalized_features={
                row.name: range_or_none(row.min_version_level, row.max_version_level)
                for row in response.finalized_features
            },
            finalized_features_epoch=response.finalized_features_epoch,
            zk_migration_ready=response.zk_migration_ready,
            throttle_time_s=response.throttle_time_ms / 1000,
        )

    @classmethod
    def from_ranges(
        cls,
        ranges: Mapping[int, Range] | Mapping[type, Range],
        policy: VersionPolicy = DEFAULT_POLICY,
        *,
        supported_features: Mapping[str, Range] | None = None,
        finalized_features: Mapping[str, Range] | None = None,
        finalized_features_epoch: int = -1,
    ) -> ApiVersionTable:
        """Create a table manually, or create the table that a server advertises.

        A range is a ``VersionRange``, a (min, max) pair, or a string such as "0-3".
        Raises ``ValueError`` if a range is invalid, and ``TypeError`` if a key is
        neither an API key nor a request class.
        """
        ranges_by_key = {
            find_api_key(key): as_range(value) for key, value in ranges.items()
        }
        return cls(
            {
                key: (versions.min, versions.max)
                for key, versions in ranges_by_key.items()
            },
            policy,
            supported_features=_make_ranges(supported_features),
            finalized_features=_make_ranges(finalized_features),
            finalized_features_epoch=finalized_features_epoch,
        )

    @classmethod
    def of_release(
        cls,
        release: str,
        listener: str | None = None,
        policy: VersionPolicy = DEFAULT_POLICY,
    ) -> ApiVersionTable:
        """Create the table that a Kafka release advertises ("2.8", "4.1").

        ``listener`` is "zkBroker", "broker" (KRaft) or "controller". By default, it is
        the broker that clients of the release usually connect to, which uses ZooKeeper
        before 3.3. The table is empty if the release does not have the listener.
        Raises ``KeyError`` if the release is not in ``schema.releases.NAMES``. Its
        elements are release lines without a patch number. Raises ``ValueError`` if the
        listener is unknown.
        """
        listener = listener or releases.usual_listener(release)
        return cls.from_ranges(releases.ranges(release, listener), policy)

    @property
    def is_alive(self) -> bool:
        """Whether the connection of this table still exists."""
        return self._alive

    def copy(self) -> ApiVersionTable:
        """Copy the table for a different connection.

        Raises ``LocalProtocolError`` if this table has expired.
        """
        self._check_alive()
        return type(self)(
            self.advertised,
            self.policy,
            supported_features=self.supported_features,
            finalized_features=self.finalized_features,
            finalized_features_epoch=self.finalized_features_epoch,
            zk_migration_ready=self.zk_migration_ready,
            throttle_time_s=self.throttle_time_s,
        )

    def expire(self) -> None:
        """Expire the table together with its connection.

        Afterwards, selecting a version raises ``LocalProtocolError``.
        """
        self._alive = False

    def ranges(self) -> dict[int, VersionRange]:
        """Return the versions that the broker supports, by API key in ascending order.

        Produce 0-2 is omitted if the broker advertises but rejects it (Kafka 4.0 and
        later, KAFKA-18659). An invalid range (5 to 3, or negative) becomes an empty
        range.
        """
        return {key: self._find_range(key) for key in sorted(self.advertised)}

    def range_of(self, api: Api) -> VersionRange:
        """Return the API versions that the broker supports, or an empty range."""
        return self._find_range(find_api_key(api))

    def usable(self, api: Api, *constraints: Constraint) -> tuple[int, ...]:
        """List the versions that both sides can use, in ascending order.

        The result is empty if there is no common version.
        """
        self._check_alive()
        key = find_api_key(api)
        common_versions = self.range_of(key)
        for constraint in constraints:
            common_versions &= constraint.ranges.get(key, common_versions)
        return tuple(v for v in self.policy.versions(api) if v in common_versions)

    def pick(self, api: Api, *constraints: Constraint) -> int:
        """Return the maximum version that both sides can use.

        ``constraints`` specify what the message requires, for example
        ``negotiation.ZSTD``.
        Raises ``UnsupportedVersion`` with both ranges and the side that is too old, if
        there is no common version.
        """
        self._check_alive()
        find_api_key(api)
        if not constraints and api in self._picked:
            return self._picked[api]
        usable = self.usable(api, *constraints)
        if not usable:
            raise no_common_version(
                api, self.policy, self.range_of(api), constraints, "the broker"
            )
        if not constraints:
            self._picked[api] = usable[-1]
        return usable[-1]

    def supports(self, feature: Feature) -> bool:
        """Return whether a feature is usable with this broker."""
        self._check_alive()
        return feature.is_usable(self.range_of)

    def features(self) -> tuple[str, ...]:
        """Return the names of usable features from ``negotiation.FEATURES``."""
        return tuple(feature.name for feature in FEATURES if self.supports(feature))

    def _find_range(self, key: int) -> VersionRange:
        if key not in self.advertised:
            return NONE
        versions = self._ranges.get(key)
        if versions is None:
            versions = range_or_none(*self.advertised[key])
            if key in _refused:
                rejected_versions, signs = _refused[key]
                if all(self._is_within(other, signs[other]) for other in signs):
                    versions &= VersionRange(rejected_versions.max + 1, HIGHEST)
            self._ranges[key] = versions
        return versions

    def _is_within(self, key: int, versions: VersionRange) -> bool:
        broker_versions = self._find_range(key)
        return bool(broker_versions) and versions.contains(broker_versions)

    def _check_alive(self) -> None:
        if not self._alive:
            raise LocalProtocolError(
                "this table has ended with its connection; negotiate again on the"
                " next connection"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ApiVersionTable):
            return NotImplemented
        return (
            self.ranges() == other.ranges()
            and self.supported_features == other.supported_features
            and self.finalized_features == other.finalized_features
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        state = "" if self._alive else ", expired"
        return f"<ApiVersionTable of {len(self.advertised)} APIs{state}>"


def fallback_table(
    release: str, policy: VersionPolicy = DEFAULT_POLICY
) -> ApiVersionTable | None:
    """Return the table for a broker before 0.10.0, which does not support ApiVersions.

    ``release`` has the same format as librdkafka's ``broker.version.fallback``
    ("0.9.0.1"). Returns None if a broker with this release supports ApiVersions.
    Raises ``UnsupportedVersion`` for 0.7 and 0.6, whose protocol is incompatible with
    all later releases. Raises ``ValueError`` if ``release`` is not a release, or is
    ambiguous, such as "0".
    """
    for prefix, ranges in facts("fallback"):
        if release == prefix or release.startswith(f"{prefix}."):
            if not ranges:
                raise UnsupportedVersion(
                    f"kwire does not support the old protocol of Kafka {release}"
                )
            return ApiVersionTable.from_ranges(ranges, policy)
        if prefix.startswith(f"{release}."):
            raise ValueError(
                f"release {release} is ambiguous; give one such as {prefix}"
            )
    if not all(map(str.isdecimal, release.split("."))) or "." not in release:
        raise ValueError(
            f"{release!r:.40} is not a release of Kafka; give one such as 0.9.0"
        )
    return None


def no_common_version(
    api: Api,
    policy: VersionPolicy,
    theirs: VersionRange,
    constraints: tuple[Constraint, ...],
    peer: str,
) -> UnsupportedVersion:
    """Create the exception for a missing common version.

    Its message describes the reason, and which side causes it. The message calls the
    other side ``peer``, for example "the broker".
    """
    key = find_api_key(api)
    ours = policy.range_of(api)
    name = name_of(key)
    common = ours & theirs
    if not ours:
        reason = f"{name}: this side supports no version"
    elif not theirs:
        reason = f"{name}: this side supports {ours}, {peer} supports no version"
    elif not common:
        age = "old" if theirs.max < ours.min else "new"
        reason = (
            f"{name}: this side supports {ours}, {peer} supports {theirs}:"
            f" {peer} is too {age}"
        )
    else:
        conflicts = [
            f"{constraint.name} requires {constraint.ranges[key]}"
            for constraint in constraints
            if key in constraint.ranges and not common & constraint.ranges[key]
        ]
        if excluded := sorted(policy.excluded(key)):
            conflicts.append(f"the policy excludes {', '.join(map(str, excluded))}")
        if not conflicts:
            names = " and ".join(constraint.name for constraint in constraints)
            conflicts.append(f"no common version meets the constraints {names}")
        reason = (
            f"{name}: this side supports {ours}, {peer} supports {theirs}, but"
            f" {' and '.join(conflicts)}"
        )
    return UnsupportedVersion(reason, key, ours, theirs)


def _make_ranges(features: Mapping[str, Range] | None) -> dict[str, VersionRange]:
    return {name: as_range(value) for name, value in (features or {}).items()}
