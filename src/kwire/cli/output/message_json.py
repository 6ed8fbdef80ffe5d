# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats messages as JSON, including their records and unknown tagged fields.

``kwire.to_json`` omits records fields and unknown tagged fields. This module adds the
batches, with the same field names as ``kwire dump``, and a list ``unknownTaggedFields``
if there are any.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from ...errors import DecodeError
from ...messages.json_form import to_json
from ...records import decode_batches
from ...schema.model import snake_case
from .byte_formats import make_cell
from .record_rows import RowMaker

if TYPE_CHECKING:
    from ...records import Batch
    from .byte_formats import Cell

_INDENT = 2
_UNALIGNED = "unaligned_records"
_BATCH = (
    "base_offset",
    "last_offset",
    "magic",
    "compression",
    "timestamp_type",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "partition_leader_epoch",
    "is_transactional",
    "is_control",
    "crc",
)


class MessageJson:
    """Converts messages to JSON objects, and collects errors in embedded batches."""

    def __init__(self) -> None:
        self.errors: list[DecodeError] = []
        self._maker = RowMaker("text", False)

    def message(self, message: Any, version: int) -> dict[str, Any]:
        """Convert a message to a JSON object, with its record batches."""
        form = to_json(message, version)
        self._complete(message, form)
        return form

    def batch(self, batch: Batch) -> dict[str, Any]:
        """Convert a record batch to a JSON object, with its records."""
        form = {name: getattr(batch, name) for name in _BATCH}
        return form | {
            "records": [self._record(batch, record) for record in batch.records]
        }

    def _complete(self, struct: Any, form: dict[str, Any]) -> None:
        """Recursively add records and unknown tagged fields to a struct's JSON form."""
        for key, value in form.items():
            name = snake_case(key)
            field = getattr(struct, name)
            if isinstance(value, dict):
                self._complete(field, value)
            elif isinstance(value, list):
                for inner, element in zip(field, value, strict=True):
                    if isinstance(element, dict):
                        self._complete(inner, element)
            elif value == "" and field:
                # An empty string for a non-empty field can only be a records field.
                form[key] = self._records(field, name)
        unknown = struct.unknown_tagged_fields
        if unknown:
            form["unknownTaggedFields"] = [
                {"tag": tag, "data": base64.b64encode(data).decode()}
                for tag, data in unknown
            ]

    def _records(self, data: bytes, name: str) -> Any:
        if name == _UNALIGNED:
            return base64.b64encode(data).decode()
        batches = []
        try:
            for batch in decode_batches(data):
                batches.append(self.batch(batch))
        except DecodeError as error:
            self.errors.append(error)
            batches.append({"error": str(error)})
        return batches

    def _record(self, batch: Batch, record: Any) -> dict[str, Any]:
        row = self._maker.row("", -1, batch, record)
        form = {"offset": record.offset, "timestamp": record.timestamp}
        form |= _cell("key", row.key) | _cell("value", row.value)
        if record.headers:
            form["headers"] = [
                {"key": name, **_cell("value", make_cell(content, "text"))}
                for name, content in record.headers
            ]
        return form


def _cell(name: str, cell: Cell) -> dict[str, Any]:
    suffix = "" if cell.encoding in ("", "text") else f"_{cell.encoding}"
    return {f"{name}{suffix}": cell.content}


def indent_json(value: Any, width: int, indent: int = 0, used: int = 0) -> str:
    """Format JSON with a maximum line width. Values that fit are written on one line.

    ``used`` columns precede the value on its first line. Other lines are indented by
    ``indent`` columns.
    """
    if not isinstance(value, (dict, list)) or not value:
        return _line(value)
    inner = indent + _INDENT
    heads = [f"{_line(key)}: " for key in value] if isinstance(value, dict) else None
    elements = list(value.values()) if isinstance(value, dict) else value
    parts = [
        (head := heads[index] if heads else "")
        + indent_json(element, width, inner, inner + len(head) + 1)
        for index, element in enumerate(elements)
    ]
    first, last = "{}" if heads else "[]"
    size = used + 2 + sum(map(len, parts)) + 2 * (len(parts) - 1)
    if size <= width and not any("\n" in part for part in parts):
        return f"{first}{', '.join(parts)}{last}"
    space = " " * inner
    if heads or any(isinstance(element, (dict, list)) for element in elements):
        lines = f",\n{space}".join(parts)
    else:
        lines = _fill_lines(parts, space, width)
    return f"{first}\n{space}{lines}\n{' ' * indent}{last}"


def _fill_lines(parts: list[str], space: str, width: int) -> str:
    """Join JSON scalars with commas, in lines of at most ``width`` columns.

    All lines except the first begin with ``space``.
    """
    lines = [parts[0]]
    for part in parts[1:]:
        if len(space) + len(lines[-1]) + len(part) + 3 <= width:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    return f",\n{space}".join(lines)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
