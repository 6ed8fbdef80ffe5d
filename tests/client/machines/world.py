# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated clock and network: one event queue for a client and its brokers.

Bytes arrive late and in pieces of any size. When a connection breaks, the bytes in
flight are lost. The clock jumps from one event to the next, so a simulation does not
wait in real time.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque

from tests.client.machines.traffic import CONNECTION, Traffic

START_S = 1000.0
POLL_S = 0.05


def check_invariants(machine):
    """Call the ``check_invariants`` method of a machine, if it has one."""
    check = getattr(machine, "check_invariants", None)
    if check is not None:
        check()


class World:
    """Clock, event queue, and the connections between a client and the brokers."""

    def __init__(self, cluster, random):
        """Start at ``START_S`` with an empty event queue."""
        self.now = START_S
        self.cluster = cluster
        cluster.world = self
        self.random = random
        self.wires: list[Wire] = []
        self.requests = 0
        self.traffic = Traffic()
        self.has_news = True
        """Whether an event has happened that the machine has not processed yet."""
        self.deeds = 0
        """Number of changes to the cluster. Includes possible changes by a test."""
        self._queue: list[tuple] = []
        self._order = itertools.count()

    def at(self, when, action):
        """Schedule a change of the cluster. ``action`` has no parameters."""

        def do():
            self.deeds += 1
            action()

        self.carry(when, do)

    def after(self, delay, action):
        """Schedule a change of the cluster after a delay in seconds."""
        self.at(self.now + delay, action)

    def carry(self, when, action):
        """Schedule a network event. Unlike ``at``, it does not count as a change."""
        heapq.heappush(self._queue, (when, next(self._order), action))

    def delay(self):
        """Return a random network delay: usually below 0.02 s, rarely up to 1.5 s."""
        if self.random.random() < 0.02:
            return self.random.uniform(0.1, 1.5)
        return self.random.uniform(0.0005, 0.02)

    def run(self, machine, is_over, until):
        """Run a machine until ``is_over()`` is true, or until the time ``until``.

        As in the runners, the machine advances when a link has news and at ``wake_at``.
        Returns whether ``is_over()`` became true.
        """
        # Tests may change the cluster between two calls, so pending fetches are checked
        # again.
        self.deeds += 1
        while True:
            if self.has_news or self.now >= machine.wake_at:
                self.has_news = False
                machine.advance(self.now)
                check_invariants(machine)
                self._connect(machine)
            if is_over():
                return True
            is_event = bool(self._queue) and self._queue[0][0] <= machine.wake_at
            when = self._queue[0][0] if is_event else machine.wake_at
            if when > until:
                self.now = until
                return False
            self.now = max(self.now, when)
            if is_event:
                heapq.heappop(self._queue)[2]()

    def _connect(self, machine):
        for link in machine.cluster.take_new_links():
            wire = Wire(self, link)
            self.wires.append(wire)
            self.carry(self.now + self.delay(), wire.open)
        self.wires = [wire for wire in self.wires if not wire.is_over]
        for wire in self.wires:
            wire.send()

    def wake_broker(self, node):
        """Let a silent broker process its waiting requests and later requests."""
        self.cluster.brokers[node].is_silent = False
        for wire in self.wires:
            if wire.broker.node == node:
                wire.read_on()

    def break_wires(self, node):
        """Break all connections to a broker."""
        for wire in self.wires:
            if wire.broker.node == node:
                wire.break_off()


class Wire:
    """Connection between a link of the client and the broker at its address."""

    def __init__(self, world, link):
        """Look up the broker at the address of the link.

        The connection is not open yet.
        """
        self.world = world
        self.link = link
        self.broker = world.cluster.at(link.host, link.port)
        self.server = None
        self.is_broken = False
        self.is_mute = False
        self._arrives_at = {"there": 0.0, "back": 0.0}
        self._unread: deque[bytes] = deque()
        # Bytes that wait in the client's socket until the client has memory for them.
        self._undelivered: deque[bytes] = deque()

    @property
    def is_over(self):
        """Whether the connection is broken or its link is closed."""
        return self.is_broken or self.link.is_over

    def open(self):
        """Accept the connection if the broker is running, otherwise refuse it."""
        if self.link.is_over:
            return
        self.world.has_news = True
        self.world.traffic.note(CONNECTION, self.broker.node, self.world.now)
        if not self.broker.is_up:
            self.is_broken = True
            self.link.note_failure("connection refused", self.world.now)
            return
        self.server = self.broker.connection()
        self.link.note_open(self.world.now)

    def break_off(self):
        """Break the connection. Bytes in flight are lost."""
        if not self.is_over:
            self.is_broken = True
            self.world.has_news = True
            self.link.receive_data(b"", self.world.now)

    def send(self):
        """Send the client's pending bytes."""
        while data := self.link.data_to_send():
            self._carry("there", data, self._arrive)
        if self._undelivered and self.link.can_receive(self.world.now):
            self._deliver()

    def _carry(self, way, data, arrive):
        """Deliver bytes in order, with delays, and in pieces."""
        random = self.world.random
        position = 0
        while position < len(data):
            size = random.choice([1, 7, 100, 4096, 1 << 20])
            if len(data) > 2000:
                size = max(size, len(data) // 4)
            piece = data[position : position + size]
            position += size
            when = max(self.world.now + self.world.delay(), self._arrives_at[way])
            self._arrives_at[way] = when
            self.world.carry(when, lambda piece=piece: self._pass(arrive, piece))

    def _pass(self, arrive, piece):
        if not self.is_over:
            arrive(piece)

    def _arrive(self, piece):
        self._unread.append(piece)
        self.read_on()

    def read_on(self):
        """Let the broker process the received bytes, unless it is silent."""
        while self._unread and not (self.broker.is_silent or self.is_mute):
            if self.is_over:
                return
            self._read(self._unread.popleft())

    def _read(self, piece):
        for event in self.server.receive_data(piece):
            if type(event).__name__ == "RequestReceived":
                self.world.requests += 1
                self._answer(event)
            elif type(event).__name__ == "UnsupportedReceived":
                # Brokers before 0.10 do not support ApiVersions. Kafka 0.9 ignores all
                # later bytes of the connection after an unknown request. All other
                # brokers close the connection.
                if self.broker.release == "0.9.0":
                    self.is_mute = True
                else:
                    self.break_off()
                return
        self._reply()

    def _answer(self, event):
        request, version = event.request, event.version
        if type(request).__name__ == "FetchRequest":
            fetch = self.broker.begin_fetch(request, version)
            self._answer_fetch(event, fetch, self.world.now)
        elif type(request).__name__ == "ProduceRequest":
            done = self.broker.begin_produce(request, version)
            finish = lambda: self._answer_produce(event, done)  # noqa: E731
            self.world.after(self.world.delay(), finish)
        else:
            response = self.broker.answer(request, version)
            if type(request).__name__ != "OffsetCommitRequest" or _has_error(response):
                self._note_fruitless(event)
            self.server.send(event, response)

    def _answer_produce(self, event, done):
        """Respond to a Produce request after its records have been replicated."""
        if self.is_over:
            return
        if not event.request.acks:
            # A request with acks=0 has no response, so the broker closes the connection
            # to report an error.
            if any(result.code for result in done):
                self.break_off()
        else:
            response = self.broker.finish_produce(done, event.version)
            parts = [
                part
                for result in response.responses
                for part in result.partition_responses
            ]
            if all(part.error_code for part in parts):
                self._note_fruitless(event)
            self.server.send(event, response)
            self._reply()

    def _answer_fetch(self, event, fetch, since, deeds=-1):
        """Respond to a Fetch if data is available or its maximum wait time has passed.

        ``deeds`` is the change counter of the world at the last attempt without data.
        The broker is only tried again after a change.
        """
        if self.is_over:
            return
        world, answer = self.world, None
        is_late = world.now >= since + fetch.max_wait_ms / 1000
        if not self.broker.is_silent and (is_late or deeds != world.deeds):
            answer = self.broker.answer_fetch(fetch, event.version, is_late)
        if answer is None:
            deeds = world.deeds
            again = lambda: self._answer_fetch(event, fetch, since, deeds)  # noqa: E731
            world.carry(world.now + POLL_S, again)
            return
        parts = [part for topic in answer.responses for part in topic.partitions]
        if not any(part.records for part in parts):
            self._note_fruitless(event)
        self.server.send(event, answer)
        self._reply()

    def _note_fruitless(self, event):
        kind = type(event.request).__name__
        self.world.traffic.note(kind, self.broker.node, self.world.now)

    def _reply(self):
        if self.server.wants_close:
            self.break_off()
            return
        data = self.server.data_to_send()
        if data:
            self._carry("back", data, self._receive)

    def _receive(self, piece):
        self._undelivered.append(piece)
        self._deliver()

    def _deliver(self):
        link, world, pieces = self.link, self.world, self._undelivered
        while pieces and not link.is_over and link.can_receive(world.now):
            room = link.get_buffer()
            piece = pieces.popleft()
            count = min(len(room), len(piece))
            room[:count] = piece[:count]
            if count < len(piece):
                pieces.appendleft(piece[count:])
            world.has_news |= link.buffer_updated(count, world.now)
        # Send again, because version negotiation continues without the machine.
        self.send()


def _has_error(response):
    """Return whether a commit response has an error for at least one partition."""
    return any(
        part.error_code for topic in response.topics for part in topic.partitions
    )
