# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The events of a connection, one class for each.

Events are named tuples, so ``==`` compares their values alone: two events of different
classes can be equal. Find the class with ``match`` or ``isinstance``. What goes wrong
for one request is an event; what goes wrong for the connection is an exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ..errors import UnsupportedVersion
from ..schema.plan import mask_secret

if TYPE_CHECKING:
    from ..messages import Request, Response
    from .negotiation import ApiVersionTable


class Negotiated(NamedTuple):
    """The client has the broker's versions; requests may be sent from here on."""

    table: ApiVersionTable


class ResponseReceived(NamedTuple):
    """The response to the oldest request in flight."""

    correlation_id: int
    request: Request
    version: int
    response: Response


class RequestUnsupported(NamedTuple):
    """The server answered a request with an empty response: it does not support it.

    Source: KIP-35, documents 000 and 001. Real brokers close the connection instead.
    """

    correlation_id: int
    request: Request
    version: int
    error: UnsupportedVersion


class SaslStarted(NamedTuple):
    """The server agreed to a mechanism; with ``raw``, tokens have no headers."""

    mechanism: str
    raw: bool


class SaslToken(NamedTuple):
    """Bytes of the mechanism from the other side; ``repr`` does not show them.

    ``session_lifetime_s`` is the time after which the client must authenticate again,
    0 if the session does not expire (KIP-368).
    """

    data: bytes
    session_lifetime_s: float = 0

    def __repr__(self) -> str:
        data, lifetime = mask_secret(self.data), self.session_lifetime_s
        return f"SaslToken(data={data}, session_lifetime_s={lifetime})"


class SaslFailed(NamedTuple):
    """The server refused the mechanism, or what it was sent.

    ``mechanisms`` are those that the server offers, where it lists them.
    """

    error_code: int
    message: str
    mechanisms: tuple[str, ...] = ()


class Unanswered(NamedTuple):
    """A request that was in flight when its connection ended."""

    correlation_id: int
    request: Request
    version: int


class ConnectionClosed(NamedTuple):
    """The peer closed the connection.

    ``unanswered`` are the client's requests without a response, oldest first: the
    broker may have carried them out or not. ``fallback`` is there if the broker hung up
    on the question for its versions: the table to use, unasked, on the next connection.
    """

    reason: str
    unanswered: tuple[Unanswered, ...] = ()
    fallback: ApiVersionTable | None = None


class RequestReceived(NamedTuple):
    """A request; answer it with ``send``, unless ``expects_response`` is false."""

    correlation_id: int
    client_id: str | None
    request: Request
    version: int
    expects_response: bool


class ApiVersionsAnswered(NamedTuple):
    """The client sent ApiVersions, and the connection has answered it already.

    Both software texts are empty where the client does not tell (before version 3).
    """

    version: int
    error_code: int
    client_id: str | None
    software_name: str
    software_version: str


class UnsupportedReceived(NamedTuple):
    """A request that the server does not serve; it was treated as configured."""

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
