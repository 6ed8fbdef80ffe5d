# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Escapes text for HTML and SVG. Only templates contain elements.

Names can contain arbitrary external bytes. In visible text, characters that control a
terminal, end a line or change the writing direction are shown as escapes. In
attributes, programs receive the unmodified value.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from . import escape_line

__all__ = ["Markup", "attribute_text", "make_text"]


def make_text(value: Any) -> Markup:
    """Format a value as text and escape invisible characters. Markup is not changed."""
    return value if isinstance(value, Markup) else escape(escape_line(str(value)))


def attribute_text(value: Any) -> Markup:
    """Format an attribute value for programs. Invisible characters are not escaped.

    HTML cannot represent U+0000, which is replaced by U+FFFD, and lone surrogates,
    which are replaced by backslash escapes.
    """
    text = str(value).encode("utf-8", "backslashreplace").decode()
    escaped = str(escape(text.replace("\0", "\ufffd")))
    # Write carriage returns as character references, because browsers would otherwise
    # convert them to line feeds.
    return Markup(escaped.replace("\r", "&#13;"))
