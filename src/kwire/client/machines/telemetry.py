# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Telemetry``: pushes a machine's metrics to brokers that subscribe to them.

    SUBSCRIBING --GetTelemetrySubscriptions--> PUSHING --PushTelemetry--> ...
         ^-------- unknown subscription id --------'

Brokers support both requests only if a plugin receives client metrics. Telemetry uses
the existing connections and opens none, and no other request waits for it.

``telemetry_metrics.py`` contains the metrics with their names in OTLP, and ``otlp.py``
the encoding.
Source: KIP-714, and ``ClientTelemetryReporter`` for the reactions to errors.
"""

from __future__ import annotations

import time
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from ...errors import KwireError
from ...messages import GetTelemetrySubscriptionsRequest, PushTelemetryRequest
from ...records.compression import NAMES as CODEC_NAMES
from ...records.compression import compress
from ...schema import error_codes as codes
from .events import Event
from .otlp import encode_metrics
from .telemetry_metrics import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from .link import Link
    from .metrics import Metrics

_DEFAULT_INTERVAL_S = 300.0
"""Push interval in seconds if a broker returns an interval of 0 or less. It is also the
pause after an error if no broker has returned a push interval yet.
"""

_MIN_INTERVAL_S = 0.1
"""Minimum push interval in seconds. It also applies between any two requests."""
_MAX_INTERVAL_S = 3600.0
"""Maximum push interval in seconds. Brokers reject configurations outside both limits
(``ClientMetricsConfigs``), so only a hostile broker returns such an interval.
"""

_UNSUPPORTED_S = 300.0
"""Time in seconds until the connections are checked again if none of the connected
brokers supports telemetry.
"""

_MAX_PREFIXES = 1000
"""Maximum number of name prefixes that are used from a subscription. A broker can send
any number of prefixes, and every metric is compared with each of them.
"""

_GOODBYE_S = 1.0
"""Maximum time in seconds for which the last push may delay closing."""

_MAGIC = 2
"""Magic to pass to ``compress``, because PushTelemetry uses the same compression
framing as record batches of magic 2.
"""

_FINAL_ERRORS = {
    codes.INVALID_REQUEST,
    codes.INVALID_RECORD,
    codes.UNSUPPORTED_VERSION,
}
"""Errors that end telemetry, because a retry cannot succeed."""

_SUBSCRIPTION_ERRORS = {
    codes.UNKNOWN_SUBSCRIPTION_ID,
    codes.UNSUPPORTED_COMPRESSION_TYPE,
}
"""Errors after which the subscription is requested again immediately."""

_NO_ID = UUID(int=0)


class MeasuredCluster(Protocol):
    """Attributes and methods of ``ClusterMachine`` that telemetry uses.

    This protocol avoids an import cycle, because ``cluster.py`` imports this module.
    """

    metrics: Metrics
    random: Random

    def links(self) -> list[Link]:
        """Return the open connections."""

    def wake(self, at: float) -> None:
        """Request a call of ``advance`` at the time ``at``."""

    def report(self, event: Event, count: int = 1, **fields: Any) -> None:
        """Count and log an event."""


class TelemetryState(Enum):
    """State of telemetry, which determines its next request."""

    SUBSCRIBING = auto()
    """The next request is GetTelemetrySubscriptions."""
    PUSHING = auto()
    """The next request is PushTelemetry."""
    OVER = auto()
    """No further request is sent."""


class Telemetry:
    """State machine that pushes the metrics of one scan, consumer or producer.

    Brokers see it as one client instance of KIP-714.

    ``ClusterMachine.advance`` calls ``advance``, which sends the next request if it is
    due. To close, call ``begin_close``, and wait until ``is_over`` is True.

    * ``kind``: "producer" or "consumer".
    * ``read_metrics``: function that returns the metrics at a specified time.
    * ``resource``: labels of all metrics, such as "group_id".
    """

    def __init__(
        self,
        cluster: MeasuredCluster,
        kind: str,
        read_metrics: Callable[[float], Mapping[str, Any]],
        resource: Mapping[str, str],
        now: float,
    ) -> None:
        self.state = TelemetryState.SUBSCRIBING
        self.instance_id = _NO_ID
        # Function that returns the wall clock time for the payload. Simulations replace
        # it.
        self.unix_time_ns: Callable[[], int] = time.time_ns
        self._cluster = cluster
        self._resource = resource
        self._window = Window(kind, cluster.metrics, read_metrics, now)
        self._window_start_ns = self._start_ns = self.unix_time_ns()
        self._link: Link | None = None
        self._is_in_flight = False
        self._due_at = now
        self._close_by: float | None = None
        # Subscription that the broker has returned.
        self._subscription_id = 0
        self._interval_s = _DEFAULT_INTERVAL_S
        self._max_bytes = 0
        self._is_delta = False
        self._requested: tuple[str, ...] = ()
        self._codec = 0
        # Codecs that a broker has accepted in a subscription, but rejected in a push.
        self._rejected_codecs: set[int] = set()

    @property
    def is_over(self) -> bool:
        """Whether telemetry has ended, so that no further request is sent."""
        return self.state is TelemetryState.OVER

    def advance(self, now: float) -> None:
        """Send the next request if it is due and a connection is free."""
        if self.is_over:
            return
        if self._close_by is not None:
            is_subscribed = self.state is TelemetryState.PUSHING
            if now >= self._close_by or not (is_subscribed and self._cluster.links()):
                self.state = TelemetryState.OVER
                return
            self._cluster.wake(self._close_by)
        if self._is_in_flight:
            return
        if now < self._due_at and self._close_by is None:
            if self._link is not None:
                self._cluster.wake(self._due_at)
            return
        link = self._choose_link(now)
        if link is None:
            return
        try:
            if self.state is TelemetryState.SUBSCRIBING:
                self._subscribe(link, now)
            else:
                self._push(link, now)
        except KwireError:
            # The payload or the request cannot be encoded, so a retry would fail too.
            self.state = TelemetryState.OVER

    def begin_close(self, now: float) -> None:
        """Begin to close, which pushes the metrics for the last time.

        Further calls have no effect.

        ``is_over`` becomes True within ``_GOODBYE_S``. It is True immediately if no
        broker subscribes to metrics, or if there is no connection.
        """
        if self._close_by is not None:
            return
        self._close_by = now + _GOODBYE_S
        if self.state is TelemetryState.PUSHING and self._cluster.links():
            self._cluster.wake(now)
        else:
            self.state = TelemetryState.OVER

    def _choose_link(self, now: float) -> Link | None:
        """Return a free connection to a broker that supports telemetry, or None.

        The connection of the last request is preferred. If no broker supports
        telemetry, the next attempt is postponed.
        """
        links = [link for link in self._cluster.links() if link.is_free(now)]
        if self._link in links:
            return self._link
        for link in links:
            if link.table.usable(PushTelemetryRequest):
                return link
        if links:
            self._due_at = now + _UNSUPPORTED_S
        return None

    def _subscribe(self, link: Link, now: float) -> None:
        request = GetTelemetrySubscriptionsRequest(client_instance_id=self.instance_id)

        def done(response: Any, now: float) -> None:
            self._is_in_flight = False
            if response is None or response.error_code:
                self._note_error(response, link, now)
            else:
                self._take_subscription(response, link, now)

        self._send(link, request, done, now)

    def _take_subscription(self, response: Any, link: Link, now: float) -> None:
        """Store a subscription, and schedule the first push.

        If the broker requests no metrics, the subscription is requested again after the
        push interval.
        """
        self.instance_id = response.client_instance_id
        self._subscription_id = response.subscription_id
        interval_s = response.push_interval_ms / 1000
        if interval_s <= 0:
            interval_s = _DEFAULT_INTERVAL_S
        self._interval_s = min(max(interval_s, _MIN_INTERVAL_S), _MAX_INTERVAL_S)
        self._max_bytes = response.telemetry_max_bytes
        self._is_delta = response.delta_temporality
        self._requested = response.requested_metrics[:_MAX_PREFIXES]
        codecs = [
            codec
            for codec in response.accepted_compression_types
            if 0 < codec < len(CODEC_NAMES) and codec not in self._rejected_codecs
        ]
        self._codec = next(iter(codecs), 0)
        pause_s = self._interval_s
        if self._requested:
            self.state = TelemetryState.PUSHING
            # Vary the first interval, because many clients connect at the same time
            # when a broker has been restarted.
            pause_s *= self._cluster.random.uniform(0.5, 1.5)
            self._cluster.report(
                Event.TELEMETRY_SUBSCRIBED,
                address=link.address,
                instance_id=self.instance_id,
                interval_s=self._interval_s,
            )
        self._wait(now + pause_s)

    def _push(self, link: Link, now: float) -> None:
        """Push the metrics since the last successful push.

        A payload that is larger than the broker permits is not sent.
        """
        is_last = self._close_by is not None
        now_ns = self.unix_time_ns()
        values = self._window.read(now)
        payload = encode_metrics(
            self._window.points(
                values, self._cluster.links(), self._requested, self._is_delta, now
            ),
            self._resource,
            start_ns=self._window_start_ns if self._is_delta else self._start_ns,
            now_ns=now_ns,
            is_delta=self._is_delta,
        )
        payload = self._compress(payload)
        if len(payload) > self._max_bytes:
            self._reject(f"{len(payload)} bytes are too many", link)
            self._wait(now + self._interval_s)
            if is_last:
                self.state = TelemetryState.OVER
            return
        request = PushTelemetryRequest(
            client_instance_id=self.instance_id,
            subscription_id=self._subscription_id,
            terminating=is_last,
            compression_type=self._codec,
            metrics=payload,
        )

        def done(response: Any, now: float) -> None:
            self._is_in_flight = False
            if response is None or response.error_code:
                self._note_error(response, link, now)
            else:
                self._cluster.metrics.telemetry_push_total += 1
                self._window.begin(values, now)
                self._window_start_ns = now_ns
                self._wait(now + self._interval_s)
            if is_last:
                self.state = TelemetryState.OVER

        self._send(link, request, done, now)

    def _compress(self, payload: bytes) -> bytes:
        """Compress a payload with the codec that the broker accepts.

        Returns the payload unchanged if there is no such codec, or if its library is
        not installed.
        """
        if self._codec:
            try:
                return compress(self._codec, payload, _MAGIC)
            except ImportError:
                self._codec = 0
        return payload

    def _send(self, link: Link, request: Any, done: Any, now: float) -> None:
        link.send(request, done, now)
        self._link = link
        self._is_in_flight = True
        self._due_at = now + _MIN_INTERVAL_S

    def _wait(self, until: float) -> None:
        """Delay the next request until the time ``until``.

        A later time that was set before is kept, for example the end of the minimum
        interval between two requests.
        """
        self._due_at = max(self._due_at, until)

    def _note_error(self, response: Any, link: Link, now: float) -> None:
        """Choose the next request and its time after an error or a lost connection."""
        if response is None:
            self._wait(now + self._interval_s)
            return
        code = response.error_code
        self._reject(codes.name(code), link)
        if code in _FINAL_ERRORS:
            self.state = TelemetryState.OVER
        elif code in _SUBSCRIPTION_ERRORS:
            if code == codes.UNSUPPORTED_COMPRESSION_TYPE:
                self._rejected_codecs.add(self._codec)
            self.state = TelemetryState.SUBSCRIBING
        else:
            self._wait(now + self._interval_s)

    def _reject(self, reason: str, link: Link) -> None:
        event = Event.TELEMETRY_REJECTED
        self._cluster.report(event, address=link.address, reason=reason)
