# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``BatchBuilder`` accepts rows until the batch is full, and never exceeds its size.

A producer sends what ``build`` returns, so the limit must hold for every compression,
even for incompressible data.
"""

import gc
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.records.record_sets import row_of
from tests.records.test_writing import BYTES, HEADERS, MAGICS_AND_CODECS, NUMBERS


def built(records, builder):
    """Build the batch, and return its rows."""
    return [
        row_of(record)
        for batch in records.decode_batches(builder.build())
        for record in batch.records
    ]


@pytest.mark.parametrize(("magic", "codec"), MAGICS_AND_CODECS)
def test_a_batch_is_filled_and_not_overfilled(records, magic, codec):
    """``append`` accepts rows until the next row may exceed the maximum batch size.

    The rejected row does not change the builder.
    """
    dice = random.Random(3)
    for limit in (400, 1000, 5000, 100_000):
        builder = records.BatchBuilder(limit, magic=magic, compression=codec)
        rows = []
        while True:
            value = dice.randbytes(dice.randrange(limit // 10))
            before = builder.size_bound_bytes
            is_appended = builder.append(b"key", value, 1000)
            if not is_appended:
                break
            rows.append((b"key", value))
            assert before < builder.size_bound_bytes
        assert builder.size_bound_bytes == before
        assert len(builder) == len(rows) >= 1
        data = builder.build()
        assert len(data) <= builder.size_bound_bytes <= limit
        assert [row[2:4] for row in built(records, builder)] == rows
        if codec == "none":
            # The upper bound is close enough to the real size to fill at least 60 % of
            # the batch.
            assert len(data) > limit * 0.6


@pytest.mark.parametrize(("magic", "codec"), MAGICS_AND_CODECS)
def test_append_always_accepts_the_first_row(records, magic, codec):
    """The first row is accepted whatever its size is, but not the second one."""
    builder = records.BatchBuilder(100, magic=magic, compression=codec)
    assert builder.append(b"k", bytes(5000), 5)
    assert builder.size_bound_bytes >= 100
    assert not builder.append(None, None)
    assert [row[3] for row in built(records, builder)] == [bytes(5000)]


def test_the_bound_of_a_plain_batch_is_tight(records):
    """The size bound of an uncompressed batch is at most 28 bytes per record too high.

    This is the difference between the shortest and the longest varints of a record.
    """
    builder = records.BatchBuilder(10**6)
    for number in range(100):
        builder.append(b"k" * 10, bytes(100), number, [("h", b"x")])
    assert len(builder.build()) <= builder.size_bound_bytes
    assert builder.size_bound_bytes - len(builder.build()) <= 100 * 28


@pytest.mark.parametrize(("magic", "codec"), MAGICS_AND_CODECS)
def test_row_that_fits_exactly_is_accepted(records, magic, codec):
    """A row that fits exactly is accepted, but not a row with one byte more."""
    options = {"magic": magic, "compression": codec}
    first = records.BatchBuilder(10**6, **options)
    rows = [(b"k", bytes(70)), (None, bytes(200))]
    for row in rows:
        assert first.append(*row)
    exact = records.BatchBuilder(first.size_bound_bytes, **options)
    assert [exact.append(*row) for row in rows] == [True, True]
    short = records.BatchBuilder(first.size_bound_bytes - 1, **options)
    assert [short.append(*row) for row in rows] == [True, False]


@given(
    rows=st.lists(st.tuples(BYTES, BYTES, NUMBERS, HEADERS), max_size=8),
    limit=st.integers(0, 700),
    kind=st.sampled_from(MAGICS_AND_CODECS),
)
def test_size_bound_holds_for_all_rows(kwire, rows, limit, kind):
    """A built batch never exceeds the size bound, for any rows on both engines."""
    magic, codec = kind
    options = {"magic": magic, "compression": codec, "base_offset": 2**40}
    builder = kwire.records.BatchBuilder(limit, **options)
    appended = []
    for row in rows:
        row = row if magic == 2 else (*row[:3], ())
        if builder.append(*row):
            appended.append(row)
            assert len(appended) == 1 or builder.size_bound_bytes <= limit
        else:
            assert appended
    assert bool(appended) == bool(rows)
    if appended:
        data = builder.build()
        assert len(data) <= builder.size_bound_bytes
        assert data == kwire.records.encode_batch(appended, **options)


def test_both_engines_have_the_same_bound(twins):
    """Both engines accept the same rows, so that producers build the same batches."""
    dice = random.Random(8)
    for magic, codec in MAGICS_AND_CODECS:
        builders = [
            package.records.BatchBuilder(3000, magic=magic, compression=codec)
            for package in twins
        ]
        for _ in range(40):
            headers = (
                [("h" * dice.randrange(90), None)] * (magic // 2) * dice.randrange(3)
            )
            row = (None, dice.randbytes(dice.randrange(200)), None, headers)
            assert builders[0].append(*row) == builders[1].append(*row)
            assert builders[0].size_bound_bytes == builders[1].size_bound_bytes


BAD = [
    (("k", b"v"), "key"),
    ((b"k", 5), "value"),
    ((b"k", b"v", "now"), "timestamp"),
    ((b"k", b"v", -2), "timestamp"),
    ((b"k", b"v", 2**63), "timestamp"),
    ((b"k", b"v", 5, {"h": b"v"}), "headers"),
    ((b"k", b"v", 5, [("h", b"v"), ("h", 5)]), "headers[1].value"),
    ((b"k", b"v", 5, [(None, b"v")]), "headers[0].key"),
]


@pytest.mark.parametrize(("row", "path"), BAD)
def test_append_rejects_invalid_rows(kwire, records, row, path):
    """An invalid row raises an error when it is appended.

    The builder remains usable.
    """
    builder = records.BatchBuilder(1000)
    builder.append(b"a", b"b")
    before = builder.size_bound_bytes
    with pytest.raises(kwire.EncodeError) as caught:
        builder.append(*row)
    assert caught.value.path == path
    assert (len(builder), builder.size_bound_bytes) == (1, before)
    builder.append(b"c", b"d")
    assert [row[2:4] for row in built(records, builder)] == [(b"a", b"b"), (b"c", b"d")]


@pytest.mark.parametrize("magic", [0, 1])
def test_messages_have_no_headers(kwire, records, magic):
    """Magic 0 and 1 have no headers, so ``append`` raises an error for headers."""
    builder = records.BatchBuilder(1000, magic=magic)
    with pytest.raises(kwire.EncodeError) as caught:
        builder.append(b"k", b"v", 5, [("h", b"v")])
    assert caught.value.path == "headers"
    assert len(builder) == 0


def test_append_copies_the_row(records):
    """``append`` copies the row.

    If the caller changes its buffers and lists later, the batch does not change.
    """
    builder = records.BatchBuilder(300)
    value, headers = bytearray(b"v"), [("h", b"1")]
    builder.append(value, value, 5, headers)
    builder.append(b"k", b"v", 5, (pair for pair in [("i", b"2")]))
    value.extend(bytes(1000))
    headers.append(("j", bytes(1000)))
    assert len(builder.build()) <= builder.size_bound_bytes <= 300
    assert [row[2:] for row in built(records, builder)] == [
        (b"v", b"v", (("h", b"1"),)),
        (b"k", b"v", (("i", b"2"),)),
    ]


def test_builder_options_apply_to_every_batch(records):
    """Every built batch contains the producer fields and offsets of the options."""
    builder = records.BatchBuilder(
        500,
        base_offset=70,
        producer_id=5,
        producer_epoch=6,
        base_sequence=7,
        is_transactional=True,
    )
    builder.append(b"k", b"v")
    first = builder.build()
    assert first == builder.build()
    (batch,) = records.decode_batches(first)
    assert (batch.base_offset, batch.producer_id, batch.base_sequence) == (70, 5, 7)
    assert batch.is_transactional


def test_build_rejects_an_empty_batch(kwire, records):
    """If there are no rows, ``build`` raises an error that says what is missing."""
    builder = records.BatchBuilder(500)
    assert len(builder) == 0
    with pytest.raises(kwire.EncodeError, match="records: must not be empty"):
        builder.build()


def test_producer_fields_are_set_by_build(kwire, records):
    """The producer fields can be passed to ``build``, and again for a retry."""
    builder = records.BatchBuilder(500, compression="gzip")
    builder.append(b"k", b"v", 5)
    numbers = {"producer_id": 5, "producer_epoch": 6, "base_sequence": 7}
    built = builder.build(**numbers)
    rebuilt = builder.build(producer_id=5, producer_epoch=7, base_sequence=0)
    expected = records.encode_batch([(b"k", b"v", 5)], compression="gzip", **numbers)
    assert built == expected
    (batch,) = records.decode_batches(rebuilt)
    assert (batch.producer_epoch, batch.base_sequence) == (7, 0)
    (plain,) = records.decode_batches(builder.build())
    assert (plain.producer_id, plain.producer_epoch, plain.base_sequence) == (-1,) * 3
    with pytest.raises(kwire.EncodeError, match="base_sequence: is required"):
        builder.build(producer_id=5, producer_epoch=7)


def test_build_uses_the_arguments_of_the_constructor(records):
    """If ``build`` gets only a sequence number, it uses the constructor's arguments."""
    builder = records.BatchBuilder(
        500, producer_id=5, producer_epoch=6, base_sequence=7
    )
    builder.append(b"k", b"v")
    (batch,) = records.decode_batches(builder.build(base_sequence=9))
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (5, 6, 9)


def test_a_transactional_batch_waits_for_its_producer(kwire, records):
    """A transactional batch can be started without a producer, but not built."""
    builder = records.BatchBuilder(500, is_transactional=True)
    builder.append(b"k", b"v")
    with pytest.raises(kwire.EncodeError, match="producer_id: is required"):
        builder.build()
    data = builder.build(producer_id=5, producer_epoch=0, base_sequence=0)
    (batch,) = records.decode_batches(data)
    assert batch.is_transactional


def test_append_now_sets_the_current_time(kwire, records):
    """``append_now`` appends a row with the current time, and returns this time.

    A producer uses it to compute the linger time. If the batch is full, it returns 0.
    """
    rows = records.batches.engine.RecordList(2, 200)
    before = time.time_ns() // 1_000_000
    timestamp = rows.append_now(b"k", b"v")
    assert before <= timestamp <= time.time_ns() // 1_000_000
    assert rows.append_now(None, bytearray(b"w"), 5, [("h", b"x")]) >= timestamp
    assert rows.records == [
        (b"k", b"v", timestamp, ()),
        (None, b"w", 5, (("h", b"x"),)),
    ]
    assert rows.append_now(b"k", bytes(200)) == 0
    with pytest.raises(kwire.EncodeError):
        rows.append_now("text", b"v")
    assert len(rows) == 2


def test_rows_that_are_in_no_cycle_are_not_visited_by_the_collector(kwire, records):
    """The garbage collector does not track rows that cannot be part of a cycle.

    Tracking all rows would make ``append`` quadratic. Rows are only tracked if a header
    has an unknown class.
    """

    class Text(str):
        """Subclass of str, whose instances may be part of a reference cycle."""

    rows = records.batches.engine.RecordList(2, 1 << 20)
    headers = [(Text("h"), b"x")]
    rows.append(b"k", b"v", 5, headers)
    rows.append(b"k", b"v", 5)
    rows.extend([(bytearray(b"k"), None), (b"k", b"v", 5, headers)], 0, 7)
    tracked = [gc.is_tracked(row) for row in rows.records]
    assert tracked[0]
    assert tracked[3]
    if kwire.backend == "fast":
        assert tracked == [True, False, False, True]


def test_extend_equals_single_appends(records):
    """``extend`` appends the same rows as single calls of ``append``.

    A row without a timestamp gets the passed one. Later changes of the caller's objects
    have no effect.
    """
    record = records.Record(offset=9, key=b"f", value=b"6", headers=(("j", b"z"),))
    value, headers = bytearray(b"3"), [("h", b"x")]
    rows = [
        (b"a", b"1"),
        (None, b"2", 70),
        [b"c", value, None, headers],
        (memoryview(b"d"), None, 0, (("h", None),)),
        (b"e", b"5", None, (("i", b"y"),)),
        record,
    ]
    builder = records.BatchBuilder(10**6)
    assert builder.extend(rows, timestamp=1234) == 6
    value.extend(b"changed")
    headers.append(("k", b"more"))
    one_by_one = records.BatchBuilder(10**6)
    one_by_one.append(b"a", b"1", 1234)
    one_by_one.append(None, b"2", 70)
    one_by_one.append(b"c", b"3", 1234, [("h", b"x")])
    one_by_one.append(b"d", None, 0, [("h", None)])
    one_by_one.append(b"e", b"5", 1234, [("i", b"y")])
    one_by_one.append(b"f", b"6", 1234, [("j", b"z")])
    assert builder.build() == one_by_one.build()
    assert (len(builder), builder.content) == (6, one_by_one.content)
    assert builder.extend(rows[:2]) == 2
    assert [row[1] for row in built(records, builder)[-2:]] == [-1, 70]


def test_extend_returns_the_index_of_the_next_row(records):
    """The next batch continues at the returned index, without lost or repeated rows."""
    rows = [(b"%d" % n, bytes(n % 300)) for n in range(1000)]
    index, appended = 0, []
    while index < len(rows):
        builder = records.BatchBuilder(2000)
        index = builder.extend(rows, index, 5)
        assert len(builder) >= 1
        assert len(builder.build()) <= builder.size_bound_bytes <= 2000
        appended += built(records, builder)
    assert [row[2:4] for row in appended] == rows
    assert builder.extend(rows, 1000) == 1000
    assert builder.extend(rows, 2000) == 2000


@pytest.mark.parametrize(("row", "path"), BAD)
def test_extend_rejects_invalid_rows(kwire, records, row, path):
    """An invalid row raises an error. The rows before it have been appended.

    The builder remains usable.
    """
    builder = records.BatchBuilder(1000)
    with pytest.raises(kwire.EncodeError) as caught:
        builder.extend([(b"a", b"b"), row, (b"c", b"d")])
    assert caught.value.path == f"records[1].{path}"
    assert len(builder) == 1
    assert builder.extend([(b"c", b"d")]) == 1
    with pytest.raises(TypeError, match="records must be a list or a tuple"):
        builder.extend(iter([]))
