# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fetch requests to a test cluster: sessions, long polls, limits and conversion."""

from __future__ import annotations

import pytest

from kwire import messages
from kwire.records import decode_batches, encode_batch, read_batch_header
from kwire.schema import error_codes

from .log_requests import fetch, make_batch, make_fetch, produce, read_values
from .machine_client import MachineClient, make_machine, versions_of


@pytest.fixture
def client():
    return MachineClient(make_machine(topics={"orders": 2}))


def find_log(machine, partition=0):
    return machine.state.topics["orders"].partitions[partition].log


def fill(machine, *values, partition=0, **options):
    """Append one batch for each value."""
    log = find_log(machine, partition)
    for value in values:
        data = encode_batch([(b"k", value)], magic=log.magic, **options)
        log.append(read_batch_header(data), data)
    machine.state.note_change()
    return log


@pytest.mark.parametrize(
    "release", ["0.8.2", "0.10.0", "0.11.0", "1.1", "2.3", "2.8", "3.9", "4.4"]
)
def test_records_are_returned_in_every_version(release):
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    fill(machine, b"1", b"2")
    for version in versions_of(machine, messages.FetchRequest):
        part = fetch(client, version=version)
        assert (part.error_code, part.high_watermark) == (0, 2), version
        assert read_values(part.records) == [b"1", b"2"]
        newest = 0 if version < 2 else 1 if version < 4 else 2
        assert all(batch.magic <= newest for batch in decode_batches(part.records))


def test_old_versions_get_compressed_records_in_their_format():
    machine = make_machine(topics={"orders": 1}, release="3.9")
    client = MachineClient(machine)
    fill(machine, b"1" * 100, b"2" * 100, compression="gzip")
    for version in (0, 2):
        part = fetch(client, version=version)
        assert read_values(part.records) == [b"1" * 100, b"2" * 100]


def test_zstd_requires_version_10_of_fetch():
    machine = make_machine(topics={"orders": 1}, release="3.9")
    client = MachineClient(machine)
    fill(machine, b"1" * 100, compression="zstd")
    code = error_codes.UNSUPPORTED_COMPRESSION_TYPE
    for version in (0, 3, 9):
        assert fetch(client, version=version).error_code == code
    assert read_values(fetch(client, version=10).records) == [b"1" * 100]


def test_fetch_starts_with_the_batch_that_contains_the_offset(client):
    produce(client, make_batch(b"1", b"2", b"3"))
    produce(client, make_batch(b"4"))
    (first, second) = decode_batches(fetch(client, 1).records)
    assert (first.base_offset, second.base_offset) == (0, 3)


def test_first_batch_is_complete_and_others_obey_the_limit(client):
    fill(client.machine, b"1" * 100, b"2" * 100, b"3" * 100)
    size = find_log(client.machine).batches[0].header.size
    assert read_values(fetch(client, partition_max_bytes=1).records) == [b"1" * 100]
    part = fetch(client, partition_max_bytes=2 * size + 10)
    assert read_values(part.records) == [b"1" * 100, b"2" * 100]
    assert len(part.records) == 2 * size + 10
    part = fetch(client, max_bytes=2 * size)
    assert len(part.records) == 2 * size


def test_old_versions_truncate_the_first_message():
    machine = make_machine(topics={"orders": 1}, release="0.10.0")
    client = MachineClient(machine)
    fill(machine, b"1" * 100)
    part = fetch(client, version=2, partition_max_bytes=20)
    assert len(part.records) == 20


def test_only_the_first_partition_exceeds_the_response_limit(client):
    for partition in (0, 1):
        fill(client.machine, b"v" * 100, partition=partition)
    topic_id = client.machine.state.topics["orders"].topic_id
    request = messages.FetchRequest
    parts = [
        request.FetchPartition(partition=index, partition_max_bytes=1 << 20)
        for index in (0, 1)
    ]
    topic = request.FetchTopic(topic_id=topic_id, partitions=parts)
    response = client.request(
        request(max_wait_ms=0, min_bytes=1, max_bytes=1, topics=[topic])
    )
    sizes = [len(part.records) for part in response.responses[0].partitions]
    assert sizes[0] > 0 and sizes[1] == 0


@pytest.mark.parametrize("offset", [-1, 3, 1 << 62])
def test_offsets_outside_of_the_log_are_rejected(client, offset):
    fill(client.machine, b"1", b"2")
    part = fetch(client, offset)
    assert part.error_code == error_codes.OFFSET_OUT_OF_RANGE
    assert part.high_watermark == -1


def test_offsets_before_the_log_start_are_rejected(client):
    log = fill(client.machine, b"1", b"2")
    log.delete_records_before(1)
    assert fetch(client, 0).error_code == error_codes.OFFSET_OUT_OF_RANGE
    part = fetch(client, 1)
    assert (part.error_code, part.log_start_offset) == (0, 1)


@pytest.mark.parametrize(
    ("version", "topic", "partition", "code"),
    [
        (12, "nope", 0, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        (17, "nope", 0, error_codes.UNKNOWN_TOPIC_ID),
        (17, "orders", 9, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
        (17, "orders", -1, error_codes.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_missing_partitions_have_an_error(client, version, topic, partition, code):
    part = fetch(client, topic=topic, partition=partition, version=version)
    assert part.error_code == code


def test_old_leader_names_the_new_leader_and_its_address():
    machine = make_machine(brokers=2, topics={"orders": 1})
    client = MachineClient(machine, 1)
    machine.state.move_leader(machine.state.find_partition("orders", 0), 2)
    response = client.request(make_fetch(machine))
    part = response.responses[0].partitions[0]
    assert part.error_code == error_codes.NOT_LEADER_OR_FOLLOWER
    assert (part.current_leader.leader_id, part.current_leader.leader_epoch) == (2, 1)
    assert [endpoint.node_id for endpoint in response.node_endpoints] == [2]


def test_fetch_waits_for_records(client):
    assert fetch(client, max_wait_ms=500) is None
    client.advance(0.1)
    assert client.take_response() is None
    produce(MachineClient(client.machine), make_batch(b"1"))
    part = client.take_response().responses[0].partitions[0]
    assert read_values(part.records) == [b"1"]


def test_fetch_waits_for_the_minimum_size(client):
    other = MachineClient(client.machine)
    assert fetch(client, max_wait_ms=500, min_bytes=200) is None
    produce(other, make_batch(b"1"))
    assert client.take_response() is None
    produce(other, make_batch(b"2" * 200))
    part = client.take_response().responses[0].partitions[0]
    assert read_values(part.records) == [b"1", b"2" * 200]


def test_fetch_returns_nothing_after_the_maximum_wait(client):
    assert fetch(client, max_wait_ms=500) is None
    client.advance(0.49)
    assert client.take_response() is None
    client.advance(0.02)
    part = client.take_response().responses[0].partitions[0]
    assert (part.error_code, bytes(part.records)) == (0, b"")


def test_waiting_fetch_ends_when_the_topic_is_deleted(client):
    assert fetch(client, max_wait_ms=500) is None
    state = client.machine.state
    state.delete_topic(state.topics["orders"])
    client.advance(0.0)
    part = client.take_response().responses[0].partitions[0]
    assert part.error_code == error_codes.UNKNOWN_TOPIC_ID


def test_waiting_fetch_ends_when_the_leader_moves():
    machine = make_machine(brokers=2, topics={"orders": 1})
    client = MachineClient(machine)
    assert fetch(client, max_wait_ms=500) is None
    machine.state.move_leader(machine.state.find_partition("orders", 0), 2)
    client.advance(0.0)
    part = client.take_response().responses[0].partitions[0]
    assert part.error_code == error_codes.NOT_LEADER_OR_FOLLOWER


def test_fetch_of_closed_connection_is_forgotten(client):
    assert fetch(client, max_wait_ms=500) is None
    client.close()
    produce(MachineClient(client.machine), make_batch(b"1"))
    client.advance(1)
    assert client.take_response() is None


def test_session_omits_partitions_without_news(client):
    fill(client.machine, b"1")
    machine = client.machine
    first = client.request(make_fetch(machine, session_epoch=0))
    session_id = first.session_id
    assert session_id and len(first.responses) == 1

    def request(epoch, **options):
        return client.request(
            make_fetch(machine, session_id=session_id, session_epoch=epoch, **options)
        )

    assert not request(1, offset=1).responses
    assert not request(2, is_empty=True).responses
    fill(machine, b"2")
    (topic,) = request(3, is_empty=True).responses
    assert read_values(topic.partitions[0].records) == [b"2"]


def test_session_forgets_partitions(client):
    machine = client.machine
    session_id = client.request(make_fetch(machine, session_epoch=0)).session_id
    request = make_fetch(machine, session_id=session_id, session_epoch=1, is_empty=True)
    forgotten = messages.FetchRequest.ForgottenTopic(
        topic_id=machine.state.topics["orders"].topic_id, partitions=[0]
    )
    assert not client.request(
        request.replace(forgotten_topics_data=[forgotten])
    ).responses
    fill(machine, b"1")
    request = make_fetch(machine, session_id=session_id, session_epoch=2, is_empty=True)
    assert not client.request(request).responses


@pytest.mark.parametrize(
    ("is_known", "epoch", "code"),
    [
        (False, 1, error_codes.FETCH_SESSION_ID_NOT_FOUND),
        (True, 2, error_codes.INVALID_FETCH_SESSION_EPOCH),
        (True, -2, error_codes.INVALID_FETCH_SESSION_EPOCH),
    ],
)
def test_invalid_sessions_are_rejected(client, is_known, epoch, code):
    machine = client.machine
    session_id = client.request(make_fetch(machine, session_epoch=0)).session_id
    used = session_id if is_known else session_id ^ 1
    response = client.request(make_fetch(machine, session_id=used, session_epoch=epoch))
    assert response.error_code == code


def test_closed_session_is_forgotten(client):
    machine = client.machine
    session_id = client.request(make_fetch(machine, session_epoch=0)).session_id
    client.request(make_fetch(machine, session_id=session_id, session_epoch=-1))
    response = client.request(
        make_fetch(machine, session_id=session_id, session_epoch=1)
    )
    assert response.error_code == error_codes.FETCH_SESSION_ID_NOT_FOUND


def test_sessions_with_names_and_with_ids_cannot_be_mixed(client):
    machine = client.machine
    session_id = client.request(
        make_fetch(machine, session_epoch=0, version=12), 12
    ).session_id
    response = client.request(
        make_fetch(machine, session_id=session_id, session_epoch=1), 17
    )
    assert response.error_code == error_codes.FETCH_SESSION_TOPIC_ID_ERROR


def test_committed_reader_stops_before_open_transaction(client):
    options = {"producer_id": 5, "producer_epoch": 0, "is_transactional": True}
    log = fill(client.machine, b"1")
    fill(client.machine, b"2", base_sequence=0, **options)
    fill(client.machine, b"3")
    part = fetch(client, isolation_level=1)
    assert (part.last_stable_offset, part.high_watermark) == (1, 3)
    assert read_values(part.records) == [b"1"]
    assert list(part.aborted_transactions) == []
    assert len(read_values(fetch(client, isolation_level=0).records)) == 3
    log.end_transaction(5, 0, 0, 0)
    part = fetch(client, isolation_level=1)
    (aborted,) = part.aborted_transactions
    assert (aborted.producer_id, aborted.first_offset) == (5, 1)
    assert part.last_stable_offset == 4


def test_committed_reader_waits_for_the_end_of_a_transaction(client):
    options = {"producer_id": 5, "producer_epoch": 0, "is_transactional": True}
    log = fill(client.machine, b"1", base_sequence=0, **options)
    assert fetch(client, isolation_level=1, max_wait_ms=500) is None
    log.end_transaction(5, 0, 1, 0)
    client.machine.state.note_change()
    client.advance(0.0)
    part = client.take_response().responses[0].partitions[0]
    assert read_values(part.records)[0] == b"1"


def test_truncation_before_the_log_start_moves_the_log_start(client):
    log = fill(client.machine, b"1", b"2", b"3")
    log.delete_records_before(2)
    log.truncate(1)
    assert (log.start_offset, log.end_offset) == (1, 1)
    assert fetch(client, 1).error_code == 0


def test_diverging_epoch_is_reported_after_truncation():
    machine = make_machine(brokers=2, topics={"orders": 1})
    client = MachineClient(machine)
    log = fill(machine, b"1", b"2", b"3")
    partition = machine.state.find_partition("orders", 0)
    log.truncate(1)
    machine.state.move_leader(partition, 2)
    machine.state.move_leader(partition, 1)
    part = fetch(client, 3, last_fetched_epoch=0)
    assert part.error_code == 0
    assert (part.diverging_epoch.epoch, part.diverging_epoch.end_offset) == (0, 1)
    part = fetch(client, 1, last_fetched_epoch=0)
    assert part.diverging_epoch.end_offset == -1
    part = fetch(client, 1, last_fetched_epoch=9)
    assert part.error_code == error_codes.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize("version", [0, 2, 3, 12, 17])
def test_extreme_limits_have_no_effect_on_the_broker(version):
    release = "3.9" if version < 4 else "4.4"
    machine = make_machine(topics={"orders": 1}, release=release)
    client = MachineClient(machine)
    fill(machine, b"1", b"2")
    extremes = (-(1 << 31), -1, 0, 1, 0x7FFFFFFF)
    for limit in extremes:
        part = fetch(client, version=version, partition_max_bytes=limit)
        assert part.error_code == 0
        if version >= 3:
            assert fetch(client, version=version, max_bytes=limit).error_code == 0
        fetch(client, 2, version=version, min_bytes=limit)
    assert not client.is_closed
