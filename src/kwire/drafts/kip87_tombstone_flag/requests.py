# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Produce and Fetch requests of the KIP-87 draft, whose version 3 contains magic 2.

The document does not describe version 3 in detail, so it has the layout of version 2.
Kafka later used these version numbers differently: Produce 3 has record batches and a
transactional id, and Fetch 3 has a size limit for the response.
``kwire.messages.framing`` encodes all four messages and decodes the responses. It only
decodes Kafka's own requests, so this module decodes the draft's requests.
"""

from __future__ import annotations

from typing import Any

from ..._engine.active import engine
from ..._limits import DEFAULT, Limits
from ...errors import TRAILING_BYTES, UnsupportedVersion, decode_failure
from ...messages import RequestHeader
from ..documents import message_class

ProduceRequest = message_class("kip87_produce_request")
ProduceResponse = message_class("kip87_produce_response")
FetchRequest = message_class("kip87_fetch_request")
FetchResponse = message_class("kip87_fetch_response")

_REQUESTS = {cls.api_key: cls for cls in (ProduceRequest, FetchRequest)}
_HEADER_VERSION = 1


def decode_request(
    frame: bytes, *, limits: Limits = DEFAULT
) -> tuple[RequestHeader, Any]:
    """Decode the header and body of a Produce or Fetch request of the draft.

    Raises ``DecodeError`` with the offset in ``frame``, and ``UnsupportedVersion`` for
    other requests and for versions above 3.
    """
    header, start = engine.decode_prefix(
        RequestHeader, frame, _HEADER_VERSION, limits=limits
    )
    version = header.request_api_version
    cls = _REQUESTS.get(header.request_api_key)
    if cls is None:
        raise UnsupportedVersion(
            "the KIP-87 draft changes Produce (0) and Fetch (1) only (got API key"
            f" {header.request_api_key})"
        )
    body, end = engine.decode_prefix(cls, frame, version, start, limits=limits)
    if end != len(frame):
        detail = len(frame) - end
        raise decode_failure(TRAILING_BYTES, detail, end, "", cls.__name__, version)
    return header, body
