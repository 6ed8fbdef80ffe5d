# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``GroupMember``: membership in a consumer group by heartbeats (KIP-848).

    OUTSIDE --join--> JOINING --epoch 0--> MEMBER --leave--> LEAVING --> OUTSIDE
                         ^-------- fenced -------'

The coordinator decides the assignment. ``target`` is what it wants this member to own,
``report`` what the member owns by now; ``machine.py`` takes it from one to the other.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ....connection.negotiation import GROUP_PATTERNS
from ....connection.negotiation.facts import first_version
from ....errors import KwireError
from ....messages import ConsumerGroupHeartbeatRequest
from ....schema import error_codes as codes
from ...errors import FeatureUnsupported, NotAuthorized, RequestRefused
from .. import faults
from ..coordinators import CoordinatorType, is_moved
from ..pace import Pace
from .options import GroupMetadata
from .requests import assignment_entries, read_assignment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..cluster import ClusterMachine
    from ..coordinators import Coordinators
    from ..link import Link
    from .options import GroupOptions

    Assignment = frozenset[tuple[UUID, int]]

_JOIN, _LEAVE, _LEAVE_FOR_A_WHILE = 0, -1, -2
"""Member epochs of requests; the last is a static member's, who will be back."""

_FIRST_WITH_PATTERN = first_version(
    "ConsumerGroupHeartbeatRequest", "subscribed_topic_regex"
)

_SHORTEST_INTERVAL_S = 0.1
"""Heartbeats are not more frequent than that, whatever a coordinator wants."""

_EARLY_BURST = 10
_EARLY_S = 1.0
"""Heartbeats that may be sent before their interval is over, because the assignment has
changed or the member was fenced, and the interval between further ones.
"""

_FENCED = {codes.FENCED_MEMBER_EPOCH, codes.UNKNOWN_MEMBER_ID, codes.STALE_MEMBER_EPOCH}
"""Errors after which a member joins again, with nothing."""


class MemberState(Enum):
    """Where a member is between joining and leaving."""

    OUTSIDE = auto()
    JOINING = auto()
    MEMBER = auto()
    LEAVING = auto()


class GroupMember:
    """One member: its id and epoch, and the heartbeats that keep it.

    ``target`` is None until the coordinator has sent an assignment. ``losses`` counts
    how often all partitions were lost at once: the member was fenced, or nothing was
    heard for too long. ``failure`` is why it cannot be a member.
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
        self.losses = 0
        self.failure: KwireError | None = None
        self._cluster = cluster
        self._coordinators = coordinators
        self._options = options
        self._topics = topics
        self._rack = rack
        self._owned: Assignment = frozenset()
        # What the coordinator knows: None is to be sent all again.
        self._reported: Assignment | None = None
        # Whether the coordinator knows of what is owned since its last assignment: it
        # may wait to hear that a partition is given up that was never owned.
        self._is_confirmed = True
        # Whether a report of what is owned is on its way: nothing may be added to that,
        # which the coordinator would take for given up.
        self.is_reporting = False
        # Whether the coordinator answers; and whether it may count on this member.
        self.has_answered = False
        self._is_known = False
        self._is_waiting = False
        # Grows with each loss of the membership. A response to a request of an earlier
        # life is left alone.
        self.life = 0
        self._interval_s = 0.0
        self._next_at = 0.0
        self._heard_at = 0.0
        self._failures = 0
        self._early_pace = Pace(_EARLY_BURST, _EARLY_S)
        self._due_at = 0.0
        self._wanted_id_since = 0.0

    @property
    def metadata(self) -> GroupMetadata:
        """Who this member is when it commits."""
        options = self._options
        return GroupMetadata(
            options.group, self.member_id, self.epoch, options.instance_id
        )

    def join(self, now: float) -> None:
        """Begin to join, unless this has been done."""
        if self.state is MemberState.OUTSIDE and self.failure is None:
            self.state = MemberState.JOINING
            self._begin(now)
            self._heard_at = self._wanted_id_since = now

    def leave(self, now: float) -> None:
        """Begin to leave; what was owned is lost."""
        if self.state is MemberState.LEAVING:
            return
        self.state = MemberState.LEAVING if self._is_known else MemberState.OUTSIDE
        # The coordinator may learn of it as late as a session takes.
        self._heard_at = now
        self._begin(now)

    def report(self, owned: Assignment) -> None:
        """Note what the member owns now: the coordinator hears of it at once."""
        self._owned = owned

    def beat_now(self, now: float) -> None:
        """Send a heartbeat as soon as possible: something is wrong with the epoch."""
        self._next_at = min(self._next_at, now)

    def advance(self, now: float) -> None:
        """Send a heartbeat if it is time."""
        if self.state is MemberState.OUTSIDE or self.failure is not None:
            return
        if self.state is not MemberState.JOINING and not self._check_session(now):
            return
        if self._is_waiting:
            return
        is_news = self._reported is not None and self._reported != self._owned
        at = now if is_news and not self._failures else self._next_at
        if now < self._due_at:
            # A coordinator that changes the assignment, or fences the member, in each
            # response would otherwise get heartbeats without a pause.
            at = max(at, min(self._early_pace.next_at, self._due_at))
        if at > now:
            self._cluster.wake(at)
            return
        group = self._options.group
        link = self._coordinators.link_to(CoordinatorType.GROUP, group, now)
        if link is not None:
            self._send(link, now)
        else:
            failure = self._coordinators.failure(CoordinatorType.GROUP, group)
            if isinstance(failure, FeatureUnsupported):
                from ..missing_features import as_joining

                failure = as_joining(failure)
            self.failure = failure

    def _begin(self, now: float) -> None:
        """Begin another life: what is on its way belongs to the last one."""
        self.life += 1
        self._is_waiting = self.is_reporting = False
        self._reported = None
        self._is_confirmed = True
        self._failures = 0
        self._next_at = now
        self.target = None
        if self.state is MemberState.JOINING:
            self.epoch = _JOIN
            self._owned = frozenset()

    def _check_session(self, now: float) -> bool:
        """Count partitions as lost where no heartbeat was answered for too long."""
        lost_at = self._heard_at + self._options.session_timeout_s
        if now < lost_at:
            self._cluster.wake(lost_at)
            return True
        if self.state is MemberState.LEAVING:
            # The coordinator has found out by itself.
            self._end()
        else:
            self._lose(now)
        return False

    def _end(self) -> None:
        self.state = MemberState.OUTSIDE
        self._is_known = False

    def _lose(self, now: float) -> None:
        """Join again: all that was owned may belong to others by now."""
        self.losses += 1
        self.state = MemberState.JOINING
        self._begin(now)
        self._cluster.wake(now)

    def _send(self, link: Link, now: float) -> None:
        constraints = () if self._options.pattern is None else (GROUP_PATTERNS,)
        try:
            version = link.pick(ConsumerGroupHeartbeatRequest, *constraints)
        except KwireError as error:
            self.failure = error
            return
        life, owned = self.life, self._owned

        def done(response: Any, now: float) -> None:
            if life == self.life:
                self._is_waiting = self.is_reporting = False
                self._take(response, owned, now)

        try:
            link.send(self._request(version), done, now, version=version)
        except KwireError as error:
            self.failure = error
            return
        if now < self._due_at:
            self._early_pace.note(now)
        self._due_at = now + max(self._interval_s, _SHORTEST_INTERVAL_S)
        self._is_waiting = self._is_known = True
        self.is_reporting = self._has_report()

    def _request(self, version: int) -> ConsumerGroupHeartbeatRequest:
        options = self._options
        who: dict[str, Any] = {
            "group_id": options.group,
            "member_id": self.member_id,
            "instance_id": options.instance_id,
        }
        if self.state is MemberState.LEAVING:
            epoch = _LEAVE if options.instance_id is None else _LEAVE_FOR_A_WHILE
            return ConsumerGroupHeartbeatRequest(member_epoch=epoch, **who)
        who["member_epoch"] = self.epoch
        if self._reported is None:
            who |= {
                "rack_id": self._rack or None,
                "rebalance_timeout_ms": int(options.max_poll_interval_s * 1000),
                "server_assignor": options.server_assignor,
            }
            # Null would be "as before".
            who["subscribed_topic_names"] = self._topics
            if version >= _FIRST_WITH_PATTERN:
                who["subscribed_topic_regex"] = options.pattern or ""
        if self._has_report():
            who["topic_partitions"] = assignment_entries(self._owned)
        return ConsumerGroupHeartbeatRequest(**who)

    def _has_report(self) -> bool:
        """Whether the next heartbeat names what is owned."""
        return self._reported != self._owned or not self._is_confirmed

    def _take(self, response: Any, owned: Assignment, now: float) -> None:
        code = codes.NETWORK_EXCEPTION if response is None else response.error_code
        if self.state is MemberState.LEAVING:
            if code and not self._is_over(code):
                self._retry(code, now)
            else:
                self._end()
        elif not code:
            self._take_epoch(response, owned, now)
        elif code in _FENCED:
            failures = self._failures
            self._lose(now)
            # Whom the coordinator fences again and again waits a little.
            self._failures = failures + 1
            if failures:
                self._next_at = now + self._pause()
        elif code == codes.UNRELEASED_INSTANCE_ID:
            self.has_answered = True
            self._wait_for_instance_id(now)
        elif faults.may_pass(code) and code != codes.UNKNOWN_SERVER_ERROR:
            self._retry(code, now)
        else:
            self.failure = self._refusal(code, response.error_message)

    def _is_over(self, code: int) -> bool:
        """Whether an error says that there is no member who could leave."""
        return code in _FENCED or not faults.may_pass(code)

    def _take_epoch(self, response: Any, owned: Assignment, now: float) -> None:
        self.state = MemberState.MEMBER
        self.has_answered = True
        self.epoch = response.member_epoch
        self.member_id = response.member_id or self.member_id
        # Who is still in epoch 0 has to send all again, as for joining.
        self._reported = owned if self.epoch else None
        self._heard_at = now
        self._failures = 0
        self._interval_s = max(
            response.heartbeat_interval_ms / 1000, _SHORTEST_INTERVAL_S
        )
        self._next_at = now + self._interval_s
        self._is_confirmed = response.assignment is None
        if response.assignment is not None:
            self.target = read_assignment(response.assignment)

    def _retry(self, code: int, now: float) -> None:
        """Send all again after a pause: the coordinator may be another one."""
        if is_moved(code):
            group = self._options.group
            self._coordinators.forget(CoordinatorType.GROUP, group)
        self._reported = None
        self._failures += 1
        self._next_at = now + self._pause()

    def _pause(self) -> float:
        settings = self._cluster.settings
        return settings.backoff_s(self._failures, self._cluster.random.random())

    def _wait_for_instance_id(self, now: float) -> None:
        """Wait until the session of who had the instance id before has ended."""
        timeout_s = self._cluster.settings.timeout_s
        if now < self._wanted_id_since + timeout_s:
            self._retry(codes.UNRELEASED_INSTANCE_ID, now)
            return
        self.failure = RequestRefused(
            f"joining group {self._options.group!r}: another member has had the"
            f" instance_id {self._options.instance_id!r} for {timeout_s:g} s; give each"
            " member its own",
            codes.UNRELEASED_INSTANCE_ID,
        )

    def _refusal(self, code: int, message: str | None) -> KwireError:
        doing = f"joining group {self._options.group!r}"
        if code == codes.UNSUPPORTED_VERSION:
            return RequestRefused(
                f"{doing}: the broker does not have this group protocol enabled"
                " (KIP-848, Kafka 4.0 and later); set partitions= to read with"
                " committed offsets and without joining",
                code,
            )
        if code in (
            codes.GROUP_AUTHORIZATION_FAILED,
            codes.TOPIC_AUTHORIZATION_FAILED,
        ):
            return NotAuthorized(
                f"{doing}: the user is not authorized; it needs the operation Read on"
                " the group, and Describe on its topics"
            )
        answer = faults.describe_answer(code, message)
        return RequestRefused(f"{doing}: {answer}", code)
