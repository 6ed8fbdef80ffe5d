# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Membership``: the membership in a group as ``ConsumerMachine`` uses it.

``member.py`` implements it for the group protocol of KIP-848. Another kind of group
needs another implementation, which the constructor of ``ConsumerMachine`` chooses. The
rest of ``machine.py`` uses only the names of this protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing import TypeAlias
    from uuid import UUID

    from ....errors import KwireError
    from .options import GroupMetadata

    Assignment: TypeAlias = "frozenset[tuple[UUID, int]]"


class Membership(Protocol):
    """The membership of one consumer.

    The coordinator decides which partitions the consumer should own. The consumer
    changes the partitions that it owns until they are equal to ``target``, and passes
    each intermediate set to ``report``.

    ``target`` is the set of (topic id, partition) that the coordinator has assigned, or
    None while it is unknown.

    ``incarnation`` increases when the consumer joins or leaves, and when it loses its
    membership. All partitions that it owned in an earlier incarnation are lost.

    ``has_answered`` is True if a coordinator has ever answered. ``failure`` is the
    reason why the consumer cannot be a member, or None.
    """

    target: Assignment | None
    incarnation: int
    has_answered: bool
    failure: KwireError | None

    @property
    def metadata(self) -> GroupMetadata:
        """Identity in the current incarnation."""

    @property
    def is_outside(self) -> bool:
        """Whether the consumer is neither a member nor joining nor leaving."""

    @property
    def can_add(self) -> bool:
        """Whether the consumer may own further partitions of ``target`` now."""

    def join(self, now: float) -> None:
        """Join the group if the consumer is outside."""

    def leave(self, now: float) -> None:
        """Leave the group unless the consumer is outside. All partitions are lost."""

    def report(self, owned: Assignment) -> None:
        """Set the partitions that the consumer owns now."""

    def verify(self, now: float) -> None:
        """Ask the coordinator soon, because it has rejected the member epoch."""

    def advance(self, now: float) -> None:
        """Send the requests that are due."""

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
