# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Member of a classic group, and the results that it waits for.

Source: ``ClassicGroupMember`` and ``ClassicGroup.selectProtocol``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

from .deadline import Deadline

T = TypeVar("T")


class Deferred(Generic[T]):
    """Result that is available later. ``result`` is None until then."""

    def __init__(self, note_change: Callable[[], None]) -> None:
        self.result: T | None = None
        self._note_change = note_change

    def resolve(self, result: T) -> None:
        """Set the result. The waiting response is then sent."""
        if self.result is None:
            self.result = result
            self._note_change()


class Joining(NamedTuple):
    """Member that joins. ``protocols`` are names with metadata, in its preference."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_s: float
    rebalance_timeout_s: float
    protocol_type: str
    protocols: tuple[tuple[str, bytes], ...]


class JoinedMember(NamedTuple):
    """Member of a generation, as the leader receives it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class JoinResult(NamedTuple):
    """Result of a join. ``members`` is empty unless the member is the leader."""

    error_code: int = 0
    generation: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    member_id: str = ""
    members: tuple[JoinedMember, ...] = ()


class SyncResult(NamedTuple):
    """Assignment of a member, or an error code."""

    error_code: int
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class ClassicMember:
    """Member of a classic group.

    * ``is_new``: whether its first join is not complete. Its session then has the fixed
      timeout of new members, even while it waits.
    """

    def __init__(self, member_id: str, joining: Joining, session: Deadline) -> None:
        self.member_id = member_id
        self.instance_id = joining.instance_id
        self.client_id = joining.client_id
        self.client_host = joining.client_host
        self.session = session
        self.assignment = b""
        self.is_new = True
        self.awaiting_join: Deferred[JoinResult] | None = None
        self.awaiting_sync: Deferred[SyncResult] | None = None
        self.update(joining)

    @property
    def protocol_names(self) -> set[str]:
        """Names of the supported protocols."""
        return {name for name, _ in self.protocols}

    def update(self, joining: Joining) -> None:
        """Apply the protocols and timeouts of a repeated join."""
        self.protocols = joining.protocols
        self.session_timeout_s = joining.session_timeout_s
        self.rebalance_timeout_s = joining.rebalance_timeout_s

    def metadata_of(self, protocol_name: str | None) -> bytes:
        """Return the metadata for a protocol."""
        return dict(self.protocols).get(protocol_name or "", b"")

    def extend_session(self) -> None:
        """Start the session timeout again."""
        self.session.set(self.session_timeout_s)

    def finish_join(self, result: JoinResult) -> None:
        """Return the result of the join phase to a waiting member."""
        deferred, self.awaiting_join = self.awaiting_join, None
        self.is_new = False
        self.extend_session()
        if deferred is not None:
            deferred.resolve(result)

    def finish_sync(self, result: SyncResult) -> None:
        """Return the result of the sync phase to a waiting member."""
        deferred, self.awaiting_sync = self.awaiting_sync, None
        if deferred is not None:
            deferred.resolve(result)
            self.extend_session()

    def fail(self, error_code: int, member_id: str) -> None:
        """Return an error to the requests that wait, because the member is removed."""
        join, self.awaiting_join = self.awaiting_join, None
        sync, self.awaiting_sync = self.awaiting_sync, None
        if join is not None:
            join.resolve(JoinResult(error_code, member_id=member_id))
        if sync is not None:
            sync.resolve(SyncResult(error_code))


def select_protocol(members: Iterable[ClassicMember]) -> str | None:
    """Return the common protocol that most members prefer.

    Each member votes for its first protocol that all members support.
    """
    members = list(members)
    common = set.intersection(*(member.protocol_names for member in members))
    votes: dict[str, int] = {}
    for member in members:
        for name, _ in member.protocols:
            if name in common:
                votes[name] = votes.get(name, 0) + 1
                break
    return max(votes, key=lambda name: votes[name]) if votes else None
