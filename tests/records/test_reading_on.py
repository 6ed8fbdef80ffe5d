# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A consumer continues at the offset after the last complete batch.

The offset after the last record would be wrong: control batches, aborted transactions,
and compacted batches end with offsets that have no record. A consumer that used it
would read the same bytes forever.
"""

import importlib

import pytest

ROWS = [(b"k", b"v%d" % number, 1000 + number) for number in range(5)]
MARKER = [(b"\0\0\0\1", b"\0\0\0\0\0\0")]


def columns_of(kwire, data, **options):
    """Decode ``data`` as columns."""
    columns = importlib.import_module(f"{kwire.__name__}.records.columns")
    return columns.decode_records(data, **options)


def marker(kwire, offset, producer_id=7):
    """Encode a batch with a commit marker at this offset."""
    return kwire.records.encode_batch(
        MARKER,
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=0,
        is_transactional=True,
        is_control=True,
    )


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_the_next_offset_is_after_the_last_record(kwire, magic, compression):
    """The next offset is the offset after the last record.

    Uncompressed and compressed batches of every format are tested.
    """
    encode = kwire.records.encode_batch
    data = encode(ROWS, magic=magic, compression=compression, base_offset=40)
    rows, next_offset = kwire.records.decode_records(data)
    assert [row.offset for row in rows] == [40, 41, 42, 43, 44]
    assert next_offset == 45
    assert kwire.records.read_last_header(data).last_offset == 44
    assert columns_of(kwire, data).next_offset == 45


def test_the_next_offset_is_after_a_control_batch(kwire):
    """The next offset is after a control batch, although its record is omitted."""
    data = kwire.records.encode_batch(ROWS) + marker(kwire, 5)
    rows, next_offset = kwire.records.decode_records(data)
    assert len(rows) == 5
    assert next_offset == columns_of(kwire, data).next_offset == 6


def test_the_next_offset_is_after_an_aborted_transaction(kwire):
    """The next offset is after an aborted transaction, even if no record remains."""
    aborted = kwire.messages.FetchResponse.AbortedTransaction
    data = kwire.records.encode_batch(
        ROWS, producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    hidden = [aborted(producer_id=7, first_offset=0)]
    decode = kwire.records.decode_records
    assert decode(data, aborted_transactions=hidden) == ([], 5)
    assert len(decode(data, aborted_transactions=[])[0]) == 5
    table = columns_of(kwire, data, aborted_transactions=hidden)
    assert (len(table), table.next_offset) == (0, 5)


def test_the_next_offset_is_after_the_last_offset_of_a_compacted_batch(kwire):
    """The next offset is the header's last offset plus one after compaction.

    This applies even if the batch has no records left.
    """
    encode, decode = kwire.records.encode_batch, kwire.records.decode_records
    rows, next_offset = decode(encode(ROWS[:2], last_offset=9))
    assert (len(rows), next_offset) == (2, 10)
    empty = encode([], base_offset=10, last_offset=19, max_timestamp=5)
    assert decode(empty) == ([], 20)
    assert columns_of(kwire, empty).next_offset == 20


def test_incomplete_batch_is_not_skipped(kwire):
    """If the last batch is incomplete, the next offset is its base offset.

    A broker truncates the last batch of a Fetch response. Without any complete batch,
    the next offset is None.
    """
    first = kwire.records.encode_batch(ROWS)
    second = kwire.records.encode_batch(ROWS, base_offset=5)
    for cut in (1, 16, 60, len(second) - 1):
        rows, next_offset = kwire.records.decode_records(first + second[:cut])
        assert (len(rows), next_offset) == (5, 5)
        assert columns_of(kwire, first + second[:cut]).next_offset == 5
    assert kwire.records.decode_records(first[:-1]) == ([], None)
    assert kwire.records.read_last_header(b"") is None
    assert columns_of(kwire, first[:-1]).next_offset is None
    assert columns_of(kwire, first)[1:2].next_offset == 5


def test_without_a_complete_batch_the_next_offset_is_the_start_offset(kwire):
    """Without a complete batch, the next offset is the requested start offset."""
    data = kwire.records.encode_batch([(None, b"a")])
    for incomplete in (b"", data[:-1]):
        decoded = kwire.records.decode_records(incomplete, start_offset=41)
        assert decoded == ([], 41)
    assert kwire.records.decode_records(data, start_offset=0)[1] == 1


def test_offsets_bound_the_rows_and_not_the_next_offset(kwire):
    """The next offset is after the whole batch, even if ``end_offset`` is within it."""
    data = kwire.records.encode_batch(ROWS, base_offset=100)
    rows, next_offset = kwire.records.decode_records(
        data, start_offset=101, end_offset=103
    )
    assert [row.offset for row in rows] == [101, 102]
    assert next_offset == 105


def test_read_last_header_rejects_invalid_headers(kwire):
    """``read_last_header`` raises CorruptBatch at the first invalid batch header.

    A position outside of the input raises ValueError.
    """
    data = kwire.records.encode_batch(ROWS)
    bad = bytearray(data)
    bad[16] = 9
    with pytest.raises(kwire.CorruptBatch) as caught:
        kwire.records.read_last_header(data + bytes(bad))
    assert caught.value.offset == len(data)
    with pytest.raises(ValueError, match="position"):
        kwire.records.read_last_header(data, len(data) + 1)
