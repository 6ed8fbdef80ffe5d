# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes and decodes messages that follow their own version, and checks their end.

``encode_prefixed`` and ``decode_prefixed`` are public in ``framing.py``. Frames,
control records and records of internal topics share ``read_message``, which decodes
the message in the rest of the bytes. Keys and values of records also share
``read_version`` and ``place_error``.
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
    """Encode a message after its own version, as Kafka stores it inside bytes fields.

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
    """Decode a message that follows its own version.

    Shape: INT16 version, then the message. Of the consumer protocol a version above
    the highest known is read as the highest, and what it appends is ignored.
    Raises ``DecodeError`` with the offset in ``data``, or ``UnsupportedVersion``.
    """
    version = _read_int16(data, "version", cls.__name__)
    message = engine.binding_of(cls).message
    newest = message.valid_versions.max
    if version > newest and plan.reads_newer_versions(message):
        read = engine.decode_prefix
        return read(
            cls, data, newest, 2, zero_copy=zero_copy, compat=compat, limits=limits
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
    """Decode the message from ``start`` to the end of ``data``.

    ``part`` is "key" or "value" if ``data`` is the key or value of a record. The paths
    of errors begin with it. Raises ``TrailingBytes`` if the message ends earlier,
    unless ``compat`` reads as Kafka does.
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
    """Read the INT16 at the start of a key or value.

    ``part`` is "key" or "value", ``name`` the name of the number. Returns ``data`` as
    well, for type checkers: it is not None. Raises ``InvalidValue`` if ``data`` is None
    or the number is negative, ``Truncated`` if there are fewer than two bytes.
    """
    if data is None:
        raise InvalidValue(f"the {part} cannot be null", 0, part)
    path = f"{part}.{name}"
    version = _read_int16(data, path)
    if version < 0:
        raise InvalidValue(f"{name} must be 0 or more (got {version})", 0, path)
    return data, version


def _read_int16(data: Buffer, path: str, message_name: str = "") -> int:
    head, _ = frame_hints.take_first_bytes(data, 2)
    if len(head) < 2:
        raise errors.decode_failure(
            errors.TRUNCATED, 2 - len(head), len(head), path, message_name
        )
    return int.from_bytes(head, "big", signed=True)


def place_error(error: DecodeError, part: str) -> DecodeError:
    """Return an error whose path begins with the key or value it is in."""
    return type(error)(
        error.reason,
        error.offset,
        f"{part}.{error.path}" if error.path else part,
        error.message_name,
        error.version,
    )
