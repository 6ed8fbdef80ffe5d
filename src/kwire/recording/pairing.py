# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What the frames of one connection are: requests, their answers, and secrets.

``AwaitedRequests`` finds the request that a response answers, in live traffic and in
captures. ``Conversation`` reads the frames of a connection.
Headers alone are read, and nothing is refused: of a frame that is no Kafka, less is
known. Which messages have secrets is in their definitions; an Envelope has those of the
request within it. While SASL goes on, a frame that is no request that kwire can read is
taken for a token. No sockets, and no bytes are changed.
"""

from __future__ import annotations

from collections import Counter, deque
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from .._limits import Limits
from ..connection.negotiation.facts import first_version
from ..errors import KwireError
from ..messages import (
    EnvelopeRequest,
    ProduceRequest,
    RequestHeader,
    SaslAuthenticateRequest,
    SaslHandshakeRequest,
    framing,
    wire,
)
from ..schema import plan, registry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

    from ..messages.frame_splitter import Frame

_Request = TypeVar("_Request")

NO_LIMITS = Limits(
    frame_bytes=None,
    decompressed_bytes=None,
    decompressed_ratio=None,
    records=None,
    total_decompressed_bytes=None,
)

_head = Struct(">hhi").unpack_from
_CLIENT_ID_AT = 8
_MOST_AWAITED = 1 << 16
"""Requests that are remembered at most: a peer may never answer, or not in order."""

_KERBEROS = 0x60
"""The first byte of Kerberos tokens; brokers before 0.10 took them without a word."""

_SASL = (SaslHandshakeRequest.api_key, SaslAuthenticateRequest.api_key)
_MOST_ENVELOPES = 4
"""Envelopes within each other that are opened; Kafka puts none into another."""


class Header(NamedTuple):
    """What is known of a frame; of an answer, most is from its request."""

    api_key: int | None = None
    api_version: int | None = None
    correlation_id: int | None = None
    client_id: str | None = None


NO_HEADER = Header()
"""Of a SASL token, which has none, and of what is too short for one."""


class _Secrets(NamedTuple):
    """Which sides of an exchange must not be written down."""

    request: bool
    response: bool


_TOKEN = _Secrets(True, True)


class AwaitedRequests(Generic[_Request]):
    """The requests of one connection that await a response, the oldest first.

    Brokers answer the requests of a connection in order. A response therefore belongs
    to the first request with its correlation id, and the requests before that one will
    get no response any more. If more than ``maximum`` requests wait, the oldest ones
    are given up as well. A correlation id or API key of None is unknown.
    """

    __slots__ = ("_counts", "_maximum", "_queue")

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._queue: deque[tuple[int | None, int | None, _Request]] = deque()
        # Spares a search of the queue for each response that no request matches.
        self._counts: Counter[int | None] = Counter()

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[_Request]:
        return (request for _, _, request in self._queue)

    def add(
        self, correlation_id: int | None, api_key: int | None, request: _Request
    ) -> list[_Request]:
        """Add the newest request. Returns the requests that are given up."""
        self._queue.append((correlation_id, api_key, request))
        self._counts[correlation_id] += 1
        return self.drop(self._maximum)

    def take(
        self, correlation_id: int | None, api_key: int | None = None
    ) -> list[_Request]:
        """Remove the request that a response answers.

        Returns the requests without a response before it, and at the end the request
        itself; nothing if no request matches.
        """
        if correlation_id in self._counts:
            for index, (number, key, _) in enumerate(self._queue):
                if number == correlation_id and (
                    None in (key, api_key) or key == api_key
                ):
                    return self.drop(len(self._queue) - index - 1)
        return []

    def drop(self, kept: int) -> list[_Request]:
        """Remove and return all requests but the newest ``kept``."""
        dropped = []
        while len(self._queue) > kept:
            number, _, request = self._queue.popleft()
            self._counts[number] -= 1
            if not self._counts[number]:
                del self._counts[number]
            dropped.append(request)
        return dropped


class Conversation:
    """The frames of one connection, in the order in which each side sends them."""

    __slots__ = ("_awaited", "_is_authenticating", "_is_first")

    def __init__(self) -> None:
        self._awaited = AwaitedRequests[tuple[Header, _Secrets]](_MOST_AWAITED)
        self._is_first = True
        self._is_authenticating = False

    def request(self, frame: Frame) -> tuple[Header, bool]:
        """Take what the client sends; give its header, and whether it is secret."""
        if self._is_first:
            self._is_first = False
            self._is_authenticating = frame[:1] == bytes((_KERBEROS,))
        if self._is_authenticating and not _is_request(frame):
            # Whatever it has where others have a header may be part of a password.
            self._awaited.add(None, None, (NO_HEADER, _TOKEN))
            return NO_HEADER, True
        if len(frame) < _CLIENT_ID_AT:
            return NO_HEADER, False
        api_key, api_version, correlation_id = _head(frame)
        header = Header(
            api_key,
            api_version,
            correlation_id,
            _client_id(frame, api_key, api_version),
        )
        # Tokens follow, until frames are other requests again; of version 0 they have
        # no header, and clients may send such tokens after any version.
        self._is_authenticating = api_key == SaslHandshakeRequest.api_key or (
            self._is_authenticating and api_key in _SASL
        )
        secrets = _find_secrets(frame)
        if api_key != ProduceRequest.api_key or is_answered(frame):
            self._awaited.add(correlation_id, api_key, (header, secrets))
        return header, secrets.request

    def response(self, frame: Frame) -> tuple[Header, bool]:
        """Take what the broker sends; give the header, and whether it is secret."""
        awaited = self._awaited
        oldest, _ = next(iter(awaited), (None, None))
        if oldest is NO_HEADER:
            awaited.drop(len(awaited) - 1)
            return NO_HEADER, True
        if len(frame) < 4:
            return NO_HEADER, False
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        if taken := awaited.take(correlation_id):
            header, secrets = taken[-1]
            return header, secrets.response
        if self._is_authenticating:
            return NO_HEADER, True
        return Header(correlation_id=correlation_id), False


def _find_secrets(frame: Frame) -> _Secrets:
    """Find whether a request and its response have secrets, by their definitions.

    An Envelope has those of what is in it, if that can be read. A SaslHandshake that
    cannot be read, as one of a newer version, may have a token in it. Of an API that
    kwire does not know nothing is secret, unless it comes in an Envelope.
    """
    api_key = _head(frame)[0]
    if api_key == SaslHandshakeRequest.api_key and not _is_request(frame):
        return _TOKEN
    if api_key != EnvelopeRequest.api_key:
        return _load_secrets(api_key)
    for _ in range(_MOST_ENVELOPES + 1):
        try:
            request = framing.decode_request(frame, compat="java", limits=NO_LIMITS)[1]
        except KwireError:
            break
        if not isinstance(request, EnvelopeRequest):
            return _load_secrets(request.api_key)
        frame = request.request_data
    return _TOKEN


@lru_cache(maxsize=4096)
def _load_secrets(api_key: int) -> _Secrets:
    try:
        entries = [registry.find_by_key(api_key, kind) for kind in _Secrets._fields]
    except KeyError:
        return _Secrets(False, False)
    return _Secrets(*(registry.load(entry.name).has_secrets() for entry in entries))


@lru_cache(maxsize=4096)
def _has_client_id(api_key: int, api_version: int) -> bool:
    """Whether the header of such a request has a client id, as nearly all have."""
    try:
        entry = registry.find_by_key(api_key, "request")
    except KeyError:
        return True
    header_version = plan.request_header_version(registry.load(entry.name), api_version)
    return header_version >= first_version(RequestHeader.__name__, "client_id")


def _client_id(frame: Frame, api_key: int, api_version: int) -> str | None:
    if not _has_client_id(api_key, api_version):
        return None
    try:
        return wire.decode_nullable_string(frame, _CLIENT_ID_AT)[0]
    except KwireError:
        return None


def is_answered(frame: Buffer) -> bool:
    """Whether a request has an answer: Produce can ask for none."""
    try:
        request = framing.decode_request(frame, zero_copy=True, limits=NO_LIMITS)[1]
    except KwireError:
        return True
    return bool(getattr(request, "acks", -1) != 0)


def _is_request(frame: Frame) -> bool:
    """Whether all of a frame is a request: bytes left over may be of a password."""
    try:
        framing.decode_request(frame, limits=NO_LIMITS)
    except KwireError:
        return False
    return True
