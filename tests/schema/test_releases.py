# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the API versions by release against running nodes and definitions.

All facts are in one file, so the tests compare it with independent sources: the message
definitions (for the newest release and for all releases together), the recorded
responses of running nodes, and tables in this file.
"""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from kwire.schema import registry
from kwire.schema.versions import NONE, VersionRange
from tests.connection.negotiation.advertised_tables import TABLES, advertised

OLDEST_FIRST = (
    "0.8.0 0.8.1 0.8.2 0.9.0 0.10.0 0.10.1 0.10.2 0.11.0 1.0 1.1 2.0 2.1 2.2 2.3 2.4 "
    "2.5 2.6 2.7 2.8 3.0 3.1 3.2 3.3 3.4 3.5 3.6 3.7 3.8 3.9 4.0 4.1 4.2 4.3 4.4"
)
NEWEST = OLDEST_FIRST.rpartition(" ")[2]

# Kafka 0.10.0 introduced ApiVersions. Its documentation lists these 19 APIs.
OF_0_10_0 = (
    "Produce 0-2, Fetch 0-2, ListOffsets 0, Metadata 0-1, LeaderAndIsr 0, "
    "StopReplica 0, UpdateMetadata 0-2, ControlledShutdown 0-1, OffsetCommit 0-2, "
    "OffsetFetch 0-1, FindCoordinator 0, JoinGroup 0, Heartbeat 0, LeaveGroup 0, "
    "SyncGroup 0, DescribeGroups 0, ListGroups 0, SaslHandshake 0, ApiVersions 0"
)

# API keys that no future release will reuse.
RETIRED = ("LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown")

# Removed by KIP-896 and with ZooKeeper support.
REMOVED_IN_4_0 = (
    "LeaderAndIsr 0-7, StopReplica 0-4, UpdateMetadata 0-8, ControlledShutdown 0-3, "
    "Produce 0-2, Fetch 0-3, ListOffsets 0, OffsetCommit 0-1, OffsetFetch 0, "
    "CreateTopics 0-1, DeleteTopics 0, OffsetForLeaderEpoch 0-1, WriteTxnMarkers 0, "
    "DescribeAcls 0, CreateAcls 0, DeleteAcls 0, DescribeConfigs 0, "
    "AlterReplicaLogDirs 0, DescribeLogDirs 0, CreateDelegationToken 0, "
    "RenewDelegationToken 0, ExpireDelegationToken 0, DescribeDelegationToken 0, "
    "AlterPartition 0-1"
)

# Added by KIP-103, KIP-88 and KIP-108.
ADDED_IN_0_10_2 = "UpdateMetadata 3, OffsetFetch 2, CreateTopics 1"

ADDED_IN_4_0 = (
    "Metadata 13, Produce 12, ListOffsets 10, EndTxn 5, TxnOffsetCommit 5, "
    "DescribeGroups 6, ConsumerGroupHeartbeat 1, ConsumerGroupDescribe 1, "
    "DescribeCluster 2, UpdateFeatures 2, Vote 2"
)

ADDED_IN_4_1 = (
    "Produce 13, Fetch 18, ListTransactions 2, AlterPartitionReassignments 1, "
    "ListConfigResources 1, ShareGroupHeartbeat 1, ShareGroupDescribe 1, "
    "ShareFetch 1, ShareAcknowledge 1, InitializeShareGroupState 0, "
    "ReadShareGroupState 0, WriteShareGroupState 0, DeleteShareGroupState 0, "
    "ReadShareGroupStateSummary 0, DescribeShareGroupOffsets 0, "
    "AlterShareGroupOffsets 0, DeleteShareGroupOffsets 0"
)

ADDED_IN_4_4 = (
    "ApiVersions 5, DeleteGroups 3, TxnOffsetCommit 6, StreamsGroupHeartbeat 1, "
    "StreamsGroupDescribe 1, StreamsGroupTopologyDescriptionUpdate 0, "
    "UnregisterController 0"
)

DEPRECATED_IN_3_9 = (
    "Produce 0-2, Fetch 0-3, ListOffsets 0, OffsetCommit 0-1, OffsetFetch 0, "
    "CreateTopics 0-1, DeleteTopics 0, OffsetForLeaderEpoch 0-1, DescribeAcls 0, "
    "CreateAcls 0, DeleteAcls 0, DescribeConfigs 0, AlterReplicaLogDirs 0, "
    "DescribeLogDirs 0, CreateDelegationToken 0, RenewDelegationToken 0, "
    "ExpireDelegationToken 0, DescribeDelegationToken 0"
)


def parse_ranges(text: str) -> dict[int, VersionRange]:
    """Parse a text such as "Produce 0-2, Fetch 4+".

    Return version ranges by API key.
    """
    rows = (item.split(" ") for item in text.split(", "))
    ranges_by_key = {
        registry.find(f"{name}Request").api_key: VersionRange.from_text(versions)
        for name, versions in rows
    }
    return dict(sorted(ranges_by_key.items()))


def text_of(ranges: dict[int, VersionRange]) -> dict[int, str]:
    """Convert version ranges to strings.

    They can then be compared across engines, which have separate VersionRange classes.
    """
    return {key: str(versions) for key, versions in ranges.items()}


@pytest.fixture
def releases(kwire: ModuleType) -> ModuleType:
    """Return the ``releases`` module, on every engine."""
    return importlib.import_module(f"{kwire.__name__}.schema.releases")


def test_the_release_lines_are_named_from_the_oldest_to_the_newest(releases):
    assert " ".join(releases.NAMES) == OLDEST_FIRST
    assert len(set(releases.NAMES)) == 34


def test_the_newest_release_speaks_all_that_is_stable_in_the_definitions(releases):
    newest = releases.ranges(releases.NAMES[-1])
    stable = {}
    for key in registry.keys("request"):
        message = registry.load(registry.find_by_key(key, "request").name)
        stable[key] = message.valid_versions.max - message.latest_version_unstable
    for name in RETIRED:
        del stable[releases.key_of(name)]
    assert {key: versions.max for key, versions in newest.items()} == stable


def test_all_releases_together_support_all_definitions(releases):
    spoken: dict[int, set[int]] = {}
    for name in releases.NAMES:
        for choice in (False, True):
            answers = releases.advertisements(name, unstable=choice)
            for key, (first, *_) in answers.items():
                spoken.setdefault(key, set()).update(first)
    for key in registry.keys("request"):
        entry = registry.find_by_key(key, "request")
        assert sorted(spoken.pop(key)) == list(entry.valid_versions), entry.name
    assert not spoken


def test_the_last_deprecations_of_each_api_are_those_of_the_definitions(releases):
    last: dict[int, str] = {}
    for name in releases.NAMES:
        last |= text_of(releases.deprecated(name))
    definitions = {}
    for key in registry.keys("request"):
        message = registry.load(registry.find_by_key(key, "request").name)
        if message.deprecated_versions:
            definitions[key] = str(message.deprecated_versions)
    assert last == definitions


def test_the_file_gives_every_key_its_own_name(releases):
    """Every API key has exactly one name in the file."""
    names = set()
    for line in registry.fact_text("releases").splitlines():
        words = line.split()
        if words and words[0].isdigit():
            names.add((int(words[0]), words[1]))
    assert {key for key, _ in names} == set(registry.keys("request"))
    for key, name in names:
        assert (releases.name_of(key), releases.key_of(name)) == (name, key)


@pytest.mark.parametrize("name", TABLES)
def test_a_release_advertises_what_its_running_nodes_answer(releases, name):
    """The ranges of a release equal the recorded responses of running nodes."""
    version, listener, *unstable = name.split()
    line = version.rpartition(".")[0]
    possible = releases.advertisements(line, listener, unstable=bool(unstable))
    answer = advertised(name)
    for key, choices in possible.items():
        ends = answer.pop(key, None)
        # If the expected range is empty, a node may omit the API.
        allowed = [(range_.min, range_.max) if range_ else None for range_ in choices]
        assert ends in allowed, key
    assert answer == {}


def test_the_first_release_that_answers_has_nineteen_apis(releases):
    assert text_of(releases.ranges("0.10.0")) == text_of(parse_ranges(OF_0_10_0))


def test_kafka_2_7_answers_no_raft_requests_though_it_has_them(releases):
    assert {52, 53, 54, 55}.isdisjoint(releases.ranges("2.7"))
    assert {52, 53, 54, 55} <= releases.ranges("2.8", "controller").keys()


def test_before_kraft_a_broker_is_one_with_zookeeper(releases):
    assert releases.listeners("2.7") == ("zkBroker",)
    assert releases.ranges("2.7", "broker") == releases.ranges("2.7", "zkBroker")
    assert releases.ranges("2.7", "controller") == {}


def test_with_kraft_there_are_three_listeners_and_since_4_0_two(releases):
    assert releases.listeners("2.8") == ("zkBroker", "broker", "controller")
    assert releases.listeners("3.9") == ("zkBroker", "broker", "controller")
    assert releases.listeners("4.0") == ("broker", "controller")
    assert releases.ranges("4.0", "zkBroker") == {}
    # Each of these APIs depends on the mode: LeaderAndIsr (4) requires ZooKeeper,
    # DescribeTopicPartitions (75) a KRaft broker, and Vote (52) a controller.
    ranges = {name: releases.ranges("3.9", name) for name in releases.LISTENERS}
    assert [name for name in ranges if 4 in ranges[name]] == ["zkBroker"]
    assert [name for name in ranges if 75 in ranges[name]] == ["broker"]
    assert [name for name in ranges if 52 in ranges[name]] == ["controller"]


@pytest.mark.parametrize("listener", ["broker", "zkBroker", "controller", None])
def test_ranges_are_in_the_order_of_their_keys_and_never_empty(releases, listener):
    """Ranges are in the order of the API keys, and none is empty.

    An API without versions is omitted.
    """
    for name in releases.NAMES:
        ranges = releases.ranges(name, listener)
        assert list(ranges) == sorted(ranges)
        assert all(ranges.values())


def test_results_are_independent_copies(releases):
    """Every call returns a new dict, so that callers can change it."""
    releases.ranges("4.4").clear()
    releases.deprecated("3.9").clear()
    assert releases.ranges("4.4")
    assert releases.deprecated("3.9")


def test_upgrade_to_4_0_removes_old_versions_and_zookeeper_apis(releases):
    changes = releases.changes("3.9", "4.0")
    assert text_of(changes.removed) == text_of(parse_ranges(REMOVED_IN_4_0))
    assert text_of(changes.added) == text_of(parse_ranges(ADDED_IN_4_0))


@pytest.mark.parametrize(
    ("old", "new", "added"),
    [
        ("0.10.1", "0.10.2", ADDED_IN_0_10_2),
        ("4.0", "4.1", ADDED_IN_4_1),
        ("4.3", "4.4", ADDED_IN_4_4),
    ],
)
def test_an_upgrade_to_a_release_that_removes_nothing_only_adds(
    releases, old, new, added
):
    assert releases.changes(old, new).removed == {}
    assert text_of(releases.changes(old, new).added) == text_of(parse_ranges(added))


def test_changes_contain_all_versions_and_are_reversible(releases):
    for old in releases.NAMES:
        for new in releases.NAMES:
            before, after = releases.ranges(old), releases.ranges(new)
            changes = releases.changes(old, new)
            for key in before.keys() | after.keys():
                versions_before, versions_after = (
                    set(before.get(key, NONE)),
                    set(after.get(key, NONE)),
                )
                assert (
                    set(changes.removed.get(key, NONE))
                    == versions_before - versions_after
                ), (old, new)
                assert (
                    set(changes.added.get(key, NONE))
                    == versions_after - versions_before
                ), (old, new)
            reverse = releases.changes(new, old)
            assert (reverse.added, reverse.removed) == changes


def test_deprecations_begin_with_3_7_and_end_with_4_0(releases):
    with_some = [name for name in releases.NAMES if releases.deprecated(name)]
    assert with_some == ["3.7", "3.8", "3.9"]
    assert text_of(releases.deprecated("3.9")) == text_of(
        parse_ranges(DEPRECATED_IN_3_9)
    )
    # Kafka 3.7 deprecated more versions than Kafka 4.0 removed.
    taken_back = parse_ranges(
        "Metadata 0-3, FindCoordinator 0, JoinGroup 0-1, SaslHandshake 0, "
        "DeleteGroups 0, Produce 0-6"
    )
    expected = parse_ranges(DEPRECATED_IN_3_9) | taken_back
    assert text_of(releases.deprecated("3.7")) == text_of(
        dict(sorted(expected.items()))
    )


def test_deprecated_versions_are_still_supported(releases):
    """A deprecated version is supported until a later release removes it."""
    for name in releases.NAMES:
        for key, versions in releases.deprecated(name).items():
            assert releases.ranges(name)[key].contains(versions)


def test_protocol_versions_count_up_from_0_8_0(releases):
    steps = releases.protocol_versions()
    assert [step.id for step in steps] == list(range(67))
    assert len({step.name for step in steps}) == 67
    order = [releases.NAMES.index(step.release) for step in steps]
    assert order == sorted(order)
    assert set(order) == set(range(34))


@pytest.mark.parametrize(
    ("number", "name", "release", "level"),
    [
        (0, "0.8.0", "0.8.0", None),
        (3, "0.9.0", "0.9.0", None),
        (4, "0.10.0-IV0", "0.10.0", None),
        (12, "0.11.0-IV2", "0.11.0", None),
        (14, "1.1-IV0", "1.1", None),
        (21, "2.2-IV1", "2.2", None),
        (32, "2.8-IV1", "2.8", None),
        (33, "3.0-IV0", "3.0", None),
        (34, "3.0-IV1", "3.0", 1),
        (40, "3.3-IV3", "3.3", 7),
        (54, "3.9-IV0", "3.9", 21),
        (58, "4.0-IV3", "4.0", 25),
        (63, "4.3-IV0", "4.3", 30),
        (66, "4.4-IV2", "4.4", 33),
    ],
)
def test_a_protocol_version_is_found_by_number_and_name(
    releases, number, name, release, level
):
    assert releases.protocol_version(number) == (number, name, release, level)
    assert releases.protocol_version(name) == (number, name, release, level)


def test_feature_levels_are_kafkas_and_begin_with_3_0_iv1(releases):
    levels = [step.feature_level for step in releases.protocol_versions()]
    assert levels == [None] * 34 + list(range(1, 34))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda releases: releases.ranges("5.0"),
            f"no release line '5.0'; kwire has '0.8.0' to '{NEWEST}', such as '2.8'",
        ),
        (
            lambda releases: releases.changes("3.9", "4.0.1"),
            f"no release line '4.0.1'; kwire has '0.8.0' to '{NEWEST}', such as '2.8'",
        ),
        (
            lambda releases: releases.protocol_version(67),
            "no protocol version 67; kwire has 0 (0.8.0) to 66 (4.4-IV2)",
        ),
        (
            lambda releases: releases.protocol_version("0.10.0"),
            "0.10.0 has several protocol versions: give one of 0.10.0-IV0, 0.10.0-IV1",
        ),
        (
            lambda releases: releases.key_of("ListOffset"),
            "unknown API 'ListOffset'",
        ),
    ],
)
def test_unknown_names_raise_an_error(releases, ask, message):
    with pytest.raises(KeyError) as error:
        ask(releases)
    assert error.value.args == (message,)


def test_a_listener_has_one_of_kafkas_names(releases):
    with pytest.raises(ValueError, match="got 'zookeeper'"):
        releases.ranges("2.8", "zookeeper")


@pytest.mark.parametrize("name", ["Fetch", "FetchRequest", "FetchResponse"])
def test_an_api_is_found_by_its_name_and_by_those_of_its_messages(releases, name):
    assert releases.key_of(name) == 1
