# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Requests reach the right brokers while brokers move, stop and respond wrongly."""

import importlib
import random
from uuid import UUID

import pytest

from tests.client.machines.admin_answers import GROUP, SHARE
from tests.client.machines.brokers import LATEST, SimulatedCluster
from tests.client.machines.world import START_S, World

TIMEOUT_S = 20.0
SEEDS = 40
RELEASES = ("2.8", "3.6", "3.9", "4.1")


class Setting:
    """Cluster, and the requests that its brokers received."""

    def __init__(self, kwire, seed=1, releases=RELEASES, brokers=3):
        """Create two topics with three partitions."""
        self.random = random.Random(seed)
        self.kwire = kwire
        self.messages = kwire.messages
        self.machines = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, self.random, brokers, releases)
        self.world = World(self.cluster, self.random)
        for name in ("a", "b"):
            self.add_topic(name, 3)
        self.learn()

    def add_topic(self, name, partitions):
        """Add a topic with some records, and let all brokers learn it."""
        for log in self.cluster.add_topic(name, partitions).logs:
            for _ in range(self.random.randrange(1, 6)):
                log.append(self.random.randint(1, 4))

    def learn(self):
        """Let all brokers learn the actual state of the cluster."""
        for broker in self.cluster.brokers.values():
            broker.learn()

    def machine(self, request, to=None, **settings):
        """Return a machine for a request. ``settings`` override the client settings."""
        settings = {"request_timeout_s": 5.0, "timeout_s": TIMEOUT_S} | settings
        return self.machines.RequestMachine(
            [("sim", 9000 + node) for node in self.cluster.brokers],
            self.machines.ClusterSettings(**settings),
            request,
            to,
            now=self.world.now,
            random=self.random,
        )

    def request(self, request, to=None, **settings):
        """Run a request to its end, and return its response or raise its failure."""
        machine = self.machine(request, to, **settings)
        until = self.world.now + 4 * TIMEOUT_S
        assert self.world.run(machine, machine.has_result, until), "no end"
        machine.close(self.world.now)
        if machine.failure is not None:
            raise machine.failure
        return machine.result()

    def latest(self, *topics):
        """Return a ListOffsets request for all log end offsets in some topics."""
        make = self.messages.ListOffsetsRequest
        return make(
            replica_id=-1,
            topics=[
                make.ListOffsetsTopic(
                    name=name,
                    partitions=[
                        make.ListOffsetsPartition(partition_index=n, timestamp=LATEST)
                        for n in range(len(self.cluster.topics[name].logs))
                    ],
                )
                for name in topics
            ],
        )

    def delete_records(self, topic, offsets):
        """Return a DeleteRecords request for a topic.

        ``offsets`` is {partition: offset before which records are deleted}.
        """
        make = self.messages.DeleteRecordsRequest
        parts = [
            make.DeleteRecordsPartition(partition_index=n, offset=offset)
            for n, offset in offsets.items()
        ]
        entry = make.DeleteRecordsTopic(name=topic, partitions=parts)
        return make(topics=[entry], timeout_ms=1000)

    def create(self, name):
        """Return a request that creates a topic."""
        make = self.messages.CreateTopicsRequest
        entry = make.CreatableTopic(name=name, num_partitions=2, replication_factor=1)
        return make(topics=[entry], timeout_ms=1000)

    def received(self, name):
        """Return how many requests with a name the brokers have received in total."""
        return sum(broker.received[name] for broker in self.cluster.brokers.values())

    def move_leaders(self):
        """Choose a random leader for each partition. Only the new leaders learn it."""
        for topic in self.cluster.topics.values():
            for index, log in enumerate(topic.logs):
                topic.leaders[index] = self.random.choice(list(self.cluster.brokers))
                log.new_leader()
                self.cluster.brokers[topic.leaders[index]].learn()


def offsets(response):
    """Return {(topic, partition): offset} from a ListOffsets response.

    Partitions with an error are omitted.
    """
    return {
        (topic.name, part.partition_index): part.offset
        for topic in response.topics
        for part in topic.partitions
        if not part.error_code
    }


def ends(setting, *topics):
    """Return {(topic, partition): log end offset} for all partitions of topics."""
    return {
        (name, index): log.end
        for name in topics
        for index, log in enumerate(setting.cluster.topics[name].logs)
    }


def test_60_partitions_are_requested_from_each_leader_once(kwire, monkeypatch):
    setting = Setting(kwire)
    setting.add_topic("large", 60)
    setting.learn()
    counts = []
    module = importlib.import_module("tests.client.machines.brokers")
    answer = module.SimulatedBroker._ListOffsetsRequest

    def count(broker, request, version):
        counts.append(sum(len(topic.partitions) for topic in request.topics))
        return answer(broker, request, version)

    monkeypatch.setattr(module.SimulatedBroker, "_ListOffsetsRequest", count)
    response = setting.request(setting.latest("large", "a"))
    assert offsets(response) == ends(setting, "large", "a")
    assert [topic.name for topic in response.topics] == ["large", "a"]
    assert list(offsets(response)) == list(ends(setting, "large", "a"))
    assert len(counts) == 3
    assert sum(counts) == 63


def test_items_are_answered_while_leaders_move(kwire):
    for seed in range(SEEDS):
        setting = Setting(kwire, seed)
        setting.world.at(START_S + seed / 400, setting.move_leaders)
        setting.world.at(START_S + 2, setting.learn)
        response = setting.request(setting.latest("a", "b"))
        assert offsets(response) == ends(setting, "a", "b"), seed


def test_partitions_that_redirect_in_turns_are_not_requested_without_pause(kwire):
    """The leader moves on every request, so that no response is final.

    The requests must have pauses nevertheless.
    """
    setting = Setting(kwire)
    setting.cluster.moving_until = START_S + 1000
    response = setting.request(setting.delete_records("a", {0: 1, 1: 1}))
    code = kwire.error_codes.NOT_LEADER_OR_FOLLOWER
    codes = [part.error_code for topic in response.topics for part in topic.partitions]
    assert code in codes
    assert setting.world.now >= START_S + TIMEOUT_S
    setting.world.traffic.check()


def test_partitions_that_redirect_for_a_while_are_answered(kwire):
    for seed in range(10):
        setting = Setting(kwire, seed)
        setting.cluster.moving_until = START_S + 3
        response = setting.request(setting.delete_records("a", {0: 1, 1: 1, 2: 1}))
        logs = setting.cluster.topics["a"].logs
        assert [log.start for log in logs] == [1, 1, 1]
        results = [part for topic in response.topics for part in topic.partitions]
        assert [part.low_watermark for part in results] == [1, 1, 1]


def test_partition_without_answer_is_an_error(kwire, monkeypatch):
    """If the response lacks an item, it must not be treated as a success."""
    setting = Setting(kwire)
    module = importlib.import_module("tests.client.machines.brokers")
    answer = module.SimulatedBroker._ListOffsetsRequest

    def omit(broker, request, version):
        response = answer(broker, request, version)
        remaining = [topic for topic in response.topics if topic.name != "b"]
        return response.replace(topics=remaining)

    monkeypatch.setattr(module.SimulatedBroker, "_ListOffsetsRequest", omit)
    with pytest.raises(setting.machines.BrokersUnreachable, match="3 of 6 parts"):
        setting.request(setting.latest("a", "b"))
    setting.world.traffic.check()


def test_unknown_topic_has_the_answer_of_a_broker(kwire):
    """The error is returned after some seconds, because the topic may be new."""
    setting = Setting(kwire)
    code = kwire.error_codes.UNKNOWN_TOPIC_OR_PARTITION
    response = setting.request(setting.delete_records("none", {0: 1}))
    assert response.topics[0].partitions[0].error_code == code
    assert START_S + 2 < setting.world.now < START_S + 6


def test_new_topic_is_found_when_brokers_learn_of_it(kwire):
    setting = Setting(kwire)
    setting.add_topic("new", 2)
    setting.world.at(START_S + 1, setting.learn)
    assert offsets(setting.request(setting.latest("new"))) == ends(setting, "new")


@pytest.mark.parametrize("release", ["2.3", "4.1"])
def test_groups_are_described_by_their_coordinators(kwire, release):
    setting = Setting(kwire, 2, [release])
    names = [f"group {n}" for n in range(12)]
    for broker in setting.cluster.brokers.values():
        broker.loads_coordinators = 2
    request = setting.messages.DescribeGroupsRequest(groups=names)
    response = setting.request(request)
    assert [group.group_id for group in response.groups] == names
    assert {group.error_code for group in response.groups} == {0}
    nodes = {setting.cluster.coordinator(GROUP, name) for name in names}
    assert len(nodes) > 1
    setting.world.traffic.check()


def test_groups_are_described_while_coordinators_move(kwire):
    for seed in range(10):
        setting = Setting(kwire, seed)
        setting.cluster.moving_until = START_S + 2
        names = ["x", "y", "z"]
        response = setting.request(setting.messages.DescribeGroupsRequest(groups=names))
        assert [group.error_code for group in response.groups] == [0, 0, 0], seed


def test_user_without_permission_is_an_error_that_names_the_group(kwire):
    setting = Setting(kwire)
    for broker in setting.cluster.brokers.values():
        broker.refused_keys = {"secret"}
    with pytest.raises(setting.machines.NotAuthorized, match="'secret'"):
        setting.request(setting.messages.DescribeGroupsRequest(groups=["secret"]))


def test_groups_of_all_brokers_are_listed_once(kwire):
    setting = Setting(kwire)
    names = {f"g{n}" for n in range(20)}
    setting.cluster.listed_groups |= names
    setting.cluster.brokers[2].loads_coordinators = 3
    response = setting.request(setting.messages.ListGroupsRequest())
    assert response.error_code == 0
    listed = [group.group_id for group in response.groups]
    assert sorted(listed) == sorted(names)
    for broker in setting.cluster.brokers.values():
        assert broker.received["ListGroups"] == (4 if broker.node == 2 else 1)


def test_stopped_broker_is_skipped_by_a_request_to_every_broker(kwire):
    """The broker is skipped when the others no longer list it in the metadata."""
    setting = Setting(kwire)
    setting.cluster.listed_groups |= {f"g{n}" for n in range(20)}
    setting.cluster.brokers[3].is_up = False
    setting.world.at(START_S + 2, setting.learn)
    response = setting.request(setting.messages.ListGroupsRequest())
    listed = {group.group_id for group in response.groups}
    assert listed == {
        name
        for name in setting.cluster.listed_groups
        if setting.cluster.coordinator(GROUP, name) != 3
    }


def test_a_request_waits_for_the_controller_that_moved(kwire):
    setting = Setting(kwire)
    setting.cluster.controller = 3
    setting.world.at(START_S + 1, setting.learn)
    response = setting.request(setting.create("new"))
    assert [topic.error_code for topic in response.topics] == [0]
    assert "new" in setting.cluster.topics
    setting.world.traffic.check()


def test_a_request_with_an_effect_is_sent_once_if_the_connection_is_lost(
    kwire, monkeypatch
):
    """The broker has created the topic, but its response is lost."""
    setting = Setting(kwire)
    module = importlib.import_module("tests.client.machines.world")
    answer = module.Wire._answer

    def lose(wire, event):
        answer(wire, event)
        if type(event.request).__name__ == "CreateTopicsRequest":
            wire.break_off()

    monkeypatch.setattr(module.Wire, "_answer", lose)
    with pytest.raises(setting.machines.OutcomeUnknown, match="CreateTopics"):
        setting.request(setting.create("new"))
    assert "new" in setting.cluster.topics
    assert setting.received("CreateTopics") == 1


def test_a_request_without_effect_is_sent_again_if_the_connection_is_lost(
    kwire, monkeypatch
):
    setting = Setting(kwire)
    setting.cluster.listed_groups |= {"g"}
    module = importlib.import_module("tests.client.machines.world")
    answer, lost = module.Wire._answer, []

    def lose(wire, event):
        answer(wire, event)
        if type(event.request).__name__ == "ListGroupsRequest" and len(lost) < 5:
            lost.append(1)
            wire.break_off()

    monkeypatch.setattr(module.Wire, "_answer", lose)
    response = setting.request(setting.messages.ListGroupsRequest())
    assert [group.group_id for group in response.groups] == ["g"]
    assert len(lost) == 5


def test_a_request_with_an_effect_waits_for_a_broker_that_is_down(kwire):
    """The request waits for the broker, because it has not been sent yet."""
    setting = Setting(kwire)
    setting.cluster.brokers[1].is_up = False

    def start():
        setting.cluster.brokers[1].is_up = True
        setting.learn()

    setting.world.at(START_S + 3, start)
    setting.request(setting.create("new"))
    assert "new" in setting.cluster.topics
    assert setting.received("CreateTopics") == 1


def test_brokers_that_are_silent_are_an_error_after_the_timeout(kwire, monkeypatch):
    setting = Setting(kwire)
    monkeypatch.setattr("tests.client.machines.world.Wire._answer", lambda *_: None)
    for request in (setting.latest("a"), setting.messages.ListGroupsRequest()):
        begun = setting.world.now
        with pytest.raises(setting.machines.BrokersUnreachable):
            setting.request(request)
        assert setting.world.now < begun + TIMEOUT_S + 10


def test_config_resources_of_brokers_go_to_these_brokers(kwire):
    setting = Setting(kwire)
    setting.add_topic("1", 1)
    make = setting.messages.DescribeConfigsRequest
    resources = [(4, "3"), (2, "a"), (4, ""), (4, "1"), (8, "2"), (2, "1")]
    request = make(
        resources=[
            make.DescribeConfigsResource(
                resource_type=kind, resource_name=name, configuration_keys=None
            )
            for kind, name in resources
        ]
    )
    results = setting.request(request).results
    assert [
        (result.resource_type, result.resource_name) for result in results
    ] == resources
    assert {result.error_code for result in results} == {0}
    answered_by = [result.configs[0].value for result in results]
    assert (answered_by[0], answered_by[3], answered_by[4]) == ("3", "1", "2")


def test_share_group_state_is_read_from_the_coordinator_of_each_partition(kwire):
    setting = Setting(kwire, releases=["4.1"])
    make = setting.messages.ReadShareGroupStateRequest
    request = make(
        group_id="work",
        topics=[
            make.ReadStateData(
                topic_id=UUID(int=7 << 64),
                partitions=[make.PartitionData(partition=n) for n in range(8)],
            )
        ],
    )
    (topic,) = setting.request(request).results
    assert [partition.start_offset for partition in topic.partitions] == list(range(8))
    assert {partition.error_code for partition in topic.partitions} == {0}
    nodes = {
        node
        for (kind, _), node in setting.cluster.coordinators.items()
        if kind == SHARE
    }
    assert len(nodes) > 1


def test_request_to_a_node_is_not_split_and_has_its_answer(kwire):
    setting = Setting(kwire)
    code = kwire.error_codes.NOT_LEADER_OR_FOLLOWER
    for node in setting.cluster.brokers:
        response = setting.request(setting.latest("a"), to=node)
        for part in response.topics[0].partitions:
            is_led = setting.cluster.topics["a"].leaders[part.partition_index] == node
            assert part.error_code == (0 if is_led else code)
    setting.cluster.listed_groups |= {"g"}
    node = setting.cluster.coordinator(GROUP, "g")
    other_response = setting.request(
        setting.messages.ListGroupsRequest(), to=node % 3 + 1
    )
    assert other_response.groups == ()


def test_request_to_an_unknown_node_names_the_brokers(kwire):
    setting = Setting(kwire)
    with pytest.raises(
        setting.machines.BrokersUnreachable, match=r"node id 9.*1, 2, 3"
    ):
        setting.request(setting.latest("a"), to=9)
    assert setting.world.now < START_S + 8


def test_requests_that_cannot_be_sent_are_rejected(kwire):
    setting = Setting(kwire)
    messages = setting.messages
    for request, problem in (
        (messages.SaslHandshakeRequest(mechanism="PLAIN"), "authentication"),
        (messages.AlterReplicaLogDirsRequest(dirs=[]), "to must be a node id"),
        (messages.ProduceRequest(acks=0), "acks"),
    ):
        with pytest.raises(ValueError, match=problem):
            setting.machine(request)


def test_request_without_items_goes_to_any_broker(kwire):
    setting = Setting(kwire)
    assert setting.request(setting.latest()).topics == ()


@pytest.mark.parametrize("release", ["1.0", "2.3", "2.8", "4.1"])
def test_offsets_of_several_groups_are_fetched_from_every_release(kwire, release):
    """Before OffsetFetch version 8, groups require separate requests."""
    setting = Setting(kwire, 3, [release])
    topic_id = setting.cluster.topics["a"].topic_id
    for n in range(3):
        group = setting.cluster.add_group(f"g{n}", ["a"])
        group.offsets[topic_id, 0] = (n, -1)
    make = setting.messages.OffsetFetchRequest
    topics = [make.OffsetFetchRequestTopics(name="a", partition_indexes=[0])]
    groups = [
        make.OffsetFetchRequestGroup(group_id=f"g{n}", topics=topics) for n in range(3)
    ]
    response = setting.request(make(groups=groups))
    assert [
        (group.group_id, group.topics[0].partitions[0].committed_offset)
        for group in response.groups
    ] == [("g0", 0), ("g1", 1), ("g2", 2)]


@pytest.mark.parametrize("release", ["1.0", "2.8", "4.1"])
@pytest.mark.parametrize("is_older_form", [False, True])
def test_topics_are_deleted_by_name_on_every_release(kwire, release, is_older_form):
    """The caller may set the version 6 fields or the older fields."""
    setting = Setting(kwire, releases=[release])
    make = setting.messages.DeleteTopicsRequest
    entry = make.DeleteTopicState(name="a")
    request = make(topics=[entry], timeout_ms=1000)
    if is_older_form:
        request = make(topic_names=["a"], timeout_ms=1000)
    (result,) = setting.request(request).responses
    assert (result.name, result.error_code) == ("a", 0)
    assert list(setting.cluster.topics) == ["b"]


def test_fetch_by_topic_name_uses_a_version_with_names(kwire):
    setting = Setting(kwire, releases=["4.1"])
    make = setting.messages.FetchRequest
    parts = [
        make.FetchPartition(partition=n, fetch_offset=0, partition_max_bytes=1 << 20)
        for n in range(3)
    ]
    for fields in ({"topic": "a"}, {"topic_id": setting.cluster.topics["a"].topic_id}):
        topic = make.FetchTopic(partitions=parts, **fields)
        request = make(topics=[topic], max_wait_ms=100, max_bytes=1 << 20)
        (topic_response,) = setting.request(request).responses
        assert [
            partition.partition_index for partition in topic_response.partitions
        ] == [0, 1, 2]
        for part, log in zip(
            topic_response.partitions, setting.cluster.topics["a"].logs, strict=True
        ):
            assert type(part.records) is bytes
            assert len(part.records) == log.size
