# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``GroupMember``: membership in a consumer group by heartbeats (KIP-848).

``TRANSITIONS`` has the states of a member and the events that change them, and so has a
table in DESIGN.md. ``machine.py`` changes the partitions that the member owns.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from ....connection.negotiation import GROUP_PATTERNS
from ....connection.negotiation.facts import first_version
from ....errors import KwireError
from ....messages import ConsumerGroupHeartbeatRequest
from ....schema import error_codes as codes
from ...errors import FeatureUnsupported, RequestRefused
from .. import faults
from ..backoff import Backoff
from ..coordinators import CoordinatorType, is_moved
from ..events import Event
from ..pace import Pace
from .options import GroupMetadata
from .requests import assignment_entries, read_assignment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..cluster import ClusterMachine
    from ..coordinators import Coordinators
    from ..link import Link
    from .membership import Assignment
    from .options import GroupOptions

_JOIN, _LEAVE, _LEAVE_FOR_A_WHILE = 0, -1, -2
"""Member epochs of requests. A static member that intends to return sends the last."""

_FIRST_WITH_PATTERN = first_version(
    "ConsumerGroupHeartbeatRequest", "subscribed_topic_regex"
)

_MIN_INTERVAL_S = 0.1
"""Minimum heartbeat interval, whatever the coordinator requests."""

_EARLY_BURST = 10
_EARLY_S = 1.0
"""Number of heartbeats that may be sent before their interval has passed, because the
assignment has changed or the member was fenced, and the interval between further ones.
"""

_FENCED = {codes.FENCED_MEMBER_EPOCH, codes.UNKNOWN_MEMBER_ID, codes.STALE_MEMBER_EPOCH}
"""Errors after which a member has lost its partitions and joins again."""


class MemberState(Enum):
    """State of a member."""

    OUTSIDE = auto()
    """Not in the group, and not joining."""
    JOINING = auto()
    """About to send the first heartbeat."""
    UNCERTAIN = auto()
    """Joining, and the coordinator may already count this consumer as a member."""
    RECONCILING = auto()
    """Member with an assignment that it has not acknowledged."""
    STABLE = auto()
    """Member that has acknowledged its assignment."""
    LEAVING = auto()
    """Leaving; the coordinator has not answered yet."""
    FAILED = auto()
    """Cannot be a member. ``GroupMember.failure`` is the reason."""


_S = MemberState
_MEMBERS = _S.RECONCILING, _S.STABLE
_KNOWN = _S.UNCERTAIN, *_MEMBERS

TRANSITIONS: Mapping[str, Mapping[MemberState, MemberState]] = {
    "join": {_S.OUTSIDE: _S.JOINING},
    "send": {
        _S.JOINING: _S.UNCERTAIN,
        **{state: state for state in (*_KNOWN, _S.LEAVING)},
    },
    "assign": dict.fromkeys(_KNOWN, _S.RECONCILING),
    "acknowledge": dict.fromkeys(_KNOWN, _S.STABLE),
    "lose": dict.fromkeys(_KNOWN, _S.UNCERTAIN),
    "leave": {_S.JOINING: _S.OUTSIDE, **dict.fromkeys(_KNOWN, _S.LEAVING)},
    "end": {_S.LEAVING: _S.OUTSIDE},
    "fail": dict.fromkeys((_S.JOINING, *_KNOWN, _S.LEAVING), _S.FAILED),
}
"""Next state by event and state. An event must not happen in any other state.

"join" and "leave" are decisions of the consumer. "send" is a heartbeat. "assign" and
"acknowledge" are responses with and without an assignment. "lose" means that the
coordinator fences the member or does not answer for too long, "end" that it has removed
the member, and "fail" that an error occurs which a retry does not solve.
"""


class _Heartbeat(NamedTuple):
    """A heartbeat in flight, and the partitions that the member owned."""

    owned: Assignment
    has_owned: bool
    """Whether the request contains these partitions."""


class GroupMember:
    """One member: its state, its id and epoch, and its heartbeats.

    Implements ``Membership``.
    """

    def __init__(
        self,
        cluster: ClusterMachine,
        coordinators: Coordinators,
        options: GroupOptions,
        topics: Sequence[str],
        rack: str,
    ) -> None:
        self.member_id = str(UUID(int=cluster.random.getrandbits(128), version=4))
        self.epoch = _JOIN
        self.state = MemberState.OUTSIDE
        self.target: Assignment | None = None
        self.incarnation = 0
        self.has_answered = False
        self.failure: KwireError | None = None
        self._cluster = cluster
        self._coordinators = coordinators
        self._options = options
        self._topics = topics
        self._rack = rack
        self._owned: Assignment = frozenset()
        # The partitions that the coordinator knows to be owned. None makes the next
        # heartbeat contain everything.
        self._reported: Assignment | None = None
        # At most one in each incarnation. A response to an earlier one is ignored.
        self._in_flight: _Heartbeat | None = None
        self._interval_s = 0.0
        self._next_at = 0.0
        self._heard_at = 0.0
        self._backoff = Backoff(cluster)
        self._early_pace = Pace(_EARLY_BURST, _EARLY_S)
        self._due_at = 0.0
        self._join_began_at = 0.0

    @property
    def metadata(self) -> GroupMetadata:
        """Identity in the current incarnation."""
        options = self._options
        return GroupMetadata(
            options.group_id, self.member_id, self.epoch, options.group_instance_id
        )

    @property
    def is_outside(self) -> bool:
        """Whether the consumer is neither a member nor joining nor leaving."""
        return self.state in (MemberState.OUTSIDE, MemberState.FAILED)

    @property
    def can_add(self) -> bool:
        """Whether the consumer may own further partitions of ``target`` now.

        The coordinator would understand a report in flight, which lacks them, as their
        revocation.
        """
        return self._in_flight is None or not self._in_flight.has_owned

    def join(self, now: float) -> None:
        """Join the group if the consumer is outside."""
        if self.state is MemberState.OUTSIDE:
            self._backoff.reset()
            self._begin("join", now)
            self._join_began_at = now

    def leave(self, now: float) -> None:
        """Leave the group unless the consumer is outside. All partitions are lost."""
        if not self.is_outside and self.state is not MemberState.LEAVING:
            self._backoff.reset()
            self._begin("leave", now)
            # If no response arrives, the session of the coordinator ends by then.
            self._heard_at = now

    def report(self, owned: Assignment) -> None:
        """Set the partitions that the consumer owns now."""
        self._owned = owned

    def verify(self, now: float) -> None:
        """Ask the coordinator soon, because it has rejected the member epoch."""
        self._next_at = min(self._next_at, now)

    def advance(self, now: float) -> None:
        """Send a heartbeat if it is due."""
        if self.is_outside or not self._check_session(now):
            return
        if self._in_flight is not None:
            return
        has_news = self._reported is not None and self._reported != self._owned
        at = now if has_news and not self._backoff.failures else self._next_at
        if now < self._due_at:
            # A coordinator that changes the assignment or fences the member in each
            # response would otherwise get heartbeats without a pause.
            at = max(at, min(self._early_pace.next_at, self._due_at))
        if at > now:
            self._cluster.wake(at)
            return
        group = self._options.group_id
        link = self._coordinators.link_to(CoordinatorType.GROUP, group, now)
        if link is not None:
            self._send(link, now)
            return
        failure = self._coordinators.failure(CoordinatorType.GROUP, group)
        if isinstance(failure, FeatureUnsupported):
            from ..missing_features import as_joining

            failure = as_joining(failure)
        if failure is not None:
            self._fail(failure)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        is_member = self.state in _MEMBERS
        is_idle = self.is_outside or self.state is MemberState.JOINING
        assert is_member or self.target is None, "only members have a target"
        assert not is_idle or self._in_flight is None, "nothing to answer"
        assert is_member or self._reported is None, "only members are known to own"
        assert self.epoch >= _JOIN, "the epoch of a member is never negative"
        assert (self.state is MemberState.FAILED) is (self.failure is not None)

    def _move(self, event: str) -> None:
        following = TRANSITIONS[event].get(self.state)
        assert following is not None, f"{event}: the member is {self.state.name}"
        self.state = following

    def _begin(self, event: str, now: float) -> None:
        """Begin another incarnation, which owns nothing and has no target."""
        self._move(event)
        self.incarnation += 1
        self.target = None
        self._in_flight = self._reported = None
        self._next_at = now
        if self.state is MemberState.UNCERTAIN or self.state is MemberState.JOINING:
            self.epoch = _JOIN
            self._owned = frozenset()

    def _fail(self, failure: KwireError) -> None:
        self._move("fail")
        self.failure = failure
        self.target = self._in_flight = self._reported = None

    def _check_session(self, now: float) -> bool:
        """Return whether the coordinator may still count this consumer as a member."""
        if self.state in (MemberState.JOINING, MemberState.UNCERTAIN):
            return True
        lost_at = self._heard_at + self._options.session_timeout_s
        if now < lost_at:
            self._cluster.wake(lost_at)
            return True
        if self.state is MemberState.LEAVING:
            self._move("end")
            self._report_left()
        else:
            timeout_s = self._options.session_timeout_s
            self._lose(now, f"no response to heartbeats for {timeout_s:g} s")
        return False

    def _report_left(self) -> None:
        group = self._options.group_id
        self._cluster.report(Event.MEMBER_LEFT, member_id=self.member_id, group=group)

    def _lose(self, now: float, reason: str) -> None:
        """Join again, because other members may own the partitions now."""
        self._cluster.report(
            Event.MEMBER_FENCED,
            member_id=self.member_id,
            group=self._options.group_id,
            reason=reason,
        )
        self._begin("lose", now)
        self._cluster.wake(now)

    def _send(self, link: Link, now: float) -> None:
        constraints = () if self._options.pattern is None else (GROUP_PATTERNS,)
        heartbeat = _Heartbeat(self._owned, self._has_owned())

        def done(response: Any, now: float) -> None:
            if heartbeat is self._in_flight:
                self._in_flight = None
                self._take(response, heartbeat.owned, now)

        try:
            version = link.pick(ConsumerGroupHeartbeatRequest, *constraints)
            link.send(self._request(version), done, now, version=version)
        except KwireError as error:
            self._fail(error)
            return
        self._move("send")
        if now < self._due_at:
            self._early_pace.note(now)
        self._due_at = now + max(self._interval_s, _MIN_INTERVAL_S)
        self._in_flight = heartbeat

    def _request(self, version: int) -> ConsumerGroupHeartbeatRequest:
        options = self._options
        fields: dict[str, Any] = {
            "group_id": options.group_id,
            "member_id": self.member_id,
            "instance_id": options.group_instance_id,
        }
        if self.state is MemberState.LEAVING:
            epoch = _LEAVE if options.group_instance_id is None else _LEAVE_FOR_A_WHILE
            return ConsumerGroupHeartbeatRequest(member_epoch=epoch, **fields)
        fields["member_epoch"] = self.epoch
        if self._reported is None:
            fields |= {
                "rack_id": self._rack or None,
                "rebalance_timeout_ms": int(options.max_poll_interval_s * 1000),
                "server_assignor": options.server_assignor,
            }
            # Null would mean that the subscription has not changed.
            fields["subscribed_topic_names"] = self._topics
            if version >= _FIRST_WITH_PATTERN:
                fields["subscribed_topic_regex"] = options.pattern or ""
        if self._has_owned():
            fields["topic_partitions"] = assignment_entries(self._owned)
        return ConsumerGroupHeartbeatRequest(**fields)

    def _has_owned(self) -> bool:
        """Whether the next heartbeat contains the owned partitions.

        After an assignment it does so even if they have not changed: the coordinator
        may wait for the revocation of a partition that was never owned.
        """
        is_reconciling = self.state is MemberState.RECONCILING
        return is_reconciling or self._reported != self._owned

    def _take(self, response: Any, owned: Assignment, now: float) -> None:
        code = codes.NETWORK_EXCEPTION if response is None else response.error_code
        if self.state is MemberState.LEAVING:
            # Other errors mean that there is no such member.
            if code and faults.may_pass(code) and code not in _FENCED:
                self._retry(code, now)
            else:
                self._move("end")
                self._report_left()
        elif not code and not _is_possible(response):
            self._retry(codes.UNKNOWN_SERVER_ERROR, now)
        elif not code:
            self._accept(response, owned, now)
        elif code in _FENCED:
            is_repeated = self._backoff.failures > 0
            self._lose(now, f"the coordinator answered {codes.name(code)}")
            # A member that is fenced repeatedly waits before it joins again.
            self._backoff.fail(now)
            if is_repeated:
                self._next_at = self._backoff.retry_at
        elif code == codes.UNRELEASED_INSTANCE_ID:
            self.has_answered = True
            self._wait_for_instance_id(now)
        elif faults.may_pass(code) and code != codes.UNKNOWN_SERVER_ERROR:
            self._retry(code, now)
        else:
            self._fail(self._refusal(code, response.error_message))

    def _accept(self, response: Any, owned: Assignment, now: float) -> None:
        """Handle a response without an error."""
        self.has_answered = True
        # An epoch below the current one would be that of a coordinator that has lost
        # its state. It fences the current epoch.
        self.epoch = max(self.epoch, response.member_epoch)
        self.member_id = response.member_id or self.member_id
        # In epoch 0, each request has to contain everything.
        self._reported = owned if self.epoch else None
        self._heard_at = now
        self._backoff.reset()
        if self.state is MemberState.UNCERTAIN:
            self._cluster.report(
                Event.MEMBER_JOINED,
                member_id=self.member_id,
                group=self._options.group_id,
                epoch=self.epoch,
            )
        self._interval_s = max(response.heartbeat_interval_ms / 1000, _MIN_INTERVAL_S)
        self._next_at = now + self._interval_s
        if response.assignment is None:
            self._move("acknowledge")
        else:
            self._move("assign")
            self.target = read_assignment(response.assignment)

    def _retry(self, code: int, now: float) -> None:
        """Send everything again after a pause: the coordinator may have changed."""
        if is_moved(code):
            group = self._options.group_id
            self._coordinators.forget(CoordinatorType.GROUP, group)
        self._reported = None
        operation = f"heartbeat in group {self._options.group_id!r}"
        self._backoff.fail(now, operation, codes.name(code))
        self._next_at = self._backoff.retry_at

    def _wait_for_instance_id(self, now: float) -> None:
        """Retry until the session of the previous owner of the instance id ends."""
        timeout_s = self._cluster.settings.timeout_s
        if now < self._join_began_at + timeout_s:
            self._retry(codes.UNRELEASED_INSTANCE_ID, now)
            return
        failure = RequestRefused(
            f"joining group {self._options.group_id!r}: another member has had the"
            f" group_instance_id {self._options.group_instance_id!r} for"
            f" {timeout_s:g} s; give each"
            " member its own",
            codes.UNRELEASED_INSTANCE_ID,
        )
        self._fail(failure)

    def _refusal(self, code: int, message: str | None) -> KwireError:
        doing = f"joining group {self._options.group_id!r}"
        if code == codes.UNSUPPORTED_VERSION:
            return RequestRefused(
                f"{doing}: the broker does not have this group protocol enabled"
                " (KIP-848, Kafka 4.0 and later); set partitions= to read with"
                " committed offsets and without joining",
                code,
            )
        permission = "the operation Read on the group, and Describe on its topics"
        return faults.refusal(doing, code, permission, message)


def _is_possible(response: Any) -> bool:
    """Return whether a coordinator can have meant this response without an error.

    A member stays in epoch 0 as long as the group has no epoch for it. Partitions that
    it got there could not be reported: a heartbeat of epoch 0 joins and owns nothing.
    """
    assignment = response.assignment
    has_partitions = assignment is not None and bool(assignment.topic_partitions)
    return response.member_epoch > 0 or (
        response.member_epoch == 0 and not has_partitions
    )
