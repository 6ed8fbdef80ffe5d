# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""KIP-87, the draft: a bit of the message marks a tombstone, not a null value.

``messages`` has the draft's magic 2 and its bytes, ``compaction`` the rule of who
decides about deletes, ``conversion`` the way to older messages and back, ``stages``
the plans to bring it to a running cluster, as tables that run. Kafka took up record
headers (KIP-82) in its place, and gave the number of the magic to record batches.
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
