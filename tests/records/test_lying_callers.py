# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""If the caller's objects have methods that lie or raise errors, nothing crashes.

Headers may be created by hand, columns may contain unchecked numbers, and values may
have any class. Cases that could crash the process run in a child process.
"""

import contextlib
import importlib

import pytest

from tests.harness.guard_pages import Guarded, check
from tests.records.record_bytes import batch, message, record, wrapper
from tests.records.test_lying_columns import TEXT, encode, int32s, int64s, lists

HEADS = [
    {"position": 100, "size": 0},
    {"position": 99, "size": 5},
    {"position": 0, "size": 5},
    {"position": 0, "size": 101},
    {"position": -1, "size": 50},
    {"position": 2**62, "size": 2**62},
    {"position": 0, "size": -1},
    {"position": 80, "size": 20},
]


def readers(package):
    """Return the engine functions that accept a batch header from the caller."""
    engine = importlib.import_module(f"{package.__name__}._engine.active").record_engine
    return engine.find_payload, engine.read_message_run, engine.read_records


def invalid_headers(package):
    """Yield (function, header).

    The header is invalid, and the function accepts its type.
    """
    payload, run, records = readers(package)
    make = package.records.BatchHeader
    for fields in HEADS:
        for magic in (0, 1):
            head = make(magic=magic, attributes=1, record_count=-1, **fields)
            yield payload, head
            yield run, head.replace(attributes=0, record_count=1)
        yield records, make(magic=2, record_count=1, **fields)


def test_false_headers_are_rejected(twins):
    """A header that does not match the input raises ValueError."""
    for package in twins:

        def work(note, package=package):
            for read, head in invalid_headers(package):
                note((read.__name__, head))
                with pytest.raises(ValueError, match=r"."):
                    read(bytes(100), head)

        check(work)


def test_false_headers_expose_no_other_bytes(twins):
    """With a header that does not match the input, no byte after the input is read."""
    guarded = Guarded()
    data = guarded.put(b"\0" * 100)

    def work(note):
        for read, head in invalid_headers(twins.fast):
            note((read.__name__, head))
            with contextlib.suppress(ValueError):
                read(data, head)

    check(work)


@pytest.mark.parametrize("count", [-1, -(2**31)])
def test_negative_count_of_a_header_is_rejected(kwire, count):
    """A negative record count in the header raises DecodeError.

    This applies to uncompressed and to decompressed records.
    """
    read = readers(kwire)[2]
    data = batch(record())
    head = kwire.records.read_batch_header(data).replace(record_count=count)
    for content, options in ((data, {}), (data[61:], {"compressed": True})):
        with pytest.raises(kwire.DecodeError):
            read(content, head, **options)


def test_other_objects_are_rejected_as_headers(kwire):
    """An object that is not a header raises TypeError or AttributeError.

    No byte of the input is read before.
    """
    for read in readers(kwire):
        for no_header in (None, 5, "head", kwire.records.Record()):
            with pytest.raises((TypeError, AttributeError)):
                read(bytes(100), no_header)


STARTS = [-1, -(10**6), -(2**62), 2**31, 2**61, 2**62]


@pytest.mark.parametrize("start", STARTS)
def test_columns_with_a_start_out_of_range_are_rejected(twins, start):
    """A column whose start is outside of its buffers is rejected."""
    text = (*TEXT[:3], start)
    numbers = (None, int64s(1, 2, 3), start)
    bits = (b"\x07", int64s(1, 2, 3), start)
    tries = [
        {"key": text},
        {"value": (b"\x07", *text[1:])},
        {"offsets": numbers},
        {"timestamps": bits},
        {"headers": lists(key=text)},
        {"headers": (int32s(0, 1, 2, 3), start, 3, TEXT, TEXT)},
        {"headers": lists(count=start)},
    ]
    for package in twins:

        def work(note, package=package):
            for arguments in tries:
                note(arguments)
                with pytest.raises(package.EncodeError):
                    encode(package, **arguments)

        check(work)


@pytest.mark.parametrize("count", [-1, 2**31, 2**61])
def test_impossible_row_count_is_rejected(twins, count):
    """A row count that no batch can have raises EncodeError."""
    for package in twins:

        def work(note, package=package):
            with pytest.raises(package.EncodeError):
                encode(package, count=count)

        check(work)


class Text(str):
    """Subclass of str whose ``encode`` returns incorrect bytes."""

    def encode(self, *_):
        """Return incorrect bytes."""
        return b"never written"


def test_str_subclasses_are_encoded_by_content(twins):
    """A header key of a ``str`` subclass is encoded from its text.

    Overridden methods, such as ``encode``, are not called.
    """
    for package in twins:
        encode_batch = package.records.encode_batch

        def work(note, package=package, encode_batch=encode_batch):
            (decoded,) = package.records.decode_batches(
                encode_batch([(None, None, None, [(Text("name"), b"x")])])
            )
            assert decoded.records[0].headers == (("name", b"x"),)
            with pytest.raises(package.EncodeError) as caught:
                encode_batch([(None, None, None, [(Text("\ud800"), b"x")])])
            assert caught.value.path == "records[0].headers[0].key"

        check(work)


class Interrupted:
    """Object that raises KeyboardInterrupt at every access to its methods."""

    def __iter__(self):
        """Raise KeyboardInterrupt."""
        raise KeyboardInterrupt

    __index__ = __iter__


class InterruptedList(list):
    def __iter__(self):
        """Raise KeyboardInterrupt."""
        raise KeyboardInterrupt


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_keyboard_interrupt_propagates(records, magic):
    """KeyboardInterrupt from an object of the caller is raised unchanged."""
    rows = [
        (None, None, Interrupted()),
        (None, None, None, Interrupted()),
        (None, None, None, InterruptedList()),
    ]
    for row in rows:
        with pytest.raises(KeyboardInterrupt):
            records.encode_batch([(b"k", b"v"), row], magic=magic)
    assert records.encode_batch([(b"k", b"v")], magic=magic)


@pytest.mark.parametrize(
    "offset", [2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1, -(2**80)]
)
def test_offset_bounds_may_be_any_integer(records, columns, offset):
    """``start_offset`` and ``end_offset`` may exceed the int64 range.

    All records are then after or before the offset.
    """
    data = (
        message(1, 5)
        + wrapper(1, message(1, 0), offset=6)
        + batch(record(), base_offset=7)
    )
    every = [5, 6, 7]
    expected = every if offset < 0 else []
    batches = records.decode_batches(data, start_offset=offset)
    assert [
        decoded_record.offset for b in batches for decoded_record in b.records
    ] == expected
    table = columns.decode_records(data, start_offset=offset)
    assert table.offset.tolist() == expected
    table = columns.decode_records(data, end_offset=offset)
    assert table.offset.tolist() == (every if offset > 0 else [])
