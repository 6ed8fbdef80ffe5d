# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# Types of the engine functions for messages, for type checkers. They are more precise
# than the annotations in the engine, which cannot import the message classes: a decoder
# returns an instance of the class that was passed to it.

from collections.abc import Callable
from typing import Literal, TypeVar

from typing_extensions import Buffer

from ..._limits import Limits
from ...messages import Message, Request, RequestHeader, Response, ResponseHeader
from ...schema.plan import Binding

_M = TypeVar("_M", bound=Message)
_R = TypeVar("_R", bound=Response)

def decode(
    cls: type[_M],
    data: Buffer,
    version: int,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = ...,
) -> _M: ...
def decode_prefix(
    cls: type[_M],
    data: Buffer,
    version: int,
    start: int = 0,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = ...,
) -> tuple[_M, int]: ...
def decode_response(
    cls: type[_R],
    frame: Buffer,
    version: int,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = ...,
) -> tuple[int, _R]: ...
def encode(message: Message, version: int) -> bytes: ...
def encode_request(
    request: Request,
    version: int,
    correlation_id: int = 0,
    client_id: str | None = "",
) -> bytes: ...
def encode_response(
    response: Response, version: int, correlation_id: int = 0
) -> bytes: ...
def bind_headers(
    request_header: type[RequestHeader], response_header: type[ResponseHeader]
) -> None: ...
def bind_pickle(
    reduce_struct: Callable[[type, tuple[object, ...]], tuple[object, ...]],
) -> None: ...
def binding_of(cls: type) -> Binding: ...
def make_struct(
    name: str,
    qualname: str,
    attributes: tuple[str, ...],
    defaults: tuple[object, ...],
    arrays: tuple[bool, ...],
    namespace: dict[str, object],
) -> type: ...
