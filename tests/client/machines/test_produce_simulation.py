# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Producers of a simulated cluster under faults: each record once and in order.

Each seed is a cluster, its faults and a producer; a seed that fails names itself. The
bugs below are put into the producer one by one, and the simulation has to notice each.
"""

import os

import pytest

import kwire as kwire_package
from tests.client.machines.machine_modules import import_machines
from tests.client.machines.produce_scenario import run_produce_seed

SEEDS = int(os.environ.get("KWIRE_SIMULATION_SEEDS", "500")) * 2 // 5
"""Fewer than of scans: each takes twice as long."""

SHARE = {"fast": 4, "pure": 1}
"""How the seeds are shared between the engines: the logic is the same for both."""

PARTS = 4
NOTICED_WITHIN = 300
"""Seeds, more than the rarest of the bugs takes."""


@pytest.mark.parametrize("part", range(PARTS))
def test_each_acknowledged_record_is_in_the_log_once(kwire, part):
    """In order, where its receipt says; and no failed one unless it is in doubt."""
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
    # A simulation in which nothing happens would protect nothing.
    assert done > 20 * count
    assert failed > count
    assert raised > count / 10


def lose_a_retry(module, patch):
    """A batch that was not acknowledged is taken for one that is over."""
    prepare = module.produce.batch_sender.BatchSender._prepare

    def losing(self, writer, now):
        batch = writer.batches[0]
        if batch.attempts > 1 and not batch.is_in_flight:
            batch.send()
            writer.acknowledge(batch, -1, -1)
        return bool(writer.batches) and prepare(self, writer, now)

    patch.setattr(module.produce.batch_sender.BatchSender, "_prepare", losing)


def number_again(module, patch):
    """A batch gets another sequence number when it is sent again."""

    def number(self, batch):
        batch.sequence, batch.ordinal = self._next_sequence, self._numbered
        self._numbered += 1
        self._next_sequence += batch.count

    def encode(self, writer, batch, *arguments):
        batch.data = None
        return known(self, writer, batch, *arguments)

    known = module.produce.batch_sender.BatchSender._encode
    patch.setattr(module.produce.partition_writer.PartitionWriter, "number", number)
    patch.setattr(module.produce.batch_sender.BatchSender, "_encode", encode)


def keep_sequences(module, patch):
    """The numbers go on in a new epoch, where they begin at 0."""
    restart = module.produce.partition_writer.PartitionWriter._restart

    def going_on(self):
        number = self._next_sequence
        restart(self)
        self._next_sequence = number

    patch.setattr(module.produce.partition_writer.PartitionWriter, "_restart", going_on)


def forget_doubts(module, patch):
    """What may be in the log all the same is reported as if it were not."""
    patch.setattr(module.produce.batch_sender, "may_be_written", lambda code: False)


def send_past_a_retry(module, patch):
    """Batches that were sent before go out of their turn, as long as there is room."""

    def next_batch(self, max_in_flight):
        if self.in_flight >= max_in_flight:
            return None
        waiting = [each for each in self.batches if not each.is_in_flight]
        return waiting[-1] if waiting else None

    patch.setattr(
        module.produce.partition_writer.PartitionWriter, "next_batch", next_batch
    )


def send_more_than_brokers_remember(module, patch):
    """Batches follow an old one that is not acknowledged, until it is forgotten."""

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
    """Several batches are in flight before the broker knows the producer."""
    writer = module.produce.partition_writer.PartitionWriter
    numbering = module.produce.partition_writer.Numbering
    slot = writer.numbering

    def read(self):
        found = slot.__get__(self)
        return numbering.ESTABLISHED if found is numbering.NEW else found

    patch.setattr(writer, "numbering", property(read, slot.__set__))


def lose_half(module, patch):
    """Of a batch that was too large, the first half is sent."""
    writer = module.produce.partition_writer.PartitionWriter
    split = writer.split

    def losing(self, batch):
        split(self, batch)
        self._remove(batch.parts[1])

    patch.setattr(writer, "split", losing)


def take_errors_for_receipts(module, patch):
    """A batch is over when the broker has answered, whatever it answered."""
    verdict = module.produce.batch_sender.Verdict
    read = module.produce.batch_sender.read_verdict

    def lenient(code):
        found = read(code)
        return verdict.DONE if found is verdict.RETRY else found

    patch.setattr(module.produce.batch_sender, "read_verdict", lenient)


def believe_append_times(module, patch):
    """The time that a broker says of a batch it had already is taken for its own."""
    patch.setattr(
        module.produce.batch_sender,
        "read_append_time",
        lambda part, data: part.log_append_time_ms,
    )


def forget_what_was_appended(module, patch):
    """A batch goes ahead of rows that were appended for its partition before."""
    rows = module.produce.lingering_records.LingeringRecords
    patch.setattr(rows, "release", lambda self, topic, partition, now: None)


def mix_stages(module, patch):
    """Records for any partition wait beside others for one, and go out in any order."""
    send = module.produce.lingering_records.LingeringRecords.send

    def mixing(self, topic, partition, record, now):
        batchers, kept = self._batchers, []
        if topic.name in batchers:
            kept = [each for each in batchers[topic.name].staged if each != partition]
            batchers[topic.name].staged.difference_update(kept)
        is_begun = send(self, topic, partition, record, now)
        batchers[topic.name].staged.update(kept)
        return is_begun

    patch.setattr(module.produce.lingering_records.LingeringRecords, "send", mixing)


def close_in_the_wrong_order(module, patch):
    """What was appended last is put before the batch that it did not fit into."""
    add_batch = module.produce.machine.ProducerMachine.add_batch

    def releasing(self, topic, partition, content, now, **options):
        self.lingering.release(topic, partition, now)
        return add_batch(self, topic, partition, content, now, **options)

    patch.setattr(module.produce.machine.ProducerMachine, "add_batch", releasing)


def count_no_parts(module, patch):
    """The bytes of a batch that was split are counted for ever."""
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
"""Seeds near the first one that notices a bug which takes a rare fault."""


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_the_simulation_notices_a_bug(monkeypatch, bug):
    """Each of them loses, doubles or misorders records under some fault.

    The logic is the same on both engines; one of them is enough.
    """
    bug(import_machines(kwire_package), monkeypatch)
    first = RARE.get(bug, 0)
    for seed in range(first, first + NOTICED_WITHIN):
        try:
            run_produce_seed(kwire_package, seed)
        except Exception:
            return
    raise AssertionError(f"{NOTICED_WITHIN} seeds did not notice it")
