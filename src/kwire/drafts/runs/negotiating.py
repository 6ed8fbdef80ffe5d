# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Both sides of a KIP-35 run: a draft broker, and a client that queries versions.

The broker answers the draft's request. It also answers some of Kafka's APIs with
default responses, so that a client can use the negotiated versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ... import messages
from ...errors import LocalProtocolError
from ...messages import framing

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...connection.negotiation import ApiVersionTable
    from ..exchange import Question
    from .loopback import LoopbackBroker

_CORRELATION_ID = 7


class Server(Protocol):
    """Draft server: its supported versions, and its answers."""

    table: ApiVersionTable

    def answer(self, frame: bytes) -> bytes | None:
        """Return the response to the draft's request, with its size.

        Any other request is rejected. None means that the connection must be closed.
        """
        ...


class DraftBroker:
    """Draft broker that also serves some of Kafka's APIs.

    Replace ``server`` to simulate a broker upgrade.
    """

    def __init__(self, server: Server, api_keys: Collection[int]) -> None:
        self.server = server
        self._api_keys = api_keys

    def answer(self, frame: bytes) -> bytes | None:
        """Return the default response if the request's API and version are supported.

        Otherwise, returns the answer of ``server`` to the request.
        """
        api_key = int.from_bytes(frame[:2], "big")
        version = int.from_bytes(frame[2:4], "big")
        if api_key in self._api_keys and version in self.server.table.usable(api_key):
            response = messages.by_key(api_key, "response")()
            correlation_id = int.from_bytes(frame[4:8], "big")
            return framing.encode_response(response, version, correlation_id)
        return self.server.answer(frame)


def ask(broker: LoopbackBroker, question: Question) -> ApiVersionTable:
    """Query the versions on a new connection. Returns the version table."""
    with broker.connect() as connection:
        frame = connection.exchange(question.data_to_send())
    if frame is None:
        return question.connection_lost()
    return question.receive_frame(frame)


def is_answered(broker: LoopbackBroker, api_key: int, version: int) -> bool:
    """Send the default request for an API, and return whether it is answered.

    An empty response, which has only a correlation id, does not count. Raises
    ``DecodeError`` if the received bytes are not a valid response.
    """
    request = messages.by_key(api_key, "request")()
    with broker.connect() as connection:
        data = framing.encode_request(request, version, _CORRELATION_ID)
        frame = connection.exchange(data)
    if frame is None or len(frame) <= 4:
        return False
    framing.decode_response(messages.by_key(api_key, "response"), frame, version)
    return True


def describe_expired(table: ApiVersionTable, api_key: int) -> str:
    """Describe whether the table for a closed connection can still be used."""
    try:
        table.pick(api_key)
    except LocalProtocolError:
        return "the old table is expired"
    return "the old table can still be used"
