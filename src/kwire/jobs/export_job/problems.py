# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Problems of files, and offsets that no replica holds.

All passes create them; ``outcome`` converts them to rows of ``problems`` and ``lost``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    PartitionKey: TypeAlias = tuple[str, int]
    """Topic and partition."""


class FileProblem(NamedTuple):
    """A problem of a file, and the offsets ``low`` to ``high`` that it cost.

    If ``low`` is -1, it cost no offset. If ``high`` is below ``low``, the number of
    offsets is unknown.
    """

    path: str
    position: int
    length: int
    reason: str
    detail: str
    low: int = -1
    high: int = -1


class LostRange(NamedTuple):
    """Offsets that no replica holds."""

    first_offset: int
    last_offset: int
    reason: str
    detail: str
