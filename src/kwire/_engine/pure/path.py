# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Error path: the fields and array elements that lead to the invalid bytes.

While the functions read or write, they keep the path as a list of names and indexes,
outermost first.

Twin: ``fast/path.pxd``. Differs from its twin in: the list is always current, so there
are no functions that record the path after an error.
"""

from __future__ import annotations


def format_path(path: list[str | int]) -> str:
    """Format a path, for example as ``topics[3].name``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
