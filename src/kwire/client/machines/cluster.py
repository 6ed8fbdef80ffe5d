# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterMachine``: connects to the brokers of a cluster and requests its metadata.

Other machines own a ``ClusterMachine`` and send their requests over its links. It uses
no socket, thread or clock. A runner opens the links that ``take_new_links`` returns,
transfers their bytes, and calls ``advance`` of the owner with the current time after
every event and at ``wake_at``. The result of ``advance`` depends only on the current
state, so that no event can be missed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._text import format_address, quote_text
from ...errors import KwireError
from ...messages import MetadataRequest
from ...schema import error_codes
from ..errors import AuthenticationFailed, BrokersUnreachable, FeatureUnsupported
from .events import Event, list_first, report
from .link import Link, LinkState
from .metadata import (
    Broker,
    Metadata,
    check_response,
    complete_response,
    is_known_cluster,
    metadata_request,
)
from .metrics import CLIENT_METRICS
from .pace import Pace
from .scan.frame_budget import FrameBudget

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from random import Random

    from ...messages import Request
    from .settings import ClusterSettings
    from .telemetry import Telemetry

NEVER = float("inf")

_FRUITLESS_BURST = 10
"""Number of fruitless responses from one broker after which further requests of the
same class to this broker are delayed.
"""
_FRUITLESS_S = 0.1
"""Minimum interval in seconds between two requests that are delayed after
``_FRUITLESS_BURST`` fruitless responses.
"""

_CONNECT_BURST = 10
"""Number of connections that may be opened without a pause, to all brokers together.
Metadata may contain thousands of brokers.
"""
_CONNECT_S = 0.1
"""Minimum interval in seconds between the openings of two connections after
``_CONNECT_BURST`` connections.
"""


_FRAME_BYTES = 16 << 20
"""Frame budget in bytes for machines that do not read records. Their frames are usually
small. A larger frame is received only while no other large frame is being received.
"""


class _Failures:
    """Consecutive connection failures of one broker address.

    * ``count``: number of failures since the last successful connection.
    * ``reason``: description of the last failure.
    * ``retry_at``: earliest time of the next connection attempt.
    """

    __slots__ = ("count", "reason", "retry_at")

    def __init__(self) -> None:
        self.count = 0
        self.reason = ""
        self.retry_at = 0.0


class ClusterMachine:
    """State machine that connects to the brokers of a cluster and refreshes metadata.

    * ``bootstrap``: addresses of the first connections.
    * ``topics``: names of the topics to request metadata for, or None for all topics.
    * ``failure``: the error that makes the cluster permanently unavailable, or None.
    """

    def __init__(
        self,
        bootstrap: Sequence[tuple[str, int]],
        settings: ClusterSettings,
        *,
        now: float,
        random: Random,
    ) -> None:
        self.settings = settings
        self.random = random
        self.metadata = Metadata()
        self.topics: set[str] | None = set()
        # Request metadata even if ``topics`` is empty. Machines set this to True if
        # they need the addresses of all brokers.
        self.needs_brokers = False
        # True if bytes fields of responses are memoryviews of the received frames.
        self.zero_copy = True
        self.failure: KwireError | None = None
        self.metrics = settings.metrics.open()
        self._telemetry: Telemetry | None = None
        self.frame_budget = FrameBudget(_FRAME_BYTES)
        self.version = 0
        self._bootstrap = list(bootstrap)
        # Links by host, port and the parameter ``is_apart`` of ``link_to``.
        self._links: dict[tuple[str, int, bool], Link] = {}
        self._new_links: list[Link] = []
        self._failures: dict[tuple[str, int], _Failures] = {}
        # Limits for requests whose responses contain no result (``note_fruitless``), by
        # host, port and request class.
        self._paces: dict[tuple[str, int, type[Request]], Pace] = {}
        self._connect_pace = Pace(_CONNECT_BURST, _CONNECT_S)
        self._assumed = settings.assumed_versions
        self._wake_at = now
        self._has_answered = False
        self._is_asking = False
        self._is_stale = True
        self._refreshes = 0
        self._refresh_at = now
        self._expires_at = now
        self._refreshed_at = now
        # Time at which the client began to wait for a metadata response, or None if it
        # is not waiting. A rebootstrap restarts this time.
        self._requested_since: float | None = None
        # True if a broker has required a rebootstrap (KIP-1102).
        self._is_rebootstrap_required = False

    @property
    def wake_at(self) -> float:
        """Time of the next ``advance`` if nothing happens before."""
        # Include the deadlines of requests that were sent after ``advance`` had checked
        # their links.
        return min([self._wake_at, *[link.wake_at() for link in self._links.values()]])

    def take_new_links(self) -> list[Link]:
        """Return the links to open now. Every link is returned only once."""
        links, self._new_links = self._new_links, []
        return links

    def links(self) -> list[Link]:
        """Return all links whose connections are being opened or are open."""
        return list(self._links.values())

    def advance(self, now: float) -> None:
        """Remove closed links, and refresh metadata and push metrics if they are due.

        Afterwards, ``wake_at`` is the time of the next call.
        """
        self._wake_at = NEVER
        if self._is_rebootstrap_required:
            self._rebootstrap("a broker requires it", now)
        if self.metadata.leader_changes:
            # Report the leader changes that other machines have learned from leader
            # hints (KIP-951).
            self._report_leader_changes()
        for key, link in list(self._links.items()):
            address = key[:2]
            link.check(now)
            if link.has_answered:
                self._note_success(address)
            if link.is_over:
                del self._links[key]
                if link.fallback_table is not None:
                    until = now + self.settings.metadata_max_age_s
                    self._assumed[address] = link.fallback_table, until
                    self.want_metadata()
                else:
                    if not link.has_answered:
                        self._assumed.pop(address, None)
                    self._note_failure(address, link, now)
            elif link.quiet_until > now:
                self.wake(link.quiet_until)
        self.refresh_metadata(now)
        if self._telemetry is not None:
            self._telemetry.advance(now)

    def push_metrics(
        self,
        kind: str,
        read_metrics: Callable[[float], Mapping[str, Any]],
        resource: Mapping[str, str],
        now: float,
    ) -> None:
        """Push metrics to brokers that subscribe to them. See ``Telemetry``.

        ``read_metrics`` is a function that returns the metrics at a specified time. Has
        no effect if ``settings.enable_metrics_push`` is False.
        """
        if self.settings.enable_metrics_push:
            from .telemetry import Telemetry

            self._telemetry = Telemetry(self, kind, read_metrics, resource, now)

    def read_metrics(self, now: float) -> dict[str, float]:
        """Return the metrics that all machines have in common, by name.

        The names are ``CLIENT_METRICS`` and "metadata_age_s".
        """
        metrics = self.metrics.snapshot(CLIENT_METRICS)
        metrics["metadata_age_s"] = now - self._refreshed_at
        return metrics

    def begin_close(self, now: float) -> None:
        """Begin to close, which pushes the metrics to the brokers for the last time.

        Afterwards, call ``advance`` until ``is_closable`` is True, and then ``close``.
        """
        if self._telemetry is not None:
            self._telemetry.begin_close(now)

    @property
    def is_closable(self) -> bool:
        """Whether the last metrics have been pushed after ``begin_close``."""
        return self._telemetry is None or self._telemetry.is_over

    def wake(self, at: float) -> None:
        """Request a call of ``advance`` at the time ``at``, or earlier."""
        if at < self._wake_at:
            self._wake_at = at

    def want_metadata(self) -> None:
        """Request new metadata, once the pause between refreshes is over."""
        self._is_stale = True

    def note_progress(self) -> None:
        """Record that the metadata was correct.

        This resets the pause between two metadata requests to its minimum.
        """
        self._refreshes = 0

    def link_to(
        self,
        node_id: int,
        now: float,
        kind: type[Request] | None = None,
        *,
        is_apart: bool = False,
    ) -> Link | None:
        """Return a link to a broker that accepts a request now, or open one.

        Returns None until a link is available. ``wake_at`` covers the wait.

        * ``kind``: class of the request, if ``note_fruitless`` is called for its
          responses. After too many fruitless responses, the request has to wait.
        * ``is_apart``: use a separate connection. A broker answers the requests of a
          connection one after another, so requests that must not wait for a Fetch
          require a connection of their own.
        """
        broker = self.metadata.brokers.get(node_id)
        if broker is None:
            self.want_metadata()
            return None
        if kind is not None:
            pace = self._paces.get((broker.host, broker.port, kind))
            if pace is not None and pace.next_at > now:
                self.wake(pace.next_at)
                return None
        return self._link_at((broker.host, broker.port), node_id, now, is_apart)

    def note_fruitless(self, link: Link, kind: type[Request], now: float) -> None:
        """Count a response without a result. ``link_to`` pauses after too many of them.

        The pauses do not depend on the reason for the next request. Therefore, they
        also slow down a broker whose responses always permit another request
        immediately.
        """
        key = link.host, link.port, kind
        pace = self._paces.get(key)
        if pace is None:
            pace = self._paces[key] = Pace(_FRUITLESS_BURST, _FRUITLESS_S)
        pace.note(now)

    def any_link(self, now: float) -> Link | None:
        """Return a link to any broker that accepts a request now, or open one.

        Returns None until a link is available. ``wake_at`` covers the wait.
        """
        free = [link for link in self._links.values() if link.is_free(now)]
        if free:
            return min(free, key=lambda link: link.in_flight)
        if any(link.state is not LinkState.READY for link in self._links.values()):
            # A connection is being opened. Wait until it is ready, instead of opening a
            # second connection.
            return None
        brokers = list(self.metadata.brokers.values())
        addresses = [(broker.host, broker.port) for broker in brokers]
        nodes = {(broker.host, broker.port): broker.node_id for broker in brokers}
        # Also try the bootstrap addresses, because all brokers may have moved to other
        # addresses (KIP-899).
        if not addresses or self._can_rebootstrap:
            addresses += [
                address for address in self._bootstrap if address not in nodes
            ]
        self.random.shuffle(addresses)
        unconnected = [
            address for address in addresses if (*address, False) not in self._links
        ]
        allowed_at = self._connect_pace.next_at
        for address in unconnected:
            if max(self._retry_at(address), allowed_at) <= now:
                self._connect_pace.note(now)
                return self._link_at(address, nodes.get(address), now)
        for address in unconnected:
            self.wake(max(self._retry_at(address), allowed_at))
        return None

    def describe_failure(self, node_id: int) -> str:
        """Return why the last connection to a broker failed, or "" if it did not."""
        broker = self.metadata.brokers.get(node_id)
        failures = broker and self._failures.get((broker.host, broker.port))
        return failures.reason if failures and failures.count else ""

    def is_failing(self, node_id: int) -> bool:
        """Return whether a broker is unknown, or the last connection to it failed."""
        broker = self.metadata.brokers.get(node_id)
        if broker is None:
            return True
        failures = self._failures.get((broker.host, broker.port))
        return failures is not None and failures.count > 0

    def reasons(self, since: float = NEVER) -> str:
        """Describe the problems of failing addresses for an error message.

        Addresses that have failed after ``since`` are included, even if they are not
        failing now: a broker that only answers Metadata alternates between failure and
        success.
        """
        texts = [
            f"{format_address(*address)}: {failures.reason}"
            for address, failures in self._failures.items()
            if failures.count or failures.retry_at > since
        ]
        if not texts and not self._has_answered:
            return "no broker has answered"
        if not texts and not self.version and self._wants_metadata:
            return "the metadata lists no brokers; the cluster may still be starting"
        if not texts:
            return "the brokers respond, but without the requested data"
        return "; ".join(texts[:5])

    def report(self, event: Event, count: int = 1, **fields: Any) -> None:
        """Count and log an event of this machine."""
        report(self.metrics, event, count, **fields)

    def close(self, now: float) -> None:
        """Close all connections. Requests in flight get no response."""
        for link in self._links.values():
            link.close(now)
        self._links.clear()
        self._new_links.clear()
        self.settings.metrics.close(self.metrics)

    def _link_at(
        self,
        address: tuple[str, int],
        node_id: int | None,
        now: float,
        is_apart: bool = False,
    ) -> Link | None:
        """Return the link to an address if it accepts a request now, or open one.

        ``node_id`` is None if the broker at the address is unknown.
        """
        link = self._links.get((*address, is_apart))
        if link is not None:
            if node_id is not None:
                link.node_id = node_id
            return link if link.is_free(now) else None
        retry_at = self._retry_at(address)
        if retry_at > now:
            self.wake(retry_at)
            return None
        table, until = self._assumed.get(address, (None, now))
        if until <= now:
            # The broker may have been upgraded while the client was idle, so negotiate
            # the versions again.
            table = None
        link = Link(
            *address,
            node_id,
            self.settings,
            now,
            self.frame_budget,
            self.metrics,
            table,
            zero_copy=self.zero_copy,
        )
        if "\0" in address[0]:
            # Some resolvers ignore everything after NUL, and would return the address
            # of another host.
            link.note_failure("a host name cannot contain NUL characters", now)
            self._note_failure(address, link, now)
            return None
        self._links[*address, is_apart] = link
        self._new_links.append(link)
        return None

    def _retry_at(self, address: tuple[str, int]) -> float:
        failures = self._failures.get(address)
        return 0.0 if failures is None else failures.retry_at

    def _note_success(self, address: tuple[str, int]) -> None:
        self._has_answered = True
        if address in self._failures:
            self._failures[address].count = 0

    def _note_failure(self, address: tuple[str, int], link: Link, now: float) -> None:
        """Count the failure of a connection, and delay the next attempt.

        Sets ``failure`` if a retry cannot succeed: if the authentication was rejected,
        if the broker lacks a required feature, or if all bootstrap addresses have
        failed before any broker has answered.
        """
        failures = self._failures.setdefault(address, _Failures())
        failures.count += 1
        failures.reason = link.reason
        if link.may_lack_sasl and not self._has_answered:
            failures.reason += "; brokers do so when they require SASL: set sasl"
        pause = self.settings.backoff_s(failures.count, self.random.random())
        failures.retry_at = now + pause
        self.report(
            Event.RETRY,
            operation=f"connecting to {link.address}",
            pause_s=pause,
            reason=failures.reason,
        )
        self.want_metadata()
        if isinstance(link.error, FeatureUnsupported):
            self.failure = link.error
        elif link.is_refused:
            self.failure = AuthenticationFailed(f"{link.address}: {link.reason}")
            # A debugger finds the error of the mechanism, but no traceback prints its
            # message, which may contain a secret.
            self.failure.__context__ = link.error
            self.failure.__suppress_context__ = True
        elif not self._has_answered and all(
            bootstrap in self._failures for bootstrap in self._bootstrap
        ):
            self.failure = BrokersUnreachable(self.reasons())

    def _forget_unnamed(self, now: float) -> None:
        """Remove the state of addresses that metadata no longer contains.

        Otherwise, brokers could fill the memory with different addresses in every
        response, in leader hints, or as coordinators. A connection in use is closed
        after a later response.
        """
        addresses = {
            (broker.host, broker.port) for broker in self.metadata.brokers.values()
        }
        addresses.update(self._bootstrap)
        for key, link in list(self._links.items()):
            if key[:2] not in addresses and not link.in_flight:
                del self._links[key]
                link.close(now)
        for address, failures in list(self._failures.items()):
            if address not in addresses and failures.retry_at <= now:
                del self._failures[address]
        for address in self._assumed.keys() - addresses:
            self._assumed.pop(address, None)
        for pace_key, pace in list(self._paces.items()):
            if pace.is_idle(now):
                del self._paces[pace_key]

    def refresh_metadata(self, now: float) -> None:
        """Request metadata if it is required and the pause between refreshes is over.

        Otherwise, wake up when the pause is over. ``advance`` calls this method. Call
        it again if a later step of the same ``advance`` has called ``want_metadata``.
        """
        if self.failure is not None or self._is_asking:
            return
        if not self._wants_metadata:
            return
        due = self._refresh_at if self._is_stale else self._expires_at
        if now < due:
            self.wake(due)
            return
        self._check_recovery(now)
        link = self.any_link(now)
        if link is None:
            return
        try:
            self._request_metadata(link, now)
        except KwireError as error:
            self.failure = error
            return
        self._is_asking = True
        self._is_stale = False
        self._refreshes += 1
        pause = self.settings.backoff_s(self._refreshes, self.random.random())
        self._refresh_at = now + pause
        self._expires_at = now + self.settings.metadata_max_age_s

    @property
    def _wants_metadata(self) -> bool:
        return self.topics != set() or self.needs_brokers

    @property
    def _can_rebootstrap(self) -> bool:
        return self.settings.metadata_recovery_strategy == "rebootstrap"

    def _check_recovery(self, now: float) -> None:
        """Use the bootstrap addresses again if no broker has returned metadata.

        ``settings.rebootstrap_trigger_s`` is the time limit.
        """
        if self._requested_since is None:
            self._requested_since = now
        limit_s = self.settings.rebootstrap_trigger_s
        if not self._can_rebootstrap or not self.metadata.brokers:
            return
        if now >= self._requested_since + limit_s:
            self._rebootstrap(f"no broker returned metadata for {limit_s:g} s", now)
        else:
            self.wake(self._requested_since + limit_s)

    def _rebootstrap(self, reason: str, now: float) -> None:
        """Forget the brokers and close their connections (KIP-899, KIP-1102).

        Their addresses may belong to another cluster now. The requests in flight fail,
        and are repeated as after any lost connection.
        """
        count = len(self.metadata.brokers)
        report(self.metrics, Event.REBOOTSTRAPPED, broker_count=count, reason=reason)
        self._is_rebootstrap_required = False
        self._requested_since = now
        self.metadata.brokers = {}
        links = list(self._links.values())
        self._links.clear()
        self._new_links.clear()
        for link in links:
            link.close(now)
        self.want_metadata()

    def _request_metadata(self, link: Link, now: float) -> None:
        names = None if self.topics is None else frozenset(self.topics)
        request, version, read = self._choose_metadata_request(link, names)

        def done(response: Any, now: float) -> None:
            self._is_asking = False
            response = None if response is None else read(response)
            if response is not None and response.error_code == _REBOOTSTRAP_REQUIRED:
                self._is_rebootstrap_required = self._can_rebootstrap
            if response is None or not is_known_cluster(response, version):
                self._is_stale = True
            else:
                # If the check raises an error, the link ends, and metadata is requested
                # again.
                check_response(response)
                response = complete_response(response, names, version)
                self._take_metadata(response, link, now)

        link.send(request, done, now)

    @staticmethod
    def _choose_metadata_request(
        link: Link, names: frozenset[str] | None
    ) -> tuple[Request, int, Callable[[Any], Any]]:
        """Choose the request for metadata, depending on the broker.

        Returns the request, the corresponding version of Metadata, and a function that
        converts the response to a Metadata response. KRaft controllers do not support
        Metadata, so they get DescribeCluster instead (KIP-919).
        """
        if not link.table.usable(MetadataRequest):
            from . import controllers

            if controllers.can_describe(link.table):
                newest = MetadataRequest.valid_versions.max
                return controllers.make_request(), newest, controllers.to_metadata
        version = link.pick(MetadataRequest)
        return metadata_request(names, version), version, lambda response: response

    def _take_metadata(self, response: Any, link: Link, now: float) -> None:
        self.metadata.update(response, self.topics)
        self._refreshed_at = now
        self._requested_since = None
        self.report(
            Event.METADATA_REFRESHED,
            address=link.address,
            broker_count=len(self.metadata.brokers),
            topic_count=len(self.metadata.topics),
        )
        self._report_leader_changes()
        self._forget_unnamed(now)
        self.version += 1
        codes = [topic.error_code for topic in response.topics]
        if any(code in _COMING for code in codes):
            self._is_stale = True

    def _report_leader_changes(self) -> None:
        """Report the leader changes since the last call as one event.

        The event contains the number of changes, and lists the first few partitions.
        """
        changes = self.metadata.take_leader_changes()
        if not changes:
            return
        texts = [
            f"{quote_text(topic)}-{partition} from {old} to {new}"
            for topic, partition, old, new in changes
        ]
        self.report(Event.LEADER_MOVED, len(texts), changes=list_first(texts))


_REBOOTSTRAP_REQUIRED = error_codes.REBOOTSTRAP_REQUIRED

_COMING = {error_codes.LEADER_NOT_AVAILABLE, error_codes.UNKNOWN_TOPIC_OR_PARTITION}
"""Temporary errors of topics, for example until the cluster has elected a leader."""


def hinted_brokers(endpoints: Iterable[Any]) -> dict[int, Broker]:
    """Return the brokers in leader hints of an error response, by node id (KIP-951)."""
    return {
        endpoint.node_id: Broker(
            endpoint.node_id, endpoint.host, endpoint.port, endpoint.rack
        )
        for endpoint in endpoints
    }
