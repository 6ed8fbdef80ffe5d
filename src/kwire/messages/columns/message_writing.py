# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes columns of messages, passed as structs or JSON, as Kafka bytes.

This is the inverse of ``message_reading.py``, with the same framing. Every row is
converted to a message object and encoded individually. This module does not import
Spark: input and output are pyarrow arrays.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from itertools import repeat
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pyarrow as pa

from ... import messages
from ...errors import EncodeError, InvalidJson, KwireError, version_failure
from ...schema import registry
from .. import codec, framing, json_form
from .array_rows import is_valid, make_struct, text_column
from .message_reading import version_numbers
from .message_types import (
    ERROR,
    compile_version,
    message_facts,
    message_type,
    with_error,
)

if TYPE_CHECKING:
    from ...schema.model import Field, Struct
    from ...schema.plan import Plan
    from .. import Message

DATA = pa.struct([("data", pa.binary())])
"""Result type, without the error field."""

_SIZE = 4


def write_messages(
    values: Any,
    name: str,
    versions: Any,
    *,
    framed: bool = True,
    headers: pa.StructArray | None = None,
    failfast: bool = False,
) -> pa.Array:
    """Encode a column with messages of one class.

    * ``values``: structs with fields of ``message_type(name)``, which may be missing or
      in any order, or strings in Kafka's JSON format. A null or missing field is
      encoded as null if the version allows null, and otherwise as its default value.
    * ``versions``: a number, or an array with a number per row.
    * ``framed``: add the header of requests and responses, and the INT16 version of
      other messages. Frames have no size.
    * ``headers``: structs with ``correlation_id`` and ``client_id``, for framed
      requests and responses. Default: 0 and null.

    A null row remains null. In an invalid row, ``data`` is null and ``_error`` contains
    the reason. With ``failfast``, the result is binary, and the first invalid row
    raises its error. Raises ``ValueError`` if a struct has a field that the message
    does not have.
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    is_struct = pa.types.is_struct(values.type)
    if is_struct:
        _check_names(values.type, message_type(name), name)
    read = _from_struct if is_struct else _from_json
    heads = repeat({}) if headers is None else headers.to_pylist()
    numbers = version_numbers(versions, len(values))
    rows = zip(values.to_pylist(), numbers.tolist(), heads, strict=False)
    written: list[bytes | None] = []
    errors = {}
    for row, (value, version, head) in enumerate(rows):
        data = None
        if value is not None:
            try:
                data = _encode(read(value, name, version), version, framed, head or {})
            except KwireError as error:
                if failfast:
                    raise
                errors[row] = str(error)
        written.append(data)
    made = pa.array(written, pa.binary())
    if failfast:
        return made
    fields = [made, text_column(errors, len(written))]
    return make_struct(with_error(DATA), fields, is_valid(values))


def _encode(message: Any, version: int, framed: bool, head: dict[str, Any]) -> bytes:
    if not framed:
        return codec.encode(message, version)
    number = head.get("correlation_id") or 0
    if message.kind == "request":
        client_id = head.get("client_id")
        frame = framing.encode_request(
            message, version, correlation_id=number, client_id=client_id
        )
        return frame[_SIZE:]
    if message.kind == "response":
        frame = framing.encode_response(message, version, correlation_id=number)
        return frame[_SIZE:]
    return framing.encode_prefixed(message, version)


def _from_json(text: str, name: str, version: int) -> Message:
    try:
        obj = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidJson(f"not JSON: {error}", 0, "", name) from None
    message: Message = json_form.from_json(getattr(messages, name), obj, version)
    return message


def _from_struct(value: dict[str, Any], name: str, version: int) -> Message:
    bad = value.get(ERROR)
    if bad is not None:
        raise EncodeError(bad)
    valid = registry.find(name).valid_versions
    if version not in valid:
        raise version_failure(name, valid, version)
    message: Message = _Maker(getattr(messages, name)).struct(
        value, message_facts(name).struct, compile_version(name, version)
    )
    return message


class _Maker:
    """Creates messages of one class from struct values, as pyarrow returns them."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def struct(self, row: dict[str, Any], struct: Struct, layout: Plan | None) -> Any:
        """Create one struct; ``layout`` is None if the version does not contain it."""
        steps = repeat(None) if layout is None else layout.steps
        given = {}
        for field, step in zip(struct.fields, steps, strict=False):
            value = row.get(field.attribute)
            if value is not None:
                inner = None if step is None else step.plan
                if field.is_array:
                    value = [self.value(each, field, inner) for each in value]
                else:
                    value = self.value(value, field, inner)
            elif step is None or not step.nullable:
                # In a struct for all versions, fields that a version does not have are
                # null.
                continue
            given[field.attribute] = value
        of_message = struct.name == self.cls.__name__
        return (self.cls if of_message else getattr(self.cls, struct.name))(**given)

    def value(self, value: Any, field: Field, layout: Plan | None) -> Any:
        if field.struct is not None and isinstance(value, dict):
            return self.struct(value, field.struct, layout)
        if field.type == "uuid" and isinstance(value, str):
            return _uuid(value)
        return value


def _uuid(text: str) -> UUID:
    try:
        return UUID(bytes=urlsafe_b64decode(f"{text}=="))
    except ValueError:
        words = "a uuid as Kafka prints it, 22 characters of URL-safe base64"
        raise EncodeError(f"expected {words}, got {text!r:.80}") from None


def _check_names(given: pa.DataType, known: pa.DataType, path: str) -> None:
    """Raise ``ValueError`` for fields that the message does not have, at any depth."""
    if pa.types.is_list(given) and pa.types.is_list(known):
        given, known = given.value_type, known.value_type
    if not pa.types.is_struct(given) or not pa.types.is_struct(known):
        return
    for field in given:
        place = known.get_field_index(field.name)
        if place >= 0:
            kind = known.field(place).type
            _check_names(field.type, kind, f"{path}.{field.name}")
        elif field.name != ERROR:
            names = ", ".join(each.name for each in known)
            raise ValueError(f"{path} has no field {field.name!r}; it has {names}")
