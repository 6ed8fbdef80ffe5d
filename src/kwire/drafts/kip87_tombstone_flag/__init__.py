# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-87 draft: a message bit marks a tombstone, instead of a null value.

* ``messages``: the bytes of the draft's magic 2.
* ``compaction``: the rule that determines deletes.
* ``conversion``: conversion to and from older messages.
* ``stages``: executable tables of the two migration plans for running clusters.

Kafka adopted record headers (KIP-82) instead, and used the same magic number for record
batches.
"""

from __future__ import annotations

from ..documents import Provenance
from .compaction import is_tombstone
from .conversion import TombstoneReport, down_convert, up_convert
from .messages import (
    TOMBSTONE_BIT,
    Message,
    decode,
    dialect_of,
    encode,
    require_dialect,
)
from .stages import STAGES, Outcome, Stage, stage_after

__all__ = [
    "PROVENANCE",
    "STAGES",
    "TOMBSTONE_BIT",
    "Message",
    "Outcome",
    "Stage",
    "TombstoneReport",
    "decode",
    "dialect_of",
    "down_convert",
    "encode",
    "is_tombstone",
    "require_dialect",
    "stage_after",
    "up_convert",
]

PROVENANCE = Provenance(
    87, "tombstone flag for compacted topics", "both migration plans, document 003"
)
