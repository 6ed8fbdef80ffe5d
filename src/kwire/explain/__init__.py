# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Explains bytes and message layouts: byte maps and the protocol guide.

A ``ByteMap`` contains a ``Span`` for every value in the input, and the spans cover
every byte exactly once. If the input is damaged, the map contains the spans before the
damage, and the error. ``guide`` contains message layouts, and ``apis`` lists the APIs
by release. The commands ``kwire explain`` and ``kwire schema`` in ``cli`` print them.
Functions that decode messages for programs do not belong in this package. May import:
``errors``, ``_limits``, ``_text``, ``schema``, ``_engine``, ``messages``, ``records``.
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
    """Create a byte map for the body of one message, without size and header.

    Time is linear in the input size, and memory is a few hundred bytes per value. The
    map's ``error`` is identical to the error that ``kwire.decode`` raises for these
    bytes.
    Raises ``UnsupportedVersion`` if the message does not have this version.
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
    """Create a byte map for a frame.

    * ``cls``, ``version``: response class and version. By default, the frame is a
      request.
    * ``start``, ``end``: the frame is ``data[start:end]``. All offsets, including error
      offsets, are byte positions in ``data``.
    * ``sized``: whether the frame starts with its INT32 size. If the number of bytes is
      different, the map contains an error.
    * ``registry``: classes of APIs that are not part of Kafka.

    Format and errors are identical to ``framing.decode_request`` and
    ``framing.decode_response``. If a request header contains an unknown API key or
    version, the map contains an error.
    Raises ``UnsupportedVersion`` if ``cls`` does not have this version, ``TypeError``
    if it is not a response class, and ``ValueError`` if ``start`` or ``end`` is
    invalid.
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
    """Create a byte map for a message with a version prefix.

    Format and errors are identical to ``framing.decode_prefixed``. If the version is
    unknown, the map contains an error.
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
    """Create a byte map for a record set: magic 2 batches, or magic 0 and 1 messages.

    The format is identical to ``records.decode_batches``, and ``error`` is the
    exception that this function raises. If the end of a damaged batch is known, the map
    continues after it, so ``damage`` contains all errors. Compressed records are
    decompressed in order to check them, but they have only one span.
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
