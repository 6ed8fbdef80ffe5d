# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Link``: one connection to one broker, from connecting to its end.

    OPENING -> NEGOTIATING -> AUTHENTICATING -> READY -> OVER
                                  ^--- again, before the SASL session expires (KIP-368)

The runner opens the socket, reports its events, and transfers the bytes. Every request
has a callback, which receives the response, or None if the link ends before. Methods
have the current time as a parameter. ``cluster.py`` chooses the brokers.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._text import format_address, quote_text
from ...connection import (
    ClientConnection,
    ConnectionClosed,
    Negotiated,
    RequestUnsupported,
    ResponseReceived,
    SaslFailed,
    SaslStarted,
    SaslToken,
)
from ...connection.client import expects_response
from ...connection.negotiation.handshake import SILENCE_S
from ...errors import KwireError, UnsupportedVersion
from ...messages import SaslHandshakeRequest
from ...schema import error_codes
from .events import Event, report
from .metrics import Latency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from ...connection import Event as ConnectionEvent
    from ...connection.negotiation import ApiVersionTable, Constraint, Feature
    from ...messages import Request
    from ..errors import FeatureUnsupported
    from .metrics import Metrics
    from .scan.frame_budget import FrameBudget
    from .settings import ClusterSettings, Mechanism

    Done: TypeAlias = Callable[[Any, float], None]

_REAUTHENTICATE_AT = 0.85
"""Fraction of the SASL session lifetime after which the link authenticates again, so
that the exchange is complete before the session expires.
"""

_LAST_LOOK_S = 0.05
"""Time in seconds for which a link may still receive a response after its deadline. If
the caller has blocked the runner, the response may already be waiting in the socket.
"""

_SHORTEST_SESSION_S = 1.0
"""Minimum SASL session lifetime to assume, in seconds. A shorter lifetime would leave
no time for requests between two authentications.
"""


_NO_SASL = (
    "the broker does not offer SASL on this port; connect without it, or to another"
    " port"
)

_SILENCE_HINT = ", or it is older than 0.10.0 (then set fallback to its release)"


class LinkState(Enum):
    """State of a link, from opening its socket to its end."""

    OPENING = auto()
    """The runner is opening the socket, including TLS."""
    NEGOTIATING = auto()
    """The response to ApiVersions is missing."""
    AUTHENTICATING = auto()
    """The SASL exchange is not complete."""
    READY = auto()
    """The machine can send requests."""
    OVER = auto()
    """Final state: closed or failed. ``Link.reason`` describes why."""


class _Call(NamedTuple):
    """Request in flight.

    * ``sent_at``: time at which the request was sent.
    * ``deadline``: time at which the link ends if the response is still missing.
    * ``done``: callback that receives the response, or None if the link ends before.
    """

    sent_at: float
    deadline: float
    done: Done


class Link:
    """State machine of a connection to the broker at ``host`` and ``port``.

    The machine that owns the link calls ``check`` when the clock reaches ``wake_at``.
    It calls ``send`` if ``is_free`` returns True, and ``close`` at the end.

    The runner reports the socket with ``note_open`` or ``note_failure``. It writes the
    bytes of ``data_to_send``. If ``can_receive`` permits it, the runner reads bytes
    into ``get_buffer`` and calls ``buffer_updated``, or passes them to
    ``receive_data``.

    * ``state``: current ``LinkState``.
    * ``node_id``: node id of the broker, or None if it is unknown.
    * ``reason``: reason why the link has ended.
    * ``is_refused``: True if the broker has rejected the authentication.
    * ``error``: exception of the SASL mechanism, or None.
    * ``may_lack_sasl``: True if the broker has closed the connection in the same way as
      brokers that require SASL.
    * ``has_answered``: True if a request of the machine has got a response.
    * ``has_unsent``: True if the runner has not fetched all bytes to send yet.

    A broker before Kafka 0.10 closes the connection when it receives ApiVersions, or
    does not answer. If ``settings.fallback`` is set, ``fallback_table`` is then the
    version table of this release. Pass it as ``table`` to the next link, which does not
    send ApiVersions.
    """

    __slots__ = (
        "_budget",
        "_calls",
        "_connection",
        "_deadline",
        "_has_been_ready",
        "_has_tls",
        "_last_look_until",
        "_latency",
        "_mechanism",
        "_metrics",
        "_offers_sasl",
        "_paused_at",
        "_reauthenticate_at",
        "_settings",
        "error",
        "fallback_table",
        "has_answered",
        "has_unsent",
        "host",
        "is_fallback",
        "is_refused",
        "may_lack_sasl",
        "node_id",
        "port",
        "quiet_until",
        "reason",
        "server_name",
        "state",
    )

    def __init__(
        self,
        host: str,
        port: int,
        node_id: int | None,
        settings: ClusterSettings,
        now: float,
        budget: FrameBudget,
        metrics: Metrics,
        table: ApiVersionTable | None = None,
        *,
        zero_copy: bool = True,
    ) -> None:
        self.host = host
        self.port = port
        # Host name that SASL authenticates: ``host``, or its canonical name in DNS.
        self.server_name = host
        self.node_id = node_id
        self.state = LinkState.OPENING
        self.reason = ""
        self.is_refused = False
        self.may_lack_sasl = False
        self._offers_sasl = False
        self._has_tls = False
        self.has_answered = False
        self.has_unsent = False
        self.error: Exception | None = None
        self.is_fallback = table is not None
        self.fallback_table: ApiVersionTable | None = None
        self.quiet_until = now
        self._settings = settings
        self._budget = budget
        self._metrics = metrics
        # Latencies of responses. None until the first call of ``take_latency``, because
        # a client without metrics does not measure latencies.
        self._latency: Latency | None = None
        # True if the metric "connection_count" includes this connection.
        self._has_been_ready = False
        # Time at which the link began to wait for memory of the budget, or None if it
        # is not waiting.
        self._paused_at: float | None = None
        self._deadline = now + settings.connect_timeout_s
        self._last_look_until = 0.0
        self._reauthenticate_at: float | None = None
        self._mechanism: Mechanism | None = None
        self._calls: deque[_Call] = deque()
        self._connection = ClientConnection(
            settings.client_id,
            table=table,
            fallback=settings.fallback,
            policy=settings.policy,
            registry=settings.registry,
            limits=settings.limits,
            zero_copy=zero_copy,
            compat=settings.compat,
        )

    @property
    def address(self) -> str:
        """Address as text, for example "kafka:9092" or "[::1]:9092"."""
        return format_address(self.host, self.port)

    @property
    def table(self) -> ApiVersionTable:
        """API versions that the broker supports. The table is closed with the link."""
        table = self._connection.table
        assert table is not None, "a link that is ready has negotiated"
        return table

    @property
    def is_over(self) -> bool:
        """Whether the link has ended."""
        return self.state is LinkState.OVER

    @property
    def in_flight(self) -> int:
        """Number of requests that are waiting for a response."""
        return len(self._calls)

    def take_latency(self) -> Latency:
        """Return the latencies of the responses since the last call of this method."""
        latency, self._latency = self._latency or Latency(), Latency()
        return latency

    def is_free(self, now: float) -> bool:
        """Return whether a request can be sent now.

        The link must be ready. A link that the broker throttles, or whose next
        authentication is due (KIP-368), cannot send requests.
        """
        return (
            self.state is LinkState.READY
            and now >= self.quiet_until
            and (self._reauthenticate_at is None or now < self._reauthenticate_at)
        )

    def pick(self, api: type[Any], *constraints: Constraint) -> int:
        """Choose the highest version of a request that both sides support.

        Raises ``FeatureUnsupported`` if the broker's release is too old for the
        request, and ``UnsupportedVersion`` if no version fits for another reason.
        """
        try:
            return self.table.pick(api, *constraints)
        except UnsupportedVersion as error:
            raise self._find_missing(api, *constraints) or error from None

    def require(self, feature: Feature) -> None:
        """Raise ``FeatureUnsupported`` if the broker is too old for a feature."""
        if not self.table.supports(feature):
            from .missing_features import find_missing_support

            missing = find_missing_support(
                self.address, self._assumed_release, self.table, feature
            )
            if missing is not None:
                raise missing

    def _find_missing(
        self, api: type[Any], *constraints: Constraint
    ) -> FeatureUnsupported | None:
        """Return the error if the broker's release is too old for a request."""
        # Import the module here, because it loads definitions of requests that most
        # clients do not need.
        from .missing_features import find_missing_feature

        return find_missing_feature(
            self.address, self._assumed_release, self.table, api, constraints
        )

    @property
    def _assumed_release(self) -> str | None:
        """Release that the settings assume, or None if the broker reports versions."""
        return self._settings.fallback if self.is_fallback else None

    def send(
        self,
        request: Request,
        done: Done,
        now: float,
        *,
        wait_s: float = 0.0,
        version: int | None = None,
    ) -> None:
        """Append a request to the bytes to send.

        * ``done``: is called once as ``done(response, now)``. The response is None if
          the link ends before it arrives. Not called for Produce with ``acks=0``.
        * ``wait_s``: time that the broker may wait intentionally before it answers. It
          is added to the request timeout.
        * ``version``: a version that ``table`` supports. Default: the highest one.

        Raises ``UnsupportedVersion``, ``FeatureUnsupported`` or ``EncodeError``. The
        link is unchanged in these cases.
        """
        if version is None:
            version = self.pick(type(request))
        self._connection.send(request, version)
        self.has_unsent = True
        metrics = self._metrics
        metrics.request_total += 1
        if not expects_response(request):
            return
        timeout = self._settings.request_timeout_s + wait_s
        self._calls.append(_Call(now, now + timeout, done))
        metrics.requests_in_flight += 1

    def check(self, now: float) -> None:
        """End the link if a deadline has passed, or authenticate again if it is due.

        The first call after a deadline does not end the link yet, because a response
        may be waiting in the socket. See ``_LAST_LOOK_S``.
        """
        if now < self.wake_at():
            return
        if now < self._next_deadline():
            self._deadline = now + self._settings.request_timeout_s
            self._authenticate(now)
        elif not self._last_look_until:
            self._last_look_until = now + _LAST_LOOK_S
        else:
            self._end_by_silence(now)

    def _end_by_silence(self, now: float) -> None:
        """End the link because the broker has not answered before the deadline."""
        is_negotiating = self.state is LinkState.NEGOTIATING
        if is_negotiating and self._settings.fallback is not None:
            # Older releases close the connection, but Kafka 0.9 does not. Handle both
            # cases in the same way, as the end of the stream.
            self.receive_data(b"", now)
            return
        if self.state is LinkState.READY:
            cause = "there was no response"
            wait_s = self._calls[0].deadline - self._calls[0].sent_at
        else:
            cause = "the connection was not ready"
            wait_s = self._settings.connect_timeout_s
            if self._has_been_ready:
                wait_s = self._settings.request_timeout_s
        hint = _SILENCE_HINT if is_negotiating else ""
        reason = (
            f"{cause} within {wait_s:g} s; the broker is slow, or this is not a broker"
            f"{hint}"
        )
        self._end(reason, now, Event.CONNECTION_FAILED)

    def wake_at(self) -> float:
        """Return the time at which to call ``check``."""
        if self.state is LinkState.OVER:
            return float("inf")
        check_at = self._next_deadline()
        if self._reauthenticate_at is not None and not self._calls:
            check_at = min(check_at, self._reauthenticate_at)
        return check_at

    def close(self, now: float) -> None:
        """Close the connection. The callbacks of requests in flight receive None."""
        self._end("it was closed by this side", now, Event.CONNECTION_CLOSED)

    def note_open(self, now: float, *, has_tls: bool = False) -> None:
        """Record that the socket is open, and that a TLS handshake is complete."""
        self._has_tls = has_tls
        if self.state is LinkState.OPENING:
            self.state = LinkState.NEGOTIATING
            if self._settings.fallback is not None:
                self._deadline = min(self._deadline, now + SILENCE_S)
            if self._connection.table is not None:
                self._authenticate(now)

    def note_failure(self, reason: str, now: float) -> None:
        """Record that the socket could not be opened or has failed."""
        self._end(reason, now)

    def data_to_send(self) -> bytes:
        """Return the next bytes to write to the socket, or empty bytes if none remain.

        Every byte is returned only once, so the runner must not drop the result.
        """
        if self.state in (LinkState.OPENING, LinkState.OVER):
            return b""
        data = self._connection.next_to_send()
        self.has_unsent = bool(data)
        if data:
            self._metrics.outgoing_byte_total += len(data)
        return data

    def can_receive(self, now: float) -> bool:
        """Return whether the runner may read from the socket.

        If the result is False, because the frame budget has no memory, the runner
        leaves the bytes in the socket. It calls this method again after the next
        ``advance`` of the machine. The deadlines of the requests in flight are extended
        by this pause.
        """
        if self.is_over:
            return True
        if not self._budget.can_receive(self, self._connection.announced):
            if self._paused_at is None:
                self._paused_at = now
            return False
        if self._paused_at is not None:
            pause, self._paused_at = now - self._paused_at, None
            self._calls = deque(
                call._replace(deadline=call.deadline + pause) for call in self._calls
            )
        return True

    def get_buffer(self, hint: int = -1) -> memoryview:
        """Return the memory into which the runner must write the next received bytes.

        Call ``buffer_updated`` afterwards. ``hint`` is ignored, because the size of the
        memory must depend only on the bytes that have been received.
        """
        return self._connection.get_buffer(hint)

    def buffer_updated(self, count: int, now: float) -> bool:
        """Process ``count`` bytes that were received into the memory of ``get_buffer``.

        Returns whether ``advance`` of the machine must be called.
        """
        if self.state is LinkState.OVER:
            return False
        self._metrics.incoming_byte_total += count
        return self._process_events(self._connection.buffer_updated(count), now)

    def receive_data(self, chunk: bytes, now: float) -> bool:
        """Process received bytes. Empty bytes mean the end of the stream.

        Returns whether ``advance`` of the machine must be called, as
        ``buffer_updated`` does.
        """
        if self.state is LinkState.OVER:
            return False
        self._metrics.incoming_byte_total += len(chunk)
        return self._process_events(self._connection.receive_data(chunk), now)

    def _process_events(self, events: Iterable[ConnectionEvent], now: float) -> bool:
        has_news = False
        try:
            for event in events:
                if self.state is LinkState.OVER:
                    break
                has_news = True
                self._last_look_until = 0.0
                self._react(event, now)
        except KwireError as error:
            self._end(str(error), now)
        if has_news:
            # The frame has arrived, so the budget no longer counts it as arriving.
            self.can_receive(now)
        return has_news or self.state is LinkState.OVER

    def _react(self, event: ConnectionEvent, now: float) -> None:
        """React to an event of the connection.

        Depending on the event, the state changes, or the callback of the oldest request
        receives its response.
        """
        if isinstance(event, ResponseReceived):
            self.has_answered = True
            self._throttle(event.response, now)
            call = self._calls.popleft()
            metrics = self._metrics
            metrics.requests_in_flight -= 1
            metrics.request_latency.add(now - call.sent_at)
            if self._latency is not None:
                self._latency.add(now - call.sent_at)
            call.done(event.response, now)
        elif isinstance(event, Negotiated):
            self._authenticate(now)
        elif isinstance(event, SaslStarted):
            self._open_exchange(now)
        elif isinstance(event, SaslToken):
            self._challenge(event, now)
        elif isinstance(event, SaslFailed):
            self._refuse(self._describe_refusal(event), now)
        elif isinstance(event, ConnectionClosed):
            self.fallback_table = event.fallback
            self._note_close(event.reason, now)
        elif isinstance(event, RequestUnsupported):
            self._end(str(event.error), now)

    def _throttle(self, response: Any, now: float) -> None:
        # KIP-219: the broker answers immediately, and then reads no requests from this
        # connection until the throttle time is over.
        pause_ms = getattr(response, "throttle_time_ms", 0)
        if pause_ms > 0:
            pause_s = pause_ms / 1000
            self.quiet_until = max(self.quiet_until, now + pause_s)
            self._metrics.throttle_time.add(pause_s)
            self._report(Event.THROTTLED, pause_s=pause_s)

    def _report(self, event: Event, **fields: Any) -> None:
        report(self._metrics, event, address=self.address, **fields)

    def _become_ready(self) -> None:
        self.state = LinkState.READY
        if not self._has_been_ready:
            self._has_been_ready = True
            self._metrics.connection_count += 1
            self._report(Event.CONNECTION_OPENED)

    def _authenticate(self, now: float) -> None:
        new_mechanism = self._settings.new_mechanism
        if new_mechanism is None:
            self._offers_sasl = bool(self.table.usable(SaslHandshakeRequest))
            self._become_ready()
            return
        self.state = LinkState.AUTHENTICATING
        self._reauthenticate_at = None
        try:
            self._mechanism = new_mechanism()
            # The method is optional, because only some mechanisms use the host name.
            set_host = getattr(self._mechanism, "set_host", None)
            if set_host is not None:
                set_host(self.server_name)
            self._connection.start_sasl(self._mechanism.mechanism)
        except UnsupportedVersion:
            self._refuse_without_sasl(now)
        except Exception as error:
            self._refuse_by_mechanism(error, now)

    def _refuse_without_sasl(self, now: float) -> None:
        self.error = self._find_missing(SaslHandshakeRequest)
        self._refuse(
            str(self.error) if self.error is not None else _NO_SASL,
            now,
        )

    def _open_exchange(self, now: float) -> None:
        assert self._mechanism is not None
        try:
            self._connection.send_sasl_token(self._mechanism.first())
        except Exception as error:
            self._refuse_by_mechanism(error, now)

    def _challenge(self, event: SaslToken, now: float) -> None:
        assert self._mechanism is not None
        try:
            token = self._mechanism.challenge(event.data)
        except Exception as error:
            self._refuse_by_mechanism(error, now)
            return
        if token is not None:
            self._connection.send_sasl_token(token)
            return
        self._connection.finish_sasl()
        self._become_ready()
        if event.session_lifetime_s > 0:
            lifetime_s = max(event.session_lifetime_s, _SHORTEST_SESSION_S)
            self._reauthenticate_at = now + lifetime_s * _REAUTHENTICATE_AT

    def _refuse_by_mechanism(self, error: Exception, now: float) -> None:
        """End the link because the SASL mechanism raised an exception.

        The mechanism may be user code, so the exception can be of any class.
        """
        name = "SASL" if self._mechanism is None else self._mechanism.mechanism
        # The message of an exception from user code may contain a secret.
        text = (
            str(error)
            if isinstance(error, KwireError)
            else f"the mechanism raised {type(error).__name__}"
        )
        self.error = error
        self._refuse(f"{quote_text(name)}: {text}", now)

    def _refuse(self, reason: str, now: float) -> None:
        self.is_refused = True
        self._end(reason, now)

    def _describe_refusal(self, event: SaslFailed) -> str:
        assert self._mechanism is not None
        name = quote_text(self._mechanism.mechanism)
        if event.mechanisms:
            names = quote_text(", ".join(event.mechanisms))
            return f"the broker does not accept {name}; it offers {names}"
        if event.error_code == error_codes.ILLEGAL_SASL_STATE:
            return _NO_SASL
        reason = quote_text(event.message) or error_codes.name(event.error_code)
        return f"the broker rejects {name}: {reason}"

    def _note_close(self, reason: str, now: float) -> None:
        if self.state is LinkState.NEGOTIATING and self._has_tls:
            reason += (
                "; after the TLS handshake, this means that it requires a client"
                " certificate, or that it is not a broker"
            )
        if self.state is LinkState.AUTHENTICATING:
            reason += "; brokers do so when they reject the user name or the password"
        # Brokers that require SASL offer it, and close the connection on the first
        # request. A connection that has been idle was closed for another reason.
        self.may_lack_sasl = (
            self.state is LinkState.READY
            and not self.has_answered
            and bool(self._calls)
            and self._settings.new_mechanism is None
            and self._offers_sasl
        )
        self._end(reason, now)

    def _next_deadline(self) -> float:
        if self.state is LinkState.READY:
            if not self._calls or self._paused_at is not None:
                return float("inf")
            return max(self._calls[0].deadline, self._last_look_until)
        return max(self._deadline, self._last_look_until)

    def _end(self, reason: str, now: float, event: Event | None = None) -> None:
        if self.is_over:
            return
        self.state = LinkState.OVER
        self.reason = reason
        if event is None:
            # Brokers close idle connections, which is normal. If the broker has never
            # answered, the connection has failed, except for the first connection to a
            # broker before Kafka 0.10, which only detects the release.
            is_usual = self.has_answered or self.fallback_table is not None
            event = Event.CONNECTION_FAILED
            if is_usual:
                event = Event.CONNECTION_CLOSED
        self._report(event, reason=reason)
        if self._has_been_ready:
            self._metrics.connection_count -= 1
        self._metrics.requests_in_flight -= len(self._calls)
        self._connection.close()
        self._budget.forget(self)
        while self._calls:
            self._calls.popleft().done(None, now)

    def __repr__(self) -> str:
        return f"<Link to {self.address}, {self.state.name.lower()}>"
