# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Describes features that a broker's release does not have.

The versions that a feature requires are facts of ``kwire.connection.negotiation``. This
file has the names of the features and the advice for users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...connection.negotiation import (
    GROUP_PATTERNS,
    LZ4,
    MAGIC_2,
    OFFSETS_BY_TIME,
    TOPIC_DEFAULTS,
    TRANSACTIONS,
    ZSTD,
    ApiVersionTable,
    Constraint,
    Feature,
    guess_release,
    name_of,
)
from ...messages import (
    ConsumerGroupHeartbeatRequest,
    CreateTopicsRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SaslHandshakeRequest,
)
from ...schema import releases
from ..errors import FeatureUnsupported

if TYPE_CHECKING:
    from typing import Any

_WITHOUT_JOINING = (
    "set partitions= to read with committed offsets and without joining the group"
)
_COMMITTED = "committed offsets of groups", "store the position of a scan instead"

_OF_CONSTRAINTS = {
    ZSTD.name: ("zstd compression", "choose another compression"),
    MAGIC_2.name: ("record headers and idempotence", "write records without headers"),
    OFFSETS_BY_TIME.name: (
        "offset lookups by time",
        'use an offset, "earliest" or "latest"',
    ),
    TRANSACTIONS.name: ("transactions", "write without a transactional id"),
    TOPIC_DEFAULTS.name: (
        "default partition and replica counts of new topics",
        "specify both counts",
    ),
    GROUP_PATTERNS.name: ("topic patterns of groups", "name the topics"),
}

_OF_FEATURES = {LZ4.name: ("lz4 compression", "choose another compression")}

_OF_APIS = {
    ConsumerGroupHeartbeatRequest.api_key: (
        "the group protocol of KIP-848",
        _WITHOUT_JOINING,
    ),
    CreateTopicsRequest.api_key: (
        "creating topics by a request",
        "create the topic with the tools of that release",
    ),
    FindCoordinatorRequest.api_key: _COMMITTED,
    InitProducerIdRequest.api_key: (
        "idempotent producers",
        "set idempotent to False (--no-idempotent) to write records that a retry may"
        " duplicate",
    ),
    OffsetCommitRequest.api_key: _COMMITTED,
    OffsetFetchRequest.api_key: _COMMITTED,
    # Kafka 0.9 has only GSSAPI, whose tokens it reads without a handshake.
    SaslHandshakeRequest.api_key: (
        "SASL mechanisms other than GSSAPI",
        "connect without SASL to another port",
    ),
}


def find_missing_feature(
    address: str,
    release: str | None,
    table: ApiVersionTable,
    api: type[Any],
    constraints: tuple[Constraint, ...],
) -> FeatureUnsupported | None:
    """Return the feature that a broker lacks because its release is too old.

    ``release`` is the release that was assumed, or None to guess it from ``table``.
    Returns None if the release is not the reason, for example if the policy excludes
    all versions that the broker supports.
    """
    if table.usable(api, *constraints):
        return None
    # Check each constraint separately. If the broker satisfies each of them, but not
    # all together, ``missing`` is empty, and all constraints are the requirement.
    missing = tuple(
        constraint for constraint in constraints if not table.usable(api, constraint)
    )
    first = _first_release(api, missing or constraints)
    if first is None:
        return None
    shown = _older_release(release, table, first)
    if shown is None:
        # The broker has the release, but this listener does not offer the API.
        return None
    names = [_OF_CONSTRAINTS[x.name] for x in missing if x.name in _OF_CONSTRAINTS]
    if not table.usable(api) or not names:
        fallback = (f"{name_of(api.api_key)} of the required version", "")
        names = [*names, _OF_APIS.get(api.api_key, fallback)]
    feature, advice = names[0]
    return FeatureUnsupported(feature, address, shown, first, advice)


def find_missing_support(
    address: str, release: str | None, table: ApiVersionTable, feature: Feature
) -> FeatureUnsupported | None:
    """Return the error for a feature that ``table`` does not support.

    Use this function if the request's version does not show whether the broker has the
    feature. The parameters are the same as in ``find_missing_feature``. Returns None if
    the broker's release is not the reason.
    """
    first = next(
        name
        for name in releases.NAMES
        if ApiVersionTable.of_release(name).supports(feature)
    )
    shown = _older_release(release, table, first)
    if shown is None:
        return None
    name, advice = _OF_FEATURES[feature.name]
    return FeatureUnsupported(name, address, shown, first, advice)


def as_joining(error: FeatureUnsupported) -> FeatureUnsupported:
    """Describe that a group cannot be joined because it has no coordinator.

    Brokers that cannot look up coordinators are older than the group protocol, so a
    release that only has coordinators would not be enough.
    """
    feature, _ = _OF_APIS[ConsumerGroupHeartbeatRequest.api_key]
    first = _first_release(ConsumerGroupHeartbeatRequest, ())
    assert first is not None
    return FeatureUnsupported(
        feature, error.address, error.release, first, error.advice
    )


def _older_release(
    release: str | None, table: ApiVersionTable, first: str
) -> str | None:
    """Return the release of a broker for an error message.

    Returns None if the release is ``first`` or later, so that it has the feature.
    """
    guess = guess_release(table)
    broker_release = release or guess.min_release or guess.max_release
    if broker_release in releases.NAMES and releases.NAMES.index(
        broker_release
    ) >= releases.NAMES.index(first):
        return None
    return release or str(guess)


def _first_release(api: type[Any], constraints: tuple[Constraint, ...]) -> str | None:
    """Return the first release whose brokers support a request with ``constraints``.

    Returns None if no known release supports it.
    """
    for name in releases.NAMES:
        if ApiVersionTable.of_release(name).usable(api, *constraints):
            return name
    return None
