# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Version table for one connection: offered versions, and the version to use.

``test_handshake.py`` covers how the table is requested, and ``test_cluster.py`` covers
common versions in several brokers.
"""

import importlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

VERSIONS = st.integers(0, 12)


def ranges(kwire, **texts):
    """Return {API key: range} from texts such as ``k1="4-17"``."""
    return {
        int(name[1:]): kwire.VersionRange.from_text(text)
        for name, text in texts.items()
    }


def table(kwire, offered, **options):
    """Return a table from (minimum, maximum) pairs by key."""
    return kwire.connection.negotiation.ApiVersionTable.from_ranges(offered, **options)


def pick_error(kwire, offered, api, *constraints, **options):
    """Pick a version that is not available, and return ``UnsupportedVersion``."""
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        table(kwire, offered, **options).pick(api, *constraints)
    return caught.value


RESPONSES = {
    # Error code, and the ranges of two API keys.
    0: "0000 00000002 0001 0004 0011 0012 0000 0004",
    # The same response with a 100 ms throttle time.
    1: "0000 00000002 0001 0004 0011 0012 0000 0004 00000064",
    2: "0000 00000002 0001 0004 0011 0012 0000 0004 00000064",
    # Compact arrays and four tagged fields: supported features, epoch, finalized
    # features, ZooKeeper migration.
    3: "0000 03 0001 0004 0011 00 0012 0000 0004 00 00000064 04"
    " 00 0b 02 0562697264 0001 0003 00"
    " 01 08 0000000000000009"
    " 02 0b 02 0562697264 0002 0001 00"
    " 03 01 01",
}


@pytest.mark.parametrize("version", RESPONSES)
def test_a_response_of_each_version_becomes_a_table(kwire, version):
    """The bytes were written by hand from the layout of every version."""
    response = kwire.decode(
        kwire.messages.ApiVersionsResponse, bytes.fromhex(RESPONSES[version]), version
    )
    broker_table = kwire.connection.negotiation.ApiVersionTable.from_response(response)
    assert broker_table.advertised == {1: (4, 17), 18: (0, 4)}
    assert broker_table.pick(kwire.messages.FetchRequest) == 17
    assert broker_table.throttle_time_s == (0.1 if version else 0)
    assert broker_table.zk_migration_ready is (version >= 3)
    assert broker_table.is_alive
    if version < 3:
        assert (
            broker_table.supported_features == {}
            and broker_table.finalized_features == {}
        )
        assert broker_table.finalized_features_epoch == -1
    else:
        one_to_three = kwire.VersionRange(1, 3)
        assert broker_table.supported_features == {"bird": one_to_three}
        assert broker_table.finalized_features_epoch == 9
        # The wire format contains the maximum before the minimum: 2 down to 1.
        assert broker_table.finalized_features == {"bird": kwire.VersionRange(1, 2)}


def test_error_response_has_no_table(kwire):
    """The rows in an error response are not supported versions.

    The exception contains the name of the error.
    """
    response = kwire.messages.ApiVersionsResponse(error_code=35)
    with pytest.raises(kwire.RemoteProtocolError, match=r"UNSUPPORTED_VERSION \(35\)"):
        kwire.connection.negotiation.ApiVersionTable.from_response(response)


def test_rows_stay_as_received_and_ranges_are_in_order(kwire):
    """Unknown keys are kept, and an invalid range becomes an empty range."""
    broker_table = kwire.connection.negotiation.ApiVersionTable(
        {200: (0, 3), 3: (5, 2), 1: (4, 17), 2: (-4, -1), 9: (-1, 6)}
    )
    assert list(broker_table.advertised) == [200, 3, 1, 2, 9]
    assert broker_table.advertised[3] == (5, 2)
    shown = {key: str(versions) for key, versions in broker_table.ranges().items()}
    assert shown == {1: "4-17", 2: "none", 3: "none", 9: "none", 200: "0-3"}
    assert list(shown) == [1, 2, 3, 9, 200]
    assert broker_table.usable(3) == () and not broker_table.range_of(9)


def test_table_accepts_message_classes_and_api_keys(kwire):
    """Requests, responses and numbers identify an API. Other objects do not."""
    broker_table = table(kwire, {1: (4, 11)})
    messages = kwire.messages
    for api in (messages.FetchRequest, messages.FetchResponse, 1):
        assert broker_table.pick(api) == 11
        assert broker_table.usable(api) == (4, 5, 6, 7, 8, 9, 10, 11)
        assert str(broker_table.range_of(api)) == "4-11"
    for invalid_api in ("Fetch", None, 1.0, messages.RequestHeader, int):
        with pytest.raises(TypeError, match="a request class or an API key"):
            broker_table.pick(invalid_api)
        with pytest.raises(TypeError, match="a request class or an API key"):
            broker_table.usable(invalid_api)


@given(low=VERSIONS, high=VERSIONS, ours=st.none() | st.tuples(VERSIONS, VERSIONS))
def test_the_highest_common_version_is_picked_or_both_ranges_are_named(
    twins, low, high, ours
):
    """Compares the picked version with sets of numbers.

    kwire supports the versions 0-18 of Fetch.
    """
    for kwire in twins:
        speaks = {1: kwire.VersionRange(*ours)} if ours else {}
        policy = kwire.connection.negotiation.VersionPolicy(speaks)
        client_versions = set(range(ours[0], ours[1] + 1)) if ours else set(range(19))
        broker_versions = set(range(low, high + 1))
        broker_table = kwire.connection.negotiation.ApiVersionTable(
            {1: (low, high)}, policy
        )
        assert broker_table.usable(1) == tuple(
            sorted(client_versions & broker_versions)
        )
        if client_versions & broker_versions:
            assert broker_table.pick(kwire.messages.FetchRequest) == max(
                client_versions & broker_versions
            )
            continue
        with pytest.raises(kwire.UnsupportedVersion) as caught:
            broker_table.pick(kwire.messages.FetchRequest)
        error = caught.value
        assert (
            set(error.ours) == client_versions and set(error.theirs) == broker_versions
        )
        assert error.api_key == 1
        text = str(error)
        if client_versions and broker_versions:
            sides = f"side supports {error.ours}, the broker supports {error.theirs}"
            assert sides in text
            age = "old" if max(broker_versions) < min(client_versions) else "new"
            assert text.endswith(f"too {age}")
        else:
            assert text.endswith("supports no version")


def test_error_has_the_api_both_ranges_and_the_cause(kwire):
    """The text contains the name of the API, both ranges, and the responsible side."""
    policy = kwire.connection.negotiation.VersionPolicy({1: "12+"})
    messages = kwire.messages
    offered = {1: (0, 3), 3: (40, 50)}
    assert str(pick_error(kwire, offered, messages.FetchRequest, policy=policy)) == (
        "Fetch: this side supports 12-18, the broker supports 0-3:"
        " the broker is too old"
    )
    assert str(pick_error(kwire, offered, messages.MetadataRequest)) == (
        "Metadata: this side supports 0-13, the broker supports 40-50:"
        " the broker is too new"
    )
    assert str(pick_error(kwire, offered, messages.HeartbeatRequest)) == (
        "Heartbeat: this side supports 0-4, the broker supports no version"
    )
    unknown = pick_error(kwire, {200: (0, 3)}, 200)
    assert str(unknown) == "API key 200: this side supports no version"
    assert unknown.api_key == 200 and not unknown.ours and len(unknown.theirs) == 4
    limited = pick_error(kwire, offered, 1, kwire.connection.negotiation.ZSTD)
    assert str(limited) == (
        "Fetch: this side supports 0-18, the broker supports 0-3, but zstd requires 10+"
    )


def test_a_refusal_after_a_pick_is_still_one(kwire):
    """A cached choice is not used for another API or other constraints."""
    broker_table = table(kwire, {1: (4, 9), 3: (0, 5)})
    messages = kwire.messages
    assert broker_table.pick(messages.FetchRequest) == 9
    assert broker_table.pick(messages.MetadataRequest) == 5
    assert broker_table.pick(messages.FetchRequest) == 9
    with pytest.raises(kwire.UnsupportedVersion):
        broker_table.pick(messages.FetchRequest, kwire.connection.negotiation.ZSTD)
    with pytest.raises(kwire.UnsupportedVersion):
        broker_table.pick(messages.ProduceRequest)


@pytest.mark.parametrize(
    ("produce", "fetch", "left"),
    [
        ((0, 12), (4, 17), "3-12"),
        ((0, 12), (4, 4), "3-12"),
        ((0, 12), (3, 17), "0-12"),
        ((0, 12), (0, 17), "0-12"),
        ((0, 2), (4, 17), "none"),
        ((1, 3), (5, 17), "3"),
        ((7, 12), (4, 17), "7-12"),
        ((0, 12), None, "0-12"),
    ],
)
def test_produce_0_to_2_is_a_trap_where_fetch_starts_at_4(kwire, produce, fetch, left):
    """Brokers since 4.0 list Produce 0-2 for old clients, but reject them when used."""
    offered = {0: produce} | ({1: fetch} if fetch else {})
    broker_table = table(kwire, offered)
    assert broker_table.advertised[0] == produce
    assert str(broker_table.range_of(0)) == left == str(broker_table.ranges()[0])
    old = kwire.connection.negotiation.VersionPolicy({0: "0-2"})
    trapped = table(kwire, offered, policy=old)
    usable = [version for version in range(3) if version in broker_table.range_of(0)]
    assert trapped.usable(0) == tuple(usable)
    if not usable and left != "none":
        message = str(pick_error(kwire, offered, 0, policy=old))
        assert message == (
            f"Produce: this side supports 0-2, the broker supports {left}:"
            " the broker is too new"
        )


def test_a_table_ends_with_its_connection(kwire):
    """After the end of the connection, a table does not even return a cached choice."""
    broker_table = table(kwire, {1: (4, 11)})
    fetch = kwire.messages.FetchRequest
    zstd = kwire.connection.negotiation.Feature("zstd", {1: "10+"})
    assert broker_table.pick(fetch) == 11 and broker_table.supports(zstd)
    broker_table.expire()
    assert not broker_table.is_alive and "expired" in repr(broker_table)
    for use in (
        lambda: broker_table.pick(fetch),
        lambda: broker_table.pick(1),
        lambda: broker_table.usable(fetch),
        lambda: broker_table.supports(zstd),
        broker_table.features,
    ):
        with pytest.raises(kwire.LocalProtocolError, match="ended with its connection"):
            use()
    # The offered versions remain available for logs and later comparisons.
    assert (
        broker_table.advertised == {1: (4, 11)}
        and str(broker_table.ranges()[1]) == "4-11"
    )


def test_tables_are_equal_by_ranges_and_features(kwire):
    """Features are compared, but not the order of rows and the throttle time."""
    make = kwire.connection.negotiation.ApiVersionTable
    level = {"f": kwire.VersionRange(1, 2)}
    base_table = make({1: (0, 3), 3: (0, 1)})
    assert base_table == make({3: (0, 1), 1: (0, 3)}, throttle_time_s=5)
    assert base_table != make({1: (0, 3)}) and base_table != make(
        {1: (0, 3), 3: (0, 2)}
    )
    assert base_table != make({1: (0, 3), 3: (0, 1)}, supported_features=level)
    agreed = make(
        {1: (0, 3), 3: (0, 1)}, finalized_features=level, finalized_features_epoch=0
    )
    assert base_table != agreed
    assert base_table != {1: (0, 3)}
    with pytest.raises(TypeError):
        hash(base_table)


@pytest.mark.parametrize(("epoch", "counts"), [(-1, False), (0, True), (2**62, True)])
def test_finalized_features_count_with_an_epoch_alone(kwire, epoch, counts):
    """If the epoch is -1, the broker knows no finalized features (KIP-584)."""
    broker_table = table(
        kwire, {}, finalized_features={"f": "2"}, finalized_features_epoch=epoch
    )
    assert bool(broker_table.finalized_features) is counts
    assert broker_table.finalized_features_epoch == epoch


def test_invalid_feature_ranges_are_empty(kwire):
    """If a feature range of a peer is invalid, there is no error and no feature."""
    response = kwire.messages.ApiVersionsResponse
    supported = response.SupportedFeatureKey
    finalized = response.FinalizedFeatureKey
    broker_table = kwire.connection.negotiation.ApiVersionTable.from_response(
        response(
            supported_features=[
                supported(name="a", min_version=3, max_version=1),
                supported(name="b", min_version=-5, max_version=1),
            ],
            finalized_features=[
                finalized(name="a", min_version_level=-2, max_version_level=-1)
            ],
            finalized_features_epoch=1,
        )
    )
    assert not any(broker_table.supported_features.values())
    assert not any(broker_table.finalized_features.values())


def test_ranges_may_be_objects_pairs_and_texts(kwire):
    """All three notations of a range result in the same table."""
    tables = [
        table(kwire, {1: versions})
        for versions in (kwire.VersionRange(2, 5), (2, 5), "2-5")
    ]
    assert all(a == b for a, b in itertools.pairwise(tables))
    assert table(kwire, {1: "7+"}).usable(1) == tuple(range(7, 19))
    for invalid_range in ("5-2", "two", (-1, 3)):
        with pytest.raises(ValueError):
            table(kwire, {1: invalid_range})


@pytest.mark.parametrize(
    ("release", "listener", "expected_ranges"),
    [
        ("0.8.0", "broker", {"k0": "0", "k1": "0", "k3": "0"}),
        ("0.9.0", "broker", {"k0": "0-1", "k1": "0-1", "k8": "0-2"}),
        ("0.10.0", "broker", {"k0": "0-2", "k1": "0-2", "k18": "0"}),
        ("2.8", "zkBroker", {"k0": "0-9", "k1": "0-12", "k18": "0-3"}),
        ("4.1", "broker", {"k0": "3-13", "k1": "4-18", "k18": "0-4"}),
    ],
)
def test_a_release_has_its_table(kwire, release, listener, expected_ranges):
    """The expected rows are copied from Kafka's documentation."""
    release_table = kwire.connection.negotiation.ApiVersionTable.of_release(
        release, listener
    )
    for key, versions in ranges(kwire, **expected_ranges).items():
        assert release_table.range_of(key) == versions, key
    assert (18 in release_table.advertised) is (not release.startswith(("0.8", "0.9")))


@pytest.mark.parametrize(
    ("release", "listener"),
    [
        ("0.8.0", "zkBroker"),
        ("2.8", "zkBroker"),
        ("3.2", "zkBroker"),
        ("3.3", "broker"),
    ],
)
def test_a_release_without_a_listener_is_the_broker_its_clients_met(
    kwire, release, listener
):
    """KRaft in 2.8 is a preview without two dozen APIs that the regular broker has."""
    table = kwire.connection.negotiation.ApiVersionTable
    assert table.of_release(release) == table.of_release(release, listener)
    assert (
        importlib.import_module(f"{kwire.__name__}.schema.releases").usual_listener(
            release
        )
        == listener
    )
