# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Observes the empty response that documents 000 and 001 require from a broker.

A broker sends it for an unknown API, and for an unsupported version of a known API. It
only contains the correlation id, and the connection remains open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import messages
from ...connection import ClientConnection
from ...connection.events import RequestUnsupported
from ...connection.negotiation import ApiVersionTable
from ...errors import DecodeError
from ...messages import framing
from ..exchange import add_size

if TYPE_CHECKING:
    from .loopback import LoopbackBroker, LoopbackClient

_CORRELATION_ID = 7


def observe_unknown_api(broker: LoopbackBroker) -> str:
    """Send a request with an unknown API key, and describe the response."""
    return _observe_answer(broker, (9999).to_bytes(2, "big") + b"\0\0")


def observe_unsupported_version(
    broker: LoopbackBroker, api_key: int, version: int
) -> str:
    """Send an unsupported version of a known API, and describe the response."""
    head = api_key.to_bytes(2, "big") + version.to_bytes(2, "big")
    return _observe_answer(broker, head)


def observe_old_client(broker: LoopbackBroker, request: Any, version: int) -> str:
    """Decode the empty response as a client that does not implement the draft."""
    with broker.connect() as connection:
        frame = _exchange(connection, request, version)
    response = messages.by_key(request.api_key, "response")
    try:
        framing.decode_response(response, frame or b"", version)
    except DecodeError as error:
        return f"parse error of {error.message_name} v{error.version}"
    return "no error"


def observe_new_client(
    broker: LoopbackBroker, request: Any, ranges: dict[int, str]
) -> str:
    """Receive the empty response with a kwire connection."""
    client = ClientConnection(table=ApiVersionTable.from_ranges(ranges))
    client.send(request)
    with broker.connect() as connection:
        frame = connection.exchange(client.data_to_send())
    if frame is None:
        return "connection closed"
    for event in client.receive_data(add_size(frame)):
        if isinstance(event, RequestUnsupported):
            name, _, words = str(event.error).partition(": ")
            return f"{name}: {words}"
    return "no error"


def _observe_answer(broker: LoopbackBroker, head: bytes) -> str:
    data = add_size(head + _CORRELATION_ID.to_bytes(4, "big") + b"\xff\xff")
    with broker.connect() as connection:
        frame = connection.exchange(data)
        if frame is None:
            return "connection closed"
        is_open = connection.exchange(data) is not None
    is_empty = frame == _CORRELATION_ID.to_bytes(4, "big")
    body = f"correlation id {_CORRELATION_ID} alone" if is_empty else frame.hex()
    return f"{body}, connection {'open' if is_open else 'closed'}"


def _exchange(connection: LoopbackClient, request: Any, version: int) -> bytes | None:
    return connection.exchange(
        framing.encode_request(request, version, _CORRELATION_ID)
    )
