# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Metadata, Produce and offset requests to a test cluster."""

from __future__ import annotations

from uuid import UUID

import pytest

from kwire import messages
from kwire.records import decode_batches, encode_batch
from kwire.schema import error_codes, releases
from kwire.testing.rules import Rule

from .log_requests import fetch, list_offsets, make_batch, produce, read_values
from .machine_client import MachineClient, make_machine, versions_of

RELEASES = ("0.8.2", "0.10.0", "0.10.2", "0.11.0", "1.1", "2.3", "2.8", "3.9", "4.4")


@pytest.fixture
def client():
    return MachineClient(make_machine(topics={"orders": 2}))


def request_metadata(client, *names, version=None, ids=(), may_create=True):
    request = messages.MetadataRequest
    topics = [request.MetadataRequestTopic(name=name) for name in names]
    topics += [request.MetadataRequestTopic(name=None, topic_id=id) for id in ids]
    options = (
        {}
        if version is not None and version < 4
        else {"allow_auto_topic_creation": may_create}
    )
    return client.request(request(topics=topics, **options), version)


def move_leader(machine, to, partition=0):
    machine.state.move_leader(machine.state.find_partition("orders", partition), to)


@pytest.mark.parametrize("release", RELEASES)
def test_metadata_describes_topics_in_every_version(release):
    machine = make_machine(brokers=3, topics={"orders": 2}, release=release)
    client = MachineClient(machine)
    for version in versions_of(machine, messages.MetadataRequest):
        response = request_metadata(client, "orders", version=version)
        (topic,) = response.topics
        assert (topic.name, topic.error_code) == ("orders", 0)
        assert [part.partition_index for part in topic.partitions] == [0, 1]
        assert len(topic.partitions[0].replica_nodes) == 3
        assert [broker.node_id for broker in response.brokers] == [1, 2, 3]
        assert response.controller_id == (1 if version >= 1 else -1)


@pytest.mark.parametrize(
    ("release", "code"),
    [
        ("2.8", error_codes.LEADER_NOT_AVAILABLE),
        ("4.4", error_codes.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_metadata_creates_missing_topic_and_reports_it_as_missing(release, code):
    client = MachineClient(make_machine(release=release))
    assert request_metadata(client, "new").topics[0].error_code == code
    assert request_metadata(client, "new").topics[0].error_code == 0


def test_metadata_creates_no_topic_without_permission(client):
    response = request_metadata(client, "new", may_create=False)
    assert response.topics[0].error_code == error_codes.UNKNOWN_TOPIC_OR_PARTITION
    assert "new" not in client.machine.state.topics
    quiet = MachineClient(make_machine(auto_create_topics=False))
    request_metadata(quiet, "new")
    assert not quiet.machine.state.topics


def test_metadata_rejects_names_that_cannot_be_created(client):
    client.machine.state.create_topic("a.b", 1)
    response = request_metadata(client, "a b", "a_b", "")
    codes = {topic.name: topic.error_code for topic in response.topics}
    assert codes == dict.fromkeys(
        ("a b", "a_b", ""), error_codes.INVALID_TOPIC_EXCEPTION
    )


def test_metadata_finds_topics_by_id(client):
    topic_id = client.machine.state.topics["orders"].topic_id
    response = request_metadata(client, ids=(topic_id, UUID(int=9)))
    topics = {topic.topic_id: topic for topic in response.topics}
    assert topics[topic_id].name == "orders"
    assert topics[UUID(int=9)].error_code == error_codes.UNKNOWN_TOPIC_ID


def test_metadata_rejects_null_names_before_version_12(client):
    request = messages.MetadataRequest
    topic = request.MetadataRequestTopic(name=None)
    response = client.request(request(topics=[topic]), 11)
    assert response.topics[0].error_code == error_codes.INVALID_REQUEST


def test_metadata_describes_a_repeated_topic_once(client):
    assert len(request_metadata(client, *["orders"] * 1000).topics) == 1


def test_metadata_reports_partitions_without_leader_and_offline_replicas():
    machine = make_machine(brokers=2, topics={"orders": 1})
    client = MachineClient(machine, 2)
    machine.state.stop_broker(1)
    part = request_metadata(client, "orders").topics[0].partitions[0]
    assert (part.leader_id, list(part.offline_replicas)) == (2, [1])
    assert (part.leader_epoch, list(part.isr_nodes)) == (1, [2])


def test_topic_partitions_are_described_page_by_page():
    machine = make_machine(topics={"a": 3, "b": 2, "c": 1})
    client = MachineClient(machine)
    request = messages.DescribeTopicPartitionsRequest
    seen, cursor = [], None
    for _ in range(10):
        response = client.request(request(response_partition_limit=2, cursor=cursor))
        for topic in response.topics:
            seen += [(topic.name, part.partition_index) for part in topic.partitions]
        if response.next_cursor is None:
            break
        cursor = request.Cursor(
            topic_name=response.next_cursor.topic_name,
            partition_index=response.next_cursor.partition_index,
        )
    assert seen == [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1), ("c", 0)]


def test_topic_partitions_with_invalid_cursor_are_rejected(client):
    request = messages.DescribeTopicPartitionsRequest
    for cursor in (
        request.Cursor(topic_name="other", partition_index=0),
        request.Cursor(topic_name="orders", partition_index=-1),
    ):
        topics = [request.TopicRequest(name="orders")]
        response = client.request(request(topics=topics, cursor=cursor))
        assert response.topics[0].error_code == error_codes.INVALID_REQUEST


def test_topic_partitions_of_missing_topics_have_an_error(client):
    request = messages.DescribeTopicPartitionsRequest
    topics = [request.TopicRequest(name=name) for name in ("nope", "a b")]
    response = client.request(request(topics=topics))
    assert [topic.error_code for topic in response.topics] == [
        error_codes.INVALID_TOPIC_EXCEPTION,
        error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    ]


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.4"])
def test_cluster_is_described_in_every_version(release):
    machine = make_machine(brokers=3, release=release)
    machine.state.stop_broker(3)
    client = MachineClient(machine)
    for version in versions_of(machine, messages.DescribeClusterRequest):
        response = client.request(messages.DescribeClusterRequest(), version)
        assert response.error_code == 0
        assert [broker.broker_id for broker in response.brokers] == [1, 2]


def test_cluster_has_no_controllers_on_a_broker(client):
    response = client.request(messages.DescribeClusterRequest(endpoint_type=2))
    assert response.error_code == error_codes.MISMATCHED_ENDPOINT_TYPE


@pytest.mark.parametrize("release", RELEASES)
def test_produced_records_are_stored_in_every_version(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    count = 0
    for version in versions_of(machine, messages.ProduceRequest):
        magic = 0 if version < 2 else 1 if version < 3 else 2
        records = [(b"k", b"v")] if magic == 0 else [(b"k", b"v", machine_ms(machine))]
        part = produce(client, encode_batch(records, magic=magic), version=version)
        assert (part.error_code, part.base_offset) == (0, count), version
        count += 1
    log = machine.state.topics["orders"].partitions[0].log
    assert [record.value for record in log.records()] == [b"v"] * count
    assert {batch.header.magic for batch in log.batches} == {log.magic}


def machine_ms(machine):
    return machine.state.clock.unix_ms


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_batches_are_stored_unchanged(client, compression):
    data = make_batch(b"1", b"2", b"3", compression=compression)
    assert produce(client, data).base_offset == 0
    assert produce(client, data).base_offset == 3
    part = fetch(client, 3)
    (batch,) = decode_batches(part.records)
    assert batch.compression == compression
    assert read_values(part.records) == [b"1", b"2", b"3"]


def test_compressed_messages_of_old_clients_are_converted():
    client = MachineClient(make_machine(topics={"orders": 1}, release="3.9"))
    for magic, version in ((0, 0), (1, 2)):
        records = [(b"k", value) for value in (b"1", b"2")]
        data = encode_batch(records, magic=magic, compression="gzip")
        assert produce(client, data, version=version).error_code == 0
    assert read_values(fetch(client).records) == [b"1", b"2"] * 2


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", error_codes.INVALID_RECORD),
        (make_batch(b"v") * 2, error_codes.INVALID_RECORD),
        (encode_batch([(b"k", b"v")], magic=1), error_codes.INVALID_RECORD),
        (make_batch(b"v")[:-1], error_codes.INVALID_RECORD),
        (make_batch(b"v", base_offset=5), error_codes.INVALID_RECORD),
        (make_batch(b"v")[:-1] + b"x", error_codes.CORRUPT_MESSAGE),
        (make_batch(b"v", is_control=True), error_codes.INVALID_RECORD),
        (make_batch(b"v", log_append_time=5), error_codes.INVALID_TIMESTAMP),
        (make_batch(b"v", timestamp=1 << 50), error_codes.INVALID_TIMESTAMP),
        (make_batch(b"v" * 1_048_600), error_codes.MESSAGE_TOO_LARGE),
    ],
    ids=[
        "empty",
        "two batches",
        "old format",
        "truncated",
        "base offset",
        "checksum",
        "control",
        "append time",
        "future",
        "size",
    ],
)
def test_invalid_batches_are_rejected(client, data, code):
    part = produce(client, data)
    assert (part.error_code, part.base_offset) == (code, -1)
    assert client.machine.state.topics["orders"].partitions[0].log.end_offset == 0


def test_old_releases_report_invalid_records_as_corrupt():
    client = MachineClient(make_machine(topics={"orders": 1}, release="2.3"))
    part = produce(client, make_batch(b"v") * 2)
    assert part.error_code == error_codes.CORRUPT_MESSAGE


def test_zstd_requires_version_7_of_produce():
    client = MachineClient(make_machine(topics={"orders": 1}, release="3.9"))
    data = make_batch(b"v", compression="zstd")
    code = error_codes.UNSUPPORTED_COMPRESSION_TYPE
    assert produce(client, data, version=6).error_code == code
    assert produce(client, data, version=7).error_code == 0


@pytest.mark.parametrize(
    ("topic", "partition", "code"),
    [
        ("orders", 2, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", -1, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        ("nope", 0, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_records_for_missing_partitions_are_rejected(client, topic, partition, code):
    for version, expected in ((12, code), (13, code)):
        if version == 13 and topic == "nope":
            expected = error_codes.UNKNOWN_TOPIC_ID
        part = produce(
            client, make_batch(b"v"), topic=topic, partition=partition, version=version
        )
        assert part.error_code == expected


def test_produce_to_an_old_leader_names_the_new_leader():
    machine = make_machine(brokers=2, topics={"orders": 1})
    client = MachineClient(machine, 1)
    move_leader(machine, 2)
    part = produce(client, make_batch(b"v"))
    assert part.error_code == error_codes.NOT_LEADER_OR_FOLLOWER
    assert (part.current_leader.leader_id, part.current_leader.leader_epoch) == (2, 1)


def test_produce_with_invalid_acks_is_rejected(client):
    part = produce(client, make_batch(b"v"), acks=2)
    assert part.error_code == error_codes.INVALID_REQUIRED_ACKS


def test_produce_without_acks_has_no_response(client):
    assert produce(client, make_batch(b"v"), acks=0) is None
    assert not client.is_closed
    assert read_values(fetch(client).records) == [b"v"]


def test_failed_produce_without_acks_closes_the_connection(client):
    assert produce(client, make_batch(b"v"), acks=0, partition=9) is None
    assert client.is_closed


def test_repeated_batch_of_an_idempotent_producer_is_not_stored_again(client):
    options = {"producer_id": 3, "producer_epoch": 0}
    for first in range(3):
        data = make_batch(b"v", base_sequence=first, **options)
        assert produce(client, data).base_offset == first
    data = make_batch(b"v", base_sequence=1, **options)
    assert produce(client, data).base_offset == 1
    gap = make_batch(b"v", base_sequence=7, **options)
    code = error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert produce(client, gap).error_code == code
    assert client.machine.state.topics["orders"].partitions[0].log.end_offset == 3


def test_sequence_numbers_continue_at_zero_after_the_maximum(client):
    options = {"producer_id": 3, "producer_epoch": 0}
    last = 0x7FFFFFFF
    log = client.machine.state.topics["orders"].partitions[0].log
    # A producer without state may begin with any sequence number.
    data = make_batch(b"1", b"2", base_sequence=last - 1, **options)
    assert produce(client, data).error_code == 0
    assert produce(client, make_batch(b"3", base_sequence=0, **options)).error_code == 0
    assert log.end_offset == 3


def test_rule_fails_one_partition_and_leaves_the_others(client):
    rules = client.machine.rules
    code = error_codes.KAFKA_STORAGE_ERROR
    conditions = {"topic": "orders", "partition": 1}
    rules.add(Rule(rules, "Produce", times=1, error_code=code, **conditions))
    assert produce(client, make_batch(b"v"), version=12).error_code == 0
    assert produce(client, make_batch(b"v"), partition=1, version=12).error_code == code
    assert produce(client, make_batch(b"v"), partition=1, version=12).error_code == 0


@pytest.mark.parametrize("release", RELEASES)
def test_offsets_are_listed_in_every_version(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    log = machine.state.topics["orders"].partitions[0].log
    for value in (b"1", b"2", b"3"):
        magic = log.magic
        log_append(log, value, magic)
    log.delete_records_before(1)
    for version in versions_of(machine, messages.ListOffsetsRequest):
        earliest = list_offsets(client, -2, version=version)
        latest = list_offsets(client, -1, version=version)
        if version == 0:
            assert list(earliest.old_style_offsets) == [1]
            continue
        assert (earliest.error_code, earliest.offset) == (0, 1)
        assert (latest.error_code, latest.offset) == (0, 3)


def log_append(log, value, magic, timestamp=None):
    from kwire.records import read_batch_header

    record = (b"k", value) if timestamp is None else (b"k", value, timestamp)
    data = encode_batch([record], magic=magic)
    log.append(read_batch_header(data), data)


def test_special_timestamps_find_their_offsets(client):
    log = client.machine.state.topics["orders"].partitions[0].log
    for value, timestamp in ((b"1", 100), (b"2", 300), (b"3", 200)):
        log_append(log, value, 2, timestamp)
    parts = {
        timestamp: list_offsets(client, timestamp)
        for timestamp in (-1, -2, -3, -4, -5, -6, 0, 100, 101, 250, 301)
    }
    offsets = {timestamp: part.offset for timestamp, part in parts.items()}
    assert offsets == {
        -1: 3,
        -2: 0,
        -3: 1,
        -4: 0,
        -5: -1,
        -6: -1,
        0: 0,
        100: 0,
        101: 1,
        250: 1,
        301: -1,
    }
    assert parts[-3].timestamp == 300
    assert parts[100].leader_epoch == 0


def test_special_timestamps_require_their_version(client):
    code = error_codes.UNSUPPORTED_VERSION
    for timestamp, since in ((-3, 7), (-4, 8), (-5, 9), (-6, 11)):
        assert list_offsets(client, timestamp, version=since - 1).error_code == code
        assert list_offsets(client, timestamp, version=since).error_code == 0
    assert list_offsets(client, -7).error_code == code
    assert list_offsets(client, -(1 << 63)).error_code == code


def test_repeated_partitions_in_list_offsets_are_rejected(client):
    request = messages.ListOffsetsRequest
    parts = [request.ListOffsetsPartition(partition_index=0, timestamp=-1)] * 2
    topic = request.ListOffsetsTopic(name="orders", partitions=parts)
    response = client.request(request(replica_id=-1, topics=[topic]))
    codes = [part.error_code for part in response.topics[0].partitions]
    assert set(codes) == {error_codes.INVALID_REQUEST}


def test_committed_offset_list_ends_before_open_transactions(client):
    log = client.machine.state.topics["orders"].partitions[0].log
    log_append(log, b"1", 2)
    from kwire.records import read_batch_header

    data = make_batch(
        b"2", producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    log.append(read_batch_header(data), data)
    assert list_offsets(client, -1, isolation_level=1).offset == 1
    assert list_offsets(client, -1, isolation_level=0).offset == 2


def find_epoch_end(client, epoch, version=None, current=-1):
    request = messages.OffsetForLeaderEpochRequest
    part = request.OffsetForLeaderPartition(
        partition=0, leader_epoch=epoch, current_leader_epoch=current
    )
    topic = request.OffsetForLeaderTopic(topic="orders", partitions=[part])
    response = client.request(request(replica_id=-1, topics=[topic]), version)
    entry = response.topics[0].partitions[0]
    return entry.error_code, entry.leader_epoch, entry.end_offset


def test_leader_epochs_have_end_offsets():
    machine = make_machine(brokers=2, topics={"orders": 1})
    client = MachineClient(machine)
    log = machine.state.topics["orders"].partitions[0].log
    log_append(log, b"1", 2)
    move_leader(machine, 2)
    move_leader(machine, 1)
    # Epoch 1 has no batch, so that brokers forget it.
    assert find_epoch_end(client, 0) == (0, 0, 1)
    assert find_epoch_end(client, 1) == (0, 0, 1)
    assert find_epoch_end(client, 2) == (0, 2, 1)
    log_append(log, b"2", 2)
    assert find_epoch_end(client, 0) == (0, 0, 1)
    assert find_epoch_end(client, 2) == (0, 2, 2)
    assert find_epoch_end(client, 3) == (0, -1, -1)
    assert find_epoch_end(client, -5) == (0, -1, -1)


@pytest.mark.parametrize("release", ["0.11.0", "2.3", "3.9", "4.4"])
def test_leader_epochs_are_answered_in_every_version(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    for version in versions_of(machine, messages.OffsetForLeaderEpochRequest):
        code, _, end_offset = find_epoch_end(client, 0, version)
        assert (code, end_offset) == (0, 0)


def test_old_and_future_leader_epochs_are_rejected():
    machine = make_machine(brokers=2, topics={"orders": 1})
    client = MachineClient(machine)
    move_leader(machine, 2)
    move_leader(machine, 1)
    for current, code in (
        (1, error_codes.FENCED_LEADER_EPOCH),
        (2, 0),
        (3, error_codes.UNKNOWN_LEADER_EPOCH),
    ):
        assert find_epoch_end(client, 0, current=current)[0] == code
        part = fetch(client, current_leader_epoch=current)
        assert part.error_code == code


def test_releases_of_the_tests_are_known():
    assert set(RELEASES) <= set(releases.NAMES)
