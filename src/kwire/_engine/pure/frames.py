# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes frames, which consist of a size, a header and a body.

The header is a message and has a plan. ``schema/plan.py`` chooses its version.

Twin: ``fast/frames.pyx``. Differs from its twin in: nothing.
"""

from __future__ import annotations

from ... import errors
from ..._limits import DEFAULT, Limits
from ...schema.plan import request_header_version, response_header_version
from .. import frame_hints
from .decoder import decode_part, is_lenient
from .encoder import encode
from .program import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Buffer

_headers: dict[str, Any] = {}


def bind_headers(request_header: type, response_header: type) -> None:
    """Set the classes of request and response headers.

    The engine cannot import them, because the module of the messages imports the
    engine.
    """
    _headers["request"] = request_header
    _headers["response"] = response_header


def encode_request(
    request: Any,
    version: int,
    correlation_id: int = 0,
    client_id: str | None = "",
) -> bytes:
    """Encode a request as a frame.

    Shape: INT32 size (number of bytes that follow), request header, body. In flexible
    versions of the request, the header has version 2, otherwise version 1.
    ControlledShutdown version 0 has header version 0.

    Raises ``EncodeError`` or ``UnsupportedVersion``.
    """
    message = find_program(type(request), version).binding.message
    if message.kind != "request":
        raise TypeError(f"a request is required (got {message.name}, a {message.kind})")
    header = _headers["request"](
        request_api_key=message.api_key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    start = encode(header, request_header_version(message, version))
    return frame(start, encode(request, version))


def encode_response(response: Any, version: int, correlation_id: int = 0) -> bytes:
    """Encode a response as a frame.

    Shape: INT32 size (number of bytes that follow), response header, body. In flexible
    versions of the response, the header has version 1, otherwise version 0. ApiVersions
    always has header version 0.

    Raises ``EncodeError`` or ``UnsupportedVersion``.
    """
    message = find_program(type(response), version).binding.message
    if message.kind != "response":
        raise TypeError(
            f"a response is required (got {message.name}, a {message.kind})"
        )
    header = _headers["response"](correlation_id=correlation_id)
    start = encode(header, response_header_version(message, version))
    return frame(start, encode(response, version))


def decode_response(
    cls: type,
    frame: Buffer,
    version: int,
    *,
    zero_copy: bool = False,
    compat: str | None = None,
    limits: Limits = DEFAULT,
) -> tuple[int, Any]:
    """Decode a response. Returns its correlation id and its body.

    ``frame`` does not contain the size of the frame.

    Shape: response header, body. In flexible versions of the response, the header has
    version 1, otherwise version 0. ApiVersions always has header version 0. Tagged
    fields of the header are read and discarded.

    Raises ``DecodeError`` with the offset in ``frame`` (bytes), or
    ``UnsupportedVersion``.
    """
    message = find_program(cls, version).binding.message
    if message.kind != "response":
        raise TypeError(
            f"a response is required (got {message.name}, a {message.kind})"
        )
    lenient = is_lenient(compat)
    try:
        header, at = decode_part(
            _headers["response"],
            frame,
            response_header_version(message, version),
            0,
            False,
            lenient,
            limits,
            False,
        )
        body, _ = decode_part(
            cls, frame, version, at, zero_copy, lenient, limits, not lenient
        )
    except errors.DecodeError as error:
        frame_hints.hint_at_size(error, frame)
        raise
    return header.correlation_id, body


def frame(header: bytes, body: bytes) -> bytes:
    """Return a frame with its size, header and body."""
    size = len(header) + len(body)
    if size > 0x7FFFFFFF:
        raise errors.encode_failure(errors.TOO_LARGE, "", None, "")
    return b"".join((size.to_bytes(4, "big"), header, body))
