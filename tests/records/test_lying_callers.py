# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Objects of the caller whose methods lie or raise cause no crash.

Heads can be made by hand, columns have numbers that were not checked, and values are
of any class. What could end the process is tried in a child of it.
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
    """What the engine reads by a head that the caller gives."""
    engine = importlib.import_module(f"{package.__name__}._engine.active").record_engine
    return engine.find_payload, engine.read_message_run, engine.read_records


def lies(package):
    """Each lie in each format, with the readers that take it."""
    payload, run, records = readers(package)
    make = package.records.BatchHeader
    for fields in HEADS:
        for magic in (0, 1):
            head = make(magic=magic, attributes=1, record_count=-1, **fields)
            yield payload, head
            yield run, head.replace(attributes=0, record_count=1)
        yield records, make(magic=2, record_count=1, **fields)


def test_heads_that_lie_are_refused(twins):
    """They are not of this input: a ``ValueError``, as decode errors are too."""
    for package in twins:

        def work(note, package=package):
            for read, head in lies(package):
                note((read.__name__, head))
                with pytest.raises(ValueError, match=r"."):
                    read(bytes(100), head)

        check(work)


def test_heads_that_lie_show_nothing_else(twins):
    """No byte after the input is read."""
    guarded = Guarded()
    data = guarded.put(b"\0" * 100)

    def work(note):
        for read, head in lies(twins.fast):
            note((read.__name__, head))
            with contextlib.suppress(ValueError):
                read(data, head)

    check(work)


@pytest.mark.parametrize("count", [-1, -(2**31)])
def test_a_negative_count_of_a_head_is_refused(kwire, count):
    """As a count that cannot be, plain or compressed."""
    read = readers(kwire)[2]
    data = batch(record())
    head = kwire.records.read_batch_header(data).replace(record_count=count)
    for given, options in ((data, {}), (data[61:], {"compressed": True})):
        with pytest.raises(kwire.DecodeError):
            read(given, head, **options)


def test_other_objects_are_no_heads(kwire):
    """``TypeError`` or ``AttributeError``, before a byte is looked at."""
    for read in readers(kwire):
        for wrong in (None, 5, "head", kwire.records.Record()):
            with pytest.raises((TypeError, AttributeError)):
                read(bytes(100), wrong)


STARTS = [-1, -(10**6), -(2**62), 2**31, 2**61, 2**62]


@pytest.mark.parametrize("start", STARTS)
def test_columns_that_begin_elsewhere_are_refused(twins, start):
    """A start outside of the buffers, however large."""
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
            for given in tries:
                note(given)
                with pytest.raises(package.EncodeError):
                    encode(package, **given)

        check(work)


@pytest.mark.parametrize("count", [-1, 2**31, 2**61])
def test_a_count_of_rows_that_cannot_be_is_refused(twins, count):
    """More rows than a batch can have, or fewer than none."""
    for package in twins:

        def work(note, package=package):
            with pytest.raises(package.EncodeError):
                encode(package, count=count)

        check(work)


class Text(str):
    """Says of itself what is not so."""

    def encode(self, *_):
        """Lie."""
        return b"never written"


def test_texts_are_what_they_hold(twins):
    """A subclass of ``str`` may say what it likes: its text is what is written."""
    for package in twins:
        encode_batch = package.records.encode_batch

        def work(note, package=package, encode_batch=encode_batch):
            (found,) = package.records.decode_batches(
                encode_batch([(None, None, None, [(Text("name"), b"x")])])
            )
            assert found.records[0].headers == (("name", b"x"),)
            with pytest.raises(package.EncodeError) as caught:
                encode_batch([(None, None, None, [(Text("\ud800"), b"x")])])
            assert caught.value.path == "records[0].headers[0].key"

        check(work)


class Interrupted:
    """Raises at every access."""

    def __iter__(self):
        """Be no iterator."""
        raise KeyboardInterrupt

    __index__ = __iter__


class InterruptedList(list):
    def __iter__(self):
        """Be no iterator."""
        raise KeyboardInterrupt


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_interrupts_come_through(records, magic):
    """What the caller's own objects raise is the caller's."""
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
def test_offsets_beyond_all_records(records, columns, offset):
    """A start or an end may be any number; records are before or after it."""
    data = (
        message(1, 5)
        + wrapper(1, message(1, 0), offset=6)
        + batch(record(), base_offset=7)
    )
    every = [5, 6, 7]
    expected = every if offset < 0 else []
    found = records.decode_batches(data, start_offset=offset)
    assert [each.offset for b in found for each in b.records] == expected
    table = columns.decode_records(data, start_offset=offset)
    assert table.offset.tolist() == expected
    table = columns.decode_records(data, end_offset=offset)
    assert table.offset.tolist() == (every if offset > 0 else [])
