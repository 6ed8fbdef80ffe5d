# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes keys and values of Kafka's internal topics to JSON cells.

Records that cannot be decoded, for example from a newer Kafka version, do not end the
command. They are printed as bytes together with the reason. Control records are decoded
here, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import messages
from ...errors import KwireError
from ...messages import codec, internal_topics, wire
from ...messages.control_records import decode_control_record
from ...messages.json_form import to_json
from .byte_formats import NULL, Cell

if TYPE_CHECKING:
    from ...messages import Message
    from ...records import Record

    Decoded = tuple[tuple[Cell, Cell] | None, str | None]

_CONSUMER_PROTOCOL = "consumer"
_KEYLESS = ("__cluster_metadata", "__remote_log_metadata")


def is_internal(topic: str) -> bool:
    """Whether a topic is an internal topic whose records kwire can decode."""
    return topic in internal_topics.TOPICS


def decode_internal(topic: str, record: Record) -> Decoded:
    """Decode an internal topic record.

    Returns (cells, None), or (None, reason) if decoding fails. Returns (None, None) for
    other topics.
    """
    if not is_internal(topic):
        return None, None
    try:
        key, value = internal_topics.decode(topic, record.key, record.value)
        key_cell = NULL if key is None else _json(key, key.valid_versions.max)
        value_cell = NULL
        if value is not None and record.value is not None:
            value_cell = _json(value, _version(topic, record.value))
            if isinstance(value, messages.GroupMetadataValue):
                _decode_members(value, value_cell.content["data"])
    except KwireError as error:
        return None, str(error)
    return (key_cell, value_cell), None


def decode_control(_topic: str, record: Record) -> Decoded:
    """Decode a control record to its type and its message.

    Returns (cells, None), or (None, reason) if decoding fails.
    """
    try:
        control = decode_control_record(record.key, record.value)
        if control.message is None or record.value is None:
            return None, f"unknown control record type {control.type}"
        # If the version is newer than the versions that kwire supports, the record was
        # decoded as the newest supported version.
        version = min(_int16(record.value), control.message.valid_versions.max)
        value = _json(control.message, version)
    except KwireError as error:
        return None, str(error)
    return (Cell("control", control.type_name), value), None


def _json(message: Message, version: int) -> Cell:
    content = {
        "name": type(message).__name__,
        "version": version,
        "data": to_json(message, version),
    }
    return Cell("json", content)


def _decode_members(group: Any, data: dict[str, Any]) -> None:
    """Decode the messages that consumer group members have embedded.

    ``data`` is ``group`` in its JSON form. The decoded subscription and assignment
    replace the base64 strings in it. Bytes that cannot be decoded remain base64.
    """
    if group.protocol_type != _CONSUMER_PROTOCOL:
        return
    for member, form in zip(group.members, data["members"], strict=True):
        for name, cls in (
            ("subscription", messages.ConsumerProtocolSubscription),
            ("assignment", messages.ConsumerProtocolAssignment),
        ):
            cell = _read_embedded(cls, getattr(member, name))
            if cell is not None:
                form[name] = cell.content


def _read_embedded(cls: type[Message], data: bytes) -> Cell | None:
    """Decode a ``ConsumerProtocol`` message, which follows its INT16 version.

    Returns None if the bytes are not valid. Newer client versions are decoded with the
    newest version that kwire supports, because newer versions only append fields.
    """
    version = min(_int16(data), cls.valid_versions.max)
    try:
        message = codec.decode(cls, data[2:], version, compat="java")
    except KwireError:
        return None
    return _json(message, version)


def _version(topic: str, value: bytes) -> int:
    """Return the message version at the beginning of a record value.

    Values in topics without keys begin with three varints, of which the version is the
    last one. All other values begin with an INT16 version.
    """
    if topic not in _KEYLESS:
        return _int16(value)
    number = start = 0
    for _ in ("frame version", "record type", "version"):
        number, start = wire.decode_unsigned_varint(value, start)
    return number


def _int16(value: bytes) -> int:
    return int.from_bytes(value[:2], "big", signed=True)
