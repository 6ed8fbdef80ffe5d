# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fills a line template with the values in columns, in one step for all lines."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def escape_literal(data: bytes) -> bytes:
    """Double the percent signs in literal bytes that become part of a template."""
    return data.replace(b"%", b"%%")


def fill_lines(
    template: bytes, columns: Sequence[Iterable[object]], count: int
) -> bytes:
    """Format ``count`` lines. ``template`` contains one ``%b`` or ``%d`` per column."""
    if not columns:
        return (template % ()) * count
    cells = tuple(chain.from_iterable(zip(*columns, strict=True)))
    return (template * count) % cells
