# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decodes batches into columns.

The columns contain the same values as the records of ``record_decoder.py``: one array
for each field, with one element for each record.

Twin: ``fast/record_columns.pyx``. Differs from its twin in: columns are created from
record objects. In ``fast``, a separate walk over the bytes creates no objects.

Only in Python: ``walk_columns``, ``make_columns``, ``make_text_array``,
``make_fixed_array``, ``make_nulls``, ``make_offsets_memory``, ``make_validity``,
``convert_timestamps``.
"""

from __future__ import annotations

from array import array
from itertools import accumulate

from ... import errors
from ...schema.batch_layout import CODEC_MASK, LOG_APPEND_TIME
from .arrays import Array, Memory
from .column_views import ViewSource, find_places, make_view_array
from .decoder import get_input
from .record_sets import (
    EntryWalk,
    find_wanted,
    has_unwanted,
    read_every,
    read_found,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from typing_extensions import Buffer

    from ..record_types import BatchHeader, Record
    from .record_sets import ReadOptions

LARGEST_OFFSET = 2**31 - 1

_UNITS = {"s": (1, 1000), "ms": (1, 1), "us": (1000, 1), "ns": (1000000, 1)}

_BATCH_COLUMNS = (
    ("batch_position", "l", "q", "position"),
    ("base_offset", "l", "q", "base_offset"),
    ("magic", "c", "b", "magic"),
    ("attributes", "s", "h", "attributes"),
    ("partition_leader_epoch", "i", "i", "partition_leader_epoch"),
    ("producer_id", "l", "q", "producer_id"),
    ("producer_epoch", "s", "h", "producer_epoch"),
    ("base_sequence", "i", "i", "base_sequence"),
)


def decode_columns(
    data: Buffer,
    options: ReadOptions,
    position: int = 0,
    end: int | None = None,
    headers: bool = True,
    batch_columns: bool = False,
    timestamp_unit: str = "ms",
    views: bool = False,
) -> tuple[Array, int, int | None]:
    """Decode the records of all batches into one struct ``Array``.

    * ``position``, ``end`` (bytes): the part of ``data`` to read.
    * ``headers``: include the headers.
    * ``batch_columns``: append columns with each record's batch fields.
    * ``timestamp_unit``: "s", "ms", "us" or "ns".
    * ``views``: keys and values of more than 12 bytes refer to ``data`` or to the
      decompressed bytes, which the array keeps alive.

    Control batches are omitted, and so are batches that the transaction filter hides.
    Returns the array, the position after the last complete entry, and the offset after
    that entry, which is None if there is no complete entry.

    Shape: offset, timestamp, timestamp type, key, value, then the headers as a list of
    key and value, then the batch columns. A timestamp is null if it is -1, which means
    that there is no timestamp, or if the unit cannot represent it. Time and memory are
    linear in the input size.

    Raises ``DecodeError`` in the same cases as ``read_batch_header`` and
    ``read_records``. Raises ``LimitExceeded`` if keys, values or headers exceed 32-bit
    offsets.
    """
    places = ViewPlaces(get_input(data, True)) if views else None
    try:
        return walk_columns(
            data if places is None else places.data,
            options,
            position,
            end,
            headers,
            batch_columns,
            timestamp_unit,
            places,
        )
    except errors.DecodeError as error:
        # Drop the views and the traceback, because both refer to the caller's buffer
        # and a stored exception would keep it alive.
        del places
        raise error.with_traceback(None) from None


def walk_columns(
    data: Buffer,
    options: ReadOptions,
    position: int,
    end: int | None,
    headers: bool,
    batch_columns: bool,
    timestamp_unit: str,
    places: ViewPlaces | None,
) -> tuple[Array, int, int | None]:
    """Read the records of all batches and convert them to columns.

    The parameters and the result are the same as for ``decode_columns``. ``places``
    creates views of keys and values, or is None if they are copied.
    """
    walk = EntryWalk(data, position, end, options)
    walk.keeps_payload = places is not None
    records: list[Record] = []
    kinds: list[int] = []
    entries: list[BatchHeader] = []
    keys = values = 0
    while find_wanted(walk):
        # With batch columns, each uncompressed magic 0 or 1 message counts as a batch.
        if places is None:
            found = read_found(walk, options.replace, not batch_columns)
        else:
            found = places.read(walk)
        entry = walk.entry
        kind = -1 if entry.magic == 0 else (entry.attributes & LOG_APPEND_TIME) >> 3
        records += found
        kinds += [kind] * len(found)
        entries += [entry] * len(found)
        keys += sum([len(each.key) for each in found if each.key])
        values += sum([len(each.value) for each in found if each.value])
        if places is None and max(keys, values) > LARGEST_OFFSET:
            raise errors.decode_failure(errors.COLUMN_TOO_LARGE, 0, entry.position, "")
    made = make_columns(records, kinds, headers, timestamp_unit, places)
    if batch_columns:
        for name, form, code, attribute in _BATCH_COLUMNS:
            column = array(code, [getattr(each, attribute) for each in entries])
            made.append(make_fixed_array(name, form, column))
    columns = Array("+s", "", len(records), 0, (None,), tuple(made))
    return columns, walk.position, walk.next_offset


class ViewPlaces:
    """Reads records like ``read_found``, and creates views of their keys and values."""

    __slots__ = ("_buffers", "_input", "_keys", "_values", "data")

    def __init__(self, data: Buffer) -> None:
        self.data = data
        self._buffers: list[Memory | memoryview] = []
        self._input: ViewSource | None = None
        self._keys: list[bytes] = []
        self._values: list[bytes] = []

    def read(self, walk: EntryWalk) -> tuple[Record, ...]:
        """Read the requested records of the current entry, as ``read_found`` does."""
        records = read_every(walk, walk.options.replace, False)
        if walk.entry.attributes & CODEC_MASK:
            assert walk.payload is not None
            source = ViewSource(walk.payload, self._buffers)
        else:
            if self._input is None:
                self._input = ViewSource(self.data, self._buffers)
            source = self._input
        places = find_places(source.data, walk.entry, len(records))
        lowest, highest = walk.options.lowest, walk.options.highest
        is_cut = has_unwanted(walk)
        found = []
        for record, (key, value) in zip(records, places, strict=True):
            if not is_cut or lowest <= record.offset <= highest:
                found.append(record)
                self._keys.append(source.make_view(record.key or b"", key))
                self._values.append(source.make_view(record.value or b"", value))
        return tuple(found)

    def make_arrays(self, records: list[Record]) -> tuple[Array, Array]:
        """Create the key and value columns. ``records`` shows which of the values are
        null.
        """
        buffers = self._buffers
        keys = make_nulls([each.key for each in records])
        values = make_nulls([each.value for each in records])
        return (
            make_view_array("key", self._keys, *keys, buffers),
            make_view_array("value", self._values, *values, buffers),
        )


def make_columns(
    records: list[Record],
    kinds: list[int],
    headers: bool,
    unit: str,
    places: ViewPlaces | None,
) -> list[Array]:
    """Convert records to the columns that are independent of the batch."""
    stamps, nulls = convert_timestamps([each.timestamp for each in records], unit)
    made = [
        make_fixed_array("offset", "l", array("q", [each.offset for each in records])),
        make_fixed_array("timestamp", f"ts{unit[0]}:UTC", array("q", stamps), nulls),
        make_fixed_array("timestamp_type", "i", array("i", kinds)),
    ]
    if places is None:
        made += [
            make_text_array("key", "z", [each.key for each in records]),
            make_text_array("value", "z", [each.value for each in records]),
        ]
    else:
        made += places.make_arrays(records)
    if headers:
        lists = [each.headers for each in records]
        pairs = [pair for each in lists for pair in each]
        below = (
            make_text_array("key", "u", [pair[0].encode() for pair in pairs]),
            make_text_array("value", "z", [pair[1] for pair in pairs]),
        )
        item = Array("+s", "item", len(pairs), 0, (None,), below)
        buffers = (None, make_offsets_memory(map(len, lists)))
        made.append(Array("+l", "headers", len(records), 0, buffers, (item,)))
    return made


def convert_timestamps(stamps: list[int], unit: str) -> tuple[list[int], list[int]]:
    """Convert timestamps from ms to another unit.

    Returns the converted timestamps and the numbers of the null rows.

    A row is null if its timestamp is -1, which means that there is no timestamp and is
    not converted, or if the unit cannot represent it.
    """
    factor, divisor = _UNITS[unit]
    nulls = []
    if factor != 1:
        highest = (2**63 - 1) // factor
        nulls = [
            row
            for row, stamp in enumerate(stamps)
            if stamp == -1 or not -highest <= stamp <= highest
        ]
    elif -1 in stamps:
        nulls = [row for row, stamp in enumerate(stamps) if stamp == -1]
    if unit == "ms":
        return stamps, nulls
    converted = [stamp * factor // divisor for stamp in stamps]
    for row in nulls:
        converted[row] = -1 if stamps[row] == -1 else 0
    return converted, nulls


def make_fixed_array(
    name: str, form: str, values: array[int], nulls: Sequence[int] = ()
) -> Array:
    """Create an array of fixed-size values. ``nulls`` contains the null rows."""
    validity = make_validity(len(values), nulls) if nulls else None
    buffers = (validity, Memory(values.tobytes()))
    return Array(form, name, len(values), len(nulls), buffers)


def make_text_array(name: str, form: str, values: list[Any]) -> Array:
    """Create an array of bytes or strings. None means null."""
    validity, nulls = make_nulls(values)
    if nulls:
        values = [value or b"" for value in values]
    offsets = make_offsets_memory(map(len, values))
    buffers = (validity, offsets, Memory(b"".join(values)))
    return Array(form, name, len(values), nulls, buffers)


def make_nulls(values: list[Any]) -> tuple[Memory | None, int]:
    """Return the validity bits of values, or None without nulls, and the null count."""
    if None not in values:
        return None, 0
    nulls = [row for row, value in enumerate(values) if value is None]
    return make_validity(len(values), nulls), len(nulls)


def make_offsets_memory(sizes: Iterable[int]) -> Memory:
    """Create the 32-bit offsets of values from their sizes.

    Raises ``LimitExceeded`` if the offsets exceed 32 bits.
    """
    try:
        return Memory(array("i", accumulate(sizes, initial=0)).tobytes())
    except OverflowError:
        pass
    raise errors.decode_failure(errors.COLUMN_TOO_LARGE, 0, 0, "")


def make_validity(count: int, nulls: Sequence[int]) -> Memory:
    """Create row validity bits, beginning with the lowest bit in each byte.

    The bit of a valid row is 1.
    """
    bits = (1 << count) - 1
    memory = bytearray(bits.to_bytes((count + 7) // 8, "little"))
    for row in nulls:
        memory[row >> 3] &= ~(1 << (row & 7)) & 255
    return Memory(memory)
