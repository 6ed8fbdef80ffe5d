# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Tests branches in the record engines that no other test reaches.

Some branches require headers or columns that no reader of kwire returns, so the engines
are called directly. Values above 1 GiB use no physical memory, because nothing writes
to them. Where the Python engine would copy them, its limit is lowered instead.
"""

import importlib
import struct
import sys
import threading
import time

import pytest

from tests.harness.sweeps import sweep
from tests.records.record_bytes import (
    batch,
    framed,
    message,
    record,
    sized,
    varint,
    wrapper,
)

TOO_LARGE = "expected less than 2 GiB"
TEXT = (None, struct.pack("=2i", 0, 1), b"a", 0)


NONE = (bytes(50), struct.pack("=401i", *[0] * 401), b"", 0)
"""Column of nulls that has more rows than any test needs."""


def engine_of(package):
    """Return the package's record engine."""
    return importlib.import_module(f"{package.__name__}._engine.active").record_engine


def columns_of(package):
    """Return the package's ``columns`` module."""
    return importlib.import_module(f"{package.__name__}.records.columns")


def module(package, name):
    """Import a module from the package's engine."""
    return importlib.import_module(
        f"{package.__name__}._engine.{package.backend}.{name}"
    )


def head(kwire, **fields):
    """Return a header with the fields that encoding a batch requires."""
    fields = {"magic": 2, "last_offset": -1} | fields
    return kwire.records.BatchHeader(**fields)


def test_runs_are_measured_in_contiguous_bytes(kwire):
    """``measure_run`` raises TypeError for a strided buffer."""
    data = memoryview(batch(record()) * 2)[::2]
    with pytest.raises(TypeError, match="must be contiguous"):
        engine_of(kwire).measure_run(
            data, 0, len(data), last_start=1, most_bytes=2**30, expected=0
        )


FIRST = message(1, 7, b"k", b"v", 5, crc=1)
"""Message with a wrong checksum. The header is read without verifying it."""

RUNS = {
    "nothing": (b"", 1),
    "its like": (message(1, 9, b"x", None, 8), 2),
    "two of them": (message(1, 9, None, b"", 3) + message(1, 10, b"", b"", 99), 3),
    "another magic": (message(1, 9, None, None, 8) + message(0, 11), 2),
    "another timestamp type": (message(1, 9, b"x", b"y", 8, attributes=8), 1),
    "one in pieces": (message(1, 9, b"x", b"y", 8)[:-1], 1),
    "a wrong checksum": (message(1, 9) + message(1, 10, crc=3), 2),
    "no message": (message(1, 9) + bytes(40), 2),
    "a bad key": (message(1, 9) + message(1, 10, body=b"\xff\xff\xff\xfe" * 2), 2),
    "a bad value": (message(1, 9, body=bytes(4) + b"\0\0\0\7"), 1),
    "bytes after": (message(1, 9) + message(1, 12, body=bytes(9)), 2),
}


@sweep("name", RUNS)
@sweep("kind", [bytes, bytearray])
def test_checksum_of_the_first_message_is_verified_once(kwire, name, kind):
    """``read_message_run`` does not verify the checksum of its first message.

    It was verified when the header was read.
    """
    behind, count = RUNS[name]
    data = kind(FIRST + behind)
    first = kwire.records.read_batch_header(data, check_crc=False)
    records, run = engine_of(kwire).read_message_run(data, first)
    rows = [
        (
            decoded_record.offset,
            decoded_record.timestamp,
            decoded_record.key,
            decoded_record.value,
        )
        for decoded_record in records
    ]
    good = kwire.records.decode_batches(message(1, 7, b"k", b"v", 5) + behind)
    assert rows == [
        (
            decoded_record.offset,
            decoded_record.timestamp,
            decoded_record.key,
            decoded_record.value,
        )
        for decoded_record in next(good).records
    ]
    assert len(rows) == run.record_count == count
    assert run.last_offset == rows[-1][0]
    assert run.max_timestamp == max(row[1] for row in rows)
    assert (run.position, run.base_offset) == (0, 7)
    assert engine_of(kwire).read_message_run(data, run.replace(size=first.size))[1]


def test_fault_of_the_first_message_is_reported(kwire):
    """An error in the first message of a run is reported, whatever its checksum is."""
    data = message(1, 7, body=b"\0\0\0\1k\xff\xff\xff\xfe", crc=1)
    first = kwire.records.read_batch_header(data, check_crc=False)
    with pytest.raises(kwire.DecodeError) as caught:
        engine_of(kwire).read_message_run(data, first)
    assert (caught.value.offset, caught.value.path) == (31, "value")


@pytest.mark.parametrize(
    "changes",
    [
        {"position": 1},
        {"position": -1},
        {"position": 2**40},
        {"size": 2**31 - 1},
        {"size": 33},
        {"size": -1},
        {"magic": 0, "size": 25},
        {"magic": 3},
        {"magic": -1},
    ],
    ids=repr,
)
def test_header_of_other_bytes_is_rejected(kwire, changes):
    """A header that was read from other bytes is rejected."""
    data = message(1, 7, b"k", b"v")
    changed_header = kwire.records.read_batch_header(data).replace(**changes)
    engine = engine_of(kwire)
    for read in (engine.read_message_run, engine.find_payload):
        with pytest.raises(ValueError, match="must be of a batch in this input"):
            read(data, changed_header)


def test_header_name_with_an_invalid_size_is_rejected(kwire):
    """A record header whose key size is a too long or truncated varint is rejected."""
    parts = b"\0" + varint(0) * 2 + sized(b"k") + sized(b"v") + varint(1)
    for size in (b"\xff\xff", b"\xff" * 5 + b"\0", b"\xff\xff\xff\xff\x10\0"):
        data = batch(framed(parts + size))
        with pytest.raises(kwire.DecodeError) as caught:
            list(kwire.records.decode_batches(data))
        with pytest.raises(kwire.DecodeError) as column:
            columns_of(kwire).decode_records(data)
        assert str(column.value) == str(caught.value)
        assert caught.value.path == "records[0].headers[0].key"
        assert caught.value.offset >= len(data) - len(size)


def test_a_batch_may_have_a_delete_horizon(kwire):
    """With a delete horizon, timestamp deltas are relative to it.

    Rows and columns are encoded on different paths.
    """
    batches = {
        kwire.records.encode_batch(
            [(key, b"v", 5), (None, b"", 2**62)], delete_horizon=3, base_offset=9
        )
        for key in (b"k", bytearray(b"k"), memoryview(b"k"))
    }
    (data,) = batches
    (decoded_batch,) = kwire.records.decode_batches(data)
    assert [decoded_record.timestamp for decoded_record in decoded_batch.records] == [
        5,
        2**62,
    ]
    assert decoded_batch.header.base_timestamp == 3


def test_no_batch_begins_below_zero(kwire):
    """The engine rejects a negative base offset with the name of the field."""
    engine, below = engine_of(kwire), head(kwire, base_offset=-1)
    for call in (
        lambda: engine.encode_batch([(b"k", b"v")], below),
        lambda: engine.encode_messages([(b"k", b"v")], below.replace(magic=1)),
        lambda: engine.encode_columns(1, None, None, TEXT, TEXT, None, below),
    ):
        with pytest.raises(kwire.EncodeError, match="int64 from 0") as caught:
            call()
        assert caught.value.path == "base_offset"


@pytest.mark.parametrize("count", [-1, 2**31, 2**64, -(2**64)])
def test_row_count_beyond_int32_is_rejected(kwire, count):
    """A row count that is negative or exceeds int32 is rejected.

    No column is read before.
    """
    encode = engine_of(kwire).encode_columns
    with pytest.raises(kwire.EncodeError, match="shorter than the number of rows"):
        encode(count, None, None, TEXT, TEXT, None, head(kwire))


@pytest.fixture
def huge(kwire, monkeypatch):
    """Return bytes of which two values exceed the maximum batch size."""
    if kwire.backend == "fast":
        return bytes(2**30)
    for name in ("record_encoder", "record_fast_lane"):
        monkeypatch.setattr(module(kwire, name), "LARGEST", 4095)
    return bytes(2048)


def test_a_batch_has_less_than_two_gib(kwire, huge):
    """Rows that exceed the maximum batch size are rejected in all formats."""
    engine = engine_of(kwire)
    old = head(kwire, magic=1)
    for encode, fields in (
        (engine.encode_batch, head(kwire)),
        (engine.encode_messages, old),
    ):
        for rows in ([(huge, huge)], [(b"", b""), (huge, huge)]):
            with pytest.raises(kwire.EncodeError, match=TOO_LARGE) as caught:
                encode(rows, fields)
            assert caught.value.path == f"records[{len(rows) - 1}]"
    places = struct.pack("=2i", 0, len(huge))
    text = (None, places, huge, 0)
    with pytest.raises(kwire.EncodeError, match=TOO_LARGE):
        engine.encode_columns(1, None, None, text, text, None, head(kwire))


def test_values_whose_sizes_overflow_are_rejected(kwire):
    """Values are rejected if the sum of their sizes could overflow.

    The values are not read.
    """
    value = bytes(2**31)
    if kwire.backend == "pure":
        lane = module(kwire, "record_fast_lane")
        rows = [(value, None)]
        assert lane.try_write_records(rows, head(kwire), kwire.records.Record) is None
        return
    for row in ((value, None), (None, value), (value, value)):
        with pytest.raises(kwire.EncodeError, match=TOO_LARGE):
            kwire.records.encode_batch([row])
        with pytest.raises(kwire.EncodeError, match=TOO_LARGE):
            kwire.records.encode_batch([row], magic=0)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_codec_output_of_two_gib_is_rejected(kwire, magic):
    """If compression increases the size of a batch to 2 GiB, an error is raised."""
    engine = engine_of(kwire)
    encode = engine.encode_batch if magic == 2 else engine.encode_messages
    with pytest.raises(kwire.EncodeError, match=TOO_LARGE):
        encode([(b"k", b"v")], head(kwire, magic=magic), lambda _: bytes(2**31))


def test_offsets_of_a_column_are_int32(twins):
    """A column whose values exceed 2 GiB by one byte is rejected."""
    memory = module(twins.pure, "record_columns").make_offsets_memory
    assert bytes(memory([1, 2**31 - 2])) == struct.pack("=3i", 0, 1, 2**31 - 1)
    with pytest.raises(twins.pure.LimitExceeded, match="column"):
        memory([2**30, 2**30])


@pytest.mark.parametrize("part", ["key", "value"])
def test_a_released_view_is_no_content(kwire, part):
    """A memoryview that was released is rejected as key, value and header value."""
    released = memoryview(b"abc")
    released.release()
    row = {"key": b"k", "value": b"v"} | {part: released}
    for build in (
        lambda: kwire.records.encode_batch([(row["key"], row["value"])]),
        lambda: kwire.records.BatchBuilder(99).append(row["key"], row["value"]),
    ):
        with pytest.raises(kwire.EncodeError, match="expected bytes or None") as caught:
            build()
        assert caught.value.path.endswith(part)
    with pytest.raises(kwire.EncodeError, match="expected bytes or None") as caught:
        kwire.records.encode_batch([(b"", b"", 1, [("name", released)])])
    assert caught.value.path == "records[0].headers[0].value"


@pytest.mark.parametrize("headers", [5, object(), 1.5])
def test_builder_accepts_any_iterable_of_headers(kwire, headers):
    """Headers that cannot be iterated are rejected, and no row is added.

    Any other iterable is accepted.
    """
    builder = kwire.records.BatchBuilder(1000)
    with pytest.raises(kwire.EncodeError, match="expected pairs") as caught:
        builder.append(b"k", b"v", 1, headers)
    assert caught.value.path == "headers"
    assert len(builder) == 0


def test_a_wrapper_is_read_by_both_entries(twins):
    """Objects and columns decode all kinds of wrappers to the same records."""
    for magic, offset, attributes in ((0, None, 0), (1, 0, 0), (1, 50, 8), (1, 1, 0)):
        inner = message(magic, 0, b"k", b"v", 3), message(magic, 1, None, None, 9)
        data = wrapper(magic, *inner, offset=offset, attributes=attributes, timestamp=7)
        results = []
        for package in twins:
            (decoded_batch,) = package.records.decode_batches(data)
            columns = columns_of(package).decode_records(data)
            rows = [
                (decoded_record.offset, decoded_record.timestamp)
                for decoded_record in decoded_batch.records
            ]
            pairs = zip(
                columns.offset.tolist(), columns.timestamp.tolist(), strict=True
            )
            assert rows == list(pairs)
            results.append(rows)
        assert results[0] == results[1]


@pytest.mark.parametrize("part", range(4))
def test_columns_that_change_while_they_are_encoded_are_validated_again(twins, part):
    """If another thread changes the offsets of columns, no wrong bytes are copied.

    The offsets are validated again when the bytes are copied.
    """
    package = twins.fast
    count, size = 40, 400
    good = struct.pack(f"={count + 1}i", *range(count + 1))
    changing = bytearray(good)
    wrong = [(0, -1), (count, size), (count, 2**31 - 1), (count // 2, 300)]
    places = [changing if index == part else good for index in range(4)]
    texts = [(None, part, bytes(size), 0) for part in places]
    lists = (places[3], 0, size if part == 3 else count, texts[1], texts[2])
    if part == 3:
        long = struct.pack(f"={size + 1}i", *range(size + 1))
        lists = (changing, 0, size, (None, long, bytes(size), 0), NONE)
    encode, fields = engine_of(package).encode_columns, head(package)
    over = threading.Event()

    def change():
        while not over.is_set():
            for row, value in wrong:
                struct.pack_into("=i", changing, 4 * row, value)
                changing[:] = good

    thread = threading.Thread(target=change)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread.start()
    written = refused = 0
    until = time.monotonic() + 0.5
    try:
        while time.monotonic() < until:
            try:
                data = encode(count, None, None, texts[0], NONE, lists, fields)
                list(package.records.decode_batches(data))
                written += 1
            except package.EncodeError as error:
                assert "not within the bytes of the column" in str(error)
                refused += 1
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert written + refused
