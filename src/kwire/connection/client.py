# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClientConnection``: the client's side of one connection to a broker.

It negotiates versions first, numbers the requests, and assigns responses to requests.
The caller provides the socket, the clock and the requests. ``framing`` encodes frames,
and ``negotiation`` selects versions.
"""

from __future__ import annotations

from collections import deque
from struct import Struct
from typing import TYPE_CHECKING, Any, Literal

from .. import __version__
from .._limits import DEFAULT, Limits
from ..errors import (
    KwireError,
    LocalProtocolError,
    RemoteProtocolError,
    UnsupportedVersion,
)
from ..messages import (
    ProduceRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    framing,
)
from ..messages.api_registry import KAFKA, ApiRegistry
from .endpoint import Endpoint
from .events import (
    ConnectionClosed,
    Negotiated,
    RequestUnsupported,
    ResponseReceived,
    SaslFailed,
    SaslStarted,
    SaslToken,
    Unanswered,
)
from .negotiation import (
    DEFAULT_POLICY,
    ApiVersionsHandshake,
    Constraint,
    name_of,
)
from .negotiation.handshake import HEADER_BYTES, HIGHEST_ID

if TYPE_CHECKING:
    from ..messages import Request
    from ..messages.frame_splitter import Frame
    from .events import Event
    from .negotiation import ApiVersionTable, VersionPolicy

_id_at = Struct(">i").unpack_from
_decode = framing.decode_response
# Call ``tuple.__new__`` directly, because the constructor of a NamedTuple is a Python
# function and takes 1.5 times as long.
_response_received = tuple.__new__


class ClientConnection(Endpoint):
    """Client side of a connection: requests and bytes in, events and bytes out.

        connection = ClientConnection()
        while True:
            sock.sendall(connection.data_to_send())
            for event in connection.receive_data(sock.recv(65536)): ...

    The first outgoing bytes request the broker's versions, and a second request can
    follow. Therefore, write ``data_to_send`` after every call to ``receive_data`` or
    ``send``. After the event ``Negotiated``, ``send`` accepts any number of concurrent
    requests.

    * ``table``: versions of the broker. If specified, the connection skips negotiation.
      Required for brokers before 0.10 (see ``negotiation.fallback_table``).
    * ``fallback``: release to assume if the broker closes the connection instead of
      answering the version request.
    * ``zero_copy``: decode bytes and records in responses as memoryviews that refer to
      the frame.
    * ``compat``: "java" decodes responses as leniently as Kafka does, for peers that
      send extra bytes after a message (librdkafka's mock cluster since Metadata 9).
    * ``registry``: classes of APIs that are not part of Kafka, so that ``send`` accepts
      their requests.
    * ``limits``: a frame that exceeds these limits is rejected.

    Raises ``EncodeError`` if ``client_name`` or ``client_version`` is invalid,
    ``ValueError`` or ``UnsupportedVersion`` if ``fallback`` is not a supported release,
    and ``LocalProtocolError`` if ``policy`` does not allow any version of ApiVersions,
    or if ``table`` has expired.

    The table expires when the connection ends. If the socket fails, call ``close``. The
    property ``in_flight`` then still lists the requests without a response. Memory
    grows with the received bytes, and never with an announced size.
    """

    __slots__ = (
        "_client_id",
        "_handshake",
        "_in_flight",
        "_mechanism",
        "_next_id",
        "_registry",
        "table",
    )

    def __init__(
        self,
        client_id: str | None = "kwire",
        *,
        client_name: str = "kwire",
        client_version: str = __version__,
        table: ApiVersionTable | None = None,
        fallback: str | None = None,
        policy: VersionPolicy = DEFAULT_POLICY,
        limits: Limits = DEFAULT,
        zero_copy: bool = False,
        compat: Literal["java"] | None = None,
        registry: ApiRegistry = KAFKA,
    ) -> None:
        super().__init__("broker", limits, zero_copy, compat)
        self._registry = registry
        # Copy the table, because it expires together with this connection.
        self.table = None if table is None else table.copy()
        self._client_id = client_id
        self._in_flight: deque[tuple[int, Request, int, type]] = deque()
        self._next_id = 0
        self._mechanism = ""
        self._handshake: ApiVersionsHandshake | None = None
        if table is None:
            self._handshake = ApiVersionsHandshake(
                client_name,
                client_version,
                client_id=client_id,
                fallback=fallback,
                policy=policy,
                limits=limits,
            )
            self._outgoing.append(self._handshake.data_to_send())

    @property
    def in_flight(self) -> tuple[Unanswered, ...]:
        """Requests without a response, oldest first.

        The property is still available after the connection has ended.
        """
        return tuple(Unanswered(*entry[:3]) for entry in self._in_flight)

    def send(
        self,
        request: Request,
        version: int | None = None,
        *,
        constraints: tuple[Constraint, ...] = (),
    ) -> int:
        """Add a request to the outgoing bytes, and return its correlation id.

        * ``version``: default is the maximum version that both sides support and that
          satisfies the constraints. An explicit version is not checked against the
          broker's versions.
        * ``constraints``: tuple such as ``(negotiation.NO_TOPIC_IDS,)``. This
          constraint is required if only the topic name is known, because Fetch and
          Produce identify topics by ``topic_id`` since version 13.

        A Produce request with ``acks=0`` has no response.
        Raises ``UnsupportedVersion`` if there is no common version, or if kwire does
        not have the explicit version. Raises ``EncodeError`` if a value cannot be
        encoded. Raises ``LocalProtocolError`` before negotiation, during a SASL
        handshake, while raw SASL tokens are exchanged, and after the end. Raises
        ``TypeError`` if ``request`` is not a request, and ``ValueError`` if the
        registry does not contain its API.
        """
        table = self._require_table()
        cls = type(request)
        if getattr(cls, "kind", "") != "request":
            raise TypeError(
                "request must be a request of kwire.messages (got"
                f" {type(request).__name__})"
            )
        try:
            response_class = self._registry.by_key(cls.api_key, "response")
        except KeyError:
            raise ValueError(
                f"{cls.__name__} has the API key {cls.api_key}, whose response class is"
                " unknown; pass registry=ApiRegistry(...) to the connection"
            ) from None
        if version is None:
            version = table.pick(cls, *constraints)
        correlation_id = self._next_id
        self._outgoing.append(
            framing.encode_request(request, version, correlation_id, self._client_id)
        )
        self._next_id = correlation_id + 1 & HIGHEST_ID
        if expects_response(request):
            self._in_flight.append((correlation_id, request, version, response_class))
        return correlation_id

    def start_sasl(self, mechanism: str) -> None:
        """Request a SASL mechanism such as "PLAIN".

        The result is the event ``SaslStarted`` or ``SaslFailed``. The request is
        SaslHandshake version 1 if the broker supports SaslAuthenticate. Otherwise, it
        is version 0, and tokens are frames without headers (``raw``).
        Raises ``UnsupportedVersion`` if the broker does not support SASL, and
        ``LocalProtocolError`` while requests are in flight, before negotiation, or
        after the end.
        """
        table = self._require_table()
        if self._in_flight:
            raise LocalProtocolError(
                "SASL cannot start while requests have no response yet; receive those"
                " first"
            )
        raw = not table.usable(SaslAuthenticateRequest)
        version = table.pick(SaslHandshakeRequest, *((_RAW,) if raw else ()))
        self.send(SaslHandshakeRequest(mechanism=mechanism), version)
        self._mechanism = mechanism

    def send_sasl_token(self, data: bytes) -> None:
        """Send a SASL token. The result is the event ``SaslToken`` or ``SaslFailed``.

        If ``raw`` is true, the frame is an INT32 size followed by the bytes. Otherwise,
        it is a SaslAuthenticate request.
        Raises ``LocalProtocolError`` before negotiation, before the response to
        ``start_sasl``, and after the end.
        """
        self._require_table(within_sasl=True)
        if self._raw:
            self._send_raw(data)
        else:
            self.send(SaslAuthenticateRequest(auth_bytes=data))

    def _receive(self, frame: Frame) -> None:
        if self._handshake is not None:
            self._negotiate(self._handshake, frame)
        elif self._raw:
            self._events.append(SaslToken(bytes(frame)))
        elif len(frame) <= HEADER_BYTES:
            self._receive_empty(frame)
        else:
            in_flight = self._in_flight
            if not in_flight or in_flight[0][0] != _id_at(frame)[0]:
                raise self._make_unexpected(frame)
            correlation_id, request, version, cls = in_flight.popleft()
            response: Any
            _, response = _decode(
                cls,
                frame,
                version,
                zero_copy=self._zero_copy,
                compat=self._compat,
                limits=self._limits,
            )
            if cls in _SASL:
                self._events.append(self._make_sasl_event(version, response))
                return
            event = (correlation_id, request, version, response)
            self._events.append(_response_received(ResponseReceived, event))

    def _negotiate(self, handshake: ApiVersionsHandshake, frame: Frame) -> None:
        if not frame:
            raise RemoteProtocolError(_EMPTY_FRAME)
        table = handshake.receive_frame(bytes(frame))
        if table is None:
            self._outgoing.append(handshake.data_to_send())
            return
        self.table = table
        self._handshake = None
        self._next_id = handshake.correlation_id + 1
        self._events.append(Negotiated(table))

    def _make_unexpected(self, frame: Frame) -> RemoteProtocolError:
        """Describe a frame that is not the response to the oldest request."""
        (received_id,) = _id_at(frame)
        awaited_ids = [entry[0] for entry in self._in_flight]
        if received_id in awaited_ids:
            return RemoteProtocolError(
                f"the response to request {received_id} arrived before that to"
                f" {awaited_ids[0]}; brokers answer in order"
            )
        awaited = (
            f"expected {awaited_ids[0]}" if awaited_ids else "no response is expected"
        )
        return RemoteProtocolError(
            f"received a response with correlation id {received_id}, which no request"
            f" in flight has ({awaited})"
        )

    def _receive_empty(self, frame: Frame) -> None:
        if len(frame) < HEADER_BYTES:
            raise RemoteProtocolError(
                f"a response begins with a correlation id of 4 bytes (got {len(frame)}"
                " bytes)"
                if frame
                else _EMPTY_FRAME
            )
        if not self._in_flight or self._in_flight[0][0] != _id_at(frame)[0]:
            raise self._make_unexpected(frame)
        correlation_id, request, version, _ = self._in_flight.popleft()
        name = name_of(request.api_key)
        error = UnsupportedVersion(
            f"{name} version {version}: request not supported by server",
            request.api_key,
            self.table.policy.range_of(type(request)) if self.table else None,
        )
        self._events.append(RequestUnsupported(correlation_id, request, version, error))

    def _make_sasl_event(self, version: int, response: Any) -> Event:
        if hasattr(response, "auth_bytes"):
            if response.error_code:
                return SaslFailed(response.error_code, response.error_message or "")
            # Convert to bytes even with ``zero_copy``, because mechanisms call
            # ``decode``.
            token = bytes(response.auth_bytes)
            return SaslToken(token, response.session_lifetime_ms / 1000)
        if response.error_code:
            return SaslFailed(response.error_code, "", tuple(response.mechanisms))
        self._raw = version == 0
        return SaslStarted(self._mechanism, self._raw)

    def _make_closed(self) -> ConnectionClosed:
        reason = self._describe_end()
        fallback = None
        if self._handshake is not None and not self._splitter.pending:
            try:
                fallback = self._handshake.connection_lost()
            except KwireError as error:
                reason = str(error)
        if self._in_flight:
            reason += f"; requests without a response: {len(self._in_flight)}"
        return ConnectionClosed(reason, self.in_flight, fallback)

    def _end(self, reason: str) -> None:
        super()._end(reason)
        self._outgoing.clear()
        if self.table is not None:
            self.table.expire()

    def _require_table(self, within_sasl: bool = False) -> ApiVersionTable:
        self._check_open()
        if self.table is None:
            raise LocalProtocolError(
                "versions are not negotiated yet; wait for the event Negotiated"
            )
        if self._in_flight and self._in_flight[-1][3] is SaslHandshakeResponse:
            raise LocalProtocolError(
                "the SASL handshake is not complete yet; wait for SaslStarted or"
                " SaslFailed"
            )
        if self._raw and not within_sasl:
            raise LocalProtocolError(
                "SASL tokens are being exchanged; call finish_sasl() when that is"
                " complete"
            )
        return self.table


_RAW = Constraint("SASL without SaslAuthenticate", {SaslHandshakeRequest.api_key: "0"})

_SASL = (SaslHandshakeResponse, SaslAuthenticateResponse)

_EMPTY_FRAME = "a response begins with a correlation id of 4 bytes (got an empty frame)"


def expects_response(request: Request) -> bool:
    """Return whether a request has a response.

    Only Produce with ``acks=0`` has none.
    """
    return not (isinstance(request, ProduceRequest) and request.acks == 0)
