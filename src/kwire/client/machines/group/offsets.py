# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``GroupOffsets``: fetches and commits a group's offsets at its coordinator.

At most one OffsetFetch and one OffsetCommit are in flight. Commits are sent in the
order in which they were requested, and the next one waits for the result of the
previous one. Otherwise, the retry of an earlier commit could overwrite a later commit.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ....errors import KwireError
from ....messages import OffsetCommitRequest, OffsetFetchRequest
from ....schema import error_codes as codes
from ...errors import (
    BrokersUnreachable,
    ClusterError,
    PartitionLost,
    RequestRefused,
)
from .. import faults
from ..backoff import Backoff
from ..coordinators import CoordinatorType, is_moved
from ..events import Event
from .group_reader import Committed, Ownership
from .options import GroupMetadata
from .requests import (
    commit_request,
    fetch_request,
    pick_version,
    read_entries,
    read_offsets,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..cluster import ClusterMachine
    from ..coordinators import Coordinators
    from ..link import Link
    from .group_reader import GroupReader
    from .membership import Membership

_STALE = {codes.STALE_MEMBER_EPOCH, codes.ILLEGAL_GENERATION}
"""Errors for an outdated member epoch. Either the coordinator has assigned a newer
epoch, which the member has not received yet, or the member is fenced. The response to
the next heartbeat shows which of the two is the case.
"""

_NOT_A_MEMBER = {codes.UNKNOWN_MEMBER_ID, codes.FENCED_MEMBER_EPOCH}
"""Errors for a consumer that is not a member of the group, or no longer is."""

_NO_TOPIC = {codes.UNKNOWN_TOPIC_ID, codes.UNKNOWN_TOPIC_OR_PARTITION}
"""Errors for a topic that does not exist."""

_FETCHING, _COMMITTING = "fetching the offsets", "committing"

_FIRST_PAUSE_S = 0.01
"""First pause in seconds after an error of ``_STALE``. It is short, because the next
heartbeat usually returns the current epoch within milliseconds.
"""


class PendingCommit:
    """Requested commit. It is over when each partition has succeeded or failed.

    * ``waiting``: offsets of the partitions that have neither succeeded nor failed.
    * ``done``: committed offsets by (topic, partition).
    * ``failure``: first error, or None.
    * ``give_up_at``: time at which the remaining partitions fail.
    """

    __slots__ = ("done", "failure", "give_up_at", "waiting")

    def __init__(
        self, offsets: Mapping[GroupReader, Committed], give_up_at: float
    ) -> None:
        self.waiting = dict(offsets)
        self.done: dict[tuple[str, int], int] = {}
        self.failure: KwireError | None = None
        self.give_up_at = give_up_at

    @property
    def is_over(self) -> bool:
        """Whether each partition has succeeded or failed."""
        return not self.waiting

    def result(self) -> dict[tuple[str, int], int]:
        """Return the committed offsets by (topic, partition).

        Raises the first error that a partition had, or ``ClusterError`` if the consumer
        was closed before all partitions had a result.
        """
        if self.failure is not None:
            raise self.failure
        if self.waiting:
            names = ", ".join(reader.name for reader in self.waiting)
            raise ClusterError(
                f"committing {names}: the consumer was closed before the coordinator"
                " answered"
            )
        return self.done

    def succeed(self, reader: GroupReader) -> None:
        """Record that the coordinator has committed a partition's offset."""
        committed = self.waiting.pop(reader)
        reader.set_committed(committed)
        self.done[reader.place] = committed.offset

    def fail(self, reader: GroupReader, failure: KwireError) -> None:
        """Record that the offset of a partition will not be committed."""
        self.failure = self.failure or failure
        del self.waiting[reader]


class GroupOffsets:
    """Fetches and commits the offsets of one group.

    ``find`` and ``commit`` queue partitions. Call ``advance`` after every event: it
    sends the next requests. ``begin_reading`` is called with every partition whose
    committed offset has arrived.

    * ``membership``: None if the consumer does not join the group. Otherwise it
      verifies the member epoch when the coordinator rejects it.
    * ``failure``: reason why offsets cannot be fetched, or None.
    * ``has_answered``: True if the coordinator has ever returned offsets.
    """

    def __init__(
        self,
        cluster: ClusterMachine,
        coordinators: Coordinators,
        group: str,
        membership: Membership | None,
        begin_reading: Callable[[GroupReader], None],
    ) -> None:
        self.failure: KwireError | None = None
        self.has_answered = False
        self._cluster = cluster
        self._coordinators = coordinators
        self._group = group
        self._membership = membership
        self._begin_reading = begin_reading
        self._unknown: list[GroupReader] = []
        self._is_fetching = False
        self._fetch_backoff = Backoff(cluster)
        self._commits: deque[PendingCommit] = deque()
        self._is_committing = False
        self._commit_backoff = Backoff(cluster)

    @property
    def identity(self) -> GroupMetadata:
        """Identity of the consumer in the next request."""
        if self._membership is not None:
            return self._membership.metadata
        return GroupMetadata(self._group, "", -1, None)

    def find(self, reader: GroupReader) -> None:
        """Fetch the committed offset of a partition during the next ``advance``."""
        self._unknown.append(reader)

    def commit(
        self, offsets: Mapping[GroupReader, Committed], now: float
    ) -> PendingCommit:
        """Queue a commit. The returned object receives its result.

        Partitions without a result fail after ``ClusterSettings.timeout_s``.
        """
        settings = self._cluster.settings
        pending = PendingCommit(offsets, now + settings.timeout_s)
        if not pending.is_over:
            self._commits.append(pending)
            self._cluster.wake(now)
        return pending

    def is_pending(self, reader: GroupReader) -> bool:
        """Whether a commit of the partition is queued or in flight."""
        return any(reader in pending.waiting for pending in self._commits)

    def has_pending(self) -> bool:
        """Whether any commit is queued or in flight."""
        return bool(self._commits)

    def advance(self, now: float) -> None:
        """Send the requests that are due."""
        if self._cluster.failure is not None:
            self._fail_commits(self._cluster.failure)
            return
        self._unknown = [
            reader
            for reader in self._unknown
            if reader.ownership is Ownership.FINDING_OFFSET
        ]
        if self._unknown and not self._is_fetching:
            self._send_fetch(now)
        if not self._is_committing:
            self._drop_lost(now)
            if self._commits:
                self._send_commit(now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        for pending in self._commits:
            assert pending.waiting, "a commit with all answers is removed"
            for reader in () if self._is_committing else pending.waiting:
                assert not reader.is_lost, f"{reader.name} is lost, and not committed"
        assert self._commits or not self._is_committing, "nothing to commit"

    def _find_link(self, backoff: Backoff, now: float) -> Link | None:
        """Return the link to the coordinator, or None if no request can be sent now.

        Sets ``failure`` if the coordinator cannot be found.
        """
        if backoff.must_wait(now):
            return None
        coordinator = CoordinatorType.GROUP, self._group
        link = self._coordinators.link_to(*coordinator, now)
        if link is None:
            self.failure = self.failure or self._coordinators.failure(*coordinator)
        return link

    def _retry(self, backoff: Backoff, operation: str, code: int, now: float) -> None:
        """Delay the next attempt of a request that failed.

        A ``code`` of 0 means that the response lacked some partitions.
        """
        if is_moved(code):
            self._coordinators.forget(CoordinatorType.GROUP, self._group)
        backoff.fail(
            now,
            f"{operation} of group {self._group!r}",
            codes.name(code) if code else "the coordinator left partitions unanswered",
            first_s=_FIRST_PAUSE_S if code in _STALE else None,
        )

    def _is_rejected(self, code: int, now: float) -> bool:
        """Return whether an error code rejects the member or its epoch.

        If so, this method also requests an early heartbeat (``Membership.verify``).
        Always returns False if the consumer does not join the group.
        """
        is_rejected = code in _STALE or code in _NOT_A_MEMBER
        if is_rejected and self._membership is not None:
            self._membership.verify(now)
            return True
        return False

    # Methods that fetch committed offsets.

    def _send_fetch(self, now: float) -> None:
        """Send OffsetFetch for all partitions whose committed offset is unknown."""
        link = self._find_link(self._fetch_backoff, now)
        if link is None:
            return
        readers = list(self._unknown)

        def done(response: Any, now: float) -> None:
            self._is_fetching = False
            if response is None:
                code = codes.NETWORK_EXCEPTION
                self._retry(self._fetch_backoff, _FETCHING, code, now)
                return
            code, entries = read_offsets(response, readers)
            code = code or self._take_offsets(entries)
            if not code and len(entries) == len(readers):
                self._fetch_backoff.reset()
                self.has_answered = True
            elif not code or self._is_rejected(code, now) or faults.may_pass(code):
                self._retry(self._fetch_backoff, _FETCHING, code, now)
            else:
                self.failure = self._refusal(_FETCHING, code)

        try:
            version = pick_version(link, OffsetFetchRequest, readers)
            request = fetch_request(self.identity, readers, version)
            link.send(request, done, now, version=version)
        except KwireError as error:
            self.failure = error
            return
        self._is_fetching = True

    def _take_offsets(self, entries: Mapping[GroupReader, Any]) -> int:
        """Begin to read partitions at their committed offsets.

        Returns the first error code, or 0 if no partition has an error.
        """
        code = 0
        for reader, part in entries.items():
            if part.error_code:
                code = code or int(part.error_code)
            elif reader.ownership is Ownership.FINDING_OFFSET:
                # OffsetFetch contains the leader epoch since version 5 (KIP-320).
                # Before, the codec returns the default, -1.
                offset, epoch = part.committed_offset, part.committed_leader_epoch
                reader.set_committed(Committed(offset, epoch))
                self._begin_reading(reader)
        return code

    # Methods that commit offsets.

    def _drop_lost(self, now: float) -> None:
        """Fail commits of lost partitions, and commits that have taken too long."""
        for pending in self._commits:
            for reader in list(pending.waiting):
                if reader.is_lost:
                    self._fail(pending, reader, PartitionLost(*reader.place))
            if not pending.is_over and now >= pending.give_up_at:
                self._fail_all(pending, self._timeout())
        self._commits = deque(commit for commit in self._commits if not commit.is_over)
        for pending in self._commits:
            self._cluster.wake(pending.give_up_at)

    def _send_commit(self, now: float) -> None:
        """Send OffsetCommit for the remaining partitions of the oldest commit.

        The response ends the commit of every partition that succeeds or fails. The
        remaining partitions are sent again after a pause.
        """
        link = self._find_link(self._commit_backoff, now)
        if link is None:
            if self.failure is not None:
                self._fail_commits(self.failure)
            return
        pending = self._commits[0]

        sent_at = now

        def done(response: Any, now: float) -> None:
            self._is_committing = False
            self._cluster.metrics.commit_latency.add(now - sent_at)
            if response is None:
                code = codes.NETWORK_EXCEPTION
                self._retry(self._commit_backoff, _COMMITTING, code, now)
                return
            code = 0
            done_before = len(pending.done)
            for reader, part in read_entries(response.topics, pending.waiting).items():
                if not part.error_code:
                    pending.succeed(reader)
                else:
                    self._judge_commit(pending, reader, part.error_code, now)
                    code = code or part.error_code
            if count := len(pending.done) - done_before:
                self._cluster.report(
                    Event.OFFSETS_COMMITTED, group=self._group, partition_count=count
                )
            if pending.waiting:
                self._retry(self._commit_backoff, _COMMITTING, code, now)
            else:
                self._commit_backoff.reset()
            self._cluster.wake(now)

        try:
            version = pick_version(link, OffsetCommitRequest, pending.waiting)
            request = commit_request(self.identity, pending.waiting)
            link.send(request, done, now, version=version)
        except KwireError as error:
            self._fail_commits(error)
            return
        self._is_committing = True

    def _judge_commit(
        self, pending: PendingCommit, reader: GroupReader, code: int, now: float
    ) -> None:
        """Fail the commit of a partition unless a retry may succeed.

        After an outdated member epoch, the commit is retried with the epoch that the
        next heartbeat returns.
        """
        # If a topic is deleted, the group revokes its partitions, and there is nothing
        # left to commit to.
        is_deleted = reader.ownership is Ownership.REVOKED and code in _NO_TOPIC
        if is_deleted or self._is_rejected(code, now):
            if code not in _STALE:
                self._fail(pending, reader, PartitionLost(*reader.place))
        elif not faults.may_pass(code):
            self._fail(pending, reader, self._refusal(_COMMITTING, code))

    def _fail_commits(self, failure: KwireError) -> None:
        for pending in self._commits:
            self._fail_all(pending, failure)
        self._commits.clear()

    def _fail_all(self, pending: PendingCommit, failure: KwireError) -> None:
        for reader in list(pending.waiting):
            self._fail(pending, reader, failure)

    def _fail(
        self, pending: PendingCommit, reader: GroupReader, failure: KwireError
    ) -> None:
        self._cluster.report(
            Event.COMMIT_FAILED,
            partition=reader.name,
            group=self._group,
            reason=failure,
        )
        pending.fail(reader, failure)

    def _timeout(self) -> BrokersUnreachable:
        return BrokersUnreachable(
            f"committing for group {self._group!r}: the coordinator did not answer"
            f" within {self._cluster.settings.timeout_s:g} s; {self._cluster.reasons()}"
        )

    def _refusal(self, doing: str, code: int) -> KwireError:
        doing = f"{doing} of group {self._group!r}"
        if code in _STALE or code in _NOT_A_MEMBER:
            return RequestRefused(
                f"{doing}: the group has active members, so partitions= cannot choose"
                " partitions; use another group, or join this one",
                code,
            )
        permission = "the operation Read on the group and the topic"
        return faults.refusal(doing, code, permission)
