# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterMachine``: all brokers of a test cluster without sockets and threads.

The host creates a connection for each accepted socket, passes received bytes to it, and
sends the bytes of the connections in ``take_ready``. It also calls ``advance`` with the
current time, at the latest at ``next_due_s``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..connection.negotiation import ApiVersionTable
from ..schema import releases
from .broker_connection import BrokerConnection
from .rules import Rules, find_places
from .state.features import (
    find_features_epoch,
    list_finalized_features,
    list_supported_features,
)
from .state.timers import Timer

if TYPE_CHECKING:
    from ..messages import Request, Response
    from .answers.context import Waiting
    from .rules import RuleMatcher
    from .state.cluster import ClusterState

MAX_REQUESTS = 10_000
"""Number of received requests that are remembered. Older requests are forgotten."""


class ReceivedRequest(NamedTuple):
    """Request that a broker has received.

    * ``message``: request of ``kwire.messages``.
    * ``received_s``: time since the start of the cluster in seconds.
    * ``topics``: names of the topics in the request.
    """

    api: str
    broker: int
    client_id: str
    version: int
    message: Request
    received_s: float
    topics: tuple[str, ...]


class _WaitingAnswer(NamedTuple):
    """Response of a connection that is not ready yet."""

    connection: BrokerConnection
    waiting: Waiting
    timer: Timer | None


class ClusterMachine:
    """Brokers, their connections, and the responses that are not ready yet.

    * ``users``: passwords of the SASL users by name. None means no authentication.
    * ``on_request``: called for each received request before its answer.
    """

    def __init__(
        self,
        state: ClusterState,
        users: Mapping[str, str] | None = None,
        on_request: Callable[[ReceivedRequest], object] | None = None,
    ) -> None:
        self.state = state
        self.users = users
        self._on_request = on_request
        self.rules = Rules()
        self.requests: deque[ReceivedRequest] = deque(maxlen=MAX_REQUESTS)
        self.table = make_table(state.release, state.has_metrics_receiver)
        self._connections: dict[int, BrokerConnection] = {}
        self._ready: dict[int, BrokerConnection] = {}
        # By connection id: a connection processes one request at a time.
        self._waiting: dict[int, _WaitingAnswer] = {}
        self._attempted_changes = 0
        self._connection_count = 0

    @property
    def next_due_s(self) -> float:
        """Time at which ``advance`` must be called next, or infinity."""
        return self.state.clock.next_due_s

    def connect(self, node_id: int, client_host: str = "127.0.0.1") -> BrokerConnection:
        """Accept a connection to a broker."""
        self._connection_count += 1
        connection = BrokerConnection(
            self, self.state.brokers[node_id], self._connection_count, client_host
        )
        self._connections[connection.connection_id] = connection
        return connection

    def advance(self, now_s: float) -> None:
        """Set the time, run due timers, and attempt waiting responses again."""
        self.state.clock.advance(now_s)
        self.attempt_waiting()

    def attempt_waiting(self) -> None:
        """Send the waiting responses that are ready after a change."""
        while self._attempted_changes != self.state.changes:
            self._attempted_changes = self.state.changes
            for connection_id, entry in list(self._waiting.items()):
                # Other responses can close the connection.
                if self._waiting.get(connection_id) is not entry:
                    continue
                response = entry.waiting.attempt()
                if response is not None:
                    self._finish(entry.connection, response)

    def take_ready(self) -> list[BrokerConnection]:
        """Return the connections that have bytes to send or must be closed."""
        ready = list(self._ready.values())
        self._ready.clear()
        return ready

    def disconnect_broker(self, node_id: int) -> None:
        """Close all connections to a broker, without sending further responses."""
        for connection in list(self._connections.values()):
            if connection.broker.node_id == node_id:
                connection.abort()

    def note_request(
        self, node_id: int, request: Request, version: int, client_id: str
    ) -> RuleMatcher | None:
        """Remember a received request for the test; return the rules for it."""
        places = find_places(request, self.state.topics_by_id)
        received = ReceivedRequest(
            type(request).__name__.removesuffix("Request"),
            node_id,
            client_id,
            version,
            request,
            self.state.clock.now_s,
            tuple(dict.fromkeys(topic for topic, _ in places)),
        )
        self.requests.append(received)
        if self._on_request is not None:
            self._on_request(received)
        return self.rules.match(received.api, node_id, client_id, places)

    def note_ready(self, connection: BrokerConnection) -> None:
        """Include a connection in the next ``take_ready``."""
        self._ready[connection.connection_id] = connection

    def note_closed(self, connection: BrokerConnection) -> None:
        """Forget a closed connection and its waiting response."""
        connection.broker.telemetry.forget_connection(connection.connection_id)
        self._connections.pop(connection.connection_id, None)
        self._stop_waiting(connection)

    def wait(self, connection: BrokerConnection, waiting: Waiting) -> None:
        """Send a response later, after a change or at its deadline."""
        timer = None
        expire = waiting.expire
        if expire is not None:
            delay_s = max(waiting.deadline_s - self.state.clock.now_s, 0.0)
            timer = self.state.clock.after(
                delay_s, lambda: self._finish(connection, expire())
            )
        entry = _WaitingAnswer(connection, waiting, timer)
        self._waiting[connection.connection_id] = entry

    def _finish(self, connection: BrokerConnection, response: Response) -> None:
        self._stop_waiting(connection)
        connection.finish(response)

    def _stop_waiting(self, connection: BrokerConnection) -> None:
        entry = self._waiting.pop(connection.connection_id, None)
        if entry is not None and entry.timer is not None:
            entry.timer.cancel()


def make_table(release: str, has_metrics_receiver: bool = False) -> ApiVersionTable:
    """Return the versions and features that a broker of a release advertises.

    * ``has_metrics_receiver``: whether brokers offer the APIs of client metrics.
    """
    ranges = releases.ranges(release, releases.usual_listener(release))
    if not has_metrics_receiver:
        for name in ("GetTelemetrySubscriptions", "PushTelemetry"):
            ranges.pop(releases.key_of(name), None)
    return ApiVersionTable.from_ranges(
        ranges,
        supported_features=list_supported_features(release),
        finalized_features={
            name: (level, level)
            for name, level in list_finalized_features(release).items()
        },
        finalized_features_epoch=find_features_epoch(release),
    )
