# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterQueries``: runs state machines that return a single result."""

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
    """Function that creates the machine of a query, for example the machine class."""

    def __call__(
        self,
        bootstrap: list[tuple[str, int]],
        settings: ClusterSettings,
        *,
        now: float,
        random: Random,
    ) -> Query[R_co]: ...


class ClusterQueries(Operations):
    """Base class of a client. It has the connection settings, and runs queries."""

    addresses: list[tuple[str, int]]
    settings: ClusterSettings
    network: Network
    # True from the first connection until the client is closed.
    has_connected: bool

    def note_connection(self) -> None:
        """Note that a connection will be opened.

        Raises ``UsedAfterFork`` in a child of the process that has connected.
        """
        self.check_process()
        self.has_connected = True
        self.watch_forks()

    def note_fork(self) -> None:
        """Reject further uses in this child process.

        The client remains usable if it has not connected, or if the parent process
        closed it before the fork.
        """
        self.is_forked = self.has_connected

    async def _run_query(self, make: QueryMaker[R]) -> R:
        """Run the machine of a query with its own connections, and return its result.

        Closes the connections at the end. Raises the failure of the query.
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
