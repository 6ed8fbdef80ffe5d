# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check kwire's connections with running brokers in all protocol versions.

The versions advertised by a broker must be identical to kwire's data for that release.
Requests and both types of group heartbeats are sent in every supported version. A
version that the table does not contain closes the connection. ``test_records.py``
compares records in more detail.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from kwire import error_codes, messages
from kwire.connection import ConnectionClosed, ResponseReceived
from kwire.connection.negotiation import ApiVersionTable, guess_release
from kwire.messages import (
    ApiVersionsRequest,
    ConsumerGroupHeartbeatRequest,
    CreateTopicsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    ProduceRequest,
    SyncGroupRequest,
    framing,
)
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, workloads
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.wire import (
    FIRST_PRODUCE_WITH_MAGIC_2,
    TOPIC_ID_PRODUCE,
    Connection,
    all_records,
    check_error,
    encoded,
    expect,
)

pytestmark = pytest.mark.releases("4.x", "3.9", "2.8")

SETTINGS = {"3.9": {"group.coordinator.rebalance.protocols": "classic,consumer"}}
"""Broker settings that enable both group protocols, by release."""

TELEMETRY = {71, 72}
"""API keys that a broker hides unless it has a plugin that receives client metrics."""

FIRST_WITH_KEYS, FIRST_WITH_GROUPS, FIRST_WITH_MEMBERS = 4, 8, 3
FIRST_IN_KAFKA = 1
"""First OffsetCommit and OffsetFetch version that stores offsets in Kafka.

Version 0 stores them in ZooKeeper, which newer brokers do not use.
"""

LEAVE = -1
SESSION_MS = 120_000
"""Session timeout in milliseconds. Members leave long before it expires."""


@pytest.fixture
def kafka(start_broker: Callable[..., Broker], version: str) -> Broker:
    """Broker with the settings that enable both group protocols."""
    return start_broker(version, SETTINGS.get(version))


@pytest.fixture
def topic(kafka: Broker, request: pytest.FixtureRequest) -> str:
    """Name of a new topic, which is the name of the check."""
    name = request.function.__name__
    workloads.create_topic(kafka, name)
    return str(name)


def span(versions: list[int]) -> str:
    """Format consecutive versions as a range, for example "0-3"."""
    return f"{versions[0]}-{versions[-1]}" if versions[1:] else f"{versions[0]}"


def place_of(kafka: Broker) -> tuple[str, int]:
    """Return the host and the port of a broker."""
    return brokers.LOOPBACK, kafka.port


def test_advertised_apis_are_those_of_the_release(
    kafka: Broker, wire: Connection
) -> None:
    """A broker advertises the versions that kwire's data contains for its release.

    Every ApiVersions version is used.
    """
    release = ".".join(kafka.release.split(".")[:2])
    listener = "zkBroker" if kafka.has_zookeeper else "broker"
    facts = ApiVersionTable.of_release(release, listener).ranges()
    expected = {
        key: versions_of_key
        for key, versions_of_key in facts.items()
        if key not in TELEMETRY
    }
    expect("the table", wire.table.ranges(), expected)
    guess = str(guess_release(wire.table))
    expect("the guessed release", guess, release)
    versions = wire.versions(ApiVersionsRequest)
    for version in versions:
        request = ApiVersionsRequest(
            client_software_name="kwire", client_software_version="0"
        )
        answer = wire.ask(request, version)
        same = ApiVersionTable.from_response(answer).ranges()
        expect(f"the table of ApiVersions {version}", same, expected)
    print(f"{len(expected)} APIs, which says {guess}; ApiVersions {span(versions)}")


def test_topics_are_created_and_seen_in_each_version(
    kafka: Broker, wire: Connection
) -> None:
    """Topics are created with every CreateTopics version, and listed with every
    Metadata version.
    """
    creates = wire.versions(CreateTopicsRequest)
    names = [f"created-{version}" for version in creates]
    for version, name in zip(creates, names, strict=True):
        topic = CreateTopicsRequest.CreatableTopic(
            name=name, num_partitions=1, replication_factor=1
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=clients.SECONDS * 1000)
        answer = wire.ask(request, version)
        check_error(f"CreateTopics {version}", answer.topics[0].error_code)
    versions = wire.versions(MetadataRequest)
    for version in versions:
        topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        answer = wire.ask(MetadataRequest(topics=topics), version)
        addresses = [(broker.host, broker.port) for broker in answer.brokers]
        expect(f"Metadata {version}: the brokers", addresses, [place_of(kafka)])
        error_codes_by_name = {topic.name: topic.error_code for topic in answer.topics}
        expect(
            f"Metadata {version}: topics", error_codes_by_name, dict.fromkeys(names, 0)
        )
    print(f"CreateTopics {span(creates)}, Metadata {span(versions)}")


def test_batches_pass_through_each_version(wire: Connection, topic: str) -> None:
    """Batches are written with every Produce version, and read with every Fetch
    version.
    """
    produces = wire.versions(ProduceRequest, FIRST_PRODUCE_WITH_MAGIC_2)
    rows: list[tuple[bytes | None, bytes | None]] = []
    for version in produces:
        sent = [
            clients.Row(b"%d" % version, b"value %d" % n, [], 1_700_000_000_000 + n)
            for n in range(5)
        ]
        base_offset = wire.produce(topic, encoded(sent), version)
        expect(f"Produce {version}: the offset", base_offset, len(rows))
        rows += [(row.key, row.value) for row in sent]
    fetches = wire.versions(FetchRequest)
    for version in fetches:
        records_of_topic = all_records(wire.fetch(topic, version))
        expect(f"Fetch {version}", [(r.key, r.value) for r in records_of_topic], rows)
    print(f"Produce {span(produces)}, Fetch {span(fetches)}")


def test_classic_members_join_and_commit_in_each_version(
    kafka: Broker, wire: Connection, topic: str
) -> None:
    """Join, send heartbeats, commit offsets and leave with each request version."""
    finds = wire.versions(FindCoordinatorRequest)
    for version in finds:
        request = FindCoordinatorRequest(key="classic-0")
        if version >= FIRST_WITH_KEYS:
            request = FindCoordinatorRequest(coordinator_keys=["classic-0"])
        answer = wire.ask(request, version)
        (coordinator,) = answer.coordinators or [answer]
        check_error(f"FindCoordinator {version}", coordinator.error_code)
        expect("the coordinator", (coordinator.host, coordinator.port), place_of(kafka))
    joins = wire.versions(JoinGroupRequest)
    leaves = wire.versions(LeaveGroupRequest)
    for turn, version in enumerate(joins):
        group = f"classic-{version}"
        member, generation = join(wire, topic, group, version)
        sync(wire, topic, group, member, generation)
        heartbeat(wire, group, member, generation)
        commit(wire, topic, group, member, generation)
        leave(wire, group, member, leaves[turn % len(leaves)])
    print(
        f"JoinGroup {span(joins)}, SyncGroup {span(wire.versions(SyncGroupRequest))},"
        f" Heartbeat {span(wire.versions(HeartbeatRequest))},"
        f" LeaveGroup {span(leaves)},\n    OffsetCommit"
        f" {span(wire.versions(OffsetCommitRequest, FIRST_IN_KAFKA))}, OffsetFetch"
        f" {span(wire.versions(OffsetFetchRequest, FIRST_IN_KAFKA))}, FindCoordinator"
        f" {span(finds)}"
    )


def join(wire: Connection, topic: str, group: str, version: int) -> tuple[str, int]:
    """Join a group as its only member. Returns the member id and the generation."""
    subscription = messages.ConsumerProtocolSubscription(topics=[topic])
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(
        name="range", metadata=framing.encode_prefixed(subscription, 0)
    )
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=SESSION_MS,
        protocol_type="consumer",
        protocols=[protocol],
    )
    answer = wire.ask(request, version)
    if answer.error_code == error_codes.MEMBER_ID_REQUIRED:
        request = request.replace(member_id=answer.member_id)
        answer = wire.ask(request, version)
    check_error(f"JoinGroup {version}", answer.error_code)
    expect(f"JoinGroup {version}: the leader", answer.leader, answer.member_id)
    return answer.member_id, answer.generation_id


def sync(
    wire: Connection, topic: str, group: str, member: str, generation: int
) -> None:
    """Assign the topic with each SyncGroup version. Verify the returned assignment."""
    assigned = messages.ConsumerProtocolAssignment.TopicPartition(
        topic=topic, partitions=[0]
    )
    plan = messages.ConsumerProtocolAssignment(assigned_partitions=[assigned])
    data = framing.encode_prefixed(plan, 0)
    for version in wire.versions(SyncGroupRequest):
        own = SyncGroupRequest.SyncGroupRequestAssignment(
            member_id=member, assignment=data
        )
        request = SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[own],
        )
        answer = wire.ask(request, version)
        check_error(f"SyncGroup {version}", answer.error_code)
        expect(f"SyncGroup {version}: the assignment", answer.assignment, data)


def heartbeat(wire: Connection, group: str, member: str, generation: int) -> None:
    """Send a heartbeat with each version.

    The broker must accept it from the member and reject it from an unknown member.
    """
    for version in wire.versions(HeartbeatRequest):
        request = HeartbeatRequest(
            group_id=group, generation_id=generation, member_id=member
        )
        check_error(f"Heartbeat {version}", wire.ask(request, version).error_code)
        stranger = wire.ask(request.replace(member_id="stranger"), version)
        expect(
            f"Heartbeat {version} of a stranger",
            error_codes.name(stranger.error_code),
            "UNKNOWN_MEMBER_ID",
        )


def commit(
    wire: Connection, topic: str, group: str, member: str, generation: int
) -> None:
    """Commit an offset with each version, and read it with each version."""
    topic_id = {}
    if wire.versions(OffsetCommitRequest)[-1] >= 10:
        topic_id = {"topic_id": wire.topic_id(topic)}
    for offset, version in enumerate(
        wire.versions(OffsetCommitRequest, FIRST_IN_KAFKA), 100
    ):
        part = OffsetCommitRequest.OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        committed = OffsetCommitRequest.OffsetCommitRequestTopic(
            name=topic, partitions=[part], **topic_id
        )
        request = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member,
            topics=[committed],
        )
        (stored,) = wire.ask(request, version).topics[0].partitions
        check_error(f"OffsetCommit {version}", stored.error_code)
        for read in wire.versions(OffsetFetchRequest, FIRST_IN_KAFKA):
            committed_offset = read_offset(wire, topic, group, read, topic_id)
            expect(
                f"OffsetFetch {read} after OffsetCommit {version}",
                committed_offset,
                offset,
            )


def read_offset(
    wire: Connection, topic: str, group: str, version: int, topic_id: dict[str, Any]
) -> int:
    """Return the offset that a group has committed for partition 0 of a topic."""
    if version < FIRST_WITH_GROUPS:
        old = OffsetFetchRequest.OffsetFetchRequestTopic(
            name=topic, partition_indexes=[0]
        )
        request = OffsetFetchRequest(group_id=group, topics=[old])
        answer = wire.ask(request, version)
    else:
        new = OffsetFetchRequest.OffsetFetchRequestTopics(
            name=topic, partition_indexes=[0], **topic_id
        )
        whose = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group, topics=[new])
        answer = wire.ask(OffsetFetchRequest(groups=[whose]), version).groups[0]
    (part,) = answer.topics[0].partitions
    check_error(f"OffsetFetch {version}", part.error_code)
    return int(part.committed_offset)


def leave(wire: Connection, group: str, member: str, version: int) -> None:
    """Leave a group with one LeaveGroup version."""
    request = LeaveGroupRequest(group_id=group, member_id=member)
    if version >= FIRST_WITH_MEMBERS:
        who = LeaveGroupRequest.MemberIdentity(member_id=member)
        request = LeaveGroupRequest(group_id=group, members=[who])
    check_error(f"LeaveGroup {version}", wire.ask(request, version).error_code)


def test_consumer_members_are_assigned_in_each_version(
    wire: Connection, topic: str
) -> None:
    """Join, receive an assignment and leave with each version of the heartbeat."""
    versions = wire.versions(ConsumerGroupHeartbeatRequest)
    if not versions:
        print("no ConsumerGroupHeartbeat in this release")
        return
    expected = [(wire.topic_id(topic), [0])]
    for version in versions:
        title = f"ConsumerGroupHeartbeat {version}"
        group = f"consumers-{version}"
        # FindCoordinator makes a new broker create __consumer_offsets, which the
        # heartbeat requires.
        wire.ask(FindCoordinatorRequest(coordinator_keys=[group]), FIRST_WITH_KEYS)
        request = ConsumerGroupHeartbeatRequest(
            group_id=group,
            # Since version 1, the member generates its own member id.
            member_id="kwire-member" if version else "",
            rebalance_timeout_ms=SESSION_MS,
            subscribed_topic_names=[topic],
            topic_partitions=[],
        )
        deadline = time.monotonic() + clients.SECONDS
        assigned: list[Any] = []
        while assigned != expected:
            if time.monotonic() > deadline:
                raise BrokerError(f"{title}: assigned is {assigned}, not {expected}")
            answer = wire.ask(request, version)
            check_error(title, answer.error_code)
            if answer.assignment is not None:
                parts = answer.assignment.topic_partitions
                assigned = [(part.topic_id, list(part.partitions)) for part in parts]
            request = ConsumerGroupHeartbeatRequest(
                group_id=group,
                member_id=answer.member_id,
                member_epoch=answer.member_epoch,
            )
        expect(f"{title}: an epoch", answer.member_epoch > 0, True)
        left = wire.ask(request.replace(member_epoch=LEAVE), version)
        check_error(f"{title}, leaving", left.error_code)
        expect(f"{title}: the last epoch", left.member_epoch, LEAVE)
    print(f"ConsumerGroupHeartbeat {span(versions)}: joined, assigned, left")


def test_responses_keep_the_order_of_pipelined_requests(
    wire: Connection, topic: str
) -> None:
    """Send requests with and without response before the first response is read."""
    count = 60
    correlation_ids = []
    # The batches below are sent without acknowledgement, so they would be lost if the
    # topic had no leader yet. ``fetch`` repeats its request until there is a leader.
    wire.fetch(topic, 4)
    for turn in range(count):
        if turn % 3:
            correlation_ids.append(wire.wire.send(MetadataRequest(topics=[])))
        else:
            batch = encoded([clients.Row(b"silent", b"%d" % turn, [], 0)])
            part = ProduceRequest.PartitionProduceData(index=0, records=batch)
            data = ProduceRequest.TopicProduceData(name=topic, partition_data=[part])
            # Newer versions identify the topic by its topic id.
            version = min(wire.versions(ProduceRequest)[-1], TOPIC_ID_PRODUCE - 1)
            silent = ProduceRequest(acks=0, timeout_ms=1000, topic_data=[data])
            wire.wire.send(silent, version)
    for correlation_id in correlation_ids:
        event = wire.next_event()
        if not isinstance(event, ResponseReceived):
            raise BrokerError(f"instead of response {correlation_id}: {event}")
        expect("a correlation id", event.correlation_id, correlation_id)
    stored = [r for r in all_records(wire.fetch(topic, 4)) if r.key == b"silent"]
    expect("records without acks", len(stored), count - len(correlation_ids))
    print(f"{count} requests at once, {len(stored)} of them without a response")


def test_a_version_that_the_broker_lacks_ends_the_connection(
    kafka: Broker, wire: Connection
) -> None:
    """The broker closes the connection, and the cached version table becomes invalid.

    The unsupported versions include Produce versions that brokers since 4.0 advertise
    but reject.
    """
    refusals = []
    for request in (ProduceRequest(acks=1), FetchRequest()):
        cls = type(request)
        table = wire.table
        refused = [v for v in cls.valid_versions if v not in table.usable(cls)]
        for version in refused:
            other = Connection(kafka)
            try:
                other.wire.send(request, version)
                event = other.next_event()
                title = f"{cls.__name__} {version}"
                expect(f"{title} is answered by", type(event), ConnectionClosed)
                expect(f"{title}: the table is alive", other.table.is_alive, False)
            finally:
                other.close()
        name = cls.__name__.removesuffix("Request")
        refusals.append(f"{name} {', '.join(map(str, refused))}")
    print(f"hung up on: {'; '.join(refusals)}")
