# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Converts decoded structs into the type that a user requests.

A requested type contains a subset of the fields that kwire decodes, at every level, in
any order and spelling. ``narrow_type`` validates this type before decoding, and returns
the part of kwire's type that must be decoded. Afterwards ``arrange_fields`` converts
the decoded array into the requested type, without copying values.

Field names are compared without case and underscores, so that ``timestamp_type``,
``timestampType`` and ``TIMESTAMPTYPE`` are the same field.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from .array_rows import is_valid
from .message_types import ddl

if TYPE_CHECKING:
    from collections.abc import Callable

_INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
"""Integer types in ascending order. Every type can represent all previous ones."""

_WIDER = {kind: _INTEGERS[place:] for place, kind in enumerate(_INTEGERS)}


def narrow_type(
    source: pa.DataType,
    requested: pa.DataType,
    spell: Callable[[pa.DataType], str] = ddl,
    path: str = "",
) -> pa.DataType:
    """Return the part of ``source`` that a requested type names.

    The result has the names and the order of ``source``, and the requested value types:
    a wider integer, or int64 for a timestamp, which then contains milliseconds since
    1970. ``spell`` formats types for error messages. Raises ``ValueError`` if
    ``source`` does not have a field, if a field is requested twice, or if a type cannot
    represent all values of its field.
    """
    if pa.types.is_struct(source) and pa.types.is_struct(requested):
        return _narrow_struct(source, requested, spell, path)
    if pa.types.is_list(source) and pa.types.is_list(requested):
        element = narrow_type(source.value_type, requested.value_type, spell, path)
        return pa.list_(source.value_field.with_type(element))
    fitting = _fitting_types(source)
    if requested in fitting:
        return requested
    raise ValueError(
        f"schema: {path or 'the result'} cannot be {spell(requested)}; use"
        f" {' or '.join(map(spell, fitting))}"
    )


def _narrow_struct(
    source: pa.StructType,
    requested: pa.StructType,
    spell: Callable[[pa.DataType], str],
    path: str,
) -> pa.StructType:
    chosen: dict[int, pa.Field] = {}
    for field in requested:
        full = f"{path}.{field.name}" if path else field.name
        place = find_field(source, field.name)
        if place is None:
            raise ValueError(
                f"schema: unknown field {full!r}{_name_fields(source, field.name)}"
            )
        own = source.field(place)
        if place in chosen:
            raise ValueError(f"schema: the field {full!r} appears twice; remove one")
        try:
            kind = narrow_type(own.type, field.type, spell, full)
        except ValueError as error:
            if pa.types.is_nested(own.type) and pa.types.is_nested(field.type):
                raise
            raise ValueError(f"{error}{_name_fields(source)}") from None
        chosen[place] = own.with_type(kind)
    return pa.struct([chosen[place] for place in sorted(chosen)])


def _name_fields(kind: pa.StructType, name: str | None = None) -> str:
    """Return the end of an error message: the most similar field, and all fields."""
    text = ""
    if name is not None:
        spellings = {_fold(field.name): field.name for field in kind}
        near = get_close_matches(_fold(name), list(spellings), 1)
        text = f"; did you mean {spellings[near[0]]!r}?" if near else ""
    names = ", ".join(field.name for field in kind)
    return f"{text or ';'} available fields: {names}"


def find_field(kind: pa.StructType, name: str) -> int | None:
    """Return a field's position, compared without case and underscores.

    Returns None if there is no such field.
    """
    exact: int = kind.get_field_index(name)
    if exact >= 0:
        return exact
    spelling = _fold(name)
    for place, field in enumerate(kind):
        if _fold(field.name) == spelling:
            return place
    return None


def arrange_fields(array: pa.Array, requested: pa.DataType, path: str = "") -> pa.Array:
    """Convert an array with a type from ``narrow_type`` into the requested type.

    Fields get the requested names and order, and other fields are dropped. The array
    must not have an offset. Raises ``ValueError`` if a value is null but its requested
    field is not nullable.
    """
    if pa.types.is_struct(requested):
        valid = is_valid(array)
        children = []
        for field in requested:
            full = f"{path}.{field.name}" if path else field.name
            child = array.field(find_field(array.type, field.name))
            _check_nulls(child, field, valid, full)
            children.append(arrange_fields(child, field.type, full))
    elif pa.types.is_list(requested):
        element = requested.value_field
        _check_nulls(
            array.values, element, None, f"an element of {path or 'the result'}"
        )
        children = [arrange_fields(array.values, element.type, path)]
    else:
        return array
    own_buffers = 1 if pa.types.is_struct(requested) else 2
    return pa.Array.from_buffers(
        requested,
        len(array),
        array.buffers()[:own_buffers],
        array.null_count,
        children=children,
    )


def _check_nulls(
    child: pa.Array, field: pa.Field, parents: np.ndarray | None, path: str
) -> None:
    if field.nullable or not child.null_count:
        return
    missing = ~is_valid(child)
    if parents is not None:
        missing &= parents
    if missing.any():
        raise ValueError(
            f"schema: {path} is NOT NULL, but kwire decoded a null; declare it nullable"
        )


def _fitting_types(source: pa.DataType) -> list[pa.DataType]:
    if pa.types.is_timestamp(source):
        return [source, pa.int64()]
    return _WIDER.get(source, [source])


def _fold(name: str) -> str:
    return name.replace("_", "").lower()
