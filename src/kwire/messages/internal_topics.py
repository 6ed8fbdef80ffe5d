# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes and encodes the records of Kafka's internal topics.

This module knows where a record of each topic has its type and version; the schema
facts have the messages of each type. Control records, which these topics have as well,
are in ``control_records.py``.
"""

from __future__ import annotations

from functools import cache, partial

from .. import messages
from .._engine.active import engine
from .._limits import DEFAULT, Limits
from ..errors import DecodeError, InvalidValue, UnsupportedVersion, quote
from ..schema import registry
from . import wire
from .prefixed import place_error, read_message, read_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from typing_extensions import Buffer

    from . import Message

_RETIRED = "retired-records"
_FAMILIES = {
    "__cluster_metadata": ("metadata-records", _RETIRED),
    "__consumer_offsets": ("group-coordinator", _RETIRED),
    "__remote_log_metadata": ("remote-log-records",),
    "__share_group_state": ("share-coordinator",),
    "__transaction_state": ("transaction-coordinator",),
}
_FRAMED = ("__cluster_metadata", "__remote_log_metadata")
_FRAME_VERSION = 1
_HIGHEST = 32767

TOPICS = tuple(_FAMILIES)
"""The names of the topics that ``decode`` and ``encode`` know."""


def decode(
    topic: str,
    key: Buffer | None,
    value: Buffer | None,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = DEFAULT,
) -> tuple[Message | None, Message | None]:
    """Decode the key and the value of a record of an internal topic.

    Shape: in ``__consumer_offsets``, ``__share_group_state`` and
    ``__transaction_state`` a key is INT16 record type and key message, a value INT16
    version and value message. In ``__cluster_metadata`` and ``__remote_log_metadata``
    there are no keys, and a value is UNSIGNED_VARINT frame version (1), record type
    and version, then the message. The message of a null value (a tombstone) and of
    the missing key is None.
    Source: ``CoordinatorRecordSerde``, ``AbstractApiMessageSerde``.

    Raises ``DecodeError`` with the offset in ``key`` or ``value`` and a path that
    begins with the one it was. ``UnsupportedVersion`` for a record type or version
    that kwire does not know, as a newer Kafka may have; the key of a record whose
    value cannot be read comes from ``decode(topic, key, None)``.
    ``ValueError`` for a topic that is not one of ``TOPICS``.
    """
    read = partial(read_message, compat=compat, limits=limits)
    if is_framed(topic):
        if key is not None:
            raise InvalidValue("records of this topic have no key", 0, "key")
        if value is None:
            return None, None
        record_type, version, start = read_frame(topic, value)
        cls = _find_framed_class(topic, record_type)
        if cls is None:
            raise _unknown_type(topic, record_type)
        return None, read(cls, value, version, start, "value", zero_copy=zero_copy)
    key, record_type = read_version(key, "key", "type")
    classes = _find_keyed_classes(topic, record_type)
    if classes is None:
        raise _unknown_type(topic, record_type)
    key_class, value_class = classes
    key_message = read(key_class, key, key_class.valid_versions.max, 2, "key")
    if value is None:
        return key_message, None
    value, version = read_version(value, "value")
    return key_message, read(
        value_class, value, version, 2, "value", zero_copy=zero_copy
    )


def encode(
    topic: str, key: Message | None, value: Message | None, version: int
) -> tuple[bytes | None, bytes | None]:
    """Encode the key and the value of a record of an internal topic.

    ``version`` is that of the value message; keys have one version each. Shape and
    source as in ``decode``; None as the value makes a tombstone.
    Raises ``EncodeError`` or ``UnsupportedVersion``. ``TypeError`` for messages that
    are none of this topic's or do not go together.
    """
    framed = is_framed(topic)
    record_type = _record_type(value if framed else key)
    if framed:
        fitting: tuple[object, object] = (
            type(None),
            _find_framed_class(topic, record_type),
        )
    else:
        fitting = _find_keyed_classes(topic, record_type) or (None, None)
    tombstone = value is None and not framed
    if (type(key), fitting[1] if tombstone else type(value)) != fitting:
        raise TypeError(
            f"no record of {topic} has the key {quote(key)}"
            f" and the value {quote(value)}"
        )
    body = b"" if value is None else engine.encode(value, version)
    if key is None:
        head = (_FRAME_VERSION, record_type, version)
        return None, b"".join((*map(wire.encode_unsigned_varint, head), body))
    return (
        _int16(record_type) + engine.encode(key, key.valid_versions.max),
        None if tombstone else _int16(version) + body,
    )


def is_framed(topic: str) -> bool:
    """Whether the values of a topic begin with their type, and records have no key.

    ``ValueError`` for a topic that is not one of ``TOPICS``.
    """
    if topic not in _FAMILIES:
        raise ValueError(
            f"topic must be one of Kafka's internal topics, {', '.join(TOPICS)}"
            f" (got {quote(topic)})"
        )
    return topic in _FRAMED


def read_frame(topic: str, value: Buffer) -> tuple[int, int, int]:
    """Read the record type, the version, and the position of the message in a value.

    Shape, position and errors as in ``decode``; for topics that ``is_framed`` names.
    Neither the type nor the version need be known to kwire.
    """
    frame_version, start = _read_number(value, 0, "frame_version")
    if frame_version != _FRAME_VERSION:
        raise UnsupportedVersion(
            f"records of {topic} have frame version {_FRAME_VERSION}"
            f" (got {frame_version})"
        )
    record_type, start = _read_number(value, start, "type")
    version, start = _read_number(value, start, "version")
    return record_type, version, start


def _read_number(value: Buffer, start: int, name: str) -> tuple[int, int]:
    try:
        number, end = wire.decode_unsigned_varint(value, start)
    except DecodeError as error:
        raise place_error(error, f"value.{name}") from None
    if number > _HIGHEST:
        reason = f"{number} exceeds Kafka's limit of {_HIGHEST}"
        raise InvalidValue(reason, start, f"value.{name}")
    return number, end


def classes_of(
    topic: str, record_type: int
) -> tuple[type[Message] | None, type[Message]] | None:
    """Find the classes of the key and of the value that a record type has.

    The class of the key is None where records have no keys. None if kwire knows no
    such type.
    """
    if not is_framed(topic):
        return _find_keyed_classes(topic, record_type)
    cls = _find_framed_class(topic, record_type)
    return None if cls is None else (None, cls)


def _find_framed_class(topic: str, record_type: int) -> type[Message] | None:
    for family in _FAMILIES[topic]:
        try:
            return messages.by_key(record_type, "metadata", family)
        except KeyError:
            continue
    return None


def _find_keyed_classes(
    topic: str, record_type: int
) -> tuple[type[Message], type[Message]] | None:
    """Find the classes of the key and the value that a record type has."""
    family, *retired = _FAMILIES[topic]
    try:
        return (
            messages.by_key(record_type, "coordinator-key", family),
            messages.by_key(record_type, "coordinator-value", family),
        )
    except KeyError:
        return _find_retired_classes().get(record_type) if retired else None


@cache
def _find_retired_classes() -> dict[int, tuple[type[Message], type[Message]]]:
    """Map the numbers of retired record types to the classes of key and value.

    Before Kafka 4.1 the record type was the one version of the key's schema, and
    types that were retired until then have no other number.
    """
    return {
        record_type: (
            getattr(messages, name),
            getattr(messages, f"{name.removesuffix('Key')}Value"),
        )
        for name in registry.names()
        if name.endswith("Key") and registry.find(name).family == _RETIRED
        for record_type in registry.find(name).valid_versions
    }


def _record_type(message: Message | None) -> int:
    facts = engine.binding_of(type(message)).message
    # As above: a retired key.
    return facts.valid_versions.max if facts.api_key is None else facts.api_key


def _unknown_type(topic: str, record_type: int) -> UnsupportedVersion:
    return UnsupportedVersion(
        f"kwire has no record type {record_type} of {topic};"
        " a newer Kafka may have written it"
    )


def _int16(number: int) -> bytes:
    return number.to_bytes(2, "big", signed=True)
