# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Seek, pause and resume in a group consumer, and reported assignment changes."""

import pickle

import pytest

from tests.client.machines.group_setting import RECORDS, Setting, fence

PLACE = ("a", 0)


def is_fetching(setting):
    """Return whether a Fetch of the consumer is in flight."""
    return bool(setting.machine._fetcher._fetching)


def wait_for(setting, is_over, within_s=30):
    """Run the consumer until ``is_over()`` is true, without returning a chunk.

    Fail after ``within_s`` simulated seconds.
    """
    machine, world = setting.machine, setting.world
    machine.begin_wait(world.now)
    assert world.run(machine, is_over, world.now + within_s)
    machine.end_wait(world.now)


def append(setting, count, partition=0):
    """Append a batch with ``count`` records to a partition."""
    setting.cluster.topics["a"].logs[partition].append(count)


def commit(setting):
    """Commit the positions of all partitions, and return the committed offsets."""
    pending = setting.machine.commit(setting.world.now)
    world = setting.world
    assert world.run(setting.machine, lambda: pending.is_over, world.now + 10)
    return pending.result()


def test_seek_to_an_offset_returns_the_records_from_there(kwire):
    """A commit after the seek stores the new position, even before the first chunk."""
    setting = Setting(kwire)
    for _ in range(3):
        append(setting, 2)
    while setting.machine.position().get(PLACE) != RECORDS + 6:
        setting.machine.release(setting.poll())
    setting.machine.seek({PLACE: RECORDS + 2})
    assert setting.machine.position() == {PLACE: RECORDS + 2}
    assert commit(setting) == {PLACE: RECORDS + 2}
    chunk = setting.poll()
    assert chunk.start_offset == RECORDS + 2
    assert setting.machine.position() == {PLACE: chunk.next_offset}


@pytest.mark.parametrize(
    ("name", "offset"), [("EARLIEST", 0), ("LATEST", RECORDS), ("time", 5)]
)
def test_seek_finds_the_earliest_the_latest_and_a_time(kwire, name, offset):
    """Until the lookup ends, the partition has no position, so nothing is committed."""
    setting = Setting(kwire)
    machine, module = setting.machine, setting.module
    assert setting.poll() is not None
    commit(setting)
    # The record at offset n has the timestamp 1001 + n.
    machine.seek({PLACE: getattr(module, name, module.Lookup(1006))})
    assert PLACE not in machine.position()
    assert commit(setting) == {}
    wait_for(setting, lambda: PLACE in machine.position())
    assert machine.position() == {PLACE: offset}


def test_seek_ignores_the_response_to_a_fetch_in_flight(kwire):
    """The response is dropped, because its records belong to the old position."""
    setting = Setting(kwire)
    assert setting.poll() is not None
    wait_for(setting, lambda: is_fetching(setting))
    append(setting, 3)
    setting.machine.seek({PLACE: 0})
    records, next_offset = kwire.records.decode_records(setting.poll().data)
    assert [record.offset for record in records] == list(range(next_offset))
    assert next_offset >= RECORDS


def test_seek_drops_the_chunks_that_were_not_taken(kwire):
    """The memory of these chunks is released. The next chunk has the new position."""
    setting = Setting(kwire)
    machine = setting.machine
    assert setting.poll() is not None
    append(setting, 3)
    wait_for(setting, machine.has_result)
    machine.seek({PLACE: 0})
    assert not machine.has_result()
    assert setting.poll().start_offset == 0


def test_seek_before_the_committed_offset_is_known_replaces_it(kwire):
    """A callback for assigned partitions can choose the start of the first Fetch."""
    setting = Setting(kwire)
    wait_for(setting, lambda: setting.machine.assignment() == {PLACE})
    assert setting.machine.position() == {}
    setting.machine.seek({PLACE: 7})
    chunk = setting.poll()
    assert chunk.start_offset == 7


def test_seek_past_the_end_of_the_log_is_a_data_loss(kwire):
    """Kafka responds OFFSET_OUT_OF_RANGE, and the consumer fails with ``DataLost``."""
    setting = Setting(kwire)
    assert setting.poll() is not None
    setting.machine.seek({PLACE: 1000})
    assert setting.poll() is None
    assert isinstance(setting.machine.failure, setting.module.DataLost)


def test_paused_partition_returns_its_records_after_resume(kwire):
    """After ``resume``, no record is missing.

    Covers records that were fetched before the pause, and a Fetch in flight.
    """
    setting = Setting(kwire)
    machine = setting.machine
    assert setting.poll() is not None
    append(setting, 3)
    wait_for(setting, machine.has_result)
    machine.pause([PLACE])
    assert machine.paused() == {PLACE}
    assert machine.assignment() == {PLACE}
    assert setting.poll(within_s=5) is None
    machine.resume([PLACE])
    assert machine.paused() == set()
    chunk = setting.poll()
    assert (chunk.start_offset, chunk.next_offset) == (RECORDS, RECORDS + 3)
    wait_for(setting, lambda: is_fetching(setting))
    append(setting, 2)
    machine.pause([PLACE])
    assert setting.poll(within_s=5) is None
    machine.resume([PLACE])
    assert setting.poll().start_offset == RECORDS + 3


def test_pause_before_the_committed_offset_is_known_holds_back_the_first_chunk(kwire):
    """A callback for assigned partitions can pause them before the first chunk."""
    setting = Setting(kwire)
    wait_for(setting, lambda: setting.machine.assignment() == {PLACE})
    setting.machine.pause([PLACE])
    assert setting.poll(within_s=5) is None
    setting.machine.seek({PLACE: 4})
    assert setting.poll(within_s=5) is None
    setting.machine.resume([PLACE])
    assert setting.poll().start_offset == 4


@pytest.mark.parametrize("name", ["seek", "pause", "resume"])
def test_lost_partition_cannot_be_moved(kwire, name):
    """Moving a lost or never owned partition fails. Other partitions are unchanged."""
    setting = Setting(kwire)
    machine = setting.machine
    assert setting.poll() is not None
    unknown = ("b", 3)
    argument = {PLACE: 0, unknown: 0} if name == "seek" else [PLACE, unknown]
    with pytest.raises(setting.module.PartitionLost, match=r"b-3: this consumer"):
        getattr(machine, name)(argument)
    assert machine.position() == {PLACE: RECORDS}
    assert machine.paused() == set()
    machine.begin_close(setting.world.now)
    world = setting.world
    assert world.run(machine, machine.has_left, world.now + 10)
    with pytest.raises(setting.module.PartitionLost) as caught:
        getattr(machine, name)({PLACE: 0})
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_pause_survives_a_rebalance_for_kept_partitions_only(kwire):
    """If a partition is lost and assigned again, it is not paused."""
    setting = Setting(kwire, partitions=2)
    machine, world, group = setting.machine, setting.world, setting.group
    topic_partitions = {("a", 0), ("a", 1)}
    wait_for(setting, lambda: machine.assignment() == topic_partitions)
    machine.pause(topic_partitions)
    assert setting.poll(within_s=3) is None
    partitions, all_partitions = group.partitions, group.partitions()
    first_partition = min(all_partitions, key=lambda partition: partition[1])
    group.partitions = lambda: {first_partition}
    group.shuffle()
    wait_for(setting, lambda: machine.assignment() == {("a", 0)})
    assert setting.poll(within_s=3) is None
    group.partitions = partitions
    group.shuffle()
    wait_for(setting, lambda: machine.assignment() == topic_partitions)
    assert machine.paused() == {("a", 0)}
    chunk = setting.poll()
    assert (chunk.topic, chunk.partition) == ("a", 1)
    assert setting.poll(within_s=3) is None
    machine.resume([("a", 0)])
    assert setting.poll().partition == 0
    assert world.now > 0


def test_changes_of_partitions_are_returned_once(kwire):
    """If a partition was lost and assigned again, it is in both lists of changes."""
    setting = Setting(kwire)
    machine = setting.machine
    assert not machine.has_changes()
    wait_for(setting, machine.has_changes)
    assert machine.take_changes() == ([], [PLACE])
    assert not machine.has_changes()
    assert machine.take_changes() == ([], [])
    fence(setting)
    wait_for(setting, machine.has_result)
    assert machine.has_changes()
    assert machine.take_changes() == ([PLACE], [PLACE])
    setting.group.partitions = set
    setting.group.shuffle()
    wait_for(setting, machine.has_changes)
    assert machine.take_changes() == ([PLACE], [])


def test_partition_that_is_revoked_before_its_report_is_never_reported(kwire):
    """Such a partition is not reported, because a callback could not seek in it."""
    setting = Setting(kwire)
    machine = setting.machine
    wait_for(setting, lambda: machine.assignment() == {PLACE})
    assert machine.has_changes()
    (reader,) = machine._owned.values()
    machine._revoke({reader.id_and_partition})
    assert not machine.has_changes()
    machine._give_up_revoked()
    assert not machine.has_changes()
    assert machine.take_changes() == ([], [])


def test_partition_that_is_revoked_after_its_report_is_reported_as_lost_once(kwire):
    """The loss is reported when the partition is released.

    Until then, its chunks can be committed.
    """
    setting = Setting(kwire)
    machine = setting.machine
    wait_for(setting, lambda: machine.assignment() == {PLACE})
    assert machine.take_changes() == ([], [PLACE])
    (reader,) = machine._owned.values()
    machine._revoke({reader.id_and_partition})
    assert not machine.has_changes()
    machine._give_up_revoked()
    assert machine.has_changes()
    assert machine.take_changes() == ([PLACE], [])
    assert not machine.has_changes()
