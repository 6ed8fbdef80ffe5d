# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test the meaning of every field and bit in the three formats.

The bytes are encoded by hand in ``record_bytes.py``, or are examples of other writers
in this file. Invalid bytes are tested in ``test_reading_rules.py`` and
``test_record_faults.py``.
"""

import copy
import pickle
import struct

import pytest

from tests.harness.sweeps import sweep
from tests.records.record_bytes import (
    batch,
    compressed_batch,
    framed,
    message,
    record,
    varint,
)
from tests.records.record_sets import header_of, row_of

EXAMPLES = {
    0: """
        0000000000000000 00000010 1fecd70a 00 00 00000001 6b 00000001 76
        0000000000000001 0000000e a7ec6803 00 00 ffffffff ffffffff""",
    1: """
        0000000000000000 00000018 e4e321bc 01 00 00000000000003e8 00000001 6b
        00000001 76
        0000000000000001 00000016 b18df56a 01 00 00000000000003e9 ffffffff ffffffff""",
    2: """
        0000000000000000 00000044 00000000 02 c7e5b91f 0000 00000001 00000000000003e8
        00000000000003e9 ffffffffffffffff ffff ffffffff 00000002
        16 00 00 00 02 6b 02 76 02 02 68 01 0c 00 02 02 01 01 00""",
}
EXAMPLES = {magic: bytes.fromhex(text) for magic, text in EXAMPLES.items()}


def example_rows(magic):
    """Return the two example records without the fields that the magic cannot store."""
    return [
        (
            0,
            1000 if magic else -1,
            b"k",
            b"v",
            (("h", None),) if magic == 2 else (),
        ),
        (1, 1001 if magic else -1, None, None, ()),
    ]


def decode_single(records, data, **options):
    """Decode ``data``, and return its only batch."""
    (decoded,) = records.decode_batches(data, **options)
    return decoded


@pytest.mark.parametrize("magic", EXAMPLES)
def test_bytes_of_another_writer_are_read(records, magic):
    """Bytes of another writer are decoded to the expected header and records."""
    decoded = decode_single(records, EXAMPLES[magic])
    assert [
        row_of(decoded_record) for decoded_record in decoded.records
    ] == example_rows(magic)
    first, last = (1000, 1001) if magic else (-1, -1)
    assert header_of(decoded.header) == (
        0,
        len(EXAMPLES[magic]),
        magic,
        0,
        {0: 0x1FECD70A, 1: 0xE4E321BC, 2: 0xC7E5B91F}[magic],
        0,
        1,
        first,
        last,
        -1,
        -1,
        -1,
        0 if magic == 2 else -1,
        2,
    )


@pytest.mark.parametrize("magic", EXAMPLES)
def test_the_same_rows_give_the_same_bytes(records, magic):
    """The example records are encoded to the bytes of the other writer."""
    rows = [(row[2], row[3], row[1], row[4]) for row in example_rows(magic)]
    encoded = records.encode_batch(
        rows, magic=magic, partition_leader_epoch=0 if magic == 2 else -1
    )
    assert encoded == EXAMPLES[magic]


def test_every_header_field_is_decoded(records):
    """Every header field is decoded.

    All fields have different values, so that no two of them can be exchanged.
    """
    data = batch(
        record(),
        base_offset=0x0102030405060708,
        leader_epoch=0x11121314,
        last_delta=0x21222324,
        base_timestamp=0x3132333435363738,
        max_timestamp=0x4142434445464748,
        producer_id=0x5152535455565758,
        producer_epoch=0x6162,
        base_sequence=0x71727374,
        attributes=0x5F78,
    )
    header = records.read_batch_header(b"xyz" + data, 3)
    crc = int.from_bytes(data[17:21], "big")
    assert header_of(header) == (
        3,
        len(data),
        2,
        0x5F78,
        crc,
        0x0102030405060708,
        0x0102030405060708 + 0x21222324,
        0x3132333435363738,
        0x4142434445464748,
        0x5152535455565758,
        0x6162,
        0x71727374,
        0x11121314,
        1,
    )


@sweep("high", [0x0000, 0x7F00, 0x8000, 0xFF00])
@sweep("low", range(0, 0x80, 8))
def test_every_attribute_bit_is_decoded_or_ignored(records, low, high):
    """Attribute bits 3 to 6 are decoded in all combinations.

    Bits from 7 on have no meaning, and are ignored.
    """
    data = batch(
        record(timestamp=5),
        attributes=high | low | 0x80,
        base_timestamp=1000,
        max_timestamp=2000,
    )
    decoded = decode_single(records, data)
    assert decoded.compression == "none"
    assert decoded.timestamp_type == bool(low & 0x08)
    assert decoded.is_transactional is bool(low & 0x10)
    assert decoded.is_control is bool(low & 0x20)
    assert decoded.delete_horizon == (1000 if low & 0x40 else None)
    assert decoded.records[0].timestamp == (2000 if low & 0x08 else 1005)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("bit", [0x08, 0x10, 0x20, 0x40, 0x80])
def test_messages_only_have_the_timestamp_type_bit(records, magic, bit):
    """In magic 1, attribute bit 3 is the timestamp type. All other bits are ignored."""
    decoded = decode_single(records, message(magic, 3, b"k", b"v", 9, bit))
    assert decoded.timestamp_type == (-1 if magic == 0 else int(bit == 0x08))
    assert not decoded.is_transactional and not decoded.is_control
    assert decoded.delete_horizon is None
    assert decoded.records[0].timestamp == (9 if magic else -1)


@sweep(
    ("magic", "codec"),
    [(0, 4), (1, 4), *((m, c) for m in (0, 1, 2) for c in (5, 6, 7))],
)
@sweep("start", [0, 1])
def test_unknown_compressions_are_refused(kwire, records, magic, codec, start):
    """Codecs 5 to 7 do not exist, and zstd requires magic 2."""
    valid = message(0, 0)
    bad = (
        batch(record(), attributes=codec)
        if magic == 2
        else message(magic, 0, attributes=codec)
    )
    with pytest.raises(kwire.errors.CorruptBatch, match=f"codec {codec}") as caught:
        list(records.decode_batches(start * valid + bad))
    assert caught.value.offset == start * len(valid)


@pytest.mark.parametrize("write", [batch, compressed_batch])
def test_log_append_time_applies_to_all_records(records, write):
    """All records have the max timestamp of the batch, whatever their deltas are."""
    data = write(
        record(timestamp=2**63 - 1), record(1, -5), attributes=8, max_timestamp=77
    )
    decoded = decode_single(records, data)
    assert [decoded_record.timestamp for decoded_record in decoded.records] == [77, 77]


def test_delete_horizon_is_the_base_timestamp(records):
    """If the delete horizon bit is set, the base timestamp is the delete horizon."""
    data = batch(record(timestamp=-40), attributes=0x40, base_timestamp=900)
    decoded = decode_single(records, data)
    assert decoded.delete_horizon == decoded.base_timestamp == 900
    assert decoded.records[0].timestamp == 860


def test_reader_continues_after_an_emptied_batch(records):
    """A batch without records has a last offset.

    A reader continues after it, although compaction removed all records.
    """
    data = batch(
        last_delta=5, base_offset=10, base_timestamp=-1, max_timestamp=8, producer_id=4
    )
    decoded = decode_single(records, data)
    assert decoded.records == ()
    assert (decoded.record_count, decoded.next_offset, decoded.max_timestamp) == (
        0,
        16,
        8,
    )


def test_offset_gaps_are_kept(records):
    """Offset gaps from compaction are kept, and so is the last offset of the batch."""
    data = batch(record(3), record(7), base_offset=40, last_delta=12)
    decoded = decode_single(records, data)
    assert [decoded_record.offset for decoded_record in decoded.records] == [43, 47]
    assert (decoded.base_offset, decoded.last_offset, decoded.next_offset) == (
        40,
        52,
        53,
    )


def test_headers_are_kept_unchanged(records):
    """Headers are decoded unchanged.

    Order, duplicates, empty keys, null values and empty values are kept.
    """
    headers = [(b"b", b"1"), (b"a", None), (b"b", b""), (b"", b"\0"), (b"b", b"1")]
    decoded = decode_single(records, batch(record(headers=headers)))
    assert decoded.records[0].headers == tuple((k.decode(), v) for k, v in headers)


def test_many_records_may_share_their_header_keys(records):
    """Repeated keys at the same or another position keep their values."""
    names = [b"one", b"two", b"six", "sieben€".encode(), b"", b"ninety", b"8", b"9"]
    rows = [
        [(names[(i * j) % 8] * (1 + i % 3), bytes([j])) for j in range(i % 13)]
        for i in range(60)
    ]
    data = batch(*(record(i, headers=row) for i, row in enumerate(rows)))
    assert [
        decoded_record.headers
        for decoded_record in decode_single(records, data).records
    ] == [tuple((name.decode(), value) for name, value in row) for row in rows]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_empty_is_not_null(records, magic):
    """An empty key or value is decoded as b"", and a null one as None."""
    pairs = [(None, b""), (b"", None), (b"", b""), (None, None)]
    if magic == 2:
        data = batch(*(record(i, 0, *pair) for i, pair in enumerate(pairs)))
    else:
        data = b"".join(message(magic, i, *pair) for i, pair in enumerate(pairs))
    assert [(e.key, e.value) for e in decode_single(records, data).records] == pairs


def test_int64_sums_overflow_as_in_kafka(records):
    """The sum of a base and a delta overflows int64 as in Kafka."""
    data = batch(
        record(1, 1),
        record(-1, -1),
        base_offset=2**63 - 1,
        base_timestamp=2**63 - 1,
        last_delta=1,
    )
    decoded = decode_single(records, data)
    assert decoded.last_offset == -(2**63)
    assert [decoded_record.offset for decoded_record in decoded.records] == [
        -(2**63),
        2**63 - 2,
    ]
    assert [decoded_record.timestamp for decoded_record in decoded.records] == [
        -(2**63),
        2**63 - 2,
    ]


@pytest.mark.parametrize("number", [0, 2**63 - 1, -1, -(2**63)])
@pytest.mark.parametrize("magic", [1, 2])
def test_int64_extremes_of_offsets_and_timestamps_round_trip(records, magic, number):
    """The minimum and maximum of offsets and timestamps can be encoded and decoded."""
    if magic == 2:
        data = batch(record(), base_offset=number, base_timestamp=number)
    else:
        offset = number % 2**64 - (number < 0) * 2**64
        data = message(1, offset, timestamp=number)
    (decoded_record,) = decode_single(records, data).records
    assert (decoded_record.offset, decoded_record.timestamp) == (number, number)


def test_varints_may_be_longer_than_needed(records):
    """All Kafka readers accept padded varints, so only the record length matters."""
    body = b"\0\x82\0\x82\x80\0" + b"\x82\x80\x80\x80\0k" + b"\x81\0" + b"\x80\0"
    assert framed(body)[0] == len(body) << 1
    padded = bytes([len(body) << 1 | 0x80, 0x80, 0x80, 0x80, 0]) + body
    (decoded_record,) = decode_single(records, batch(padded, base_offset=6)).records
    assert row_of(decoded_record) == (7, 1, b"k", None, ())


def test_record_attributes_are_ignored(records):
    """Records use no attribute bits yet, so all bits are accepted."""
    decoded = decode_single(records, batch(record(attributes=0xFF, value=b"v")))
    assert decoded.records[0].value == b"v"


def marker_of(kwire, kind):
    """Return an encoded (key, value) pair for a control record type."""
    messages = kwire.messages
    value = {
        0: lambda: struct.pack(">hi", 0, 12),
        1: lambda: struct.pack(">hi", 0, 13),
        2: lambda: kwire.encode(messages.LeaderChangeMessage(leader_id=3), 0),
        3: lambda: kwire.encode(messages.SnapshotHeaderRecord(), 0),
        4: lambda: kwire.encode(messages.SnapshotFooterRecord(), 0),
        5: lambda: kwire.encode(messages.KRaftVersionRecord(), 0),
        6: lambda: kwire.encode(messages.VotersRecord(), 0),
    }.get(kind, lambda: b"whatever")()
    return struct.pack(">hh", 0, kind), value


@sweep("kind", [*range(7), 7, 32767])
@sweep("write", [batch, compressed_batch])
def test_control_records_are_decoded(kwire, records, kind, write):
    """Control records of known types are decoded to a message, all others to None."""
    key, value = marker_of(kwire, kind)
    decoded = decode_single(
        records, write(record(key=key, value=value), attributes=0x20)
    )
    assert decoded.is_control
    assert decoded.records[0].key == key
    (control,) = decoded.control_records
    assert control.type == kind
    names = ["ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER"]
    names += ["KRAFT_VERSION", "KRAFT_VOTERS"]
    assert control.type_name == (names[kind] if kind < 7 else "UNKNOWN")
    if kind < 2:
        assert control.message.coordinator_epoch == 12 + kind
    elif kind == 2:
        assert control.message.leader_id == 3
    assert (control.message is None) is (kind > 6)


def test_data_batches_have_no_control_records(records):
    """In a data batch, a record with a four-byte key is not a control record."""
    decoded = decode_single(records, batch(record(key=bytes(4), value=bytes(6))))
    assert decoded.control_records == ()


def test_the_last_sequence_wraps(records):
    """The last sequence number of a batch continues with 0 after 2^31 - 1."""
    for first, count, last in ((0, 1, 0), (2**31 - 2, 2, 2**31 - 1), (2**31 - 2, 4, 1)):
        rows = [record(i) for i in range(count)]
        data = batch(*rows, base_sequence=first, producer_id=1, producer_epoch=0)
        assert decode_single(records, data).last_sequence == last
    assert decode_single(records, batch(record())).last_sequence == -1


def test_batches_and_records_are_values(records):
    """Batches and records compare, hash, pickle and copy by value."""
    data = batch(record(key=b"k", headers=[(b"h", b"x")]), record(1))
    first, equal = decode_single(records, data), decode_single(records, data)
    different = decode_single(records, batch(record(), record(1)))
    assert first == equal and hash(first) == hash(equal) and first != different
    assert first != (first.header, first.records)
    assert repr(first).startswith("Batch(header=BatchHeader(position=0, ")
    assert repr(first).endswith("records=<2>)")
    for value in (first.header, first.records[0]):
        assert pickle.loads(pickle.dumps(value)) == value
        assert copy.deepcopy(value) == value
        with pytest.raises(AttributeError):
            value.offset = 5
    assert first.records[0].replace(key=None).key is None
    constructed = records.Record(offset=0, timestamp=0, key=b"k", headers=[("h", b"x")])
    assert constructed == first.records[0] and hash(constructed) == hash(
        first.records[0]
    )
    for name in first.header.__match_args__:
        assert getattr(first, name) == getattr(first.header, name)


def test_a_run_of_messages_is_one_batch(records):
    """Consecutive messages with the same magic and timestamp type are one batch.

    A single header describes all of them.
    """
    data = b"".join(message(1, 2 * i, timestamp=[5, 9, 7][i]) for i in range(3))
    data += message(1, 6, timestamp=1, attributes=8) + message(0, 7) + message(0, 8)
    batches = list(records.decode_batches(data))
    assert [len(decoded.records) for decoded in batches] == [3, 1, 2]
    assert [decoded.record_count for decoded in batches] == [3, 1, 2]
    assert [decoded.position for decoded in batches] == [0, 102, 136]
    assert sum(decoded.size for decoded in batches) == len(data)
    assert (batches[0].base_offset, batches[0].last_offset) == (0, 4)
    assert (batches[0].base_timestamp, batches[0].max_timestamp) == (5, 9)


def test_deltas_of_every_varint_length_are_read(records):
    """Offset and timestamp deltas of all varint lengths are decoded.

    The test values are those at which the length changes.
    """
    steps = [sign << 7 * size - 1 for size in range(1, 10) for sign in (1, -1)]
    stamps = [step + around for step in steps for around in (-1, 0, 1)]
    places = [step for step in stamps if -(2**31) <= step < 2**31]
    data = batch(
        *(record(0, stamp) for stamp in stamps), *(record(delta) for delta in places)
    )
    decoded_records = decode_single(records, data).records
    assert [
        decoded_record.timestamp for decoded_record in decoded_records
    ] == stamps + [0] * len(places)
    assert [decoded_record.offset for decoded_record in decoded_records] == [0] * len(
        stamps
    ) + places


def test_lengths_of_every_varint_length_are_read(records):
    """Keys and values are decoded for all varint lengths of their size.

    The test sizes are those at which the length changes.
    """
    sizes = [0, 1, 63, 64, 65, 8191, 8192, 8193]
    rows = [record(i, 0, bytes(size), b"x" * size) for i, size in enumerate(sizes)]
    decoded_records = decode_single(records, batch(*rows)).records
    assert [(e.key, e.value) for e in decoded_records] == [
        (bytes(s), b"x" * s) for s in sizes
    ]
    assert varint(8192) == b"\x80\x80\x01"


@pytest.mark.parametrize("wrap", [bytes, bytearray], ids=["bytes", "other buffers"])
def test_offsets_reach_an_int32_from_the_base(kwire, wrap):
    """The maximum offset delta of 2^31 - 1 is encoded and decoded.

    A higher delta is rejected.
    """

    def encode(last):
        rows = [
            kwire.records.Record(offset=offset, value=wrap(b"v"), timestamp=0)
            for offset in (5, last)
        ]
        return kwire.records.encode_batch(rows)

    last = 5 + 2**31 - 1
    rows, following = kwire.records.decode_records(encode(last))
    assert ([row.offset for row in rows], following) == ([5, last], last + 1)
    with pytest.raises(kwire.EncodeError) as caught:
        encode(last + 1)
    assert caught.value.path == "records[1].offset"
