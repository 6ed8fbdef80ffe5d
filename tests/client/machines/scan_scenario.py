# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run a scan under the faults that a seed determines, and check the result.

The faults end after ``FAULTS_S``. From then on the cluster works, and a bounded scan
must reach its end. ``run_seed`` raises ``AssertionError`` with the seed and the
problem.
"""

from __future__ import annotations

from itertools import pairwise

from tests.client.machines.faulty_cluster import FaultyCluster
from tests.client.machines.partition_log import ABORT, COMMIT
from tests.client.machines.world import START_S

FAULTS_S = 12.0
LONGEST_S = 200.0
SLACK = 1 << 11
"""Bytes by which batches may exceed the remaining memory budget."""
WITHOUT_IDS = ("2.3", "2.6")
RELEASES = (*WITHOUT_IDS, "2.8", "3.3", "3.6", "3.9", "4.1")


class Scenario(FaultyCluster):
    """Cluster, faults and scan that are drawn from one seed."""

    LONGEST_STOP_S = 5.0

    def __init__(self, kwire, seed):
        """Draw the cluster and the scan options from the seed."""
        super().__init__(kwire, seed)
        random = self.random
        self.committed = random.random() < 0.5
        self.follow = random.random() < 0.2
        self.policy = random.choice(["raise", "earliest", "latest"])
        self.machine = self._machine()
        self.seen: dict[tuple[str, int], list[tuple[int, bytes]]] = {}
        self.most_held = 0
        self.recreated = False
        self.was_without_ids = False
        self._note_releases()
        self.was_cut = False
        self.was_deleted = False

    def run(self):
        """Run the scan under faults, then check its result."""
        self._plan_faults()
        machine, world = self.machine, self.world
        until = START_S + LONGEST_S
        if self.follow:
            until = START_S + FAULTS_S + 30
        while world.run(machine, machine.has_result, until):
            fetched = machine.take()
            if fetched is None:
                break
            self._read(fetched)
            if self.random.random() < 0.05:
                # The caller keeps the chunk for some time before it releases the chunk.
                pause = self.random.uniform(0, 3)
                world.run(machine, lambda: False, world.now + pause)
            machine.release(fetched)
        else:
            self._expect(self.follow, "the scan came to no end")
        self._check()
        machine.close(world.now)

    def _draw_releases(self):
        return RELEASES

    def _prepare_log(self, log):
        self._fill(log, self.random.randrange(0, 40))

    def _note_releases(self):
        self.was_without_ids |= any(
            broker.release in WITHOUT_IDS for broker in self.cluster.brokers.values()
        )

    def _fill(self, log, batches):
        random = self.random
        for _ in range(batches):
            choice = random.random()
            if choice < 0.6 or len(log.open) > 1:
                log.append(random.randint(1, 4))
            elif choice < 0.8:
                log.append(random.randint(1, 3), producer_id=random.choice([7, 8]))
            for producer_id in list(log.open):
                if random.random() < 0.5:
                    log.end_transaction(producer_id, random.choice([ABORT, COMMIT]))
        if random.random() < 0.8:
            for producer_id in list(log.open):
                log.end_transaction(producer_id, random.choice([ABORT, COMMIT]))
        if random.random() < 0.3:
            log.compact()
        if random.random() < 0.2 and log.end:
            log.delete_before(random.randrange(log.end))

    def _machine(self):
        random, module = self.random, self.module
        bootstrap = [("sim", 9000 + node) for node in self.cluster.brokers]
        options = module.ScanOptions(
            topics=tuple(self.names),
            follow=self.follow,
            read_committed=self.committed,
            memory_bytes=random.choice([2000, 20_000, 1 << 20]),
            fetch_bytes=random.choice([200, 1000, 1 << 20]),
            on_data_loss=self.policy,
        )
        settings = module.ClusterSettings(
            request_timeout_s=5.0, connect_timeout_s=3.0, fallback=self.fallback
        )
        return module.ScanMachine(
            bootstrap, settings, options, now=START_S, random=self.random
        )

    # Faults.

    def _plan_faults(self):
        random = self.random
        kinds = [
            self._move_leader,
            self._move_leader,
            self._break_wire,
            self._stop_broker,
            self._silence,
            self._append,
            self._append,
            self._learn,
            self._learn,
            self._throttle,
            self._upgrade,
            self._compact,
            self._forget_sessions,
            self._move_in_turns,
        ]
        if random.random() < 0.3:
            kinds += [self._cut, self._delete, self._recreate, self._add_partition]
        for _ in range(random.randrange(0, 25)):
            # Inject no fault during the first 0.3 s, because a client fails if it
            # cannot connect to any broker at its start.
            fault_at = START_S + random.uniform(0.3, FAULTS_S)
            self.world.at(fault_at, random.choice(kinds))
        self.world.at(START_S + FAULTS_S, self._heal)

    def _move_leader(self):
        topic, index, log = self._any_log()
        topic.leaders[index] = self._any_broker().node
        log.new_leader()
        if self.random.random() < 0.3:
            self._hide(log)
        self._announce(topic.leaders[index])

    def _hide(self, log):
        """Hide 1 to 8 records at the log end from readers for 0.1 to 4 s.

        A new leader does not know yet that these records are replicated.
        """
        log.unseen = self.random.randint(1, 8)

        def show():
            log.unseen = 0

        self.world.after(self.random.uniform(0.1, 4), show)

    def _cut(self):
        topic, index, log = self._any_log()
        topic.leaders[index] = self._any_broker().node
        before = log.end
        log.new_leader(cut=self.random.randint(1, 6))
        self.was_cut |= log.end < before
        self._append_to(log)

    def _silence(self):
        node = self._any_broker().node
        self.cluster.brokers[node].is_silent = True
        pause = self.random.choice([0.3, 4, 12])
        self.world.after(pause, lambda: self.world.wake_broker(node))

    def _append(self):
        self._append_to(self._any_log()[2])

    def _append_to(self, log):
        for _ in range(self.random.randint(1, 5)):
            log.append(self.random.randint(1, 3))

    def _upgrade(self):
        super()._upgrade()
        self._note_releases()

    def _compact(self):
        self._any_log()[2].compact()

    def _forget_sessions(self):
        self._any_broker().sessions.clear()

    def _delete(self):
        log = self._any_log()[2]
        log.delete_before(log.start + self.random.randint(1, 20))
        self.was_deleted = True

    def _recreate(self):
        name = self.random.choice(self.names)
        old = self.cluster.topics[name]
        topic = self.cluster.add_topic(name, len(old.logs))
        for log in topic.logs:
            self._fill(log, self.random.randrange(0, 20))
        self.recreated = True

    def _add_partition(self):
        topic, _, log = self._any_log()
        new = type(log)(self.kwire, f"{topic.name}-new-{len(topic.logs)}", self.random)
        self._fill(new, 5)
        topic.logs.append(new)
        topic.leaders.append(self._any_broker().node)

    def _heal(self):
        self.cluster.moving_until = 0.0
        for broker in self.cluster.brokers.values():
            broker.is_up = True
            broker.throttle_ms = 0
            self.world.wake_broker(broker.node)
        for broker in self.cluster.brokers.values():
            broker.learn()
        for topic in self.cluster.topics.values():
            for log in topic.logs:
                for producer_id in list(log.open):
                    log.end_transaction(producer_id, COMMIT)

    # Check the returned records.

    def _read(self, fetched):
        self.most_held = max(self.most_held, self.machine.cluster.frame_budget.held)
        rows, next_offset = self.kwire.records.decode_records(
            fetched.data,
            start_offset=fetched.start_offset,
            end_offset=fetched.end_offset,
            aborted_transactions=fetched.aborted_transactions or (),
        )
        if fetched.end_offset is not None:
            next_offset = min(next_offset, fetched.end_offset)
        self._expect(next_offset == fetched.next_offset, "the next offset is wrong")
        topic_partition = (fetched.topic, fetched.partition)
        seen_records = self.seen.setdefault(topic_partition, [])
        seen_records += [(row.offset, row.value) for row in rows]

    def _check(self):
        machine, failure = self.machine, self.machine.failure
        losses = list(machine.losses)
        if failure is not None:
            if not machine.cluster.version:
                # No connection has received a response yet, so that the scan fails
                # immediately.
                return
            is_loss = isinstance(failure, self.module.DataLost)
            self._expect(is_loss, f"the scan failed: {failure}")
            losses.append(failure)
        lost = {(loss.topic, loss.partition) for loss in losses}
        if lost:
            had_cause = self.was_cut or self.was_deleted or self.recreated
            self._expect(had_cause, f"a loss without a cause: {losses}")
        budget = machine.options.memory_bytes
        self._expect(self.most_held <= budget + SLACK, f"held {self.most_held} bytes")
        self._check_traffic()
        for name, topic in self.cluster.topics.items():
            for index, log in enumerate(topic.logs):
                topic_partition = (name, index)
                if topic_partition not in lost and not self.recreated:
                    self._check_partition(topic_partition, log, failure)
                elif self.recreated and failure is None:
                    self._check_created_again(topic_partition, topic, log)

    def _check_partition(self, topic_partition, log, failure):
        seen_records = self.seen.get(topic_partition, [])
        offsets = [offset for offset, _ in seen_records]
        self._expect(
            all(a < b for a, b in pairwise(offsets)),
            f"{topic_partition}: not each record once and in order: {offsets}",
        )
        for offset, value in seen_records:
            possible_values = log.ever.get(offset, set())
            self._expect(
                value in possible_values,
                f"{topic_partition}: {value!r} was never at {offset}",
            )
        if self.committed:
            for batch in log.batches:
                for offset in batch.values:
                    self._expect(
                        (offset, batch.values[offset]) not in seen_records
                        or not log.is_aborted(batch.producer_id, offset),
                        f"{topic_partition}: aborted record {offset}",
                    )
        reader = self.machine.fetcher.readers.get(topic_partition)
        if failure is not None or reader is None:
            return
        end = log.end if reader.end is None else reader.end
        if self.was_cut and any(cut < end for cut in log.cut):
            self._check_cut(topic_partition, log, seen_records)
            return
        missing = log.readable(log.start, end, self.committed).keys() - set(offsets)
        self._expect(
            not missing, f"{topic_partition}: records {sorted(missing)} are missing"
        )

    def _check_created_again(self, topic_partition, topic, log):
        """Check that the records of a recreated topic are read from its start.

        Only applies if the scan has detected the new topic id.
        """
        reader = self.machine.fetcher.readers.get(topic_partition)
        is_known = reader is not None and reader.topic_id == topic.topic_id
        if not is_known or self.policy != "earliest" or self.was_without_ids:
            return
        name = log.name.encode() + b"#"
        is_of_new_topic = [
            value.startswith(name) for _, value in self.seen.get(topic_partition, [])
        ]
        self._expect(
            is_of_new_topic == sorted(is_of_new_topic),
            f"{topic_partition}: records of the old topic",
        )
        if self.was_cut or self.was_deleted or self.follow:
            return
        offsets = [
            offset
            for offset, value in self.seen.get(topic_partition, [])
            if value.startswith(name)
        ]
        missing = log.readable(log.start, reader.end, self.committed).keys()
        missing -= set(offsets)
        self._expect(
            not missing, f"{topic_partition}: records {sorted(missing)} are missing"
        )

    def _check_cut(self, topic_partition, log, seen_records):
        """Check that a scan which continues after a truncation reports the loss.

        ``seen_records`` contains (offset, value) pairs in the order of the scan. If the
        log has lost one of them but still contains the last pair, the scan has
        continued.
        """
        stale = [log.last.get(offset) != value for offset, value in seen_records]
        read_on = seen_records and not stale[-1]
        self._expect(
            not (read_on and any(stale)),
            f"{topic_partition}: records were lost without a word",
        )


def run_seed(kwire, seed):
    """Run one seed, and return its ``Scenario``."""
    scenario = Scenario(kwire, seed)
    scenario.run_seed()
    return scenario
