# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Membership``: interface between ``ConsumerMachine`` and a group protocol.

``member.py`` implements it for the consumer group protocol of KIP-848. To support
another group protocol, implement this interface and select the implementation in the
constructor of ``ConsumerMachine``. The rest of ``machine.py`` depends only on the
methods and attributes below.
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
    """Membership of one consumer in a group.

    The group coordinator assigns partitions. The consumer adds and gives up partitions
    until it owns exactly ``target``, and passes each intermediate set to ``report``.
    Call ``advance`` after every event, because it sends the requests.

    * ``target``: set of (topic id, partition) that the coordinator has assigned, or
      None while the assignment is unknown.
    * ``incarnation``: increases when the consumer joins or leaves, and when it loses
      its membership. All partitions that it owned in an earlier incarnation are lost.
    * ``has_answered``: True if a coordinator has ever answered.
    * ``failure``: reason why the consumer cannot be a member, or None.
    """

    target: Assignment | None
    incarnation: int
    has_answered: bool
    failure: KwireError | None

    @property
    def metadata(self) -> GroupMetadata:
        """Identity of the consumer in the current incarnation of its membership."""

    @property
    def is_outside(self) -> bool:
        """Whether the consumer is neither a member nor joining nor leaving."""

    @property
    def can_add(self) -> bool:
        """Whether the consumer may currently add partitions of ``target``."""

    def join(self, now: float) -> None:
        """Join the group if the consumer is outside."""

    def leave(self, now: float) -> None:
        """Leave the group unless the consumer is outside. All partitions are lost."""

    def report(self, owned: Assignment) -> None:
        """Set the partitions that the consumer currently owns."""

    def verify(self, now: float) -> None:
        """Contact the coordinator soon, because it has rejected the member epoch."""

    def advance(self, now: float) -> None:
        """Send the requests that are due."""

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
