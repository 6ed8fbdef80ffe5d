# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Constraint``: the versions that one message requires, by what is in it.

A batch compressed with zstd needs Produce 7, a topic without a known id forbids Fetch
13. Which is the case only the caller can know, so the caller passes them to ``pick``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .facts import as_range, facts, find_api_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.versions import VersionRange
    from .facts import Range


class Constraint:
    """The versions of some APIs that fit a purpose; other APIs are free.

    ``ranges`` maps APIs (a request class or the key) to a ``VersionRange``, a pair of
    both ends, or a text such as "7+".
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


_known = {name: Constraint(name, ranges) for name, ranges in facts("constraint")}

ZSTD = _known["zstd"]
"""Records are compressed with zstd, or may come so (KIP-110)."""

MAGIC_2 = _known["magic-2"]
"""Records are of magic 2: headers, idempotence, transactions (KIP-98, KIP-82)."""

MAGIC_1 = _known["magic-1"]
"""Records are messages of magic 1, with timestamps and without headers (KIP-32)."""

MAGIC_0 = _known["magic-0"]
"""Records are messages of magic 0, without timestamps and headers."""

OFFSETS_BY_TIME = _known["offsets-by-time"]
"""The offset of the first record at or after a time is looked up (KIP-79)."""

TRANSACTIONS = _known["transactions"]
"""The producer is transactional, and its coordinator is looked up (KIP-98)."""

TOPIC_DEFAULTS = _known["topic-defaults"]
"""A new topic has the default partitions or replicas of the brokers (KIP-464)."""

GROUP_PATTERNS = _known["group-patterns"]
"""A group member subscribes to topics by a pattern, which the broker matches."""

NO_TOPIC_IDS = _known["no-topic-ids"]
"""The id of a topic in the request is not known, only its name (KIP-516)."""

TRANSACTION_PROTOCOL_1 = _known["transaction-protocol-1"]
"""The producer runs transactions by the first protocol (before KIP-890)."""

CONTROLLERS = _known["controllers"]
"""The answer is to name the controllers in place of brokers (KIP-919)."""

CLIENT = _known["client"]
"""The sender is a client: of AddPartitionsToTxn the newer versions are brokers'."""

FETCHED_EPOCH = _known["fetched-epoch"]
"""Fetch carries the epoch of the last record read, to find cut logs (KIP-595)."""

FETCH_SESSION = _known["fetch-session"]
"""The broker remembers the partitions of a Fetch for those after it (KIP-227)."""

EPOCH_END = _known["epoch-end"]
"""A client may request where the records of a leader epoch end (KIP-320)."""
