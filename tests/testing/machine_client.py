# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test clusters without sockets: a machine with a clock that the test moves.

``make_machine`` creates the cluster, and a ``MachineClient`` is one connection to one
of its brokers.
"""

from __future__ import annotations

from collections import deque

from kwire.connection import ClientConnection, ConnectionClosed, ResponseReceived
from kwire.testing.machine import ClusterMachine
from kwire.testing.options import make_state


def make_machine(
    *, brokers=1, topics=None, release="4.4", seed=1, auto_create_topics=True
):
    """Return a machine with topics, which are partition counts by name."""
    return ClusterMachine(
        make_state(brokers, topics or {}, release, seed, auto_create_topics)
    )


def versions_of(machine, cls):
    """Return the versions of a request class that the brokers support, ascending."""
    return machine.table.usable(cls)


class MachineClient:
    """Connection to a broker of a machine. Requests and responses are encoded.

    * ``responses``: responses that have arrived and were not returned yet.
    """

    def __init__(self, machine, node_id=1, client_id="test"):
        """Connect to a broker. Negotiation is skipped."""
        self.machine = machine
        self.responses = deque()
        self.is_closed = False
        table = machine.table.copy()
        self._client = ClientConnection(client_id, table=table)
        self._broker = machine.connect(node_id)

    def request(self, message, version=None):
        """Send a request; return its response, or None if the broker waits.

        ``version`` is the highest common version by default.
        """
        self.send(message, version)
        return self.take_response()

    def send(self, message, version=None):
        """Send a request. Its response is returned by ``take_response``."""
        self._client.send(message, version)
        self._broker.receive(self._client.data_to_send())

    def take_response(self):
        """Return the next response, or None if it has not arrived yet."""
        self._collect()
        return self.responses.popleft() if self.responses else None

    def advance(self, seconds):
        """Move the clock of the machine, and run its timers."""
        self.machine.advance(self.machine.state.clock.now_s + seconds)

    def close(self):
        """Disconnect from the broker."""
        self._broker.receive(b"")
        self.is_closed = True

    def _collect(self):
        data = self._broker.data_to_send()
        events = self._client.receive_data(data) if data else []
        if self._broker.is_closed and not self.is_closed:
            self.is_closed = True
            events = [*events, *self._client.receive_data(b"")]
        for event in events:
            if isinstance(event, ResponseReceived):
                self.responses.append(event.response)
            else:
                assert isinstance(event, ConnectionClosed), event
