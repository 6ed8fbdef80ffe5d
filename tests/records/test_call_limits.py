# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the limit for a call over many batches, and the functions that return pieces.

Every producer of a topic can write 2 KB batches that decompress to 64 MiB. A limit for
single batches does not help if there are many: without a limit for the call, a 128 KB
input allocated 3.9 GB.
"""

import pytest

from tests.harness.bombs import MIB, measure

BATCHES = 12
"""Number of batches that decompress to 64 MiB each, 768 MiB together.

If a call does not release a batch before the next one, it exceeds ``MOST_MIB``.
"""

MOST_MIB = 600
"""Peak memory in MiB that a call must not exceed.

It is less than the size of all batches, but more than the limits of one call.
"""

WHOLE = {
    "rows": "len(chunk.records())",
    "records": "len(chunk.columns)",
    "arrow": "chunk.to_arrow().num_rows",
    "decode_records": "len(kwire.records.columns.decode_records(data, views=True))",
    "records_to_arrow": "kwire.records.arrow.records_to_arrow(data).num_rows",
}
PIECES = {
    "messages": "sum(1 for _ in chunk.iter_records())",
    "iter_records": "sum(len(each) for each in chunk.iter_columns())",
    "iter_arrow": "sum(each.num_rows for each in chunk.iter_arrow())",
    "batches": "sum(len(each.records) for each in chunk.batches())",
}


@pytest.mark.gate_on_pure
@pytest.mark.parametrize("form", WHOLE)
def test_bombs_in_one_call_end_with_limit_exceeded(kwire, form):
    """If the batches exceed the limit of a call, LimitExceeded names the limit.

    The peak memory of the call remains below ``MOST_MIB``.
    """
    result, peak = measure(kwire, WHOLE[form], BATCHES)
    assert result == "LimitExceeded"
    assert peak < MOST_MIB


@pytest.mark.gate_on_pure
@pytest.mark.parametrize("form", PIECES)
def test_bombs_are_read_completely_in_pieces(kwire, form):
    """Functions that return pieces decode all batches with the memory of one piece."""
    result, peak = measure(kwire, PIECES[form], BATCHES)
    assert result == str(BATCHES)
    assert peak < MOST_MIB


@pytest.mark.parametrize("form", ["rows", "messages"])
def test_bombs_of_smallest_records_end_with_limit_exceeded(kwire, form):
    """9 million records of 7 bytes raise LimitExceeded.

    They fit into the 64 MiB limit of a batch, but would need 1.3 GB as objects.
    """
    forms = WHOLE | PIECES
    result, peak = measure(kwire, forms[form], 1, record_count=9 << 20)
    assert result == "LimitExceeded"
    assert peak < MOST_MIB


def make_sets(kwire):
    """Return record sets by (magic, codec).

    A set has three compressed entries with two records of 1,000 bytes each.
    """
    encode = kwire.records.encode_batch
    return {
        (magic, codec): b"".join(
            encode(
                [(None, bytes(1000)), (b"k", b"v" * 1000)],
                magic=magic,
                base_offset=2 * number,
                compression=codec,
            )
            for number in range(3)
        )
        for magic, codec in [(0, "gzip"), (1, "lz4"), (2, "zstd"), (2, "snappy")]
    }


def decoders(kwire):
    """Return the three functions that decode a record set in one call."""
    return (
        kwire.records.decode_records,
        kwire.records.columns.decode_records,
        kwire.records.arrow.records_to_arrow,
    )


def test_calls_may_decompress_as_much_as_their_limit(kwire):
    """The limit applies to all entries together.

    The error contains the entry's offset.
    """
    for data in make_sets(kwire).values():
        size = kwire.records.read_batch_header(data, 0).size
        low, high = 1, 10_000
        while high - low > 1:
            middle = (low + high) // 2
            limits = kwire.Limits(total_decompressed_bytes=middle)
            try:
                kwire.records.decode_records(data, limits=limits)
                high = middle
            except kwire.LimitExceeded:
                low = middle
        assert 6000 < high < 6500
        for decode in decoders(kwire):
            decode(data, limits=kwire.Limits(total_decompressed_bytes=high))
            # The third entry exceeds the limit, so the offset is within its bytes.
            with pytest.raises(kwire.LimitExceeded, match="total_decompressed") as info:
                decode(data, limits=kwire.Limits(total_decompressed_bytes=low))
            assert 2 * size - 10 <= info.value.offset < len(data)
        limits = kwire.Limits(total_decompressed_bytes=high // 3 + 1)
        assert len(list(kwire.records.decode_batches(data, limits=limits))) == 3


def test_plain_batches_have_no_limit_for_the_call(kwire):
    """The limit for decompressed bytes does not apply to uncompressed batches."""
    data = kwire.records.encode_batch([(None, bytes(1000))] * 10)
    limits = kwire.Limits(total_decompressed_bytes=1)
    for decode in decoders(kwire):
        decode(data * 3, limits=limits)


def test_small_records_count_as_64_bytes(kwire):
    """Every record counts at least 64 bytes of the limit.

    This is the memory that an object or a row needs.
    """
    data = kwire.records.encode_batch([(None, None)] * 100, compression="gzip")
    for decode in decoders(kwire):
        decode(data, limits=kwire.Limits(total_decompressed_bytes=6400))
        with pytest.raises(kwire.LimitExceeded, match="total_decompressed_bytes"):
            decode(data, limits=kwire.Limits(total_decompressed_bytes=6399))


def test_one_batch_may_not_pass_the_limit_of_the_call(kwire):
    """A single batch that exceeds the limit of the call raises LimitExceeded.

    The limit for one batch is None in this test.
    """
    data = kwire.records.encode_batch([(None, bytes(5000))], compression="gzip")
    limits = kwire.Limits(decompressed_bytes=None, total_decompressed_bytes=4000)
    for decode in decoders(kwire):
        with pytest.raises(kwire.LimitExceeded, match="more than 4000 bytes"):
            decode(data, limits=limits)


def test_false_record_counts_are_damage_and_no_limit(kwire):
    """A record count that contradicts the bytes raises CorruptBatch.

    It is not an exceeded limit.
    """
    data = bytearray(kwire.records.encode_batch([(None, None)], compression="gzip"))
    data[57:61] = (1 << 30).to_bytes(4, "big")
    for decode in decoders(kwire)[:2]:
        with pytest.raises(kwire.DecodeError) as info:
            decode(bytes(data), check_crc=False)
        assert not isinstance(info.value, kwire.LimitExceeded)


def test_pieces_together_are_the_whole(kwire):
    """The pieces together contain all records once and in order.

    All piece sizes are tested.
    """
    data = b"".join(make_sets(kwire).values())
    rows = kwire.records.decode_records(data)[0]
    assert len(rows) == 24
    for piece_bytes in (1, 2000, 2500, 5000, MIB):
        pieces = list(kwire.records.iter_records(data, piece_bytes=piece_bytes))
        assert [row for piece in pieces for row in piece] == rows
        columns = list(
            kwire.records.columns.iter_records(data, piece_bytes=piece_bytes)
        )
        assert [len(table) for table in columns] == [len(table) for table in pieces]
        values = [table.value[n] for table in columns for n in range(len(table))]
        assert values == [row.value for row in rows]
        assert len(pieces) == {1: 12, MIB: 1}.get(piece_bytes, len(pieces))


def test_pieces_apply_offsets_and_transactions(kwire):
    """Offset range and transaction filter apply to all pieces of a record set.

    The marker of a transaction may be in a later piece than its records.
    """
    encode = kwire.records.encode_batch
    producer = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
    marker = {**producer, "is_transactional": True, "is_control": True}
    data = b"".join(
        [
            encode([(None, b"a")] * 3, compression="gzip"),
            encode([(None, b"b")], base_offset=3, is_transactional=True, **producer),
            encode(
                [(None, b"c")],
                base_offset=4,
                compression="gzip",
                is_transactional=True,
                **producer,
            ),
            encode([(bytes(4), bytes(6))], base_offset=5, **marker),
            encode([(None, b"d")], base_offset=6, is_transactional=True, **producer),
            encode([(None, b"e")] * 4, base_offset=7, compression="lz4"),
            b"cut",
        ]
    )
    aborted = [kwire.messages.FetchResponse.AbortedTransaction(producer_id=7)]
    options = {"aborted_transactions": aborted, "start_offset": 1, "end_offset": 9}
    offsets = [row.offset for row in kwire.records.decode_records(data, **options)[0]]
    assert offsets == [1, 2, 6, 7, 8]
    for piece_bytes in (1, 100, MIB):
        rows = kwire.records.iter_records(data, piece_bytes=piece_bytes, **options)
        assert [row.offset for piece in rows for row in piece] == offsets
        columns = kwire.records.columns.iter_records(
            data, piece_bytes=piece_bytes, **options
        )
        assert [int(n) for table in columns for n in table.offset] == offsets


def test_pieces_before_damage_are_returned(kwire):
    """Pieces before a damaged batch are returned, and then CorruptBatch is raised."""
    data = kwire.records.encode_batch([(None, b"a")], compression="gzip")
    bad = data[:-1] + bytes([data[-1] ^ 1])
    for iterate in (kwire.records.iter_records, kwire.records.columns.iter_records):
        pieces = iterate(data + bad, piece_bytes=1)
        assert len(next(pieces)) == 1
        with pytest.raises(kwire.CorruptBatch):
            next(pieces)


def test_pieces_of_no_bytes_are_rejected(kwire):
    """A piece size of 0 raises an error, because a piece has at least one batch."""
    for iterate in (kwire.records.iter_records, kwire.records.columns.iter_records):
        with pytest.raises(ValueError, match="piece_bytes must be 1 or more"):
            list(iterate(b"", piece_bytes=0))
        assert list(iterate(b"")) == []
