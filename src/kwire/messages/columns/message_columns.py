# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes messages in any version into one struct column.

``arrow_messages`` decodes rows with one version. This module converts them to Spark's
types, and joins rows with different versions. ``message_reading.py`` decodes the data
before every message. This module does not import Spark: input and output are pyarrow
arrays.
"""

from __future__ import annotations

from binascii import b2a_base64
from typing import Any

import numpy as np
import pyarrow as pa

from ... import messages
from ...errors import version_failure
from ...schema import plan, registry
from .. import arrow_messages
from .array_rows import is_valid, join_rows, take_rows
from .message_types import compile_version, message_type

_UUID_SIZE, _UUID_TEXT = 16, 22
# Translates the standard base64 alphabet to the URL-safe alphabet, which Kafka prints.
_URL_SAFE = bytes.maketrans(b"+/", b"-_")


def decode_versions(
    bodies: pa.BinaryArray,
    name: str,
    versions: np.ndarray,
    kind: pa.StructType | None = None,
) -> tuple[pa.Array, dict[int, str]]:
    """Decode message bodies with several versions into ``message_type(name)``.

    * ``versions``: a number per row. An unsupported version is an error of its row.
    * ``kind``: the requested part of the type, as returned by
      ``chosen_fields.narrow_type``. Default: the complete type.

    Returns the structs, which are null if the body is null or invalid, and the error
    messages by row.
    """
    kind = message_type(name) if kind is None else kind
    valid = registry.find(name).valid_versions
    errors: dict[int, str] = {}
    parts = []
    for version in np.unique(versions).tolist():
        rows = np.flatnonzero(versions == version)
        if version not in valid:
            text = str(version_failure(name, valid, version))
            errors |= dict.fromkeys(
                rows[is_valid(take_rows(bodies, rows))].tolist(), text
            )
            continue
        array, texts = decode_version(take_rows(bodies, rows), name, version, kind)
        errors |= {int(rows[row]): text for row, text in texts.items()}
        parts.append((rows, array))
    return join_rows(parts, len(bodies), kind), errors


def decode_version(
    bodies: pa.BinaryArray, name: str, version: int, kind: pa.StructType
) -> tuple[pa.Array, dict[int, str]]:
    """Decode message bodies with one supported version, like ``decode_versions``."""
    made = arrow_messages.messages_to_arrow(
        bodies, getattr(messages, name), version, on_error="null"
    )
    texts = made.field(made.type.num_fields - 1)
    errors = {}
    if texts.null_count < len(texts):
        bad = np.flatnonzero(is_valid(texts))
        errors = {row: texts[row].as_py() for row in bad.tolist()}
    return _struct(made, compile_version(name, version), kind), errors


def _struct(array: pa.Array, layout: plan.Plan, kind: pa.StructType) -> pa.Array:
    """Convert a struct of one version to the struct for all versions."""
    steps = {step.slot: step for step in layout.steps}
    children = []
    for field in kind:
        slot = array.type.get_field_index(field.name)
        children.append(_field(array.field(slot), steps[slot], field.type))
    return pa.Array.from_buffers(
        kind, len(array), array.buffers()[:1], array.null_count, children=children
    )


def _field(array: pa.Array, step: plan.Step, kind: pa.DataType) -> pa.Array:
    if step.place not in (plan.PRESENT, plan.TAGGED):
        return pa.nulls(len(array), kind)
    if not step.is_array:
        return _value(array, step, kind)
    values = _value(array.values, step, kind.value_type)
    return pa.Array.from_buffers(
        kind, len(array), array.buffers()[:2], array.null_count, children=[values]
    )


def _value(array: pa.Array, step: plan.Step, kind: pa.DataType) -> pa.Array:
    if step.plan is not None:
        return _struct(array, step.plan, kind)
    if step.code == plan.UUID:
        return uuid_text(array)
    return array if array.type == kind else array.cast(kind)


def uuid_text(array: pa.Array) -> pa.StringArray:
    """Format uuids (16 bytes each) as the 22 characters that Kafka prints.

    The array must not have an offset.
    """
    count = len(array)
    validity, data = array.buffers()
    padded: Any = np.zeros((count, _UUID_SIZE + 2), np.uint8)
    if count:
        raw = np.frombuffer(data, np.uint8, count * _UUID_SIZE)
        padded[:, :_UUID_SIZE] = raw.reshape(count, _UUID_SIZE)
    # 18 bytes are exactly 24 characters, without base64 padding. Therefore all rows can
    # be encoded in one call, and the last two characters of every row are removed.
    text = b2a_base64(padded, newline=False).translate(_URL_SAFE)
    rows = np.frombuffer(text, np.uint8).reshape(count, 24)[:, :_UUID_TEXT]
    ends: np.ndarray = np.arange(count + 1, dtype=np.int32) * _UUID_TEXT
    buffers = [validity, pa.py_buffer(ends), pa.py_buffer(rows.tobytes())]
    return pa.Array.from_buffers(pa.string(), count, buffers, array.null_count)
