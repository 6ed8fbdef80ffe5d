# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Version policies, and version constraints for single messages.

A ``VersionPolicy`` is configuration, while a ``Constraint`` belongs to one message.
``test_tables.py`` covers the versions that a broker offers.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st


def table(kwire, offered, **options):
    """Return a table with a policy."""
    policy = kwire.connection.negotiation.VersionPolicy(**options)
    return kwire.connection.negotiation.ApiVersionTable.from_ranges(offered, policy)


def test_excluded_version_is_not_usable_in_the_backport_example(kwire):
    """KIP-35: a broker offers 0-2, but 1 is deprecated and must not be used.

    Deprecated versions remain in the range of the broker. The client has to exclude
    them.
    """
    for offered, usable in (
        ((0, 2), (0, 2)),
        ((0, 1), (0,)),
        ((1, 2), (2,)),
        ((0, 0), (0,)),
    ):
        broker_table = table(kwire, {1: offered}, exclude={1: [1]})
        assert broker_table.usable(1) == usable
        assert broker_table.pick(kwire.messages.FetchRequest) == usable[-1]
        assert set(broker_table.range_of(1)) >= set(usable)


def test_error_names_the_policy_if_it_excludes_all_common_versions(kwire):
    """The ranges overlap, so that the error names the excluded versions."""
    broker_table = table(kwire, {1: (4, 5)}, exclude={1: (5, 4, 9)})
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        broker_table.pick(1)
    assert str(caught.value) == (
        "Fetch: this side supports 0-18, the broker supports 4-5,"
        " but the policy excludes 4, 5, 9"
    )


def test_excluding_versions_of_one_api_leaves_the_others(kwire):
    """Excluded versions only apply to the API for which they are specified."""
    broker_table = table(kwire, {1: (0, 3), 3: (0, 3)}, exclude={1: [3]})
    assert (broker_table.pick(1), broker_table.pick(3)) == (2, 3)


@given(
    offered=st.tuples(st.integers(0, 8), st.integers(0, 8)),
    speaks=st.tuples(st.integers(0, 8), st.integers(0, 8)),
    exclude=st.sets(st.integers(0, 9)),
)
def test_usable_versions_are_the_intersection_of_all_three(
    twins, offered, speaks, exclude
):
    """Compares the usable versions with an intersection of three sets."""
    for kwire in twins:
        policy = kwire.connection.negotiation.VersionPolicy({1: speaks}, {1: exclude})
        broker_table = kwire.connection.negotiation.ApiVersionTable(
            {1: offered}, policy
        )
        expected = set(range(offered[0], offered[1] + 1))
        expected &= set(range(speaks[0], speaks[1] + 1))
        expected -= exclude
        assert broker_table.usable(1) == tuple(sorted(expected))
        assert policy.excluded(1) == exclude and policy.excluded(3) == set()


def test_a_policy_never_speaks_more_than_kwire_knows(kwire):
    """A range is limited to known versions.

    If an API is missing, the range has no effect.
    """
    policy = kwire.connection.negotiation.VersionPolicy({1: "3+", 3: (0, 2)})
    assert str(policy.range_of(1)) == "3-18"
    assert policy.versions(3) == (0, 1, 2)
    assert policy.versions(12) == (0, 1, 2, 3, 4)
    assert policy.versions(200) == () and not policy.range_of(200)


def unstable_keys(kwire):
    """List the APIs whose latest version Kafka marks as unstable."""
    registry = kwire.schema.registry
    return [
        key
        for key in registry.keys("request")
        if registry.load(
            registry.find_by_key(key, "request").name
        ).latest_version_unstable
    ]


def test_unstable_versions_are_only_used_on_request(kwire):
    """If a broker offers unstable versions, this alone does not enable them."""
    keys = unstable_keys(kwire)
    assert keys, "the newest schemas have unstable versions"
    for key in keys:
        latest = kwire.messages.by_key(key, "request").valid_versions.max
        stable = table(kwire, {key: (0, latest)})
        assert stable.pick(key) == latest - 1
        brave = table(kwire, {key: (0, latest)}, unstable=True)
        assert brave.pick(key) == latest
        only = table(kwire, {key: (latest, latest)})
        with pytest.raises(kwire.UnsupportedVersion, match="too new"):
            only.pick(key)


def test_stable_apis_lose_nothing(kwire):
    """The default policy supports all stable versions in all APIs."""
    unstable = set(unstable_keys(kwire))
    policy = kwire.connection.negotiation.DEFAULT_POLICY
    for key in kwire.schema.registry.keys("request"):
        valid_versions = tuple(kwire.messages.by_key(key, "request").valid_versions)
        assert policy.versions(key) == (
            valid_versions[:-1] if key in unstable else valid_versions
        )


WIDE = {0: (0, 13), 1: (0, 18), 8: (0, 10), 9: (0, 10), 24: (0, 5), 26: (0, 5)}
WIDE |= {28: (0, 6), 3: (0, 13)}

PICKED = {
    # Expected versions by constraint and API, if the broker offers wide ranges.
    "ZSTD": {0: 13, 1: 18, 3: 13},
    "MAGIC_2": {0: 13, 1: 18, 3: 13},
    "NO_TOPIC_IDS": {0: 12, 1: 12, 8: 9, 9: 9, 28: 5, 3: 13},
    "TRANSACTION_PROTOCOL_1": {0: 11, 26: 4, 28: 4, 1: 18},
    "CLIENT": {24: 3, 0: 13},
}


@pytest.mark.parametrize("name", PICKED)
def test_constraint_limits_wide_ranges(kwire, name):
    """Maximum versions only apply to the APIs of the constraint."""
    constraint = getattr(kwire.connection.negotiation, name)
    broker_table = table(kwire, WIDE)
    assert {key: broker_table.pick(key, constraint) for key in PICKED[name]} == PICKED[
        name
    ]


@pytest.mark.parametrize(
    ("name", "key", "offered", "needs"),
    [
        ("ZSTD", 0, (0, 6), "zstd requires 7+"),
        ("ZSTD", 1, (0, 9), "zstd requires 10+"),
        ("MAGIC_2", 0, (0, 2), "magic-2 requires 3+"),
        ("MAGIC_2", 1, (0, 3), "magic-2 requires 4+"),
        ("NO_TOPIC_IDS", 1, (13, 17), "no-topic-ids requires 0-12"),
        ("TRANSACTION_PROTOCOL_1", 0, (12, 13), "requires 0-11"),
        ("CLIENT", 24, (4, 5), "client requires 0-3"),
    ],
)
def test_unsatisfiable_constraint_is_named_in_the_error(
    kwire, name, key, offered, needs
):
    """The error contains both ranges, so that the user knows which side to upgrade."""
    constraint = getattr(kwire.connection.negotiation, name)
    with pytest.raises(kwire.UnsupportedVersion) as caught:
        table(kwire, {key: offered}).pick(key, constraint)
    text = str(caught.value)
    assert f"the broker supports {offered[0]}-{offered[1]}, but" in text
    assert needs in text


def test_the_first_zstd_version_is_enough(kwire):
    """The minimum versions for zstd are Produce 7 and Fetch 10."""
    zstd = kwire.connection.negotiation.ZSTD
    assert table(kwire, {0: (0, 7)}).pick(0, zstd) == 7
    assert table(kwire, {1: (0, 10)}).pick(1, zstd) == 10


def test_topic_ids_come_where_the_schemas_have_them(kwire):
    """The constraint must match the message definitions."""
    for key, capped in kwire.connection.negotiation.NO_TOPIC_IDS.ranges.items():
        name = kwire.schema.registry.find_by_key(key, "request").name
        fields = [
            field
            for struct in kwire.schema.registry.load(name).structs()
            for field in struct.fields
            if field.name == "TopicId"
        ]
        assert fields, name
        assert {field.versions.min for field in fields} == {capped.max + 1}, name


def test_several_constraints_hold_at_once(kwire):
    """Combines the minimum for zstd with the maximum without topic ids."""
    n = kwire.connection.negotiation
    broker_table = table(kwire, {1: (4, 17)})
    assert broker_table.usable(1, n.ZSTD, n.NO_TOPIC_IDS) == (10, 11, 12)
    assert broker_table.pick(kwire.messages.FetchRequest, n.NO_TOPIC_IDS, n.ZSTD) == 12
    narrow = n.Constraint("old", {1: "0-9"})
    with pytest.raises(kwire.UnsupportedVersion, match="the constraints zstd and old"):
        broker_table.pick(1, n.ZSTD, narrow)


def test_own_constraint_restricts_only_its_apis(kwire):
    """Ranges are objects, pairs or texts. Other APIs are not restricted."""
    constraint = kwire.connection.negotiation.Constraint("mine", {1: (5, 6), 3: "2"})
    broker_table = table(kwire, {1: (0, 18), 3: (0, 13), 12: (0, 4)})
    assert [broker_table.pick(key, constraint) for key in (1, 3, 12)] == [6, 2, 4]
    assert repr(constraint) == "Constraint('mine', {1: '5-6', 3: '2'})"


def test_constraint_accepts_request_classes_but_no_names(kwire):
    """Names such as "Fetch" are rejected, so that no constraint is silently ignored."""
    negotiation = kwire.connection.negotiation
    fetch = kwire.messages.FetchRequest
    table = negotiation.ApiVersionTable.from_ranges({fetch: "0-13"})
    assert table.pick(fetch) == 13
    assert table.pick(fetch, negotiation.Constraint("mine", {fetch: "0-11"})) == 11
    assert negotiation.VersionPolicy(exclude={fetch: [18]}).versions(1)[-1] == 17
    assert negotiation.VersionPolicy(speaks={fetch: "0-3"}).versions(1)[-1] == 3
    assert table.supports(negotiation.Feature("f", {fetch: "13+"}))
    for invalid_api in ("Fetch", kwire.messages.RequestHeader, None):
        with pytest.raises(
            TypeError, match="api must be a request class or an API key"
        ):
            negotiation.Constraint("mine", {invalid_api: "0-11"})
