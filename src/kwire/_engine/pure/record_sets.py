# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the batches of a record set to read, and decodes them into objects.

``find_entry`` advances from one entry to the next. Only this function decides, by
offsets, control batches and transactions, which entries are read. The functions here
that return batches and rows call it, and so does ``record_columns.py``, which returns
columns.

Twin: ``fast/record_sets.pyx``. Differs from its twin in: errors are exceptions, and a
header object is created for every entry.

Only in Python: ``read_single_message``, ``has_unwanted``.
"""

from __future__ import annotations

from ... import errors
from ...schema.batch_layout import (
    BATCH_OVERHEAD,
    CODEC_MASK,
    CONTROL,
    LEAST_RECORD,
    TRANSACTIONAL,
)
from .batches import read_batch_header
from .cursor import (
    Cursor,
    CursorFault,
    read_uint8,
    read_unsigned_varint,
    read_unsigned_varlong,
)
from .legacy_records import (
    find_payload,
    read_inner_messages,
    read_message,
    read_message_run,
)
from .record_decoder import make_failure, read_records, zigzag

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing_extensions import Buffer

    from ..record_types import BatchFilter, BatchHeader, Decompress, Record

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1

RECORD_BYTES = 64
"""Minimum size in bytes that is counted for each record in a compressed entry."""

MAX_ATTRIBUTES = 127
"""Maximum record attributes that are encoded as a varint of one byte."""


class ReadOptions:
    """Options for reading a record set as batches, rows or columns.

    * ``decompress(codec, payload, magic, position, remaining)``: function that returns
      the decompressed bytes of an entry. ``remaining`` is their maximum number.
    * ``transactions``: ``TransactionFilter``, or None to read uncommitted records too.
    * ``lowest``, ``highest``: offsets of the first and the last record to return.
    * ``most_records``: maximum number of records in one entry.
    * ``most_bytes``: maximum decompressed size for all compressed entries in one call.
    * ``piece_bytes``: a call for rows or columns ends after the entry with which its
      entries reach this decompressed size.
    * ``check_crc``: verify the checksums of the entries.
    * ``check_records``: reject the records that the function ``check_records`` rejects.
    * ``replace``: replace invalid UTF-8 in header keys by U+FFFD instead of raising.
    """

    __slots__ = (
        "check_crc",
        "check_records",
        "decompress",
        "highest",
        "lowest",
        "most_bytes",
        "most_records",
        "piece_bytes",
        "replace",
        "transactions",
    )

    def __init__(
        self,
        decompress: Decompress,
        transactions: BatchFilter | None = None,
        lowest: int = _LOWEST,
        highest: int = _HIGHEST,
        most_records: int = _HIGHEST,
        check_crc: bool = True,
        replace: bool = False,
        most_bytes: int = _HIGHEST,
        piece_bytes: int = _HIGHEST // 2,
        check_records: bool = False,
    ) -> None:
        self.decompress = decompress
        self.transactions = transactions
        self.lowest = lowest
        self.highest = highest
        self.most_records = most_records
        self.check_crc = check_crc
        self.replace = replace
        self.most_bytes = most_bytes
        self.piece_bytes = piece_bytes
        self.check_records = check_records


class EntryWalk:
    """Iteration over the entries between two positions of the input.

    ``entry`` is the header of the current entry, and the next entry begins at byte
    ``position``. ``is_hidden`` is the result of the transaction filter for the current
    entry.

    With ``keeps_payload``, ``payload`` is the decompressed content of the current
    entry, or None if it is not compressed. With ``with_control``, the walk stops also
    at hidden entries and at control batches.

    ``remaining`` is the part of ``most_bytes`` that is available for further compressed
    entries. The walk ends at the byte ``stop``. Each compressed entry reduces ``stop``
    by its decompressed size.
    """

    __slots__ = (
        "data",
        "end",
        "entry",
        "is_hidden",
        "keeps_payload",
        "last_offset",
        "options",
        "payload",
        "position",
        "remaining",
        "stop",
        "with_control",
    )

    entry: BatchHeader
    payload: Buffer | None

    def __init__(
        self,
        data: Buffer,
        position: int,
        end: int | None,
        options: ReadOptions,
        with_control: bool = False,
    ) -> None:
        with memoryview(data) as view:
            self.end = view.nbytes if end is None else end
        self.data = data
        self.position = position
        self.remaining = options.most_bytes
        self.stop = position + options.piece_bytes
        self.options = options
        self.with_control = with_control
        self.is_hidden = False
        self.keeps_payload = False
        self.payload = None
        self.last_offset: int | None = None

    @property
    def next_offset(self) -> int | None:
        """Offset after the last complete entry, or None if there was none."""
        return None if self.last_offset is None else self.last_offset + 1


def read_batch(
    data: Buffer, position: int, end: int, options: ReadOptions
) -> tuple[BatchHeader, tuple[Record, ...]] | None:
    """Read the first batch from byte ``position`` on that has requested offsets.

    Returns its header and its records, or None if there is no such batch before
    ``end``. With a transaction filter, control batches and aborted batches have no
    records. Adjacent uncompressed magic 0 or 1 messages are returned as one batch.

    Raises ``DecodeError`` in the same cases as ``read_batch_header`` and
    ``read_records``.
    """
    walk = EntryWalk(data, position, end, options, with_control=True)
    if not find_wanted(walk):
        return None
    records = () if walk.is_hidden else read_found(walk, options.replace)
    return walk.entry, records


def decode_records(
    data: Buffer, options: ReadOptions, position: int = 0, end: int | None = None
) -> tuple[list[Record], int, int | None]:
    """Read the records of a record set into one list.

    ``position`` and ``end`` (bytes) specify the part of ``data`` to read. Control
    records are omitted.

    Returns the list, the position after the last complete entry, and the offset after
    that entry, which is None if there is no complete entry.

    Raises ``DecodeError`` in the same cases as ``read_batch_header`` and
    ``read_records``.
    """
    walk = EntryWalk(data, position, end, options)
    rows: list[Record] = []
    while find_wanted(walk):
        rows += read_found(walk, options.replace)
    return rows, walk.position, walk.next_offset


def find_wanted(walk: EntryWalk) -> bool:
    """Advance to the next visible entry with requested offsets.

    Returns False at the end of the input. With ``with_control``, the walk stops also at
    hidden entries and at control batches.
    """
    while find_entry(walk):
        entry, transactions = walk.entry, walk.options.transactions
        if (
            transactions is not None
            and entry.magic == 2
            and entry.attributes & (TRANSACTIONAL | CONTROL)
        ):
            walk.is_hidden = filter_entry(walk, transactions)
            if is_outside(walk) or (walk.is_hidden and not walk.with_control):
                continue
        return True
    return False


def filter_entry(walk: EntryWalk, transactions: BatchFilter) -> bool:
    """Pass a batch to the transaction filter. Returns whether the batch is hidden.

    The filter also receives the records if the batch is a control batch.
    """
    records: tuple[Record, ...] = ()
    if walk.entry.attributes & CONTROL:
        records = read_every(walk, True)
    return transactions.observe(walk.entry, records)


def read_found(
    walk: EntryWalk, replace: bool, by_the_run: bool = True
) -> tuple[Record, ...]:
    """Read the requested records of the current entry.

    The entry is read like in ``read_every``. Records outside of the requested offsets
    are omitted.
    """
    records = read_every(walk, replace, by_the_run)
    if has_unwanted(walk):
        return cut_records(records, walk.options.lowest, walk.options.highest)
    return records


def has_unwanted(walk: EntryWalk) -> bool:
    """Return whether the current entry may contain records that were not requested."""
    entry, options = walk.entry, walk.options
    # The offsets of magic 0 and 1 messages may be in any order.
    return (
        entry.base_offset < options.lowest
        or entry.last_offset > options.highest
        or entry.magic < 2
    )


def read_every(
    walk: EntryWalk, replace: bool, by_the_run: bool = True
) -> tuple[Record, ...]:
    """Read all records of the current entry, or of a run that begins with it.

    A run consists of similar uncompressed magic 0 or 1 messages. After a run, the
    current entry describes the whole run. After a wrapper message, its base offset is
    the offset of the first inner message.
    """
    entry, options, data = walk.entry, walk.options, walk.data
    if entry.record_count > options.most_records:
        raise make_record_limit_failure(entry)
    records: tuple[Record, ...]
    if not entry.attributes & CODEC_MASK:
        if entry.magic == 2:
            records = read_records(data, entry, replace=replace)
            if options.check_records:
                check_records(entry, data, entry.position + BATCH_OVERHEAD)
            return records
        if not by_the_run:
            return (read_single_message(data, entry),)
        records, entry = read_message_run(
            data, entry, check_crc=options.check_crc, end=walk.end
        )
        walk.entry = entry
        walk.position = entry.position + entry.size
        walk.last_offset = entry.last_offset
        return records
    payload = decompress_entry(walk)
    if walk.keeps_payload:
        walk.payload = payload
    if entry.magic == 2:
        charge_entry(walk, payload)
        records = read_records(payload, entry, compressed=True, replace=replace)
        if options.check_records:
            check_records(entry, payload, 0)
        return records
    records = read_inner_messages(payload, entry, check_crc=options.check_crc)
    base_offset, count = records[0].offset, len(records)
    walk.entry = entry = entry.replace(base_offset=base_offset, record_count=count)
    if count > options.most_records:
        raise make_record_limit_failure(entry)
    charge_entry(walk, payload)
    return records


def check_records(entry: BatchHeader, data: Buffer, start: int) -> None:
    """Reject decoded magic 2 records that other clients would read differently.

    * The offsets must ascend, from the base offset to the header's last offset.
    * The attributes must be below 128, because some clients read them as a varint.
    * The timestamp must not exceed 64 bits, because in some clients it does not
      overflow in the same way as in Kafka.

    The error contains the index of the first record that violates a rule.
    """
    last = entry.last_offset - entry.base_offset
    previous = -1
    with memoryview(data) as view, view.cast("B") as source:
        cursor = Cursor(source, start, view.nbytes)
        for index in range(entry.record_count):
            length = zigzag(read_unsigned_varint(cursor))
            following = cursor.at + length
            attributes = read_uint8(cursor)
            timestamp = entry.base_timestamp + zigzag(read_unsigned_varlong(cursor))
            offset = zigzag(read_unsigned_varint(cursor))
            if (
                attributes > MAX_ATTRIBUTES
                or not _LOWEST <= timestamp <= _HIGHEST
                or not previous < offset <= last
            ):
                raise errors.decode_failure(
                    errors.BAD_RECORD, index, entry.position, ""
                )
            previous = offset
            cursor.at = following


def cut_records(
    records: tuple[Record, ...], lowest: int, highest: int
) -> tuple[Record, ...]:
    """Remove the records whose offsets were not requested."""
    if lowest == _LOWEST and highest == _HIGHEST:
        return records
    return tuple(each for each in records if lowest <= each.offset <= highest)


def decompress_entry(walk: EntryWalk) -> Buffer:
    """Return the decompressed content of the current entry."""
    entry = walk.entry
    codec = entry.attributes & CODEC_MASK
    start, end = find_payload(walk.data, entry)
    decompress = walk.options.decompress
    with memoryview(walk.data) as view, view.cast("B")[start:end] as payload:
        return decompress(codec, payload, entry.magic, entry.position, walk.remaining)


def charge_entry(walk: EntryWalk, payload: Buffer) -> None:
    """Count a decompressed entry towards the limits for the call.

    If there cannot be as many records as the header says, nothing is counted, because
    the decoder will reject the entry.
    """
    count = walk.entry.record_count
    with memoryview(payload) as view:
        size = view.nbytes
    if count > size // LEAST_RECORD:
        return
    size = max(size, count * RECORD_BYTES)
    if size > walk.remaining:
        raise make_call_limit_failure(walk)
    walk.remaining -= size
    walk.stop -= size


def make_call_limit_failure(walk: EntryWalk) -> errors.DecodeError:
    """Create the exception for a call whose entries exceed ``most_bytes``."""
    return errors.decode_failure(
        errors.CALL_TOO_LARGE, walk.options.most_bytes, walk.entry.position, ""
    )


def make_record_limit_failure(entry: BatchHeader) -> errors.DecodeError:
    """Create the exception for an entry with more than ``most_records`` records."""
    return errors.decode_failure(
        errors.TOO_MANY_RECORDS, entry.record_count, entry.position, ""
    )


def find_entry(walk: EntryWalk) -> bool:
    """Advance to the next entry to read, or to pass to the transaction filter first.

    The walk ends at the end of the input or at an incomplete last entry.
    """
    options = walk.options
    while walk.position < walk.stop:
        entry = read_batch_header(
            walk.data, walk.position, check_crc=options.check_crc, end=walk.end
        )
        if entry is None:
            return False
        walk.entry = entry
        walk.position += entry.size
        walk.last_offset = entry.last_offset
        walk.is_hidden = False
        if entry.magic == 2:
            if options.transactions is not None and (
                entry.attributes & (TRANSACTIONAL | CONTROL)
            ):
                return True
            if entry.attributes & CONTROL and not walk.with_control:
                continue
        if not is_outside(walk):
            return True
    return False


def is_outside(walk: EntryWalk) -> bool:
    """Return whether the header shows that the entry has no requested offsets."""
    entry, options = walk.entry, walk.options
    # The first offset in a wrapper message (count -1) is unknown, because its header
    # contains only the last offset.
    return bool(
        entry.last_offset < options.lowest
        or (entry.base_offset > options.highest and entry.record_count >= 0)
    )


def read_single_message(data: Buffer, header: BatchHeader) -> Record:
    """Read one uncompressed magic 0 or 1 message."""
    with memoryview(data) as view, view.cast("B") as source:
        cursor = Cursor(source, header.position, header.position + header.size)
        try:
            return read_message(cursor, header)
        except CursorFault as fault:
            failure = make_failure(fault, cursor)
        finally:
            cursor.data = b""
    raise failure
