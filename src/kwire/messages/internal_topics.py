# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes and encodes records of Kafka's internal topics.

This module implements the positions of record types and versions in these topics. The
schema facts contain the message of every type. Internal topics also contain control
records, which ``control_records.py`` decodes.
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
"""Topic names that ``decode`` and ``encode`` support."""


def decode(
    topic: str,
    key: Buffer | None,
    value: Buffer | None,
    *,
    zero_copy: bool = False,
    compat: Literal["java"] | None = None,
    limits: Limits = DEFAULT,
) -> tuple[Message | None, Message | None]:
    """Decode the key and value of a record in an internal topic.

    Format in ``__consumer_offsets``, ``__share_group_state`` and
    ``__transaction_state``: a key is an INT16 record type and the key message, and a
    value is an INT16 version and the value message. Format in ``__cluster_metadata``
    and ``__remote_log_metadata``: there are no keys, and a value is a frame version
    (1), record type and version as UNSIGNED_VARINT, followed by the message. Returns
    the key message and the value message. The key message is None if there are no keys,
    and the value message is None if the value is null (a tombstone).
    Source: ``CoordinatorRecordSerde``, ``AbstractApiMessageSerde``.

    Raises ``DecodeError`` with the offset in ``key`` or ``value``, and a path that
    starts with the corresponding word. Raises ``UnsupportedVersion`` if the record type
    or version is unknown, for example because a newer Kafka release wrote the record.
    If only the version of the value is unknown, ``decode(topic, key, None)`` still
    decodes the key. Raises ``ValueError`` if the topic is not in ``TOPICS``.
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
            raise _make_unknown_type_error(topic, record_type)
        return None, read(cls, value, version, start, "value", zero_copy=zero_copy)
    key, record_type = read_version(key, "key", "type")
    classes = _find_keyed_classes(topic, record_type)
    if classes is None:
        raise _make_unknown_type_error(topic, record_type)
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
    """Encode the key and value of a record for an internal topic.

    ``version`` is the version of the value message, because a key has only one version.
    If ``value`` is None, the record is a tombstone, which requires a key. Format and
    source are as in ``decode``.
    Raises ``EncodeError`` or ``UnsupportedVersion`` if a message cannot be encoded.
    Raises ``TypeError`` if the messages do not belong to the topic or to each other,
    and ``ValueError`` if the topic is not in ``TOPICS``.
    """
    has_frame = is_framed(topic)
    record_type = _find_record_type(value if has_frame else key)
    if has_frame:
        expected_types: tuple[object, object] = (
            type(None),
            _find_framed_class(topic, record_type),
        )
    else:
        expected_types = _find_keyed_classes(topic, record_type) or (None, None)
    is_tombstone = value is None and not has_frame
    if (
        type(key),
        expected_types[1] if is_tombstone else type(value),
    ) != expected_types:
        raise TypeError(
            f"key and value must be messages of one record type of {topic}"
            f" (got {quote(key)} and {quote(value)})"
        )
    body = b"" if value is None else engine.encode(value, version)
    if key is None:
        prefix_numbers = (_FRAME_VERSION, record_type, version)
        return None, b"".join((*map(wire.encode_unsigned_varint, prefix_numbers), body))
    return (
        _encode_int16(record_type) + engine.encode(key, key.valid_versions.max),
        None if is_tombstone else _encode_int16(version) + body,
    )


def is_framed(topic: str) -> bool:
    """Return whether values contain their record type, and records have no keys.

    Raises ``ValueError`` if the topic is not in ``TOPICS``.
    """
    if topic not in _FAMILIES:
        raise ValueError(
            f"topic must be one of Kafka's internal topics, {', '.join(TOPICS)}"
            f" (got {quote(topic)})"
        )
    return topic in _FRAMED


def read_frame(topic: str, value: Buffer) -> tuple[int, int, int]:
    """Decode the record type, the version, and the position of the message in a value.

    The topic must satisfy ``is_framed``. Format, position and errors are as in
    ``decode``, but unknown types and versions are accepted.
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
    """Return the key class and value class of a record type.

    The key class is None if records have no keys. Returns None if the type is unknown.
    Raises ``ValueError`` if the topic is not in ``TOPICS``.
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
    """Return the key class and value class for a record type, or None."""
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
    """Return the key and value classes of retired record types, by type number.

    Before Kafka 4.1, the schema version of the key was the record type. Types that had
    been retired before that release have no other number.
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


def _find_record_type(message: Message | None) -> int:
    schema = engine.binding_of(type(message)).message
    # A retired key has no record type number, so its maximum version is the record
    # type, as explained in ``_find_retired_classes``.
    return schema.valid_versions.max if schema.api_key is None else schema.api_key


def _make_unknown_type_error(topic: str, record_type: int) -> UnsupportedVersion:
    return UnsupportedVersion(
        f"kwire has no record type {record_type} of {topic};"
        " a newer Kafka may have written it"
    )


def _encode_int16(number: int) -> bytes:
    return number.to_bytes(2, "big", signed=True)
