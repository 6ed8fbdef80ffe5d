# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What the frames of one connection are: requests, their answers, and secrets.

Headers alone are read, and nothing is refused: of a frame that is no Kafka, less is
known. No sockets, and no bytes are changed.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from .. import framing, plan, wire
from ..errors import KwireError
from ..limits import Limits
from ..messages import (
    AlterUserScramCredentialsRequest,
    CreateDelegationTokenResponse,
    DescribeDelegationTokenResponse,
    ExpireDelegationTokenRequest,
    ProduceRequest,
    RenewDelegationTokenRequest,
    RequestHeader,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
)
from ..schema import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

NO_LIMITS = Limits(
    frame_bytes=None, decompressed_bytes=None, decompressed_ratio=None, records=None
)

_head = Struct(">hhi").unpack_from
_CLIENT_ID_AT = 8
_MOST_AWAITED = 1 << 16
"""Requests that are remembered at most: a peer may never answer, or not in order."""

_KERBEROS = 0x60
"""The first byte of Kerberos tokens; brokers before 0.10 took them without a word."""

_SECRET_REQUESTS = {
    SaslAuthenticateRequest.api_key,
    AlterUserScramCredentialsRequest.api_key,
    RenewDelegationTokenRequest.api_key,
    ExpireDelegationTokenRequest.api_key,
}
_SECRET_RESPONSES = {
    SaslAuthenticateResponse.api_key,
    CreateDelegationTokenResponse.api_key,
    DescribeDelegationTokenResponse.api_key,
}


class Header(NamedTuple):
    """What is known of a frame; of an answer, most is from its request."""

    api_key: int | None = None
    api_version: int | None = None
    correlation_id: int | None = None
    client_id: str | None = None


NO_HEADER = Header()
"""Of a SASL token, which has none, and of what is too short for one."""


class Conversation:
    """The frames of one connection, in the order in which each side sends them."""

    __slots__ = ("_awaited", "_is_first", "_takes_tokens")

    def __init__(self) -> None:
        self._awaited: deque[Header] = deque(maxlen=_MOST_AWAITED)
        self._is_first = True
        self._takes_tokens = False

    def request(self, frame: bytes) -> tuple[Header, bool]:
        """Take what the client sends; give its header, and whether it is secret."""
        if self._is_first:
            self._is_first = False
            self._takes_tokens = frame[:1] == bytes((_KERBEROS,))
        if self._takes_tokens:
            if not _is_request(frame):
                self._awaited.append(NO_HEADER)
                return NO_HEADER, True
            self._takes_tokens = False
        if len(frame) < _CLIENT_ID_AT:
            return NO_HEADER, False
        api_key, api_version, correlation_id = _head(frame)
        header = Header(
            api_key,
            api_version,
            correlation_id,
            _client_id(frame, api_key, api_version),
        )
        if api_key == SaslHandshakeRequest.api_key and api_version == 0:
            # Tokens without a header follow, until frames are requests again.
            self._takes_tokens = True
        if api_key != ProduceRequest.api_key or is_answered(frame):
            self._awaited.append(header)
        return header, api_key in _SECRET_REQUESTS

    def response(self, frame: bytes) -> tuple[Header, bool]:
        """Take what the broker sends; give the header, and whether it is secret."""
        awaited = self._awaited
        if awaited and awaited[0] is NO_HEADER:
            awaited.popleft()
            return NO_HEADER, True
        if len(frame) < 4:
            return NO_HEADER, False
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        for index, header in enumerate(awaited):
            if header.correlation_id == correlation_id:
                # Answers come in order, so those before it will have none.
                for _ in range(index + 1):
                    awaited.popleft()
                return header, header.api_key in _SECRET_RESPONSES
        return Header(correlation_id=correlation_id), False


@lru_cache(maxsize=4096)
def _has_client_id(api_key: int, api_version: int) -> bool:
    """Whether the header of such a request has a client id, as nearly all have."""
    try:
        entry = registry.find_by_key(api_key, "request")
    except KeyError:
        return True
    header_version = plan.request_header_version(registry.load(entry.name), api_version)
    fields = registry.load(RequestHeader.__name__).struct.fields
    return any(
        field.attribute == "client_id" and header_version in field.versions
        for field in fields
    )


def _client_id(frame: bytes, api_key: int, api_version: int) -> str | None:
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


def _is_request(frame: bytes) -> bool:
    try:
        framing.decode_request(frame, compat="java", limits=NO_LIMITS)
    except KwireError:
        return False
    return True
