# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``GroupMember``: membership in a consumer group by heartbeats (KIP-848).

ConsumerGroupHeartbeat is the only request: it joins and leaves the group and reports
the owned partitions, and its response contains the assignment. ``machine.py`` changes
the owned partitions.

``TRANSITIONS`` lists the states and events. DESIGN.md contains the same table.
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
"""Special member epochs in a heartbeat.

* ``_JOIN``: join the group.
* ``_LEAVE``: leave the group.
* ``_LEAVE_FOR_A_WHILE``: leave the group as a static member that intends to return.
"""

_FIRST_WITH_PATTERN = first_version(
    "ConsumerGroupHeartbeatRequest", "subscribed_topic_regex"
)

_MIN_INTERVAL_S = 0.1
"""Minimum heartbeat interval in seconds, even if the coordinator requests a shorter
interval. Otherwise, an interval of 0 would make the client send without a pause.
"""

_EARLY_BURST = 10
"""Maximum number of early heartbeats without a pause between them. An early heartbeat
is sent before the heartbeat interval has passed, because the assignment has changed or
the member was fenced.
"""
_EARLY_S = 1.0
"""Minimum interval in seconds between two early heartbeats after ``_EARLY_BURST`` early
heartbeats.
"""

_FENCED = {codes.FENCED_MEMBER_EPOCH, codes.UNKNOWN_MEMBER_ID, codes.STALE_MEMBER_EPOCH}
"""Errors that fence a member. A fenced member has lost its partitions and joins again.
"""


class MemberState(Enum):
    """State of a consumer in the group protocol. FAILED is final."""

    OUTSIDE = auto()
    """Not a member, and not joining."""
    JOINING = auto()
    """The first heartbeat has not been sent yet."""
    UNCERTAIN = auto()
    """A heartbeat that joins the group was sent, or the member was fenced. The
    coordinator may already count this consumer as a member."""
    RECONCILING = auto()
    """Member whose last response contained an assignment, which the member has not
    acknowledged."""
    STABLE = auto()
    """Member that has acknowledged its assignment."""
    LEAVING = auto()
    """The coordinator has not confirmed yet that the member has left."""
    FAILED = auto()
    """Final state: the consumer cannot be a member, because of
    ``GroupMember.failure``."""


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
"""Next state by event and current state. An event must not happen in any other state.

* "join", "leave": decisions of the consumer.
* "send": a heartbeat was sent.
* "assign", "acknowledge": a response with or without an assignment has arrived.
* "lose": the coordinator has fenced the member, or has not answered within the session
  timeout.
* "end": the coordinator has removed the member, or its session has timed out.
* "fail": an error has occurred that a retry cannot solve.
"""


class _Heartbeat(NamedTuple):
    """Heartbeat request in flight, whose response has not arrived yet."""

    owned: Assignment
    """Partitions that the member owned when the request was sent."""
    has_owned: bool
    """Whether the heartbeat request contains the partitions ``owned``."""


class GroupMember:
    """State machine of a group member. Implements ``Membership``.

    Call ``advance`` after every event, and when the clock reaches the ``wake_at`` of
    the cluster. It sends the next heartbeat if one is due. The caller changes its owned
    partitions towards ``target``, and passes them to ``report``.

    * ``member_id``: random UUID. The coordinator may replace it.
    * ``epoch``: member epoch of the last response, or 0 while joining.
    * ``state``: current ``MemberState``. ``TRANSITIONS`` lists its changes.
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
        # Owned partitions that the coordinator has acknowledged. None means unknown:
        # the next heartbeat then contains all fields.
        self._reported: Assignment | None = None
        # At most one heartbeat in every incarnation. Responses to heartbeats of earlier
        # incarnations are ignored.
        self._in_flight: _Heartbeat | None = None
        self._interval_s = 0.0
        self._next_at = 0.0
        # Time of the last response. The session timeout is measured from this time on.
        self._heard_at = 0.0
        self._backoff = Backoff(cluster)
        # Heartbeats before ``_due_at``, which is one interval after the last one, are
        # early and must keep this pace.
        self._early_pace = Pace(_EARLY_BURST, _EARLY_S)
        self._due_at = 0.0
        self._join_began_at = 0.0

    @property
    def metadata(self) -> GroupMetadata:
        """Identity of the consumer in the current incarnation of its membership."""
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
        """Whether the consumer may currently add partitions of ``target``.

        False while a heartbeat with the owned partitions is in flight. It does not
        contain the added partitions, so the coordinator would conclude that they have
        been revoked.
        """
        return self._in_flight is None or not self._in_flight.has_owned

    def join(self, now: float) -> None:
        """Join the group if the consumer is outside."""
        if self.state is MemberState.OUTSIDE:
            self._backoff.reset()
            self._begin_incarnation("join", now)
            self._join_began_at = now

    def leave(self, now: float) -> None:
        """Leave the group unless the consumer is outside. All partitions are lost."""
        if not self.is_outside and self.state is not MemberState.LEAVING:
            self._backoff.reset()
            self._begin_incarnation("leave", now)
            # Restart the session timeout. If the coordinator does not answer within
            # this time, it removes the member anyway.
            self._heard_at = now

    def report(self, owned: Assignment) -> None:
        """Set the partitions that the consumer currently owns."""
        self._owned = owned

    def verify(self, now: float) -> None:
        """Send a heartbeat soon, because the coordinator has rejected the member epoch.

        Its response contains the current epoch, or fences the member.
        """
        self._next_at = min(self._next_at, now)

    def advance(self, now: float) -> None:
        """Send a heartbeat if one is due, and end a session that has timed out."""
        if self.is_outside or not self._check_session(now):
            return
        if self._in_flight is not None:
            return
        has_news = self._reported is not None and self._reported != self._owned
        send_at = now if has_news and not self._backoff.failures else self._next_at
        if now < self._due_at:
            # If the coordinator changes the assignment or fences the member in every
            # response, the member would otherwise send heartbeats without a pause.
            send_at = max(send_at, min(self._early_pace.next_at, self._due_at))
        if send_at > now:
            self._cluster.wake(send_at)
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

    def _begin_incarnation(self, event: str, now: float) -> None:
        """Begin the next incarnation, without a target.

        If the member joins again, it also has no owned partitions.
        """
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
        """End the membership and return False if its session has timed out.

        The coordinator removes a member whose heartbeats it has not received for the
        session timeout. A consumer that is still joining has no session.
        """
        if self.state in (MemberState.JOINING, MemberState.UNCERTAIN):
            return True
        lost_at = self._heard_at + self._options.session_timeout_s
        if now < lost_at:
            self._cluster.wake(lost_at)
            return True
        if self.state is MemberState.LEAVING:
            self._end()
        else:
            timeout_s = self._options.session_timeout_s
            self._lose(now, f"no response to heartbeats for {timeout_s:g} s")
        return False

    def _end(self) -> None:
        self._move("end")
        # The coordinator may still respond to the last heartbeat after the session
        # timeout. A consumer outside the group must ignore this response.
        self._in_flight = None
        group = self._options.group_id
        self._cluster.report(Event.MEMBER_LEFT, member_id=self.member_id, group=group)

    def _lose(self, now: float, reason: str) -> None:
        """Lose all partitions, which other members may own by now, and join again."""
        self._cluster.report(
            Event.MEMBER_FENCED,
            member_id=self.member_id,
            group=self._options.group_id,
            reason=reason,
        )
        self._begin_incarnation("lose", now)
        self._cluster.wake(now)

    def _send(self, link: Link, now: float) -> None:
        """Send a heartbeat, or fail if the broker does not support its version."""
        constraints = () if self._options.pattern is None else (GROUP_PATTERNS,)
        heartbeat = _Heartbeat(self._owned, self._has_owned())

        def done(response: Any, now: float) -> None:
            if heartbeat is self._in_flight:
                self._in_flight = None
                self._process_response(response, heartbeat.owned, now)

        try:
            version = link.pick(ConsumerGroupHeartbeatRequest, *constraints)
            link.send(self._build_request(version), done, now, version=version)
        except KwireError as error:
            self._fail(error)
            return
        self._move("send")
        if now < self._due_at:
            self._early_pace.note(now)
        self._due_at = now + max(self._interval_s, _MIN_INTERVAL_S)
        self._in_flight = heartbeat

    def _build_request(self, version: int) -> ConsumerGroupHeartbeatRequest:
        """Build the heartbeat for the current state.

        It contains the subscription and the other options only if ``_reported`` is
        None, because the coordinator keeps them. The owned partitions are sent as
        ``_has_owned`` describes.
        """
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
            # Specify the topic names and the pattern even if they are empty, because
            # null means that the subscription has not changed.
            fields["subscribed_topic_names"] = self._topics
            if version >= _FIRST_WITH_PATTERN:
                fields["subscribed_topic_regex"] = options.pattern or ""
        if self._has_owned():
            fields["topic_partitions"] = assignment_entries(self._owned)
        return ConsumerGroupHeartbeatRequest(**fields)

    def _has_owned(self) -> bool:
        """Return whether the next heartbeat has to contain the owned partitions.

        After an assignment, it contains them even if they have not changed: the
        coordinator may wait for the revocation of a partition that it had assigned, but
        that this member never owned.
        """
        is_reconciling = self.state is MemberState.RECONCILING
        return is_reconciling or self._reported != self._owned

    def _process_response(self, response: Any, owned: Assignment, now: float) -> None:
        """Process the response to a heartbeat, or None if the connection was lost.

        ``owned`` contains the partitions that the member owned when the request was
        sent.
        """
        code = codes.NETWORK_EXCEPTION if response is None else response.error_code
        if self.state is MemberState.LEAVING:
            # After an error that is not temporary, the group does not have this member
            # either, so that the consumer has left the group.
            if code and faults.may_pass(code) and code not in _FENCED:
                self._retry(code, now)
            else:
                self._end()
        elif not code and not _is_possible(response):
            self._retry(codes.UNKNOWN_SERVER_ERROR, now)
        elif not code:
            self._accept(response, owned, now)
        elif code in _FENCED:
            is_repeated = self._backoff.failures > 0
            self._lose(now, f"the coordinator answered {codes.name(code)}")
            # Join again immediately, but only after a pause if the member is fenced
            # several times in a row.
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
        """Process a heartbeat response without an error.

        Updates the epoch, the member id and the heartbeat interval. If the response
        contains an assignment, it becomes the target.
        """
        self.has_answered = True
        # A smaller epoch means that the coordinator has lost its state. Keep the
        # current epoch: the coordinator fences it, and the member joins again.
        self.epoch = max(self.epoch, response.member_epoch)
        self.member_id = response.member_id or self.member_id
        # A heartbeat with epoch 0 joins the group, so it has to contain all fields.
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
        """Send a heartbeat with all fields after a pause.

        By then, the group may have another coordinator.
        """
        if is_moved(code):
            group = self._options.group_id
            self._coordinators.forget(CoordinatorType.GROUP, group)
        self._reported = None
        operation = f"heartbeat in group {self._options.group_id!r}"
        self._backoff.fail(now, operation, codes.name(code))
        self._next_at = self._backoff.retry_at

    def _wait_for_instance_id(self, now: float) -> None:
        """Retry until the session of the previous owner of the instance id ends.

        Fails if the consumer has tried to join for ``ClusterSettings.timeout_s``.
        """
        timeout_s = self._cluster.settings.timeout_s
        if now < self._join_began_at + timeout_s:
            self._retry(codes.UNRELEASED_INSTANCE_ID, now)
            return
        failure = RequestRefused(
            f"joining group {self._options.group_id!r}: another member has used the"
            f" group_instance_id {self._options.group_instance_id!r} for"
            f" {timeout_s:g} s; choose a different one for each member",
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
    """Return whether a response without an error is valid.

    A member stays in epoch 0 until the group has an epoch for it. A response with epoch
    0 must not assign partitions, because the member could not report them: a heartbeat
    with epoch 0 joins the group and reports no partitions.
    """
    assignment = response.assignment
    has_partitions = assignment is not None and bool(assignment.topic_partitions)
    return response.member_epoch > 0 or (
        response.member_epoch == 0 and not has_partitions
    )
