# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Transaction coordinators of test clusters: epochs, fencing, timeouts and markers."""

from __future__ import annotations

import pytest

from kwire.messages import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    FetchRequest,
    InitProducerIdRequest,
    TxnOffsetCommitRequest,
)
from kwire.schema import error_codes, releases
from kwire.testing.rules import Rule
from kwire.testing.state.transactions import MAX_CLIENT_EPOCH, ProducerIdentity
from tests.testing.machine_client import MachineClient, make_machine
from tests.testing.transaction_session import (
    ABORT,
    COMMIT,
    TransactionSession,
    make_session,
)

FIRST_PROTOCOL, SECOND_PROTOCOL = "3.9", "4.4"
WITH_TRANSACTIONS = releases.NAMES[releases.NAMES.index("0.11.0") :]


@pytest.mark.parametrize("release", WITH_TRANSACTIONS)
def test_every_version_of_a_release_commits_a_transaction(release):
    session = make_session(release)
    table = session.machine.table
    for cls in (
        InitProducerIdRequest,
        AddPartitionsToTxnRequest,
        AddOffsetsToTxnRequest,
        TxnOffsetCommitRequest,
        EndTxnRequest,
    ):
        for version in table.usable(cls):
            session.versions = {cls: version}
            assert session.init().error_code == 0, (cls, version)
            assert session.add("t", 0) == 0, (cls, version)
            assert session.add_offsets() == 0, (cls, version)
            assert session.commit_offset("t", 0, version) == 0, (cls, version)
            assert session.end(COMMIT).error_code == 0, (cls, version)
            offsets = session.state.groups["g"].offsets
            assert offsets.committed["t", 0].offset == version
            assert not offsets.pending


def test_producer_ids_without_transactions_are_unique():
    session = make_session(SECOND_PROTOCOL)
    session.transactional_id = None
    producers = [session.init().producer_id for _ in range(3)]
    assert producers == [0, 1, 2]
    assert session.producer.epoch == 0


def test_second_producer_fences_the_first():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    first = session.producer
    session.init()
    assert session.producer == ProducerIdentity(first.producer_id, 1)
    assert session.add("t", 0, producer=first) == error_codes.PRODUCER_FENCED
    session.versions = {AddPartitionsToTxnRequest: 1}
    code = session.add("t", 0, producer=first)
    assert code == error_codes.INVALID_PRODUCER_EPOCH


def test_producer_id_of_another_transactional_id_is_rejected():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    other = ProducerIdentity(session.producer.producer_id + 1, 0)
    code = error_codes.INVALID_PRODUCER_ID_MAPPING
    assert session.add("t", 0, producer=other) == code
    assert session.end(COMMIT, producer=other).error_code == code
    session.transactional_id = session.find_name(session.node_id, "unused")
    assert session.add("t", 0) == code
    assert session.end(COMMIT).error_code == code


@pytest.mark.parametrize("release", [FIRST_PROTOCOL, SECOND_PROTOCOL])
def test_new_producer_aborts_the_open_transaction_first(release):
    session = make_session(release)
    session.init()
    session.add("t", 0)
    assert session.produce("t", 0) == 0
    log = session.log("t", 0)
    assert log.last_stable_offset == 0
    response = session.init()
    assert response.error_code == error_codes.CONCURRENT_TRANSACTIONS
    assert (response.producer_id, response.producer_epoch) == (-1, -1)
    assert log.last_stable_offset == log.end_offset == 2
    assert [aborted.first_offset for aborted in log.aborted] == [0]
    assert session.init().producer_epoch == 2


def test_epoch_bump_of_a_known_producer_can_be_repeated():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    first = session.producer
    for _ in range(2):
        session.init(first)
        assert session.producer == ProducerIdentity(first.producer_id, 1)
    session.init(session.producer)
    assert session.producer.epoch == 2
    assert session.init(first).error_code == error_codes.PRODUCER_FENCED


def test_epoch_bump_after_a_newer_producer_is_fenced():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    first = session.producer
    session.init()
    assert session.init(first).error_code == error_codes.PRODUCER_FENCED
    session.versions = {InitProducerIdRequest: 3}
    assert session.init(first).error_code == error_codes.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize("producer", [(5, -1), (-1, 3)])
def test_half_of_a_producer_identity_is_invalid(producer):
    session = make_session(FIRST_PROTOCOL)
    response = session.init(ProducerIdentity(*producer))
    assert response.error_code == error_codes.INVALID_REQUEST


def test_exhausted_epoch_starts_a_new_producer_id():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    session.transaction.epoch = MAX_CLIENT_EPOCH
    last = ProducerIdentity(session.producer.producer_id, MAX_CLIENT_EPOCH)
    for _ in range(2):
        session.init(last)
        assert session.producer == ProducerIdentity(last.producer_id + 1, 0)


def test_exhausted_epoch_can_still_be_fenced():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    session.transaction.epoch = MAX_CLIENT_EPOCH
    session.producer = session.transaction.producer
    session.add("t", 0)
    assert session.init().error_code == error_codes.CONCURRENT_TRANSACTIONS
    assert session.log("t", 0).producers[0].epoch == MAX_CLIENT_EPOCH + 1
    assert session.init().producer_id == 1


@pytest.mark.parametrize("release", [FIRST_PROTOCOL, SECOND_PROTOCOL])
@pytest.mark.parametrize("has_end", [False, True])
def test_client_with_the_reserved_epoch_does_not_break_the_coordinator(
    release, has_end
):
    session = make_session(release)
    session.init()
    session.transaction.epoch = MAX_CLIENT_EPOCH + 1
    session.producer = session.transaction.producer
    assert session.add("t", 0) == 0
    if has_end:
        assert session.end(COMMIT).error_code == 0
    else:
        session.client.advance(61)
    assert session.log("t", 0).end_offset == 1
    assert session.init().error_code == 0
    assert session.producer.producer_id == 1


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001, 2**31 - 1])
def test_transaction_timeout_outside_the_limits_is_invalid(timeout_ms):
    session = make_session(SECOND_PROTOCOL)
    response = session.init(timeout_ms=timeout_ms)
    assert response.error_code == error_codes.INVALID_TRANSACTION_TIMEOUT


def test_empty_transactional_id_is_invalid():
    session = make_session(FIRST_PROTOCOL)
    session.transactional_id = ""
    assert session.init().error_code == error_codes.INVALID_REQUEST
    assert session.add("t", 0) == error_codes.INVALID_REQUEST
    assert session.add_offsets() == error_codes.INVALID_REQUEST
    assert session.end(COMMIT).error_code == error_codes.INVALID_REQUEST


@pytest.mark.parametrize(
    ("release", "name"),
    [(FIRST_PROTOCOL, "PRODUCER_FENCED"), (SECOND_PROTOCOL, "INVALID_TXN_STATE")],
)
def test_transaction_is_aborted_after_its_timeout(release, name):
    session = make_session(release)
    session.init(timeout_ms=5000)
    session.client.advance(4)
    session.add("t", 0)
    session.produce("t", 0)
    session.client.advance(4.9)
    assert session.transaction.state == "Ongoing"
    session.client.advance(0.2)
    assert session.transaction.state == "CompleteAbort"
    assert session.log("t", 0).last_stable_offset == 2
    assert session.end(COMMIT).error_code == getattr(error_codes, name)
    code = session.produce("t", 0, sequence=1)
    assert code == error_codes.INVALID_PRODUCER_EPOCH


def test_second_protocol_returns_the_epoch_of_an_abort_after_the_timeout():
    session = make_session(SECOND_PROTOCOL)
    session.init(timeout_ms=1000)
    session.produce("t", 0)
    session.client.advance(1.1)
    assert session.end(ABORT).producer_epoch == 1
    assert session.produce("t", 0) == 0


@pytest.mark.parametrize(
    ("release", "codes"),
    [(FIRST_PROTOCOL, ["PRODUCER_FENCED"] * 2), (SECOND_PROTOCOL, ["NONE"] * 2)],
)
def test_producer_that_continues_may_abort_its_own_transaction(release, codes):
    session = make_session(release)
    session.init()
    first = session.producer
    session.add("t", 0)
    response = session.init(first)
    assert response.error_code == error_codes.CONCURRENT_TRANSACTIONS
    results = [session.init(first).error_code for _ in range(2)]
    assert results == [getattr(error_codes, name) for name in codes]


def test_shorter_timeout_applies_to_the_next_transaction():
    session = make_session(FIRST_PROTOCOL)
    session.init(timeout_ms=600_000)
    session.add("t", 0)
    session.end(COMMIT)
    session.init(timeout_ms=1000)
    session.add("t", 0)
    session.client.advance(1.1)
    assert session.transaction.state == "CompleteAbort"


def test_transaction_that_has_ended_in_time_is_not_aborted():
    session = make_session(FIRST_PROTOCOL)
    session.init(timeout_ms=5000)
    for _ in range(3):
        session.add("t", 0)
        session.client.advance(4)
        assert session.end(COMMIT).error_code == 0
    session.client.advance(20)
    assert session.transaction.state == "CompleteCommit"
    assert session.transaction.epoch == 0


def test_first_protocol_repeats_the_result_of_an_end():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    assert session.end(ABORT).error_code == error_codes.INVALID_TXN_STATE
    session.add("t", 0)
    for _ in range(2):
        assert session.end(COMMIT).error_code == 0
    assert session.end(ABORT).error_code == error_codes.INVALID_TXN_STATE
    assert session.log("t", 0).end_offset == 1


def test_second_protocol_bumps_the_epoch_once_for_repeated_ends():
    session = make_session(SECOND_PROTOCOL)
    session.init()
    producer = session.producer
    session.produce("t", 0)
    for _ in range(2):
        response = session.end(COMMIT, producer=producer)
        assert (response.error_code, response.producer_epoch) == (0, 1)
    response = session.end(ABORT, producer=producer)
    assert response.error_code == error_codes.INVALID_TXN_STATE
    session.producer = ProducerIdentity(producer.producer_id, 1)
    session.produce("t", 0)
    session.end(ABORT)
    assert session.producer.epoch == 2
    response = session.end(COMMIT, producer=producer)
    assert response.error_code == error_codes.PRODUCER_FENCED
    log = session.log("t", 0)
    assert [aborted.first_offset for aborted in log.aborted] == [2]
    assert log.end_offset == 4


def test_second_protocol_fences_the_epoch_before_an_open_transaction():
    session = make_session(SECOND_PROTOCOL)
    session.init()
    first = session.producer
    session.produce("t", 0)
    session.end(COMMIT)
    session.produce("t", 0)
    for is_commit in (COMMIT, ABORT):
        response = session.end(is_commit, producer=first)
        assert response.error_code == error_codes.PRODUCER_FENCED


def test_producer_continues_after_a_lost_response_of_the_second_protocol():
    session = make_session(SECOND_PROTOCOL)
    session.init()
    first = session.producer
    session.produce("t", 0)
    session.end(COMMIT)
    response = session.init(first)
    assert (response.error_code, response.producer_epoch) == (0, 1)


def test_second_protocol_aborts_transactions_without_partitions():
    session = make_session(SECOND_PROTOCOL)
    session.init()
    assert session.end(COMMIT).error_code == error_codes.INVALID_TXN_STATE
    for epoch in (1, 2):
        assert session.end(ABORT).producer_epoch == epoch
    assert session.transaction.state == "CompleteAbort"


def test_second_protocol_replaces_an_exhausted_producer_id():
    session = make_session(SECOND_PROTOCOL)
    session.init()
    session.transaction.epoch = MAX_CLIENT_EPOCH
    session.producer = last = session.transaction.producer
    assert session.produce("t", 0) == 0
    for _ in range(2):
        response = session.end(COMMIT, producer=last)
        assert (response.producer_id, response.producer_epoch) == (1, 0)
    assert session.log("t", 0).producers[0].epoch == MAX_CLIENT_EPOCH + 1
    session.producer = ProducerIdentity(1, 0)
    assert session.produce("t", 0) == 0
    assert session.end(COMMIT).producer_epoch == 1


def test_old_clients_use_the_first_protocol_on_new_brokers():
    session = make_session(SECOND_PROTOCOL)
    session.versions = {EndTxnRequest: 4}
    session.init()
    session.add("t", 0)
    response = session.end(COMMIT)
    assert (response.error_code, response.producer_epoch) == (0, -1)
    assert session.transaction.epoch == 0


@pytest.mark.parametrize("release", [FIRST_PROTOCOL, SECOND_PROTOCOL])
def test_markers_wait_for_the_leader_of_a_partition(release):
    session = make_session(release, brokers=2)
    other_node = 3 - session.node_id
    topic = session.state.create_topic("remote", 1, assignments=[[other_node]])
    session.init()
    producer = session.producer
    assert session.add("t", 0) == session.add("remote", 0) == 0
    session.state.stop_broker(other_node)
    session.end(COMMIT, producer=producer)
    assert session.transaction.state == "PrepareCommit"
    response = session.end(COMMIT, producer=producer)
    assert response.error_code == error_codes.CONCURRENT_TRANSACTIONS
    assert session.init().error_code == error_codes.CONCURRENT_TRANSACTIONS
    session.state.start_broker(other_node)
    session.client.advance(1)
    assert session.transaction.state == "CompleteCommit"
    assert topic.partitions[0].log.end_offset == 1
    assert session.log("t", 0).end_offset == 1


def test_markers_of_deleted_topics_are_skipped():
    session = make_session(FIRST_PROTOCOL)
    session.state.create_topic("deleted", 1)
    session.init()
    session.add("deleted", 0)
    session.state.delete_topic(session.state.topics["deleted"])
    assert session.end(COMMIT).error_code == 0
    assert session.transaction.state == "CompleteCommit"


def test_marker_delay_makes_the_next_transaction_wait():
    session = make_session(FIRST_PROTOCOL)
    session.state.transactions.marker_delay_s = 0.5
    session.init()
    session.add("t", 0)
    assert session.end(COMMIT).error_code == 0
    assert session.add("t", 0) == error_codes.CONCURRENT_TRANSACTIONS
    assert session.add_offsets() == error_codes.CONCURRENT_TRANSACTIONS
    session.client.advance(0.5)
    assert session.add("t", 0) == 0


def test_other_brokers_are_not_the_coordinator():
    session = make_session(FIRST_PROTOCOL, brokers=2)
    session.init()
    session.client = MachineClient(session.machine, 3 - session.node_id)
    code = error_codes.NOT_COORDINATOR
    assert session.add("t", 0) == code
    assert session.add_offsets() == code
    assert session.end(COMMIT).error_code == code
    assert session.init().error_code == code
    assert session.machine.state.transactions.find(session.transactional_id).epoch == 0


def test_unknown_partition_prevents_the_addition_of_others():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    response = session.request(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=session.transactional_id,
            v3_and_below_producer_id=session.producer.producer_id,
            v3_and_below_producer_epoch=session.producer.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
                    name="t", partitions=[0, -1, 2**31 - 1, 0]
                )
            ],
        ),
        3,
    )
    (topic,) = response.results_by_topic_v3_and_below
    assert [part.partition_error_code for part in topic.results_by_partition] == [
        error_codes.OPERATION_NOT_ATTEMPTED,
        error_codes.UNKNOWN_TOPIC_OR_PARTITION,
        error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert session.transaction.state == "Empty"


def test_duplicate_partitions_remain_in_the_response():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
        name="t", partitions=[0, 0]
    )
    response = session.request(
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=session.transactional_id,
            v3_and_below_producer_id=session.producer.producer_id,
            v3_and_below_producer_epoch=session.producer.epoch,
            v3_and_below_topics=[topic, topic],
        ),
        3,
    )
    assert [
        [part.partition_index for part in topic.results_by_partition]
        for topic in response.results_by_topic_v3_and_below
    ] == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("release", "code"),
    [("3.6", "INVALID_TXN_STATE"), ("3.8", "TRANSACTION_ABORTABLE")],
)
def test_brokers_verify_several_transactions_in_one_request(release, code):
    session = make_session(release)
    session.init()
    session.add("t", 0)
    topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(
        name="t", partitions=[0, 1]
    )
    make = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
    response = session.request(
        AddPartitionsToTxnRequest(
            transactions=[
                make(
                    transactional_id=session.transactional_id,
                    producer_id=producer_id,
                    producer_epoch=0,
                    verify_only=True,
                    topics=[topic],
                )
                for producer_id in (session.producer.producer_id, 99)
            ]
        ),
        4,
    )
    codes = [
        [part.partition_error_code for part in topic.results_by_partition]
        for transaction in response.results_by_transaction
        for topic in transaction.topic_results
    ]
    unmapped = error_codes.INVALID_PRODUCER_ID_MAPPING
    assert codes == [[0, getattr(error_codes, code)], [unmapped, unmapped]]


def test_unused_transactional_id_expires_after_seven_days():
    session = make_session(FIRST_PROTOCOL)
    session.init()
    session.client.advance(6 * 86400)
    assert session.add("t", 0) == 0
    session.end(COMMIT)
    session.client.advance(7 * 86400)
    assert session.add("t", 0) == error_codes.INVALID_PRODUCER_ID_MAPPING
    assert session.init().producer_id == 1


def test_rules_fail_requests_of_transactions():
    session = make_session(FIRST_PROTOCOL)
    code = error_codes.COORDINATOR_LOAD_IN_PROGRESS
    rules = session.machine.rules
    for api in ("InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn"):
        rules.add(Rule(rules, api, times=1, error_code=code))
    assert session.init().error_code == code
    session.init()
    assert session.add("t", 0) == code
    assert session.add("t", 0) == 0
    assert session.add_offsets() == code
    assert session.end(COMMIT).error_code == code
    assert session.end(COMMIT).error_code == 0


@pytest.mark.parametrize("has_timeout", [False, True])
def test_end_of_a_transaction_wakes_readers_of_committed_records(has_timeout):
    session = make_session(FIRST_PROTOCOL)
    session.init()
    session.add("t", 0)
    session.produce("t", 0)
    reader = MachineClient(session.machine)
    topic = FetchRequest.FetchTopic(
        topic="t", partitions=[FetchRequest.FetchPartition(partition_max_bytes=10_000)]
    )
    request = FetchRequest(
        max_wait_ms=100_000, min_bytes=1, isolation_level=1, topics=[topic]
    )
    assert reader.request(request, 11) is None
    if has_timeout:
        session.client.advance(61)
    else:
        session.end(COMMIT)
    (topic,) = reader.take_response().responses
    (part,) = topic.partitions
    assert part.last_stable_offset == 2
    assert part.records
    assert len(part.aborted_transactions) == (1 if has_timeout else 0)


def test_session_of_another_transactional_id_is_independent():
    machine = make_machine(topics={"t": 2}, release=SECOND_PROTOCOL)
    sessions = [TransactionSession(machine, name) for name in ("a", "b")]
    for session in sessions:
        session.init()
        assert session.produce("t", 0) == 0
    log = machine.state.topics["t"].partitions[0].log
    assert sessions[1].end(COMMIT).error_code == 0
    assert log.last_stable_offset == 0
    assert sessions[0].end(COMMIT).error_code == 0
    assert log.last_stable_offset == 4
