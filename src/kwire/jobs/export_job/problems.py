# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Problems with segment files, and lost offset ranges.

All passes of an export create these objects. ``outcome`` converts them to rows of the
tables ``problems`` and ``lost``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    PartitionKey: TypeAlias = tuple[str, int]
    """Topic name and partition number."""


class FileProblem(NamedTuple):
    """Problem with a segment file, and the offset range that it may affect.

    * ``position``: byte position of the problem in the file.
    * ``length``: size of the affected region in bytes.
    * ``low``: first affected offset, or -1 if no offsets are affected.
    * ``high``: last affected offset. If it is less than ``low``, the number of affected
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
    """Range of offsets that no replica contains.

    * ``first_offset``, ``last_offset``: both offsets belong to the range.
    * ``reason``: "damaged", "cut" or "missing" (see ``Evidence.explain``), or
      "undecodable". Merged ranges have several reasons, joined by ", ".
    * ``detail``: sentence that names the cause, for users.
    """

    first_offset: int
    last_offset: int
    reason: str
    detail: str
