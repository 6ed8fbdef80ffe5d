# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Common parts of the KIP-35 drafts: one request, one response, a version table.

``Question`` implements the client and ``Answerer`` the server, with the rules that all
three drafts share: the request is the first one on a connection, it has header version
1, and servers send an empty response if a request is not supported. The drafts
themselves only read and write bodies. Both classes perform no I/O: they return bytes to
send, and accept received frames without their size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from .. import errors
from .._engine.active import engine
from .._limits import DEFAULT, Limits
from ..connection.negotiation import DEFAULT_POLICY, fallback_table
from ..errors import LocalProtocolError, RemoteProtocolError, UnsupportedVersion
from ..messages import RequestHeader, ResponseHeader, codec

if TYPE_CHECKING:
    from ..connection.negotiation import ApiVersionTable, VersionPolicy

_HEADER_VERSION = 1
_SIZE_BYTES = 4
_LEAST_REQUEST_BYTES = 8


class Question:
    """Client that requests the supported versions on a new connection.

    Write the bytes from ``data_to_send``. Then pass the next frame to
    ``receive_frame``, or call ``connection_lost`` if the connection is closed. Both
    complete the exchange: they return a table or raise an error.

    ``fallback`` is the release ("0.9.0") to assume if a broker does not support the
    request. A release from 0.10.0 on has no effect, because its brokers support
    ApiVersions. The constructor raises ``ValueError`` if ``fallback`` is not a release,
    and ``UnsupportedVersion`` for 0.6 and 0.7. The table is only valid for this
    connection: call its ``expire`` method when the connection ends.
    """

    def __init__(
        self,
        api_key: int,
        version: int,
        body: bytes,
        *,
        fallback: str | None = None,
        policy: VersionPolicy = DEFAULT_POLICY,
        client_id: str | None = "kwire",
        correlation_id: int = 0,
        limits: Limits = DEFAULT,
    ) -> None:
        header = RequestHeader(
            request_api_key=api_key,
            request_api_version=version,
            correlation_id=correlation_id,
            client_id=client_id,
        )
        self.table: ApiVersionTable | None = None
        self._api_key = api_key
        self._version = version
        self._correlation_id = correlation_id
        self._fallback = None if fallback is None else fallback_table(fallback, policy)
        self._policy = policy
        self._limits = limits
        self._outgoing = add_size(codec.encode(header, _HEADER_VERSION) + body)

    def data_to_send(self) -> bytes:
        """Return the bytes to write, once. Later calls return empty bytes."""
        outgoing, self._outgoing = self._outgoing, b""
        return outgoing

    def receive_frame(self, frame: bytes) -> ApiVersionTable:
        """Process the response frame, and return the version table.

        If the response is empty, returns the table for the fallback release, or raises
        ``UnsupportedVersion`` without a fallback. Raises ``RemoteProtocolError`` if the
        response belongs to a different request, ``DecodeError`` if the bytes do not
        match the draft, and ``LocalProtocolError`` if a response was already received.
        """
        self._check_open()
        if not frame:
            raise RemoteProtocolError(
                "a response begins with a correlation id of 4 bytes (got an empty"
                " frame)"
            )
        header, start = engine.decode_prefix(ResponseHeader, frame, 0)
        if header.correlation_id != self._correlation_id:
            raise RemoteProtocolError(
                "the response has another correlation id (expected"
                f" {self._correlation_id}, got {header.correlation_id})"
            )
        if len(frame) > start:
            table = self._read_table(frame, start)
        else:
            table = self._assume(
                UnsupportedVersion(
                    f"API key {self._api_key}, version {self._version}: request not"
                    " supported by server",
                    self._api_key,
                )
            )
        self.table = table
        return table

    def connection_lost(self) -> ApiVersionTable:
        """Handle a connection that was closed without a response.

        Returns the table for the ``fallback`` release. Use it for the next connection,
        without sending the request again. Raises ``RemoteProtocolError`` without a
        fallback, and ``LocalProtocolError`` if a response was already received.
        """
        self._check_open()
        return self._assume(
            RemoteProtocolError(
                "the broker closed the connection on the request for its versions; if"
                " it does not know this draft, pass its release as fallback"
            )
        )

    def _read_table(self, frame: bytes, start: int) -> ApiVersionTable:
        raise NotImplementedError

    def _assume(self, error: errors.KwireError) -> ApiVersionTable:
        if self._fallback is None:
            raise error
        return self._fallback

    def _check_open(self) -> None:
        if self.table is not None:
            raise LocalProtocolError(
                "this exchange is complete; make a new one for the next connection"
            )


class Answerer:
    """Server that answers one type of request and rejects all others.

    ``on_unsupported`` specifies the reaction to other requests. "empty" sends a
    response with only a correlation id, as documents 000 and 001 require. "close"
    closes the connection, as Kafka does.
    """

    def __init__(
        self,
        api_key: int,
        version: int,
        *,
        on_unsupported: Literal["empty", "close"] = "empty",
        limits: Limits = DEFAULT,
    ) -> None:
        if on_unsupported not in ("empty", "close"):
            raise TypeError(
                'on_unsupported must be "empty" or "close" (got'
                f" {on_unsupported!r:.40})"
            )
        self._asked = (api_key, version)
        self._on_unsupported = on_unsupported
        self._limits = limits

    def answer(self, frame: bytes) -> bytes | None:
        """Answer a request. Returns bytes to write, including their size.

        None means that the connection must be closed. Raises ``DecodeError`` if the
        request is not valid. The connection must then be closed, too.
        """
        if len(frame) < _LEAST_REQUEST_BYTES:
            engine.decode_prefix(RequestHeader, frame, _HEADER_VERSION)
        api_key = int.from_bytes(frame[:2], "big", signed=True)
        version = int.from_bytes(frame[2:4], "big", signed=True)
        correlation_id = frame[4:8]
        if (api_key, version) != self._asked:
            return add_size(correlation_id) if self._on_unsupported == "empty" else None
        header, start = engine.decode_prefix(RequestHeader, frame, _HEADER_VERSION)
        body = self._answer_body(frame, start, header.client_id)
        return None if body is None else add_size(correlation_id + body)

    def _answer_body(
        self, frame: bytes, start: int, client_id: str | None
    ) -> bytes | None:
        raise NotImplementedError


def add_size(frame: bytes) -> bytes:
    """Prepend a frame's size as INT32, which does not count itself."""
    return len(frame).to_bytes(_SIZE_BYTES, "big") + frame


def read_body(
    cls: type[Any], frame: bytes, start: int, version: int, limits: Limits
) -> Any:
    """Decode a message that must occupy a frame's remaining bytes.

    Raises ``DecodeError`` if bytes follow the message.
    """
    message, end = engine.decode_prefix(cls, frame, version, start, limits=limits)
    if end != len(frame):
        raise errors.decode_failure(
            errors.TRAILING_BYTES, len(frame) - end, end, "", cls.__name__, version
        )
    return message
