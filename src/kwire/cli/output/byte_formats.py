# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Formats keys and values as text, and parses the ``--key`` argument.

A ``Cell`` specifies its encoding, so that text that looks like base64 is never mistaken
for bytes. The encodings are "text", "base64", "hex", "json" (a decoded message),
"control" (a control record type) and "" for null.
"""

from __future__ import annotations

import base64
import binascii
import re
from json import dumps
from typing import Any, NamedTuple

from ..._text import escape_line

BYTE_FORMATS = ("text", "base64", "hex")

_MARKS = ("text:", "base64:", "hex:", "control:", "<null>")

_CONTROL_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Cell(NamedTuple):
    """Printable form of a key, value or header value.

    * ``encoding``: one of the encodings that the module docstring lists.
    * ``content``: text, or the JSON value if the encoding is "json". None for null.
    """

    encoding: str
    content: Any


NULL = Cell("", None)


def make_cell(data: bytes | None, byte_format: str) -> Cell:
    """Create a cell from bytes. The format "text" uses base64 for unprintable bytes."""
    if data is None:
        return NULL
    if byte_format == "hex":
        return Cell("hex", data.hex())
    if byte_format == "text":
        try:
            text = data.decode()
        except UnicodeDecodeError:
            pass
        else:
            if _CONTROL_CHARACTER.search(text) is None:
                return Cell("text", text)
    return Cell("base64", base64.b64encode(data).decode())


def read_bytes(text: str) -> bytes:
    """Parse bytes from text, or from hex or base64 with a prefix ("hex:", "base64:").

    The prefix "text:" escapes text that begins with another prefix. Raises
    ``ValueError`` if the content is not valid hex or base64.
    """
    form, colon, content = text.partition(":")
    try:
        if colon and form == "hex":
            return bytes.fromhex(content)
        if colon and form == "base64":
            return base64.b64decode(content, validate=True)
    except (ValueError, binascii.Error):
        raise ValueError(
            f"the text after {form}: is not valid {form} (got {content!r})"
        ) from None
    return (content if colon and form == "text" else text).encode(
        errors="surrogateescape"
    )


def format_cell(cell: Cell) -> str:
    """Format a cell as one line, with control characters escaped."""
    if cell.encoding == "text":
        # Text that looks like another encoding gets the prefix "text:".
        marked = cell.content.startswith(_MARKS)
        return escape_line(f"text:{cell.content}" if marked else cell.content)
    if cell.encoding == "json":
        name, content = cell.content["name"], compact_json(cell.content["data"])
        return escape_line(f"{name} {content}")
    return f"{cell.encoding}:{cell.content}" if cell.encoding else "<null>"


def compact_json(value: object) -> str:
    """Format JSON on one line. Characters outside ASCII are not escaped."""
    return dumps(value, ensure_ascii=False, separators=(",", ":"))
