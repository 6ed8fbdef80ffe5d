# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns whose buffers are inconsistent are rejected.

pyarrow detects some errors itself, so the engines are called directly, with buffers
that end at inaccessible memory. An access outside a buffer would crash the process.
Columns are encoded completely, or row by row with row numbers.
"""

import contextlib
import gc
import importlib
import itertools
import random
import struct

import pytest

from tests.harness.guard_pages import Guarded, check
from tests.harness.sweeps import sweep


def int32s(*values):
    """Return the bytes of int32 values in native byte order, such as Arrow offsets."""
    return struct.pack(f"={len(values)}i", *values)


def int64s(*values):
    """Return the bytes of int64 values in native byte order."""
    return struct.pack(f"={len(values)}q", *values)


TEXT = (None, int32s(0, 1, 2, 3), b"abc", 0)
"""Bytes column with three values of one byte: (validity, offsets, data, start)."""


def encode(package, count=3, headers=None, numbers=None, **columns):
    """Encode columns to a batch with one engine.

    Encode all ``count`` rows, or only the rows in ``numbers``.
    """
    records = importlib.import_module(f"{package.__name__}.records")
    engine = importlib.import_module(f"{package.__name__}._engine.active").record_engine
    columns = {
        "offsets": None,
        "timestamps": None,
        "key": TEXT,
        "value": TEXT,
    } | columns
    header = records.BatchHeader(magic=2, last_offset=-1)
    if numbers is None:
        return engine.encode_columns(count, *columns.values(), headers, header, None)
    rows = engine.ColumnRows(count, *columns.values(), headers)
    encoded = engine.EncodedRows(2**31)
    assert encoded.extend_columns(rows, numbers) == len(numbers) // 8
    return encoded.make_batch(header)


ALL = int64s(0, 1, 2)
WAYS = {"at once": None, "by number": ALL}


OFFSETS = {
    "back": [0, 2, 1, 3],
    "after the data": [0, 1, 2, 4],
    "far after": [0, 2**31 - 1, 2**31 - 1, 2**31 - 1],
    "before the data": [-1, 0, 1, 2],
    "far before": [-(2**31), 0, 1, 2],
    "up and down": [0, 2**31 - 1, -(2**31), 3],
    "down and up": [3, -(2**31), 2**31 - 1, 3],
    "more bytes than the last says": [0, 3, 0, 0],
}


def lists(offsets=(0, 1, 2, 3), key=TEXT, value=TEXT, count=3):
    """Return a header column: offsets, start, header count, keys and values."""
    return (int32s(*offsets), 0, count, key, value)


@sweep("name", OFFSETS)
@sweep("column", ["key", "value", "header key", "header value"])
@sweep("selection", WAYS)
def test_offsets_outside_of_the_bytes_are_rejected(kwire, name, column, selection):
    """An offset outside of the column's bytes is rejected in any row."""
    lie = (None, int32s(*OFFSETS[name]), b"abc", 0)
    columns = {column: lie}
    if column.startswith("header"):
        columns = {"headers": lists(**{column.removeprefix("header "): lie})}
    with pytest.raises(kwire.EncodeError, match="not within the bytes of the column"):
        encode(kwire, numbers=WAYS[selection], **columns)


@sweep("name", OFFSETS)
@sweep("selection", WAYS)
def test_header_lists_outside_of_their_items_are_rejected(kwire, name, selection):
    """An offset of a header list outside of the header column is rejected."""
    with pytest.raises(kwire.EncodeError, match="not within the bytes of the column"):
        encode(kwire, headers=lists(OFFSETS[name]), numbers=WAYS[selection])


def test_first_invalid_row_is_named(twins):
    """If several rows are invalid, both engines report the first one."""
    for offsets, row in (([0, 2, 1, 3], 1), ([0, 1, 2, 4], 2), ([-1, 0, 1, 2], 0)):
        for column in ("key", "value"):
            for package, numbers in itertools.product(twins, WAYS.values()):
                with pytest.raises(package.EncodeError) as caught:
                    lie = (None, int32s(*offsets), b"abc", 0)
                    encode(package, numbers=numbers, **{column: lie})
                assert caught.value.path == f"records[{row}]"


SHORT = {
    "offsets of a key": {"key": (None, int32s(0, 1, 2), b"abc", 0)},
    "offsets after a start": {"value": (None, int32s(0, 1, 2, 3), b"abc", 1)},
    "no offsets": {"key": (None, b"", b"", 0)},
    "no offsets at all": {"key": (None, None, None, 0)},
    "validity": {"key": (b"", int32s(0, 1, 2, 3), b"abc", 0)},
    "validity after a start": {"key": (b"\xff", bytes(40), b"", 6)},
    "numbers": {"timestamps": (None, int64s(1, 2), 0)},
    "numbers after a start": {"timestamps": (None, int64s(1, 2, 3), 1)},
    "half a number": {"timestamps": (None, int64s(1, 2, 3)[:-1], 0)},
    "no numbers": {"timestamps": (None, None, 0)},
    "validity of numbers": {"timestamps": (b"", int64s(1, 2, 3), 0)},
    "lists": {"headers": lists((0, 1, 2))},
    "offsets of header keys": {"headers": lists(key=(None, int32s(0, 1), b"a", 0))},
    "validity of header values": {"headers": lists(value=(b"", *TEXT[1:]))},
}


@sweep("name", SHORT)
@sweep("selection", WAYS)
def test_short_buffers_are_rejected(kwire, name, selection):
    """A buffer that is too short for the row count is rejected before it is read."""
    with pytest.raises(
        kwire.EncodeError, match="shorter than the number of rows"
    ) as caught:
        encode(kwire, numbers=WAYS[selection], **SHORT[name])
    assert caught.value.path == "records"


@sweep("number", [-(2**63), -(2**32), -1, 3, 4, 2**31, 2**32 + 1, 2**61, 2**63 - 1])
def test_row_numbers_out_of_range_are_rejected(kwire, number):
    """A row number out of range is rejected before any column is read."""
    for count, before in ((3, []), (3, [2, 0]), (0, [])):
        arguments = {} if count else {"key": (None, None, None, 0), "value": TEXT}
        with pytest.raises(kwire.EncodeError, match="no such row") as caught:
            encode(kwire, count, numbers=int64s(*before, number), **arguments)
        assert caught.value.path == f"records[{number}]"


@sweep("key", [b"\xff", b"a\xed\xa0\x80", b"\xc3", b"\xf5\x80\x80\x80"])
@sweep("selection", WAYS)
def test_header_keys_that_are_not_utf8_are_rejected(kwire, key, selection):
    """A header key that is not valid UTF-8 is rejected.

    Arrow requires valid strings, but does not validate them.
    """
    names = (None, int32s(0, 0, 0, len(key)), key, 0)
    with pytest.raises(kwire.EncodeError, match="UTF-8") as caught:
        encode(kwire, headers=lists(key=names), numbers=WAYS[selection])
    assert caught.value.path == "records[2].headers"


@sweep("selection", WAYS)
def test_columns_with_all_optional_buffers_are_encoded(kwire, selection):
    """Columns are encoded if all of their optional buffers exist.

    One of these buffers is the validity bitmap.
    """
    bits = b"\x07"
    text = (bits, *TEXT[1:])
    encoded = encode(
        kwire,
        offsets=(bits, int64s(0, 1, 2), 0),
        timestamps=(bits, int64s(5, 6, 7), 0),
        key=text,
        value=text,
        headers=lists(key=text, value=text),
        numbers=WAYS[selection],
    )
    (decoded,) = kwire.records.decode_batches(encoded)
    assert [decoded_record.key for decoded_record in decoded.records] == [
        b"a",
        b"b",
        b"c",
    ]
    assert decoded.records[2].headers == (("c", b"c"),)


@sweep("selection", WAYS)
def test_buffers_are_released(kwire, selection):
    """All buffers are released, whether the columns are valid or not."""
    for offsets in (int32s(0, 1, 2, 3), int32s(0, 2, 1, 3), int32s(0, 1)):
        buffers = [bytearray(b"\x07"), bytearray(offsets), bytearray(b"abc")]
        numbers = WAYS[selection] and bytearray(WAYS[selection])
        with contextlib.suppress(kwire.EncodeError):
            arguments = {"key": (*buffers, 0), "value": (*buffers, 0)}
            encode(kwire, numbers=numbers, **arguments)
        gc.collect()
        for buffer in (*buffers, numbers or bytearray()):
            buffer.append(0)


def test_buffers_are_held_while_rows_may_be_read(kwire):
    """Opened rows hold their buffers, so that they cannot be reallocated."""
    engine = importlib.import_module(f"{kwire.__name__}._engine.active").record_engine
    data = bytearray(b"abc")
    rows = engine.ColumnRows(3, None, None, (*TEXT[:2], data, 0), TEXT, None)
    with pytest.raises(BufferError):
        data.extend(bytes(1 << 20))
    assert len(rows) == 3
    del rows
    data.append(0)


def random_column(dice, put):
    """Return a bytes column that is valid or damaged.

    ``put`` copies a buffer to the position where it must be read.
    """
    size = dice.randrange(8)
    count = dice.choice((3, 4, 4, 4, 5))
    values = sorted(dice.randrange(size + 1) for _ in range(count))
    if dice.random() < 0.3:
        values[dice.randrange(count)] = dice.choice((-1, size, size + 1, 2**31 - 1))
    bits = None if dice.random() < 0.5 else put(dice.randbytes(dice.choice((0, 1, 1))))
    return (
        bits,
        put(int32s(*values)),
        put(bytes(dice.randrange(97, 123) for _ in range(size))),
        dice.choice((0, 0, 0, 1)),
    )


def random_columns(dice, put):
    """Return columns with three rows that are valid or damaged.

    Some results also contain row numbers.
    """
    arguments = {"key": random_column(dice, put), "value": random_column(dice, put)}
    for name in ("offsets", "timestamps"):
        if dice.random() < 0.5:
            numbers = int64s(*range(dice.choice((2, 3, 3, 4))))
            bits = None if dice.random() < 0.5 else put(b"\xff")
            arguments[name] = (bits, put(numbers), dice.choice((0, 0, 1)))
    if dice.random() < 0.6:
        bounds = sorted(dice.randrange(4) for _ in range(dice.choice((3, 4, 4, 5))))
        key, value = random_column(dice, put), random_column(dice, put)
        arguments["headers"] = (
            put(int32s(*bounds)),
            0,
            dice.choice((2, 3)),
            key,
            value,
        )
    if dice.random() < 0.5:
        numbers = dice.choices((0, 1, 2), k=dice.randrange(5))
        if dice.random() < 0.1:
            numbers.append(dice.choice((-1, 3, 2**40, -(2**63))))
        arguments["numbers"] = put(int64s(*numbers))
    return arguments


def test_random_buffers_are_not_read_past_their_end(twins):
    """Encoding random columns never accesses a byte after a buffer.

    Every buffer ends at an inaccessible page.
    """
    pages = [Guarded() for _ in range(20)]

    def work(note):
        dice = random.Random(9)
        accepted = 0
        for number in range(20_000):
            free = iter(pages)
            note(number)

            def put(data, free=free):
                return next(free).put(data)

            with contextlib.suppress(twins.fast.EncodeError):
                accepted += bool(encode(twins.fast, **random_columns(dice, put)))
        assert accepted > 500

    check(work)


def test_both_engines_take_the_same_columns(twins):
    """Both engines encode random columns to the same bytes, or both reject them."""
    dice = random.Random(10)
    outcome_types = set()
    for _ in range(4000):
        arguments = random_columns(dice, bytes)
        outcomes = []
        for package in twins:
            try:
                outcomes.append(encode(package, **arguments))
            except package.EncodeError:
                outcomes.append(None)
        assert outcomes[0] == outcomes[1], arguments
        outcome_types.add(type(outcomes[0]))
    assert outcome_types == {bytes, type(None)}
