# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Records as columns: numpy arrays, and Arrow arrays without a copy.

``decode_records`` accepts the same input as ``records.decode_batches`` but does not
create an object per record. ``encode_batch`` is the inverse operation. numpy is
imported when an array is accessed. Arrow libraries call ``__arrow_c_array__``, which
requires pyarrow only with the Python engine. Everything else works without numpy and
pyarrow.
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
    """Bytes or strings of all records, stored contiguously.

    Row i has the bytes ``data[offsets[i]:offsets[i + 1]]``. ``data`` is uint8, and
    ``offsets`` is int32 with one element more than the column has rows. ``validity`` is
    a bool for every row, False for null. Indexing returns bytes, or None for null.

    A column with views (``decode_records(views=True)``) has no ``data`` and
    ``offsets``, because its bytes are not copied. Index it, or pass it to an Arrow
    library.
    """

    __slots__ = ("_array",)

    def __init__(self, array: engine.Array) -> None:
        self._array = array

    @property
    def offsets(self) -> NDArray[Any]:
        """Start of every row and end of the last row, in bytes."""
        _refuse_views(self._array, "offsets")
        return _numbers(self._array, "int32", len(self) + 1)

    @property
    def data(self) -> NDArray[Any]:
        """Bytes of all rows. For a slice, this includes bytes outside the slice."""
        _refuse_views(self._array, "data")
        return _view(self._array.buffers[2], "uint8")

    @property
    def validity(self) -> NDArray[Any]:
        """True for every row that is not null."""
        return _validity(self._array)

    @property
    def null_count(self) -> int:
        """Number of null rows."""
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
    """Headers of all records.

    Record i has the rows ``offsets[i]`` to ``offsets[i + 1]`` (exclusive) in ``key``
    (strings) and ``value``. This range is empty for a record without headers; no row is
    null.
    """

    __slots__ = ("_array", "key", "value")

    def __init__(self, array: engine.Array) -> None:
        self._array = array
        pair = array.children[0]
        self.key = BytesColumn(pair.children[0])
        self.value = BytesColumn(pair.children[1])

    @property
    def offsets(self) -> NDArray[Any]:
        """Index of the first header of every record, and the end of the last record."""
        return _numbers(self._array, "int32", len(self) + 1)

    def __len__(self) -> int:
        return self._array.length

    def __arrow_c_schema__(self) -> object:
        """Export the Arrow type of the column: a list of structs with key and value."""
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
    """Records from several batches as columns of equal length.

    * ``offset``, ``timestamp``: numpy int64; timestamps in ms by default.
    * ``timestamp_type``: numpy int32 (0 CreateTime, 1 LogAppendTime, -1 none).
    * ``key``, ``value``: ``BytesColumn``.
    * ``headers``: ``HeadersColumn``, or None if headers were not requested.
    * ``batch_position``, ``base_offset``, ``magic``, ``attributes``,
      ``partition_leader_epoch``, ``producer_id``, ``producer_epoch``,
      ``base_sequence``: values of the batch that contains the record, if batch columns
      were requested.
    * ``end_position``: byte position after the last complete batch.
    * ``next_offset``: offset after the last complete batch, where a consumer continues
      regardless of the records; None without a complete batch.

    The arrays are read-only views. If records were decoded with ``views``, their
    columns keep the input or the decompressed bytes alive. An input ``bytearray`` then
    cannot be resized, and changes to its bytes are visible in the columns.

    A slice (``records[10:20]``) contains some of the records and shares their memory:
    it copies nothing, and keeps the memory alive. Bounds follow the rules for Python
    slices; a step is not supported.
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
        """Offset of every record."""
        return self._numbers("offset")

    @property
    def timestamp(self) -> NDArray[Any]:
        """Timestamp per record, or -1 for none. Arrow columns have null instead."""
        return self._numbers("timestamp")

    @property
    def timestamp_type(self) -> NDArray[Any]:
        """Timestamp type per record: 0 CreateTime, 1 LogAppendTime, -1 none."""
        return self._numbers("timestamp_type")

    @property
    def key(self) -> BytesColumn:
        """Keys of all records."""
        return BytesColumn(self._children["key"])

    @property
    def value(self) -> BytesColumn:
        """Values of all records."""
        return BytesColumn(self._children["value"])

    @property
    def headers(self) -> HeadersColumn | None:
        """Headers of all records, or None if headers were not requested."""
        found = self._children.get("headers")
        return None if found is None else HeadersColumn(found)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(self._children)

    def __getattr__(self, name: str) -> NDArray[Any]:
        # Columns with batch values, if they were requested.
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
        """Slice the records without a copy.

        Raises ``TypeError`` if ``rows`` is not a slice, and ``ValueError`` for a step
        other than 1.
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
        """Export the Arrow type of the records: a struct with one field per column."""
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
    """Decode a record set in any magic and compression into columns.

    * ``headers``, ``batch_columns``: include the optional columns.
    * ``timestamp_unit``: "s", "ms", "us" or "ns". Arrow timestamps are null if the
      record has none, or if the unit cannot represent the value.
    * ``views``: return keys and values as the Arrow type binary_view. Uncompressed
      bytes then remain in ``data``, which the columns keep alive. Compressed records
      reference the decompressed batch. Values up to 12 bytes, and headers, are still
      copied.
    * ``end_offset``: omit records with this offset or a higher one.

    All other arguments are described in ``records.decode_batches``. All batches are
    decoded in one call, and control batches are always omitted. Time is linear in the
    number of bytes, no object is created per record, and other threads can run.

    Raises ``DecodeError`` as ``decode_batches`` does. Raises ``LimitExceeded`` if
    headers exceed 2 GiB, if keys or values exceed 2 GiB without ``views``, or if the
    batches together exceed ``total_decompressed_bytes`` in ``limits``. Use
    ``iter_records`` for such input.
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

    A piece ends with the batch that reaches ``piece_bytes`` (default 16 MiB), counted
    after decompression, so that memory usage does not depend on the number of batches.
    Every record of a compressed batch counts as at least 64 bytes. ``limits`` apply to
    every piece. All other arguments are described in ``decode_records``.

    Raises ``DecodeError`` as ``decode_batches`` does, when the invalid piece is
    reached.
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
    """Raise ``ValueError`` if Arrow does not support the time unit."""
    if unit not in ("s", "ms", "us", "ns"):
        raise ValueError(f"timestamp_unit must be s, ms, us or ns (got {unit!r:.40})")


def encode_batch(columns: Any, **options: Unpack[BatchArguments]) -> bytes:
    """Encode columns as one batch. Options are described in ``records.encode_batch``.

    ``columns`` is a result of ``decode_records`` (with timestamps in ms), or a table
    that has ``__arrow_c_array__`` and that pyarrow can import. It contains the columns
    key and value, and optionally offset, timestamp and headers. ``base_offset``
    defaults to the first offset, or 0. Magic 2 creates no object per record, but magic
    0 and 1 do.

    Raises ``EncodeError`` with the row in its path, or with the column if its Arrow
    data is invalid or cannot be cast. Raises ``TypeError`` if the object is not a table
    with keys and values.
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
    """Split columns into the buffers that the engine reads, and their start indexes."""
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
    """Copy the rows of a column with views into contiguous memory."""
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
    """Read the bytes of a view. Up to 12 bytes are stored in the view itself."""
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
    # ``count`` was checked, so the column has at least one row.
    assert data is not None
    return int(unpack_from("=q", data, 8 * start)[0])


def _slice(array: engine.Array, start: int, count: int) -> engine.Array:
    """Return an array with ``count`` rows of a column, over the same memory."""
    # pyarrow rejects an empty array whose offset is beyond its end.
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
    """Return a column's numbers as a numpy view, without preceding rows."""
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
    """Import numpy, which provides the arrays. Raises ``ImportError`` with advice."""
    try:
        import numpy
    except ImportError:
        raise ImportError(
            "the arrays of kwire.records.columns require numpy:"
            " pip install kwire[numpy]"
        ) from None
    return numpy
