# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test batch conversion between magics, and its report."""

import pytest

from tests.harness.sweeps import sweep
from tests.records.record_bytes import batch, compressed_batch, message, record, wrapper
from tests.records.record_sets import HEADERS, SETS, header_of, marker, rows_of

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def counts(report):
    """Return the counters of a conversion report that are not 0, by name."""
    return {name: n for name in report.__slots__ if (n := getattr(report, name))}


def without_headers(row, magic):
    """Return a magic 2 row without the fields that the older magic cannot store."""
    offset, timestamp, key, value, _, kind = row
    if magic == 0:
        timestamp, kind = -1, -1
    return offset, timestamp, key, value, (), kind


@sweep("magic", [0, 1, 2])
@sweep("name", SETS)
def test_the_same_magic_is_copied(records, name, magic):
    """Batches that already have the requested magic are copied unchanged.

    They are copied even if their records are damaged.
    """
    data = SETS[name]
    heads, position = [], 0
    while head := records.read_batch_header(data, position):
        heads.append(head)
        position += head.size
    if {head.magic for head in heads} <= {magic}:
        converted, report = records.convert_batches(data, magic)
        assert converted == data
        assert counts(report) == ({"copied": len(heads)} if heads else {})
        assert report.is_lossless
    bad = compressed_batch(b"\1what is this", count=1)
    assert records.convert_batches(bad, 2)[0] == bad


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
def test_down_conversion_keeps_rows_and_compression(kwire, records, magic, codec):
    """Converting to an older magic keeps keys, values, offsets and the compression.

    zstd is the exception, because older magics do not support it.
    """
    data = SETS[f"magic 2 {codec}"]
    if codec == "zstd":
        with pytest.raises(kwire.EncodeError, match="zstd") as caught:
            records.convert_batches(message(magic, 0) + data, magic)
        assert caught.value.path == f"batch at byte {len(message(magic, 0))}"
        return
    converted, report = records.convert_batches(data, magic)
    before = rows_of(records.decode_batches(data))
    batches = list(records.decode_batches(converted))
    assert rows_of(batches) == [without_headers(row, magic) for row in before]
    assert {decoded.magic for decoded in batches} == {magic}
    assert {decoded.compression for decoded in batches} == {codec}
    expected = {"converted": 1, "headers": 3}
    if magic == 0:
        expected["timestamps"] = sum(row[1] >= 0 for row in before)
    assert counts(report) == expected
    assert not report.is_lossless


def test_uncompressed_records_become_single_messages(records):
    """Uncompressed records become single messages. Compressed ones share a wrapper."""
    rows = [record(0, 0, b"k", b"v"), record(2, 5, None, b"w")]
    fields = {"base_offset": 40, "base_timestamp": 100, "last_delta": 4}
    converted, _ = records.convert_batches(batch(*rows, **fields), 1)
    assert converted == message(1, 40, b"k", b"v", 100) + message(
        1, 42, None, b"w", 105
    )
    converted, _ = records.convert_batches(batch(*rows, **fields), 0)
    assert converted == message(0, 40, b"k", b"v") + message(0, 42, None, b"w")
    (decoded,) = records.decode_batches(
        records.convert_batches(compressed_batch(*rows, **fields), 1)[0]
    )
    assert (decoded.base_offset, decoded.last_offset) == (40, 42)
    assert decoded.max_timestamp == 105


@pytest.mark.parametrize("magic", [0, 1])
def test_down_conversion_drops_control_and_empty_batches(records, magic):
    """Converting to an older magic drops control batches and batches without records.

    Records of transactions lose their producer fields.
    """
    data = SETS["transactions"] + SETS["emptied"]
    converted, report = records.convert_batches(data, magic)
    batches = list(records.decode_batches(converted))
    assert [row[3] for row in rows_of(batches)] == [b"a", b"b", b"c", b"d"]
    assert report.control_batches == 3
    assert report.empty_batches == 1
    assert report.producer_fields == 3
    assert report.converted == 3
    assert not report.is_lossless


def test_damage_in_dropped_batches_is_ignored(records):
    """A damaged control batch is dropped without an error, because it is not read."""
    bad = batch(b"\1what is this", count=1, attributes=0x20)
    assert records.convert_batches(bad, 1)[0] == b""


@pytest.mark.parametrize("name", ["magic 1 none", "magic 1 gzip", "relative"])
def test_down_conversion_to_magic_0_keeps_absolute_offsets(records, name):
    """Magic 0 has no timestamps, and keeps the absolute offsets in a wrapper."""
    converted, report = records.convert_batches(SETS[name], 0)
    before = rows_of(records.decode_batches(SETS[name]))
    assert rows_of(records.decode_batches(converted)) == [
        without_headers(row, 0) for row in before
    ]
    assert report.timestamps == sum(row[1] >= 0 for row in before)
    assert report.headers == report.producer_fields == 0


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("to", [1, 2])
@pytest.mark.parametrize("codec", CODECS[:4])
def test_up_conversion_from_magic_0_has_no_timestamps(records, to, codec, kind):
    """Records from magic 0 have no timestamp after the conversion.

    They get the timestamp type of the topic.
    """
    data = SETS[f"magic 0 {codec}"]
    converted, report = records.convert_batches(data, to, timestamp_type=kind)
    batches = list(records.decode_batches(converted))
    assert rows_of(batches) == [
        (*row[:5], kind) for row in rows_of(records.decode_batches(data))
    ]
    assert all(row[1] == -1 for row in rows_of(batches))
    assert {(decoded.magic, decoded.compression) for decoded in batches} == {
        (to, codec)
    }
    assert counts(report) == {"converted": 1}
    assert report.is_lossless


@pytest.mark.parametrize(
    "data",
    [
        SETS["run"],
        SETS["relative"],
        SETS["append time inside"],
        SETS["magic 1 lz4"],
        message(1, 2**63 - 1, b"k", timestamp=2**63 - 1),
        message(1, 5, attributes=8, timestamp=9),
    ],
)
def test_up_conversion_from_magic_1_has_no_producer(records, data):
    """Batches from magic 1 have no producer.

    They start at their first record's offset.
    """
    converted, report = records.convert_batches(data, 2)
    (decoded,) = records.decode_batches(converted)
    before = rows_of(records.decode_batches(data))
    assert rows_of([decoded]) == before
    assert decoded.base_offset == before[0][0]
    assert header_of(decoded.header)[9:13] == (-1, -1, -1, -1)
    assert counts(report) == {"converted": 1}
    assert report.is_lossless


def test_log_append_time_is_kept(records):
    """A log append time remains the maximum timestamp of the batch in magic 1 and 2."""
    data = batch(record(timestamp=5), attributes=8, max_timestamp=77)
    converted, _ = records.convert_batches(data, 1)
    assert converted == message(1, 0, timestamp=77, attributes=8)
    restored, _ = records.convert_batches(converted, 2)
    assert rows_of(records.decode_batches(restored)) == [(0, 77, None, None, (), 1)]


def test_records_below_the_start_offset_are_dropped(records):
    """Records before the start offset are dropped from uncompressed batches only.

    This applies to conversions to an older magic, as in Kafka.
    """
    rows = [record(i, value=b"v") for i in range(4)]
    for data, expected in (
        (batch(*rows, base_offset=10), [12, 13]),
        (compressed_batch(*rows, base_offset=10), [10, 11, 12, 13]),
        (message(1, 10) + message(1, 11), [10, 11]),
    ):
        converted, report = records.convert_batches(data, 1, start_offset=12)
        assert [
            row[0] for row in rows_of(records.decode_batches(converted))
        ] == expected
        assert report.below_start == 4 - len(expected) or not report.converted
    converted, report = records.convert_batches(batch(*rows), 1, start_offset=9)
    assert converted == b""
    assert counts(report) == {"below_start": 4, "empty_batches": 1}


def test_mixed_set_is_converted_in_order(records):
    """All batches of a mixed record set are converted separately, in order."""
    data = SETS["all magics"]
    before = rows_of(records.decode_batches(data))
    for magic in (0, 1, 2):
        converted, report = records.convert_batches(data, magic)
        after = rows_of(records.decode_batches(converted))
        assert [row[::3] for row in after] == [row[::3] for row in before]
        assert {decoded.magic for decoded in records.decode_batches(converted)} == {
            magic
        }
        # The two magic 0 messages become one magic 2 batch, or two messages.
        expected = {0: (2, 5), 1: (3, 3), 2: (2, 4)}[magic]
        assert (report.copied, report.converted) == expected


def test_convert_omits_an_incomplete_last_batch(records):
    """If the last batch is incomplete, it is omitted."""
    data = batch(record()) + message(1, 1)[:-1]
    for magic, size in ((2, len(batch(record()))), (1, 34)):
        converted, report = records.convert_batches(data, magic)
        assert (len(converted), report.trailing_bytes) == (size, 33)
        assert report.is_lossless
    assert repr(records.convert_batches(data, 2)[1]) == (
        "ConversionReport(copied=1, trailing_bytes=33)"
    )


def test_convert_reports_the_offset_of_damage(kwire, records):
    """A damaged batch raises an error with its offset.

    Checksums are also verified for copied batches, unless the caller trusts them.
    """
    valid, damaged = batch(record()), batch(record(), crc=5)
    for magic in (0, 1, 2):
        with pytest.raises(kwire.errors.CorruptBatch) as caught:
            records.convert_batches(valid + damaged, magic)
        assert caught.value.offset == len(valid)
        assert records.convert_batches(valid + damaged, magic, check_crc=False)[0]
    damaged = batch(record(), b"\1", last_delta=1)
    with pytest.raises(kwire.errors.DecodeError) as caught:
        records.convert_batches(valid + damaged, 1)
    assert caught.value.offset == len(valid)


@pytest.mark.parametrize("magic", [3, -1, None, "2"])
def test_convert_rejects_unknown_magics(kwire, records, magic):
    """A magic other than 0, 1 or 2 raises an error."""
    with pytest.raises(kwire.EncodeError, match="must be 0, 1 or 2"):
        records.convert_batches(b"", magic)


def test_convert_applies_limits(kwire, records):
    """``limits`` applies to converted batches, because they are decompressed."""
    data = compressed_batch(record(value=bytes(5000)))
    limits = kwire.Limits(decompressed_bytes=1000)
    with pytest.raises(kwire.errors.LimitExceeded):
        records.convert_batches(data, 1, limits=limits)
    assert records.convert_batches(data, 2, limits=limits)[0] == data


@pytest.mark.parametrize("name", ["all magics", "magic 2 none", "nothing"])
def test_both_engines_convert_to_the_same_bytes(twins, name):
    """Both engines return the same bytes and the same report."""
    for magic in (0, 1, 2):
        results = [p.records.convert_batches(SETS[name], magic) for p in twins]
        assert results[0][0] == results[1][0]
        assert counts(results[0][1]) == counts(results[1][1])


def test_headers_are_counted_one_by_one(records):
    """The report counts every header, not the records that have headers."""
    data = batch(record(headers=HEADERS), record(1, headers=HEADERS[:1]))
    _, report = records.convert_batches(data, 1)
    assert report.headers == 5


def test_the_input_is_released(kwire, records):
    """The input is released after success and failure, even if the error is kept."""
    for data in (
        batch(record()) + marker(1, 5, 1) + wrapper(1, message(1, 2)),
        batch(record(), crc=5),
        batch(record(), b"\1", last_delta=1),
        compressed_batch(b"\1", count=1),
    ):
        source = bytearray(data)
        try:
            result = records.convert_batches(source, 1)
        except kwire.DecodeError as error:
            result = error
        source.append(0)
        assert result
