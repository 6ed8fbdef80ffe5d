# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Escapes text of HTML and SVG; elements are written by the templates alone.

Names come from other people's bytes. A person sees what steers a terminal, ends a line
or turns the writing round as an escape; a machine that reads an attribute gets the
value as it is.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup, escape

from . import escape_line

__all__ = ["Markup", "attribute_text", "make_text"]


def make_text(value: Any) -> Markup:
    """Write anything as text, with escapes for what is not seen; Markup stays."""
    return value if isinstance(value, Markup) else escape(escape_line(str(value)))


def attribute_text(value: Any) -> Markup:
    """Write a value for a machine to read in an attribute, as it is.

    HTML cannot hold U+0000, which becomes U+FFFD, nor half a surrogate pair.
    """
    text = str(value).encode("utf-8", "backslashreplace").decode()
    escaped = str(escape(text.replace("\0", "\ufffd")))
    # A browser reads a carriage return as the end of a line, which is another sign.
    return Markup(escaped.replace("\r", "&#13;"))
