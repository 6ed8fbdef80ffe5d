# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Determines whether a message is a delete, according to its stored magic.

This module only contains the rule. ``messages.py`` reads and writes bytes, and
``stages.py`` describes how brokers process messages in every stage.

| stored as                | a delete is                      |
|--------------------------|----------------------------------|
| magic 0 or 1             | a null value, whatever the bits  |
| the draft's magic 2      | the tombstone bit, and it alone  |
| Kafka's magic 2          | a null value with a key          |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .messages import TOMBSTONE_BIT

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from .messages import Dialect


def is_tombstone(
    magic: int,
    attributes: int,
    value: Buffer | None,
    *,
    dialect: Dialect = "kip87",
    tombstone_bit: int = TOMBSTONE_BIT,
    key: Buffer | None = b"",
) -> bool:
    """Return whether log compaction treats a record as a delete.

    * ``attributes``: attribute byte of the message.
    * ``key``: only relevant for Kafka's magic 2, whose log cleaner ignores records
      without a key.

    Raises ``ValueError`` if the dialect or magic is unknown, or the tombstone bit is
    not available.
    Source: KIP-87, and ``LogCleaner`` for Kafka's magic 2.
    """
    check_bit(tombstone_bit)
    if magic not in (0, 1, 2):
        raise ValueError(f"magic must be 0, 1 or 2 (got {magic!r:.40})")
    if dialect not in ("kip87", "kafka"):
        raise ValueError(f'dialect must be "kip87" or "kafka" (got {dialect!r:.40})')
    if magic < 2:
        return value is None
    if dialect == "kafka":
        return value is None and key is not None
    return bool(attributes & tombstone_bit)


def check_bit(tombstone_bit: int) -> None:
    """Validate a tombstone bit. Only four attribute bits are available.

    Raises ``ValueError`` for all other values.
    """
    if tombstone_bit not in (0x10, 0x20, 0x40, 0x80):
        raise ValueError(
            "tombstone_bit must be 0x10, 0x20, 0x40 or 0x80, as the others are in use"
            f" (got {tombstone_bit!r:.40})"
        )
