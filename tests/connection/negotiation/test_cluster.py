# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Common versions that several brokers support, and finalized features.

The brokers B1 and B2 are the worked example in KIP-35.
"""

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

B1 = {0: (0, 3), 1: (2, 3)}
B2 = {0: (1, 2), 1: (0, 3), 2: (0, 0)}


def table(kwire, offered, **options):
    """Return the version table of one broker."""
    return kwire.connection.negotiation.ApiVersionTable.from_ranges(offered, **options)


def cluster(kwire, **brokers):
    """Return a ``ClusterVersions`` from the offered ranges by broker name."""
    tables = {name: table(kwire, offered) for name, offered in brokers.items()}
    return kwire.connection.negotiation.ClusterVersions(tables)


def ranges_as_text(view):
    """Return {API key: range as text} for the common ranges."""
    return {key: str(versions) for key, versions in view.ranges().items()}


def test_view_has_the_common_ranges_of_the_worked_example(kwire):
    """The result is 1-2 for key 0 and 2-3 for key 1. B1 does not support key 2."""
    view = cluster(kwire, B1=B1, B2=B2)
    assert ranges_as_text(view) == {0: "1-2", 1: "2-3"}
    assert view.brokers == ("B1", "B2")
    assert (view.pick(0), view.pick(kwire.messages.FetchRequest)) == (2, 3)
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        view.pick(2)
    assert str(caught.value) == (
        "ListOffsets: this side supports 0-11, broker B1 supports no version"
    )


def test_feature_requires_every_broker_of_the_worked_example(kwire):
    """A feature requires a version that all brokers support.

    In the example, version 1 of key 0 is common, but version 3 is not.
    """
    feature = kwire.connection.negotiation.Feature
    view = cluster(kwire, B1=B1, B2=B2)
    assert not view.supports(feature("Feature1", {0: (3, 3), 1: (2, 3)}))
    assert view.supports(feature("Feature2", {0: (0, 1), 1: (2, 3)}))
    assert not view.supports(feature("of key 2", {2: (0, 0)}))


def test_empty_intersection_is_present_but_unusable(kwire):
    """Without a common version, the API has an empty range, which is unusable."""
    view = cluster(kwire, B1={1: (0, 3)}, B2={1: (5, 9)})
    assert list(view.ranges()) == [1]
    assert not view.ranges()[1] and not view.range_of(1)
    assert view.usable(1) == ()
    assert not view.supports(
        kwire.connection.negotiation.Feature("any Fetch", {1: "0+"})
    )
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        view.pick(1)
    assert str(caught.value) == (
        "Fetch: the brokers have no usable version in common: B1 0-3, B2 5-9"
    )


def test_error_names_the_broker_that_limits_the_versions(kwire):
    """The reason is a constraint, a policy, or a broker that is too old or too new."""
    n = kwire.connection.negotiation
    view = cluster(kwire, B1={1: (4, 17)}, B2={1: (0, 9)})
    assert view.pick(1) == 9
    assert view.usable(1, n.MAGIC_2) == (4, 5, 6, 7, 8, 9)
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        view.pick(1, n.ZSTD)
    assert str(caught.value) == (
        "Fetch: this side supports 0-18, broker B2 supports 0-9, but zstd requires 10+"
    )
    narrow = n.VersionPolicy({1: "11+"})
    tables = {"B1": table(kwire, {1: (4, 17)}), "B2": table(kwire, {1: (0, 9)})}
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        n.ClusterVersions(tables, narrow).pick(1)
    assert str(caught.value).endswith("broker B2 supports 0-9: broker B2 is too old")


def test_versions_excluded_by_the_view_apply_to_all_brokers(kwire):
    """The view's policy applies, even if the tables have a different policy."""
    n = kwire.connection.negotiation
    tables = {"B1": table(kwire, B1), "B2": table(kwire, B2)}
    view = n.ClusterVersions(tables, n.VersionPolicy(exclude={0: [2], 1: [3]}))
    assert (view.pick(0), view.pick(1)) == (1, 2)


def test_one_broker_is_its_own_cluster_and_none_speaks_nothing(kwire):
    """One broker's ranges are common. Without a broker, the view has no ranges."""
    assert ranges_as_text(cluster(kwire, B1=B1)) == {0: "0-3", 1: "2-3"}
    nobody = cluster(kwire)
    assert nobody.ranges() == {} and nobody.usable(1) == ()
    assert nobody.features() == ()
    with pytest.raises(
        kwire.UnsupportedVersion, match="the cluster has no brokers yet"
    ):
        nobody.pick(1)


def test_the_view_follows_its_brokers(kwire):
    """The common versions change when a broker is upgraded, downgraded or removed."""
    view = cluster(kwire, B1=B1, B2=B2)
    view.update("B2", table(kwire, {0: (0, 3), 1: (3, 3), 2: (0, 0)}))
    assert ranges_as_text(view) == {0: "0-3", 1: "3"}
    view.update("B3", table(kwire, {0: (2, 9)}))
    assert ranges_as_text(view) == {0: "2-3"}
    view.remove("B3")
    assert ranges_as_text(view) == {0: "0-3", 1: "3"}
    view.remove("B1")
    assert ranges_as_text(view) == {0: "0-3", 1: "3", 2: "0"}
    assert view.brokers == ("B2",)
    with pytest.raises(KeyError):
        view.remove("B1")


def test_closed_table_is_rejected_by_a_cluster_view(kwire):
    """The error contains the name of the broker whose connection has ended.

    If its table is updated or removed, the view works again.
    """
    view = cluster(kwire, B1=B1)
    gone = table(kwire, B2)
    view.update("B2", gone)
    assert view.pick(0) == 2
    gone.expire()
    feature = kwire.connection.negotiation.Feature("f", {0: "0+"})
    for use in (
        view.ranges,
        lambda: view.pick(0),
        lambda: view.usable(0),
        lambda: view.supports(feature),
    ):
        with pytest.raises(kwire.LocalProtocolError, match="broker B2 has ended"):
            use()
    view.update("B2", table(kwire, B2))
    assert ranges_as_text(view) == {0: "1-2", 1: "2-3"}
    gone.expire()
    view.remove("B2")
    assert ranges_as_text(view) == {0: "0-3", 1: "2-3"}


BROKERS = st.dictionaries(
    st.integers(0, 5),
    st.tuples(st.integers(0, 6), st.integers(0, 6)),
    max_size=4,
)


@given(st.lists(BROKERS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_shared_ranges_equal_the_intersection_of_version_sets(twins, offers, dice):
    """The result contains the common keys and versions, for any broker order."""
    names = [f"B{number}" for number in range(len(offers))]
    for kwire in twins:
        make = kwire.connection.negotiation.ApiVersionTable
        named = list(zip(names, map(make, offers), strict=True))
        dice.shuffle(named)
        view = kwire.connection.negotiation.ClusterVersions(dict(named))
        shared = set.intersection(*(set(versions) for versions in offers))
        shared_ranges = view.ranges()
        assert set(shared_ranges) == shared and list(shared_ranges) == sorted(
            shared_ranges
        )
        for key in range(6):
            # Produce 0-2 together with Fetch 4+ is excluded, as for one broker.
            versions = [set(table.ranges().get(key, ())) for _, table in named]
            expected = set.intersection(*versions)
            assert set(view.range_of(key)) == expected
            assert set(shared_ranges.get(key, ())) == expected
            assert view.usable(key) == tuple(sorted(expected & set(_known(kwire, key))))


def _known(kwire, key):
    return kwire.connection.negotiation.DEFAULT_POLICY.versions(key)


def epochs(kwire, *levels_by_epoch):
    """Return a table for each (epoch, level) pair of the feature metadata.version."""
    return [
        table(
            kwire,
            {},
            finalized_features={"metadata.version": f"1-{level}"},
            finalized_features_epoch=epoch,
        )
        for epoch, level in levels_by_epoch
    ]


def test_finalized_features_are_those_of_the_highest_epoch(kwire):
    """The order of the brokers has no influence."""
    levels_by_epoch = [(5, 20), (7, 21), (6, 99), (-1, 77)]
    for order in itertools.permutations(range(4)):
        tables = epochs(kwire, *levels_by_epoch)
        view = kwire.connection.negotiation.ClusterVersions()
        for index in order:
            view.update(f"B{index}", tables[index])
        agreed = view.finalized_features()
        assert (agreed.epoch, agreed.level("metadata.version")) == (7, 21)


def test_finalized_features_never_go_back(kwire):
    """Neither an older epoch nor a removed broker restores an old level."""
    old, new, newest = epochs(kwire, (3, 10), (4, 11), (5, 9))
    finalized = kwire.connection.negotiation.FinalizedFeatures()
    assert finalized.epoch == -1 and finalized.level("metadata.version") == 0
    assert finalized.update(new) is True
    assert finalized.update(old) is False
    assert finalized.level("metadata.version") == 11
    # If a lower level has a higher epoch, it is an intended downgrade.
    assert finalized.update(newest) is True
    assert finalized.level("metadata.version") == 9
    assert finalized.level("unheard.of") == 0
    view = kwire.connection.negotiation.ClusterVersions({"B1": newest, "B2": old})
    view.remove("B1")
    assert view.finalized_features().epoch == 5


def test_epoch_0_is_an_epoch_and_minus_1_is_none(kwire):
    """An epoch of 0 is valid, while -1 means that there is no epoch (KIP-584)."""
    none, first = epochs(kwire, (-1, 10), (0, 11))
    finalized = kwire.connection.negotiation.FinalizedFeatures()
    assert finalized.update(none) is False
    assert finalized.update(first) is True
    assert finalized.update(none) is False
    assert finalized.level("metadata.version") == 11


def test_oldest_release_of_a_view_determines_the_versions(kwire):
    """During a rolling upgrade, the oldest broker determines the versions."""
    releases = ["2.8", "3.9", "4.1"]
    random.Random(3).shuffle(releases)
    make = kwire.connection.negotiation.ApiVersionTable.of_release
    tables = {release: make(release) for release in releases}
    view = kwire.connection.negotiation.ClusterVersions(tables)
    fetch = kwire.messages.FetchRequest
    assert view.pick(fetch) == tables["2.8"].pick(fetch)
    assert view.range_of(fetch).min == tables["4.1"].range_of(fetch).min
    missing = [key for key in tables["4.1"].advertised if not tables["2.8"].usable(key)]
    assert missing and not any(view.usable(key) for key in missing)
