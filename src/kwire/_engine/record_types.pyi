# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
#
# Types of records, for type checkers alone: no module of this name is imported when
# kwire runs. The engines are below record_classes.py, which has them make the classes
# of records and headers, and take and return these types all the same.

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias, TypedDict

from typing_extensions import Buffer

class Record:
    """One record: absolute offset, timestamp (ms), key, value and headers."""

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
    """The header of one entry of a record set."""

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
    """What names an aborted transaction: a struct of a Fetch response, say."""

    @property
    def producer_id(self) -> int: ...
    @property
    def first_offset(self) -> int: ...

class BatchFilter(Protocol):
    """What decides which transactional and control batches are read."""

    def observe(self, header: BatchHeader, records: Sequence[Record]) -> bool: ...

Headers: TypeAlias = Sequence[tuple[str, Buffer | None]]
RecordLike: TypeAlias = (
    Record
    | tuple[Buffer | None, Buffer | None]
    | tuple[Buffer | None, Buffer | None, int | None]
    | tuple[Buffer | None, Buffer | None, int | None, Headers]
)

class RecordLikes(Protocol):
    """A sequence of records that can be counted and iterated several times."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[RecordLike]: ...

class BatchArguments(TypedDict, total=False):
    """The options of ``records.encode_batch``."""

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

# The bytes of a batch's records, before and after compression.
Compress: TypeAlias = Callable[[bytes], bytes]
# Codec, payload, magic, position of the batch.
Decompress: TypeAlias = Callable[[int, memoryview, int, int, int], Buffer]

# Columns as Arrow has them: validity, then offsets, then data, and the first row.
NumberRows: TypeAlias = tuple[Buffer | None, Buffer | None, int]
BytesRows: TypeAlias = tuple[Buffer | None, Buffer | None, Buffer | None, int]
# Offsets of the lists, the first row, the number of pairs, their keys and values.
HeaderLists: TypeAlias = tuple[Buffer | None, int, int, BytesRows, BytesRows]
# The number of rows, then offset, timestamp, key, value and headers.
TableRows: TypeAlias = tuple[
    int,
    NumberRows | None,
    NumberRows | None,
    BytesRows,
    BytesRows,
    HeaderLists | None,
]
