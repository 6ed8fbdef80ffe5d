# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Interfaces between state machines, their runners, and the classes of users.

This module imports nothing of the package at run time, so that each side can import it
without the other.
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
    """A state machine that a runner can run."""

    @property
    def cluster(self) -> ClusterMachine:
        """The connections of the machine."""

    @property
    def wake_at(self) -> float:
        """Time of the next call of ``advance`` if nothing happens before."""

    def advance(self, now: float) -> None:
        """Process everything that has happened until now."""

    def close(self, now: float) -> None:
        """Close all connections."""


class Query(Machine, Protocol[R_co]):
    """A state machine that computes a single result."""

    @property
    def failure(self) -> KwireError | None:
        """The reason why there is no result."""

    def has_result(self) -> bool:
        """Whether the result or the failure is known."""

    def result(self) -> R_co:
        """Return the result."""


class Runner(Protocol):
    """Connects a machine to sockets and to the clock.

    The coroutines of ``BlockingRunner`` block the thread. They never suspend.
    """

    def now(self) -> float:
        """Return the time of the clock that the machine is run with."""

    async def wait(
        self, is_over: Callable[[], bool], timeout_s: float | None = None
    ) -> None:
        """Run the machine until ``is_over()``, or return after ``timeout_s``.

        ``is_over`` is called after each step of the machine. When it returns True, the
        bytes that the machine wants to send have been passed to the sockets.
        """

    async def pass_turn(self) -> None:
        """Process pending events without waiting, and let other tasks run."""

    async def end(self) -> None:
        """Close all connections."""

    def abandon(self) -> None:
        """Close all connections of an owner that the garbage collector deletes."""


class ClusterAccess(Protocol):
    """The part of a client that its producers and consumers use."""

    addresses: list[tuple[str, int]]
    settings: ClusterSettings
    network: Network

    def note_connection(self) -> None:
        """Note that a connection will be opened. Raises ``UsedAfterFork``."""
