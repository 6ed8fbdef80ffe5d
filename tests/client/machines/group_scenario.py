# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run a consumer group under the faults that a seed determines, and check the result.

The faults end after ``FAULTS_S``: coordinators move and crash, members stall, stop and
crash, and the assignment changes. From then on the cluster works, and the group must
read and commit all records. ``run_group_seed`` raises ``AssertionError`` with the seed
and the problem.
"""

from __future__ import annotations

import heapq
import importlib
import random as random_module

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.group_answers import GROUP
from tests.client.machines.group_coordinator import GroupError
from tests.client.machines.group_members import CLOSING, OVER, READING, SimulatedCaller
from tests.client.machines.traffic import MAX_IN_WINDOW
from tests.client.machines.world import START_S, World

FAULTS_S = 20.0
LONGEST_S = 120.0
RELEASES = ("4.0", "4.1", "4.3")
NEWEST = ("4.3",)
MAX_POLL_S = 8.0
SESSION_S = 6.0
GROUP_NAME = "etl"
MOST_HEARTBEATS = 8
"""Maximum average heartbeat count per second and member.

One per second is regular. Additional heartbeats are sent after changes.
"""


class Transaction:
    """Commit of offsets in the transaction of a producer, while it is in flight."""

    def __init__(self):
        """Start without a response from the coordinator."""
        self.is_over = self.is_refused = False
        self.failure = None
        self.done = {}


class Habits:
    """Random behavior of a caller after it has received a chunk."""

    def __init__(self, random, module):
        """Draw how often callers skip commits, stall, block, seek and pause."""
        self.random = random
        self.lost = module.PartitionLost
        self.skips = random.choice([0.0, 0.0, 0.3])
        self.commits_all = random.choice([0.0, 0.5, 1.0])
        self.stalls = random.choice([0.0, 0.0, 0.02])
        self.block = random.random() < 0.3
        self.copy = random.random() < 0.3
        """Whether callers only commit in transactions, for one or more chunks."""
        self.moves = random.choice([0.0, 0.0, 0.3])
        """Probability that the caller seeks or pauses a chunk's partition."""
        self.are_over = False

    def pause(self):
        """Return how long the caller processes a chunk, in seconds."""
        if not self.are_over and self.random.random() < self.stalls:
            return self.random.choice([MAX_POLL_S * 2, 1000.0])
        if not self.are_over and self.block and self.random.random() < 0.05:
            return SESSION_S + 1
        if self.random.random() < 0.1:
            return self.random.uniform(0, 2)
        return self.random.uniform(0, 0.05)

    def finish(self, caller, now):
        """Commit the chunk, pause its partition, or seek back to its start.

        Return the pending commit, or None.
        """
        if not self.are_over and self.random.random() < self.moves:
            if self.random.random() < 0.5:
                caller.pause()
            elif caller.seek_back():
                return None
        return self.commit(caller, now)

    def commit(self, caller, now):
        """Commit the chunk, commit all chunks, or skip the commit.

        Return the pending commit, or None.
        """
        if self.copy:
            return self._copy(caller)
        if not self.are_over and self.random.random() < self.skips:
            return None
        is_all = self.random.random() < self.commits_all
        try:
            return caller.machine.commit(now, None if is_all else caller.chunk)
        except self.lost:
            caller.watch.note_lost(caller)
            return None

    def _copy(self, caller):
        """Commit all chunks since the last transaction in a new transaction."""
        caller.copied.append(caller.chunk)
        if not self.are_over and self.random.random() < 0.4:
            return None
        chunks, caller.copied = caller.copied, []
        try:
            return caller.watch.send_transaction(caller, chunks)
        except self.lost:
            refused = Transaction()
            refused.is_over = refused.is_refused = True
            return refused


class GroupScenario:
    """Cluster, faults and group that are drawn from one seed."""

    def __init__(self, kwire, seed):
        """Draw the cluster and the caller behavior from the seed."""
        self.kwire = kwire
        self.seed = seed
        self.random = random = random_module.Random(seed)
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        count = random.choice([1, 2, 3])
        releases = random.choice([RELEASES, NEWEST])
        self.cluster = SimulatedCluster(kwire, random, count, releases)
        self.world = World(self.cluster, random)
        self.names = ["a", "b"][: random.choice([1, 1, 2])]
        self.created_again = False
        self.topics = {}
        """All topics by id, including deleted topics."""
        for name in self.names:
            topic = self._add_topic(name, random.choice([1, 2, 4]))
            for log in topic.logs:
                self._fill(log, random.randrange(0, 30))
        self.group = self.cluster.add_group(GROUP_NAME, self.names)
        self.group.check_commit = self._check_commit
        self.group.check_removal = self._check_removal
        self.cluster.coordinator(GROUP, GROUP_NAME)
        for broker in self.cluster.brokers.values():
            broker.clock = lambda: self.world.now
            broker.learn()
        self.by_name = random.random() < 0.8
        self.habits = Habits(random, self.module)
        self.callers: list[SimulatedCaller] = []
        self.settings = []
        """Settings per member, which contain its metrics."""
        self.done: dict[tuple, int] = {}
        """Offset by partition up to which callers have received all records."""
        self.acknowledged: dict[tuple, int] = {}
        self.chunks = self.commits = self.lost = self.again = 0
        self.copies = 0
        self.is_well = False

    def run(self):
        """Run the group under faults, then check the result."""
        self._join()
        self._plan_faults()
        self._move_until(lambda: self.is_well, START_S + FAULTS_S + 1)
        self._expect(self.is_well, "the faults did not end")
        is_done = self._move_until(self._is_all_committed, START_S + LONGEST_S)
        self._expect(is_done, f"not everything was read: {self._missing()}")
        self._check_rate()
        leaving = self._living()
        for member in leaving:
            member.is_stopped = False
            member.close()
        is_left = lambda: not self._living()  # noqa: E731
        is_done = self._move_until(is_left, self.world.now + 30)
        self._expect(is_done, "a member did not leave")
        self.group.expire(self.world.now)
        remaining_ids = {member.machine.metadata.member_id for member in leaving}
        remaining_ids &= {
            member.id for member in self.group.members.values() if not member.is_away
        }
        self._expect(not remaining_ids, f"the group still has {remaining_ids}")

    def _move_until(self, is_over, until):
        """Run all members until a time, as ``World.run`` does for one machine."""
        world = self.world
        while True:
            for caller in self.callers:
                if caller.seat.has_news or world.now >= caller.wake_at():
                    caller.step()
            if is_over():
                return True
            wake_at = min([until, *[member.wake_at() for member in self._living()]])
            queue = world._queue
            is_event = bool(queue) and queue[0][0] <= wake_at
            next_at = queue[0][0] if is_event else wake_at
            if next_at >= until:
                world.now = until
                return False
            world.now = max(world.now, next_at)
            if is_event:
                heapq.heappop(queue)[2]()

    def _living(self):
        return [caller for caller in self.callers if caller.state is not OVER]

    def _add_topic(self, name, partitions):
        topic = self.cluster.add_topic(name, partitions)
        self.topics[topic.topic_id] = topic
        return topic

    def _fill(self, log, batches):
        for _ in range(batches):
            log.append(self.random.randint(1, 4))

    def _join(self):
        """Create a consumer and its caller, and let the consumer join the group."""
        random, module = self.random, self.module
        pattern = None if self.by_name else "a|b"
        options = module.ScanOptions(
            topics=tuple(self.names) if self.by_name else (),
            pattern=None if self.by_name else __import__("re").compile("a|b"),
            follow=True,
            memory_bytes=random.choice([2000, 1 << 20]),
            fetch_bytes=random.choice([200, 1000, 1 << 20]),
        )
        number = len(self.callers)
        is_static = random.random() < 0.2
        group = module.GroupOptions(
            GROUP_NAME,
            pattern=pattern,
            group_instance_id=f"instance-{number}" if is_static else None,
            session_timeout_s=SESSION_S,
            max_poll_interval_s=MAX_POLL_S,
        )
        settings = module.ClusterSettings(request_timeout_s=3.0, connect_timeout_s=2.0)
        self.settings.append(settings)
        machine = module.ConsumerMachine(
            [("sim", 9000 + node) for node in self.cluster.brokers],
            settings,
            options,
            group,
            now=self.world.now,
            random=random,
        )
        caller = SimulatedCaller(self.world, machine, self, self.habits)
        self.callers.append(caller)

    # Faults.

    def _plan_faults(self):
        random = self.random
        kinds = [
            self._move_coordinator,
            self._move_coordinator,
            self._shuffle,
            self._join_late,
            self._join_late,
            self._kill,
            self._stop,
            self._leave,
            self._stop_broker,
            self._silence,
            self._break_wires,
            self._move_leader,
            self._append,
            self._append,
            self._learn,
            self._load,
            self._unsettle,
            self._add_partition,
            self._create_again,
            self._move_in_turns,
        ]
        for _ in range(random.randrange(0, 25)):
            fault_at = START_S + random.uniform(0.5, FAULTS_S)
            self.world.at(fault_at, random.choice(kinds))
        if random.random() < 0.2:
            for second in range(1, int(FAULTS_S)):
                self.world.at(START_S + second, self._shuffle)
        self.world.at(START_S + FAULTS_S, self._heal)

    def _move_in_turns(self):
        """Move leaders and coordinators on every request, for 0.5 to 6 s."""
        pause = self.random.uniform(0.5, 6)
        self.cluster.moving_until = self.world.now + pause

    def _any_broker(self):
        return self.random.choice(list(self.cluster.brokers.values()))

    def _any_caller(self):
        living = [caller for caller in self._living() if caller.state is not CLOSING]
        return self.random.choice(living) if living else None

    def _move_coordinator(self):
        broker = self._any_broker()
        self.cluster.coordinators[GROUP, GROUP_NAME] = broker.node
        broker.loads_until = self.world.now + self.random.choice([0, 0.2, 2])
        if self.random.random() < 0.7:
            broker.learn()

    def _load(self):
        self._any_broker().loads_until = self.world.now + self.random.uniform(0, 2)

    def _unsettle(self):
        self._any_broker().unstable = self.random.randint(1, 4)

    def _shuffle(self):
        self.group.shuffle()

    def _join_late(self):
        if len(self._living()) < 5:
            self._join()

    def _kill(self):
        caller = self._any_caller()
        if caller is not None:
            caller.die()

    def _leave(self):
        caller = self._any_caller()
        if caller is not None:
            caller.close()

    def _stop(self):
        """Suspend the process of a member for some time.

        When the process continues, the member may have lost its partitions.
        """
        caller = self._any_caller()
        if caller is None:
            return
        caller.is_stopped = True

        def go_on():
            caller.is_stopped = False
            caller.seat.has_news = True

        self.world.after(self.random.choice([0.5, 3, 10]), go_on)

    def _break(self, node):
        for caller in self.callers:
            for wire in caller.seat.wires:
                if wire.broker.node == node:
                    wire.break_off()

    def _break_wires(self):
        self._break(self._any_broker().node)

    def _stop_broker(self):
        broker = self._any_broker()
        broker.is_up = False
        self._break(broker.node)

        def start():
            broker.is_up = True
            broker.sessions.clear()
            broker.learn()

        self.world.after(self.random.uniform(0.1, 6), start)

    def _silence(self):
        node = self._any_broker().node
        self.cluster.brokers[node].is_silent = True
        pause = self.random.choice([0.3, 4, 9])
        self.world.after(pause, lambda: self._wake(node))

    def _wake(self, node):
        self.cluster.brokers[node].is_silent = False
        for caller in self.callers:
            for wire in caller.seat.wires:
                if wire.broker.node == node:
                    wire.read_on()

    def _move_leader(self):
        topic = self.random.choice(list(self.cluster.topics.values()))
        index = self.random.randrange(len(topic.logs))
        topic.leaders[index] = self._any_broker().node
        topic.logs[index].new_leader()
        self.cluster.brokers[topic.leaders[index]].learn()

    def _append(self):
        topic = self.random.choice(list(self.cluster.topics.values()))
        self._fill(self.random.choice(topic.logs), self.random.randint(1, 5))

    def _add_partition(self):
        topic = self.random.choice(list(self.cluster.topics.values()))
        old = topic.logs[0]
        new = type(old)(self.kwire, f"{topic.name}-new-{len(topic.logs)}", self.random)
        self._fill(new, 5)
        topic.logs.append(new)
        topic.leaders.append(self._any_broker().node)
        self.group.shuffle()

    def _create_again(self):
        """Delete a topic and create another topic with the same name."""
        if any(member.release < "4.3" for member in self.cluster.brokers.values()):
            # Before 4.3, offsets are committed by topic name. If the topic was deleted,
            # its offsets would therefore apply to the new topic.
            return
        self.created_again = True
        name = self.random.choice(self.names)
        count = len(self.cluster.topics[name].logs)
        for log in self._add_topic(name, count).logs:
            self._fill(log, 5)
        for broker in self.cluster.brokers.values():
            if self.random.random() < 0.5:
                broker.learn()
        self.group.shuffle()

    def _learn(self):
        self._any_broker().learn()

    def _heal(self):
        """Repair the cluster, and add at least one member that reads."""
        self.cluster.moving_until = 0.0
        for broker in self.cluster.brokers.values():
            broker.is_up = True
            self._wake(broker.node)
            broker.unstable = 0
        for broker in self.cluster.brokers.values():
            broker.learn()
        self.habits.are_over = True
        for _ in range(3):
            for topic in self.cluster.topics.values():
                for log in topic.logs:
                    self._fill(log, 1)
        self._join()
        self.is_well = True

    # Check the returned chunks.

    def take(self, caller, fetched):
        """Check a chunk that a caller received."""
        self.chunks += 1
        reader = fetched.reader
        partition = reader.id_and_partition
        log = self._log(partition)
        _, next_offset = self.kwire.records.decode_records(
            fetched.data, start_offset=fetched.start_offset
        )
        self._expect(next_offset == fetched.next_offset, "the next offset is wrong")
        self._expect(reader not in caller.paused, f"{partition}: paused, and returned")
        sought = caller.sought.pop(reader, fetched.start_offset)
        self._expect(
            fetched.start_offset == sought,
            f"{partition}: returned from {fetched.start_offset}, not from {sought}",
        )
        done = self.done.get(partition, log.start)
        self._expect(
            fetched.start_offset <= done, f"{partition}: records were left out"
        )
        self.again += fetched.start_offset < done
        self.done[partition] = max(done, fetched.next_offset)
        caller.incarnation = caller.machine._membership.incarnation
        silence = self.world.now - caller.machine._membership._heard_at
        self._expect(silence <= SESSION_S, f"{partition}: read after {silence} s alone")
        if not self._is_member(caller):
            # The member does not know yet that its partitions were assigned to others.
            return
        minimum = self.acknowledged.get(partition, 0)
        self._expect(
            fetched.start_offset >= minimum,
            f"{partition}: {fetched.start_offset} read again, committed to {minimum}",
        )
        for other in self._living():
            if other is caller or not self._is_member(other):
                continue
            other_reader = other.machine._owned.get(reader.place)
            is_same = (
                other_reader is not None and other_reader.id_and_partition == partition
            )
            self._expect(not is_same, f"{partition}: two members own it")

    def note_commit(self, caller, pending):
        """Count the partitions of a successful commit, or check the failure.

        The only allowed failure is ``PartitionLost``.
        """
        if pending.failure is not None:
            is_lost = isinstance(pending.failure, self.module.PartitionLost)
            self._expect(is_lost, f"a commit failed: {pending.failure}")
            self.note_lost(caller)
        self.commits += len(pending.done)

    def send_transaction(self, caller, chunks):
        """Send chunk offsets in a transaction, which takes some time."""
        member, _ = caller.machine.offsets_to_send(chunks)
        sent = Transaction()

        def arrive():
            sent.is_over = caller.seat.has_news = True
            try:
                epoch = member.member_epoch
                self.group.check_member(member.member_id, epoch, self.world.now)
            except GroupError:
                sent.is_refused = True
                return
            for chunk in chunks:
                partition = chunk.reader.id_and_partition
                copied, _ = self.group.offsets.get(
                    partition, (self._log(partition).start, -1)
                )
                self._expect(
                    chunk.start_offset == copied,
                    f"{partition}: copied from {chunk.start_offset}, not from {copied}",
                )
                self.group.commit(partition, chunk.next_offset, chunk.leader_epoch)
                self.copies += 1

        delays = [0.01] if self.habits.are_over else [0.01, 0.01, 0.3, 3, 15]
        self.world.after(self.random.choice(delays), arrive)
        return sent

    def replace(self, caller):
        """Replace a member whose transaction was rejected."""
        self.lost += 1
        caller.close()
        self._join()

    def note_lost(self, caller):
        """Check that a chunk is only lost with its membership or its topic."""
        self.lost += 1
        is_known = caller.incarnation == caller.machine._membership.incarnation
        is_known = is_known and self._is_member(caller) and not self.created_again
        self._expect(not is_known, "a partition was lost while a caller was busy")

    def check_failure(self, machine):
        """Check that a consumer only fails if no broker was reachable at its start.

        After the faults, another member joins the group.
        """
        is_reached = machine.cluster.version > 0
        self._expect(not is_reached, f"failed: {machine.failure}")
        if self.is_well:
            self._join()

    def _is_member(self, caller):
        """Return whether the coordinator has this member, and the member has joined.

        A static member that has left temporarily does not count.
        """
        member = caller.machine._membership
        stored_member = self.group.members.get(member.member_id)
        # The epoch is 0 while a removed member is rejoining. It has no partitions then.
        return (
            stored_member is not None and member.epoch > 0 and not stored_member.is_away
        )

    def _check_commit(self, id_and_partition, offset):
        log = self._log(id_and_partition)
        done = self.done.get(id_and_partition, log.start)
        self._expect(
            offset <= done, f"{id_and_partition}: {offset} committed, {done} read"
        )
        self.acknowledged[id_and_partition] = max(
            self.acknowledged.get(id_and_partition, 0), offset
        )

    def _check_removal(self, member):
        """Check that no waiting member is removed because of a late revocation.

        Only applies after the faults, because faults may delay the heartbeats.
        """
        asked_at = member.revoke_by - member.rebalance_s
        for caller in self._living():
            if caller.machine.metadata.member_id == member.id and self.is_well:
                is_idle = caller.state is READING and not caller.is_stopped
                is_late = is_idle and asked_at > START_S + FAULTS_S
                self._expect(not is_late, f"{member.id} did not give up in time")

    def _log(self, id_and_partition):
        topic_id, partition = id_and_partition
        return self.topics[topic_id].logs[partition]

    def _missing(self):
        return {
            id_and_partition: (
                self.done.get(id_and_partition),
                self.group.offsets.get(id_and_partition),
                log.end,
            )
            for id_and_partition in self.group.partitions()
            if (log := self._log(id_and_partition)).end
            and self.group.offsets.get(id_and_partition, (0, 0))[0] != log.end
        }

    def _is_all_committed(self):
        return not self._missing()

    def _check_rate(self):
        """Check the number of heartbeats: the maximum in a window, and the average."""
        for caller in self.callers:
            try:
                caller.seat.traffic.check(maximum=MAX_IN_WINDOW)
            except AssertionError as error:
                self._expect(False, error)
        count = sum(broker.heartbeats for broker in self.cluster.brokers.values())
        seconds = self.world.now - START_S
        max_heartbeats = MOST_HEARTBEATS * seconds * len(self.callers)
        self._expect(count < max_heartbeats, f"{count} heartbeats in {seconds:.0f} s")

    def run_seed(self):
        """Run the scenario.

        An ``AssertionError`` from a state machine is raised again with the seed.
        """
        try:
            self.run()
        except AssertionError as error:
            self._expect(str(error).startswith("seed "), error)
            raise

    def _expect(self, is_true, problem):
        if not is_true:
            raise AssertionError(f"seed {self.seed}: {problem}")


def run_group_seed(kwire, seed):
    """Run one seed, and return its ``GroupScenario``."""
    scenario = GroupScenario(kwire, seed)
    scenario.run_seed()
    return scenario
