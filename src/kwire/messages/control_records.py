# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes control records, which brokers and controllers write between user records.

The key contains the type, and the value is a message that the type determines.
``records`` locates control records in a log. ``internal_topics`` decodes the records of
Kafka's internal topics.
"""

from __future__ import annotations

from .. import messages
from .._limits import DEFAULT, Limits
from .prefixed import read_message, read_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from typing_extensions import Buffer

    from . import Message

    M = TypeVar("M", bound=Message)

# (Kafka's name of the type, name of the message in the value) by type number.
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
    """One control record: its type and the message in its value.

    ``type`` is the number in the key. ``message`` is None if kwire does not know the
    type, because readers must ignore unsupported control records from newer Kafka
    releases.
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
        """Kafka's identifier of the type: "ABORT", "COMMIT", ... or "UNKNOWN"."""
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
    """Decode the key and value of a record in a control batch.

    Format: the key is an INT16 version and an INT16 type. For ABORT and COMMIT, the
    value is an INT16 version and an EndTxnMarker. For other types, the value is a
    message that starts with its version. If a key or end marker has a version above the
    maximum, it is decoded as the maximum version, and additional fields are ignored.
    Source: ``ControlRecordType.parse``, ``EndTransactionMarker``,
    ``ControlRecordUtils``.
    Raises ``DecodeError`` with the offset in ``key`` or ``value``, and a path that
    starts with the corresponding word. Raises ``UnsupportedVersion`` if the version is
    unknown.
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
    """Decode an INT16 version and a message of this version.

    Versions above the maximum are decoded as the maximum version, because newer
    versions only append fields.
    """
    data, version = read_version(data, part)
    max_version = cls.valid_versions.max
    return read_message(
        cls,
        data,
        min(version, max_version),
        2,
        part,
        compat="java" if version > max_version else None,
        limits=limits,
    )
