# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks kwire's connections against live brokers, version by version.

    python -m tools.interop.broker.negotiate  # 4.x, 3.9 and 2.8
    python -m tools.interop.broker.negotiate --version 3.9

What a broker advertises has to be what kwire's facts say of its release; requests and
both kinds of group heartbeats go out in every version that the table has, and a
version that it has not ends the connection. Records are compared more closely by
``live.py``; the command line is ``versions_check.py``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

from kwire import KwireError, backend, error_codes, framing, messages
from kwire.connection import ConnectionClosed, ResponseReceived
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
)
from kwire.negotiation import ApiVersionTable, guess_release
from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, live
from tools.interop.broker.broker import Broker, BrokerError
from tools.interop.broker.live import Connection, check_error, expect

TOPIC = "negotiated"
SETTINGS = {"3.9": {"group.coordinator.rebalance.protocols": "classic,consumer"}}
"""What a release needs to be asked for, to have groups of both kinds."""

TELEMETRY = {71, 72}
"""Keys that a broker hides unless a plugin of its owner collects what clients send."""

FIRST_WITH_KEYS, FIRST_WITH_GROUPS, FIRST_WITH_MEMBERS = 4, 8, 3
FIRST_IN_KAFKA = 1
"""Offsets of version 0 are kept in ZooKeeper, which newer brokers do without."""

LEAVE = -1
SESSION_MS = 120_000
"""How long a member may be silent; it leaves long before that."""


def span(versions: list[int]) -> str:
    """Name versions, which follow each other."""
    return f"{versions[0]}-{versions[-1]}" if versions[1:] else f"{versions[0]}"


def place_of(kafka: Broker) -> tuple[str, int]:
    """Give the host and port of a broker."""
    return brokers.LOOPBACK, kafka.port


def check_table(kafka: Broker, wire: Connection) -> str:
    """Compare what is advertised with kwire's facts; ask in each version."""
    release = ".".join(kafka.release.split(".")[:2])
    listener = "zkBroker" if kafka.has_zookeeper else "broker"
    facts = ApiVersionTable.of_release(release, listener).ranges()
    wanted = {key: found for key, found in facts.items() if key not in TELEMETRY}
    expect("the table", wire.table.ranges(), wanted)
    guess = str(guess_release(wire.table))
    expect("the guessed release", guess, release)
    versions = wire.versions(ApiVersionsRequest)
    for version in versions:
        asked = ApiVersionsRequest(
            client_software_name="kwire", client_software_version="0"
        )
        answer = wire.ask(asked, version)
        same = ApiVersionTable.from_response(answer).ranges()
        expect(f"the table of ApiVersions {version}", same, wanted)
    return f"{len(wanted)} APIs, which says {guess}; ApiVersions {span(versions)}"


def check_metadata(kafka: Broker, wire: Connection) -> str:
    """Create a topic through each version, and see it in each version."""
    creates = wire.versions(CreateTopicsRequest)
    names = [f"created-{version}" for version in creates] + [TOPIC]
    for version, name in zip([*creates, None], names, strict=True):
        topic = CreateTopicsRequest.CreatableTopic(
            name=name, num_partitions=1, replication_factor=1
        )
        asked = CreateTopicsRequest(topics=[topic], timeout_ms=clients.SECONDS * 1000)
        answer = wire.ask(asked, version)
        check_error(f"CreateTopics {version}", answer.topics[0].error_code)
    versions = wire.versions(MetadataRequest)
    for version in versions:
        wanted = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        answer = wire.ask(MetadataRequest(topics=wanted), version)
        place = [(each.host, each.port) for each in answer.brokers]
        expect(f"Metadata {version}: the brokers", place, [place_of(kafka)])
        found = {topic.name: topic.error_code for topic in answer.topics}
        expect(f"Metadata {version}: topics", found, dict.fromkeys(names, 0))
    return f"CreateTopics {span(creates)}, Metadata {span(versions)}"


def check_records(kafka: Broker, wire: Connection) -> str:
    """Write a batch through each version, and read all through each version."""
    produces = wire.versions(ProduceRequest, live.FIRST_PRODUCE_WITH_MAGIC_2)
    rows: list[tuple[bytes | None, bytes | None]] = []
    for version in produces:
        sent = [
            clients.Row(b"%d" % version, b"value %d" % n, [], 1_700_000_000_000 + n)
            for n in range(5)
        ]
        given = wire.produce(TOPIC, live.encoded(sent), version)
        expect(f"Produce {version}: the offset", given, len(rows))
        rows += [(row.key, row.value) for row in sent]
    fetches = wire.versions(FetchRequest)
    for version in fetches:
        found = live.all_records(wire.fetch(TOPIC, version))
        expect(f"Fetch {version}", [(r.key, r.value) for r in found], rows)
    return f"Produce {span(produces)}, Fetch {span(fetches)}"


def check_classic_groups(kafka: Broker, wire: Connection) -> str:
    """Join through each version; heartbeats and offsets of the group in each."""
    finds = wire.versions(FindCoordinatorRequest)
    for version in finds:
        asked = FindCoordinatorRequest(key="classic-0")
        if version >= FIRST_WITH_KEYS:
            asked = FindCoordinatorRequest(coordinator_keys=["classic-0"])
        answer = wire.ask(asked, version)
        (found,) = answer.coordinators or [answer]
        check_error(f"FindCoordinator {version}", found.error_code)
        expect("the coordinator", (found.host, found.port), place_of(kafka))
    joins = wire.versions(JoinGroupRequest)
    leaves = wire.versions(LeaveGroupRequest)
    for turn, version in enumerate(joins):
        group = f"classic-{version}"
        member, generation = join(wire, group, version)
        sync(wire, group, member, generation)
        heartbeat(wire, group, member, generation)
        commit(wire, group, member, generation)
        leave(wire, group, member, leaves[turn % len(leaves)])
    return (
        f"JoinGroup {span(joins)}, SyncGroup {span(wire.versions(SyncGroupRequest))},"
        f" Heartbeat {span(wire.versions(HeartbeatRequest))},"
        f" LeaveGroup {span(leaves)},\n    OffsetCommit"
        f" {span(wire.versions(OffsetCommitRequest, FIRST_IN_KAFKA))}, OffsetFetch"
        f" {span(wire.versions(OffsetFetchRequest, FIRST_IN_KAFKA))}, FindCoordinator"
        f" {span(finds)}"
    )


def join(wire: Connection, group: str, version: int) -> tuple[str, int]:
    """Become the only member of a group; return its id and the generation."""
    subscription = messages.ConsumerProtocolSubscription(topics=[TOPIC])
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(
        name="range", metadata=framing.encode_prefixed(subscription, 0)
    )
    asked = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=SESSION_MS,
        rebalance_timeout_ms=SESSION_MS,
        protocol_type="consumer",
        protocols=[protocol],
    )
    answer = wire.ask(asked, version)
    if answer.error_code == error_codes.MEMBER_ID_REQUIRED:
        asked = asked.replace(member_id=answer.member_id)
        answer = wire.ask(asked, version)
    check_error(f"JoinGroup {version}", answer.error_code)
    expect(f"JoinGroup {version}: the leader", answer.leader, answer.member_id)
    return answer.member_id, answer.generation_id


def sync(wire: Connection, group: str, member: str, generation: int) -> None:
    """Assign the topic through each version, and be assigned it."""
    topic = messages.ConsumerProtocolAssignment.TopicPartition(
        topic=TOPIC, partitions=[0]
    )
    plan = messages.ConsumerProtocolAssignment(assigned_partitions=[topic])
    data = framing.encode_prefixed(plan, 0)
    for version in wire.versions(SyncGroupRequest):
        own = SyncGroupRequest.SyncGroupRequestAssignment(
            member_id=member, assignment=data
        )
        asked = SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[own],
        )
        answer = wire.ask(asked, version)
        check_error(f"SyncGroup {version}", answer.error_code)
        expect(f"SyncGroup {version}: the assignment", answer.assignment, data)


def heartbeat(wire: Connection, group: str, member: str, generation: int) -> None:
    """Tell through each version that the member is there; a stranger is refused."""
    for version in wire.versions(HeartbeatRequest):
        asked = HeartbeatRequest(
            group_id=group, generation_id=generation, member_id=member
        )
        check_error(f"Heartbeat {version}", wire.ask(asked, version).error_code)
        stranger = wire.ask(asked.replace(member_id="stranger"), version)
        expect(
            f"Heartbeat {version} of a stranger",
            error_codes.name(stranger.error_code),
            "UNKNOWN_MEMBER_ID",
        )


def commit(wire: Connection, group: str, member: str, generation: int) -> None:
    """Keep an offset through each version, and read it back through each version."""
    topic_id = {}
    if wire.versions(OffsetCommitRequest)[-1] >= 10:
        topic_id = {"topic_id": wire.topic_id(TOPIC)}
    for offset, version in enumerate(
        wire.versions(OffsetCommitRequest, FIRST_IN_KAFKA), 100
    ):
        part = OffsetCommitRequest.OffsetCommitRequestPartition(
            partition_index=0, committed_offset=offset, committed_metadata=""
        )
        topic = OffsetCommitRequest.OffsetCommitRequestTopic(
            name=TOPIC, partitions=[part], **topic_id
        )
        asked = OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member,
            topics=[topic],
        )
        (kept,) = wire.ask(asked, version).topics[0].partitions
        check_error(f"OffsetCommit {version}", kept.error_code)
        for read in wire.versions(OffsetFetchRequest, FIRST_IN_KAFKA):
            found = committed(wire, group, read, topic_id)
            expect(f"OffsetFetch {read} after OffsetCommit {version}", found, offset)


def committed(
    wire: Connection, group: str, version: int, topic_id: dict[str, Any]
) -> int:
    """Read the offset that a group has kept."""
    if version < FIRST_WITH_GROUPS:
        old = OffsetFetchRequest.OffsetFetchRequestTopic(
            name=TOPIC, partition_indexes=[0]
        )
        asked = OffsetFetchRequest(group_id=group, topics=[old])
        answer = wire.ask(asked, version)
    else:
        topic = OffsetFetchRequest.OffsetFetchRequestTopics(
            name=TOPIC, partition_indexes=[0], **topic_id
        )
        whose = OffsetFetchRequest.OffsetFetchRequestGroup(
            group_id=group, topics=[topic]
        )
        answer = wire.ask(OffsetFetchRequest(groups=[whose]), version).groups[0]
    (part,) = answer.topics[0].partitions
    check_error(f"OffsetFetch {version}", part.error_code)
    return int(part.committed_offset)


def leave(wire: Connection, group: str, member: str, version: int) -> None:
    """Leave a group."""
    asked = LeaveGroupRequest(group_id=group, member_id=member)
    if version >= FIRST_WITH_MEMBERS:
        who = LeaveGroupRequest.MemberIdentity(member_id=member)
        asked = LeaveGroupRequest(group_id=group, members=[who])
    check_error(f"LeaveGroup {version}", wire.ask(asked, version).error_code)


def check_consumer_groups(kafka: Broker, wire: Connection) -> str:
    """Live the life of a member whose assignment comes with its heartbeats."""
    versions = wire.versions(ConsumerGroupHeartbeatRequest)
    if not versions:
        return "no ConsumerGroupHeartbeat in this release"
    wanted = [(wire.topic_id(TOPIC), [0])]
    for version in versions:
        what = f"ConsumerGroupHeartbeat {version}"
        group = f"consumers-{version}"
        asked = ConsumerGroupHeartbeatRequest(
            group_id=group,
            # From version 1 on it is the member who names itself.
            member_id="kwire-member" if version else "",
            rebalance_timeout_ms=SESSION_MS,
            subscribed_topic_names=[TOPIC],
            topic_partitions=[],
        )
        deadline = time.monotonic() + clients.SECONDS
        assigned: list[Any] = []
        while assigned != wanted:
            if time.monotonic() > deadline:
                raise BrokerError(f"{what}: assigned is {assigned}, not {wanted}")
            answer = wire.ask(asked, version)
            check_error(what, answer.error_code)
            if answer.assignment is not None:
                parts = answer.assignment.topic_partitions
                assigned = [(each.topic_id, list(each.partitions)) for each in parts]
            asked = ConsumerGroupHeartbeatRequest(
                group_id=group,
                member_id=answer.member_id,
                member_epoch=answer.member_epoch,
            )
        expect(f"{what}: an epoch", answer.member_epoch > 0, True)
        left = wire.ask(asked.replace(member_epoch=LEAVE), version)
        check_error(f"{what}, leaving", left.error_code)
        expect(f"{what}: the last epoch", left.member_epoch, LEAVE)
    return f"ConsumerGroupHeartbeat {span(versions)}: joined, assigned, left"


def check_order(kafka: Broker, wire: Connection) -> str:
    """Write many requests before reading, some without a response."""
    count = 60
    asked = []
    for turn in range(count):
        if turn % 3:
            asked.append(wire.wire.send(MetadataRequest(topics=[])))
        else:
            data = live.encoded([clients.Row(b"silent", b"%d" % turn, [], 0)])
            part = ProduceRequest.PartitionProduceData(index=0, records=data)
            topic = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[part])
            # Names instead of ids, as far as versions have them.
            version = min(wire.versions(ProduceRequest)[-1], live.TOPIC_ID_PRODUCE - 1)
            silent = ProduceRequest(acks=0, timeout_ms=1000, topic_data=[topic])
            wire.wire.send(silent, version)
    for correlation_id in asked:
        event = wire.next_event()
        if not isinstance(event, ResponseReceived):
            raise BrokerError(f"instead of response {correlation_id}: {event}")
        expect("a correlation id", event.correlation_id, correlation_id)
    stored = [r for r in live.all_records(wire.fetch(TOPIC, 4)) if r.key == b"silent"]
    expect("records without acks", len(stored), count - len(asked))
    return f"{count} requests at once, {len(stored)} of them without a response"


def check_refusal(kafka: Broker, wire: Connection) -> str:
    """Send versions that the broker lacks: it hangs up, and the table is dead.

    Among them are those of Produce that brokers since 4.0 offer and do not take.
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
                what = f"{cls.__name__} {version}"
                expect(f"{what} is answered by", type(event), ConnectionClosed)
                expect(f"{what}: the table is alive", other.table.is_alive, False)
            finally:
                other.close()
        name = cls.__name__.removesuffix("Request")
        refusals.append(f"{name} {', '.join(map(str, refused))}")
    return f"hung up on: {'; '.join(refusals)}"


CHECKS: list[Callable[[Broker, Connection], str]] = [
    check_table,
    check_metadata,
    check_records,
    check_classic_groups,
    check_consumer_groups,
    check_order,
    check_refusal,
]


def check(version: str) -> None:
    """Run every check against one release."""
    begun = time.monotonic()
    with brokers.running(version, settings=SETTINGS.get(version)) as kafka:
        print(f"Kafka {kafka.release}, kwire's {backend} engine")
        wire = Connection(kafka)
        try:
            for each in CHECKS:
                print(f"  {each(kafka, wire)}", flush=True)
        finally:
            wire.close()
    print(f"  {time.monotonic() - begun:.0f} s")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="append", help="such as 4.x; may repeat")
    try:
        for version in parser.parse_args().version or ["4.x", "3.9", "2.8"]:
            check(version)
    except (BrokerError, KwireError, OSError) as error:
        sys.exit(f"negotiate: {error}")


if __name__ == "__main__":
    main()
