# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the aborted and the open transactions in a log.

Both the control batches in the log and the ``.txnindex`` files are used, because a
marker may be in a damaged region, and an index file may be missing. Therefore a reader
sees the same records as a consumer with ``isolation.level=read_committed``.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DecodeError, UnsupportedVersion
from ..records import Batch
from ..records.batches import read_records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Buffer

    from ..records import BatchHeader

ABORT, COMMIT = 0, 1
"""Control record types that end a transaction.

* ``ABORT``: the transaction was aborted.
* ``COMMIT``: the transaction was committed.
"""

READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"


class AbortedTransaction(NamedTuple):
    """Aborted transaction of a producer.

    ``last_offset`` is the offset of its ABORT marker.
    """

    producer_id: int
    first_offset: int
    last_offset: int


class Transactions:
    """Transactions whose records ``read_committed`` readers must not see.

    * ``aborted``: aborted transactions, sorted by their marker offset.
    * ``open``: first offsets of transactions without an end marker, by producer id.
    * ``last_stable_offset``: batches at or after this offset are not stable yet. None
      if all batches are stable.
    """

    __slots__ = ("_by_producer", "aborted", "last_stable_offset", "open")

    aborted: tuple[AbortedTransaction, ...]
    open: dict[int, int]
    last_stable_offset: int | None

    def __init__(
        self, aborted: Iterable[AbortedTransaction], open: dict[int, int]
    ) -> None:
        unique = sorted(
            set(aborted), key=lambda transaction: (transaction.last_offset, transaction)
        )
        self.aborted = tuple(unique)
        self.open = open
        self.last_stable_offset = min(open.values()) if open else None
        self._by_producer: dict[int, list[tuple[int, int]]] = {}
        for transaction in sorted(unique):
            spans = self._by_producer.setdefault(transaction.producer_id, [])
            spans.append((transaction.first_offset, transaction.last_offset))

    def hides(self, header: BatchHeader) -> bool:
        """Whether batch records are hidden from ``read_committed`` readers."""
        if header.is_control:
            return True
        if not header.is_transactional:
            return False
        spans = self._by_producer.get(header.producer_id)
        if not spans:
            return False
        index = bisect_right(spans, (header.base_offset, 2**63))
        # The index and the markers may list the same transaction with different first
        # offsets, so two ranges can overlap. Check both candidates.
        return any(
            first <= header.base_offset <= last
            for first, last in spans[max(0, index - 2) : index]
        )

    def is_stable(self, header: BatchHeader) -> bool:
        """Whether the batch precedes the first transaction without an end marker."""
        stable = self.last_stable_offset
        return stable is None or header.base_offset < stable


def gather_transactions(
    segments: Iterable[
        tuple[Iterable[tuple[BatchHeader, Any]], list[AbortedTransaction]]
    ],
) -> Transactions:
    """Combine transactions from multiple segments. See ``find_transactions``.

    For all segments, ``segments`` contains the headers with their data, and the
    transaction index entries.
    """
    aborted: list[AbortedTransaction] = []
    ongoing: dict[int, int] = {}
    for headers, index_entries in segments:
        for header, data in headers:
            if not header.is_transactional:
                continue
            if not header.is_control:
                ongoing.setdefault(header.producer_id, header.base_offset)
                continue
            marker_type = read_marker(data, header)
            if marker_type not in (ABORT, COMMIT):
                continue
            first = ongoing.pop(header.producer_id, None)
            if marker_type == ABORT and first is not None:
                aborted.append(
                    AbortedTransaction(header.producer_id, first, header.base_offset)
                )
        for entry in index_entries:
            aborted.append(entry)
            first = ongoing.get(entry.producer_id)
            if first is not None and first <= entry.last_offset:
                del ongoing[entry.producer_id]
    return Transactions(aborted, ongoing)


def read_marker(data: Buffer, header: BatchHeader) -> int | None:
    """Return the control record type of a control batch, or None if it is invalid."""
    try:
        control_records = Batch(header, read_records(data, header)).control_records
    except (DecodeError, UnsupportedVersion):
        return None
    return control_records[0].type if control_records else None


def check_isolation_level(name: str) -> bool:
    """Return whether only committed records are requested.

    Raises ``ValueError`` if the isolation level is unknown.
    """
    if name not in (READ_UNCOMMITTED, READ_COMMITTED):
        raise ValueError(
            f'isolation_level must be "read_uncommitted" or "read_committed"'
            f" (got {name!r})"
        )
    return name == READ_COMMITTED
