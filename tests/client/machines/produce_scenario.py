# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run a producer under the faults that a seed determines, and check the logs.

Every acknowledged record exists once, at the offset in its receipt. Records with the
same key are in the order in which they were sent. The logs contain no records that were
not sent, and no failed records unless their delivery is in doubt. ``run_produce_seed``
raises ``AssertionError`` with the seed.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from tests.client.machines.faulty_cluster import FaultyCluster
from tests.client.machines.world import START_S

FAULTS_S = 12.0
LONGEST_S = 350.0
RELEASES = ("2.3", "2.6", "2.8", "3.3", "3.6", "3.9", "4.1")


class ProduceScenario(FaultyCluster):
    """Cluster, faults and producer that are drawn from one seed."""

    def __init__(self, kwire, seed):
        """Draw the cluster and the producer from the seed."""
        super().__init__(kwire, seed)
        self.is_idempotent = self.random.random() < 0.85
        self.machine = self._machine()
        # Each batch, with the values of its records when it was added to the machine.
        self.given: list[tuple[object, list[bytes]]] = []
        self.receipts = []
        self.most_held = self.number = 0
        self._watch()

    def _draw_releases(self):
        return RELEASES

    def _prepare_log(self, log):
        log.max_bytes = self.random.choice([300, 1 << 20, 1 << 20])

    def run(self):
        """Send records under faults, then check the logs."""
        self._plan_faults()
        random, world, machine = self.random, self.world, self.machine
        until = START_S + LONGEST_S
        for name in self.names:
            machine.want_topic(name, START_S)
        has_metadata = lambda: all(self._topic(name) for name in self.names)  # noqa: E731
        try:
            if not world.run(machine, has_metadata, START_S + 30):
                raise AssertionError(f"seed {self.seed}: no metadata")
        except self.module.ClusterError:
            return self
        while world.now < START_S + FAULTS_S and machine.failure is None:
            self._write()
            pause = random.choice([0.0, 0.01, 0.3, 2.0])
            world.run(machine, lambda: False, world.now + random.uniform(0, pause))
            if not world.run(machine, machine.has_room, until):
                raise AssertionError(f"seed {self.seed}: there is never any room")
        machine.flush(world.now)
        self._expect(world.run(machine, machine.is_idle, until), "it came to no end")
        self._check()
        machine.close(world.now)
        return self

    def _topic(self, name):
        return self.machine.topic(name)

    def _machine(self):
        random, module = self.random, self.module
        options = module.ProducerOptions(
            compression=random.choice(["none", "none", "gzip"]),
            is_idempotent=self.is_idempotent,
            acks=-1 if self.is_idempotent else random.choice([-1, 1]),
            linger_s=random.choice([0.0, 0.01, 0.5]),
            max_batch_bytes=random.choice([150, 1000, 10_000]),
            max_request_bytes=random.choice([500, 1 << 20]),
            memory_bytes=random.choice([1000, 20_000, 1 << 20]),
            max_in_flight=random.choice([1, 2, 5, 5]),
            delivery_timeout_s=random.choice([2.0, 5.0, 300.0, 300.0]),
        )
        settings = module.ClusterSettings(
            request_timeout_s=3.0, connect_timeout_s=2.0, fallback=self.fallback
        )
        return module.ProducerMachine(
            [("sim", 9000 + node) for node in self.cluster.brokers],
            settings,
            options,
            now=START_S,
            random=random,
            on_receipt=lambda receipt: self.receipts.append(receipt),
        )

    def _watch(self):
        """Store the values of each batch when it is added to the machine."""
        add_batch = self.machine.add_batch

        def note(topic, partition, content, now, **options):
            values = [record.value for record in content.records()]
            batch = add_batch(topic, partition, content, now, **options)
            self.given.append((batch, values))
            return batch

        self.machine.add_batch = note

    def _write(self):
        """Send some records with a randomly chosen method."""
        random, machine = self.random, self.machine
        topic = machine.topic(random.choice(self.names))
        rows = [self._row() for _ in range(random.randint(1, 30))]
        partition = None
        if random.random() < 0.3:
            partition = random.choice(list(topic.partitions))
        if random.random() < 0.5:
            for key, value in rows:
                chosen = partition
                if chosen is None and key is not None and random.random() < 0.5:
                    # The machine must choose the same partition if the caller leaves it
                    # open.
                    chosen = self.module.choose_by_key(machine, topic, key)
                machine.send(topic, chosen, (key, value, 5, ()), self.world.now)
        else:
            sender = self.module.RecordBatcher(machine, topic, partition)
            sender.add(rows, 5, self.world.now)
            sender.finish(self.world.now)
        self.most_held = max(self.most_held, machine.deliveries.held_bytes)

    def _row(self):
        self.number += 1
        prefix = b"poison" if self.random.random() < 0.002 else b"v"
        key = self.random.choice([None, b"k1", b"k2", b"k3"])
        return key, b"%s-%d-%s" % (prefix, self.number, key or b"")

    # Faults.

    def _plan_faults(self):
        codes = self.kwire.error_codes
        self._errors = [
            (codes.NOT_ENOUGH_REPLICAS, False),
            (codes.NOT_ENOUGH_REPLICAS_AFTER_APPEND, True),
            (codes.REQUEST_TIMED_OUT, True),
            (codes.KAFKA_STORAGE_ERROR, False),
            (codes.MESSAGE_TOO_LARGE, False),
            (codes.UNKNOWN_SERVER_ERROR, True),
            (codes.INVALID_RECORD, False),
        ]
        self._plan(
            [
                self._move_leader,
                self._move_leader,
                self._break_wire,
                self._stop_broker,
                self._learn,
                self._learn,
                self._throttle,
                self._upgrade,
                self._answer_error,
                self._answer_error,
                self._silence,
                self._move_in_turns,
            ]
        )

    def _plan(self, kinds):
        random = self.random
        for _ in range(random.randrange(0, 40)):
            fault_at = START_S + random.uniform(0.3, FAULTS_S)
            self.world.at(fault_at, random.choice(kinds))
        self.world.at(START_S + FAULTS_S, self._heal)

    def _move_leader(self):
        """Move a leader. Unacknowledged records may be lost with the old leader."""
        topic, index, log = self._any_log()
        topic.leaders[index] = self._any_broker().node
        unknown = max(log.end - log.acknowledged, 0)
        # The log loses either all unacknowledged batches or none.
        log.new_leader(cut=unknown if self.random.random() < 0.5 else 0)
        self._announce(topic.leaders[index])

    def _silence(self):
        """Stop processing requests on a broker for a while.

        Requests that arrive in the meantime are processed later.
        """
        broker = self._any_broker()
        broker.is_silent = True
        wake = lambda: self.world.wake_broker(broker.node)  # noqa: E731
        self.world.after(self.random.uniform(0.1, 5), wake)

    def _answer_error(self):
        self._any_broker().produce_error = self.random.choice(self._errors)

    def _heal(self):
        self.cluster.moving_until = 0.0
        for broker in self.cluster.brokers.values():
            broker.is_up = True
            broker.throttle_ms = 0
            broker.produce_error = None
        for broker in self.cluster.brokers.values():
            broker.learn()
            self.world.wake_broker(broker.node)

    # Check the logs.

    def _check(self):
        machine = self.machine
        self._expect(
            machine.deliveries.held_bytes == 0,
            f"{machine.deliveries.held_bytes} bytes are held",
        )
        self._expect(machine.failure is None, f"it failed: {machine.failure!r}")
        for writer in machine.deliveries.writers.values():
            self._expect(writer.queued_bytes == 0, "bytes are counted that are gone")
        self._check_traffic()
        sent_batches = {}
        for batch, values in self.given:
            start = 0
            for leaf in batch.leaves():
                part = values[start : start + leaf.count]
                start += leaf.count
                sent_batches.setdefault((leaf.topic, leaf.partition), []).append(
                    (leaf, part)
                )
            self._expect(start == len(values), "a batch lost records when it was split")
        background = [
            leaf.receipt
            for batch, _ in self.given
            for leaf in batch.leaves()
            if leaf.is_background and leaf.receipt
        ]
        self._expect(sorted(background) == sorted(self.receipts), "receipts are wrong")
        for name, topic in self.cluster.topics.items():
            for index, log in enumerate(topic.logs):
                self._check_log((name, index), log, sent_batches.get((name, index), []))

    def _check_log(self, topic_partition, log, sent_batches):
        values_by_offset = {}
        for batch in log.batches:
            values_by_offset.update(batch.values)
        counts = Counter(values_by_offset.values())
        sent_values = {value for _, values in sent_batches for value in values}
        self._expect(
            counts.keys() <= sent_values,
            f"{topic_partition}: records that were not given",
        )
        is_patient = self.machine.options.delivery_timeout_s > 2 * FAULTS_S
        for leaf, values in sent_batches:
            self._expect(leaf.is_over, f"{topic_partition}: a batch is not over")
            reason = getattr(leaf.failure, "reason", "")
            is_late = is_patient and "no acknowledgement" in reason
            self._expect(not is_late, f"{topic_partition}: never delivered: {reason}")
            if leaf.receipt is not None:
                has_create_time = leaf.receipt.timestamp == -1
                self._expect(
                    has_create_time, f"{topic_partition}: the topic keeps timestamps"
                )
                for n, value in enumerate(values):
                    self._expect(
                        counts[value], f"{topic_partition}: {value!r} is not in the log"
                    )
                    if leaf.receipt.base_offset >= 0:
                        stored_value = values_by_offset.get(
                            leaf.receipt.base_offset + n
                        )
                        self._expect(
                            stored_value == value,
                            f"{topic_partition}: {value!r} is elsewhere",
                        )
            elif getattr(leaf.failure, "is_in_doubt", False) is False:
                lost = not any(counts[value] for value in values)
                self._expect(
                    lost, f"{topic_partition}: {values[0]!r} failed, and is in the log"
                )
        if not self.is_idempotent:
            return
        twice = [value for value, count in counts.items() if count > 1]
        self._expect(not twice, f"{topic_partition}: {twice[:3]} are there twice")
        numbers = {}
        for offset in sorted(values_by_offset):
            _, number, key = values_by_offset[offset].split(b"-")
            numbers.setdefault(key, []).append(int(number))
        for key, key_numbers in numbers.items():
            in_order = all(a < b for a, b in pairwise(key_numbers))
            self._expect(
                in_order, f"{topic_partition}: {key!r} is out of order: {key_numbers}"
            )


def run_produce_seed(kwire, seed):
    """Run one seed, and return its scenario."""
    return ProduceScenario(kwire, seed).run_seed()
