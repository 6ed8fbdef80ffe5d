# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Connection events, with one class per event.

Events are named tuples, so ``==`` only compares their values, and two events of
different classes can be equal. Use ``match`` or ``isinstance`` to check the class. If a
single request fails, the failure is reported as an event. If the connection fails, an
exception is raised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..errors import UnsupportedVersion
from ..schema.plan import mask_secret

if TYPE_CHECKING:
    from ..messages import Request, Response
    from .negotiation import ApiVersionTable


class Negotiated(NamedTuple):
    """The client received the broker's versions. Requests can now be sent."""

    table: ApiVersionTable


class ResponseReceived(NamedTuple):
    """Response to the oldest request in flight."""

    correlation_id: int
    request: Request
    version: int
    response: Response


class RequestUnsupported(NamedTuple):
    """The server returned an empty response, because it does not support the request.

    Source: KIP-35, documents 000 and 001. Real brokers close the connection instead.
    """

    correlation_id: int
    request: Request
    version: int
    error: UnsupportedVersion


class SaslStarted(NamedTuple):
    """The server accepted a mechanism. If ``raw`` is true, tokens have no headers."""

    mechanism: str
    raw: bool


class SaslToken(NamedTuple):
    """Bytes that the peer's mechanism sent. ``repr`` does not print them.

    ``session_lifetime_s`` is the time in seconds after which the client must
    authenticate again, or 0 if the session does not expire (KIP-368).
    """

    data: bytes
    session_lifetime_s: float = 0

    def __repr__(self) -> str:
        data, lifetime = mask_secret(self.data), self.session_lifetime_s
        return f"SaslToken(data={data}, session_lifetime_s={lifetime})"


class SaslFailed(NamedTuple):
    """The server rejected the mechanism or the credentials.

    ``mechanisms`` contains the server's mechanisms if the response lists them.
    """

    error_code: int
    message: str
    mechanisms: tuple[str, ...] = ()


class Unanswered(NamedTuple):
    """Request that was in flight when its connection ended."""

    correlation_id: int
    request: Request
    version: int


class ConnectionClosed(NamedTuple):
    """The peer closed the connection.

    * ``unanswered``: client requests without a response, oldest first. The broker may
      or may not have processed them.
    * ``fallback``: version table for the next connection, which then skips negotiation.
      Only set if the broker closed the connection instead of answering the ApiVersions
      request, and if a fallback release is configured.
    """

    reason: str
    unanswered: tuple[Unanswered, ...] = ()
    fallback: ApiVersionTable | None = None


class RequestReceived(NamedTuple):
    """A request. Respond with ``send``, unless ``expects_response`` is false."""

    correlation_id: int
    client_id: str | None
    request: Request
    version: int
    expects_response: bool


class ApiVersionsAnswered(NamedTuple):
    """The client sent ApiVersions, and the connection has already added the response.

    ``software_name`` and ``software_version`` are empty if the client does not send
    them (before version 3), or if the server does not support the version. In the
    latter case, ``client_id`` is None.
    """

    version: int
    error_code: int
    client_id: str | None
    software_name: str
    software_version: str


class UnsupportedReceived(NamedTuple):
    """A request that the server does not support.

    The parameter ``on_unsupported`` of ``ServerConnection`` determines whether the
    connection must be closed, or has already added an empty response.
    """

    api_key: int
    version: int
    correlation_id: int


Event: TypeAlias = (
    Negotiated
    | ResponseReceived
    | RequestUnsupported
    | SaslStarted
    | SaslToken
    | SaslFailed
    | ConnectionClosed
    | RequestReceived
    | ApiVersionsAnswered
    | UnsupportedReceived
)
