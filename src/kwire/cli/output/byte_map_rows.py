# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats byte map spans as text or as JSON rows."""

from __future__ import annotations

import base64
import math
import uuid
from typing import TYPE_CHECKING, Any

from ..._text import escape_line, format_count, format_time
from .byte_formats import make_cell

if TYPE_CHECKING:
    from ...explain import Span

_LONGEST = 200
"""Maximum number of characters or bytes to display per value."""

_MEANS = {"tag": "tag {}", "bytes": "{} bytes", "size": "{} bytes"}


def value_text(span: Span) -> str:
    """Format a span's value on one line, with its meaning."""
    if span.kind in ("damaged", "unread"):
        return escape_line(str(span.meaning or ""))
    if span.kind == "cut":
        return f"{span.size} bytes of an incomplete batch"
    if span.kind == "compressed":
        return str(span.meaning)
    if span.value is None:
        return "null"
    if span.kind == "structure":
        return _structure_text(span)
    text = _plain_text(span)
    if span.kind == "timestamp":
        moment = format_time(span.meaning) if isinstance(span.meaning, int) else "-"
        if moment == "-":
            return text
        # A timestamp delta is printed as a number first, any other timestamp as a time.
        is_delta = span.meaning != span.value
        return f"{text} ({moment})" if is_delta else f"{moment} ({text})"
    return f"{text} ({escape_line(str(span.meaning))})" if span.meaning else text


def _structure_text(span: Span) -> str:
    value: Any = span.value
    if span.type.endswith("ARRAY"):
        return format_count(value, "element")
    if span.meaning in ("present", "null"):
        return str(span.meaning)
    return _MEANS.get(str(span.meaning), "{}").format(value)


def _plain_text(span: Span) -> str:
    value: Any = span.value
    if span.kind == "bool":
        return "true" if value else "false"
    if span.kind == "text":
        return _quote(value)
    if span.kind in ("bytes", "unknown"):
        cell = make_cell(value[:_LONGEST], "text")
        if cell.encoding == "text" and value:
            return _quote(cell.content, len(value))
        return format_count(len(value), "byte")
    if span.kind == "uuid":
        return _uuid_text(value)
    if span.kind == "checksum":
        return f"0x{value:08x}"
    return str(value)


def _quote(text: str, size: int = 0) -> str:
    more = "…" if max(len(text), size) > _LONGEST else ""
    return f'"{escape_line(text[:_LONGEST])}"{more}'


def _uuid_text(value: uuid.UUID) -> str:
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")


def make_row(span: Span, data: bytes) -> dict[str, Any]:
    """Create the JSON row for a span: its bytes in hex, and its value.

    Bytes are encoded as base64. Infinity and NaN become strings, because JSON numbers
    do not support them.
    """
    value: Any = span.value
    if isinstance(value, bytes):
        value = base64.b64encode(value).decode()
    elif isinstance(value, uuid.UUID):
        value = _uuid_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        value = str(value)
    return {
        "position": span.position,
        "size": span.size,
        "bytes": data[span.position : span.end].hex(),
        "part": span.part,
        "path": span.path,
        "type": span.type,
        "value": value,
        "kind": span.kind,
        "meaning": span.meaning,
        "prefix": span.prefix,
    }
