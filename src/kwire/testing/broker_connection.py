# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``BrokerConnection``: the broker's side of one connection, without a socket.

A broker processes the requests of a connection one at a time, in their order. While a
response is not ready, later requests of the same connection wait.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from ..connection import (
    ApiVersionsAnswered,
    RequestReceived,
    SaslToken,
    ServerConnection,
)
from ..errors import KwireError
from ..messages import (
    ApiVersionsRequest,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from ..schema import error_codes
from .answers.context import Close, RequestContext, Waiting
from .answers.dispatch import ANSWERS
from .sasl_server import MECHANISMS, SaslExchange, start_exchange

if TYPE_CHECKING:
    from ..connection.events import Event
    from ..messages import Request, Response
    from .machine import ClusterMachine
    from .rules import RuleMatcher
    from .state.cluster import BrokerState

MAX_QUEUED = 100
"""Number of unprocessed requests after which the host stops reading from the socket."""


class BrokerConnection:
    """Connection of a client to a broker.

    * ``is_closed``: the host must close the socket after it has sent the remaining
      bytes.
    """

    def __init__(
        self,
        machine: ClusterMachine,
        broker: BrokerState,
        connection_id: int,
        client_host: str,
    ) -> None:
        self.broker = broker
        self.connection_id = connection_id
        self.is_closed = False
        self.principal = "ANONYMOUS"
        self._software = ("", "")
        self._machine = machine
        self._client_host = client_host
        self._server = ServerConnection(machine.table.copy())
        self._events: deque[Event] = deque()
        self._pending: RequestReceived | None = None
        self._is_lost_after_answer = False
        self._exchange: SaslExchange | None = None
        self._is_authenticated = machine.users is None

    @property
    def can_receive(self) -> bool:
        """Whether the host should read more bytes from the socket."""
        return len(self._events) < MAX_QUEUED

    def receive(self, data: bytes) -> None:
        """Process bytes from the client. Empty bytes mean the end of the stream."""
        if self.is_closed:
            return
        if not data:
            # The client cannot receive the responses that are not ready yet.
            self._close()
            return
        try:
            self._events.extend(self._server.receive_data(data))
        except KwireError:
            # Like a broker, close the connection after bytes that are not a request.
            self._close()
            return
        self._process()
        self._machine.attempt_waiting()

    def data_to_send(self) -> bytes:
        """Return the bytes that must be sent to the client."""
        return self._server.data_to_send()

    def finish(self, response: Response) -> None:
        """Send the response to the current request, and process the next one."""
        self._send(response)
        self._process()

    def abort(self) -> None:
        """Lose the connection. Responses that are not sent yet are lost, too."""
        if not self.is_closed:
            self._server.data_to_send()
            self._close()

    def _process(self) -> None:
        """Process requests until one of them waits, or there is none."""
        while self._events and self._pending is None and not self.is_closed:
            event = self._events.popleft()
            if isinstance(event, RequestReceived):
                self._receive_request(event)
            elif isinstance(event, ApiVersionsAnswered):
                self._note_api_versions(event)
            elif isinstance(event, SaslToken):
                self._receive_token(event)
            else:
                # The client has disconnected, or its request is not supported.
                self._close()
        self._machine.note_ready(self)

    def _note_api_versions(self, event: ApiVersionsAnswered) -> None:
        self._software = event.software_name, event.software_version
        request = ApiVersionsRequest(
            client_software_name=event.software_name,
            client_software_version=event.software_version,
        )
        matcher = self._note_request(request, event.version, event.client_id)
        if matcher and matcher.take("cuts"):
            self.abort()

    def _receive_token(self, event: SaslToken) -> None:
        """Answer a token without a header, after version 0 of SaslHandshake."""
        token = self._exchange.respond(event.data) if self._exchange else None
        if token is None:
            self._close()
            return
        self._server.send_sasl_token(token)
        self._note_authenticated()
        if self._is_authenticated:
            self._server.finish_sasl()

    def _receive_request(self, event: RequestReceived) -> None:
        request = event.request
        matcher = self._note_request(request, event.version, event.client_id)
        if isinstance(request, SaslHandshakeRequest):
            self._server.send(event, self._start_sasl(request.mechanism))
            return
        if isinstance(request, SaslAuthenticateRequest):
            self._authenticate(event, bytes(request.auth_bytes))
            return
        if not self._is_authenticated:
            self._close()
            return
        self._pending = event
        fault, delay_s = self._machine.rules.draw_fault()
        cut = matcher.take("cuts") if matcher else None
        if fault == "before" or (cut and cut.cuts == "before"):
            self.abort()
            return
        self._is_lost_after_answer = fault == "after" or cut is not None
        delay = matcher.take("delay_s") if matcher else None
        delay_s += delay.delay_s if delay else 0.0
        if delay_s:
            self._machine.state.clock.after(
                delay_s, lambda: self._answer_late(event, matcher)
            )
        else:
            self._answer(event, matcher)

    def _answer_late(self, event: RequestReceived, matcher: RuleMatcher | None) -> None:
        if not self.is_closed:
            self._answer(event, matcher)
            self._process()

    def _answer(self, event: RequestReceived, matcher: RuleMatcher | None) -> None:
        """Answer a request now, or let it wait."""
        rule = matcher.take("answer") if matcher else None
        if rule is not None and rule.answer is not None:
            response = rule.answer(event.request, event.version)
            if response is not None:
                self._send(response)
                return
        function = ANSWERS.get(type(event.request).__name__.removesuffix("Request"))
        if function is None:
            self._close()
            return
        answer = function(
            RequestContext(
                self._machine.state,
                self.broker,
                event.request,
                event.version,
                client_id=event.client_id,
                client_host=self._client_host,
                principal=self.principal,
                software_name=self._software[0],
                software_version=self._software[1],
                connection_id=self.connection_id,
                matcher=matcher,
            )
        )
        if isinstance(answer, Waiting):
            self._machine.wait(self, answer)
        elif isinstance(answer, Close):
            self._close()
        elif answer is None:
            self._pending = None
        else:
            self._send(answer)

    def _send(self, response: Response) -> None:
        event, self._pending = self._pending, None
        if event is None or self.is_closed:
            return
        if self._is_lost_after_answer:
            self.abort()
            return
        if event.expects_response:
            self._server.send(event, response)
        self._machine.note_ready(self)

    def _start_sasl(self, mechanism: str) -> SaslHandshakeResponse:
        users = self._machine.users
        # Sessions do not expire, so that clients cannot authenticate again (KIP-368).
        if users is None or self._is_authenticated:
            return SaslHandshakeResponse(error_code=error_codes.ILLEGAL_SASL_STATE)
        if mechanism not in MECHANISMS:
            return SaslHandshakeResponse(
                error_code=error_codes.UNSUPPORTED_SASL_MECHANISM,
                mechanisms=list(MECHANISMS),
            )
        self._exchange = start_exchange(mechanism, users)
        return SaslHandshakeResponse(mechanisms=list(MECHANISMS))

    def _authenticate(self, event: RequestReceived, token: bytes) -> None:
        if self._exchange is None:
            code = error_codes.ILLEGAL_SASL_STATE
            response = SaslAuthenticateResponse(
                error_code=code,
                error_message="SaslAuthenticate request received after successful"
                " authentication"
                if self._is_authenticated
                else "SaslHandshake is missing",
            )
            self._server.send(event, response)
            return
        reply = self._exchange.respond(token)
        if reply is None:
            code = error_codes.SASL_AUTHENTICATION_FAILED
            self._server.send(
                event,
                SaslAuthenticateResponse(
                    error_code=code, error_message="Invalid credentials"
                ),
            )
            self._close()
            return
        self._server.send(event, SaslAuthenticateResponse(auth_bytes=reply))
        self._note_authenticated()

    def _note_authenticated(self) -> None:
        user = self._exchange.user if self._exchange else None
        if user is not None:
            self.principal = user
            self._is_authenticated = True
            self._exchange = None

    def _note_request(
        self, request: Request, version: int, client_id: str | None
    ) -> RuleMatcher | None:
        node_id = self.broker.node_id
        return self._machine.note_request(node_id, request, version, client_id or "")

    def _close(self) -> None:
        self.is_closed = True
        self._events.clear()
        self._pending = None
        self._machine.note_ready(self)
        self._machine.note_closed(self)
