# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes messages with a version prefix, and checks for trailing bytes.

``framing.py`` exports ``encode_prefixed`` and ``decode_prefixed``. Frames, control
records and records in internal topics use ``read_message``, which decodes a message up
to the end of the input. Record keys and values also use ``read_version`` and
``place_error``.
"""

from __future__ import annotations

from .. import errors
from .._engine import frame_hints
from .._engine.active import engine
from .._limits import DEFAULT, Limits
from ..errors import DecodeError, InvalidValue
from ..schema import plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeVar

    from typing_extensions import Buffer

    from . import Message

    M = TypeVar("M", bound=Message)


def encode_prefixed(message: Message, version: int) -> bytes:
    """Encode a message with a version prefix, as in Kafka's bytes fields.

    Format: INT16 version, followed by the message.
    Raises the same errors as ``kwire.encode``: ``EncodeError`` or
    ``UnsupportedVersion``.
    Source: version-prefixed buffers in ``MessageUtil`` (consumer protocol, principals,
    values of coordinator records).
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
    """Decode a message with a version prefix.

    Format: INT16 version, followed by the message. If a consumer protocol version is
    newer than all supported versions, it is decoded as the newest supported version,
    and additional fields are ignored.
    Raises ``DecodeError`` with the offset in ``data``, or ``UnsupportedVersion``.
    """
    version = _read_int16(data, "version", cls.__name__)
    message = engine.binding_of(cls).message
    max_version = message.valid_versions.max
    if version > max_version and plan.reads_newer_versions(message):
        decode_prefix = engine.decode_prefix
        return decode_prefix(
            cls, data, max_version, 2, zero_copy=zero_copy, compat=compat, limits=limits
        )[0]
    return read_message(
        cls, data, version, 2, zero_copy=zero_copy, compat=compat, limits=limits
    )


def read_message(
    cls: type[M],
    data: Buffer,
    version: int,
    start: int,
    part: str = "",
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = DEFAULT,
) -> M:
    """Decode a message between ``start`` and the end of ``data``.

    ``part`` is "key" or "value" if ``data`` is a record key or value. Error paths start
    with this word.
    Raises the errors of ``kwire.decode``, for example ``TrailingBytes`` if there are
    additional bytes. They are ignored if ``compat`` is "java".
    """
    try:
        message, end = engine.decode_prefix(
            cls, data, version, start, zero_copy=zero_copy, compat=compat, limits=limits
        )
    except DecodeError as error:
        if not part:
            raise
        raise place_error(error, part) from None
    with memoryview(data) as view:
        size = view.nbytes
    if compat is None and end != size:
        raise errors.decode_failure(
            errors.TRAILING_BYTES, size - end, end, part, cls.__name__, version
        )
    return message


def read_version(
    data: Buffer | None, part: str, name: str = "version"
) -> tuple[Buffer, int]:
    """Decode the INT16 at the beginning of a record key or value.

    ``part`` is "key" or "value", and ``name`` is the name of the number in errors. The
    result includes ``data``, so that type checkers know that it is not None.
    Raises ``InvalidValue`` if ``data`` is None or the number is negative, and
    ``Truncated`` if ``data`` has fewer than two bytes.
    """
    if data is None:
        raise InvalidValue(f"the {part} cannot be null", 0, part)
    path = f"{part}.{name}"
    version = _read_int16(data, path)
    if version < 0:
        raise InvalidValue(f"{name} must be 0 or more (got {version})", 0, path)
    return data, version


def _read_int16(data: Buffer, path: str, message_name: str = "") -> int:
    first_bytes, _ = frame_hints.take_first_bytes(data, 2)
    if len(first_bytes) < 2:
        raise errors.decode_failure(
            errors.TRUNCATED, 2 - len(first_bytes), len(first_bytes), path, message_name
        )
    return int.from_bytes(first_bytes, "big", signed=True)


def place_error(error: DecodeError, part: str) -> DecodeError:
    """Duplicate an error and prepend "key" or "value" to its path."""
    return type(error)(
        error.reason,
        error.offset,
        f"{part}.{error.path}" if error.path else part,
        error.message_name,
        error.version,
    )
