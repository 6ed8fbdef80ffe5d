# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes keys and values of Kafka's internal topics into struct columns.

The record types are listed in Kafka's schemas. Error messages are taken from
``kwire.messages.internal_topics``, which decodes single records. This module does not
import Spark: input and output are pyarrow arrays.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from ...errors import KwireError
from ...schema import registry
from ...schema.model import snake_case
from .. import internal_topics
from .array_rows import (
    as_binary,
    cut_prefixes,
    is_valid,
    join_rows,
    make_struct,
    read_int16_prefixes,
    row_bytes,
    text_column,
    view_memory,
)
from .message_columns import decode_versions
from .message_reading import json_text
from .message_types import message_type, with_error

if TYPE_CHECKING:
    from .. import Message

    Part: TypeAlias = tuple[np.ndarray, pa.Array]

_NONE = -1
_HEAD = [("record", pa.string()), ("version", pa.int32())]
JSON = pa.struct([*_HEAD, ("key", pa.string()), ("value", pa.string())])


class RecordType(NamedTuple):
    """Record type of an internal topic.

    * ``name``: Kafka's name of the record type.
    * ``key``: name of the key message, or None if the records have no keys.
    * ``value``: name of the value message.
    """

    name: str
    key: str | None
    value: str

    @property
    def column(self) -> str:
        """Result field that contains values of this type."""
        return snake_case(self.name)


@cache
def record_types(topic: str) -> dict[int, RecordType]:
    """Return a topic's record types by number.

    Raises ``ValueError`` if the topic is not in ``internal_topics.TOPICS``.
    """
    family = "metadata" if internal_topics.is_framed(topic) else "coordinator-key"
    found = {}
    for number in range(registry.keys(family)[-1] + 1):
        classes = internal_topics.classes_of(topic, number)
        if classes is None:
            continue
        key, value = classes
        name = value.__name__ if key is None else value.__name__.removesuffix("Value")
        found[number] = RecordType(
            name, None if key is None else key.__name__, value.__name__
        )
    return found


@cache
def chosen_types(topic: str, names: tuple[str, ...]) -> dict[int, RecordType]:
    """Return the record types of a topic that ``names`` contains, by number.

    If ``names`` is empty, returns all types. Raises ``ValueError`` if the topic does
    not have a type, or is not in ``internal_topics.TOPICS``.
    """
    types = record_types(topic)
    known = [each.name for each in types.values()]
    wrong = [name for name in names if name not in known]
    if wrong:
        raise ValueError(
            f"{topic} has no record type {wrong[0]!r:.80}; it has {', '.join(known)}"
        )
    return {
        number: each
        for number, each in types.items()
        if not names or each.name in names
    }


@cache
def topic_type(topic: str, names: tuple[str, ...] = ()) -> pa.StructType:
    """Return the result type of a topic: record, version, key, and a struct per type.

    ``record`` is Kafka's name of the record type, and ``version`` is the value version.
    ``key`` contains the fields of all keys. It does not exist if the topic's records
    have no keys. Types without fields have no struct, because it would be empty. If
    ``names`` is not empty, the result contains only these types.

    Raises ``ValueError`` if the topic does not have a type, or is not in
    ``internal_topics.TOPICS``.
    """
    fields = [pa.field(*pair) for pair in _HEAD]
    if not internal_topics.is_framed(topic):
        fields.append(pa.field("key", _key_type(topic, names)))
    for each in chosen_types(topic, names).values():
        kind = message_type(each.value)
        if kind.num_fields:
            fields.append(pa.field(each.column, kind))
    return pa.struct(fields)


def read_topic(
    topic: str,
    key: Any,
    value: Any,
    names: tuple[str, ...] = (),
    *,
    failfast: bool = False,
) -> pa.StructArray:
    """Decode the keys and values of records into ``topic_type(topic, names)``.

    For record types that are not in ``names``, only the type and version are set. A
    record without key and value becomes a null struct. A tombstone (key, but null
    value) has no version, and the struct of its type is null. An invalid row contains
    all data that could be decoded, and ``_error`` contains the reason. With
    ``failfast``, there is no ``_error``, and the first invalid row raises the error
    from ``internal_topics.decode``.
    """
    keys, values = as_binary(key), as_binary(value)
    count = len(values)
    heads = _read_prefixes(topic, keys, values)
    bad = heads.wrong
    key_parts: list[Part] = []
    value_parts: dict[str, list[Part]] = {}
    for number, each in chosen_types(topic, names).items():
        rows = np.flatnonzero(heads.numbers == number)
        if each.key is not None and len(rows):
            version = registry.find(each.key).valid_versions.max
            versions = np.full(count, version)
            part, failed = _decode(keys, rows, heads.starts, each.key, versions)
            key_parts.append((rows, part))
            heads.numbers[failed] = _NONE
            bad[failed] = True
        rows = rows[(heads.versions[rows] != _NONE) & ~bad[rows]]
        if len(rows):
            part, failed = _decode(
                values, rows, heads.starts, each.value, heads.versions
            )
            value_parts.setdefault(each.column, []).append((rows, part))
            bad[failed] = True
    errors = {}
    for row in np.flatnonzero(bad).tolist():
        try:
            internal_topics.decode(topic, keys[row].as_py(), values[row].as_py())
        except KwireError as error:
            if failfast:
                raise
            errors[row] = str(error)
    kind = topic_type(topic, names)
    columns = {"record": _names(topic, heads), "version": _versions(heads)}
    if not internal_topics.is_framed(topic):
        keyed = np.isin(heads.numbers, list(chosen_types(topic, names)))
        columns["key"] = _union_of_keys(kind.field("key").type, key_parts, keyed)
    fields = [
        columns[field.name]
        if field.name in columns
        else join_rows(value_parts.get(field.name, ()), count, field.type)
        for field in kind
    ]
    if not failfast:
        kind = with_error(kind)
        fields.append(text_column(errors, count))
    return make_struct(kind, fields, heads.valid)


def read_topic_json(
    topic: str,
    key: Any,
    value: Any,
    names: tuple[str, ...] = (),
    *,
    failfast: bool = False,
) -> pa.StructArray:
    """Decode like ``read_topic``, with keys and values as Kafka's JSON strings.

    The result has the fields record, version, key and value, and ``_error`` unless
    ``failfast`` is True.
    """
    keys, values = as_binary(key), as_binary(value)
    count = len(values)
    heads = _read_prefixes(topic, keys, values)
    chosen = np.isin(heads.numbers, list(chosen_types(topic, names)))
    key_texts, value_texts, errors = {}, {}, {}
    for row in np.flatnonzero(heads.wrong | chosen).tolist():
        raw_key, raw_value = keys[row].as_py(), values[row].as_py()
        message = None
        try:
            key_message, message = internal_topics.decode(topic, raw_key, raw_value)
        except KwireError as error:
            if failfast:
                raise
            errors[row] = str(error)
            key_message = _key_alone(topic, raw_key)
        if key_message is not None:
            newest = key_message.valid_versions.max
            key_texts[row] = json_text(key_message, newest)
        elif not internal_topics.is_framed(topic):
            heads.numbers[row] = _NONE
        if message is not None:
            value_texts[row] = json_text(message, int(heads.versions[row]))
    fields = [
        _names(topic, heads),
        _versions(heads),
        *(text_column(texts, count) for texts in (key_texts, value_texts)),
    ]
    if failfast:
        return make_struct(JSON, fields, heads.valid)
    fields.append(text_column(errors, count))
    return make_struct(with_error(JSON), fields, heads.valid)


def _key_alone(topic: str, key: bytes | None) -> Message | None:
    """Decode the key of a record with an invalid value.

    Returns None if the key is invalid too.
    """
    try:
        return internal_topics.decode(topic, key, None)[0]
    except KwireError:
        return None


class _Prefixes(NamedTuple):
    """Data before the messages, as arrays with one element per row.

    * ``valid``: whether the row is not null.
    * ``wrong``: whether the row is invalid, regardless of its numbers.
    * ``numbers``: record type number, or ``_NONE`` if it is missing.
    * ``versions``: message version, or ``_NONE`` if it is missing.
    * ``starts``: byte position at which the message begins.
    """

    valid: np.ndarray
    wrong: np.ndarray
    numbers: np.ndarray
    versions: np.ndarray
    starts: np.ndarray


def _read_prefixes(
    topic: str, keys: pa.BinaryArray, values: pa.BinaryArray
) -> _Prefixes:
    """Read record types and versions of rows. Unknown record types are errors."""
    if internal_topics.is_framed(topic):
        heads = _read_framed_prefixes(topic, keys, values)
    else:
        heads = _read_keyed_prefixes(keys, values)
    heads.numbers[~np.isin(heads.numbers, list(record_types(topic)))] = _NONE
    return heads._replace(wrong=heads.wrong | heads.valid & (heads.numbers == _NONE))


def _read_keyed_prefixes(keys: pa.BinaryArray, values: pa.BinaryArray) -> _Prefixes:
    """Read the INT16 record type before keys, and the INT16 version before values."""
    has_value = is_valid(values)
    versions = read_int16_prefixes(values, _NONE)
    return _Prefixes(
        has_value | is_valid(keys),
        has_value & (versions == _NONE),
        read_int16_prefixes(keys, _NONE),
        versions,
        np.full(len(values), 2),
    )


def _read_framed_prefixes(
    topic: str, keys: pa.BinaryArray, values: pa.BinaryArray
) -> _Prefixes:
    """Read frame version, record type and message version.

    The three values are varints. In nearly all rows each has one byte, so these rows
    are decoded together; other rows are decoded individually.
    """
    valid = is_valid(values)
    data, places = view_memory(values)
    numbers = np.full(len(values), _NONE)
    versions, starts = numbers.copy(), np.full(len(values), 3)
    rows = np.flatnonzero(valid & (np.diff(places) >= 3))
    head = data[places[rows][:, None] + np.arange(3)]
    plain = (head < 0x80).all(axis=1)
    ours = plain & (head[:, 0] == 1)
    numbers[rows[ours]] = head[ours, 1]
    versions[rows[ours]] = head[ours, 2]
    for row in rows[~plain].tolist():
        try:
            head = internal_topics.read_frame(topic, row_bytes(values, row))
        except KwireError:
            continue
        numbers[row], versions[row], starts[row] = head
    return _Prefixes(valid, valid & is_valid(keys), numbers, versions, starts)


def _decode(
    array: pa.BinaryArray,
    rows: np.ndarray,
    starts: np.ndarray,
    name: str,
    versions: np.ndarray,
) -> tuple[pa.Array, np.ndarray]:
    """Decode rows of one message type.

    Returns the decoded structs, and the numbers of the rows that are invalid.
    """
    bodies = cut_prefixes(array, starts, rows)
    part, errors = decode_versions(bodies, name, versions[rows])
    return part, rows[sorted(errors)]


def _names(topic: str, heads: _Prefixes) -> pa.StringArray:
    """Return the record type name of every row."""
    types = record_types(topic)
    places = np.full(max(types) + 2, len(types))
    places[list(types)] = np.arange(len(types))
    texts = pa.array([*(each.name for each in types.values()), None], pa.string())
    # Missing numbers are -1, which selects the last position, a null.
    return texts.take(pa.array(places[heads.numbers]))


def _versions(heads: _Prefixes) -> pa.Int32Array:
    missing = (heads.versions == _NONE) | (heads.numbers == _NONE)
    return pa.array(heads.versions, pa.int32(), mask=missing)


def _union_of_keys(
    kind: pa.StructType, parts: list[Part], valid: np.ndarray
) -> pa.StructArray:
    """Merge the keys of several record types, field by field."""
    fields = []
    for field in kind:
        having = [
            (rows, array.field(field.name))
            for rows, array in parts
            if array.type.get_field_index(field.name) >= 0
        ]
        fields.append(join_rows(having, len(valid), field.type))
    return make_struct(kind, fields, valid)


def _key_type(topic: str, names: tuple[str, ...]) -> pa.StructType:
    """Return the struct with all fields in the keys of the selected types."""
    fields = {
        field.name: field
        for each in chosen_types(topic, names).values()
        if each.key is not None
        for field in message_type(each.key)
    }
    return pa.struct(list(fields.values()))
