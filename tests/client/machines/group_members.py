# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Many consumers in one simulated world, and what each of their callers does.

A caller takes a chunk, is busy with it for a while, commits it or not, and comes back;
or it stalls, stops as a process does, dies, or closes its consumer.
"""

from __future__ import annotations

from tests.client.machines.traffic import Traffic
from tests.client.machines.world import Wire

READING, BUSY, COMMITTING, CLOSING, OVER = "reading", "busy", "committing", "closing", 0


class Seat:
    """One machine's side of the world: its wires, and whether it has news."""

    def __init__(self, world):
        """Share time, network and brokers with the others."""
        self.world = world
        self.wires: list[Wire] = []
        self.has_news = True
        self.requests = 0
        self.traffic = Traffic()
        self.cluster, self.random = world.cluster, world.random
        self.carry, self.after, self.delay = world.carry, world.after, world.delay

    @property
    def now(self):
        """The time of the world."""
        return self.world.now

    @property
    def deeds(self):
        """How often something was done to the cluster."""
        return self.world.deeds

    def connect(self, machine):
        """Open the links that a machine wants, and send what it has to send."""
        for link in machine.cluster.take_new_links():
            wire = Wire(self, link)
            self.wires.append(wire)
            self.carry(self.now + self.delay(), wire.open)
        self.wires = [wire for wire in self.wires if not wire.is_over]
        for wire in self.wires:
            wire.send()


class SimulatedCaller:
    """A consumer and who calls it; ``watch`` judges what it gets."""

    def __init__(self, world, machine, watch, habits):
        """Begin to read."""
        self.world = world
        self.machine = machine
        self.watch = watch
        self.habits = habits
        self.seat = Seat(world)
        self.state = READING
        self.is_stopped = False
        """Whether the whole process is stopped: a zombie, once its session is over."""
        self.chunk = None
        self.pending = None
        self.copied = []
        """Chunks of which the offsets were not sent in a transaction yet."""
        self.sought = {}
        """Where the next chunk of a reader begins, after a seek."""
        self.paused = set()
        self.until = 0.0
        machine.begin_wait(world.now)

    def wake_at(self):
        """Return when the machine or its caller has something to do."""
        if self.is_stopped:
            return float("inf")
        if self._is_blocking():
            return self.until
        at = self.machine.wake_at
        return min(at, self.until) if self.state is BUSY else at

    def step(self):
        """Move the machine as a runner does, then its caller."""
        if self.is_stopped or self.state is OVER:
            return
        now, machine = self.world.now, self.machine
        if self._is_blocking():
            # Nothing has moved the machine meanwhile; the caller goes on first.
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
        """Whether the caller keeps the runner from working, as in an event loop."""
        return self.habits.block and self.state is BUSY

    def _act(self, now):
        """Do what the caller does next; return whether it did anything."""
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
        """Read the chunk again, unless its partition is no longer read."""
        reader, offset = self.chunk.reader, self.chunk.start_offset
        if not self._is_read(reader):
            return False
        self.machine.seek({reader.place: offset})
        self.sought[reader] = offset
        return True

    def pause(self):
        """Pause the partition of the chunk for a while."""
        reader = self.chunk.reader
        if self._is_read(reader):
            self.machine.pause([reader.place])
            self.paused.add(reader)
            self.world.after(self.habits.random.uniform(0, 3), self.resume)

    def resume(self):
        """Resume all partitions, as soon as the process runs."""
        if self.is_stopped:
            self.world.after(1, self.resume)
            return
        places = [each.place for each in self.paused if self._is_read(each)]
        self.machine.resume(places)
        self.paused.clear()
        self.seat.has_news = True

    def _is_read(self, reader):
        is_owned = self.machine._owned.get(reader.place) is reader
        return is_owned and reader.place in self.machine.assignment()

    def close(self):
        """Leave the group in good order."""
        if self.state is OVER or self.is_stopped:
            return
        if self.state is READING:
            self.machine.end_wait(self.world.now)
        self.machine.begin_close(self.world.now)
        self.state = CLOSING

    def die(self):
        """End at once, without leaving the group."""
        self.state = OVER
        for wire in self.seat.wires:
            wire.break_off()
        self.machine.close(self.world.now)
