# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# Types of records and batches. Only type checkers read this file, because there is no
# module with this name at run time. The engines accept and return objects of these
# types, but cannot import the classes: records/classes.py creates the classes of
# records and batch headers with a function of the engine.

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypedDict

from typing_extensions import Buffer

class Record:
    """Record with its absolute offset, timestamp (ms), key, value and headers."""

    __match_args__ = ("offset", "timestamp", "key", "value", "headers")

    def __init__(
        self,
        *,
        offset: int = 0,
        timestamp: int = -1,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Iterable[tuple[str, bytes | None]] = (),
    ) -> None: ...
    @property
    def offset(self) -> int: ...
    @property
    def timestamp(self) -> int: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def value(self) -> bytes | None: ...
    @property
    def headers(self) -> tuple[tuple[str, bytes | None], ...]: ...
    def replace(self, **changes: Any) -> Record: ...
    def to_dict(self) -> dict[str, Any]: ...

class BatchHeader:
    """Header of one entry in a record set, which is a batch or a message."""

    __match_args__: tuple[str, ...]

    def __init__(self, **fields: int) -> None: ...
    @property
    def position(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def magic(self) -> int: ...
    @property
    def attributes(self) -> int: ...
    @property
    def crc(self) -> int: ...
    @property
    def base_offset(self) -> int: ...
    @property
    def last_offset(self) -> int: ...
    @property
    def base_timestamp(self) -> int: ...
    @property
    def max_timestamp(self) -> int: ...
    @property
    def producer_id(self) -> int: ...
    @property
    def producer_epoch(self) -> int: ...
    @property
    def base_sequence(self) -> int: ...
    @property
    def partition_leader_epoch(self) -> int: ...
    @property
    def record_count(self) -> int: ...
    @property
    def compression(self) -> str: ...
    @property
    def timestamp_type(self) -> int: ...
    @property
    def is_transactional(self) -> bool: ...
    @property
    def is_control(self) -> bool: ...
    @property
    def delete_horizon(self) -> int | None: ...
    @property
    def next_offset(self) -> int: ...
    @property
    def last_sequence(self) -> int: ...
    def replace(self, **changes: int) -> BatchHeader: ...
    def to_dict(self) -> dict[str, Any]: ...

class AbortedTransaction(Protocol):
    """Producer id and first offset of an aborted transaction.

    For example, the aborted transactions in a Fetch response implement this protocol.
    """

    @property
    def producer_id(self) -> int: ...
    @property
    def first_offset(self) -> int: ...

class BatchFilter(Protocol):
    """Filter that decides which transactional and control batches are read.

    ``observe`` is called with each of these batches in order, and with the records of
    control batches. It returns True to hide the batch.
    """

    def observe(self, header: BatchHeader, records: Sequence[Record]) -> bool: ...

Headers: TypeAlias = Sequence[tuple[str, Buffer | None]]
RecordLike: TypeAlias = (
    Record
    | tuple[Buffer | None, Buffer | None]
    | tuple[Buffer | None, Buffer | None, int | None]
    | tuple[Buffer | None, Buffer | None, int | None, Headers]
)

class RecordLikes(Protocol):
    """Collection of records that has a length and can be iterated repeatedly."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[RecordLike]: ...

class BatchArguments(TypedDict, total=False):
    """Keyword arguments of ``records.encode_batch``."""

    magic: int
    compression: str
    compression_level: int | None
    base_offset: int | None
    last_offset: int | None
    producer_id: int
    producer_epoch: int
    base_sequence: int
    partition_leader_epoch: int
    is_transactional: bool
    is_control: bool
    log_append_time: int | None
    delete_horizon: int | None
    max_timestamp: int | None

# Function that compresses the encoded records of a batch.
Compress: TypeAlias = Callable[[bytes], bytes]
# Function that decompresses an entry. Its parameters are the codec number, the payload,
# the magic, the position of the entry, and the maximum size of the result in bytes.
Decompress: TypeAlias = Callable[[int, memoryview, int, int, int], Buffer]

# Columns with the buffers of Arrow arrays: validity, offsets (only of bytes), data, and
# the number of the first row.
NumberRows: TypeAlias = tuple[Buffer | None, Buffer | None, int]
BytesRows: TypeAlias = tuple[Buffer | None, Buffer | None, Buffer | None, int]
# Header column: list offsets, number of the first row, number of headers, header keys
# and header values.
HeaderLists: TypeAlias = tuple[Buffer | None, int, int, BytesRows, BytesRows]
# Columns of a table: row count, then the columns of offsets, timestamps, keys, values
# and headers.
TableRows: TypeAlias = tuple[
    int,
    NumberRows | None,
    NumberRows | None,
    BytesRows,
    BytesRows,
    HeaderLists | None,
]
