# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``decode_records`` returns the same records as ``decode_batches`` and columns.

The three functions share the iteration over batches, so they select the same records.
"""

import sys

import pytest

from tests.harness.sweeps import sweep
from tests.records.record_bytes import batch, compressed_batch, message, record, wrapper
from tests.records.record_sets import (
    ABORT,
    SETS,
    marker,
    rows_of,
    table_of,
    transactional,
)


class Aborted:
    """Aborted transaction, with the attributes of a Fetch response's struct."""

    def __init__(self, producer_id, first_offset):
        self.producer_id = producer_id
        self.first_offset = first_offset


MIXED = b"".join(
    (
        message(0, 0),
        message(0, 1),
        wrapper(1, *(message(1, i) for i in range(3)), offset=4),
        batch(record(), record(1), record(2), base_offset=5),
        transactional(7, 8, b"x", b"y"),
        marker(ABORT, 7, 10),
        compressed_batch(record(), record(1), base_offset=11),
        batch(base_offset=13, last_delta=3),
    )
)


def rows_without_type(rows):
    """Return rows without their last field, the timestamp type of the batch."""
    return [(r.offset, r.timestamp, r.key, r.value, r.headers) for r in rows]


@sweep("name", SETS)
def test_rows_are_those_of_the_batches(records, name):
    """``decode_records`` returns the records of all batches except control records.

    All formats are tested.
    """
    rows, next_offset = records.decode_records(SETS[name])
    expected = rows_of(records.decode_batches(SETS[name]), control=False)
    assert rows_without_type(rows) == [row[:5] for row in expected]
    last = records.read_last_header(SETS[name])
    assert next_offset == (None if last is None else last.last_offset + 1)


@sweep("aborted", [None, (), (Aborted(7, 8),)])
@sweep("start", [None, *range(19)])
def test_rows_batches_and_columns_select_the_same_records(
    records, columns, start, aborted
):
    """Records, batches and columns select the same records.

    All start offsets, end offsets and transaction lists are combined.
    """
    options = {"start_offset": start, "aborted_transactions": aborted}
    selected = rows_of(records.decode_batches(MIXED, **options), control=False)
    for end in (None, *range(19)):
        expected = [row for row in selected if end is None or row[0] < end]
        rows, next_offset = records.decode_records(MIXED, end_offset=end, **options)
        table = columns.decode_records(MIXED, end_offset=end, **options)
        assert rows_without_type(rows) == [typed_row[:5] for typed_row in expected]
        assert table_of(table) == expected
        assert next_offset == table.next_offset == 17


@sweep("magic", [0, 1])
def test_messages_out_of_order_are_selected_individually(records, columns, magic):
    """Messages that are not in offset order are selected individually.

    Consecutive uncompressed messages are decoded together. An offset between two
    selected messages may be out of range.
    """
    data = b"".join(message(magic, offset) for offset in (5, 9, 6))
    rows, _ = records.decode_records(data, end_offset=8)
    table = columns.decode_records(data, end_offset=8)
    assert [row.offset for row in rows] == table.offset.tolist() == [5, 6]
    data = b"".join(message(magic, offset) for offset in (6, 5, 9))
    (decoded,) = records.decode_batches(data, start_offset=6)
    assert [row.offset for row in decoded.records] == [6, 9]


def test_marker_before_the_start_offset_ends_its_transaction(records, columns):
    """A marker before the start offset still ends its transaction."""
    data = transactional(7, 0, b"x") + marker(ABORT, 7, 1) + transactional(7, 2, b"y")
    options = {"start_offset": 2, "aborted_transactions": [Aborted(7, 0)]}
    assert [row.value for row in records.decode_records(data, **options)[0]] == [b"y"]
    assert len(columns.decode_records(data, **options)) == 1


def test_damage_outside_the_offset_range_is_ignored(records, columns):
    """Damage in a batch outside the offset range is ignored.

    This applies with and without a transaction filter.
    """
    data = transactional(7, 0, b"x") + batch(b"\1damaged", base_offset=1, count=1)
    data += transactional(7, 2, b"y")
    for aborted in (None, ()):
        options = {"start_offset": 2, "aborted_transactions": aborted}
        assert len(records.decode_records(data, **options)[0]) == 1
        assert len(columns.decode_records(data, **options)) == 1
        assert rows_of(records.decode_batches(data, **options))[0][3] == b"y"


def test_a_damaged_batch_is_named_by_rows_as_by_batches(kwire, records):
    """``decode_records`` raises the error of ``decode_batches`` for a damaged batch."""
    data = batch(record()) + batch(b"\1damaged", base_offset=1, count=1)
    with pytest.raises(kwire.DecodeError) as by_rows:
        records.decode_records(data)
    with pytest.raises(kwire.DecodeError) as by_batches:
        list(records.decode_batches(data))
    assert str(by_rows.value) == str(by_batches.value)
    assert by_rows.value.offset == by_batches.value.offset > len(batch(record()))


def test_the_limit_of_records_is_for_each_batch(kwire, records):
    """The record limit applies to every batch.

    This includes a compressed message, whose header has no record count.
    """
    limits = kwire.Limits(records=2)
    for data in (
        batch(record(), record(1)) * 2,
        wrapper(1, message(1), message(1, 1), offset=1) * 2,
    ):
        assert len(records.decode_records(data, limits=limits)[0]) == 4
    for data in (
        batch(record(), record(1), record(2)),
        wrapper(1, *(message(1, i) for i in range(3)), offset=2),
    ):
        with pytest.raises(kwire.LimitExceeded):
            records.decode_records(data, limits=limits)


def test_errors_do_not_keep_the_buffer(kwire, records):
    """After an error, the caller can resize the input, because no buffer is kept."""
    for damaged in (
        batch(b"\1damaged", count=1),
        batch(record())[:-1] + b"?",
        compressed_batch(b"\1damaged", count=1),
    ):
        data = bytearray(damaged)
        with pytest.raises(kwire.DecodeError) as caught:
            records.decode_records(data)
        data += b"more"
        assert caught.value.offset >= 0


def test_a_fetch_is_one_call_of_the_engine(twins):
    """Decoding a record set makes a constant number of engine calls.

    Calls take most of the time for small batches. The test counts calls, because times
    vary between runs.
    """
    records = twins.fast.records

    def calls(count):
        data = b"".join(batch(record(), base_offset=offset) for offset in range(count))
        events = []
        sys.setprofile(lambda frame, event, kind: events.append(event))
        try:
            rows, _ = records.decode_records(data, start_offset=0)
        finally:
            sys.setprofile(None)
        assert len(rows) == count
        return len(events)

    assert calls(100) == calls(1)
