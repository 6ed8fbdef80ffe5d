# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RequestMachine``: sends one request to the responsible brokers.

``schema/destinations.py`` defines the destination of every API. A request for several
brokers is split into parts. A part is sent again if a broker answers that another
broker is responsible, or that it is not ready yet. All other errors are returned to the
caller, as error codes in the response.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from math import ceil
from typing import TYPE_CHECKING, Any
from uuid import UUID

from ....connection.client import expects_response
from ....errors import KwireError
from ....messages import ProduceRequest
from ....schema import error_codes as codes
from ....schema.destinations import Destination, Route, find_route
from ...errors import BrokersUnreachable, OutcomeUnknown
from ..cluster import ClusterMachine
from ..coordinators import Coordinators, CoordinatorType
from ..events import Event
from ..settings import MAX_UNKNOWN_TOPIC_S
from . import items, older_forms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from ....connection.negotiation import Constraint
    from ....messages import Request
    from ..link import Link
    from ..settings import ClusterSettings
    from .items import Path

_ROUND_S = 0.1
"""Interval in seconds at which rejected parts are sent again. Parts that were rejected
during the same interval are combined into one request.
"""

_UNROUTED = {
    codes.NOT_CONTROLLER,
    codes.NOT_COORDINATOR,
    codes.COORDINATOR_NOT_AVAILABLE,
    codes.COORDINATOR_LOAD_IN_PROGRESS,
    codes.CONCURRENT_TRANSACTIONS,
}
"""Errors of a broker that has not executed the request. Another broker, or the same
broker later, may succeed.
"""

_UNLED = {
    codes.NOT_LEADER_OR_FOLLOWER,
    codes.LEADER_NOT_AVAILABLE,
    codes.REPLICA_NOT_AVAILABLE,
    codes.KAFKA_STORAGE_ERROR,
    codes.OFFSET_NOT_AVAILABLE,
    codes.UNSTABLE_OFFSET_COMMIT,
}
"""Errors of a single partition after which another broker, or the same broker later,
may succeed. The broker has not executed the request for this partition, except for
Produce.
"""

_UNKNOWN = {codes.UNKNOWN_TOPIC_OR_PARTITION, codes.UNKNOWN_TOPIC_ID}
"""Errors that are temporary if a topic is new, and not all brokers know it yet."""

_BROKER_TYPES = 4, 8
"""Config resource types that belong to a single broker: BROKER and BROKER_LOGGER."""

_COORDINATOR_TYPES = {
    Destination.GROUP: CoordinatorType.GROUP,
    Destination.TRANSACTION: CoordinatorType.TRANSACTION,
    Destination.SHARE: CoordinatorType.SHARE,
}


class _Part:
    """Part of the request that one broker answers.

    A part is an item of the request, identified by ``path``, or the complete request
    for the broker ``node``.
    """

    __slots__ = (
        "answer",
        "identity",
        "is_in_flight",
        "is_settled",
        "node",
        "path",
        "response",
        "retry_at",
        "tries",
    )

    def __init__(
        self, path: Path, identity: tuple[Any, ...], node: int | None = None
    ) -> None:
        self.path = path
        self.identity = identity
        self.node = node
        # Last response that a broker has sent for this part, or None.
        self.response: Any = None
        # Path in ``response`` of the item that answers this part. It is empty before
        # the first response, and if the complete response answers this part.
        self.answer: Path = ()
        self.is_settled = False
        self.is_in_flight = False
        self.tries = 0
        self.retry_at = 0.0


class RequestMachine:
    """Sends ``request`` to the responsible brokers, or to a single broker.

    * ``to``: node id or address of the single broker. With an address, the machine
      connects to no other address.
    * ``constraints``: limits for the request's version, in addition to the fields that
      are set in it.

    ``has_result`` returns True if all parts have been answered, or if ``failure`` is
    set. The response to a split request contains the items in the order of the request.
    After a timeout, rejected items have the broker's last answer.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        request: Request,
        to: int | tuple[str, int] | None = None,
        constraints: Sequence[Constraint] = (),
        *,
        now: float,
        random: Random,
    ) -> None:
        self._name = type(request).__name__.removesuffix("Request")
        self._request = request
        self._to = to
        self._check_class(settings)
        self._route = _find_route(request)
        self._check_request()
        if isinstance(to, tuple):
            bootstrap = [to]
        self.cluster = ClusterMachine(bootstrap, settings, now=now, random=random)
        self.cluster.zero_copy = False
        self.failure: KwireError | None = None
        self._coordinators = Coordinators(self.cluster)
        self._constraints = items.limit_to_fields(request), *constraints
        # Time that a broker may wait intentionally before it answers.
        self._wait_s = (
            max(getattr(request, name, 0) for name in ("timeout_ms", "max_wait_ms"))
            / 1000
        )
        self._timeout_s = settings.timeout_s + self._wait_s
        self._begun_at = now
        self._is_split = to is None and bool(self._route.items)
        self._parts = self._make_parts()
        self._want_metadata()

    @property
    def wake_at(self) -> float:
        """Time of the next ``advance`` if nothing happens before."""
        return self.cluster.wake_at

    def has_result(self) -> bool:
        """Return whether the response is complete, or the request has failed."""
        if self.failure is not None:
            return True
        return bool(self._parts) and all(part.is_settled for part in self._parts)

    def result(self) -> Any:
        """Return the response. The responses to a split request are merged."""
        parts = self._parts
        if not self._is_split and not self._is_for_every_broker:
            return parts[0].response
        levels = self._route.answers
        responses = list({id(part.response): part.response for part in parts}.values())
        if self._is_split:
            paths = [part.answer for part in parts]
            return items.merge_responses(responses, levels, paths)
        paths = [
            path
            for response in responses
            for path in items.iterate_paths(response, levels)
        ]
        if levels[-1].keys:
            by_identity = {items.identify(path, levels): path for path in paths}
            paths = list(by_identity.values())
        return items.merge_responses(responses, levels, paths)

    def advance(self, now: float) -> None:
        """Send the parts that are due. Fail after the timeout."""
        self.cluster.advance(now)
        self.failure = self.failure or self.cluster.failure
        if self.has_result():
            return
        if self._is_for_every_broker:
            self._follow_brokers()
        batches: dict[Link, list[_Part]] = {}
        for part in self._parts:
            link = None if part.is_settled else self._find_link(part, now)
            if link is not None:
                batches.setdefault(link, []).append(part)
        for link, parts in batches.items():
            self._send(link, parts, now)
        self.cluster.refresh_metadata(now)
        give_up_at = self._begun_at + self._timeout_s
        self.cluster.wake(give_up_at)
        if now >= give_up_at:
            self._give_up()

    def close(self, now: float) -> None:
        """Close all connections."""
        self.cluster.close(now)

    @property
    def _is_for_every_broker(self) -> bool:
        return self._to is None and self._route.destination is Destination.EVERY

    def _check_class(self, settings: ClusterSettings) -> None:
        kind = getattr(type(self._request), "kind", "")
        if kind != "request":
            raise TypeError(
                "message must be a request of kwire.messages (got"
                f" {type(self._request).__name__})"
            )
        try:
            settings.registry.by_key(self._request.api_key, "response")
        except KeyError:
            raise ValueError(
                f"{self._name} has the API key {self._request.api_key}, whose response"
                " class is unknown; pass registry=ApiRegistry(...) to connect"
            ) from None

    def _check_request(self) -> None:
        destination = self._route.destination
        if destination is Destination.CONNECTION:
            raise ValueError(
                f"{self._name} is a part of the authentication and cannot be sent as a"
                " request; set sasl"
            )
        if destination is Destination.NODE and self._to is None:
            raise ValueError(
                f"to must be a node id or an address for {self._name} (got None); the"
                " request does not say which broker it is for"
            )
        if not expects_response(self._request):
            raise ValueError(
                "acks of a ProduceRequest must be 1 or -1 (got 0); brokers do not"
                " respond to 0"
            )

    def _make_parts(self) -> list[_Part]:
        if self._is_for_every_broker:
            # ``_follow_brokers`` adds the parts when the brokers are known.
            return []
        if self._is_split:
            levels = self._route.items
            parts = [
                _Part(path, items.identify(path, levels))
                for path in items.iterate_paths(self._request, levels)
            ]
            if parts:
                return parts
            self._is_split = False
        return [_Part((), (), self._to if isinstance(self._to, int) else None)]

    def _want_metadata(self) -> None:
        """Make the cluster request the metadata that the destination requires."""
        destination = self._route.destination
        if isinstance(self._to, tuple):
            return
        self.cluster.needs_brokers = self._to is not None or destination in (
            Destination.CONTROLLER,
            Destination.EVERY,
            Destination.RESOURCE,
        )
        if self._is_split and destination is Destination.LEADER:
            topics = {part.identity[-2] for part in self._parts}
            is_by_id = any(isinstance(topic, UUID) for topic in topics)
            self.cluster.topics = None if is_by_id else topics

    def _follow_brokers(self) -> None:
        """Create one part per broker. Remove the parts of stopped brokers."""
        brokers = self.cluster.metadata.brokers
        if not self._parts:
            self._parts = [_Part((), (), node) for node in sorted(brokers)]
        self._parts = [
            part
            for part in self._parts
            if part.node in brokers or part.is_settled or part.is_in_flight
        ]

    def _find_link(self, part: _Part, now: float) -> Link | None:
        """Return a link for a part, or None if the part cannot be sent now."""
        if part.is_in_flight:
            return None
        if part.retry_at > now:
            self.cluster.wake(part.retry_at)
            return None
        if isinstance(self._to, tuple):
            return self.cluster.any_link(now)
        if part.node is not None:
            return self._link_to_node(part.node, now)
        destination = self._route.destination
        if destination in _COORDINATOR_TYPES:
            return self._link_to_coordinator(part, now)
        if destination is Destination.LEADER and self._is_split:
            return self._link_to_leader(part, now)
        if destination is Destination.CONTROLLER:
            return self._link_to_controller(now)
        if destination is Destination.RESOURCE and self._is_split:
            return self._link_to_resource(part, now)
        return self.cluster.any_link(now)

    def _link_to_node(self, node: int, now: float) -> Link | None:
        brokers = self.cluster.metadata.brokers
        give_up_at = self._begun_at + MAX_UNKNOWN_TOPIC_S
        if node not in brokers and self.cluster.version:
            if now >= give_up_at:
                node_ids = ", ".join(map(str, sorted(brokers))) or "no brokers"
                self.failure = BrokersUnreachable(
                    f"{self._name}: no broker of the cluster has the node id {node};"
                    f" its brokers are {node_ids}"
                )
            self.cluster.wake(give_up_at)
        return self.cluster.link_to(node, now)

    def _link_to_controller(self, now: float) -> Link | None:
        if not self.cluster.version:
            return None
        controller = self.cluster.metadata.controller
        if controller in self.cluster.metadata.brokers:
            return self.cluster.link_to(controller, now)
        # The controller is unknown, for example during an election, or is not a broker.
        # Send the request to any broker. The error NOT_CONTROLLER is retried.
        return self.cluster.any_link(now)

    def _link_to_resource(self, part: _Part, now: float) -> Link | None:
        kind, name = part.identity[-1]
        if kind in _BROKER_TYPES and name.isascii() and name.isdigit():
            return self._link_to_node(int(name), now)
        return self.cluster.any_link(now)

    def _link_to_leader(self, part: _Part, now: float) -> Link | None:
        """Return a link to a partition leader, or None if there is no link yet.

        The part contains a topic name or a topic id. If the metadata does not contain
        the partition, return a link to any broker, which returns the error.
        """
        topic, partition = part.identity[-2:]
        metadata = self.cluster.metadata
        if isinstance(topic, UUID):
            matches = [
                candidate
                for candidate in metadata.topics.values()
                if candidate.topic_id == topic
            ]
            topic = matches[0].name if matches else ""
        info = metadata.partition(topic, partition)
        if info is None:
            # The partition does not exist. Any broker returns the appropriate error.
            return self.cluster.any_link(now) if self.cluster.version else None
        if info.leader < 0:
            self.cluster.want_metadata()
            return None
        return self.cluster.link_to(info.leader, now)

    def _link_to_coordinator(self, part: _Part, now: float) -> Link | None:
        kind, key = self._coordinator_key(part)
        if not key:
            # The request is InitProducerId without a transactional id. Any broker can
            # answer it, because there is no coordinator.
            return self.cluster.any_link(now)
        link = self._coordinators.link_to(kind, key, now)
        self.failure = self.failure or self._coordinators.failure(kind, key)
        return link

    def _coordinator_key(self, part: _Part) -> tuple[CoordinatorType, str]:
        kind = _COORDINATOR_TYPES[self._route.destination]
        if kind is CoordinatorType.SHARE:
            topic, partition = part.identity
            group: Any = getattr(self._request, "group_id", "")
            topic_id = urlsafe_b64encode(topic.bytes).decode().rstrip("=")
            return kind, f"{group}:{topic_id}:{partition}"
        if self._is_split:
            return kind, part.identity[-1]
        key = self._route.key
        return kind, "" if key is None else getattr(self._request, key) or ""

    def _send(self, link: Link, parts: list[_Part], now: float) -> None:
        request = self._request
        try:
            version = link.pick(type(request), *self._constraints)
            if older_forms.has_one_item(request, version) and len(parts) > 1:
                for part in parts:
                    self._send(link, [part], now)
                return
            if self._is_split:
                paths = [part.path for part in parts]
                request = items.with_items(request, self._route.items, paths)
            sent = older_forms.to_older_form(request, version)

            def done(response: Any, now: float) -> None:
                if response is not None:
                    response = older_forms.to_newest_form(request, response)
                self._take_response(parts, response, now)

            link.send(sent, done, now, version=version, wait_s=self._wait_s)
        except KwireError as error:
            self.failure = error
            return
        for part in parts:
            part.is_in_flight = True

    def _take_response(self, parts: list[_Part], response: Any, now: float) -> None:
        """Settle the parts that a response answers, and retry all other parts.

        ``response`` is None if the connection was lost.
        """
        for part in parts:
            part.is_in_flight = False
        if self.has_result():
            return
        if response is None:
            self._note_loss(parts, now)
            return
        answers: dict[tuple[Any, ...], Path] = {}
        levels = self._route.answers
        if self._is_split:
            paths = list(items.iterate_paths(response, levels))
            answers = {items.identify(path, levels): path for path in paths}
        for part in parts:
            if not self._is_split:
                part.response, part.answer = response, ()
                error_codes = items.error_codes(response)
            elif part.identity in answers:
                part.response, part.answer = response, answers[part.identity]
                error_codes = items.error_codes(part.answer[-1])
            else:
                self._retry(part, "the broker left it unanswered", now)
                continue
            if self._may_pass(error_codes, now):
                names = sorted(codes.name(code) for code in error_codes if code)
                self._retry(part, f"the broker answered {', '.join(names)}", now)
            else:
                part.is_settled = True

    def _note_loss(self, parts: list[_Part], now: float) -> None:
        if not self._route.is_repeatable:
            self.failure = OutcomeUnknown(
                f"{self._name}: the connection was lost before the response arrived"
                f" ({self.cluster.reasons()}); the request may have been carried out,"
                " so check before you send it again"
            )
        for part in parts:
            self._retry(part, "there was no response", now)

    def _may_pass(self, error_codes: set[int], now: float) -> bool:
        """Return whether sending a part again may solve the errors in its response.

        Always returns False if the caller has chosen the broker with ``to``.
        """
        if self._to is not None:
            return False
        if error_codes & _UNROUTED:
            return True
        if not self._is_split:
            return False
        if error_codes & _UNLED:
            # A leader that loses its role while it waits for replicas has written the
            # records already, so a retry of Produce would duplicate them.
            return not isinstance(self._request, ProduceRequest)
        is_new = now < self._begun_at + MAX_UNKNOWN_TOPIC_S
        is_for_leaders = self._route.destination is Destination.LEADER
        return bool(error_codes & _UNKNOWN) and is_new and is_for_leaders

    def _retry(self, part: _Part, reason: str, now: float) -> None:
        part.tries += 1
        jitter = self.cluster.random.random()
        pause_s = self.cluster.settings.backoff_s(part.tries, jitter)
        rounds = ceil((now + pause_s - self._begun_at) / _ROUND_S)
        part.retry_at = self._begun_at + rounds * _ROUND_S
        self.cluster.report(
            Event.RETRY,
            operation=self._name,
            pause_s=part.retry_at - now,
            reason=reason,
        )
        # Another broker may be the leader or the controller now.
        self.cluster.want_metadata()
        if self._route.destination in _COORDINATOR_TYPES:
            self._coordinators.forget(*self._coordinator_key(part))

    def _give_up(self) -> None:
        if self._parts and all(part.response is not None for part in self._parts):
            for part in self._parts:
                part.is_settled = True
            return
        count = sum(part.response is None for part in self._parts)
        which = f" to {count} of {len(self._parts)} parts" if self._is_split else ""
        self.failure = BrokersUnreachable(
            f"{self._name}: no response{which} within {self._timeout_s:g} s;"
            # Only this request uses the cluster object, so include all connection
            # failures of the cluster.
            f" {self.cluster.reasons(since=0.0)}"
        )


def _find_route(request: Request) -> Route:
    try:
        return find_route(request.api_key)
    except KeyError:
        # The destination of APIs that a user adds by ``registry`` is unknown.
        return Route(Destination.ANY)
