# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ServerConnection``: the broker's side of one connection to a client.

It answers ApiVersions automatically, rejects unsupported requests, and sends responses
in request order. The caller creates the responses.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import TYPE_CHECKING, Literal, TypeAlias

from .._limits import DEFAULT, Limits
from ..errors import LocalProtocolError, RemoteProtocolError, quote
from ..messages import ApiVersionsRequest, SaslHandshakeRequest, framing
from ..messages.api_registry import KAFKA, ApiRegistry
from .client import expects_response
from .endpoint import Endpoint
from .events import (
    ApiVersionsAnswered,
    ConnectionClosed,
    RequestReceived,
    SaslToken,
    UnsupportedReceived,
)
from .negotiation import answer_api_versions
from .negotiation.handshake import HEADER_BYTES

if TYPE_CHECKING:
    from ..messages import Response
    from ..messages.frame_splitter import Frame
    from .negotiation import ApiVersionTable

    OnUnsupported: TypeAlias = Literal["close", "empty"]

_REQUEST_START = 8
"""Minimum number of bytes in a request, because its correlation id ends there."""


class _Turn:
    """Position in the order of the responses.

    * ``request``: request that expects the response, or None if the response was
      created automatically.
    * ``frame``: encoded response, or empty until the response is ready.
    """

    __slots__ = ("frame", "request")

    def __init__(self, request: RequestReceived | None, frame: bytes = b"") -> None:
        self.request = request
        self.frame = frame


class ServerConnection(Endpoint):
    """Server side of a connection: bytes and responses in, events and bytes out.

    * ``served``: ``ApiVersionTable`` (``from_ranges``, ``of_release``) with the
      versions that the server advertises and accepts.
    * ``on_unsupported``: "close" closes the connection if a request is not supported,
      as Kafka does. "empty" sends a response that only contains the correlation id
      (KIP-35).
    * ``compat``: "java" decodes requests as leniently as Kafka does. This is the
      default, because clients depend on it: librdkafka sends extra bytes after some
      Metadata requests. None rejects them.
    * ``registry``: classes of APIs that are not part of Kafka. ``served`` must also
      contain these APIs.
    * ``cluster_id``, ``node_id``: identity of the server, which ApiVersions requests
      may contain (KIP-1242). None disables the check.

    Raises ``ValueError`` if ``on_unsupported`` has another value.

    A protocol violation ends the connection, in the same way as in a
    ``ClientConnection``.
    """

    __slots__ = (
        "_awaiting",
        "_cluster_id",
        "_node_id",
        "_on_unsupported",
        "_registry",
        "_turns",
        "served",
    )

    def __init__(
        self,
        served: ApiVersionTable,
        *,
        on_unsupported: OnUnsupported = "close",
        cluster_id: str | None = None,
        node_id: int = -1,
        zero_copy: bool = False,
        compat: Literal["java"] | None = "java",
        limits: Limits = DEFAULT,
        registry: ApiRegistry = KAFKA,
    ) -> None:
        if on_unsupported not in ("close", "empty"):
            raise ValueError(
                'on_unsupported must be "close" or "empty" (got'
                f" {quote(on_unsupported)})"
            )
        super().__init__("client", limits, zero_copy, compat)
        self.served = served
        self._registry = registry
        self._on_unsupported = on_unsupported
        self._cluster_id = cluster_id
        self._node_id = node_id
        self._turns: deque[_Turn] = deque()
        # Keys are object ids of the requests. They remain unique, because the turn
        # keeps a reference to its request.
        self._awaiting: dict[int, _Turn] = {}

    @property
    def wants_close(self) -> bool:
        """Whether the socket must be closed after ``data_to_send`` has been written.

        This is the case after the end of the connection. It is also the case after a
        request was rejected, but only when all earlier requests have their responses.
        """
        return not self.is_open or not (self._is_listening or self._turns)

    def send(self, request: RequestReceived, response: Response) -> None:
        """Add the response to a request.

        It is sent when all earlier responses have been sent.

        Raises ``EncodeError`` if the response cannot be encoded in the request's
        version, and ``TypeError`` if ``request`` is not the event or ``response`` is
        not of its API. Raises ``LocalProtocolError`` if the request already has a
        response or does not expect one, or if the connection has ended.
        """
        self._check_open()
        if not isinstance(request, RequestReceived):
            raise TypeError(
                "request must be the event RequestReceived, not the request in it"
            )
        api_key = type(request.request).api_key
        response_class = (
            self._registry.by_key(api_key, "response") if api_key is not None else None
        )
        if type(response) is not response_class:
            raise TypeError(
                f"the response to {type(request.request).__name__} cannot be"
                f" {type(response).__name__}"
            )
        # Compare by identity, because a client can use a correlation id more than once.
        turn = self._awaiting.get(id(request))
        if turn is None:
            raise LocalProtocolError(
                f"request {request.correlation_id} has its response already, or"
                " expects none"
            )
        turn.frame = framing.encode_response(
            response, request.version, request.correlation_id
        )
        del self._awaiting[id(request)]
        if isinstance(request.request, SaslHandshakeRequest):
            is_accepted = not response.error_code  # type: ignore[attr-defined]
            self._raw = is_accepted and request.version == 0
        self._flush()

    def send_sasl_token(self, data: bytes) -> None:
        """Send a token without a header, after SaslHandshake version 0.

        Raises ``LocalProtocolError`` in any other state, or if earlier requests have no
        response yet.
        """
        self._check_open()
        if not self._raw:
            raise LocalProtocolError(
                "tokens without a header require SaslHandshake v0; send a"
                " SaslAuthenticate response"
            )
        if self._turns:
            raise LocalProtocolError(
                "a token cannot be sent before the responses to earlier requests;"
                " send those first"
            )
        self._send_raw(data)

    def _receive(self, frame: Frame) -> None:
        if self._raw:
            self._events.append(SaslToken(bytes(frame)))
            return
        if len(frame) < _REQUEST_START:
            raise RemoteProtocolError(
                f"a request header has at least 8 bytes (got {len(frame)})"
            )
        api_key = int.from_bytes(frame[:2], "big", signed=True)
        version = int.from_bytes(frame[2:4], "big", signed=True)
        correlation_id = int.from_bytes(frame[4:8], "big", signed=True)
        served_versions = self.served.range_of(api_key)
        if api_key == ApiVersionsRequest.api_key and served_versions:
            self._answer_api_versions(bytes(frame))
        elif version not in served_versions or not self._is_known(api_key, version):
            self._reject(api_key, version, correlation_id)
        else:
            header, request = framing.decode_request(
                frame,
                zero_copy=self._zero_copy,
                compat=self._compat,
                limits=self._limits,
                registry=self._registry,
            )
            is_response_expected = expects_response(request)
            received = RequestReceived(
                correlation_id, header.client_id, request, version, is_response_expected
            )
            if is_response_expected:
                turn = self._awaiting[id(received)] = _Turn(received)
                self._turns.append(turn)
            self._events.append(received)

    def _is_known(self, api_key: int, version: int) -> bool:
        try:
            cls = self._registry.by_key(api_key, "request")
        except KeyError:
            return False
        return version in cls.valid_versions

    def _answer_api_versions(self, frame: bytes) -> None:
        answer = answer_api_versions(
            frame,
            self.served,
            cluster_id=self._cluster_id,
            node_id=self._node_id,
            limits=self._limits,
        )
        self._turns.append(_Turn(None, answer.frame))
        self._events.append(
            ApiVersionsAnswered(
                answer.version,
                answer.error_code,
                answer.client_id,
                answer.software_name,
                answer.software_version,
            )
        )
        self._flush()

    def _reject(self, api_key: int, version: int, correlation_id: int) -> None:
        self._events.append(UnsupportedReceived(api_key, version, correlation_id))
        if self._on_unsupported == "close":
            # Following frames are neither decoded nor stored.
            self._is_listening = False
            return
        # The frame contains the INT32 size, which is 4, and the correlation id.
        empty = struct.pack(">ii", HEADER_BYTES, correlation_id)
        self._turns.append(_Turn(None, empty))
        self._flush()

    def _flush(self) -> None:
        """Send completed responses until the oldest request has no response yet."""
        turns = self._turns
        while turns and turns[0].frame:
            self._outgoing.append(turns.popleft().frame)

    def _make_closed(self) -> ConnectionClosed:
        return ConnectionClosed(self._describe_end())
