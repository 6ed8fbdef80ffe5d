# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Differences between the brokers of Kafka releases, as far as clients observe them.

Contains the features that brokers advertise in ApiVersions (KIP-584), and the first
releases with some behaviours of brokers.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ...schema import releases

METADATA_VERSION = "metadata.version"
ELIGIBLE_REPLICAS_VERSION = "eligible.leader.replicas.version"

CACHES_FIVE_BATCHES = "1.0"
"""Brokers recognize the last five batches of a producer as duplicates (KAFKA-5494)."""
REPORTS_UNKNOWN_PRODUCERS = "1.0"
"""Brokers return UNKNOWN_PRODUCER_ID for a producer without batches (KAFKA-5793)."""
RETAINS_PRODUCERS = "2.4"
"""Producers are remembered after their records have been deleted (KAFKA-7190)."""
CHOOSES_TOPIC_SIZES = "2.4"
"""Brokers have default values for the size of a new topic (KIP-464)."""
REPORTS_INVALID_RECORDS = "2.4"
"""Invalid records have the error code INVALID_RECORD (KIP-467)."""
ACCEPTS_UNKNOWN_PRODUCERS = "2.5"
"""Brokers accept any first sequence number of an unknown producer (KIP-360)."""
LIMITS_FETCH_BYTES = "2.5"
"""The broker property ``fetch.max.bytes`` limits Fetch responses (KIP-541)."""
OMITS_DEFAULT_FLAG = "2.7"
"""Version 0 of DescribeConfigs no longer marks default values."""
KNOWS_MORE_TIMESTAMPS = "3.0"
"""First release with special timestamps besides the latest and the earliest."""
VERIFIES_BATCHES = "3.6"
"""Leaders ask the coordinator whether a batch is in a transaction (KIP-890)."""
VERIFIES_OFFSETS = "3.7"
"""Group coordinators ask the same about committed offsets (KIP-890)."""
LIMITS_REQUIRED_REPLICAS = "3.7"
"""A topic cannot require more in-sync replicas than it has (KAFKA-15583)."""
RECEIVES_METRICS = "3.7"
"""Brokers can receive the metrics of clients (KIP-714)."""
RETURNS_ABORTABLE = "3.8"
"""Failed verifications have the error code TRANSACTION_ABORTABLE (KIP-890)."""
ALLOWS_GROUP_CONFIGS = "3.9"
"""The operations on a group include those on its configuration."""
DESCRIBES_UNSET_METRICS = "4.0"
"""Brokers also describe the unset properties of a client metrics subscription."""
BUMPS_EPOCHS = "4.0"
"""Each end of a transaction bumps the epoch: ``transaction.version`` 2 (KIP-890)."""
ACCEPTS_REPEATED_JOINS = "4.2"
"""A member of a KIP-848 group can join again in any epoch (KAFKA-19233)."""
STARTS_AT_EPOCH_TWO = "4.3"
"""The first member of a KIP-848 group has epoch 2. Observed with brokers of 4.3.1."""
DELAYS_ASSIGNMENTS = "4.3"
"""Changes of a KIP-848 group within an interval get one assignment (KIP-1263)."""
ACCEPTS_OLD_EPOCHS = "4.3"
"""Members commit with any epoch since they own the partition (KIP-1251)."""
CLOSES_EMPTY_EPOCHS = "4.4"
"""An empty group has equal group and assignment epochs (KAFKA-20442)."""


_MAGIC_SINCE = (("0.11.0", 2), ("0.10.0", 1))
"""First release of each record format. Earlier releases store magic 0."""


class _FeatureFacts(NamedTuple):
    """Feature that brokers support since a release.

    * ``finalized_since``: first release in which new clusters use ``max_level``.
    """

    name: str
    min_level: int
    max_level: int
    supported_since: str
    finalized_since: str


_FEATURES = (
    _FeatureFacts("group.version", 0, 1, "4.0", "4.0"),
    _FeatureFacts("kraft.version", 0, 1, "3.9", "3.9"),
    _FeatureFacts("share.version", 0, 1, "4.1", "4.2"),
    _FeatureFacts("streams.version", 0, 1, "4.2", "4.2"),
    _FeatureFacts("transaction.version", 0, 2, "4.0", "4.0"),
    _FeatureFacts(ELIGIBLE_REPLICAS_VERSION, 0, 1, "4.0", "4.1"),
)
"""Features except metadata.version. Source: ``Feature``, request logs of brokers."""

_FIRST_WITH_EPOCH = "2.7"
"""First release in which ApiVersions contains an epoch of finalized features."""
_FIRST_METADATA_LEVELS = (("4.0", 7), ("3.3", 1))
"""Minimum level of metadata.version. KRaft brokers support it."""
_KRAFT_EPOCH = 1
"""Epoch of finalized features. Real brokers use an offset in the metadata log."""


@cache
def is_since(release: str, first_release: str) -> bool:
    """Whether a release is ``first_release`` or newer."""
    names = releases.NAMES
    return names.index(release) >= names.index(first_release)


def find_magic(release: str) -> int:
    """Return the record format in which a release stores batches."""
    for first_release, magic in _MAGIC_SINCE:
        if is_since(release, first_release):
            return magic
    return 0


def list_supported_features(release: str) -> dict[str, tuple[int, int]]:
    """Return the minimum and maximum level of each feature that brokers support."""
    features = {
        feature.name: (feature.min_level, feature.max_level)
        for feature in _FEATURES
        if is_since(release, feature.supported_since)
    }
    for first_release, min_level in _FIRST_METADATA_LEVELS:
        if is_since(release, first_release):
            features[METADATA_VERSION] = (min_level, _find_metadata_level(release))
            break
    return features


def list_finalized_features(release: str) -> dict[str, int]:
    """Return the level of each feature that a new cluster of a release uses."""
    levels = {
        feature.name: feature.max_level
        for feature in _FEATURES
        if is_since(release, feature.finalized_since)
    }
    if METADATA_VERSION in list_supported_features(release):
        levels[METADATA_VERSION] = _find_metadata_level(release)
    return levels


def find_features_epoch(release: str) -> int:
    """Return the epoch of the finalized features, or -1 in releases without one."""
    if METADATA_VERSION in list_supported_features(release):
        return _KRAFT_EPOCH
    return 0 if is_since(release, _FIRST_WITH_EPOCH) else -1


def _find_metadata_level(release: str) -> int:
    """Return the highest level up to a release.

    A level belongs to the first release with it, so a release may have none of its own.
    """
    return max(
        protocol.feature_level
        for protocol in releases.protocol_versions()
        if protocol.feature_level is not None and is_since(release, protocol.release)
    )
