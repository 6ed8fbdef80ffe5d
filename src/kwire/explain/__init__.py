# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Explains bytes and layouts: byte maps and the protocol guide.

A ``ByteMap`` has a ``Span`` for each value of an input, and the spans cover every byte
exactly once. A map of damaged bytes has the spans before the damage, and the error.
``guide`` has the layouts of messages, ``apis`` the APIs of each release. ``kwire
explain`` and ``kwire schema`` in ``cli`` print them. Decoding for programs does not
belong here.
May import: ``errors``, ``_limits``, ``_text``, ``schema``, ``_engine``, ``messages``,
``records``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._engine.active import engine
from .._limits import DEFAULT, Limits
from ..messages.api_registry import KAFKA, ApiRegistry
from ..schema import plan
from . import apis as apis
from . import guide as guide
from .message_walk import MessageWalk
from .record_walk import RecordWalk
from .spans import KINDS, ByteMap, Span

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ..messages import Message, Response

__all__ = [
    "KINDS",
    "ByteMap",
    "Span",
    "apis",
    "byte_map",
    "frame_map",
    "guide",
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
    walk = MessageWalk(_copy_bytes(data), 0, None, limits)
    return walk.read_map(lambda: walk.read_message(layout))


def frame_map(
    data: Buffer,
    cls: type[Response] | None = None,
    version: int | None = None,
    *,
    start: int = 0,
    end: int | None = None,
    sized: bool = False,
    limits: Limits = DEFAULT,
    registry: ApiRegistry = KAFKA,
) -> ByteMap:
    """Map a frame: a request, or a response of class ``cls`` and ``version``.

    The frame is ``data[start:end]``; all offsets, those of errors too, are positions in
    ``data`` (bytes). If ``sized``, the frame begins with its INT32 size; fewer or more
    bytes than that are an error in the map.
    ``registry`` adds the classes of APIs that Kafka does not have.
    Shape and errors: as ``framing.decode_request`` and ``framing.decode_response``; an
    unknown API key or version in a request header is an error in the map.
    Raises ``UnsupportedVersion`` for a version that ``cls`` does not have.
    """
    layout = None
    if cls is not None:
        message = engine.binding_of(cls).message
        if message.kind != "response":
            raise TypeError(
                f"a response is required (got {message.name}, a {message.kind})"
            )
        layout = engine.binding_of(cls).plan(version)
    walk = MessageWalk(_copy_bytes(data), start, end, limits)

    def read_frame() -> None:
        if sized:
            walk.read_frame_size()
        if layout is None or cls is None:
            walk.read_message(walk.read_request_header(registry))
        else:
            walk.read_response_header(cls, layout.version)
            walk.read_message(layout)
        if sized:
            walk.check_end_of_frame()

    return walk.read_map(read_frame)


def prefixed_map(
    cls: type[Message], data: Buffer, *, limits: Limits = DEFAULT
) -> ByteMap:
    """Map a message that follows its own version.

    Shape and errors: as ``framing.decode_prefixed``; an unknown version is an error in
    the map.
    """
    binding = engine.binding_of(cls)
    walk = MessageWalk(_copy_bytes(data), 0, None, limits)

    def read_prefixed() -> None:
        version = walk.read_version_prefix(cls)
        newest = binding.message.valid_versions.max
        if version > newest and plan.reads_newer_versions(binding.message):
            walk.read_message(binding.plan(newest), whole=False)
            walk.skip_appended()
        else:
            walk.read_message(binding.plan(version))

    return walk.read_map(read_prefixed)


def record_map(data: Buffer, *, limits: Limits = DEFAULT) -> ByteMap:
    """Map a record set: batches of magic 2, messages of magic 0 and 1.

    Shape: as ``records.decode_batches`` reads it. ``error`` is the exception that it
    raises. If the end of a damaged batch is known, the map continues after it;
    ``damage`` has all errors. Compressed records are one span; they are decompressed to
    check them.
    """
    body = _copy_bytes(data)
    walk = RecordWalk([], "record set", "", "", limits)
    walk.read(body, 0, len(body))
    damage = tuple(walk.damage)
    return ByteMap(tuple(walk.spans), damage[0] if damage else None, damage)


def _copy_bytes(data: Buffer) -> bytes:
    if type(data) is bytes:
        return data
    with memoryview(data) as view:
        if not view.c_contiguous:
            raise TypeError("the input must be contiguous in memory; pass bytes(data)")
        return view.tobytes()
