# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterQueries``: base class of a client, which runs requests with one result.

Every query has its own state machine and its own connections.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Protocol, TypeVar

from .runners.operations import Operations

if TYPE_CHECKING:
    from .machines import ClusterSettings
    from .runners.network import Network
    from .runners.protocols import Query

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class QueryMaker(Protocol[R_co]):
    """Function that creates the state machine of a query.

    Usually this is the machine's class, or a ``partial`` of the class.
    """

    def __call__(
        self,
        bootstrap: list[tuple[str, int]],
        settings: ClusterSettings,
        *,
        now: float,
        random: Random,
    ) -> Query[R_co]: ...


class ClusterQueries(Operations):
    """Base class of a client, with its connection settings.

    * ``addresses``: bootstrap addresses as (host, port).
    * ``settings``: client id, SASL, limits and timeouts.
    * ``network``: TLS, address map and other options for opening connections.
    """

    addresses: list[tuple[str, int]]
    settings: ClusterSettings
    network: Network
    # True from the first connection until the client is closed.
    has_connected: bool

    def note_connection(self) -> None:
        """Record that this process will open a connection.

        Scans, consumers, producers and queries call this method before they connect.
        Raises ``UsedAfterFork`` in a child of the process that has connected.
        """
        self.check_process()
        self.has_connected = True
        self.watch_forks()

    def note_fork(self) -> None:
        """Make the client unusable in this child process if it has connections.

        It remains usable if it has not connected yet, or if the parent process closed
        it before the fork.
        """
        self.is_forked = self.has_connected

    async def _run_query(self, make: QueryMaker[R]) -> R:
        """Run a query's machine, and return its result.

        Raises the query's failure, usually a ``ClusterError``. In both cases, the
        connections are closed at the end.
        """
        self.note_connection()
        query, runner = self._start(
            lambda now: make(self.addresses, self.settings, now=now, random=Random()),
            self.network,
        )
        try:
            await runner.wait(query.has_result)
            if query.failure is not None:
                raise query.failure
            return query.result()
        finally:
            query.close(runner.now())
            await runner.end()
