# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Features of a broker that follow from its supported versions.

The expected rows are copied from librdkafka, so that tests detect changes of kwire's
list.
"""

import pytest

PRODUCE, FETCH, OFFSETS, METADATA = range(4)
COMMIT, OFFSET_FETCH, COORDINATOR, JOIN, HEARTBEAT, LEAVE, SYNC = range(8, 15)
HANDSHAKE, API_VERSIONS, PRODUCER_ID, AUTHENTICATE, NEW_GROUP = 17, 18, 22, 36, 68

# Features by name: alternatives with the minimum version for every required API.
MAP = {
    "MsgVer1": [{PRODUCE: 2, FETCH: 2}],
    "MsgVer2": [{PRODUCE: 3, FETCH: 4}],
    "ApiVersion": [{API_VERSIONS: 0}],
    "BrokerGroupCoordinator": [{COORDINATOR: 0}],
    "BrokerBalancedConsumer": [
        {
            COORDINATOR: 0,
            COMMIT: 1,
            OFFSET_FETCH: 1,
            JOIN: 0,
            SYNC: 0,
            HEARTBEAT: 0,
            LEAVE: 0,
        },
        {NEW_GROUP: 0, COMMIT: 9, OFFSET_FETCH: 9},
    ],
    "ThrottleTime": [{PRODUCE: 1, FETCH: 1}],
    "SaslGssapi": [{JOIN: 0}, {HANDSHAKE: 0}],
    "SaslHandshake": [{HANDSHAKE: 0}],
    "LZ4": [{COORDINATOR: 0}],
    "OffsetTime": [{OFFSETS: 1}],
    "IdempotentProducer": [{PRODUCER_ID: 0}],
    "Zstd": [{PRODUCE: 7, FETCH: 10}],
    "SaslAuthReq": [{HANDSHAKE: 1, AUTHENTICATE: 0}],
}
CASES = [(name, needs) for name, alternatives in MAP.items() for needs in alternatives]


def table(kwire, offered):
    """Return a table from (minimum, maximum) pairs by API key.

    The Produce versions are not restricted as they are for Kafka 4.
    """
    return kwire.connection.negotiation.ApiVersionTable.from_ranges(offered)


def feature(kwire, name):
    """Return the feature with a name. Fail unless exactly one has the name."""
    (matching,) = (
        feature
        for feature in kwire.connection.negotiation.FEATURES
        if feature.name == name
    )
    return matching


def test_feature_list_is_complete(kwire):
    """The names, the alternatives and their minimum versions match ``MAP``."""
    assert {feature.name for feature in kwire.connection.negotiation.FEATURES} == set(
        MAP
    )
    for name, alternatives in MAP.items():
        min_versions = [
            {key: versions.min for key, versions in alternative.items()}
            for alternative in feature(kwire, name).alternatives
        ]
        assert min_versions == alternatives
        for alternative in feature(kwire, name).alternatives:
            assert all(versions.is_open for versions in alternative.values())


@pytest.mark.parametrize(("name", "needs"), CASES)
def test_the_least_versions_are_enough(kwire, name, needs):
    """A feature is supported if the newest versions are exactly the required ones."""
    enough = table(kwire, {key: (0, min_version) for key, min_version in needs.items()})
    assert enough.supports(feature(kwire, name))
    assert name in enough.features()


@pytest.mark.parametrize(("name", "needs"), CASES)
def test_one_missing_version_is_one_feature_less(kwire, name, needs):
    """A feature is missing if one API is missing or too old.

    "Too old" means that the newest version is one below the requirement.
    """
    for short in needs:
        offered = {key: (0, min_version) for key, min_version in needs.items()}
        del offered[short]
        assert not table(kwire, offered).supports(feature(kwire, name))
        if needs[short]:
            offered[short] = (0, needs[short] - 1)
            assert name not in table(kwire, offered).features()


def test_two_rows_of_one_name_are_alternatives(kwire):
    """Kafka 4 supports consumer groups without the classic protocol as well."""
    modern = table(kwire, {NEW_GROUP: (0, 1), COMMIT: (2, 9), OFFSET_FETCH: (1, 9)})
    assert "BrokerBalancedConsumer" in modern.features()
    assert "BrokerGroupCoordinator" not in modern.features()


def test_a_range_has_to_overlap_and_no_more(kwire):
    """The ranges must overlap, but it is sufficient if they share one version."""
    own_feature = kwire.connection.negotiation.Feature("f", {FETCH: (3, 5)})
    for offered, usable in (
        ((0, 2), False),
        ((0, 3), True),
        ((4, 4), True),
        ((5, 9), True),
        ((6, 9), False),
    ):
        assert table(kwire, {FETCH: offered}).supports(own_feature) is usable


@pytest.mark.parametrize(
    ("release", "has", "lacks"),
    [
        ("0.8.0", set(), {"LZ4", "ApiVersion", "MsgVer1"}),
        ("0.8.2", {"LZ4", "BrokerGroupCoordinator"}, {"BrokerBalancedConsumer"}),
        ("0.9.0", {"BrokerBalancedConsumer", "ThrottleTime"}, {"MsgVer1"}),
        ("0.10.0", {"MsgVer1", "ApiVersion", "SaslHandshake"}, {"MsgVer2"}),
        ("0.11.0", {"MsgVer2", "IdempotentProducer"}, {"Zstd", "SaslAuthReq"}),
        ("1.0", {"SaslAuthReq"}, {"Zstd"}),
        ("2.1", {"Zstd"}, set()),
        ("4.1", set(MAP), set()),
    ],
)
def test_releases_support_the_listed_features(kwire, release, has, lacks):
    """The features were introduced in the releases that are listed here."""
    features = set(
        kwire.connection.negotiation.ApiVersionTable.of_release(release).features()
    )
    assert has <= features
    assert not lacks & features


def test_feature_without_requirements_is_rejected(kwire):
    """If a feature had no requirements, every broker would support it."""
    with pytest.raises(TypeError, match="must use at least one API"):
        kwire.connection.negotiation.Feature("f")


def test_a_feature_shows_what_it_needs(kwire):
    """``repr`` has the notation of the constructor."""
    own_feature = kwire.connection.negotiation.Feature("f", {1: "2+"}, {0: (0, 3)})
    assert repr(own_feature) == "Feature('f', {1: '2+'}, {0: '0-3'})"
