# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Constraint``: versions that a message requires because of its content.

For example, a record batch with zstd requires Produce 7, and a topic without a known id
excludes Fetch 13. Only the caller knows the content, so the caller passes constraints
to ``pick``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .facts import as_range, facts, find_api_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.versions import VersionRange
    from .facts import Range


class Constraint:
    """Versions that fit a purpose. APIs that are not listed can have any version.

    ``ranges`` maps APIs (request classes or keys) to a ``VersionRange``, a (min, max)
    pair, or a string such as "7+".
    """

    __slots__ = ("name", "ranges")

    def __init__(
        self, name: str, ranges: Mapping[int, Range] | Mapping[type, Range]
    ) -> None:
        self.name = name
        self.ranges: dict[int, VersionRange] = {
            find_api_key(key): as_range(value) for key, value in ranges.items()
        }

    def __repr__(self) -> str:
        ranges = {key: str(value) for key, value in self.ranges.items()}
        return f"Constraint({self.name!r}, {ranges})"


_constraints = {name: Constraint(name, ranges) for name, ranges in facts("constraint")}

ZSTD = _constraints["zstd"]
"""Records are compressed with zstd, or may be received in this form (KIP-110)."""

MAGIC_2 = _constraints["magic-2"]
"""Records have magic 2: headers, idempotence, transactions (KIP-98, KIP-82)."""

MAGIC_1 = _constraints["magic-1"]
"""Records are magic 1 messages, with timestamps but without headers (KIP-32)."""

MAGIC_0 = _constraints["magic-0"]
"""Records are magic 0 messages, without timestamps and headers."""

OFFSETS_BY_TIME = _constraints["offsets-by-time"]
"""The request looks up the first offset at or after a timestamp (KIP-79)."""

TRANSACTIONS = _constraints["transactions"]
"""The producer is transactional and looks up its coordinator (KIP-98)."""

TOPIC_DEFAULTS = _constraints["topic-defaults"]
"""A new topic uses the brokers' default partition or replica count (KIP-464)."""

GROUP_PATTERNS = _constraints["group-patterns"]
"""A group member subscribes with a pattern, which the broker evaluates."""

NO_TOPIC_IDS = _constraints["no-topic-ids"]
"""The request identifies a topic by name, because its id is unknown (KIP-516)."""

TRANSACTION_PROTOCOL_1 = _constraints["transaction-protocol-1"]
"""The producer uses the first transaction protocol (before KIP-890)."""

CONTROLLERS = _constraints["controllers"]
"""The response must contain the controllers instead of the brokers (KIP-919)."""

CLIENT = _constraints["client"]
"""The sender is a client. Newer versions of AddPartitionsToTxn are for brokers only."""

FETCHED_EPOCH = _constraints["fetched-epoch"]
"""Fetch contains the last fetched epoch, which detects log truncation (KIP-595)."""

FETCH_SESSION = _constraints["fetch-session"]
"""The broker stores the partitions of a Fetch for later requests (KIP-227)."""

EPOCH_END = _constraints["epoch-end"]
"""A client may request the end offset of a leader epoch (KIP-320)."""
