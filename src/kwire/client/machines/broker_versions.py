# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``BrokerVersionsMachine``: collects the API versions that each broker supports.

Every broker reports its versions when a connection is opened. Therefore, the machine
connects to all brokers, and sends no requests except Metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._text import escape_line, format_address
from .link import LinkState
from .queries import QueryMachine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from ...connection.negotiation import ApiVersionTable
    from .metadata import Broker
    from .settings import ClusterSettings

_MAX_CONNECTING = 64
"""Maximum number of connections that are opened at the same time. A cluster may have
more brokers than a process may have sockets.
"""


class BrokerVersions(NamedTuple):
    """Broker with the API versions that it supports.

    * ``table``: supported versions, or None if the broker could not be reached.
    * ``error``: address of the broker, and the reason why it could not be reached.
    """

    node_id: int
    host: str
    port: int
    rack: str | None
    table: ApiVersionTable | None
    error: str = ""

    @property
    def address(self) -> str:
        """Address of the broker, as "host:port"."""
        return format_address(self.host, self.port)


class BrokerVersionsMachine(QueryMachine):
    """State machine that connects once to every broker and collects its versions.

    Call ``advance`` after every event and at ``wake_at`` until ``has_result`` is True.
    A broker that cannot be reached has an error in the result. ``failure`` is set only
    if no broker returns metadata.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        *,
        now: float,
        random: Random,
    ) -> None:
        super().__init__(bootstrap, settings, now=now, random=random)
        self.cluster.needs_brokers = True
        self._found: dict[int, BrokerVersions] = {}

    def has_result(self) -> bool:
        """Return whether each broker has reported its versions or failed."""
        if self.failure is not None:
            return True
        brokers = self.cluster.metadata.brokers
        return self.cluster.version > 0 and brokers.keys() <= self._found.keys()

    def result(self) -> dict[int, BrokerVersions]:
        """Return {node id: broker}, sorted by node id."""
        return dict(sorted(self._found.items()))

    def advance(self, now: float) -> None:
        """Open further connections, and collect the versions of connected brokers."""
        self.cluster.advance(now)
        if not self.cluster.version:
            # Without metadata, no broker is known and the task has failed. After the
            # first metadata response, a failed connection is the error of its broker.
            self.failure = self.cluster.failure
        waiting = [
            broker
            for node, broker in sorted(self.cluster.metadata.brokers.items())
            if node not in self._found
        ]
        connecting = 0
        for broker in waiting:
            if connecting < _MAX_CONNECTING:
                self._check(broker, now)
                connecting += broker.node_id not in self._found
        self.cluster.wake(self._give_up_at)
        if now >= self._give_up_at and not self.has_result():
            self._stop_waiting()

    def _check(self, broker: Broker, now: float) -> None:
        """Connect to a broker, or store its versions or its error if they are known."""
        reason = self.cluster.describe_failure(broker.node_id)
        link = None if reason else self.cluster.link_to(broker.node_id, now)
        if reason:
            self._add_error(broker, reason)
        elif link is not None and link.state is LinkState.READY:
            # Copy the table, because it is closed together with its link.
            self._found[broker.node_id] = BrokerVersions(*broker, link.table.copy())

    def _stop_waiting(self) -> None:
        if not self.cluster.version:
            self._give_up("finding the versions of brokers")
        timeout_s = self.cluster.settings.timeout_s
        for node, broker in self.cluster.metadata.brokers.items():
            if node not in self._found:
                reason = f"the broker did not answer within {timeout_s:g} s"
                self._add_error(broker, reason)

    def _add_error(self, broker: Broker, reason: str) -> None:
        text = escape_line(f"{format_address(broker.host, broker.port)}: {reason}")
        self._found[broker.node_id] = BrokerVersions(*broker, None, text)
