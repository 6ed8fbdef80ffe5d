# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes frames: the size, the header and the body of a message.

A frame on the wire is an INT32 size and as many bytes: a request or response header and
a message. Functions that take a ``frame`` take what follows the size. Nothing here has
a socket or remembers a request.
"""

from __future__ import annotations

from .. import errors
from .._engine import frame_hints
from .._engine.active import engine
from .._limits import DEFAULT, Limits
from ..errors import DecodeError, UnsupportedVersion
from ..schema import plan
from ..schema import registry as schemas
from . import RequestHeader, ResponseHeader
from .api_registry import KAFKA
from .api_registry import ApiRegistry as ApiRegistry
from .frame_splitter import FrameSplitter as FrameSplitter
from .prefixed import decode_prefixed as decode_prefixed
from .prefixed import encode_prefixed as encode_prefixed
from .prefixed import read_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeVar

    from typing_extensions import Buffer

    from . import Request, Response

    R = TypeVar("R", bound=Response)

engine.bind_headers(RequestHeader, ResponseHeader)

decode_response = engine.decode_response
encode_request = engine.encode_request
encode_response = engine.encode_response


def decode_request(
    frame: Buffer,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = DEFAULT,
    registry: ApiRegistry = KAFKA,
) -> tuple[RequestHeader, Request]:
    """Decode the header and the body of a request of any API.

    ``registry`` adds the classes of APIs that Kafka does not have.

    Shape: request header version 2 before flexible versions, 1 before others, 0 before
    ControlledShutdown version 0; then the body. The header itself says which.
    Raises ``DecodeError`` with the offset in ``frame``, or ``UnsupportedVersion`` for
    an API key that the registry does not have, or an unknown version. If
    ``frame`` begins with its own size, the error says how to pass it.
    """
    try:
        return _decode_request(frame, zero_copy, compat, limits, registry)
    except (DecodeError, UnsupportedVersion) as error:
        frame_hints.hint_at_size(error, frame)
        raise


def _decode_request(
    frame: Buffer,
    zero_copy: bool,
    compat: Literal["java"] | None,
    limits: Limits,
    registry: ApiRegistry,
) -> tuple[RequestHeader, Request]:
    head, _ = frame_hints.take_first_bytes(frame, 4)
    if len(head) < 4:
        # Too short even for the first header: reading it says what is missing.
        engine.decode_prefix(RequestHeader, frame, 0)
    api_key = int.from_bytes(head[:2], "big", signed=True)
    version = int.from_bytes(head[2:], "big", signed=True)
    try:
        cls = registry.by_key(api_key, "request")
    except KeyError:
        known = schemas.keys("request")
        raise UnsupportedVersion(
            f"no request has the API key {api_key}; kwire has {known[0]} to"
            f" {known[-1]}; pass registry=ApiRegistry(...) for an API of your own"
        ) from None
    message = engine.binding_of(cls).message
    header, start = engine.decode_prefix(
        RequestHeader,
        frame,
        plan.request_header_version(message, version),
        compat=compat,
        limits=limits,
    )
    if (header.request_api_key, header.request_api_version) != (api_key, version):
        raise errors.decode_failure(
            errors.INPUT_CHANGED, 0, 0, "request_api_key", "RequestHeader"
        )
    return header, read_message(
        cls, frame, version, start, zero_copy=zero_copy, compat=compat, limits=limits
    )
