# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Interfaces between state machines, their runners, and the public client classes.

This module contains only types. It imports no other module of kwire at run time, so
that machines, runners and clients can import it independently of each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...errors import KwireError
    from ..machines import ClusterMachine, ClusterSettings
    from .network import Network

R_co = TypeVar("R_co", covariant=True)


class Machine(Protocol):
    """State machine of one task, such as a scan or a producer, that a runner runs."""

    @property
    def cluster(self) -> ClusterMachine:
        """Machine that manages the connections of this machine to brokers."""

    @property
    def wake_at(self) -> float:
        """Time at which ``advance`` must be called, even if no event occurs."""

    def advance(self, now: float) -> None:
        """Process all events since the last call. ``now`` is the current time."""

    def close(self, now: float) -> None:
        """Close all connections."""


class Query(Machine, Protocol[R_co]):
    """State machine that produces a single result."""

    @property
    def failure(self) -> KwireError | None:
        """Error that prevents a result, or None."""

    def has_result(self) -> bool:
        """Whether the query has finished, with a result or with a failure."""

    def result(self) -> R_co:
        """Return the result. Requires ``has_result()`` and no ``failure``."""


class Runner(Protocol):
    """Connects a machine to sockets and to the clock.

    The coroutines of ``AsyncRunner`` suspend until they are done. The coroutines of
    ``BlockingRunner`` block the thread and never suspend.
    """

    def now(self) -> float:
        """Return the current time of the clock that drives the machine."""

    async def wait(
        self, is_over: Callable[[], bool], timeout_s: float | None = None
    ) -> None:
        """Run the machine until ``is_over()`` returns True.

        ``is_over`` is called after every step of the machine. When it returns True, the
        bytes that the machine wants to send have been passed to the sockets. Returns
        without an error if ``timeout_s`` (seconds) passes before.
        """

    async def pass_turn(self) -> None:
        """Process pending events without waiting, and let other tasks run."""

    async def end(self) -> None:
        """Close all connections."""

    def abandon(self) -> None:
        """Close all connections, because the garbage collector deletes their owner."""


class ClusterAccess(Protocol):
    """Attributes of a client that its scans, producers and consumers use."""

    addresses: list[tuple[str, int]]
    settings: ClusterSettings
    network: Network

    def note_connection(self) -> None:
        """Record that this process will open a connection.

        Raises ``UsedAfterFork`` in a child of the process that has connected.
        """
