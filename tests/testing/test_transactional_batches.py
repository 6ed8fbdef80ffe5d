# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Produce requests of idempotent and transactional producers to test clusters."""

from __future__ import annotations

import pytest

from kwire.messages import ProduceRequest
from kwire.schema import error_codes
from kwire.testing.state.transactions import ProducerIdentity
from tests.testing.transaction_session import ABORT, COMMIT, make_session

IDEMPOTENT = {"is_transactional": False, "transactional_id": None}


@pytest.mark.parametrize(
    ("release", "version", "name"),
    [
        ("0.11.0", 3, "NONE"),
        ("3.5", 9, "NONE"),
        ("3.6", 9, "INVALID_TXN_STATE"),
        ("3.7", 10, "INVALID_TXN_STATE"),
        ("3.8", 10, "INVALID_TXN_STATE"),
        ("3.8", 11, "TRANSACTION_ABORTABLE"),
        ("4.4", 11, "TRANSACTION_ABORTABLE"),
        ("4.4", 12, "NONE"),
        ("4.4", 13, "NONE"),
    ],
)
def test_batch_outside_of_a_transaction_is_rejected_since_3_6(release, version, name):
    session = make_session(release)
    session.init()
    code = session.produce("t", 0, version=version)
    assert code == getattr(error_codes, name)
    # A rejected batch is not stored.
    assert session.log("t", 0).end_offset == (0 if code else 1)


@pytest.mark.parametrize("version", [9, 10, 11])
def test_added_partition_accepts_batches_until_the_end(version):
    session = make_session("4.0")
    session.init()
    session.add("t", 0)
    assert session.produce("t", 0, version=version) == 0
    assert session.produce("t", 0, version=version) == 0
    assert session.produce("t", 1, version=version) != 0
    session.versions[ProduceRequest] = version
    session.end(COMMIT)


@pytest.mark.parametrize("version", [12, 13])
def test_new_versions_add_the_partition_to_the_transaction(version):
    session = make_session("4.4")
    session.init()
    assert session.produce("t", 1, version=version) == 0
    assert session.transaction.state == "Ongoing"
    assert list(session.transaction.partitions) == [("t", 1)]
    session.end(COMMIT)
    assert session.log("t", 1).last_stable_offset == 2


@pytest.mark.parametrize("version", [11, 12])
def test_fenced_producer_cannot_append(version):
    session = make_session("4.4")
    session.init()
    first = session.producer
    session.init()
    code = session.produce("t", 0, producer=first, version=version)
    assert code == error_codes.INVALID_PRODUCER_EPOCH
    other = ProducerIdentity(99, 0)
    code = session.produce("t", 0, producer=other, version=version)
    assert code == error_codes.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize(
    ("version", "name"), [(11, "NOT_ENOUGH_REPLICAS"), (12, "CONCURRENT_TRANSACTIONS")]
)
def test_batch_during_the_end_of_a_transaction_is_repeated(version, name):
    session = make_session("4.4")
    session.state.transactions.marker_delay_s = 0.5
    session.init()
    session.produce("t", 0)
    session.end(COMMIT)
    code = session.produce("t", 1, version=version)
    assert code == getattr(error_codes, name)
    session.client.advance(0.5)
    session.add("t", 1)
    assert session.produce("t", 1, version=version) == 0


@pytest.mark.parametrize("release", ["0.11.0", "3.9", "4.4"])
def test_transactional_batch_requires_a_transactional_id(release):
    session = make_session(release)
    session.init()
    code = session.produce("t", 0, transactional_id=None)
    assert code == error_codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_ordinary_batch_within_a_transaction_is_rejected():
    session = make_session("3.9")
    session.init()
    session.add("t", 0)
    session.produce("t", 0)
    code = session.produce("t", 0, is_transactional=False)
    assert code == error_codes.INVALID_TXN_STATE
    assert session.log("t", 0).end_offset == 1


def test_sequence_numbers_restart_with_the_epoch_of_each_transaction():
    session = make_session("4.4")
    session.init()
    assert [session.produce("t", 0) for _ in range(2)] == [0, 0]
    session.end(ABORT)
    code = session.produce("t", 0, sequence=2)
    assert code == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert session.produce("t", 0, sequence=0) == 0


def test_sequence_numbers_continue_after_the_end_in_the_first_protocol():
    session = make_session("3.9")
    session.init()
    for sequence in range(2):
        session.add("t", 0)
        assert session.produce("t", 0, sequence=sequence) == 0
        session.end(COMMIT)


@pytest.mark.parametrize("release", ["2.4", "2.5", "4.4"])
def test_sequence_gap_is_rejected_and_a_repetition_is_accepted(release):
    session = make_session(release)
    producer = ProducerIdentity(7, 0)
    options = {"producer": producer, **IDEMPOTENT}
    codes = [session.produce("t", 0, sequence=n, **options) for n in (0, 1, 1, 0, 3)]
    assert codes == [0, 0, 0, 0, error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER]
    assert session.log("t", 0).end_offset == 2


@pytest.mark.parametrize(
    ("release", "name"),
    [
        ("0.11.0", "OUT_OF_ORDER_SEQUENCE_NUMBER"),
        ("1.0", "UNKNOWN_PRODUCER_ID"),
        ("2.4", "UNKNOWN_PRODUCER_ID"),
        ("2.5", "NONE"),
        ("4.4", "NONE"),
    ],
)
def test_unknown_producer_may_start_with_any_sequence_since_2_5(release, name):
    session = make_session(release)
    options = {"producer": ProducerIdentity(7, 0), **IDEMPOTENT}
    code = session.produce("t", 0, sequence=5, **options)
    assert code == getattr(error_codes, name)


def test_second_protocol_starts_transactions_with_sequence_0():
    session = make_session("4.4")
    session.init()
    code = session.produce("t", 0, sequence=5)
    assert code == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    session.add("t", 0)
    assert session.produce("t", 0, sequence=5, version=11) == 0


@pytest.mark.parametrize(
    ("release", "name"), [("2.3", "UNKNOWN_PRODUCER_ID"), ("2.4", "NONE")]
)
def test_deleted_records_make_a_producer_unknown_before_2_4(release, name):
    session = make_session(release)
    options = {"producer": ProducerIdentity(7, 0), **IDEMPOTENT}
    for sequence in range(3):
        session.produce("t", 0, sequence=sequence, **options)
    log = session.log("t", 0)
    log.delete_records_before(2)
    assert session.produce("t", 0, sequence=3, **options) == 0
    log.delete_records_before(4)
    code = session.produce("t", 0, sequence=4, **options)
    assert code == getattr(error_codes, name)


@pytest.mark.parametrize(("release", "is_known"), [("0.11.0", False), ("1.0", True)])
def test_0_11_recognizes_only_the_last_batch_as_a_duplicate(release, is_known):
    session = make_session(release)
    options = {"producer": ProducerIdentity(7, 0), **IDEMPOTENT}
    for sequence in range(3):
        session.produce("t", 0, sequence=sequence, **options)
    assert session.produce("t", 0, sequence=2, **options) == 0
    code = session.produce("t", 0, sequence=1, **options)
    assert code == (0 if is_known else error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER)
    assert session.log("t", 0).end_offset == 3


def test_higher_epoch_fences_the_lower_one_in_a_partition():
    session = make_session("3.5")
    first, second = ProducerIdentity(7, 0), ProducerIdentity(7, 1)
    assert session.produce("t", 0, producer=first, **IDEMPOTENT) == 0
    code = session.produce("t", 0, producer=second, sequence=1, **IDEMPOTENT)
    assert code == error_codes.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert session.produce("t", 0, producer=second, sequence=0, **IDEMPOTENT) == 0
    code = session.produce("t", 0, producer=first, sequence=1, **IDEMPOTENT)
    assert code == error_codes.INVALID_PRODUCER_EPOCH


def test_marker_fences_the_producer_of_an_aborted_transaction():
    session = make_session("3.5")
    session.init()
    first = session.producer
    session.add("t", 0)
    session.produce("t", 0)
    session.init()
    code = session.produce("t", 0, producer=first, sequence=1)
    assert code == error_codes.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize(
    ("release", "name"), [("3.9", "NONE"), ("4.0", "INVALID_PRODUCER_EPOCH")]
)
def test_other_epoch_in_an_open_transaction_is_verified_since_4_0(release, name):
    session = make_session(release)
    session.init()
    session.add("t", 0)
    session.produce("t", 0)
    other = ProducerIdentity(session.producer.producer_id, 1)
    code = session.produce("t", 0, producer=other, sequence=0)
    assert code == getattr(error_codes, name)


@pytest.mark.parametrize(
    ("release", "name"), [("2.3", "NONE"), ("2.4", "INVALID_PRODUCER_EPOCH")]
)
def test_deleted_records_no_longer_fence_a_producer_before_2_4(release, name):
    session = make_session(release)
    first, second = ProducerIdentity(7, 0), ProducerIdentity(7, 1)
    session.produce("t", 0, producer=second, **IDEMPOTENT)
    session.log("t", 0).delete_records_before(1)
    code = session.produce("t", 0, producer=first, **IDEMPOTENT)
    assert code == getattr(error_codes, name)


def test_sequence_numbers_wrap_after_the_largest_one():
    session = make_session("4.4")
    options = {"producer": ProducerIdentity(7, 0), **IDEMPOTENT}
    sequences = (2**31 - 2, 2**31 - 1, 0, 1)
    codes = [session.produce("t", 0, sequence=n, **options) for n in sequences]
    assert codes == [0, 0, 0, 0]
