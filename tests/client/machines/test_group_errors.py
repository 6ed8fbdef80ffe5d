# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Group consumer errors, and consumers that choose their own partitions."""

import re

import pytest

from tests.client.machines.group_setting import RECORDS, Setting, fence
from tests.client.machines.world import START_S


@pytest.mark.parametrize(
    ("release", "pattern", "message_start"),
    [
        ("2.8", None, "the group protocol of KIP-848: the broker sim:9001 (Kafka"),
        ("3.9", re.compile("a"), "topic patterns of groups: the broker sim:9001 ("),
    ],
)
def test_an_old_broker_is_named_in_one_sentence(kwire, release, pattern, message_start):
    """The error recommends the alternative: partitions that the caller chooses."""
    setting = Setting(kwire, release, pattern)
    assert setting.poll() is None
    assert isinstance(setting.machine.failure, setting.module.FeatureUnsupported)
    text = str(setting.machine.failure)
    assert text.startswith(message_start)
    advice = {
        "2.8": "set partitions= to read with committed offsets and without joining the"
        " group",
        "3.9": "name the topics",
    }
    assert text.endswith(f" or later, or {advice[release]}")


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("UNSUPPORTED_VERSION", "RequestRefused", "does not have this group protocol"),
        ("GROUP_AUTHORIZATION_FAILED", "NotAuthorized", "needs the operation Read"),
        ("GROUP_MAX_SIZE_REACHED", "RequestRefused", "GROUP_MAX_SIZE_REACHED"),
        ("UNSUPPORTED_ASSIGNOR", "RequestRefused", "UNSUPPORTED_ASSIGNOR"),
        ("FENCED_INSTANCE_ID", "RequestRefused", "FENCED_INSTANCE_ID"),
    ],
)
def test_a_refusal_ends_the_consumer(kwire, name, kind, words):
    """Errors that a retry cannot fix are raised with the name of the group."""
    setting = Setting(kwire)
    setting.refuse(getattr(kwire.error_codes, name))
    assert setting.poll() is None
    assert type(setting.machine.failure).__name__ == kind
    assert words in str(setting.machine.failure)
    assert "joining group 'etl'" in str(setting.machine.failure)


@pytest.mark.parametrize("epoch", [0, -1, -3])
def test_assignment_in_an_impossible_epoch_is_retried(kwire, epoch):
    """The member requests an assignment again if its epoch is impossible.

    A heartbeat with the received member epoch could not contain the owned partitions.
    """
    setting = Setting(kwire)
    answer, epochs = setting.broker.answer, [epoch]

    def answer_wrongly(request, version):
        response = answer(request, version)
        is_heartbeat = isinstance(
            response, kwire.messages.ConsumerGroupHeartbeatResponse
        )
        if is_heartbeat and epochs:
            assert response.assignment.topic_partitions
            return response.replace(member_epoch=epochs.pop())
        return response

    setting.broker.answer = answer_wrongly
    assert setting.poll() is not None
    assert not epochs
    assert setting.machine.failure is None


def test_a_coordinator_that_never_comes_is_an_error(kwire):
    """Before the first join, the wait for a coordinator ends after ``timeout_s``.

    After the first join, the consumer waits without a limit.
    """
    setting = Setting(kwire)
    setting.broker.loads_until = float("inf")
    assert setting.poll() is None
    assert setting.world.now >= START_S + 20
    assert "no coordinator answered within 20 s" in str(setting.machine.failure)


def test_an_instance_id_is_waited_for(kwire):
    """A killed member keeps the instance id until its session expires."""
    setting = Setting(kwire, group_instance_id="one")
    assert setting.poll() is not None
    setting.machine.close(setting.world.now)
    other = setting.consumer(group_instance_id="one")
    assert setting.poll(other) is not None
    assert setting.world.now > START_S + setting.group.session_s


def test_an_instance_id_that_is_in_use_is_an_error(kwire):
    """The error is raised after ``timeout_s`` and contains the instance id."""
    setting = Setting(kwire, group_instance_id="one")
    setting.refuse(kwire.error_codes.UNRELEASED_INSTANCE_ID)
    assert setting.poll() is None
    assert "group_instance_id 'one' for 20 s" in str(setting.machine.failure)


def test_a_static_member_that_leaves_keeps_its_partitions(kwire):
    """The next member with the instance id immediately gets the same partitions."""
    setting = Setting(kwire, group_instance_id="one")
    assert setting.poll() is not None
    machine, world = setting.machine, setting.world
    machine.begin_close(world.now)
    assert world.run(machine, machine.has_left, world.now + 10)
    (member,) = setting.group.members.values()
    assert member.is_away
    assert len(member.assigned) == 1
    before = world.now
    assert setting.poll(setting.consumer(group_instance_id="one")) is not None
    assert world.now < before + 3


def test_a_late_answer_to_a_member_that_has_left_is_ignored(kwire):
    """The coordinator answers the last heartbeat after the session timeout.

    The consumer has then left the group. It joins again when it is polled.
    """
    setting = Setting(kwire, session_timeout_s=1.0, max_poll_interval_s=5.0)
    assert setting.poll() is not None
    machine, world, member = setting.machine, setting.world, setting.machine._membership
    has_begun_to_leave = lambda: member.state is member.state.LEAVING  # noqa: E731
    assert world.run(machine, has_begun_to_leave, world.now + 10)
    setting.broker.is_silent = True
    assert world.run(machine, lambda: member.is_outside, world.now + 2)
    machine.check_invariants()
    world.wake_broker(1)
    assert not world.run(machine, lambda: not member.is_outside, world.now + 2)
    setting.cluster.topics["a"].logs[0].append(3)
    assert setting.poll() is not None
    assert member.state is not member.state.LEAVING


@pytest.mark.parametrize("release", ["2.3", "2.8", "3.9", "4.0", "4.3"])
def test_manual_partitions_start_at_committed_offsets(kwire, release):
    """Consumers that choose their partitions work with all releases.

    Covers all layouts of OffsetFetch and OffsetCommit.
    """
    setting = Setting(kwire, release, joins=False)
    world, machine = setting.world, setting.machine
    chunk = setting.poll()
    assert (chunk.start_offset, chunk.next_offset) == (0, RECORDS)
    pending = machine.commit(world.now, chunk)
    assert world.run(machine, lambda: pending.is_over, world.now + 10)
    assert pending.result() == {("a", 0): RECORDS}
    (offset,) = setting.group.offsets.values()
    assert offset == (RECORDS, 0)
    setting.cluster.topics["a"].logs[0].append(3)
    second = setting.poll(setting.consumer(joins=False))
    assert (second.start_offset, second.next_offset) == (RECORDS, RECORDS + 3)


def test_commits_of_manual_partitions_are_rejected_by_a_group_with_members(kwire):
    """The commits would overwrite those of the members. The error explains this."""
    setting = Setting(kwire)
    assert setting.poll() is not None
    other, world = setting.consumer(joins=False), setting.world
    chunk = setting.poll(other)
    pending = other.commit(world.now, chunk)
    assert world.run(other, lambda: pending.is_over, world.now + 10)
    with pytest.raises(setting.module.RequestRefused, match="use another group"):
        pending.result()


def test_missing_topic_is_an_error(kwire):
    """A missing topic is an error. Waiting forever would hide a misspelled name."""
    setting = Setting(kwire)
    del setting.cluster.topics["a"]
    setting.broker.learn()
    assert setting.poll() is None
    assert isinstance(setting.machine.failure, setting.module.TopicNotFound)


def test_chunks_of_scans_are_not_committed(kwire):
    """A chunk from a scan does not belong to a group."""
    setting = Setting(kwire)
    chunk = setting.poll()
    with pytest.raises(ValueError, match="chunk must be one of this consumer"):
        setting.machine.commit(setting.world.now, chunk._replace(reader=None))


def test_offsets_for_a_transaction_are_those_of_owned_partitions(kwire):
    """The request contains the offset after the chunk, and the member's identity.

    Raises ``PartitionLost`` if the partition was lost.
    """
    setting = Setting(kwire)
    chunk = setting.poll()
    member, offsets = setting.machine.offsets_to_send([chunk])
    assert offsets == {("a", 0): RECORDS}
    assert member == setting.machine.metadata
    assert member.member_epoch > 0
    fence(setting)
    with pytest.raises(setting.module.PartitionLost):
        setting.machine.offsets_to_send([chunk])


def test_fenced_member_keeps_its_identity_until_the_next_chunk(kwire):
    """The metadata of a fenced member keeps its epoch until the next chunk.

    With the new epoch, a transaction could commit the offsets of lost chunks.
    """
    setting = Setting(kwire)
    machine = setting.machine
    assert setting.poll() is not None
    before = machine.metadata
    fence(setting)
    assert machine._offsets.identity.member_epoch > before.member_epoch
    assert machine.metadata == before
    assert setting.poll() is not None
    assert machine.metadata == machine._offsets.identity


def test_a_commit_for_a_deleted_topic_ends(kwire):
    """The commit fails as soon as the group revokes the partition.

    It does not wait for a long timeout.
    """
    setting = Setting(kwire, "4.3")
    world, chunk = setting.world, setting.poll()
    setting.cluster.add_topic("a", 1)
    setting.group.shuffle()
    setting.broker.learn()
    pending = setting.machine.commit(world.now, chunk)
    assert world.run(setting.machine, lambda: pending.is_over, world.now + 5)
    with pytest.raises(setting.module.PartitionLost):
        pending.result()


def test_partition_that_was_never_owned_is_released(kwire):
    """A member must report a revoked partition even if its topic was still unknown.

    Otherwise the coordinator would wait for it.
    """
    setting = Setting(kwire, "4.3")
    world, machine = setting.world, setting.machine
    assert setting.poll() is not None
    setting.cluster.add_topic("b", 1)
    for names in (["a", "b"], ["a"]):
        setting.group.topics = names
        setting.group.shuffle()
        machine.begin_wait(world.now)
        world.run(machine, lambda: False, world.now + 3)
        machine.end_wait(world.now)
    (member,) = setting.group.members.values()
    assert member.epoch == setting.group.epoch
    assert not member.revoked
