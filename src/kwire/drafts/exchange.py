# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What the three drafts of KIP-35 share: one request, one response, a version table.

``Question`` is the client's side and ``Answerer`` the server's, with the rules that
all three have: the first request on a connection, header version 1, the empty response
to what a server does not know. The drafts themselves only read and write bodies. No
sockets: bytes to send come out, frames (without their size) go in.
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
    """The client's side: requests the versions of a broker on a new connection.

    Write what ``data_to_send`` gives, then pass the next frame to ``receive_frame``,
    or say ``connection_lost``: both end it, with a table or an error. ``fallback``
    names the release to assume of a broker that does not know the question ("0.9.0").
    The table is good for this connection only: call its ``expire`` when it ends.
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
        """Return the bytes to write now, once; empty if there are none."""
        outgoing, self._outgoing = self._outgoing, b""
        return outgoing

    def receive_frame(self, frame: bytes) -> ApiVersionTable:
        """Take the response; return the table.

        Of an empty response: the fallback's table, or ``UnsupportedVersion`` without
        one. ``RemoteProtocolError`` for what answers another question, ``DecodeError``
        for bytes that are not the draft's.
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
        """Handle a connection closed on the request; return the table to assume.

        The table is that of the release given as ``fallback``, and meant for the next
        connection, which does not ask. Without one: ``RemoteProtocolError``.
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
    """The server's side: answers one kind of request, and nothing else.

    ``on_unsupported`` says what becomes of all other requests: "empty" is the response
    with a correlation id and no body that documents 000 and 001 ask for, "close" is
    what Kafka does.
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
        """Answer a request; None means to close the connection.

        Returns what has to be written, size included. ``DecodeError`` for bytes that
        are wrong, after which the connection is to be closed as well.
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
    """Put the size in front of a frame: INT32, which counts all that follows it."""
    return len(frame).to_bytes(_SIZE_BYTES, "big") + frame


def read_body(
    cls: type[Any], frame: bytes, start: int, version: int, limits: Limits
) -> Any:
    """Decode the message that takes the rest of a frame; trailing bytes are refused."""
    message, end = engine.decode_prefix(cls, frame, version, start, limits=limits)
    if end != len(frame):
        raise errors.decode_failure(
            errors.TRAILING_BYTES, len(frame) - end, end, "", cls.__name__, version
        )
    return message
