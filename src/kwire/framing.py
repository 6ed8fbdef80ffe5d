# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Frames: sizes, headers and bodies, and the splitting of a stream into frames.

A frame on the wire is an INT32 size and as many bytes: a request or response header
and a message. Functions that take a ``frame`` take what follows the size. No sockets
here, and no memory of requests.
"""

from __future__ import annotations

from collections import deque
from struct import Struct

from . import errors, frame_hints, plan
from ._backend import engine
from .errors import DecodeError, InvalidLength, LimitExceeded, UnsupportedVersion
from .limits import DEFAULT, Limits
from .messages import RequestHeader, ResponseHeader, by_key
from .schema import registry

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

_size_at = Struct(">i").unpack_from

decode_response = engine.decode_response
encode_request = engine.encode_request
encode_response = engine.encode_response

_SIZE_BYTES = 4
_HIGHEST_SIZE = 0x7FFFFFFF
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
    an API key or version that kwire does not know. The text of either says so if
    ``frame`` begins with its own size.
    """
    try:
        return _decode_request(frame, zero_copy, compat, limits)
    except (DecodeError, UnsupportedVersion) as error:
        frame_hints.hint_at_size(error, frame)
        raise


def _decode_request(
    frame: Buffer, zero_copy: bool, compat: Literal["java"] | None, limits: Limits
) -> tuple[RequestHeader, Request]:
    head, _ = frame_hints.first_bytes(frame, 4)
    if len(head) < 4:
        # Too short even for the first header: reading it says what is missing.
        engine.decode_prefix(RequestHeader, frame, 0)
    api_key = int.from_bytes(head[:2], "big", signed=True)
    version = int.from_bytes(head[2:], "big", signed=True)
    try:
        cls = by_key(api_key, "request")
    except KeyError:
        known = registry.keys("request")
        raise UnsupportedVersion(
            f"no request has the API key {api_key}; there are {known[0]}-{known[-1]}"
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
    return header, _read_body(cls, frame, version, start, zero_copy, compat, limits)


def encode_prefixed(message: messages.Message, version: int) -> bytes:
    """Encode a message behind its own version, as Kafka stores it inside bytes fields.

    Shape: INT16 version, then the message. Raises as ``kwire.encode`` does:
    ``EncodeError``, or ``UnsupportedVersion``. Source: ``MessageUtil``'s
    version-prefixed buffers (consumer protocol, principals, values of coordinator
    records).
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
    prefix, _ = frame_hints.first_bytes(data, 2)
    if len(prefix) < 2:
        raise errors.decode_failure(
            errors.TRUNCATED, 2 - len(prefix), len(prefix), "version", cls.__name__
        )
    version = int.from_bytes(prefix, "big", signed=True)
    message = engine.binding_of(cls).message
    newest = message.valid_versions.max
    if version > newest and plan.reads_newer_versions(message):
        read = engine.decode_prefix
        return read(
            cls, data, newest, 2, zero_copy=zero_copy, compat=compat, limits=limits
        )[0]
    return _read_body(cls, data, version, 2, zero_copy, compat, limits)


class FrameSplitter:
    """Splits a stream of bytes into frames.

    Memory grows with the bytes that have come, never with the size that a frame
    announces. After an error the stream has no meaning: ``feed`` takes nothing more
    and raises it again.
    """

    __slots__ = ("_failure", "_limits", "_pending", "_ready", "_start", "_wanted")

    _behind_empty = 0
    """Bytes that belong to a frame whose size is 0."""

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self._limits = limits
        self._pending = bytearray()
        self._ready: deque[bytes] = deque()
        self._wanted = _SIZE_BYTES
        self._start = 0
        self._failure: tuple[type[DecodeError], str] | None = None

    @property
    def pending(self) -> int:
        """The number of bytes that wait for the rest of their frame."""
        return len(self._pending)

    def feed(self, chunk: Buffer) -> Iterator[bytes]:
        """Take the next bytes of the stream; iterate over the frames now complete.

        The stream has a size before each frame, as a socket gives it; a frame comes
        without its size. Frames that are not fetched from the iterator come with the
        next one. ``LimitExceeded`` for a size over
        ``limits.frame_bytes`` (and says so if the bytes look like TLS),
        ``InvalidLength`` for a negative one; the offset counts from the start of the
        stream. Time is linear in the bytes fed.
        """
        self._ready.extend(self.split(chunk))
        return self._frames()

    def split(self, chunk: Buffer) -> list[bytes]:
        """Take the next bytes of the stream; list the frames now complete.

        As ``feed``, but what is wrong with the stream is raised by ``check`` alone,
        when the frames before it have been seen to. After that there are no more.
        """
        if self._failure is not None:
            return []
        pending = self._pending
        if pending or type(chunk) is not bytes:
            # As a memoryview: an array has a mind of its own about being added.
            pending += memoryview(chunk)
            if len(pending) < self._wanted:
                return []
            # Slices of bytes are the frames at once, those of a bytearray are not.
            data = bytes(pending)
            pending.clear()
        else:
            data = chunk
        frames: list[bytes] = []
        ceiling = self._limits.frame_bytes
        highest = _HIGHEST_SIZE if ceiling is None else ceiling
        behind_empty = self._behind_empty
        at, end = 0, len(data)
        self._wanted = _SIZE_BYTES
        while end - at >= _SIZE_BYTES:
            (size,) = _size_at(data, at)
            if not 0 <= size <= highest:
                self._start += at
                self._failure = self._judge(size, data[at : at + _SIZE_BYTES])
                return frames
            start = at + _SIZE_BYTES
            after = start + (size or behind_empty)
            if after > end:
                self._wanted = after - at
                break
            frames.append(data[start:after])
            at = after
        self._start += at
        if at < end:
            pending += data[at:]
        return frames

    def check(self) -> None:
        """Raise what is wrong with the stream, if something is."""
        if self._failure is not None:
            kind, reason = self._failure
            raise kind(reason, self._start, "size")

    def _frames(self) -> Iterator[bytes]:
        while self._ready:
            yield self._ready.popleft()
        self.check()

    def _judge(self, size: int, head: bytes) -> tuple[type[DecodeError], str]:
        if size < 0:
            return InvalidLength, f"a frame cannot have {size} bytes"
        ceiling = self._limits.frame_bytes
        reason = f"a frame of {size} bytes is over the ceiling of {ceiling}"
        first, second, *_ = head
        if first in (_TLS_ALERT, _TLS_HANDSHAKE) and second == 3:
            what = "alert" if first == _TLS_ALERT else "handshake"
            reason += (
                f"; the bytes look like a TLS {what}: the peer speaks TLS where"
                " plaintext was expected"
            )
        elif head == b"HTTP":
            reason += "; the bytes are HTTP, so the peer is no Kafka"
        return LimitExceeded, reason


def _read_body(
    cls: type[M],
    frame: Buffer,
    version: int,
    start: int,
    zero_copy: bool,
    compat: Literal["java"] | None,
    limits: Limits,
) -> M:
    """Decode the message that takes the rest of a frame; trailing bytes are refused,
    unless ``compat`` reads as Kafka does.
    """
    body, end = engine.decode_prefix(
        cls, frame, version, start, zero_copy=zero_copy, compat=compat, limits=limits
    )
    with memoryview(frame) as view:
        size = view.nbytes
    if compat is None and end != size:
        raise errors.decode_failure(
            errors.TRAILING_BYTES, size - end, end, "", cls.__name__, version
        )
    return body
