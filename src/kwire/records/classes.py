# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The classes that ``batches.py`` returns: ``Record``, ``BatchHeader``, ``Batch``.

Like messages, records and headers are frozen structs implemented by the active engine,
and are compared by class and value. ``batches.py`` decodes them.
"""

from __future__ import annotations

from .._engine.active import record_engine as engine
from ..schema.batch_layout import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
)
from . import compression as codecs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .._engine.record_types import AbortedTransaction as AbortedTransaction
    from .._engine.record_types import BatchHeader as BatchHeader
    from .._engine.record_types import Record as Record
    from ..messages.control_records import ControlRecord


_LARGEST_SEQUENCE = 2**31 - 1
_ABORT = b"\0\0"
"""Record type in the key of an abort marker."""


def _compression(self: BatchHeader) -> str:
    """Compression codec: "none", "gzip", "snappy", "lz4" or "zstd"."""
    name: str = codecs.NAMES[self.attributes & CODEC_MASK]
    return name


def _timestamp_type(self: BatchHeader) -> int:
    """Timestamp type: 0 CreateTime (producer), 1 LogAppendTime (log), -1 in magic 0."""
    if self.magic == 0:
        return -1
    return 1 if self.attributes & LOG_APPEND_TIME else 0


def _is_transactional(self: BatchHeader) -> bool:
    """Whether the batch belongs to a transaction."""
    return self.magic == 2 and bool(self.attributes & TRANSACTIONAL)


def _is_control(self: BatchHeader) -> bool:
    """Whether the batch contains control records, which are not for applications."""
    return self.magic == 2 and bool(self.attributes & CONTROL)


def _delete_horizon(self: BatchHeader) -> int | None:
    """Time (ms) when the cleaner may remove the tombstones; None if not set."""
    if self.magic == 2 and self.attributes & DELETE_HORIZON:
        return self.base_timestamp
    return None


def _next_offset(self: BatchHeader) -> int:
    """Offset after the batch, where the next fetch must start."""
    return self.last_offset + 1


def _last_sequence(self: BatchHeader) -> int:
    """Sequence number of the last record, which wraps at 2^31; -1 without sequence."""
    if self.base_sequence < 0:
        return -1
    following = self.base_sequence + self.last_offset - self.base_offset
    return following & _LARGEST_SEQUENCE


_DERIVED = {
    "compression": property(_compression),
    "timestamp_type": property(_timestamp_type),
    "is_transactional": property(_is_transactional),
    "is_control": property(_is_control),
    "delete_horizon": property(_delete_horizon),
    "next_offset": property(_next_offset),
    "last_sequence": property(_last_sequence),
}


def _reduce(self: Record | BatchHeader) -> tuple[object, ...]:
    values = {name: getattr(self, name) for name in self.__match_args__}
    return _restore, (type(self).__name__, values)


def _restore(name: str, values: dict[str, object]) -> Record | BatchHeader:
    made: Record | BatchHeader = globals()[name](**values)
    return made


if not TYPE_CHECKING:
    Record = engine.make_struct(
        "Record",
        "Record",
        ("offset", "timestamp", "key", "value", "headers"),
        (0, -1, None, None, ()),
        (False, False, False, False, True),
        {
            "__module__": __package__,
            "__reduce__": _reduce,
            "__doc__": "One record: absolute offset, timestamp (ms), key, value, "
            "and headers as a tuple of (str, bytes or None) pairs. Frozen.",
        },
        False,
    )
    BatchHeader = engine.make_struct(
        "BatchHeader",
        "BatchHeader",
        (
            "position",
            "size",
            "magic",
            "attributes",
            "crc",
            "base_offset",
            "last_offset",
            "base_timestamp",
            "max_timestamp",
            "producer_id",
            "producer_epoch",
            "base_sequence",
            "partition_leader_epoch",
            "record_count",
        ),
        (0, 0, 2, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, 0),
        (False,) * 14,
        {
            "__module__": __package__,
            "__reduce__": _reduce,
            "__doc__": "The header of one entry of a record set: a batch of magic 2, a "
            "message of magic 0 or 1, or a run of those. ``position`` and ``size`` in "
            "bytes, timestamps in ms; -1 where the format has no such field. "
            "``record_count`` is -1 for a compressed message. Frozen.",
            **_DERIVED,
        },
        False,
    )
    engine.bind_record(Record)
    engine.bind_rows(Record)
    engine.bind_batch_header(BatchHeader)


class Batch:
    """One batch with its records.

    ``header`` is its ``BatchHeader``. All header attributes are also available on the
    batch. ``records`` is a tuple. Consecutive uncompressed messages in magic 0 and 1
    form one batch.
    """

    __slots__ = ("_header", "_records")

    def __init__(self, header: BatchHeader, records: tuple[Record, ...]) -> None:
        self._header = header
        self._records = records

    @property
    def header(self) -> BatchHeader:
        """Decoded header of the batch."""
        return self._header

    @property
    def records(self) -> tuple[Record, ...]:
        """Decoded records of the batch that belong to the requested offsets."""
        return self._records

    @property
    def control_records(self) -> tuple[ControlRecord, ...]:
        """Decoded records of a control batch; empty for other batches.

        Raises ``DecodeError`` with the offset in the key or value, and
        ``UnsupportedVersion`` if kwire does not support the message's version.
        """
        if not self._header.is_control:
            return ()
        from ..messages.control_records import decode_control_record

        return tuple(
            decode_control_record(record.key, record.value) for record in self._records
        )

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __repr__(self) -> str:
        return f"Batch(header={self._header!r}, records=<{len(self._records)}>)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        return (self._header, self._records) == (other._header, other._records)

    def __hash__(self) -> int:
        return hash((self._header, self._records))


def _passed_on(name: str) -> property:
    def get(self: Batch) -> object:
        return getattr(self._header, name)

    return property(get, doc=f"The header's ``{name}``.")


for _name in (*BatchHeader.__match_args__, *_DERIVED):
    setattr(Batch, _name, _passed_on(_name))


class TransactionFilter:
    """Detects batches that a reader with isolation level read_committed must omit.

    The constructor accepts the aborted transactions from a Fetch response. Call
    ``observe`` for each transactional batch and each control batch, in log order.
    Source: ``CompletedFetch`` (KIP-98).
    """

    __slots__ = ("_aborted", "_coming")

    def __init__(self, aborted_transactions: Iterable[AbortedTransaction]) -> None:
        self._coming = sorted(
            [(each.first_offset, each.producer_id) for each in aborted_transactions],
            reverse=True,
        )
        self._aborted: set[int] = set()

    def observe(self, header: BatchHeader, records: Sequence[Record]) -> bool:
        """Process the next batch, and return whether it is aborted or a control batch.

        ``records`` is required only for control batches, because an abort marker ends a
        transaction. For other batches it is ignored.
        """
        while self._coming and self._coming[-1][0] <= header.last_offset:
            self._aborted.add(self._coming.pop()[1])
        attributes = header.attributes if header.magic == 2 else 0
        if attributes & CONTROL:
            key = records[0].key if records else None
            if key is not None and key[2:4] == _ABORT:
                self._aborted.discard(header.producer_id)
            return True
        if not attributes & TRANSACTIONAL:
            return False
        return header.producer_id in self._aborted
