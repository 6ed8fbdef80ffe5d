# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes frames: size, header and message body.

On the wire, a frame is an INT32 size followed by this number of bytes: a request or
response header, and a message. The parameter ``frame`` of these functions does not
include the size. This module has no sockets and does not remember previous requests.
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
    """Decode the request header and body for any API.

    ``registry`` contains the classes of APIs that are not part of Kafka.

    Format: a request header and the body. The API key and the version at the start of
    the header determine the header version. It is 2 if the API's version is flexible, 0
    in ControlledShutdown version 0, and otherwise 1. Raises ``DecodeError`` with the
    offset in ``frame``, and ``UnsupportedVersion`` if the version is unknown or the
    registry does not contain the API key. If ``frame`` starts with its own size, the
    error message explains how to pass the frame.
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
    first_bytes, _ = frame_hints.take_first_bytes(frame, 4)
    if len(first_bytes) < 4:
        # The frame is shorter than the smallest header. Decoding it raises an error
        # that contains the number of missing bytes.
        engine.decode_prefix(RequestHeader, frame, 0)
    api_key = int.from_bytes(first_bytes[:2], "big", signed=True)
    version = int.from_bytes(first_bytes[2:], "big", signed=True)
    try:
        cls = registry.by_key(api_key, "request")
    except KeyError:
        api_keys = schemas.keys("request")
        raise UnsupportedVersion(
            f"unknown API key {api_key}; kwire supports {api_keys[0]} to"
            f" {api_keys[-1]}; pass registry=ApiRegistry(...) for an API of your own"
        ) from None
    message = engine.binding_of(cls).message
    header, body_start = engine.decode_prefix(
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
        cls,
        frame,
        version,
        body_start,
        zero_copy=zero_copy,
        compat=compat,
        limits=limits,
    )
