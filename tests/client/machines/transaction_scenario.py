# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run transactional producers under a seed's faults, and check the logs.

Several producers use one transactional id, one after another. Some producers are closed
during a transaction, and others continue as zombies when a newer producer has started.
For a read_committed consumer, every transaction is atomic, including its offsets, and
has the result that its producer reported. Every record exists once and in order. At the
end, no transaction is open. ``run_transaction_seed`` raises ``AssertionError`` with the
seed.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from tests.client.machines.coordinator_answers import GROUP, TRANSACTION
from tests.client.machines.produce_scenario import FAULTS_S, LONGEST_S, ProduceScenario
from tests.client.machines.world import START_S

FIRST_PROTOCOL = ("2.3", "2.8", "3.3", "3.6", "3.9", "4.1")
SECOND_PROTOCOL = ("4.0", "4.1")
NAME, READERS = "etl", "readers"
AFTERWARDS_S = 70.0
"""Waiting time in seconds after which every open transaction has timed out."""

COMMITTED, ABORTED, IN_DOUBT = "committed", "aborted", "in doubt"


class Report:
    """Transaction of one producer: its records and offsets, and the reported result."""

    def __init__(self, machine, number):
        """Start without records."""
        self.machine = machine
        self.number = number
        self.batches = []
        self.values: list[bytes] = []
        self.has_offsets = False
        self.is_commit = False
        self.is_fenced = False
        self.outcome = None


class Together:
    """Several machines that run as one machine."""

    def __init__(self, machines):
        """Run the machines in a list, which may change."""
        self.machines = machines
        self.cluster = self

    @property
    def wake_at(self):
        """Earliest ``wake_at`` of the machines."""
        return min(machine.wake_at for machine in self.machines)

    def advance(self, now):
        """Advance all machines."""
        for machine in self.machines:
            machine.advance(now)

    def check_invariants(self):
        """Check every machine's invariants."""
        for machine in self.machines:
            machine.check_invariants()

    def take_new_links(self):
        """Return every machine's new links."""
        return [
            link
            for machine in self.machines
            for link in machine.cluster.take_new_links()
        ]


class TransactionScenario(ProduceScenario):
    """Cluster, faults and transactional producers that are drawn from one seed."""

    def __init__(self, kwire, seed):
        """Draw the cluster and the first producer from the seed."""
        self.machines = []
        super().__init__(kwire, seed)
        self.together = Together(self.machines)
        self.reports: list[Report] = []
        self.zombies: list[Report] = []
        self.failures = []

    def run(self):
        """Run transactions under faults, then check the logs."""
        self._plan_faults()
        world, random = self.world, self.random
        while world.now < START_S + FAULTS_S:
            self._transact(self._is_disturbed())
            for report in list(self.zombies):
                if random.random() < 0.3:
                    self._end_zombie(report)
        for report in list(self.zombies):
            self._end_zombie(report)
        # Without faults, a transaction succeeds. It may need a new producer first.
        for _ in range(5):
            last = self._transact("")
            if last is not None and last.outcome == COMMITTED:
                break
        else:
            self._expect(False, f"nothing is committed: {self.failures[-1:]}")
        world.run(self.together, lambda: False, world.now + AFTERWARDS_S)
        self._check()
        return self

    def _draw_releases(self):
        self.is_second = self.random.random() < 0.5
        return SECOND_PROTOCOL if self.is_second else FIRST_PROTOCOL

    def _machine(self):
        random, module, cluster = self.random, self.module, self.cluster
        if not self.machines:
            cluster.transaction_version = 2 if self.is_second else random.choice([0, 1])
            cluster.last_epoch = random.choice([2, 32766, 32766])
            for broker in cluster.brokers.values():
                broker.become(broker.release)
            self.timeout_s = random.choice([2.0, 60.0, 60.0])
            self.is_idempotent = True
        options = module.ProducerOptions(
            compression=random.choice(["none", "gzip"]),
            linger_s=random.choice([0.0, 0.01, 0.5]),
            max_batch_bytes=random.choice([150, 1000, 10_000]),
            max_request_bytes=random.choice([500, 1 << 20]),
            max_in_flight=random.choice([1, 5, 5]),
            delivery_timeout_s=random.choice([3.0, 300.0, 300.0]),
            transactional_id=NAME,
            transaction_timeout_s=self.timeout_s,
        )
        machine = module.ProducerMachine(
            [("sim", 9000 + node) for node in cluster.brokers],
            module.ClusterSettings(request_timeout_s=3.0, connect_timeout_s=2.0),
            options,
            now=self.world.now,
            random=random,
        )
        self.machines.append(machine)
        return machine

    def _watch(self):
        """Override the base class. Single batches are not checked in transactions."""

    def _is_disturbed(self):
        """Return a random disturbance for the next transaction, or an empty string."""
        number = self.random.random()
        if number < 0.06:
            return "closed within"
        if number < 0.12:
            return "closed at the end"
        return "left alone" if number < 0.2 else ""

    def _run(self, is_over, phase):
        machine = self.machine
        is_finished = lambda: machine.failure is not None or is_over()  # noqa: E731
        until = self.world.now + LONGEST_S
        self._expect(
            self.world.run(self.together, is_finished, until), f"no end of {phase}"
        )

    def _replace(self, is_left=False):
        """Create a new producer with the same transactional id.

        The old producer is closed, or continues as a zombie.
        """
        failure = self.machine.failure
        if failure is not None:
            self.failures.append(failure)
            self._expect("300 s" not in str(failure), f"it took for ever: {failure}")
        if not is_left:
            self._close(self.machine)
        self.machine = self._machine()

    def _close(self, machine):
        machine.close(self.world.now)
        self._expect(
            machine.deliveries.held_bytes == 0,
            f"{machine.deliveries.held_bytes} bytes are held",
        )
        self.machines.remove(machine)

    def _transact(self, disturbance):
        """Run one transaction, and return its ``Report``.

        Return None if the producer had failed before. It is replaced.
        """
        random, world, machine = self.random, self.world, self.machine
        transactions = machine.transactions
        self._run(lambda: transactions.is_settled, "the beginning")
        for name in self.names:
            machine.want_topic(name, world.now)
        self._run(lambda: all(map(machine.is_settled, self.names)), "metadata")
        if machine.failure is not None:
            self._replace()
            world.run(self.together, lambda: False, world.now + 0.3)
            return None
        machine.begin_transaction()
        # From now on, earlier producers are fenced and cannot commit.
        for zombie in self.zombies:
            zombie.is_fenced = True
        report = Report(machine, len(self.reports))
        self.reports.append(report)
        for _ in range(random.randint(0, 3)):
            self._give(report)
            pause = random.choice([0.0, 0.0, 0.05, 0.5])
            world.run(self.together, lambda: False, world.now + pause)
        report.outcome = ABORTED
        if disturbance == "closed within":
            self._replace()
            return report
        if disturbance == "left alone":
            self.zombies.append(report)
            self._replace(is_left=True)
            return report
        report.is_commit = random.random() < 0.75 or not disturbance
        machine.end_transaction(report.is_commit, world.now)
        if disturbance == "closed at the end":
            report.outcome = IN_DOUBT if report.is_commit else ABORTED
            pause = random.choice([0.0, 0.02, 0.05, 0.2])
            world.run(self.together, lambda: False, world.now + pause)
            self._replace()
            return report
        self._run(lambda: transactions.is_over, "the end")
        self._note_outcome(report)
        if machine.failure is not None:
            self._replace()
        return report

    def _end_zombie(self, report):
        """Let a zombie producer commit its transaction, and close the producer.

        If a newer producer has fenced it, the commit must not succeed.
        """
        machine = report.machine
        self.zombies.remove(report)
        is_late = report.is_fenced
        if machine.failure is None:
            self._give(report)
            report.is_commit = True
            machine.end_transaction(True, self.world.now)
        is_finished = lambda: machine.failure or machine.transactions.is_over  # noqa: E731
        until = self.world.now + LONGEST_S
        self._expect(
            self.world.run(self.together, is_finished, until), "no end of a zombie"
        )
        self._note_outcome(report)
        is_nothing = not report.values and not report.has_offsets
        self._expect(
            not is_late or is_nothing or report.outcome == ABORTED,
            f"a fenced producer has {report.outcome} a transaction",
        )
        self._close(machine)

    def _note_outcome(self, report):
        machine = report.machine
        failure = machine.failure or machine.transactions.result
        if failure is None:
            report.outcome = COMMITTED if report.is_commit else ABORTED
        elif getattr(failure, "is_in_doubt", False) and report.is_commit:
            report.outcome = IN_DOUBT
        else:
            report.outcome = ABORTED
        self._expect(
            not isinstance(failure, self.module.RequestRefused), f"it failed: {failure}"
        )

    def _give(self, report):
        """Add records or offsets to a transaction, unless the machine rejects them."""
        random, machine, now = self.random, report.machine, self.world.now
        if not machine.transactions.takes_records or machine.failure is not None:
            return
        if random.random() < 0.3 and not report.has_offsets:
            member = self.module.GroupMetadata(READERS, "", -1, None)
            offsets = {
                ("in", 0): report.number,
                ("in", 1 + report.number): report.number,
            }
            machine.add_offsets(member, offsets, now)
            report.has_offsets = True
        topic = machine.topic(random.choice(self.names))
        rows = [self._row() for _ in range(random.randint(1, 20))]
        report.values += [value for _, value in rows]
        if random.random() < 0.5:
            for key, value in rows:
                chosen = None
                if key is not None:
                    chosen = self.module.choose_by_key(machine, topic, key)
                machine.send(topic, chosen, (key, value, 5, ()), now)
        else:
            sender = self.module.RecordBatcher(machine, topic)
            sender.add(rows, 5, now)
            sender.finish(now)

    def _plan_faults(self):
        super()._plan_faults()
        codes = self.kwire.error_codes
        self._errors.append((codes.TRANSACTION_ABORTABLE, False))
        self._coordinator_errors = [
            codes.COORDINATOR_NOT_AVAILABLE,
            codes.NOT_COORDINATOR,
            codes.CONCURRENT_TRANSACTIONS,
            codes.REQUEST_TIMED_OUT,
        ]
        kinds = [self._move_coordinator, self._move_coordinator, self._refuse]
        kinds.append(self._move_in_turns)
        if self.is_second:
            kinds.append(self._agree)
            self.cluster.transaction_version = self.random.choice([1, 2, 2, 2])
            for broker in self.cluster.brokers.values():
                broker.become(broker.release)
        self._plan(kinds)

    def _move_coordinator(self):
        """Move a coordinator to another broker. Some brokers learn it later."""
        coordinator_key = self.random.choice([(GROUP, READERS), (TRANSACTION, NAME)])
        self.cluster.coordinators[coordinator_key] = self._any_broker().node
        for _ in range(2):
            self._any_broker().learn()

    def _refuse(self):
        code = self.random.choice(self._coordinator_errors)
        self._any_broker().transaction_error = code

    def _agree(self):
        """Finalize the second transaction protocol. Only new connections learn it."""
        self.cluster.transaction_version = 2
        for broker in self.cluster.brokers.values():
            broker.become(broker.release)
        self.world.break_wires(self._any_broker().node)

    def _heal(self):
        super()._heal()
        for broker in self.cluster.brokers.values():
            broker.transaction_error = None

    # Check the logs.

    def _check(self):
        machine = self.machine
        self._expect(machine.failure is None, f"it failed: {machine.failure!r}")
        # Several producers use the transactional id at the same time.
        self._check_traffic(clients=len(self.reports) + 1)
        counts, numbers = Counter(), {}
        for name, topic in self.cluster.topics.items():
            for index, log in enumerate(topic.logs):
                topic_partition = f"{name}-{index}"
                self._expect(
                    not log.open, f"{topic_partition}: a transaction is left open"
                )
                values_by_offset = log.readable(0, log.end, committed=True)
                counts.update(values_by_offset.values())
                for offset in sorted(values_by_offset):
                    _, number, key = values_by_offset[offset].split(b"-")
                    numbers.setdefault((topic_partition, key), []).append(int(number))
        for topic_partition, key_numbers in numbers.items():
            in_order = all(a < b for a, b in pairwise(key_numbers))
            self._expect(in_order, f"{topic_partition} is out of order: {key_numbers}")
        offsets = self.cluster.offsets.get(READERS, {})
        twice = [value for value, count in counts.items() if count > 1]
        self._expect(not twice, f"{twice[:3]} are there twice")
        for report in self.reports:
            visibility = {bool(counts.pop(value, 0)) for value in report.values}
            if report.has_offsets:
                visibility.add(("in", 1 + report.number) in offsets)
            description = f"transaction {report.number}, which is {report.outcome}"
            self._expect(len(visibility) < 2, f"{description}, is there in part")
            is_there = {COMMITTED: {True}, ABORTED: {False}}.get(
                report.outcome, visibility
            )
            self._expect(
                visibility <= is_there, f"{description}, is there: {visibility}"
            )
        self._expect(not counts, f"records that were not given: {list(counts)[:3]}")


def run_transaction_seed(kwire, seed):
    """Run one seed, and return its scenario."""
    return TransactionScenario(kwire, seed).run_seed()
