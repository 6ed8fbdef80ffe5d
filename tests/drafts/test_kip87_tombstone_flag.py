# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Messages in the KIP-87 draft: bytes, deletes, and conversion losses.

Magic 0 and 1 are compared with the independent codec in ``kwire.records``. The draft's
magic 2 has the example bytes from its time, and is never confused with the record batch
that finally got this number.
"""

import importlib
import itertools
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kwire.drafts.kip87_tombstone_flag as answer_draft
from tests.harness.hostile import some

TOMBSTONE = bytes.fromhex(
    "0000000000000000 00000018 5808577c 02 10 00000000000003e8 00000001 6b 00000001 76"
)
"""The draft's magic 2: key k, value v, time 1000, tombstone bit at 0x10."""

CONVERTED = bytes.fromhex(
    "0000000000000000 00000017 4b38d7a9 01 00 00000000000003e8 00000001 6b ffffffff"
)
"""The same message for an older consumer: magic 1 without the value."""

BYTES = st.none() | st.binary(max_size=12)
MESSAGES = st.builds(
    answer_draft.Message,
    offset=st.integers(-(2**63), 2**63 - 1),
    timestamp=st.integers(-(2**63), 2**63 - 1),
    key=BYTES,
    value=BYTES,
    magic=st.integers(1, 2),
    attributes=st.sampled_from([0, 0x08, 0x10, 0x18, 0xF8]),
)


@pytest.fixture
def kip87(kwire):
    """Module of the draft on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.drafts.kip87_tombstone_flag")


def test_provenance_reports_that_it_was_never_released(kip87):
    """A message of the draft contains the name of its document."""
    assert str(kip87.PROVENANCE).startswith("KIP-87, ")
    assert str(kip87.PROVENANCE).endswith(", never released")


def test_tombstone_has_the_bytes_of_the_draft(kip87):
    """A tombstone with a value is encoded and decoded without a loss."""
    message = kip87.Message(0, 1000, b"k", b"v", magic=2, attributes=0x10)
    assert kip87.encode([message]) == TOMBSTONE
    assert kip87.decode(TOMBSTONE) == (message,)


def test_down_conversion_has_the_bytes_of_magic_1(kip87):
    """The older consumer sees a delete without a value. The report counts the value."""
    messages, report = kip87.down_convert(kip87.decode(TOMBSTONE))
    assert kip87.encode(messages) == CONVERTED
    assert (report.converted, report.values) == (1, 1)
    assert not report.is_lossless
    assert repr(report) == "TombstoneReport(converted=1, values=1)"


@given(st.lists(MESSAGES, max_size=4))
def test_messages_round_trip(messages):
    """All fields are preserved, in any magic mixture."""
    assert answer_draft.decode(answer_draft.encode(messages)) == tuple(messages)


@pytest.mark.parametrize("view", [bytearray, memoryview])
def test_any_contiguous_bytes_are_read(kip87, view):
    """All buffer types are accepted. A buffer that is not contiguous is rejected."""
    assert kip87.decode(view(TOMBSTONE)) == kip87.decode(TOMBSTONE)
    with pytest.raises(TypeError):
        kip87.decode(memoryview(TOMBSTONE)[::2])


# Detection of deletes -----------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["kip87", "kafka"])
@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("attributes", [0, 0x10, 0xFF])
def test_null_value_decides_in_magic_0_and_1(kip87, dialect, magic, attributes):
    """In these formats, the bit has no meaning in either dialect."""
    judge = kip87.is_tombstone
    assert judge(magic, attributes, None, dialect=dialect)
    assert not judge(magic, attributes, b"", dialect=dialect)


@pytest.mark.parametrize("value", [None, b"", b"v"])
def test_bit_alone_decides_in_the_drafts_magic_2(kip87, value):
    """A tombstone may have a value, and a null alone is not a tombstone."""
    assert kip87.is_tombstone(2, 0x10, value)
    assert kip87.is_tombstone(2, 0x18, value)
    assert not kip87.is_tombstone(2, 0xEF, value)


@pytest.mark.parametrize("attributes", [0, 0x10])
def test_null_value_with_a_key_decides_in_kafkas_magic_2(kip87, attributes):
    """In Kafka, 0x10 marks a transactional batch. Compaction requires a key."""
    judge = kip87.is_tombstone
    assert judge(2, attributes, None, dialect="kafka", key=b"k")
    assert not judge(2, attributes, None, dialect="kafka", key=None)
    assert not judge(2, attributes, b"v", dialect="kafka", key=b"k")


@pytest.mark.parametrize("bit", [0x20, 0x40, 0x80])
def test_bit_is_a_parameter(kip87, bit):
    """Any unused bit can be the tombstone bit, because the document specifies none."""
    assert kip87.is_tombstone(2, bit, b"v", tombstone_bit=bit)
    assert not kip87.is_tombstone(2, 0x10, b"v", tombstone_bit=bit)
    message = kip87.Message(value=b"v", attributes=bit)
    (down,), report = kip87.down_convert([message], tombstone_bit=bit)
    assert (down.value, report.values) == (None, 1)
    (up,), _ = kip87.up_convert([down], tombstone_bit=bit)
    assert up.attributes == bit


@pytest.mark.parametrize("bit", [0, 1, 0x07, 0x08, 0x30, 0x100, -1])
def test_taken_bits_are_refused(kip87, bit):
    """The bits are taken, because compression and timestamp type use them."""
    with pytest.raises(ValueError, match="tombstone_bit must be 0x10"):
        kip87.is_tombstone(2, 0, None, tombstone_bit=bit)
    with pytest.raises(ValueError, match="tombstone_bit must be 0x10"):
        kip87.down_convert([], tombstone_bit=bit)
    with pytest.raises(ValueError, match="tombstone_bit must be 0x10"):
        kip87.up_convert([], tombstone_bit=bit)


def test_unknown_magic_and_dialect_are_refused(kip87):
    """An unknown combination is rejected, because kwire must not guess a rule."""
    with pytest.raises(ValueError, match=r"magic must be 0, 1 or 2 \(got 3"):
        kip87.is_tombstone(3, 0, None)
    with pytest.raises(ValueError, match='"kip87" or "kafka"'):
        kip87.is_tombstone(2, 0, None, dialect="kip88")
    with pytest.raises(ValueError, match='"kip87" or "kafka"'):
        kip87.require_dialect(b"", "kip88")


# Conversion ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "value", "down_converted", "lost"),
    [
        (0x00, b"v", b"v", {}),
        (0x10, None, None, {}),
        (0x10, b"v", None, {"values": 1}),
        (0x00, None, None, {"null_values": 1}),
    ],
    ids=["plain", "tombstone", "valued tombstone", "null that is no delete"],
)
def test_down_conversion_reports_what_it_loses(
    kip87, attributes, value, down_converted, lost
):
    """Magic 1 can only represent two kinds. The other two lose information."""
    message = kip87.Message(7, 5, b"k", value, attributes=attributes | 0x08)
    converted, report = kip87.down_convert([message])
    assert converted == (
        kip87.Message(7, 5, b"k", down_converted, magic=1, attributes=0x08),
    )
    assert {n: getattr(report, n) for n in ("values", "null_values")} == {
        "values": 0,
        "null_values": 0,
    } | lost
    assert report.is_lossless is not bool(lost)


def test_down_to_magic_0_loses_the_timestamps(kip87):
    """Magic 0 has no timestamps. The report counts all that are not -1."""
    messages = [
        kip87.Message(0, 1000, b"k", b"v", magic=1, attributes=0x08),
        kip87.Message(1, -1, b"k", b"v", magic=2),
        kip87.Message(2, -1, b"k", b"v", magic=0),
    ]
    converted, report = kip87.down_convert(messages, 0)
    assert converted == tuple(
        kip87.Message(offset, -1, b"k", b"v", magic=0) for offset in range(3)
    )
    assert (report.converted, report.copied, report.timestamps) == (2, 1, 1)
    assert not report.is_lossless
    assert kip87.down_convert(converted, 1)[0] == converted


@pytest.mark.parametrize("to_magic", [2, -1, None, "1"])
def test_down_conversion_rejects_other_magics(kwire, kip87, to_magic):
    """The target magic must be 0 or 1. Messages of the draft have magic 2."""
    with pytest.raises(kwire.EncodeError, match="expected 0 or 1"):
        kip87.down_convert([], to_magic)


def test_conversion_rejects_compressed_messages(kwire, kip87):
    """Compressed messages are rejected, because their values are not decoded."""
    wrapper = kip87.Message(value=b"", attributes=1)
    for convert in (kip87.down_convert, kip87.up_convert):
        with pytest.raises(kwire.EncodeError, match=r"messages\[0\].attributes"):
            convert([wrapper])


@given(st.lists(MESSAGES.filter(lambda message: message.magic == 1), max_size=4))
def test_up_and_down_again_loses_nothing(messages):
    """Keys and values are kept. Only attribute bits that magic 1 lacks are lost."""
    up_converted, report = answer_draft.up_convert(messages)
    assert report.is_lossless
    assert [
        answer_draft.is_tombstone(*message[4:6], message[3]) for message in up_converted
    ] == [message.value is None for message in messages]
    down_converted, report = answer_draft.down_convert(up_converted)
    assert report.is_lossless
    assert down_converted == tuple(
        row._replace(attributes=row.attributes & 0x08) for row in messages
    )


@given(st.lists(MESSAGES.filter(lambda message: message.magic == 2), max_size=4))
def test_down_conversion_report_matches_the_losses(messages):
    """The report is lossless if and only if all messages are restored."""
    plain = [row._replace(attributes=row.attributes & 0x18) for row in messages]
    down_converted, report = answer_draft.down_convert(plain)
    up_converted, _ = answer_draft.up_convert(down_converted)
    assert report.is_lossless is (up_converted == tuple(plain))


# Dialects -----------------------------------------------------------------------------


@pytest.fixture
def batch(kwire):
    """Record batch of Kafka's magic 2."""
    return kwire.records.encode_batch([(b"k", b"v", 1000)])


def test_record_batch_is_named_by_the_drafts_reader(kwire, kip87, batch):
    """The error contains the position, also after draft messages."""
    for before in (b"", TOMBSTONE, CONVERTED):
        with pytest.raises(kwire.CorruptBatch, match="Kafka's magic 2") as caught:
            kip87.decode(before + batch)
        assert caught.value.offset == len(before)


def test_draft_is_named_to_readers_of_kafkas_magic_2(kwire, kip87, batch):
    """Kwire's record batch reader rejects it as well."""
    kip87.require_dialect(CONVERTED + batch, "kafka")
    kip87.require_dialect(CONVERTED + TOMBSTONE, "kip87")
    with pytest.raises(kwire.CorruptBatch, match="a message of the KIP-87 draft"):
        kip87.require_dialect(TOMBSTONE, "kafka")
    with pytest.raises(kwire.CorruptBatch, match="Kafka's magic 2"):
        kip87.require_dialect(batch, "kip87")
    for size in (1, 100):
        data = kip87.encode([kip87.Message(value=bytes(size))])
        with pytest.raises(kwire.CorruptBatch):
            list(kwire.records.decode_batches(data))


def test_dialect_is_that_of_the_first_magic_2(kip87, batch):
    """Older messages are equal in both dialects, and therefore not considered."""
    assert kip87.dialect_of(TOMBSTONE + batch) == "kip87"
    assert kip87.dialect_of(CONVERTED + batch + TOMBSTONE) == "kafka"
    assert kip87.dialect_of(CONVERTED) is None
    assert kip87.dialect_of(b"") is None
    assert kip87.dialect_of(TOMBSTONE[:-1] + b"w") is None


def test_damaged_message_reports_no_dialect(kwire, kip87):
    """If neither checksum is valid, the error does not mention a dialect."""
    with pytest.raises(kwire.CorruptBatch, match="matches these bytes of magic 2"):
        kip87.decode(TOMBSTONE[:-1] + b"w")


# Comparison with kwire.records --------------------------------------------------------


def rows_of(messages):
    """Return the fields that both the draft's messages and ``kwire.records`` have."""
    return [(row.offset, row.timestamp, row.key, row.value) for row in messages]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4"])
def test_older_messages_are_those_of_records(kwire, kip87, magic, compression):
    """Each codec decodes the messages of the other, compressed or not."""
    rows = [
        kip87.Message(offset, 1000 + offset if magic else -1, key, value, magic)
        for offset, key, value in ((3, b"k", b"v"), (4, None, b""), (9, b"", None))
    ]
    encoded = kwire.records.encode_batch(
        [
            kwire.records.Record(
                offset=row[0], timestamp=row[1], key=row[2], value=row[3]
            )
            for row in rows
        ],
        magic=magic,
        compression=compression,
        base_offset=3,
    )
    assert kip87.decode(encoded) == tuple(rows)
    ours = kip87.encode(rows, compression=compression)
    batches = kwire.records.decode_batches(ours)
    assert [rows_of(batch.records) for batch in batches] == [rows_of(rows)]


# Compressed ---------------------------------------------------------------------------

CODECS = ["gzip", "snappy", "lz4"]


def three(kip87, **fields):
    """Return three messages with an offset gap. The second is a tombstone."""
    rows = [
        kip87.Message(10, 5, b"a", b"1" * 50),
        kip87.Message(12, 9, b"b", b"2" * 50, attributes=0x10),
        kip87.Message(13, 7, None, None),
    ]
    return tuple(row._replace(**fields) for row in rows)


@pytest.mark.parametrize("compression", CODECS)
def test_compressed_messages_keep_their_bits(kip87, compression):
    """The bit is set on the inner message, not on the wrapper."""
    rows = three(kip87)
    data = kip87.encode(rows, compression=compression)
    offset, _, _, magic, attributes, timestamp = struct.unpack_from(">qiIBBq", data)
    assert (offset, magic, timestamp) == (13, 2, 9)
    assert attributes == CODECS.index(compression) + 1
    assert kip87.decode(data + TOMBSTONE) == (*rows, *kip87.decode(TOMBSTONE))


def test_log_append_time_of_the_whole_is_that_of_each(kip87):
    """The timestamp of the wrapper applies to all its messages.

    With LogAppendTime, a broker only changes the wrapper.
    """
    rows = three(kip87, attributes=0x08, timestamp=77)
    data = kip87.encode(rows, compression="gzip")
    assert kip87.decode(data) == rows
    rewritten = repaired(data[:18] + struct.pack(">q", 99) + data[26:])
    assert {row.timestamp for row in kip87.decode(rewritten)} == {99}
    data = kip87.encode(three(kip87), compression="gzip")
    appended = repaired(data[:17] + bytes([0x09]) + data[18:])
    assert [row.attributes for row in kip87.decode(appended)] == [0x08, 0x18, 0x08]


def repaired(data):
    """Return a single message with its size and its checksum recomputed."""
    body = data[16:]
    return data[:8] + struct.pack(">iI", len(body) + 4, zlib.crc32(body)) + body


def wrapper(kip87, value, offset=0, magic=2, codec=1):
    """Return a message that declares a compression codec and has any value."""
    data = kip87.encode([kip87.Message(offset, 1, None, value, magic)])
    return repaired(data[:17] + bytes([codec]) + data[18:])


def test_outer_offset_0_counts_from_0(kip87):
    """If the wrapper has offset 0, the offsets of its messages start at 0.

    Some old producers sent such wrappers.
    """
    data = kip87.encode(three(kip87), compression="gzip")
    messages = kip87.decode(bytes(8) + data[8:])
    assert [row.offset for row in messages] == [0, 2, 3]


def test_broken_compressed_messages_are_refused(kwire, kip87):
    """Every rule for compressed messages has a message that violates it."""
    inside = importlib.import_module(f"{kwire.__name__}.records.compression")

    def gzip(data):
        return inside.compress(1, data, 1)

    cases = {
        "without a value": wrapper(kip87, None),
        "not a complete message": wrapper(kip87, gzip(b"")),
        "9 bytes that are not a complete": wrapper(kip87, gzip(TOMBSTONE + bytes(9))),
        "must be uncompressed": wrapper(kip87, gzip(wrapper(kip87, gzip(TOMBSTONE)))),
        "of the same magic": wrapper(kip87, gzip(TOMBSTONE + CONVERTED)),
        "not end with its own 8": wrapper(
            kip87, gzip((9).to_bytes(8, "big") + TOMBSTONE[8:]), offset=8
        ),
        "not end with its own 1152921504606846976": wrapper(
            kip87,
            gzip((2**60).to_bytes(8, "big") + TOMBSTONE[8:] + TOMBSTONE),
            offset=2**60,
        ),
        "gzip data is damaged": wrapper(kip87, b"no gzip"),
        "number 4": wrapper(kip87, b"", codec=4),
        "number 7": wrapper(kip87, b"", codec=7),
        "neither the CRC-32": wrapper(kip87, gzip(TOMBSTONE[:-1] + b"w")),
    }
    for words, data in cases.items():
        with pytest.raises(kwire.CorruptBatch, match=words) as caught:
            kip87.decode(CONVERTED + data)
        assert caught.value.offset == len(CONVERTED)


def test_limits_hold_for_compressed_messages(kwire, kip87):
    """Decompression bombs and too many messages are rejected early."""
    bomb = kip87.encode([kip87.Message(value=bytes(10**6))], compression="gzip")
    with pytest.raises(kwire.LimitExceeded):
        kip87.decode(bomb, limits=kwire.Limits(decompressed_bytes=10**5))
    data = kip87.encode(three(kip87), compression="gzip")
    kip87.decode(data, limits=kwire.Limits(records=3))
    with pytest.raises(kwire.LimitExceeded, match="more records"):
        kip87.decode(data, limits=kwire.Limits(records=2))


# Invalid values -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"magic": 3}, "magic"),
        ({"magic": None}, "magic"),
        ({"attributes": 256}, "attributes"),
        ({"attributes": -1}, "attributes"),
        ({"attributes": 0x11}, "attributes"),
        ({"attributes": None}, "attributes"),
        ({"offset": 2**63}, "offset"),
        ({"offset": "0"}, "offset"),
        ({"timestamp": -(2**63) - 1}, "timestamp"),
        ({"key": "k"}, "key"),
        ({"value": bytearray(1)}, "value"),
    ],
)
def test_bad_values_are_named(kwire, kip87, fields, path):
    """The path of the error contains the index of the invalid message."""
    rows = [kip87.Message(), kip87.Message(**fields)]
    with pytest.raises(kwire.EncodeError) as caught:
        kip87.encode(rows)
    assert caught.value.path == f"messages[1].{path}"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"magic": 1}, "the same magic"),
        ({"attributes": 0x08}, "timestamp type"),
        ({"offset": 13}, "0 or more and ascend"),
        ({"offset": 9}, "0 or more and ascend"),
    ],
)
def test_compressed_messages_have_to_fit_together(kwire, kip87, changes, words):
    """All messages need the same magic and timestamp type, and ascending offsets."""
    rows = list(three(kip87))
    rows[1] = rows[1]._replace(**changes)
    with pytest.raises(kwire.EncodeError, match=words):
        kip87.encode(rows, compression="gzip")


def test_compressed_messages_have_limits_of_their_format(kwire, kip87):
    """Negative offsets, several log append times and zstd are not possible."""
    rows = three(kip87, attributes=0x08)
    with pytest.raises(kwire.EncodeError, match="the same log append time"):
        kip87.encode(rows, compression="gzip")
    with pytest.raises(kwire.EncodeError, match="0 or more and ascend"):
        kip87.encode([kip87.Message(-1)], compression="gzip")
    with pytest.raises(kwire.EncodeError, match="zstd"):
        kip87.encode(rows, compression="zstd")
    with pytest.raises(kwire.EncodeError, match="brotli"):
        kip87.encode(rows, compression="brotli")
    assert kip87.encode([], compression="gzip") == b""


# Hostile input ------------------------------------------------------------------------


@pytest.fixture
def seeds(kip87):
    """Encoded messages of all three magics, plain and with each codec."""
    older = [row._replace(magic=1, attributes=0) for row in three(kip87)]
    return [
        kip87.encode([*three(kip87), *older, older[0]._replace(magic=0)]),
        *(kip87.encode(three(kip87), compression=codec) for codec in CODECS),
    ]


def test_truncated_prefix_returns_the_complete_messages(kip87, seeds):
    """The complete messages before a truncated message are returned."""
    for data in seeds:
        whole = kip87.decode(data)
        for end in range(len(data)):
            messages = kip87.decode(data[:end])
            assert messages == whole[: len(messages)]
            assert len(messages) < len(whole)


def test_changed_byte_is_detected_or_changes_an_offset(kwire, kip87, seeds):
    """Changing a byte raises an error, or only changes an offset.

    The checksum covers all fields except the offset and the size. A wrong size is
    detected.
    """
    for data in seeds:
        whole = [row[1:] for row in kip87.decode(data)]
        for position, new in itertools.product(
            range(len(data)), (0, 1, 0x7F, 0x80, 0xFF)
        ):
            changed = data[:position] + bytes([new]) + data[position + 1 :]
            try:
                messages = kip87.decode(changed)
            except kwire.DecodeError as error:
                assert 0 <= error.offset <= len(data)
            else:
                assert [row[1:] for row in messages] == whole[: len(messages)]


@pytest.mark.parametrize("check_crc", [True, False])
def test_any_bytes_give_messages_or_typed_errors(kwire, kip87, seeds, check_crc):
    """Without checksums, changed bytes reach the fields at all levels."""
    refused = 0
    for data in seeds:
        changes = itertools.product(range(len(data)), range(0, 256, 5))
        for position, new in some(changes):
            changed = data[:position] + bytes([new]) + data[position + 1 :]
            try:
                messages = kip87.decode(changed, check_crc=check_crc)
            except kwire.DecodeError as error:
                refused += 1
                assert 0 <= error.offset <= len(data)
            else:
                assert kip87.decode(kip87.encode(messages)) == messages
            for dialect in ("kip87", "kafka"):
                try:
                    kip87.require_dialect(changed, dialect)
                except kwire.CorruptBatch:
                    refused += 1
    assert refused > 1000


def test_hostile_lengths_are_errors_with_their_position(kwire, kip87):
    """The position in the error is the first byte of the length, or the message end."""
    cases = {
        (26, b"\xff\xff\xff\xfe"): (kwire.InvalidLength, 26),
        (26, b"\x80\0\0\0"): (kwire.InvalidLength, 26),
        (26, b"\x7f\xff\xff\xff"): (kwire.Truncated, 36),
        (31, b"\0\0\0\2"): (kwire.Truncated, 36),
        (31, b"\0\0\0\0"): (kwire.TrailingBytes, 35),
        (26, b"\0\0\0\3"): (kwire.Truncated, 36),
    }
    for (position, content), (error, offset) in cases.items():
        data = repaired(TOMBSTONE[:position] + content + TOMBSTONE[position + 4 :])
        with pytest.raises(error) as caught:
            kip87.decode(data)
        assert caught.value.offset == offset


@pytest.mark.parametrize("size", [-1, 0, 13, 14, 21])
def test_sizes_too_small_for_a_message_are_refused(kwire, kip87, size):
    """The minimum size is 14 for any magic, and 22 with a timestamp."""
    data = TOMBSTONE[:8] + struct.pack(">i", size) + TOMBSTONE[12:]
    with pytest.raises(kwire.CorruptBatch, match="smaller than its own header"):
        kip87.decode(data)
    if size < 14:
        with pytest.raises(kwire.CorruptBatch, match="smaller than its own header"):
            kip87.decode(data[:14])


def test_magic_3_is_refused(kwire, kip87):
    """Magic 3 is not defined."""
    with pytest.raises(kwire.CorruptBatch, match=r"must be 0, 1 or 2 \(got 3\)"):
        kip87.decode(TOMBSTONE[:16] + b"\3" + TOMBSTONE[17:])
