# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Frames: sizes, headers and bodies, and the splitting of a stream into frames.

A frame on the wire is an INT32 size and as many bytes: a request or response header
and a message. Functions that take a ``frame`` take what follows the size. No sockets
here, and no memory of requests: ``connection.py`` has that.
"""

from __future__ import annotations

from . import errors, plan
from ._backend import engine
from .errors import InvalidLength, LimitExceeded, UnsupportedVersion
from .limits import DEFAULT, Limits
from .messages import RequestHeader, ResponseHeader, by_key
from .schema.model import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal, TypeVar

    from typing_extensions import Buffer

    from . import messages
    from .messages import Request, Response

    M = TypeVar("M", bound=messages.Message)
    R = TypeVar("R", bound=Response)

engine.bind_headers(RequestHeader, ResponseHeader)

encode_request = engine.encode_request
encode_response = engine.encode_response

_SIZE_BYTES = 4
_TLS_ALERT, _TLS_HANDSHAKE = 0x15, 0x16


def decode_request(
    frame: Buffer,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = DEFAULT,
) -> tuple[RequestHeader, Request]:
    """Decode the header and the body of a request of any API.

    Shape: request header version 2 before flexible versions, 1 before others, 0 before
    ControlledShutdown version 0; then the body. The header itself says which.
    Raises ``DecodeError`` with the offset in ``frame``, or ``UnsupportedVersion`` for
    an API key or version that kwire does not know.
    """
    with memoryview(frame) as view:
        head = view.cast("B")[:4].tobytes() if view.nbytes else b""
    if len(head) < 4:
        raise errors.decode_failure(
            errors.TRUNCATED,
            2 - len(head) % 2,
            len(head),
            "request_api_version" if len(head) >= 2 else "request_api_key",
            "RequestHeader",
        )
    api_key = int.from_bytes(head[:2], "big", signed=True)
    version = int.from_bytes(head[2:], "big", signed=True)
    try:
        cls = by_key(api_key, "request")
    except KeyError:
        raise UnsupportedVersion(
            f"no request of Kafka's has the API key {api_key}; kwire knows 0-94"
        ) from None
    header_version = plan.request_header_version(_message_of(cls), version)
    header, start = engine.decode_prefix(
        RequestHeader, frame, header_version, limits=limits
    )
    body, end = engine.decode_prefix(
        cls, frame, version, start, zero_copy=zero_copy, compat=compat, limits=limits
    )
    if compat is None:
        _check_end(frame, end, cls.__name__, version)
    return header, body


def decode_response(
    cls: type[R],
    frame: Buffer,
    version: int,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = DEFAULT,
) -> tuple[int, R]:
    """Decode a response; return its correlation id and its body.

    Shape: response header version 1 before flexible versions, else 0, and always 0
    before ApiVersions; then the body. Tags in the header are read and dropped.
    Raises ``DecodeError`` with the offset in ``frame``, or ``UnsupportedVersion``.
    """
    header_version = plan.response_header_version(_message_of(cls), version)
    header, start = engine.decode_prefix(
        ResponseHeader, frame, header_version, limits=limits
    )
    body, end = engine.decode_prefix(
        cls, frame, version, start, zero_copy=zero_copy, compat=compat, limits=limits
    )
    if compat is None:
        _check_end(frame, end, cls.__name__, version)
    return header.correlation_id, body


def encode_prefixed(message: messages.Message, version: int) -> bytes:
    """Encode a message behind its own version, as Kafka stores it inside bytes fields.

    Shape: INT16 version, then the message. Source: ``MessageUtil``'s version-prefixed
    buffers (consumer protocol, principals, values of coordinator records).
    """
    body = engine.encode(message, version)
    return version.to_bytes(2, "big", signed=True) + body


def decode_prefixed(
    cls: type[M],
    data: Buffer,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = DEFAULT,
) -> M:
    """Decode a message that stands behind its own version.

    Shape: INT16 version, then the message. Of the consumer protocol a version above
    the highest known is read as the highest, and what it appends is ignored.
    Raises ``DecodeError`` with the offset in ``data``, or ``UnsupportedVersion``.
    """
    with memoryview(data) as view:
        size = view.nbytes
        prefix = view.cast("B")[:2].tobytes() if size else b""
    if len(prefix) < 2:
        raise errors.decode_failure(
            errors.TRUNCATED, 2 - size, size, "version", cls.__name__
        )
    version = int.from_bytes(prefix, "big", signed=True)
    message = _message_of(cls)
    newest = message.valid_versions.max
    is_newer = version > newest and plan.reads_newer_versions(message)
    body, end = engine.decode_prefix(
        cls,
        data,
        newest if is_newer else version,
        2,
        zero_copy=zero_copy,
        compat=compat,
        limits=limits,
    )
    if compat is None and not is_newer:
        _check_end(data, end, cls.__name__, version)
    return body


class FrameSplitter:
    """Splits a stream of bytes into frames.

    Memory grows with the bytes that have come, never with the size that a frame
    announces. After an error the stream has no meaning, and ``feed`` only repeats it.
    """

    __slots__ = ("_failure", "_limits", "_pending", "_start")

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self._limits = limits
        self._pending = bytearray()
        self._start = 0
        self._failure: errors.DecodeError | None = None

    @property
    def pending(self) -> int:
        """The number of bytes that wait for the rest of their frame."""
        return len(self._pending)

    def feed(self, chunk: Buffer) -> Iterator[bytes]:
        """Take the next bytes of the stream; iterate over the frames now complete.

        A frame comes without its size. Frames that are not fetched from the iterator
        come with the next one. ``LimitExceeded`` for a size over
        ``limits.frame_bytes`` (and says so if the bytes look like TLS),
        ``InvalidLength`` for a negative one; the offset counts from the start of the
        stream. Time is linear in the bytes fed.
        """
        # Behind a memoryview, as an array has a mind of its own about being added.
        self._pending += memoryview(chunk)
        return self._frames()

    def _frames(self) -> Iterator[bytes]:
        while self._failure is None and len(self._pending) >= _SIZE_BYTES:
            size = int.from_bytes(self._pending[:_SIZE_BYTES], "big", signed=True)
            self._check(size)
            end = _SIZE_BYTES + size
            if len(self._pending) < end:
                return
            frame = bytes(self._pending[_SIZE_BYTES:end])
            del self._pending[:end]
            self._start += end
            yield frame
        if self._failure is not None:
            raise self._failure

    def _check(self, size: int) -> None:
        ceiling = self._limits.frame_bytes
        head = self._pending[:2]
        if size < 0:
            reason = f"a frame cannot have {size} bytes"
            self._failure = InvalidLength(reason, self._start, "size")
        elif ceiling is not None and size > ceiling:
            reason = f"a frame of {size} bytes is over the ceiling of {ceiling}"
            if head[0] in (_TLS_ALERT, _TLS_HANDSHAKE) and head[1] == 3:
                what = "alert" if head[0] == _TLS_ALERT else "handshake"
                reason += (
                    f"; the bytes look like a TLS {what}: the peer speaks TLS where"
                    " plaintext was expected"
                )
            self._failure = LimitExceeded(reason, self._start, "size")
        if self._failure is not None:
            raise self._failure


def _message_of(cls: type) -> Message:
    return engine.binding_of(cls).message


def _check_end(data: Buffer, end: int, name: str, version: int) -> None:
    with memoryview(data) as view:
        size = view.nbytes
    if end != size:
        raise errors.decode_failure(
            errors.TRAILING_BYTES, size - end, end, "", name, version
        )
