# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``EncodedRows`` builds the same batch as ``encode_batch`` from the same rows.

A producer encodes each row immediately, instead of keeping it. The header fields are
set when the batch is sent.
"""

import random

import pytest

from tests.records.test_batch_builder import BAD

MOST = 2**40


@pytest.fixture
def encoded_rows(records):
    """Return the class ``EncodedRows`` of the tested engine."""
    return records.batches.engine.EncodedRows


@pytest.fixture
def make_header(kwire):
    """Return a function that creates a batch header from ``encode_batch`` options."""
    import importlib

    options = importlib.import_module(f"{kwire.__name__}.records.options")

    def make(count=1, **changes):
        return options.make_header(options.BatchOptions(**changes), count)

    return make


def some_rows(seed, count):
    """Return ``count`` different rows, with and without timestamps and headers."""
    dice = random.Random(seed)
    rows = []
    for _ in range(count):
        key = dice.choice([None, b"", dice.randbytes(dice.randrange(200))])
        value = dice.choice([None, bytearray(dice.randbytes(dice.randrange(9000)))])
        time = dice.choice([None, 0, dice.randrange(2**63), 1_700_000_000_000])
        headers = [("h" * dice.randrange(3), b"x"), ("é", None)][: dice.randrange(3)]
        row = (key, value, time, headers)
        rows.append(row[: dice.choice([2, 3, 4, 4])])
    return rows


@pytest.mark.parametrize("seed", range(8))
def test_the_batch_is_that_of_the_rows(records, encoded_rows, make_header, seed):
    """The bytes equal those of ``encode_batch``, for any rows in portions of any size.

    Building the batch again returns the same bytes.
    """
    rows = some_rows(seed, 300)
    timed = [(*row, None, ())[:4] if len(row) > 2 else (*row, None) for row in rows]
    timed = [(*row[:2], 77 if row[2] is None else row[2], *row[3:]) for row in timed]
    encoder = encoded_rows(MOST)
    index, dice = 0, random.Random(seed)
    while index < len(rows):
        index = encoder.extend(rows[: index + dice.randrange(60)], index, 77)
    assert len(encoder) == len(rows)
    numbers = {"producer_id": 9, "producer_epoch": 3, "base_sequence": 2**31 - 1}
    for changes in ({}, numbers, {"base_offset": 5}, {"log_append_time": 8}):
        data = encoder.make_batch(make_header(len(rows), **changes))
        assert data == records.encode_batch(timed, **changes)
        assert len(data) == 61 + encoder.content


def test_records_are_compressed_by_make_batch(records, encoded_rows, make_header):
    """``make_batch`` calls the passed compression function once per batch."""
    rows = some_rows(3, 20)
    encoder = encoded_rows(MOST)
    encoder.extend(rows, 0, 5)
    plain = encoder.make_batch(make_header(20))
    calls = []

    def compress(payload):
        calls.append(bytes(payload))
        return b"packed"

    data = encoder.make_batch(make_header(20), compress)
    assert calls == [plain[61:]]
    assert data[61:] == b"packed"
    assert encoder.make_batch(make_header(20)) == plain


def test_built_batch_is_unchanged_by_later_rows(records, encoded_rows, make_header):
    """Rows that are appended later do not change a batch that was built before.

    A batch may wait to be sent.
    """
    rows = some_rows(4, 40)
    timed = [(*row, None, ())[:4] for row in rows]
    timed = [(k, v, 5 if time is None else time, h) for k, v, time, h in timed]
    encoder = encoded_rows(MOST)
    encoder.extend(rows[:20], 0, 5)
    batches = []
    for count, sequence in ((20, 1), (20, 2), (21, 3), (40, 4), (40, 5)):
        encoder.extend(rows[:count], len(encoder), 5)
        numbers = {"producer_id": 1, "producer_epoch": 0, "base_sequence": sequence}
        header = make_header(count, **numbers)
        expected = records.encode_batch(timed[:count], **numbers)
        batches += [(encoder.make_batch(header), expected)] * 2
        packed = encoder.make_batch(header, lambda payload: bytes(payload)[::-1])
        assert packed[61:] == expected[:60:-1]
        assert len(encoder) == count
    assert all(batch == expected for batch, expected in batches)


def test_batch_excludes_rows_appended_during_build(records, encoded_rows, make_header):
    """If the compression function appends rows, they are not in the batch."""
    rows = [(b"k", bytes(300), 5)] * 30
    encoder = encoded_rows(MOST)
    encoder.extend(rows[:10])

    def compress(payload):
        encoder.extend(rows, len(encoder))
        return bytes(payload)

    data = encoder.make_batch(make_header(10), compress)
    assert data == records.encode_batch(rows[:10])
    assert encoder.make_batch(make_header(30)) == records.encode_batch(rows)


def test_offsets_of_records_are_replaced(records, encoded_rows, make_header):
    """Offsets of ``Record`` rows are ignored.

    The batch numbers its records without gaps.
    """
    rows = [records.Record(offset=n, key=b"k", value=b"v") for n in (9, 4, 700)]
    encoder = encoded_rows(MOST)
    encoder.extend(rows, 0, 5)
    decoded, end = records.decode_records(encoder.make_batch(make_header(3)))
    assert [row.offset for row in decoded] == [0, 1, 2]
    assert [row.timestamp for row in decoded] == [5, 5, 5]
    assert end == 3


def test_rows_are_copied_when_they_are_appended(records, encoded_rows, make_header):
    """Changes of the caller's buffers after ``append`` have no effect."""
    value, headers = bytearray(b"v"), [("h", b"x")]
    encoder = encoded_rows(MOST)
    encoder.extend([[b"k", value, 5, headers]])
    value[:] = b"changed"
    headers.clear()
    ((row,), _) = records.decode_records(encoder.make_batch(make_header()))
    assert (row.value, row.headers) == (b"v", (("h", b"x"),))


def test_extend_stops_at_the_size_limit(records, encoded_rows, make_header):
    """``extend`` appends rows until the size limit is reached exactly.

    The first row is accepted whatever its size is.
    """
    rows = [(b"%d" % n, bytes(n % 300), 5) for n in range(1000)]
    index, decoded = 0, []
    while index < len(rows):
        encoder = encoded_rows(1000)
        before, index = index, encoder.extend(rows, index)
        assert len(encoder) == index - before
        assert encoder.content <= 1000
        if index < len(rows):
            larger = encoded_rows(MOST)
            larger.extend(rows[before : index + 1])
            assert larger.content > 1000
        decoded += records.decode_records(
            encoder.make_batch(make_header(len(encoder)))
        )[0]
    assert [(row.key, row.value, row.timestamp) for row in decoded] == rows
    large = encoded_rows(10)
    assert large.extend([(b"k", bytes(5000)), (None, None)]) == 1
    assert large.extend(rows, 1000) == 1000
    assert len(large) == 1


@pytest.mark.parametrize(("row", "path"), BAD)
def test_encoded_rows_reject_invalid_rows(kwire, encoded_rows, make_header, row, path):
    """An invalid row raises an error.

    Earlier rows remain, and later ones can be added.
    """
    encoder = encoded_rows(1000)
    with pytest.raises(kwire.EncodeError) as caught:
        encoder.extend([(b"a", b"b"), row, (b"c", b"d")])
    assert caught.value.path == f"records[1].{path}"
    assert len(encoder) == 1
    assert encoder.extend([(b"c", b"d")]) == 1
    assert len(encoder) == 2
    with pytest.raises(TypeError, match="records must be a list or a tuple"):
        encoder.extend(iter([]))


def test_rows_appended_during_encoding_precede_the_row(
    records, encoded_rows, make_header
):
    """If encoding a row appends other rows, they precede this row in the batch.

    Headers may be iterables whose code appends rows.
    """
    encoder = encoded_rows(MOST)

    class Adds(list):
        """Headers that append another row when they are iterated."""

        def __iter__(self):
            encoder.extend([(b"inner", bytes(5000))])
            return super().__iter__()

    rows = [(b"outer", b"1"), (b"outer", b"2", 5, Adds([("h", b"x")]))]
    encoder.extend(rows, 0, 5)
    decoded, _ = records.decode_records(encoder.make_batch(make_header(len(encoder))))
    assert [row.key for row in decoded].count(b"outer") == 2
    assert len(decoded) == len(encoder)
