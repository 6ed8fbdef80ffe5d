# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A small client with asyncio: one connection to one broker, one request at a time.

    async with await connect("127.0.0.1", 9092) as broker:
        broker.table.pick(MetadataRequest)
        answer = await broker.ask(MetadataRequest(topics=()))

Enough for tools: TCP, TLS, SASL, and a limit to every wait, but neither a pool nor a
retry. ``connection`` has the protocol. Each error names the address, and what to do
where that is known.
"""

from __future__ import annotations

import asyncio
import ssl as tls
from collections import deque
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from .._limits import DEFAULT, Limits
from .._text import escape_line, format_address, quote_text
from ..connection import (
    ClientConnection,
    ConnectionClosed,
    Negotiated,
    RequestUnsupported,
    ResponseReceived,
    SaslFailed,
    SaslToken,
)
from ..connection.negotiation import DEFAULT_POLICY
from ..connection.negotiation.handshake import SILENCE_S
from ..connection.sasl import CredentialsError
from ..errors import (
    KwireError,
    LocalProtocolError,
    RemoteProtocolError,
    UnsupportedVersion,
)
from ..messages import SaslAuthenticateRequest, SaslHandshakeRequest
from ..messages.api_registry import KAFKA
from ..schema import error_codes
from .runners.addresses import connection_problem as connection_problem
from .runners.addresses import format_reason
from .runners.addresses import split_address as split_address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from ..connection import Event
    from ..connection.negotiation import ApiVersionTable, Constraint, VersionPolicy
    from ..messages import Request
    from ..messages.api_registry import ApiRegistry

    class Mechanism(Protocol):
        """What authenticates: ``sasl.Plain``, ``sasl.Scram``, or your own."""

        @property
        def mechanism(self) -> str: ...
        def first(self) -> bytes: ...
        def challenge(self, data: bytes, /) -> bytes | None: ...


_NO_SASL = (
    "the broker does not offer SASL on this port; connect without it, or to another"
    " port"
)

_GOODBYE_S = 1.0
"""How long a peer may take to end TLS in good order."""


class NetworkError(KwireError):
    """A connection could not be made, or is lost: ``address`` and ``reason``."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(address, reason)
        self.address = address
        self.reason = reason

    def __str__(self) -> str:
        # Both may contain text of the peer.
        return escape_line(f"{self.address}: {self.reason}")


class NetworkTimeout(NetworkError):
    """The peer took too long; the connection, if there was one, is closed."""


class AuthenticationFailed(NetworkError):
    """SASL ended without success."""


def address_text(host: str, port: int) -> str:
    """Format an address: "kafka:9092", "[::1]:9092".

    Characters that a terminal does not print are escaped. A user name and a password
    before the host are omitted.
    """
    return format_address(host, port)


async def connect(
    host: str,
    port: int,
    *,
    ssl: tls.SSLContext | bool | None = None,
    sasl: Mechanism | None = None,
    client_id: str | None = "kwire",
    timeout_s: float = 10.0,
    fallback: str | None = None,
    policy: VersionPolicy = DEFAULT_POLICY,
    registry: ApiRegistry = KAFKA,
    limits: Limits = DEFAULT,
    compat: Literal["java"] | None = None,
) -> Broker:
    """Connect to a broker, negotiate versions, and authenticate if ``sasl`` is given.

    ``ssl`` is a context, or True for the one that trusts what the system trusts.
    ``timeout_s`` bounds all of this together, and later each ``ask``. ``fallback``
    names the release to assume of a broker that does not answer the question for its
    versions ("0.9.0"); it is then connected once more. ``compat="java"`` reads answers
    as leniently as Kafka does. ``registry`` adds the classes of APIs that Kafka does
    not have. ``NetworkError``.
    """
    address = address_text(host, port)
    if ssl is not None and not isinstance(ssl, (bool, tls.SSLContext)):
        # asyncio would show the value, which may be a password in the wrong place.
        raise TypeError(
            "ssl must be an ssl.SSLContext, True, False or None"
            f" (got {type(ssl).__name__})"
        )
    context = tls.create_default_context() if ssl is True else ssl or None
    table = None
    async with _deadline(address, timeout_s, "not connected"):
        while True:
            connection = ClientConnection(
                client_id,
                table=table,
                fallback=fallback,
                policy=policy,
                registry=registry,
                limits=limits,
                compat=compat,
            )
            link = _Link(connection)
            await _open(host, port, context, link)
            broker = Broker(address, connection, link, timeout_s, fallback is not None)
            table = await broker._start(sasl)
            if table is None:
                return broker


class Broker:
    """A connection to one broker; ``connect`` makes it, ``async with`` closes it.

    Questions go one after another, also those of several tasks. One that fails or is
    cancelled half-way ends the connection, for its answer may come at any time.
    """

    def __init__(
        self,
        address: str,
        connection: ClientConnection,
        link: _Link,
        timeout_s: float,
        has_fallback: bool = False,
    ) -> None:
        self.address = address
        self._connection = connection
        self._link = link
        self._timeout_s = timeout_s
        self._has_fallback = has_fallback
        self._turn = asyncio.Lock()
        self._hint = ""

    @property
    def table(self) -> ApiVersionTable:
        """The versions that the broker supports; closed with the connection."""
        table = self._connection.table
        assert table is not None, "connect returns after negotiation"
        return table

    @property
    def is_open(self) -> bool:
        """Whether the connection can still be used, as far as is known."""
        return self._connection.is_open

    async def ask(
        self,
        request: Request,
        version: int | None = None,
        *,
        constraints: tuple[Constraint, ...] = (),
    ) -> Any:
        """Send a request and return its response, None for Produce with ``acks=0``.

        Without ``version`` it is the highest that both sides can use and that fits the
        ``constraints``. Fetch and Produce name topics by ``topic_id`` from 13 on: where
        only the name is known, pass ``(negotiation.NO_TOPIC_IDS,)``.
        ``UnsupportedVersion`` and ``EncodeError`` leave the connection as it was,
        ``NetworkError`` means that it is lost, ``LocalProtocolError`` that it was.
        """
        if isinstance(request, (SaslHandshakeRequest, SaslAuthenticateRequest)):
            raise LocalProtocolError(
                "SASL requests cannot be sent by themselves; use connect(sasl=...)"
            )
        async with self._turn:
            what = f"no response to {type(request).__name__}"
            if self._link.has_news:
                # The peer sent bytes or closed the connection before this request was
                # sent, so missing SASL is not the cause.
                self._hint = ""
                async with self._limit_wait(what):
                    await self._event()
            send = self._connection.send
            send(request, version, constraints=constraints)
            async with self._limit_wait(what):
                if not self._connection.in_flight:
                    await self._link.flush()
                    return None
                event = await self._event()
        if isinstance(event, RequestUnsupported):
            raise event.error
        assert isinstance(event, ResponseReceived)
        self._hint = ""
        return event.response

    async def close(self) -> None:
        """Close the connection; a peer that does not say goodbye is not waited for."""
        self._connection.close()
        await self._link.close()

    def __repr__(self) -> str:
        state = "open" if self.is_open else "closed"
        return f"<Broker at {self.address}, {state}>"

    async def __aenter__(self) -> Broker:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _start(self, sasl: Mechanism | None) -> ApiVersionTable | None:
        """Negotiate and authenticate; return a table that needs a new connection."""
        try:
            if self._connection.table is None:
                event = await self._negotiate()
                if isinstance(event, ConnectionClosed):
                    if event.fallback is None:
                        raise NetworkError(self.address, self._explain_close(event))
                    self._abandon()
                    return event.fallback
                assert isinstance(event, Negotiated)
            if sasl is not None:
                await self._authenticate(sasl)
            elif self.table.usable(SaslHandshakeRequest):
                self._hint = "; it may require SASL, with a user name and a password"
        except BaseException as error:
            self._fail(error)
            raise
        return None

    async def _negotiate(self) -> Event:
        """Wait for the versions, or for the end of a connection that has none."""
        silence_s = min(SILENCE_S, self._timeout_s / 2) if self._has_fallback else None
        try:
            async with asyncio.timeout(silence_s):
                return await self._event(closes=True)
        except TimeoutError:
            if silence_s is None:
                raise
            (closed,) = self._connection.receive_data(b"")
            return closed

    async def _authenticate(self, sasl: Mechanism) -> None:
        name = sasl.mechanism
        self._hint = f"; brokers do so when they reject {name} or the password"
        try:
            self._connection.start_sasl(name)
        except UnsupportedVersion as error:
            raise AuthenticationFailed(self.address, _NO_SASL) from error
        event = await self._event()
        token: bytes | None = None
        try:
            if not isinstance(event, SaslFailed):
                token = _call_mechanism(sasl.first)
            while token is not None and not isinstance(event, SaslFailed):
                self._connection.send_sasl_token(token)
                event = await self._event()
                if isinstance(event, SaslToken):
                    token = _call_mechanism(sasl.challenge, event.data)
        except (RemoteProtocolError, CredentialsError) as error:
            if not self._connection.is_open:
                raise
            reason = f"{name}: {error}"
            raise AuthenticationFailed(self.address, reason) from error
        if isinstance(event, SaslFailed):
            raise AuthenticationFailed(self.address, _refusal(name, event))
        self._connection.finish_sasl()
        self._hint = ""

    async def _event(self, closes: bool = False) -> Event:
        """Wait for what comes next; only with ``closes`` may that be the end."""
        await self._link.flush()
        event = await self._link.next_event()
        if isinstance(event, ConnectionClosed) and not closes:
            raise NetworkError(self.address, event.reason + self._hint)
        return event

    def _explain_close(self, closed: ConnectionClosed) -> str:
        """Describe why a broker closed the connection on the ApiVersions request."""
        if not self._link.has_tls:
            return closed.reason
        return (
            "the broker closed the connection after the TLS handshake; it may require"
            " a client certificate, or this is not a port of Kafka"
        )

    @asynccontextmanager
    async def _limit_wait(self, what: str) -> AsyncIterator[None]:
        """Limit a wait, and end the connection unless it succeeds."""
        try:
            async with _deadline(self.address, self._timeout_s, what):
                yield
        except BaseException as error:
            self._fail(error)
            raise

    def _fail(self, error: BaseException) -> None:
        """End the connection; an error of its own gets the address."""
        self._abandon()
        if isinstance(error, NetworkError):
            return
        if isinstance(error, tls.SSLError):
            reason = format_reason(error.reason or str(error))
            raise NetworkError(
                self.address, f"the TLS handshake failed: {reason}"
            ) from error
        if isinstance(error, (KwireError, OSError)):
            raise NetworkError(self.address, str(error)) from error

    def _abandon(self) -> None:
        self._connection.close()
        self._link.abort()


@asynccontextmanager
async def _deadline(address: str, timeout_s: float, what: str) -> AsyncIterator[None]:
    deadline = asyncio.timeout(timeout_s)
    try:
        async with deadline:
            yield
    except TimeoutError as error:
        if not deadline.expired():
            raise
        reason = (
            f"{what} within {timeout_s:g} s; the broker is slow, or this is not a"
            " broker"
        )
        raise NetworkTimeout(address, reason) from error


class _Link(asyncio.BufferedProtocol):
    """Moves the bytes of one connection, into the memory that its frames stay in.

    Events wait here until ``next_event``, and so does what has ended the connection.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._events: deque[Event] = deque()
        self._failure: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._is_full = False
        self._lost = self._loop.create_future()

    @property
    def has_news(self) -> bool:
        """Whether ``next_event`` would not wait."""
        return bool(self._events) or self._failure is not None

    @property
    def has_tls(self) -> bool:
        """Whether the connection has TLS."""
        transport = self._transport
        return transport is not None and bool(transport.get_extra_info("ssl_object"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Those of uvloop derive from no class of asyncio.
        self._transport = cast("asyncio.Transport", transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._connection.get_buffer(sizehint)

    def buffer_updated(self, nbytes: int) -> None:
        if self._connection.is_open:
            self._take(self._connection.buffer_updated(nbytes))

    def eof_received(self) -> bool:
        self._take_end()
        return False

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._lost.done():
            self._lost.set_result(None)
        if exc is None or isinstance(exc, ConnectionError):
            self._take_end()
        elif self._failure is None:
            self._failure = exc
        self._wake()

    async def next_event(self) -> Event:
        """Wait for the next event; raises what has ended the connection."""
        while not self._events:
            if self._failure is not None:
                raise self._failure
            await self._wait()
        return self._events.popleft()

    async def flush(self) -> None:
        """Write what there is to send, and wait until the system has taken most of it.

        The peer may have sent why before it hung up: ``next_event`` returns that.
        """
        self._write()
        while self._is_full and not self._lost.done():
            await self._wait()

    async def close(self) -> None:
        """Close the connection; a peer that does not answer is not waited for."""
        if self._transport is None:
            return
        self._transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_S):
                await asyncio.shield(self._lost)
        self._transport.abort()

    def abort(self) -> None:
        """Close the connection without waiting for the peer."""
        if self._transport is not None:
            self._transport.abort()

    def _take(self, events: Iterator[Event]) -> None:
        try:
            self._events.extend(events)
        except KwireError as error:
            self._failure = error
        # Negotiation has more than one request.
        self._write()
        self._wake()

    def _write(self) -> None:
        if self._transport is not None and (data := self._connection.data_to_send()):
            self._transport.write(data)

    def _take_end(self) -> None:
        if self._connection.is_open:
            self._take(self._connection.receive_data(b""))

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None


async def _open(
    host: str, port: int, context: tls.SSLContext | None, link: _Link
) -> None:
    loop = asyncio.get_running_loop()
    try:
        await loop.create_connection(lambda: link, host, port, ssl=context)
    except (OSError, ValueError, OverflowError) as error:
        raise NetworkError(
            address_text(host, port), connection_problem(error, context)
        ) from error


def _call_mechanism(method: Callable[..., Any], *arguments: bytes) -> Any:
    """Call a mechanism, which may be a user's; its errors may contain a secret."""
    try:
        return method(*arguments)
    except KwireError:
        raise
    except Exception as error:
        raise CredentialsError(f"the mechanism raised {type(error).__name__}") from None


def _refusal(name: str, failed: SaslFailed) -> str:
    if failed.mechanisms:
        return (
            f"the broker does not accept {name}; it offers"
            f" {quote_text(', '.join(failed.mechanisms))}"
        )
    if failed.error_code == error_codes.ILLEGAL_SASL_STATE:
        return _NO_SASL
    reason = quote_text(failed.message) or error_codes.name(failed.error_code)
    return f"the broker rejects {name}: {reason}"
