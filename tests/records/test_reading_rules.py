# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test how a record set is read: where it ends, and which bytes are damage.

The rules and their order are taken from Kafka's own reader. All readers apply them:
headers only, objects, and columns.
"""

import mmap

import pytest

from tests.harness.sweeps import sweep
from tests.records.record_bytes import batch, compressed_batch, message, record, wrapper
from tests.records.record_sets import SETS, package_of, rows_of, table_of

GOOD = {
    0: message(0, 0, b"k", b"v"),
    1: message(1, 0, b"k", b"v", 5),
    2: batch(record(key=b"k", value=b"v")),
}


def read_heads(records, columns, data, **options):
    """Read all batch headers, and return them as a list."""
    position, headers = options.pop("position", 0), []
    while header := records.read_batch_header(data, position, **options):
        assert header.position == position
        position += header.size
        headers.append(header)
    return headers


def read_objects(records, columns, data, **options):
    """Decode the records as objects."""
    return rows_of(records.decode_batches(data, **options))


def read_columns(records, columns, data, **options):
    """Decode the records as columns."""
    return table_of(columns.decode_records(data, **options))


READERS = {"heads": read_heads, "objects": read_objects, "columns": read_columns}


@pytest.fixture(params=READERS)
def read(request, records, columns):
    """Return one of the readers in ``READERS``. The test runs once per reader."""
    reader = READERS[request.param]
    return lambda data, **options: reader(records, columns, data, **options)


def check_damage(records, read, data, offset, words, **options):
    """Assert that reading raises CorruptBatch at ``offset`` with the text ``words``."""
    with pytest.raises(package_of(records).errors.CorruptBatch, match=words) as caught:
        read(data, **options)
    assert (caught.value.offset, caught.value.path) == (offset, "")


def with_size(data, size):
    """Return a copy of the entry in which the size field is replaced."""
    return data[:8] + size.to_bytes(4, "big", signed=True) + data[12:]


@sweep("magic", GOOD)
@sweep("count", range(12))
def test_fewer_bytes_than_an_offset_and_a_size_are_the_end(read, magic, count):
    """Rule 1: fewer than 12 bytes at the end are ignored, whatever they contain.

    They cannot contain an offset and a size.
    """
    assert len(read(GOOD[magic] + b"\xff" * count)) == 1


@sweep("count", [12, 16, 17, 100])
@sweep("size", [13, 0, -1, -(2**31)])
def test_a_size_that_no_entry_has_is_damage(records, read, size, count):
    """Rule 2: a size below 14 is damage, even if the entry is incomplete."""
    bad = with_size(bytes(count), size)
    for start in (b"", GOOD[2], GOOD[0]):
        check_damage(records, read, start + bad, len(start), f"{size} bytes is smaller")


@sweep("count", range(12, 17))
@sweep("size", [14, 4000, 2**31 - 1])
def test_batch_without_magic_is_the_end(read, size, count):
    """Rule 4: if an entry ends before its magic byte, reading stops without error."""
    assert len(read(GOOD[2] + with_size(b"\xff" * count, size))) == 1


@sweep(("byte", "shown_magic"), [(3, "3"), (0x7F, "127"), (0xFF, "-1")])
@sweep("size", [14, 5, 2**31 - 1])
def test_another_magic_is_damage(records, read, byte, shown_magic, size):
    """Rule 5: an unknown magic is damage, even if the entry is incomplete."""
    bad = bytearray(with_size(bytes(17), size))
    bad[16] = byte
    words = rf"magic .* \(got {shown_magic}\)" if size >= 14 else "smaller"
    check_damage(records, read, GOOD[1] + bad, len(GOOD[1]), words)


@sweep("size", range(14, 49))
def test_batch_below_the_header_size_is_damage(records, read, size):
    """Rules 6 and 7: a size below that of the batch header is damage.

    If the entry is truncated, reading stops without an error instead.
    """
    bad = with_size(GOOD[2], size)[: 12 + size]
    check_damage(records, read, GOOD[2] + bad, len(GOOD[2]), f"{size} bytes is smaller")
    assert len(read(GOOD[2] + bad[:-1])) == 1


@sweep("size", range(14, 22))
def test_magic_1_message_needs_space_for_its_timestamp(records, read, size):
    """A magic 1 message must be at least eight bytes longer than a magic 0 message.

    These bytes are its timestamp.
    """
    check_damage(records, read, with_size(GOOD[1], size)[: 12 + size], 0, "smaller")


PARTS = {name: data for name, data in SETS.items() if 0 < len(data) < 900}


@sweep("name", PARTS)
def test_truncated_last_entry_is_omitted(records, columns, name):
    """If a record set is truncated at any byte, all complete entries are returned."""
    data = PARTS[name] * (2 if len(PARTS[name]) < 250 else 1)
    heads = read_heads(records, columns, data)
    ends = [header.position + header.size for header in heads]
    assert ends[-1] == len(data)
    all_batches = list(records.decode_batches(data))
    for cut in range(len(data)):
        whole_count = sum(end <= cut for end in ends)
        last = ends[whole_count - 1] if whole_count else 0
        prefix = data[:cut]
        assert read_heads(records, columns, prefix) == heads[:whole_count]
        batches = list(records.decode_batches(prefix))
        rows = rows_of(batches)
        assert rows == rows_of(all_batches)[: len(rows)]
        assert sum(decoded.size for decoded in batches) == last
        table = columns.decode_records(prefix)
        assert table.end_position == last
        assert table_of(table) == rows_of(batches, control=False)


@sweep("magic", GOOD)
@sweep("start", GOOD)
def test_a_wrong_checksum_is_damage(records, read, magic, start):
    """A wrong checksum raises CorruptBatch at the position of the entry.

    Every bit of the checksum is changed, in every format.
    """
    data = bytearray(GOOD[start] + GOOD[magic])
    second_start = len(GOOD[start])
    for index in range(17 if magic == 2 else 12, len(GOOD[magic])):
        if index == 16:
            continue
        data[second_start + index] ^= 0x10
        check_damage(
            records,
            read,
            data,
            second_start,
            "checksum is 0x[0-9a-f]{8}, but the header has",
        )
        data[second_start + index] ^= 0x10
    assert read(data)


@pytest.mark.parametrize("magic", GOOD)
def test_the_checksum_can_be_trusted(read, magic):
    """``check_crc=False`` decodes the batch without verifying the checksum."""
    data = bytearray(GOOD[magic])
    data[17 if magic == 2 else 12] ^= 1
    assert len(read(data, check_crc=False)) == 1


def test_fields_set_by_brokers_are_outside_of_the_checksum(records):
    """The checksum does not include the base offset and the leader epoch.

    Brokers change these fields without computing a new checksum.
    """
    data = bytearray(GOOD[2])
    data[0:8] = (90).to_bytes(8, "big")
    data[12:16] = (7).to_bytes(4, "big")
    (decoded,) = records.decode_batches(data)
    assert decoded.records[0].offset == decoded.base_offset == 90
    assert decoded.partition_leader_epoch == 7


@pytest.mark.parametrize("count", [-1, -(2**31), 2, 2**31 - 1])
def test_impossible_record_count_is_damage(records, read, count):
    """A record count that is negative or exceeds the batch size raises CorruptBatch."""
    bad = batch(record(key=b"k"), count=count)
    check_damage(records, read, GOOD[0] + bad, len(GOOD[0]), f"{count} records cannot")


def test_five_stray_bytes_are_no_error(read):
    """Five bytes after the last batch are ignored, because a batch header is longer."""
    assert len(read(GOOD[2] + b"\1\2\3\4\5")) == 1


@pytest.mark.parametrize("name", ["all magics", "transactions", "run"])
def test_position_and_end_choose_entries(records, columns, name):
    """Only entries between ``position`` and ``end`` are read.

    The positions in the headers are relative to the input.
    """
    data = SETS[name]
    surrounded = b"\xff" * 30 + data + b"\xff" * 30
    heads = read_heads(records, columns, data)
    for first in range(len(heads)):
        start = heads[first].position
        for last in range(first, len(heads)):
            end = heads[last].position + heads[last].size
            bounds = {"position": 30 + start, "end": 30 + end}
            batches = list(records.decode_batches(surrounded, **bounds))
            expected = list(records.decode_batches(data[start:end]))
            assert rows_of(batches) == rows_of(expected)
            assert [decoded.position for decoded in batches] == [
                decoded.position + 30 + start for decoded in expected
            ]
            table = columns.decode_records(surrounded, **bounds)
            assert table_of(table) == rows_of(expected, control=False)
            assert table.end_position == 30 + end
            # If the end is within an entry, this entry is incomplete and omitted.
            bounds["end"] -= 1
            assert (
                len(read_heads(records, columns, surrounded, **bounds)) == last - first
            )


@pytest.mark.parametrize(
    ("argument", "bounds"),
    [
        ("position", {"position": -1}),
        ("position", {"position": 4}),
        ("position", {"position": 2, "end": 1}),
        ("end", {"end": -1}),
        ("end", {"end": 4}),
        ("end", {"position": -1, "end": -1}),
    ],
)
def test_bounds_outside_of_the_input_are_refused(read, argument, bounds):
    """A position or an end outside of the input raises an error with its name.

    No byte is read before. ``end`` is checked first.
    """
    with pytest.raises(ValueError, match=rf"^{argument} must be 0 to \d, .* input"):
        read(b"abc", **bounds)


def test_arguments_are_checked_before_the_first_batch(records, columns):
    """Invalid arguments raise an error when the iterator is created.

    The error is not delayed until the first batch is requested.
    """
    words = r'errors must be "strict" or "replace" \(got \'x\'\)'
    with pytest.raises(ValueError, match=words):
        records.decode_batches(b"", errors="x")
    with pytest.raises(ValueError, match=words):
        columns.decode_records(b"", errors="x")
    with pytest.raises(ValueError, match="timestamp_unit"):
        columns.decode_records(b"", timestamp_unit="min")
    for no_bytes in ("text", None, 5):
        with pytest.raises(TypeError):
            records.decode_batches(no_bytes)
        with pytest.raises(TypeError):
            columns.decode_records(no_bytes)
        with pytest.raises(TypeError):
            records.read_batch_header(no_bytes)


STARTED = b"".join(
    (
        message(0, 0),
        message(0, 1),
        message(1, 2),
        wrapper(1, *(message(1, i) for i in range(3)), offset=5),
        batch(record(), record(1), record(2), base_offset=6),
        batch(record(2), base_offset=9, last_delta=4),
        batch(base_offset=14, last_delta=3),
        compressed_batch(record(), record(1), base_offset=18),
    )
)


@sweep("start", range(22))
def test_start_offset_omits_earlier_records(records, columns, start):
    """Records before ``start_offset`` are omitted.

    A Fetch response may start within a batch. Batches that end before the offset are
    omitted completely.
    """
    expected = [
        row for row in read_objects(records, columns, STARTED) if row[0] >= start
    ]
    batches = list(records.decode_batches(STARTED, start_offset=start))
    assert rows_of(batches) == expected
    assert all(decoded.last_offset >= start for decoded in batches)
    for aborted in (None, ()):
        table = columns.decode_records(
            STARTED, start_offset=start, aborted_transactions=aborted
        )
        assert table_of(table) == expected
    for end in range(start - 1, 22):
        table = columns.decode_records(STARTED, start_offset=start, end_offset=end)
        assert table_of(table) == [row for row in expected if row[0] < end]


def test_batch_that_ends_at_the_start_offset_is_included(records):
    """A batch that ends at the start offset is returned, even without records."""
    (decoded,) = records.decode_batches(
        batch(record(), base_offset=4, last_delta=5), start_offset=9
    )
    assert (decoded.records, decoded.next_offset) == ((), 10)


def test_batches_are_decoded_lazily(kwire, records):
    """``decode_batches`` returns the batches before a damaged batch first."""
    bad = bytearray(GOOD[2])
    bad[-1] ^= 1
    batches = records.decode_batches(GOOD[2] + GOOD[2] + bad)
    assert len(next(batches).records) == len(next(batches).records) == 1
    with pytest.raises(kwire.errors.CorruptBatch) as caught:
        next(batches)
    assert caught.value.offset == 2 * len(GOOD[2])
    assert list(batches) == []


def test_any_bytes_like_is_accepted(read):
    """Every contiguous buffer is accepted: memory maps, views and arrays.

    The items of a view or an array may have more than one byte.
    """
    data = SETS["all magics"]
    data += b"\0" * (-len(data) % 4)
    expected = read(data)
    mapped = mmap.mmap(-1, len(data))
    mapped[:] = data
    for source in (
        bytearray(data),
        memoryview(b"x" + data)[1:],
        memoryview(data).cast("i"),
        mapped,
    ):
        assert read(source) == expected
    with pytest.raises(TypeError, match="contiguous"):
        read(memoryview(data)[::2])


@pytest.mark.parametrize("name", ["magic 2 none", "magic 1 gzip", "magic 0 none"])
def test_the_input_is_released(kwire, records, read, name):
    """The input is released when the iteration ends, fails or is abandoned."""
    valid = SETS[name]
    damaged = bytearray(valid)
    damaged[-1] ^= 1
    for data in (valid, bytes(damaged), valid + bytes(damaged), valid + b"\xff" * 30):
        source = bytearray(data)
        try:
            result = read(source)
        except kwire.DecodeError as error:
            result = error
        source.append(0)
        assert result
    source = bytearray(valid + valid)
    batches = records.decode_batches(source)
    assert next(batches).records
    batches.close()
    source.append(0)
