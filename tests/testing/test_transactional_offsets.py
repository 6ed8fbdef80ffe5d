# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Offsets that are committed with a transaction in test clusters."""

from __future__ import annotations

import pytest

from kwire.messages import TxnOffsetCommitRequest
from kwire.schema import error_codes
from kwire.testing.rules import Rule
from kwire.testing.state.classic_group import ClassicGroup
from kwire.testing.state.group import CommittedOffset
from kwire.testing.state.transactions import ProducerIdentity
from tests.testing.machine_client import MachineClient
from tests.testing.transaction_session import ABORT, COMMIT, make_session


@pytest.mark.parametrize("release", ["0.11.0", "2.4", "3.6", "3.9", "4.4"])
def test_offsets_are_pending_until_the_commit(release):
    session = make_session(release)
    session.init()
    session.add_offsets()
    assert session.commit_offset("t", 0, 5, metadata="note") == 0
    offsets = session.state.groups["g"].offsets
    assert offsets.is_unstable("t", 0)
    assert not offsets.committed
    assert session.end(COMMIT).error_code == 0
    assert not offsets.is_unstable("t", 0)
    assert offsets.committed["t", 0] == CommittedOffset(
        5, -1, "note", session.state.clock.unix_ms
    )


def test_aborted_offsets_are_forgotten():
    session = make_session("3.9")
    session.init()
    for offset, end in ((5, COMMIT), (8, ABORT)):
        session.add_offsets()
        session.commit_offset("t", 0, offset)
        session.end(end)
    assert session.state.groups["g"].offsets.committed["t", 0].offset == 5


def test_timeout_aborts_offsets():
    session = make_session("4.4")
    session.init(timeout_ms=1000)
    session.commit_offset("t", 0, 5)
    session.client.advance(1.1)
    offsets = session.state.groups["g"].offsets
    assert not offsets.committed
    assert not offsets.pending


@pytest.mark.parametrize(
    ("release", "version", "name"),
    [
        ("3.6", 3, "NONE"),
        ("3.7", 3, "INVALID_TXN_STATE"),
        ("3.9", 3, "INVALID_TXN_STATE"),
        ("3.9", 4, "TRANSACTION_ABORTABLE"),
        ("4.4", 4, "TRANSACTION_ABORTABLE"),
        ("4.4", 5, "NONE"),
        ("4.4", 6, "NONE"),
    ],
)
def test_offsets_outside_of_a_transaction_are_rejected_since_3_7(
    release, version, name
):
    session = make_session(release)
    session.versions = {TxnOffsetCommitRequest: version}
    session.init()
    assert session.commit_offset("t", 0, 5) == getattr(error_codes, name)


def test_new_versions_add_the_group_to_the_transaction():
    session = make_session("4.4")
    session.init()
    session.commit_offset("t", 0, 5)
    assert list(session.transaction.groups) == ["g"]


@pytest.mark.parametrize("release", ["0.11.0", "3.6", "3.9", "4.4"])
def test_fenced_producer_cannot_commit_offsets(release):
    session = make_session(release)
    session.init()
    first = session.producer
    session.add_offsets()
    session.commit_offset("t", 0, 5)
    session.init()
    session.init()
    code = session.commit_offset("t", 0, 6, producer=first)
    assert code == error_codes.INVALID_PRODUCER_EPOCH
    assert not session.state.groups["g"].offsets.pending


def test_offsets_of_a_higher_epoch_fence_the_lower_one():
    session = make_session("3.5")
    first, second = ProducerIdentity(7, 0), ProducerIdentity(7, 1)
    assert session.commit_offset("t", 0, 5, producer=first) == 0
    assert session.commit_offset("t", 0, 6, producer=second) == 0
    code = session.commit_offset("t", 0, 7, producer=first)
    assert code == error_codes.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize(
    ("release", "name"), [("3.9", "NONE"), ("4.0", "INVALID_PRODUCER_EPOCH")]
)
def test_other_epoch_of_pending_offsets_is_verified_since_4_0(release, name):
    session = make_session(release)
    session.init()
    session.add_offsets()
    session.commit_offset("t", 0, 5)
    other = ProducerIdentity(session.producer.producer_id, 1)
    code = session.commit_offset("t", 0, 6, producer=other)
    assert code == getattr(error_codes, name)


def test_unknown_partitions_do_not_prevent_other_offsets():
    session = make_session("3.9")
    session.init()
    session.add_offsets()
    unknown = error_codes.UNKNOWN_TOPIC_OR_PARTITION
    assert session.commit_offset("unknown", 0, 5) == unknown
    assert session.commit_offset("t", -1, 5) == unknown
    assert session.commit_offset("t", 2**31 - 1, 5) == unknown
    assert "g" not in session.state.groups
    assert session.commit_offset("t", 1, 5) == 0


def test_unknown_topic_id_is_reported():
    session = make_session("4.4")
    session.init()
    assert session.commit_offset("unknown", 0, 5) == error_codes.UNKNOWN_TOPIC_ID


def test_long_metadata_is_rejected():
    session = make_session("4.4")
    session.init()
    assert session.commit_offset("t", 0, 5, metadata="x" * 4096) == 0
    code = session.commit_offset("t", 0, 5, metadata="x" * 4097)
    assert code == error_codes.OFFSET_METADATA_TOO_LARGE
    session.state.group_settings.max_metadata_bytes = 3
    code = session.commit_offset("t", 0, 5, metadata="note")
    assert code == error_codes.OFFSET_METADATA_TOO_LARGE


def test_group_name_is_required():
    session = make_session("4.4")
    session.init()
    code = session.commit_offset("t", 0, 5, group_id="")
    assert code == error_codes.INVALID_GROUP_ID


def test_generation_of_a_missing_group_is_illegal():
    session = make_session("3.9")
    session.init()
    session.add_offsets()
    code = session.commit_offset("t", 0, 5, generation_id_or_member_epoch=3)
    assert code == error_codes.ILLEGAL_GENERATION
    assert "g" not in session.state.groups


def test_group_checks_its_members():
    session = make_session("3.9")
    session.init()
    session.add_offsets()
    calls = []

    class GroupWithMembers(ClassicGroup):
        def check_transactional_member(self, *arguments):
            calls.append(arguments)
            return error_codes.FENCED_INSTANCE_ID

    session.state.groups["g"] = GroupWithMembers("g", session.state)
    code = session.commit_offset(
        "t",
        0,
        5,
        member_id="m",
        generation_id_or_member_epoch=2,
        group_instance_id="i",
    )
    assert code == error_codes.FENCED_INSTANCE_ID
    assert calls == [("m", 2, "i", {("t", 0)})]


def test_other_brokers_are_not_the_coordinator_of_the_group():
    session = make_session("4.4", brokers=2)
    session.init()
    other_node = 3 - session.state.choose_coordinator("g")
    session.client = MachineClient(session.machine, other_node)
    assert session.commit_offset("t", 0, 5) == error_codes.NOT_COORDINATOR


def test_rule_fails_the_offset_of_one_partition():
    session = make_session("3.9")
    session.init()
    session.add_offsets()
    rules = session.machine.rules
    code = error_codes.COORDINATOR_LOAD_IN_PROGRESS
    rules.add(Rule(rules, "TxnOffsetCommit", times=1, partition=1, error_code=code))
    assert session.commit_offset("t", 0, 5) == 0
    assert session.commit_offset("t", 1, 5) == code
    assert session.commit_offset("t", 1, 5) == 0


def test_producer_without_a_transactional_id_state_is_rejected():
    session = make_session("4.4")
    session.producer = ProducerIdentity(0, 0)
    code = session.commit_offset("t", 0, 5)
    assert code == error_codes.INVALID_PRODUCER_ID_MAPPING
