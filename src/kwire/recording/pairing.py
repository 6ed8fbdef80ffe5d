# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Matches responses with requests, and detects frames that contain secrets.

``AwaitedRequests`` finds the request that belongs to a response, both for live traffic
and captures. ``Conversation`` processes all frames on one connection.

Only headers are decoded, except to detect secrets. Invalid frames do not raise errors:
their unknown header values are None. Message definitions mark the fields that are
secret. An Envelope is as secret as the request inside it. During SASL authentication, a
frame that kwire cannot decode as a request is treated as a token. This module uses no
sockets and changes no bytes.
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
"""Limits for frames whose size has already been checked by the caller."""

_unpack_header = Struct(">hhi").unpack_from
_CLIENT_ID_OFFSET = 8
"""Offset of the client id in a request frame, after the fixed header fields."""

_MAX_AWAITED = 1 << 16
"""Maximum number of requests without a response on one connection.

The limit bounds memory, because a peer may never respond, or respond out of order.
"""

_KERBEROS_TAG = 0x60
"""First byte of a Kerberos token.

Brokers before 0.10 accept tokens without a handshake.
"""

_SASL_KEYS = (SaslHandshakeRequest.api_key, SaslAuthenticateRequest.api_key)
_MAX_ENVELOPES = 4
"""Maximum nesting level for opening Envelopes. Kafka itself never nests them."""


class Header(NamedTuple):
    """Known header values of a frame. Unknown values are None.

    A response frame contains only the correlation id. The remaining values are taken
    from the matching request.
    """

    api_key: int | None = None
    api_version: int | None = None
    correlation_id: int | None = None
    client_id: str | None = None


NO_HEADER = Header()
"""Header for SASL tokens without a header, and for frames too short to contain one."""


class _Secrets(NamedTuple):
    """Which frames of an API contain secrets. Their content must not be stored.

    * ``request``: True if the request contains secrets.
    * ``response``: True if the response contains secrets.
    """

    request: bool
    response: bool


_TOKEN = _Secrets(True, True)


class AwaitedRequests(Generic[_Request]):
    """Requests without a response on one connection, oldest first.

    Brokers respond to requests in order within a connection. A response therefore
    belongs to the first request with the same correlation id, and all earlier requests
    will never receive a response. If more than ``maximum`` requests are waiting, the
    oldest requests are dropped. An unknown correlation id or API key is None.
    """

    __slots__ = ("_counts", "_maximum", "_queue")

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._queue: deque[tuple[int | None, int | None, _Request]] = deque()
        # Count of waiting requests by correlation id. If a response matches no request,
        # this table avoids searching the whole queue.
        self._counts: Counter[int | None] = Counter()

    def __len__(self) -> int:
        return len(self._queue)

    def __iter__(self) -> Iterator[_Request]:
        return (request for _, _, request in self._queue)

    def add(
        self, correlation_id: int | None, api_key: int | None, request: _Request
    ) -> list[_Request]:
        """Add the newest request. Returns the requests that exceed the limit."""
        self._queue.append((correlation_id, api_key, request))
        self._counts[correlation_id] += 1
        return self.drop(self._maximum)

    def take(
        self, correlation_id: int | None, api_key: int | None = None
    ) -> list[_Request]:
        """Remove the request that belongs to a response.

        Returns the earlier requests, which remain without a response, followed by the
        matching request. Returns an empty list if no request matches. None as API key
        matches every API.
        """
        if correlation_id in self._counts:
            for index, (number, key, _) in enumerate(self._queue):
                if number == correlation_id and (
                    None in (key, api_key) or key == api_key
                ):
                    return self.drop(len(self._queue) - index - 1)
        return []

    def drop(self, kept: int) -> list[_Request]:
        """Remove requests until the newest ``kept`` are left.

        Returns the removed requests.
        """
        dropped = []
        while len(self._queue) > kept:
            number, _, request = self._queue.popleft()
            self._counts[number] -= 1
            if not self._counts[number]:
                del self._counts[number]
            dropped.append(request)
        return dropped


class Conversation:
    """Request and response frames on one connection, in their order of transmission."""

    __slots__ = ("_awaited", "_is_authenticating", "_is_first")

    def __init__(self) -> None:
        self._awaited = AwaitedRequests[tuple[Header, _Secrets]](_MAX_AWAITED)
        self._is_first = True
        self._is_authenticating = False

    def request(self, frame: Frame) -> tuple[Header, bool]:
        """Process a client frame.

        Returns its header, and whether it contains secrets.
        """
        if self._is_first:
            self._is_first = False
            self._is_authenticating = frame[:1] == bytes((_KERBEROS_TAG,))
        if self._is_authenticating and not _is_request(frame):
            # The bytes at the header position may belong to a password, so no header
            # value is returned.
            self._awaited.add(None, None, (NO_HEADER, _TOKEN))
            return NO_HEADER, True
        if len(frame) < _CLIENT_ID_OFFSET:
            return NO_HEADER, False
        api_key, api_version, correlation_id = _unpack_header(frame)
        header = Header(
            api_key,
            api_version,
            correlation_id,
            _decode_client_id(frame, api_key, api_version),
        )
        # After a SaslHandshake, tokens follow until the client sends another request.
        # After version 0 of the handshake, tokens have no header. Clients may send such
        # tokens after other versions as well.
        self._is_authenticating = api_key == SaslHandshakeRequest.api_key or (
            self._is_authenticating and api_key in _SASL_KEYS
        )
        secrets = _find_secrets(frame)
        if api_key != ProduceRequest.api_key or is_answered(frame):
            self._awaited.add(correlation_id, api_key, (header, secrets))
        return header, secrets.request

    def response(self, frame: Frame) -> tuple[Header, bool]:
        """Process a broker frame. Returns its header, and whether it contains secrets.

        The API key, API version and client id are taken from the matching request.
        """
        awaited = self._awaited
        oldest, _ = next(iter(awaited), (None, None))
        if oldest is NO_HEADER:
            awaited.drop(len(awaited) - 1)
            return NO_HEADER, True
        if len(frame) < 4:
            return NO_HEADER, False
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        if answered := awaited.take(correlation_id):
            header, secrets = answered[-1]
            return header, secrets.response
        if self._is_authenticating:
            return NO_HEADER, True
        return Header(correlation_id=correlation_id), False


def _find_secrets(frame: Frame) -> _Secrets:
    """Determine whether a request and its response contain secrets.

    The message definitions decide. An Envelope is as secret as the request inside it,
    and is treated as a token if that request cannot be decoded. A SaslHandshake that
    cannot be decoded, for example because its version is newer, may contain a token and
    is treated as one. Frames for an unknown API are not secret, unless they are inside
    an Envelope.
    """
    api_key = _unpack_header(frame)[0]
    if api_key == SaslHandshakeRequest.api_key and not _is_request(frame):
        return _TOKEN
    if api_key != EnvelopeRequest.api_key:
        return _load_secrets(api_key)
    for _ in range(_MAX_ENVELOPES + 1):
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
    """Read from the message definitions which sides of an API contain secrets."""
    try:
        entries = [
            registry.find_by_key(api_key, message_type)
            for message_type in _Secrets._fields
        ]
    except KeyError:
        return _Secrets(False, False)
    return _Secrets(*(registry.load(entry.name).has_secrets() for entry in entries))


@lru_cache(maxsize=4096)
def _has_client_id(api_key: int, api_version: int) -> bool:
    """Whether the request header of this API version contains a client id.

    Nearly all request headers contain one, so this is also assumed for unknown APIs.
    """
    try:
        entry = registry.find_by_key(api_key, "request")
    except KeyError:
        return True
    header_version = plan.request_header_version(registry.load(entry.name), api_version)
    return header_version >= first_version(RequestHeader.__name__, "client_id")


def _decode_client_id(frame: Frame, api_key: int, api_version: int) -> str | None:
    """Decode the client id in a request.

    Returns None for absent or invalid client ids.
    """
    if not _has_client_id(api_key, api_version):
        return None
    try:
        return wire.decode_nullable_string(frame, _CLIENT_ID_OFFSET)[0]
    except KwireError:
        return None


def is_answered(frame: Buffer) -> bool:
    """Whether brokers respond to this request. Produce with acks=0 has no response.

    Returns True if the request cannot be decoded.
    """
    try:
        request = framing.decode_request(frame, zero_copy=True, limits=NO_LIMITS)[1]
    except KwireError:
        return True
    return bool(getattr(request, "acks", -1) != 0)


def _is_request(frame: Frame) -> bool:
    """Whether an entire frame can be decoded as a request.

    Trailing bytes are not accepted, because they may be part of a password.
    """
    try:
        framing.decode_request(frame, limits=NO_LIMITS)
    except KwireError:
        return False
    return True
