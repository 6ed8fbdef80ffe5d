# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What an export reports: problems of files, and offsets that no replica holds.

Every pass makes these, ``outcome`` turns them into rows of ``problems`` and ``lost``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    PartitionKey: TypeAlias = tuple[str, int]
    """Topic and partition."""


class FileProblem(NamedTuple):
    """Something wrong with a file, and the offsets ``low`` to ``high`` that it cost.

    A ``low`` of -1 means that it cost no offset, a ``high`` below ``low`` that their
    number is unknown.
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
