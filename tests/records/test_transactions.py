# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Aborted transactions and control records are omitted from committed reads.

A Fetch response lists where aborted transactions start. The same producer's ABORT
marker in the log ends the transaction.
"""

import itertools
import sys
from functools import partial
from typing import NamedTuple

import pytest

from tests.harness.guard_pages import Window, check
from tests.records.record_bytes import batch, compressed_batch, message, record
from tests.records.record_sets import (
    ABORT,
    COMMIT,
    marker,
    rows_of,
    table_of,
    transactional,
)


class Aborted(NamedTuple):
    """Aborted transaction, with the attributes of a Fetch response's struct."""

    producer_id: int
    first_offset: int


def remaining_values(records, columns, data, aborted, **options):
    """Return the values of all records that are not aborted.

    Objects and columns must be equal.
    """
    batches = list(
        records.decode_batches(data, aborted_transactions=aborted, **options)
    )
    table = columns.decode_records(data, aborted_transactions=aborted, **options)
    assert table_of(table) == rows_of(batches)
    return [
        decoded_record.value
        for decoded in batches
        for decoded_record in decoded.records
    ]


LOG = b"".join(
    (
        batch(record(value=b"plain"), base_offset=0),
        transactional(7, 1, b"a7"),
        transactional(8, 2, b"b8", b"c8"),
        transactional(7, 4, b"d7"),
        marker(ABORT, 7, 5),
        transactional(7, 6, b"e7"),
        marker(COMMIT, 8, 7),
        transactional(8, 8, b"f8"),
        marker(COMMIT, 7, 9),
        marker(ABORT, 8, 10),
        transactional(7, 11, b"g7"),
        marker(ABORT, 7, 12),
        batch(record(value=b"end"), base_offset=13, producer_id=7, producer_epoch=0),
    )
)
ABORTED = [Aborted(7, 1), Aborted(8, 8), Aborted(7, 11)]
COMMITTED = [b"plain", b"b8", b"c8", b"e7", b"end"]


def test_interleaved_aborted_transactions_are_omitted(records, columns):
    """The records of interleaved aborted transactions are omitted.

    Two producers have several committed and aborted transactions.
    """
    assert remaining_values(records, columns, LOG, ABORTED) == COMMITTED


def test_the_order_of_the_list_does_not_matter(records, columns):
    """The list of aborted transactions may be in any order.

    Brokers sort it by first offset.
    """
    for aborted in itertools.permutations(ABORTED):
        assert remaining_values(records, columns, LOG, aborted) == COMMITTED


def test_aborted_transactions_may_be_an_iterator(records, columns):
    """The iterator is consumed once, before the first batch."""
    batches = records.decode_batches(LOG, aborted_transactions=iter(ABORTED))
    assert [row[3] for row in rows_of(batches)] == COMMITTED
    table = columns.decode_records(LOG, aborted_transactions=iter(ABORTED))
    assert [row[3] for row in table_of(table)] == COMMITTED


def test_aborted_transactions_may_be_response_structs(kwire, records, columns):
    """Structs of a decoded Fetch response are accepted."""
    struct = kwire.messages.FetchResponse.AbortedTransaction
    aborted = [struct(producer_id=p, first_offset=o) for p, o in ABORTED]
    assert remaining_values(records, columns, LOG, aborted) == COMMITTED


def test_empty_list_omits_control_records(records, columns):
    """With an empty list, only control records are omitted."""
    every = remaining_values(records, columns, LOG, [])
    assert every == [b"plain", b"a7", b"b8", b"c8", b"d7", b"e7", b"f8", b"g7", b"end"]


def test_objects_contain_markers_without_a_list(records, columns):
    """Without a list, objects contain control records, but columns do not."""
    batches = list(records.decode_batches(LOG))
    assert sum(decoded.is_control for decoded in batches) == 5
    assert all(
        len(decoded.control_records) == 1 for decoded in batches if decoded.is_control
    )
    assert table_of(columns.decode_records(LOG)) == rows_of(batches, control=False)


def test_aborted_batches_are_returned_without_records(records):
    """Batches of aborted transactions are returned without records.

    The reader needs them to continue at the next offset.
    """
    batches = list(records.decode_batches(LOG, aborted_transactions=ABORTED))
    assert len(batches) == 13
    assert [decoded.next_offset for decoded in batches][-1] == 14
    assert sum(decoded.size for decoded in batches) == len(LOG)
    hidden = [decoded for decoded in batches if not decoded.records]
    assert [decoded.base_offset for decoded in hidden] == [1, 4, 5, 7, 8, 9, 10, 11, 12]
    assert [decoded.control_records for decoded in hidden] == [()] * 9


def test_marker_of_an_unlisted_transaction_is_ignored(records, columns):
    """The marker of a transaction that is not in the list has no effect.

    A log may start within a transaction.
    """
    data = marker(ABORT, 7, 0) + transactional(7, 1, b"x") + marker(COMMIT, 7, 2)
    assert remaining_values(records, columns, data, [Aborted(8, 0)]) == [b"x"]


def test_transaction_that_began_before_the_fetch_is_omitted(records, columns):
    """A transaction that began before the Fetch response is omitted, too."""
    data = transactional(7, 100, b"x") + marker(ABORT, 7, 101)
    data += transactional(7, 102, b"y")
    assert remaining_values(records, columns, data, [Aborted(7, 3)]) == [b"y"]


def test_transaction_may_begin_within_a_batch(records, columns):
    """The first offset of a transaction may be any offset within a batch."""
    data = transactional(7, 100, b"x", b"y", b"z") + marker(ABORT, 7, 103)
    for first in (100, 101, 102):
        assert remaining_values(records, columns, data, [Aborted(7, first)]) == []
    assert remaining_values(records, columns, data, [Aborted(7, 103)]) == [
        b"x",
        b"y",
        b"z",
    ]


def test_records_outside_of_transactions_are_kept(records, columns):
    """Records of the same producer that are not transactional are kept.

    They are in batches without the transactional bit, or in old messages.
    """
    data = batch(record(value=b"x"), producer_id=7, producer_epoch=0, base_offset=4)
    data += message(1, 5, None, b"y") + transactional(7, 6, b"z") + marker(ABORT, 7, 7)
    assert remaining_values(records, columns, data, [Aborted(7, 0)]) == [b"x", b"y"]


@pytest.mark.parametrize("start", range(15))
def test_markers_before_the_start_offset_are_applied(records, columns, start):
    """A marker before the start offset ends its transaction.

    The records of these batches are omitted.
    """
    every = rows_of(records.decode_batches(LOG, aborted_transactions=ABORTED))
    expected = [row[3] for row in every if row[0] >= start]
    assert (
        remaining_values(records, columns, LOG, ABORTED, start_offset=start) == expected
    )


@pytest.mark.parametrize("kind", [2, 3, 5, 77])
def test_other_control_records_end_no_transaction(records, columns, kind):
    """Another control record, such as a leader change, does not end a transaction."""
    data = transactional(7, 0, b"x") + marker(kind, 7, 1) + transactional(7, 2, b"y")
    data += marker(ABORT, 7, 3) + transactional(7, 4, b"z")
    assert remaining_values(records, columns, data, [Aborted(7, 0)]) == [b"z"]


@pytest.mark.parametrize("start", [0, 1, 2])
def test_markers_may_have_invalid_headers(records, columns, start):
    """The headers of a marker are not decoded, so they may be invalid."""
    content = record(key=b"\0\0\0\0", value=bytes(6), headers=[(b"\xff", b"")])
    data = transactional(7, 0, b"x")
    data += batch(content, attributes=0x30, base_offset=1, producer_id=7)
    data += transactional(7, 2, b"y")
    committed = remaining_values(
        records, columns, data, [Aborted(7, 0)], start_offset=start
    )
    assert committed == [b"y"]


@pytest.mark.parametrize("key", [None, b"", b"\0\0\0"])
def test_invalid_control_records_end_no_transaction(records, columns, key):
    """A control record with a key that is too short is omitted without any effect."""
    data = transactional(7, 0, b"x")
    data += batch(record(key=key), attributes=0x30, base_offset=1, producer_id=7)
    data += batch(attributes=0x30, base_offset=2, producer_id=7)
    data += transactional(7, 3, b"y")
    assert remaining_values(records, columns, data, [Aborted(7, 0)]) == []


def test_transactions_apply_to_compressed_batches(records, columns):
    """Compressed batches and markers are handled in the same way."""
    content = record(key=b"\0\0\0\0", value=bytes(6))
    data = b"".join(
        (
            compressed_batch(record(value=b"x"), attributes=0x10, producer_id=7),
            compressed_batch(content, attributes=0x30, producer_id=7, base_offset=1),
            compressed_batch(
                record(value=b"y"), attributes=0x10, producer_id=7, base_offset=2
            ),
        )
    )
    assert remaining_values(records, columns, data, [Aborted(7, 0)]) == [b"y"]


def test_filter_continues_in_the_next_call(records, columns):
    """A TransactionFilter can be used for several Fetch responses.

    A transaction may end in a later response than it begins.
    """
    for read in (
        lambda entry, filter_: rows_of(
            records.decode_batches(entry, aborted_transactions=filter_)
        ),
        lambda entry, filter_: table_of(
            columns.decode_records(entry, aborted_transactions=filter_)
        ),
    ):
        filter_ = records.TransactionFilter(ABORTED)
        committed, position = [], 0
        while head := records.read_batch_header(LOG, position):
            entry = LOG[position : position + head.size]
            committed += [row[3] for row in read(entry, filter_)]
            position += head.size
        assert committed == COMMITTED


def test_aborted_batches_are_not_decompressed(records, columns):
    """Batches of aborted transactions are not decompressed.

    Damage in their records is therefore not detected.
    """
    data = batch(b"\1damaged", attributes=0x10, producer_id=7, count=1)
    data += marker(ABORT, 7, 1) + transactional(7, 2, b"x")
    assert remaining_values(records, columns, data, [Aborted(7, 0)]) == [b"x"]


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has neither fork nor mprotect"
)
def test_headers_after_a_marker_are_read_once(records, columns):
    """After a marker, each later header is read only once.

    Otherwise, the time would be quadratic in the number of headers. The test makes all
    pages inaccessible except those of the current header.
    """
    window = Window(marker(COMMIT, 7, 0) * 500)
    positions = []

    class Filter(records.TransactionFilter):
        def observe(self, header, records):
            positions.append(header.position)
            window.move(header.position + header.size)
            return super().observe(header, records)

    def work(note):
        decode = partial(columns.decode_records, window.view)
        table = decode(aborted_transactions=Filter([]))
        assert (len(table), table.end_position) == (0, len(window.view))
        assert len(positions) == 500

    check(work)


def test_filter_observes_each_batch(records):
    """``observe`` returns whether the records of a batch are hidden.

    The result depends on the batches that were passed before.
    """
    batches = list(records.decode_batches(LOG))
    filter_ = records.TransactionFilter(ABORTED)
    hidden = [filter_.observe(decoded.header, decoded.records) for decoded in batches]
    visible = [
        decoded
        for decoded, is_hidden in zip(batches, hidden, strict=True)
        if not is_hidden
    ]
    assert [row.value for decoded in visible for row in decoded.records] == COMMITTED
    # The filter's result depends on the batches that it has observed before. Batch 1
    # was hidden, because its transaction was aborted and had not ended. After the last
    # batch, all aborted transactions have ended, so the same batch is not hidden.
    assert hidden[1] and not filter_.observe(batches[1].header, batches[1].records)
