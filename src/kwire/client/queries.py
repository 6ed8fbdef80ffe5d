# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterQueries``: runs state machines that have one result."""

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
    """Makes the machine of a query, for example the class of the machine."""

    def __call__(
        self,
        bootstrap: list[tuple[str, int]],
        settings: ClusterSettings,
        *,
        now: float,
        random: Random,
    ) -> Query[R_co]: ...


class ClusterQueries(Operations):
    """Base of a client: its addresses and settings, and queries that use them."""

    addresses: list[tuple[str, int]]
    settings: ClusterSettings
    network: Network
    # True from the first connection until ``close``.
    has_connected: bool

    def note_connection(self) -> None:
        """Note that a connection will be opened. Raises ``UsedAfterFork``."""
        self.check_process()
        self.has_connected = True
        self.watch_forks()

    def note_fork(self) -> None:
        """Reject uses in this child process, unless the parent closed the client."""
        self.is_forked = self.has_connected

    async def _run_query(self, make: QueryMaker[R]) -> R:
        """Run a machine over connections of its own; return its result or raise."""
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
