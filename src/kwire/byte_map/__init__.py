# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Byte maps: which bytes of an input are which field.

A ``ByteMap`` has a ``Span`` for each value on the wire, in the order of the wire; the
spans cover every byte exactly once. ``byte_map`` maps a message body, ``frame_map`` a
request or response with its header, ``prefixed_map`` a message behind its own version,
``record_map`` a record set. What is wrong with the bytes is in the map, next to all
that stands before it; how a map is shown is the business of those who show it.
"""

from __future__ import annotations

from .. import plan
from .._backend import engine
from ..limits import DEFAULT, Limits
from .message_walk import MessageWalk
from .record_walk import RecordWalk
from .spans import KINDS, ByteMap, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ..messages import Message, Response

__all__ = [
    "KINDS",
    "ByteMap",
    "Span",
    "byte_map",
    "frame_map",
    "prefixed_map",
    "record_map",
]


def byte_map(
    cls: type[Message], data: Buffer, version: int, *, limits: Limits = DEFAULT
) -> ByteMap:
    """Map the body of one message: no size, no header.

    Cost: linear in the input; some hundred bytes of memory for each value.
    The map's ``error`` is the one that ``kwire.decode`` raises for the same bytes.
    Raises ``UnsupportedVersion`` for a version that the message does not have.
    """
    layout = engine.binding_of(cls).plan(version)
    walk = MessageWalk(_bytes(data), 0, None, limits)
    return walk.result(lambda: walk.message(layout))


def frame_map(
    data: Buffer,
    cls: type[Response] | None = None,
    version: int | None = None,
    *,
    start: int = 0,
    end: int | None = None,
    sized: bool = False,
    limits: Limits = DEFAULT,
) -> ByteMap:
    """Map a frame: a request, which says itself what it is, or a response of ``cls``.

    ``start`` and ``end`` bound the frame in ``data``; offsets, errors' too, count from
    the start of ``data`` (bytes). ``sized`` says that the frame begins with its INT32
    size: bytes behind that size are left over, and a frame that is cut is an error.
    Shape and errors: as ``framing.decode_request`` and ``framing.decode_response``;
    that a request is of an unknown API or version is an error in the map.
    Raises ``UnsupportedVersion`` for a version that ``cls`` does not have.
    """
    layout = None
    if cls is not None:
        message = engine.binding_of(cls).message
        if message.kind != "response":
            raise TypeError(
                f"expected a response, got {message.name}, a {message.kind}"
            )
        layout = engine.binding_of(cls).plan(version)
    walk = MessageWalk(_bytes(data), start, end, limits)

    def frame() -> None:
        if sized:
            walk.frame_size()
        if layout is None or cls is None:
            walk.message(walk.request_header())
        else:
            walk.response_header(cls, layout.version)
            walk.message(layout)
        if sized:
            walk.end_of_frame()

    return walk.result(frame)


def prefixed_map(
    cls: type[Message], data: Buffer, *, limits: Limits = DEFAULT
) -> ByteMap:
    """Map a message that stands behind its own version.

    Shape and errors: as ``framing.decode_prefixed``; an unknown version is an error in
    the map.
    """
    binding = engine.binding_of(cls)
    walk = MessageWalk(_bytes(data), 0, None, limits)

    def prefixed() -> None:
        version = walk.version_prefix(cls)
        newest = binding.message.valid_versions.max
        if version > newest and plan.reads_newer_versions(binding.message):
            walk.message(binding.plan(newest), whole=False)
            walk.appended()
        else:
            walk.message(binding.plan(version))

    return walk.result(prefixed)


def record_map(data: Buffer, *, limits: Limits = DEFAULT) -> ByteMap:
    """Map a record set: batches of magic 2, messages of magic 0 and 1.

    Shape: as ``records.decode_batches`` reads it. ``error`` is the one that it raises;
    where the end of the damaged batch is known, the map goes on behind it, and all
    errors are ``damage``. What is compressed is one span; it is unpacked to check it.
    """
    body = _bytes(data)
    walk = RecordWalk([], "record set", "", "", limits)
    walk.read(body, 0, len(body))
    damage = tuple(walk.damage)
    return ByteMap(tuple(walk.spans), damage[0] if damage else None, damage)


def _bytes(data: Buffer) -> bytes:
    if type(data) is bytes:
        return data
    with memoryview(data) as view:
        if not view.c_contiguous:
            raise TypeError("only contiguous bytes can be decoded")
        return view.tobytes()
