# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios under faults in which old brokers are upgraded.

A scan, a producer and a consumer with committed offsets run in a cluster with three
consecutive releases. The faults are the same as in the scenarios for newer releases.
``JoiningScenario`` must end with the error that names the release.
"""

from __future__ import annotations

from kwire.schema import releases
from tests.client.machines.faulty_cluster import FaultyCluster
from tests.client.machines.group_answers import GROUP
from tests.client.machines.produce_scenario import ProduceScenario
from tests.client.machines.scan_scenario import Scenario
from tests.client.machines.world import START_S

NAMES = releases.NAMES
WITH_API_VERSIONS = NAMES[NAMES.index("0.10.0") :]
WITH_RECORD_BATCHES = NAMES[NAMES.index("0.11.0") :]
OLD = NAMES[: NAMES.index("2.3")]
"""Releases that are too old for all other scenarios."""

FAULTS_S = 12.0
LONGEST_S = 200.0
GROUP_NAME = "etl"


def magic_of(release):
    """Return the newest magic that a release can store."""
    if release in WITH_RECORD_BATCHES:
        return 2
    return 1 if release in WITH_API_VERSIONS else 0


class OldReleases:
    """Scenario mixin that chooses three consecutive releases."""

    def __init__(self, kwire, seed, release):
        """Choose the releases, before the scenario draws its brokers from them."""
        first = NAMES.index(release)
        self.window = NAMES[first : first + 3]
        self.fallback = None if release in WITH_API_VERSIONS else release
        super().__init__(kwire, seed)

    def _draw_releases(self):
        return self.window


class OldScan(OldReleases, Scenario):
    """Scan whose topics are stored in the oldest release's format."""

    WITHOUT_IDS = NAMES

    def _prepare_log(self, log):
        log.magic = magic_of(self.window[0])
        for _ in range(self.random.randrange(0, 40)):
            log.append(self.random.randint(1, 4))


class OldProducer(OldReleases, ProduceScenario):
    """Producer that is idempotent if all releases support it."""

    def _machine(self):
        self.is_idempotent &= self.window[0] in WITH_RECORD_BATCHES
        return super()._machine()


class GroupScenario(OldReleases, FaultyCluster):
    """Group with its topics and a consumer."""

    def __init__(self, kwire, seed, release):
        """Create the group and its coordinator."""
        super().__init__(kwire, seed, release)
        self.group = self.cluster.add_group(GROUP_NAME, self.names)
        self.cluster.coordinator(GROUP, GROUP_NAME)
        for broker in self.cluster.brokers.values():
            broker.clock = lambda: self.world.now
            broker.learn()
        self._plan_faults()

    def _prepare_log(self, log):
        log.magic = magic_of(self.window[0])
        for _ in range(self.random.randrange(0, 30)):
            log.append(self.random.randint(1, 4))

    def _consumer(self, **group):
        module, random = self.module, self.random
        partitions = {
            name: tuple(range(len(topic.logs)))
            for name, topic in self.cluster.topics.items()
        }
        options = module.ScanOptions(
            topics=tuple(self.names),
            follow=True,
            partitions=None if group.get("joins", True) else partitions,
            fetch_bytes=random.choice([200, 1000, 1 << 20]),
        )
        settings = module.ClusterSettings(
            request_timeout_s=3.0, connect_timeout_s=2.0, fallback=self.fallback
        )
        return module.ConsumerMachine(
            [("sim", 9000 + node) for node in self.cluster.brokers],
            settings,
            options,
            module.GroupOptions(GROUP_NAME, **group),
            now=self.world.now,
            random=random,
        )

    def _plan_faults(self):
        random = self.random
        kinds = [
            self._move_leader,
            self._move_coordinator,
            self._break_wire,
            self._stop_broker,
            self._learn,
            self._throttle,
            self._upgrade,
            self._load,
            self._move_in_turns,
        ]
        for _ in range(random.randrange(0, 25)):
            fault_at = START_S + random.uniform(0.3, FAULTS_S)
            self.world.at(fault_at, random.choice(kinds))
        self.world.at(START_S + FAULTS_S, self._heal)

    def _move_leader(self):
        topic, index, log = self._any_log()
        topic.leaders[index] = self._any_broker().node
        log.new_leader()
        self._announce(topic.leaders[index])

    def _move_coordinator(self):
        node = self._any_broker().node
        self.cluster.coordinators[GROUP, GROUP_NAME] = node
        self._announce(node)

    def _load(self):
        pause = self.random.uniform(0, 2)
        self._any_broker().loads_until = self.world.now + pause

    def _heal(self):
        self.cluster.moving_until = 0.0
        for broker in self.cluster.brokers.values():
            broker.is_up = True
            broker.throttle_ms = 0
        for broker in self.cluster.brokers.values():
            broker.learn()

    def _was_unreachable(self, machine):
        """Return whether no connection was successful, which every client reports."""
        return not machine.cluster.version


class JoiningScenario(GroupScenario):
    """Consumer that tries to join a group, which old releases do not support."""

    def run(self):
        """Wait until the consumer fails, and return the error that names the release.

        Return None if no broker was reachable, which is another error.
        """
        machine, world = self._consumer(), self.world
        machine.begin_wait(world.now)
        is_over = lambda: machine.failure is not None  # noqa: E731
        is_over = world.run(machine, is_over, START_S + LONGEST_S)
        self._expect(is_over, "the consumer waits for a group that it cannot join")
        self._expect(machine.take() is None, "records without membership")
        machine.close(world.now)
        is_typed = isinstance(machine.failure, self.module.FeatureUnsupported)
        is_explained = is_typed or self._was_unreachable(machine)
        self._expect(is_explained, f"it failed: {machine.failure!r}")
        return machine.failure if is_typed else None


class CommittingScenario(GroupScenario):
    """Consecutive consumers, which start from the committed offsets."""

    def __init__(self, kwire, seed, release):
        """Start without records."""
        super().__init__(kwire, seed, release)
        self.seen = {}
        self.committed = {}
        """Last offset by partition that a commit has confirmed."""
        self.sent = {}
        """Highest offset by partition that a commit has sent."""
        self.consumers = 0

    def run(self):
        """Read and commit all records with one consumer after another.

        Return None, or the failure of a consumer if ``_judge`` expects it.
        """
        failure = None
        while failure is None and not self._is_committed():
            self.consumers += 1
            failure = self._read(self._consumer(joins=False))
        if failure is None:
            for topic_partition, log in self._logs():
                truth = log.readable(log.start, log.end, False)
                self._expect(
                    self.seen.get(topic_partition, {}) == truth,
                    f"{topic_partition}: not all",
                )
        self._check_traffic(self.consumers)
        return failure

    def _read(self, machine):
        """Read until all records are read, and commit some of the positions.

        The consumer may stop early during the faults, so that another consumer
        continues. Return None, or the failure if ``_judge`` expects it.
        """
        world, random = self.world, self.random
        until = START_S + LONGEST_S
        positions = {}
        while any(
            positions.get(topic_partition, self._stored(topic_partition)) != log.end
            for topic_partition, log in self._logs()
        ):
            machine.begin_wait(world.now)
            has_result = world.run(machine, machine.has_result, until)
            machine.end_wait(world.now)
            if machine.failure is not None:
                return self._judge(machine)
            self._expect(has_result, "the consumer came to no end")
            self._take(machine.take(), positions, machine)
            world.run(machine, lambda: False, world.now + random.uniform(0, 1))
            if random.random() < 0.5 and not self._commit(machine, positions):
                return self._judge(machine)
            if world.now < START_S + FAULTS_S and random.random() < 0.2:
                machine.close(world.now)
                return None
        if not self._commit(machine, positions):
            return self._judge(machine)
        machine.close(world.now)
        return None

    def _take(self, fetched, positions, machine):
        topic_partition = fetched.topic, fetched.partition
        start = fetched.start_offset
        if topic_partition in positions:
            self._expect(
                start == positions[topic_partition], f"{topic_partition}: not in order"
            )
        else:
            # A commit without a response may have been stored.
            low, high = (
                self.committed.get(topic_partition, 0),
                self.sent.get(topic_partition, 0),
            )
            self._expect(
                low <= start <= high, f"{topic_partition}: {start}, committed {low}"
            )
        rows, _ = self.kwire.records.decode_records(fetched.data, start_offset=start)
        seen_values = self.seen.setdefault(topic_partition, {})
        seen_values.update((row.offset, row.value) for row in rows)
        positions[topic_partition] = fetched.next_offset
        machine.release(fetched)

    def _commit(self, machine, positions):
        """Commit all positions, and return whether the commit succeeded."""
        self.sent.update(positions)
        pending = machine.commit(self.world.now)
        is_over = lambda: pending.is_over or machine.failure  # noqa: E731
        is_over = self.world.run(machine, is_over, START_S + LONGEST_S)
        self._expect(is_over, "a commit came to no end")
        if pending.failure is not None or machine.failure is not None:
            machine.failure = machine.failure or pending.failure
            return False
        for topic_partition in positions:
            is_stored = self._stored(topic_partition) == positions[topic_partition]
            self._expect(
                is_stored,
                f"{topic_partition}: {self._stored(topic_partition)} is stored",
            )
        self.committed.update(positions)
        return True

    def _judge(self, machine):
        """Return the failure of a consumer, or raise an error if it is not expected.

        A failure is expected if no broker was reachable, or if the oldest release is
        0.8.0 or 0.8.1, because brokers store committed offsets from 0.8.2 on.
        """
        if self._was_unreachable(machine):
            return machine.failure
        is_explained = isinstance(machine.failure, self.module.FeatureUnsupported)
        is_explained &= self.window[0] in ("0.8.0", "0.8.1")
        self._expect(is_explained, f"it failed: {machine.failure!r}")
        return machine.failure

    def _logs(self):
        return [
            ((name, index), log)
            for name, topic in self.cluster.topics.items()
            for index, log in enumerate(topic.logs)
            if log.end
        ]

    def _stored(self, topic_partition):
        """Return the committed offset in the coordinator, or 0 if there is none."""
        stored_place = (
            self.cluster.topics[topic_partition[0]].topic_id,
            topic_partition[1],
        )
        return self.group.offsets.get(stored_place, (0, -1))[0]

    def _is_committed(self):
        return all(
            self._stored(topic_partition) == log.end
            for topic_partition, log in self._logs()
        )
