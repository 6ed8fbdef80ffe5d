# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The path in an error: the fields and elements that lead to the bad bytes.

The walk keeps it as a list of names and indexes, outermost first.
Twin: ``fast/path.pxd``. Differs from its twin in: the list needs no noting.
"""

from __future__ import annotations


def format_path(path: list[str | int]) -> str:
    """Format a path: ``topics[3].name``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
