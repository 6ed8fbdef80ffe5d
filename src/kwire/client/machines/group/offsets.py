# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``GroupOffsets``: fetches and commits the offsets of a group, at its coordinator.

Commits are sent one after another, in the order in which they were requested: a later
one may not be overtaken by the retry of an earlier one.
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
    NotAuthorized,
    PartitionLost,
    RequestRefused,
)
from .. import faults
from ..coordinators import CoordinatorType, is_moved
from .options import Committed
from .requests import (
    commit_request,
    fetch_request,
    pick_version,
    read_entries,
    read_offsets,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..cluster import ClusterMachine
    from ..coordinators import Coordinators
    from .options import GroupMetadata, GroupReader

_STALE = {codes.STALE_MEMBER_EPOCH, codes.ILLEGAL_GENERATION}
"""Errors of a member that has a newer epoch, or is fenced: a heartbeat shows which."""

_NOT_A_MEMBER = {codes.UNKNOWN_MEMBER_ID, codes.FENCED_MEMBER_EPOCH}

_NO_TOPIC = {codes.UNKNOWN_TOPIC_ID, codes.UNKNOWN_TOPIC_OR_PARTITION}

_FIRST_PAUSE_S = 0.01
"""The first pause for a coordinator that has another epoch: mostly milliseconds."""


class PendingCommit:
    """A commit that was requested: over when the coordinator has answered for all.

    ``done`` is what was committed, ``failure`` the first thing that went wrong.
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
        """Whether nothing is waited for any more."""
        return not self.waiting

    def result(self) -> dict[tuple[str, int], int]:
        """Return what was committed, or raise what went wrong."""
        if self.failure is not None:
            raise self.failure
        if self.waiting:
            names = ", ".join(each.name for each in self.waiting)
            raise ClusterError(
                f"committing {names}: the consumer was closed before the coordinator"
                " answered"
            )
        return self.done

    def fail(self, reader: GroupReader, failure: KwireError) -> None:
        """Note that the offset of a partition was not committed."""
        self.failure = self.failure or failure
        del self.waiting[reader]


class GroupOffsets:
    """The offsets of one group, over the link to its coordinator.

    ``who`` returns who commits; ``take_start`` is called with each partition whose
    offset was found. ``failure`` is why offsets cannot be fetched.
    """

    def __init__(
        self,
        cluster: ClusterMachine,
        coordinators: Coordinators,
        who: Callable[[], GroupMetadata],
        take_start: Callable[[GroupReader], None],
    ) -> None:
        self.failure: KwireError | None = None
        # Whether the group's coordinator wanted nothing of a member that commits.
        self.is_fenced = False
        self.has_answered = False
        self._cluster = cluster
        self._coordinators = coordinators
        self._who = who
        self._take_start = take_start
        self._unknown: list[GroupReader] = []
        self._is_fetching = False
        self._fetch_at = 0.0
        self._fetch_failures = 0
        self._commits: deque[PendingCommit] = deque()
        self._is_committing = False
        self._commit_at = 0.0
        self._commit_failures = 0

    def find(self, readers: Iterable[GroupReader]) -> None:
        """Look for the committed offsets of partitions."""
        self._unknown += readers

    def commit(
        self, offsets: Mapping[GroupReader, Committed], now: float
    ) -> PendingCommit:
        """Commit offsets; what becomes of it is in the object that is returned."""
        settings = self._cluster.settings
        pending = PendingCommit(offsets, now + settings.timeout_s)
        if not pending.is_over:
            self._commits.append(pending)
            self._cluster.wake(now)
        return pending

    def is_pending(self, reader: GroupReader) -> bool:
        """Whether an offset of a partition is being committed."""
        return any(reader in each.waiting for each in self._commits)

    def has_pending(self) -> bool:
        """Whether anything is being committed."""
        return bool(self._commits)

    def advance(self, now: float) -> None:
        """Send what can be sent now."""
        if self._cluster.failure is not None:
            self._fail_commits(self._cluster.failure)
            return
        self._unknown = [each for each in self._unknown if not each.is_lost]
        if self._unknown and not self._is_fetching:
            self._fetch(now)
        self._drop_lost(now)
        if self._commits and not self._is_committing:
            self._commit(now)

    def _link(self, at: float, now: float) -> Any:
        if at > now:
            self._cluster.wake(at)
            return None
        group = self._who().group
        link = self._coordinators.link_to(CoordinatorType.GROUP, group, now)
        if link is None:
            failure = self._coordinators.failure(CoordinatorType.GROUP, group)
            self.failure = self.failure or failure
        return link

    # Where to begin.

    def _fetch(self, now: float) -> None:
        link = self._link(self._fetch_at, now)
        if link is None:
            return
        asked = list(self._unknown)
        who = self._who()

        def done(response: Any, now: float) -> None:
            self._is_fetching = False
            if response is None:
                self._fetch_again(codes.NETWORK_EXCEPTION, now)
                return
            code, entries = read_offsets(response, asked)
            worst = code or self._take_offsets(entries)
            if worst:
                self._judge_fetch(worst, now)
            elif len(entries) == len(asked):
                self._fetch_failures = 0
                self.has_answered = True
            else:
                self._fetch_again(codes.NONE, now)

        try:
            version = pick_version(link, OffsetFetchRequest, asked)
            link.send(fetch_request(who, asked, version), done, now, version=version)
        except KwireError as error:
            self.failure = error
            return
        self._is_fetching = True

    def _take_offsets(self, entries: Mapping[GroupReader, Any]) -> int:
        """Take the offsets that were found; return an error code, if there is any."""
        worst = 0
        found = {each for each, part in entries.items() if not part.error_code}
        self._unknown = [each for each in self._unknown if each not in found]
        for reader, part in entries.items():
            if part.error_code:
                worst = worst or part.error_code
            elif not reader.is_lost:
                # Brokers before OffsetFetch 5 have no epoch.
                reader.committed = Committed(
                    part.committed_offset, part.committed_leader_epoch
                )
                self._take_start(reader)
        return int(worst)

    def _judge_fetch(self, code: int, now: float) -> None:
        is_member = bool(self._who().member_id)
        if is_member and (code in _STALE or code in _NOT_A_MEMBER):
            self.is_fenced = True
            self._fetch_again(code, now)
        elif faults.may_pass(code):
            self._fetch_again(code, now)
        else:
            self.failure = self._refusal("fetching the offsets", code)

    def _fetch_again(self, code: int, now: float) -> None:
        self._fetch_failures += 1
        self._fetch_at = now + self._pause(code, self._fetch_failures)

    # What is done with.

    def _drop_lost(self, now: float) -> None:
        """Fail what belongs to others by now, or takes too long."""
        for pending in self._commits if not self._is_committing else ():
            for reader in [each for each in pending.waiting if each.is_lost]:
                pending.fail(reader, PartitionLost(*reader.place))
            if now >= pending.give_up_at:
                for reader in list(pending.waiting):
                    pending.fail(reader, self._too_late())
            else:
                self._cluster.wake(pending.give_up_at)
        while self._commits and self._commits[0].is_over:
            self._commits.popleft()

    def _commit(self, now: float) -> None:
        link = self._link(self._commit_at, now)
        if link is None:
            if self.failure is not None:
                self._fail_commits(self.failure)
            return
        pending = self._commits[0]
        asked = dict(pending.waiting)

        def done(response: Any, now: float) -> None:
            self._is_committing = False
            if response is None:
                self._commit_again(codes.NETWORK_EXCEPTION, now)
                return
            worst = 0
            for reader, part in read_entries(response.topics, asked).items():
                code = part.error_code
                if not code:
                    reader.committed = asked[reader]
                    pending.done[reader.place] = asked[reader].offset
                    del pending.waiting[reader]
                else:
                    self._judge_commit(pending, reader, code)
                    worst = worst or code
            if pending.waiting:
                self._commit_again(worst, now)
            else:
                self._commit_failures = 0
            self._cluster.wake(now)

        try:
            version = pick_version(link, OffsetCommitRequest, asked)
            request = commit_request(self._who(), asked, version)
            link.send(request, done, now, version=version)
        except KwireError as error:
            self._fail_commits(error)
            return
        self._is_committing = True

    def _judge_commit(
        self, pending: PendingCommit, reader: GroupReader, code: int
    ) -> None:
        is_member = bool(self._who().member_id)
        if is_member and code in _STALE:
            self.is_fenced = True
        elif is_member and code in _NOT_A_MEMBER:
            self.is_fenced = True
            pending.fail(reader, PartitionLost(*reader.place))
        elif self._is_deleted(reader, code):
            pending.fail(reader, PartitionLost(*reader.place))
        elif not faults.may_pass(code):
            pending.fail(reader, self._refusal("committing", code))

    def _is_deleted(self, reader: GroupReader, code: int) -> bool:
        """Whether the group has taken a partition because its topic is gone."""
        return reader.is_revoked and code in _NO_TOPIC

    def _commit_again(self, code: int, now: float) -> None:
        self._commit_failures += 1
        self._commit_at = now + self._pause(code, self._commit_failures)

    def _fail_commits(self, failure: KwireError) -> None:
        for pending in self._commits:
            for reader in list(pending.waiting):
                pending.fail(reader, failure)
        self._commits.clear()

    def _pause(self, code: int, failures: int) -> float:
        if is_moved(code):
            self._coordinators.forget(CoordinatorType.GROUP, self._who().group)
        jitter = self._cluster.random.random()
        first_s = _FIRST_PAUSE_S if code in _STALE else None
        return self._cluster.settings.backoff_s(failures, jitter, first_s)

    def _too_late(self) -> BrokersUnreachable:
        return BrokersUnreachable(
            f"committing for group {self._who().group!r}: the coordinator did not"
            f" answer within {self._cluster.settings.timeout_s:g} s;"
            f" {self._cluster.reasons()}"
        )

    def _refusal(self, doing: str, code: int) -> KwireError:
        doing = f"{doing} of group {self._who().group!r}"
        if code in (
            codes.GROUP_AUTHORIZATION_FAILED,
            codes.TOPIC_AUTHORIZATION_FAILED,
        ):
            return NotAuthorized(
                f"{doing}: the user is not authorized; it needs the operation Read on"
                " the group and the topic"
            )
        if code in _STALE or code in _NOT_A_MEMBER:
            return RequestRefused(
                f"{doing}: the group has members that joined it, which excludes"
                " partitions that are chosen by hand; use another group",
                code,
            )
        return RequestRefused(f"{doing}: the broker answered {codes.name(code)}", code)
