# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Records as columns: numpy arrays, and Arrow arrays without a copy.

``decode_records`` takes what ``records.decode_batches`` takes and makes no object for
a record; ``encode_batch`` goes the other way. numpy is imported when an array is
read; Arrow consumers call ``__arrow_c_array__``, which requires pyarrow in plain
Python only. Otherwise neither is required.
"""

from __future__ import annotations

from itertools import accumulate
from struct import Struct, unpack_from
from struct import error as struct_error

from .._engine.active import record_engine as engine
from .._limits import DEFAULT, PIECE_BYTES, Limits
from .._text import suggest_names
from ..errors import EncodeError
from .batches import decode_batches
from .batches import encode_batch as encode_rows
from .options import BatchOptions, make_compressor, make_header, make_read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Literal, TypeAlias, Unpack

    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from .._engine.record_types import (
        BatchArguments,
        BytesRows,
        HeaderLists,
        NumberRows,
        TableRows,
    )
    from .batches import AbortedTransaction, TransactionFilter

    Unit: TypeAlias = Literal["s", "ms", "us", "ns"]

__all__ = [
    "BytesColumn",
    "HeadersColumn",
    "Records",
    "decode_records",
    "encode_batch",
    "iter_records",
]


class BytesColumn:
    """Bytes or text of all records, one after the other.

    The bytes of row i are ``data[offsets[i]:offsets[i + 1]]``; ``data`` is uint8,
    ``offsets`` int32 with one more than there are rows. ``validity`` is a bool for
    each row, False for null. Indexing gives bytes, or None for null.

    A column of views (``decode_records(views=True)``) has no ``data`` and ``offsets``:
    its bytes are where they were. Index it, or pass it to a library that takes Arrow.
    """

    __slots__ = ("_array",)

    def __init__(self, array: engine.Array) -> None:
        self._array = array

    @property
    def offsets(self) -> NDArray[Any]:
        """Where each row begins and the last one ends, in bytes."""
        _refuse_views(self._array, "offsets")
        return _numbers(self._array, "int32", len(self) + 1)

    @property
    def data(self) -> NDArray[Any]:
        """The bytes of all rows, and of a slice those of the other rows too."""
        _refuse_views(self._array, "data")
        return _view(self._array.buffers[2], "uint8")

    @property
    def validity(self) -> NDArray[Any]:
        """True for each row that is not null."""
        return _validity(self._array)

    @property
    def null_count(self) -> int:
        """How many rows are null."""
        return self._array.null_count

    def __len__(self) -> int:
        return self._array.length

    def __getitem__(self, row: int) -> bytes | None:
        row = range(len(self))[row] + self._array.offset
        validity = self._array.buffers[0]
        if validity is not None:
            with memoryview(validity) as bits:
                if not bits[row >> 3] >> (row & 7) & 1:
                    return None
        if self._array.format == _VIEWS:
            return _read_view(self._array.buffers, row)
        start, end = unpack_from("=ii", self._array.buffers[1], 4 * row)
        with memoryview(self._array.buffers[2]) as content:
            return bytes(content[start:end])

    def __arrow_c_schema__(self) -> object:
        """Export the type."""
        return self._array.__arrow_c_schema__()

    def __arrow_c_array__(
        self, requested_schema: object = None
    ) -> tuple[object, object]:
        """Export the column without a copy."""
        return self._array.__arrow_c_array__(requested_schema)


class HeadersColumn:
    """The headers of all records.

    Those of record i are rows ``offsets[i]`` to ``offsets[i + 1]`` of ``key`` (text)
    and ``value``. A record without headers has none of these; no row is null.
    """

    __slots__ = ("_array", "key", "value")

    def __init__(self, array: engine.Array) -> None:
        self._array = array
        pair = array.children[0]
        self.key = BytesColumn(pair.children[0])
        self.value = BytesColumn(pair.children[1])

    @property
    def offsets(self) -> NDArray[Any]:
        """The index of each record's first header, and the end of the last."""
        return _numbers(self._array, "int32", len(self) + 1)

    def __len__(self) -> int:
        return self._array.length

    def __arrow_c_schema__(self) -> object:
        """Export the type: a list of structs of key and value."""
        return self._array.__arrow_c_schema__()

    def __arrow_c_array__(
        self, requested_schema: object = None
    ) -> tuple[object, object]:
        """Export the column without a copy."""
        return self._array.__arrow_c_array__(requested_schema)


_VIEWS = "vz"
_LONGEST_INLINE = 12
_TYPES = {"l": "int64", "i": "int32", "s": "int16", "c": "int8"}


class Records:
    """The records of many batches as columns of the same length.

    ``offset`` and ``timestamp`` (ms, unless asked for otherwise) are numpy int64,
    ``timestamp_type`` int32 (0 create time, 1 log append time, -1 none); ``key`` and
    ``value`` are ``BytesColumn``; ``headers`` is a ``HeadersColumn``, None if they were
    not asked for. With batch columns, ``batch_position``, ``base_offset``, ``magic``,
    ``attributes``, ``partition_leader_epoch``, ``producer_id``, ``producer_epoch`` and
    ``base_sequence`` are those of each record's batch. ``end_position`` is the byte
    after the last complete batch, ``next_offset`` the offset after it, where a consumer
    goes on whatever the records are; None without a complete batch. The arrays are
    views and cannot be written.

    Records that were decoded with ``views`` hold the input, or the decompressed bytes,
    as long as a column of them lives: a ``bytearray`` cannot be resized meanwhile, and
    what is written to it is seen in the columns.

    A slice (``records[10:20]``) has some of the records, over the same memory: nothing
    is copied, and the memory lives as long as the slice. Bounds are those of Python's
    slices, without a step.
    """

    __slots__ = ("_array", "_children", "end_position", "next_offset")

    def __init__(
        self, array: engine.Array, end_position: int = 0, next_offset: int | None = None
    ) -> None:
        self._array = array
        self._children = {child.name: child for child in array.children}
        self.end_position = end_position
        self.next_offset = next_offset

    @property
    def offset(self) -> NDArray[Any]:
        """The offset of each record."""
        return self._numbers("offset")

    @property
    def timestamp(self) -> NDArray[Any]:
        """The timestamp of each record, -1 for none. In Arrow, it is null then."""
        return self._numbers("timestamp")

    @property
    def timestamp_type(self) -> NDArray[Any]:
        """Who set the timestamp of each record."""
        return self._numbers("timestamp_type")

    @property
    def key(self) -> BytesColumn:
        """The keys."""
        return BytesColumn(self._children["key"])

    @property
    def value(self) -> BytesColumn:
        """The values."""
        return BytesColumn(self._children["value"])

    @property
    def headers(self) -> HeadersColumn | None:
        """The headers, if they were asked for."""
        found = self._children.get("headers")
        return None if found is None else HeadersColumn(found)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(self._children)

    def __getattr__(self, name: str) -> NDArray[Any]:
        # The columns of the batch, where they were asked for.
        if name.startswith("_") or name not in self._children:
            from .._text.foreign_names import ATTRIBUTES
            from .._text.name_advice import find_advice

            advice = find_advice(ATTRIBUTES["Records"], name)
            advice = advice or suggest_names(name, self.names)
            raise AttributeError(f"these records have no column {name!r}{advice}")
        return self._numbers(name)

    def __len__(self) -> int:
        return self._array.length

    def __getitem__(self, rows: slice) -> Records:
        """Slice the records, without a copy.

        ``TypeError`` for what is no slice, ``ValueError`` for a step other than 1.
        """
        if not isinstance(rows, slice):
            raise TypeError(
                "records must be indexed by a slice, such as records[10:20] (got"
                f" {type(rows).__name__}); the columns have single values:"
                " records.offset[10], records.key[10]"
            )
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ValueError(
                f"a slice of records has no step (got {step}); take the rows from the"
                " columns, or from an Arrow table"
            )
        count = max(0, stop - start)
        children = (_slice(child, start, count) for child in self._array.children)
        whole = self._array
        array = type(whole)(
            whole.format,
            whole.name,
            count,
            0,
            whole.buffers,
            tuple(children),
            whole.nullable,
            whole.metadata,
        )
        return Records(array, self.end_position, self.next_offset)

    def __repr__(self) -> str:
        return f"Records(<{len(self)}>, columns={', '.join(self.names)})"

    def __arrow_c_schema__(self) -> object:
        """Export the type: a struct with a field for each column."""
        return self._array.__arrow_c_schema__()

    def __arrow_c_array__(
        self, requested_schema: object = None
    ) -> tuple[object, object]:
        """Export the columns as one struct array, without a copy."""
        return self._array.__arrow_c_array__(requested_schema)

    def _numbers(self, name: str) -> NDArray[Any]:
        found = self._children[name]
        kind = _TYPES.get(found.format, "int64")
        return _numbers(found, kind, len(self))


def decode_records(
    data: Buffer,
    *,
    position: int = 0,
    end: int | None = None,
    headers: bool = True,
    batch_columns: bool = False,
    timestamp_unit: Unit = "ms",
    views: bool = False,
    aborted_transactions: Iterable[AbortedTransaction]
    | TransactionFilter
    | None = None,
    start_offset: int | None = None,
    end_offset: int | None = None,
    errors: Literal["strict", "replace"] = "strict",
    check_crc: bool = True,
    limits: Limits = DEFAULT,
) -> Records:
    """Decode a record set of any magic and compression into columns.

    Takes what ``records.decode_batches`` takes, all batches in one call; control
    batches are always left out. ``headers`` and ``batch_columns`` choose columns,
    ``timestamp_unit`` is "s", "ms", "us" or "ns". In Arrow, the timestamp of a record
    without one is null, and so is one that the unit cannot carry. Records from
    ``end_offset`` on are left out.
    ``views`` makes key and value columns of Arrow's type binary_view: bytes that are
    not compressed stay where they are in ``data``, which the columns hold, and others
    in the decompressed batch. Up to 12 bytes are copied, and so are headers.
    Cost: linear in the bytes, without an object for each record; other threads run.
    Raises ``DecodeError`` as ``decode_batches`` does; ``LimitExceeded`` if keys or
    values are over 2 GiB, unless they are views, and if the batches together pass
    ``total_decompressed_bytes`` of ``limits``: ``iter_records`` decodes these.
    """
    options = make_read_options(
        errors=errors,
        check_crc=check_crc,
        limits=limits,
        start_offset=start_offset,
        end_offset=end_offset,
        aborted_transactions=aborted_transactions,
    )
    check_unit(timestamp_unit)
    return Records(
        *engine.decode_columns(
            data, options, position, end, headers, batch_columns, timestamp_unit, views
        )
    )


def iter_records(
    data: Buffer,
    *,
    piece_bytes: int = PIECE_BYTES,
    position: int = 0,
    end: int | None = None,
    headers: bool = True,
    batch_columns: bool = False,
    timestamp_unit: Unit = "ms",
    views: bool = False,
    aborted_transactions: Iterable[AbortedTransaction]
    | TransactionFilter
    | None = None,
    start_offset: int | None = None,
    end_offset: int | None = None,
    errors: Literal["strict", "replace"] = "strict",
    check_crc: bool = True,
    limits: Limits = DEFAULT,
) -> Iterator[Records]:
    """Decode a record set piece by piece into columns.

    A piece ends after the batch with which it reaches ``piece_bytes``, counted after
    decompression, so that the memory does not depend on the number of batches.
    ``limits`` apply to each piece. The other arguments are those of ``decode_records``.
    Raises ``DecodeError`` as ``decode_batches`` does, when its piece is reached.
    """
    options = make_read_options(
        errors=errors,
        check_crc=check_crc,
        limits=limits,
        start_offset=start_offset,
        end_offset=end_offset,
        aborted_transactions=aborted_transactions,
        piece_bytes=piece_bytes,
    )
    check_unit(timestamp_unit)
    end = memoryview(data).nbytes if end is None else end
    start = -1
    while start < position < end:
        start = position
        records = Records(
            *engine.decode_columns(
                data,
                options,
                start,
                end,
                headers,
                batch_columns,
                timestamp_unit,
                views,
            )
        )
        position = records.end_position
        if len(records):
            yield records
        # Release the columns of this piece before the next piece is decoded.
        del records


def check_unit(unit: str) -> None:
    """Refuse a unit of time that Arrow does not have."""
    if unit not in ("s", "ms", "us", "ns"):
        raise ValueError(f"timestamp_unit must be s, ms, us or ns (got {unit!r:.40})")


def encode_batch(columns: Any, **options: Unpack[BatchArguments]) -> bytes:
    """Encode columns as one batch; the options are those of ``records.encode_batch``.

    ``columns`` is what ``decode_records`` gives (timestamps in ms), or a table of any
    kind that has ``__arrow_c_array__`` and pyarrow reads: columns key and value, and
    offset, timestamp and headers where there are such. ``base_offset`` is the first
    offset, or 0. Magic 0 and 1 make an object for each record, magic 2 none.
    Raises ``EncodeError`` with the row in its path, or with the column if its Arrow
    data is invalid or cannot be cast, and ``TypeError`` for an object that is not a
    table with keys and values.
    """
    count, offsets, timestamps, key, value, headers = _split_columns(columns)
    if options.get("base_offset") is None:
        options["base_offset"] = _first_number(offsets) if count and offsets else 0
    chosen = BatchOptions(**options)
    header = make_header(chosen, count)
    inputs = (count, offsets, timestamps, key, value, headers)
    if chosen.magic == 2:
        return engine.encode_columns(*inputs, header, make_compressor(chosen))
    plain = make_header(chosen._replace(magic=2, compression="none"), count)
    batch = engine.encode_columns(*inputs, plain, None)
    rows = [record for each in decode_batches(batch) for record in each.records]
    return encode_rows(rows, **options)


def _split_columns(columns: Any) -> TableRows:
    """Split columns into the buffers that the engine reads, and their first rows."""
    if isinstance(columns, Records):
        found = columns._children
        headers = found.get("headers")
        lists: HeaderLists | None = None
        if found["timestamp"].format != "tsm:UTC":
            raise TypeError("a batch has timestamps in ms; decode them with that unit")
        if headers is not None:
            pair = headers.children[0]
            key, value = map(_bytes_rows, pair.children)
            lists = (headers.buffers[1], headers.offset, pair.length, key, value)
        return (
            len(columns),
            _number_rows(found["offset"]),
            _number_rows(found["timestamp"]),
            _bytes_rows(found["key"]),
            _bytes_rows(found["value"]),
            lists,
        )
    from .tables import split_table

    return split_table(columns)


def _number_rows(array: engine.Array) -> NumberRows:
    validity, numbers = array.buffers
    return validity, numbers, array.offset


def _bytes_rows(array: engine.Array) -> BytesRows:
    if array.format == _VIEWS:
        return _copy_views(array)
    validity, offsets, content = array.buffers
    return validity, offsets, content, array.offset


def _copy_views(array: engine.Array) -> BytesRows:
    """Copy what the rows of a column of views have, one after the other."""
    column = BytesColumn(array)
    rows = [b""] * array.offset + [column[row] or b"" for row in range(len(column))]
    ends = Struct(f"={len(rows) + 1}i")
    try:
        offsets = ends.pack(*accumulate(map(len, rows), initial=0))
    except struct_error:
        raise EncodeError(
            f"the column has more than 2 GiB ({sum(map(len, rows))} bytes); encode"
            " slices of it",
            array.name,
        ) from None
    return array.buffers[0], offsets, b"".join(rows), array.offset


def _read_view(buffers: tuple[Any, ...], row: int) -> bytes:
    """Read the bytes of a view, which has up to 12 of them itself."""
    size, _, number, start = unpack_from("=iiii", buffers[1], 16 * row)
    memory = buffers[1]
    if size > _LONGEST_INLINE:
        memory = buffers[2 + number]
    else:
        start = 16 * row + 4
    with memoryview(memory) as content:
        return bytes(content[start : start + size])


def _refuse_views(array: engine.Array, name: str) -> None:
    if array.format == _VIEWS:
        raise AttributeError(
            f"a column of views has no {name}: take rows by their index, pass the"
            " column to pyarrow, or decode without views"
        )


def _first_number(column: NumberRows) -> int:
    _, data, start = column
    assert data is not None  # as there are rows
    return int(unpack_from("=q", data, 8 * start)[0])


def _slice(array: engine.Array, start: int, count: int) -> engine.Array:
    """Make an array of some of the rows of a column, over the same memory."""
    # pyarrow refuses views that begin after the end of no rows.
    start = start + array.offset if count else 0
    return type(array)(
        array.format,
        array.name,
        count,
        _count_nulls(array, start, count),
        array.buffers,
        array.children,
        array.nullable,
        array.metadata,
        start,
    )


def _count_nulls(array: engine.Array, start: int, count: int) -> int:
    validity = array.buffers[0]
    if validity is None or not array.null_count:
        return 0
    with memoryview(validity) as view:
        bits = int.from_bytes(view[start >> 3 : (start + count + 7) >> 3], "little")
    return count - (bits >> (start & 7) & (1 << count) - 1).bit_count()


def _numbers(array: engine.Array, kind: str, count: int) -> NDArray[Any]:
    """View the numbers of a column from its first row on."""
    return _view(array.buffers[1], kind)[array.offset : array.offset + count]


def _view(memory: Buffer, kind: str) -> NDArray[Any]:
    array = load_numpy().frombuffer(memory, kind)
    array.flags.writeable = False
    return array


def _validity(array: engine.Array) -> NDArray[Any]:
    numpy = load_numpy()
    if array.buffers[0] is None:
        return numpy.ones(array.length, bool)
    bits = numpy.frombuffer(array.buffers[0], "uint8")[array.offset >> 3 :]
    start = array.offset & 7
    found = numpy.unpackbits(bits, count=start + array.length, bitorder="little")
    return found[start:].astype(bool)


def load_numpy() -> Any:
    """Import numpy, which the arrays need."""
    try:
        import numpy
    except ImportError:
        raise ImportError(
            "the arrays of kwire.records.columns require numpy:"
            " pip install kwire[numpy]"
        ) from None
    return numpy
