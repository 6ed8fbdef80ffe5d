# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulate consumers in one group, and the behavior of the code that calls them.

A caller requests a chunk, processes it for some time, and commits it or not. It may
also stall, stop like a suspended process, crash, or close its consumer.
"""

from __future__ import annotations

from tests.client.machines.traffic import Traffic
from tests.client.machines.world import Wire

READING, BUSY, COMMITTING, CLOSING, OVER = "reading", "busy", "committing", "closing", 0


class Seat:
    """View of a simulated world for one of several machines.

    The machines share the clock, the cluster and the network delays. Connections and
    request counts belong to one machine.
    """

    def __init__(self, world):
        """Share the clock, the network and the brokers with the other machines."""
        self.world = world
        self.wires: list[Wire] = []
        self.has_news = True
        self.requests = 0
        self.traffic = Traffic()
        self.cluster, self.random = world.cluster, world.random
        self.carry, self.after, self.delay = world.carry, world.after, world.delay

    @property
    def now(self):
        """Current simulated time."""
        return self.world.now

    @property
    def deeds(self):
        """Number of changes to the cluster so far."""
        return self.world.deeds

    def connect(self, machine):
        """Connect a machine's new links, and send the pending bytes of all links."""
        for link in machine.cluster.take_new_links():
            wire = Wire(self, link)
            self.wires.append(wire)
            self.carry(self.now + self.delay(), wire.open)
        self.wires = [wire for wire in self.wires if not wire.is_over]
        for wire in self.wires:
            wire.send()


class SimulatedCaller:
    """Consumer and the code that calls it.

    ``watch`` checks all chunks that the consumer returns.
    """

    def __init__(self, world, machine, watch, habits):
        """Start the first wait for a chunk."""
        self.world = world
        self.machine = machine
        self.watch = watch
        self.habits = habits
        self.seat = Seat(world)
        self.state = READING
        self.is_stopped = False
        """Whether the process of the member is suspended.

        The member becomes a zombie when its session expires.
        """
        self.chunk = None
        self.pending = None
        self.copied = []
        """Chunks whose offsets have not been sent in a transaction yet."""
        self.sought = {}
        """Expected start offset in the next chunk by reader, after a seek."""
        self.paused = set()
        self.until = 0.0
        machine.begin_wait(world.now)

    def wake_at(self):
        """Return the time of the next ``step`` in simulated seconds.

        The time is infinite while the process is suspended.
        """
        if self.is_stopped:
            return float("inf")
        if self._is_blocking():
            return self.until
        machine_wake_at = self.machine.wake_at
        return (
            min(machine_wake_at, self.until) if self.state is BUSY else machine_wake_at
        )

    def step(self):
        """Advance the machine in the same way as a runner, and then its caller."""
        if self.is_stopped or self.state is OVER:
            return
        now, machine = self.world.now, self.machine
        if self._is_blocking():
            # A blocking caller prevents the runner from advancing the machine. The
            # caller must continue before the machine does.
            if now < self.until or not self._act(now) or not self._act(now):
                return
            self._act(now)
        if self.seat.has_news or now >= machine.wake_at:
            self.seat.has_news = False
            machine.advance(now)
            machine.check_invariants()
        while self._act(now):
            if now >= machine.wake_at:
                machine.advance(now)
                machine.check_invariants()
        self.seat.connect(machine)

    def _is_blocking(self):
        """Return whether the caller processes a chunk and blocks the runner meanwhile.

        With asyncio, a caller that does not await anything blocks the event loop.
        """
        return self.habits.block and self.state is BUSY

    def _act(self, now):
        """Perform the caller's next action. Returns False if no action was due."""
        machine, habits = self.machine, self.habits
        if self.state is READING and machine.has_result():
            machine.end_wait(now)
            if machine.failure is not None:
                self.watch.check_failure(machine)
                self.die()
                return False
            self.chunk = machine.take()
            self.watch.take(self, self.chunk)
            self.until = now + habits.pause()
            self.state = BUSY
            return True
        if self.state is BUSY and now >= self.until:
            machine.release(self.chunk)
            self.pending = habits.finish(self, now)
            self.state = COMMITTING
            return True
        if self.state is COMMITTING and (self.pending is None or self.pending.is_over):
            if getattr(self.pending, "is_refused", False):
                self.watch.replace(self)
                return False
            if self.pending is not None:
                self.watch.note_commit(self, self.pending)
            self.pending = self.chunk = None
            machine.begin_wait(now)
            self.state = READING
            return True
        if self.state is CLOSING and machine.has_left():
            self.die()
        return False

    def seek_back(self):
        """Seek to the start of the chunk that the caller is processing.

        Return False without a seek if the partition of the chunk was revoked.
        """
        reader, offset = self.chunk.reader, self.chunk.start_offset
        if not self._is_read(reader):
            return False
        self.machine.seek({reader.place: offset})
        self.sought[reader] = offset
        return True

    def pause(self):
        """Pause the partition of the chunk for up to 3 s."""
        reader = self.chunk.reader
        if self._is_read(reader):
            self.machine.pause([reader.place])
            self.paused.add(reader)
            self.world.after(self.habits.random.uniform(0, 3), self.resume)

    def resume(self):
        """Resume all paused partitions, as soon as the process is running."""
        if self.is_stopped:
            self.world.after(1, self.resume)
            return
        topic_partitions = [
            reader.place for reader in self.paused if self._is_read(reader)
        ]
        self.machine.resume(topic_partitions)
        self.paused.clear()
        self.seat.has_news = True

    def _is_read(self, reader):
        is_owned = self.machine._owned.get(reader.place) is reader
        return is_owned and reader.place in self.machine.assignment()

    def close(self):
        """Leave the group and close the consumer."""
        if self.state is OVER or self.is_stopped:
            return
        if self.state is READING:
            self.machine.end_wait(self.world.now)
        self.machine.begin_close(self.world.now)
        self.state = CLOSING

    def die(self):
        """Close the connections immediately, without leaving the group."""
        self.state = OVER
        for wire in self.seat.wires:
            wire.break_off()
        self.machine.close(self.world.now)
