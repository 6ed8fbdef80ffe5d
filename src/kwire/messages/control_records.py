# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes control records, which brokers and controllers write between user records.

The key has the type, the value is a message of that type. ``records`` finds them in a
log. ``internal_topics`` decodes the records of Kafka's own topics and shares the last
functions of this file, which read a message that fills the key or value of a record,
and name the key or value in errors.
"""

from __future__ import annotations

from .. import errors, messages
from .._engine.active import engine
from .._limits import DEFAULT, Limits
from ..errors import DecodeError, InvalidValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeVar

    from typing_extensions import Buffer

    from . import Message

    M = TypeVar("M", bound=Message)

# Source: ``ControlRecordType``.
_TYPES = {
    0: ("ABORT", "EndTxnMarker"),
    1: ("COMMIT", "EndTxnMarker"),
    2: ("LEADER_CHANGE", "LeaderChangeMessage"),
    3: ("SNAPSHOT_HEADER", "SnapshotHeaderRecord"),
    4: ("SNAPSHOT_FOOTER", "SnapshotFooterRecord"),
    5: ("KRAFT_VERSION", "KRaftVersionRecord"),
    6: ("KRAFT_VOTERS", "VotersRecord"),
}


class ControlRecord:
    """One control record: its type and the message that is its value.

    ``type`` is the number in the key; ``message`` is None where kwire does not know
    the type, as readers have to pass over what a newer Kafka writes.
    """

    __slots__ = ("message", "type")
    __match_args__ = ("type", "message")

    type: int
    message: Message | None

    def __init__(self, type: int, message: Message | None) -> None:
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "message", message)

    @property
    def type_name(self) -> str:
        """Kafka's name of the type: "ABORT", "COMMIT", ... or "UNKNOWN"."""
        return _TYPES[self.type][0] if self.type in _TYPES else "UNKNOWN"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a ControlRecord cannot be changed; make a new one")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ControlRecord):
            return NotImplemented
        return self.type == other.type and self.message == other.message

    def __hash__(self) -> int:
        return hash((self.type, self.message))

    def __reduce__(self) -> tuple[object, tuple[int, Message | None]]:
        return ControlRecord, (self.type, self.message)

    def __repr__(self) -> str:
        return f"<ControlRecord {self.type} {self.type_name}: {self.message!r}>"


def decode_control_record(
    key: Buffer | None, value: Buffer | None, *, limits: Limits = DEFAULT
) -> ControlRecord:
    """Decode the key and the value of a record of a control batch.

    Shape: the key is INT16 version and INT16 type. The value of ABORT and COMMIT is
    INT16 version and EndTxnMarker; that of the others a message that begins with its
    version. Of keys and end markers a version above the highest known is read as the
    highest, and what it appends is ignored. Source: ``ControlRecordType.parse``,
    ``EndTransactionMarker``, ``ControlRecordUtils``.
    Raises ``DecodeError`` with the offset in ``key`` or ``value`` and a path that
    begins with the one it was, or ``UnsupportedVersion``.
    """
    type_ = _read_appended(messages.ControlRecordTypeSchema, key, "key", limits).type
    if type_ not in _TYPES:
        return ControlRecord(type_, None)
    cls = getattr(messages, _TYPES[type_][1])
    if cls is messages.EndTxnMarker:
        return ControlRecord(type_, _read_appended(cls, value, "value", limits))
    data, version = read_version(value, "value")
    return ControlRecord(
        type_, read_message(cls, data, version, 0, "value", limits=limits)
    )


def _read_appended(cls: type[M], data: Buffer | None, part: str, limits: Limits) -> M:
    """Read INT16 version and a message to which newer versions only append."""
    data, version = read_version(data, part)
    newest = cls.valid_versions.max
    return read_message(
        cls,
        data,
        min(version, newest),
        2,
        part,
        compat="java" if version > newest else None,
        limits=limits,
    )


def read_version(
    data: Buffer | None, part: str, name: str = "version"
) -> tuple[Buffer, int]:
    """Read the INT16 at the start of a key or value, which cannot be null here.

    Gives the data back with it: now it is known not to be None.
    """
    path = f"{part}.{name}"
    if data is None:
        raise InvalidValue(f"the {part} cannot be null", 0, part)
    with memoryview(data) as view:
        head = view.cast("B")[:2].tobytes() if view.nbytes else b""
    if len(head) < 2:
        raise errors.decode_failure(errors.TRUNCATED, 2 - len(head), len(head), path)
    version = int.from_bytes(head, "big", signed=True)
    if version < 0:
        raise InvalidValue(f"{name} must be 0 or more (got {version})", 0, path)
    return data, version


def read_message(
    cls: type[M],
    data: Buffer,
    version: int,
    start: int,
    part: str,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = DEFAULT,
) -> M:
    """Read the message that takes the rest of a key or value.

    ``part`` is "key" or "value"; the paths of errors begin with it. Trailing bytes
    are refused, unless ``compat`` reads as Kafka does.
    """
    try:
        message, end = engine.decode_prefix(
            cls, data, version, start, zero_copy=zero_copy, compat=compat, limits=limits
        )
    except DecodeError as error:
        raise place_error(error, part) from None
    with memoryview(data) as view:
        size = view.nbytes
    if compat is None and end != size:
        raise errors.decode_failure(
            errors.TRAILING_BYTES, size - end, end, part, cls.__name__, version
        )
    return message


def place_error(error: DecodeError, part: str) -> DecodeError:
    """Put the key or value before the path of an error in it."""
    return type(error)(
        error.reason,
        error.offset,
        f"{part}.{error.path}" if error.path else part,
        error.message_name,
        error.version,
    )
