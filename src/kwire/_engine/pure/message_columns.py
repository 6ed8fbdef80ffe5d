# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes a binary array of messages of one class into nested columns.

A struct becomes a struct column, and an array becomes a list column. A field that does
not exist in this version has its default value. Unknown tags are checked and omitted.
All rows are first decoded to objects, then the values of each field are collected from
the objects.

Twin: ``fast/message_columns.pyx``. Differs from its twin in: columns are created from
decoded objects. In ``fast``, a separate walk over the plan creates no objects and runs
without the GIL.

Only in Python: ``iterate_rows``, ``decode_rows``, ``make_struct_column``,
``collect_field``, ``has_none``, ``make_list_column``, ``make_element_column``,
``make_text_column``, ``make_view_column``, ``make_fixed_column``, ``make_offsets``,
``make_validity``, ``pack_bits``.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, chain, repeat
from operator import attrgetter, is_, le

from ... import errors
from ..._limits import DEFAULT, Limits
from ...schema import plan
from ...schema.model import Field, Struct
from .arrays import Array, Memory
from .column_views import ViewSource, make_view_array
from .decoder import decode_part
from .program import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from typing_extensions import Buffer

LARGEST_OFFSET = 2**31 - 1

_FORMATS = {
    # Arrow format and type code of Python's array module.
    plan.INT8: ("c", "b"),
    plan.INT16: ("s", "h"),
    plan.UINT16: ("S", "H"),
    plan.INT32: ("i", "i"),
    plan.UINT32: ("I", "I"),
    plan.INT64: ("l", "q"),
    plan.FLOAT64: ("g", "d"),
}


def decode_messages(
    cls: type,
    version: int,
    validity: Buffer | None,
    offsets: Buffer | None,
    data: Buffer | None,
    start: int,
    count: int,
    is_large: bool,
    keep_errors: bool,
    limits: Limits | None = DEFAULT,
    views: bool = False,
) -> Array:
    """Decode ``count`` messages of one class and version into a struct ``Array``.

    The input is an Arrow binary array, or a large binary array if ``is_large``.

    * ``validity``, ``offsets``, ``data``: the buffers of the array. ``validity`` is
      None if no row is null.
    * ``start``: number of rows to skip at the beginning.
    * ``keep_errors``: do not raise for invalid rows. Instead, append a string column
      ``_error``, and set all other fields of an invalid row to null.
    * ``limits``: as for ``decode``.
    * ``views``: bytes and records fields of more than 12 bytes refer to ``data``, which
      the array keeps alive.

    A null row becomes a null struct.

    Raises the exception from ``decode`` for the first invalid row. Its path begins with
    the row number (for example ``[7].topics``), and its offset is relative to the first
    byte of the row. Raises ``LimitExceeded`` if a column would exceed Arrow's 32-bit
    offsets.
    """
    layout = find_program(cls, version).layout
    check_sizes(
        start,
        count,
        is_large,
        None if validity is None else memoryview(validity).nbytes,
        0 if offsets is None else memoryview(offsets).nbytes,
    )
    texts: list[str | None] | None = [None] * count if keep_errors else None
    null_rows: list[int] = []
    source = ViewSource(b"" if data is None else data, []) if views else None
    with memoryview(b"" if data is None else data) as view:
        rows = iterate_rows(validity, offsets, view, start, count, is_large, views)
        messages = decode_rows(cls, version, rows, limits, null_rows, texts, views)
    missing = has_none(messages)
    try:
        fields = [
            collect_field(field, messages, missing, source)
            for field in layout.struct.fields
        ]
        if texts is not None:
            fields.append(make_text_column("_error", "u", texts, True))
    except OverflowError:
        raise make_column_failure(layout) from None
    root = None
    if null_rows:
        is_null = [False] * count
        for row in null_rows:
            is_null[row] = True
        root = make_validity(is_null)
    return Array("+s", "", count, len(null_rows), (root,), tuple(fields))


def check_sizes(
    start: int,
    count: int,
    is_large: bool,
    validity_size: int | None,
    offsets_size: int,
) -> None:
    """Raise ``ValueError`` if the buffers are too short for the rows."""
    if start < 0 or count < 0:
        raise ValueError(f"start and count must be 0 or more (got {start} and {count})")
    last = start + count
    if validity_size is not None and validity_size < (last + 7) // 8:
        raise ValueError(
            f"validity is too short for {last} rows (got {validity_size} bytes)"
        )
    if count and offsets_size < (last + 1) * (8 if is_large else 4):
        raise ValueError(
            f"offsets are too short for {last} rows (got {offsets_size} bytes)"
        )


def iterate_rows(
    validity: Buffer | None,
    offsets: Buffer | None,
    data: memoryview,
    start: int,
    count: int,
    is_large: bool,
    views: bool,
) -> Iterator[Any]:
    """Yield the rows of a binary array. A null row is None.

    With ``views``, rows are memoryviews instead of copies.
    """
    if not count:
        return
    assert offsets is not None  # checked by check_sizes
    width = 8 if is_large else 4
    ends = array("q" if is_large else "i")
    with memoryview(offsets) as view, view.cast("B") as raw:
        ends.frombytes(raw[start * width : (start + count + 1) * width])
    size = data.nbytes
    if validity is None and _is_ascending(ends, size):
        with data.cast("B") as raw:
            part: bytes | memoryview = raw[ends[0] : ends[-1]]
            if not views:
                part = bytes(part)
        places = [end - ends[0] for end in ends] if ends[0] else ends
        yield from map(part.__getitem__, map(slice, places, places[1:]))
        return
    bits = None if validity is None else bytes(validity)
    with data.cast("B") as raw:
        for row in range(count):
            place = start + row
            if bits is not None and not bits[place >> 3] >> (place & 7) & 1:
                yield None
            elif 0 <= ends[row] <= ends[row + 1] <= size:
                one = raw[ends[row] : ends[row + 1]]
                yield one if views else bytes(one)
            else:
                raise ValueError(f"the offsets of row {row} are not within the data")


def _is_ascending(ends: array[int], size: int) -> bool:
    return ends[0] >= 0 and ends[-1] <= size and all(map(le, ends, ends[1:]))


def decode_rows(
    cls: type,
    version: int,
    rows: Iterator[Any],
    limits: Limits | None,
    null_rows: list[int],
    texts: list[str | None] | None,
    views: bool,
) -> list[Any]:
    """Decode the rows. Null rows and invalid rows become None.

    * ``null_rows``: list to which the numbers of null rows are appended.
    * ``texts``: list in which the error texts of invalid rows are stored by row. If it
      is None, the first invalid row raises its error, whose path contains the row
      number.
    * ``views``: bytes fields are memoryviews of the rows.
    """
    messages: list[Any] = []
    for number, row in enumerate(rows):
        if row is None:
            null_rows.append(number)
            messages.append(None)
            continue
        try:
            # Do not call decode(), because it would search for a hint for each invalid
            # row.
            message, _ = decode_part(cls, row, version, 0, views, False, limits, True)
            messages.append(message)
        except errors.DecodeError as error:
            if texts is None:
                raise type(error)(
                    error.reason,
                    error.offset,
                    f"[{number}]{'.' if error.path else ''}{error.path}",
                    error.message_name,
                    error.version,
                ) from None
            texts[number] = str(error)
            messages.append(None)
    return messages


def make_struct_column(
    name: str,
    struct: Struct,
    values: list[Any],
    has_null: bool,
    source: ViewSource | None,
) -> Array:
    """Create a column of structs. The fields of a null struct are null.

    * ``has_null``: some of the values may be None.
    * ``source``: memory to which the views of bytes fields refer, or None to copy
      bytes.
    """
    is_null = [value is None for value in values] if has_null else []
    nulls = sum(is_null)
    return Array(
        "+s",
        name,
        len(values),
        nulls,
        (make_validity(is_null) if nulls else None,),
        tuple(
            [collect_field(field, values, nulls > 0, source) for field in struct.fields]
        ),
    )


def collect_field(
    field: Field, parents: list[Any], has_null: bool, source: ViewSource | None
) -> Array:
    """Create the column for one field from the structs that contain it."""
    name = field.attribute
    if has_null:
        values = [None if one is None else getattr(one, name) for one in parents]
    else:
        values = list(map(attrgetter(name), parents))
        # If the field is not nullable in any version, the values do not need to be
        # checked.
        has_null = bool(field.nullable_versions) and has_none(values)
    if field.is_array:
        return make_list_column(name, field, values, has_null, source)
    return make_element_column(name, field, values, has_null, source)


def has_none(values: list[Any]) -> bool:
    """Return whether a value is None.

    Values are compared by identity, because comparing structs would take more time.
    """
    return any(map(is_, values, repeat(None)))


def make_list_column(
    name: str,
    field: Field,
    values: list[Any],
    has_null: bool,
    source: ViewSource | None,
) -> Array:
    """Create a list column, with a child column for all elements."""
    is_null = [value is None for value in values] if has_null else []
    nulls = sum(is_null)
    present = [value or () for value in values] if nulls else values
    elements = list(chain.from_iterable(present))
    return Array(
        "+l",
        name,
        len(values),
        nulls,
        (make_validity(is_null) if nulls else None, make_offsets(present)),
        (make_element_column("item", field, elements, False, source),),
    )


def make_element_column(
    name: str,
    field: Field,
    values: list[Any],
    has_null: bool,
    source: ViewSource | None,
) -> Array:
    """Create the column for a field that is not an array, or for array elements."""
    if field.struct is not None:
        return make_struct_column(name, field.struct, values, has_null, source)
    code = plan.CODES[field.type]
    if code == plan.STRING:
        return make_text_column(name, "u", values, has_null)
    if code > plan.UUID and source is not None:
        return make_view_column(name, values, has_null, source)
    if code > plan.UUID:
        return make_text_column(name, "z", values, has_null)
    return make_fixed_column(name, code, values, has_null)


def make_text_column(name: str, form: str, values: list[Any], has_null: bool) -> Array:
    """Create a column of strings or bytes."""
    is_null = [value is None for value in values] if has_null else []
    nulls = sum(is_null)
    parts: list[Any] = values
    if nulls:
        nothing = "" if form == "u" else b""
        parts = [nothing if value is None else value for value in values]
    if form == "u":
        parts = list(map(str.encode, parts))
    return Array(
        form,
        name,
        len(values),
        nulls,
        (
            make_validity(is_null) if nulls else None,
            make_offsets(parts),
            Memory(b"".join(parts)),
        ),
    )


def make_view_column(
    name: str, values: list[Any], has_null: bool, source: ViewSource
) -> Array:
    """Create a column of bytes whose values are views of ``source``, not copies."""
    is_null = [value is None for value in values] if has_null else []
    nulls = sum(is_null)
    views = [
        source.make_view_of_part(b"" if value is None else value) for value in values
    ]
    validity = make_validity(is_null) if nulls else None
    return make_view_array(name, views, validity, nulls, source.buffers)


def make_fixed_column(name: str, code: int, values: list[Any], has_null: bool) -> Array:
    """Create a column of fixed-size values. The bytes of a null are zero."""
    is_null = [value is None for value in values] if has_null else []
    nulls = sum(is_null)
    if code == plan.BOOL:
        form, memory = "b", pack_bits(values)
    elif code == plan.UUID:
        raw = [bytes(16) if value is None else value.bytes for value in values]
        form, memory = "w:16", Memory(b"".join(raw))
    else:
        form, letter = _FORMATS[code]
        memory = Memory(
            array(letter, [0 if v is None else v for v in values] if nulls else values)
        )
    validity = make_validity(is_null) if nulls else None
    return Array(form, name, len(values), nulls, (validity, memory))


def make_offsets(parts: list[Any]) -> Memory:
    """Create the offsets of strings, bytes or arrays.

    Raises ``OverflowError`` if they exceed Arrow's 32 bits.
    """
    ends = list(accumulate(map(len, parts), initial=0))
    if ends[-1] > LARGEST_OFFSET:
        raise OverflowError
    return Memory(array("i", ends))


def make_validity(is_null: list[bool]) -> Memory:
    """Create the validity bits. The bit of a null is 0."""
    return pack_bits([not null for null in is_null])


def pack_bits(values: list[Any]) -> Memory:
    """Pack booleans into bits, beginning with the lowest bit in each byte."""
    if not values:
        return Memory()
    text = "".join(["1" if value else "0" for value in reversed(values)])
    return Memory(int(text, 2).to_bytes((len(values) + 7) // 8, "little"))


def make_column_failure(layout: plan.Plan) -> errors.LimitExceeded:
    """Create the exception for a column that exceeds Arrow's 32-bit offsets."""
    return errors.LimitExceeded(
        "a column would outgrow Arrow's 32-bit offsets; decode fewer rows at once",
        0,
        "",
        layout.name,
        layout.version,
    )
