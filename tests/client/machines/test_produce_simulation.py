# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulate producers under faults: records are written once and in order.

A seed is a cluster, its faults and a producer. Failures contain their seed. The bugs
below are injected into the producer one by one, and the simulation must detect all of
them.
"""

import os

import pytest

import kwire as kwire_package
from tests.client.machines.machine_modules import import_machines
from tests.client.machines.produce_scenario import run_produce_seed

SEEDS = int(os.environ.get("KWIRE_SIMULATION_SEEDS", "500")) * 2 // 5
"""Fewer seeds than for scans, because a seed takes twice as long."""

SHARE = {"fast": 4, "pure": 1}
"""Fraction of all seeds that run per engine.

Both engines run the same state machines.
"""

PARTS = 4
NOTICED_WITHIN = 300
"""Number of seeds that are enough to detect each bug."""


@pytest.mark.parametrize("part", range(PARTS))
def test_each_acknowledged_record_is_in_the_log_once(kwire, part):
    """Records are in order and at the offsets in their receipts.

    A failed record is not in the log unless its delivery is in doubt.
    """
    share = SHARE[kwire.backend]
    count = SEEDS * share // sum(SHARE.values()) // PARTS
    first = part * SEEDS // PARTS + (count * 4 if kwire.backend == "pure" else 0)
    done = failed = raised = 0
    for seed in range(first, first + count):
        scenario = run_produce_seed(kwire, seed)
        for batch, _ in scenario.given:
            for leaf in batch.leaves():
                done += leaf.receipt is not None
                failed += leaf.failure is not None
        raised += any(
            writer.producer_epoch > 0
            for writer in scenario.machine.deliveries.writers.values()
        )
    # Fail if the simulation had no effect.
    assert done > 20 * count
    assert failed > count
    assert raised > count / 10


def lose_a_retry(module, patch):
    """Treat a batch without an acknowledgement as acknowledged."""
    prepare = module.produce.batch_sender.BatchSender._prepare

    def losing(self, writer, now):
        batch = writer.batches[0]
        if batch.attempts > 1 and not batch.is_in_flight:
            batch.send()
            writer.acknowledge(batch, -1, -1)
        return bool(writer.batches) and prepare(self, writer, now)

    patch.setattr(module.produce.batch_sender.BatchSender, "_prepare", losing)


def number_again(module, patch):
    """Assign a new sequence number when a batch is retried."""

    def number(self, batch):
        batch.sequence, batch.ordinal = self._next_sequence, self._numbered
        self._numbered += 1
        self._next_sequence += batch.count

    def encode(self, writer, batch, *arguments):
        batch.data = None
        return original(self, writer, batch, *arguments)

    original = module.produce.batch_sender.BatchSender._encode
    patch.setattr(module.produce.partition_writer.PartitionWriter, "number", number)
    patch.setattr(module.produce.batch_sender.BatchSender, "_encode", encode)


def keep_sequences(module, patch):
    """Continue the sequence numbers in a new epoch instead of restarting at 0."""
    restart = module.produce.partition_writer.PartitionWriter._restart

    def going_on(self):
        number = self._next_sequence
        restart(self)
        self._next_sequence = number

    patch.setattr(module.produce.partition_writer.PartitionWriter, "_restart", going_on)


def forget_doubts(module, patch):
    """Report records that may be in the log as records that were not written."""
    patch.setattr(module.produce.batch_sender, "may_be_written", lambda code: False)


def send_past_a_retry(module, patch):
    """Send retried batches out of order, up to the in-flight limit."""

    def next_batch(self, max_in_flight):
        if self.in_flight >= max_in_flight:
            return None
        waiting = [batch for batch in self.batches if not batch.is_in_flight]
        return waiting[-1] if waiting else None

    patch.setattr(
        module.produce.partition_writer.PartitionWriter, "next_batch", next_batch
    )


def send_more_than_brokers_remember(module, patch):
    """Send batches after an unacknowledged one until the broker has evicted it."""

    def next_batch(self, max_in_flight):
        count = 0
        for batch in self.batches:
            if batch.is_in_flight:
                count += 1
                continue
            if count >= max_in_flight or (count and batch.attempts):
                return None
            return batch
        return None

    patch.setattr(
        module.produce.partition_writer.PartitionWriter, "next_batch", next_batch
    )


def begin_with_many(module, patch):
    """Send several batches in flight before the broker knows the producer."""
    writer = module.produce.partition_writer.PartitionWriter
    numbering = module.produce.partition_writer.Numbering
    slot = writer.numbering

    def read(self):
        numbering_state = slot.__get__(self)
        return (
            numbering.ESTABLISHED
            if numbering_state is numbering.NEW
            else numbering_state
        )

    patch.setattr(writer, "numbering", property(read, slot.__set__))


def lose_half(module, patch):
    """Only send the first half of a batch that was too large."""
    writer = module.produce.partition_writer.PartitionWriter
    split = writer.split

    def losing(self, batch):
        split(self, batch)
        self._remove(batch.parts[1])

    patch.setattr(writer, "split", losing)


def take_errors_for_receipts(module, patch):
    """Treat any response as an acknowledgement, including errors."""
    verdict = module.produce.batch_sender.Verdict
    read = module.produce.batch_sender.read_verdict

    def lenient(code):
        original = read(code)
        return verdict.DONE if original is verdict.RETRY else original

    patch.setattr(module.produce.batch_sender, "read_verdict", lenient)


def believe_append_times(module, patch):
    """Use the append time that a broker returns for a duplicate."""
    patch.setattr(
        module.produce.batch_sender,
        "read_append_time",
        lambda part, data: part.log_append_time_ms,
    )


def forget_what_was_appended(module, patch):
    """Send a batch before the rows that were appended earlier for its partition."""
    rows = module.produce.lingering_records.LingeringRecords
    patch.setattr(rows, "release", lambda self, topic, partition, now: None)


def mix_stages(module, patch):
    """Stage records with and without a partition separately, in arbitrary order."""
    send = module.produce.lingering_records.LingeringRecords.send

    def mixing(self, topic, partition, record, now):
        batchers, other_partitions = self._batchers, []
        if topic.name in batchers:
            other_partitions = [
                staged for staged in batchers[topic.name].staged if staged != partition
            ]
            batchers[topic.name].staged.difference_update(other_partitions)
        is_begun = send(self, topic, partition, record, now)
        batchers[topic.name].staged.update(other_partitions)
        return is_begun

    patch.setattr(module.produce.lingering_records.LingeringRecords, "send", mixing)


def close_in_the_wrong_order(module, patch):
    """Put the last appended rows before the batch that they did not fit into."""
    add_batch = module.produce.machine.ProducerMachine.add_batch

    def releasing(self, topic, partition, content, now, **options):
        self.lingering.release(topic, partition, now)
        return add_batch(self, topic, partition, content, now, **options)

    patch.setattr(module.produce.machine.ProducerMachine, "add_batch", releasing)


def count_no_parts(module, patch):
    """Keep counting a batch's bytes after it was split."""
    writer = module.produce.partition_writer.PartitionWriter
    split = writer.split

    def counting(self, batch):
        split(self, batch)
        self.queued_bytes += batch.size

    patch.setattr(writer, "split", counting)


BUGS = [
    believe_append_times,
    forget_what_was_appended,
    mix_stages,
    close_in_the_wrong_order,
    count_no_parts,
    lose_a_retry,
    number_again,
    keep_sequences,
    forget_doubts,
    send_past_a_retry,
    send_more_than_brokers_remember,
    begin_with_many,
    lose_half,
    take_errors_for_receipts,
]

RARE = {send_more_than_brokers_remember: 72, begin_with_many: 82}
"""First seed to run for bugs that few seeds detect, by bug.

It is shortly before the first seed that detects the bug.
"""


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_the_simulation_notices_a_bug(monkeypatch, bug):
    """If a bug is injected, records are lost, duplicated or reordered under faults.

    Both engines run the same state machines, so one engine is enough.
    """
    bug(import_machines(kwire_package), monkeypatch)
    first = RARE.get(bug, 0)
    for seed in range(first, first + NOTICED_WITHIN):
        try:
            run_produce_seed(kwire_package, seed)
        except Exception:
            return
    raise AssertionError(f"{NOTICED_WITHIN} seeds did not notice it")
