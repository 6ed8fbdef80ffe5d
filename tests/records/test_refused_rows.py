# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Rows and arguments that a batch cannot contain are rejected by name.

The path contains the argument, or the row and its field, and the message the expected
value. Valid rows are tested in ``test_writing.py``.
"""

import random

import pytest

from tests.harness.sweeps import sweep

GOOD = [(b"k", b"v", 5)]
ARGUMENTS = [
    ({"magic": 3}, "magic", "must be 0, 1 or 2 (got 3)"),
    ({"magic": None}, "magic", "must be 0, 1 or 2 (got None)"),
    ({"compression": "brotli"}, "compression", "must be one of none, gzip, snappy"),
    ({"compression": 1}, "compression", "must be one of none, gzip, snappy"),
    (
        {"compression": "snappy", "compression_level": 1},
        "compression_level",
        "snappy has no levels (got 1)",
    ),
    ({"compression": "gzip", "compression_level": 10}, "compression_level", "0 to 9"),
    ({"base_offset": -1}, "base_offset", "must be 0"),
    ({"base_offset": 2**63}, "base_offset", "must be 0"),
    ({"base_offset": 1.0}, "base_offset", "got 1.0"),
    ({"base_offset": "1"}, "base_offset", "got '1'"),
    ({"last_offset": -2}, "last_offset", "must be -1 to 2147483647"),
    ({"last_offset": 2**31}, "last_offset", "must be -1"),
    ({"producer_id": -2}, "producer_id", "must be -1"),
    ({"producer_id": 2**63}, "producer_id", "must be -1"),
    ({"producer_id": 5}, "producer_epoch", "is required with a producer_id (got -1)"),
    (
        {"producer_id": 5, "producer_epoch": 1},
        "base_sequence",
        "is required with a producer_id (got -1)",
    ),
    ({"producer_epoch": 2**15}, "producer_epoch", "must be -1 to 32767"),
    ({"base_sequence": 2**31}, "base_sequence", "must be -1 to 2147483647"),
    ({"partition_leader_epoch": -2}, "partition_leader_epoch", "must be -1"),
    ({"is_transactional": True}, "producer_id", "is required in a transactional batch"),
    ({"log_append_time": -2}, "log_append_time", "must be -1"),
    ({"delete_horizon": 2**63}, "delete_horizon", "must be -1"),
    *(
        (
            {"magic": magic, name: value},
            name,
            f"requires magic 2 (got magic={magic})",
        )
        for magic in (0, 1)
        for name, value in (
            ("is_transactional", True),
            ("is_control", True),
            ("delete_horizon", 5),
            ("producer_id", 5),
            ("producer_epoch", 5),
            ("base_sequence", 5),
            ("last_offset", 5),
        )
    ),
    (
        {"magic": 0, "log_append_time": 5},
        "log_append_time",
        "requires magic 1 or 2 (got magic=0)",
    ),
    (
        {"magic": 0, "compression": "zstd"},
        "compression",
        "zstd requires magic 2 (got magic=0)",
    ),
    (
        {"magic": 1, "compression": "zstd"},
        "compression",
        "zstd requires magic 2 (got magic=1)",
    ),
]


@sweep(("options", "path", "words"), ARGUMENTS)
def test_arguments_that_the_format_forbids_are_rejected(
    kwire, records, options, path, words
):
    """An argument that the format does not support raises an error.

    A builder raises it immediately, and the message contains the valid values. The only
    exception is the producer id of a transactional batch, which may be passed to
    ``build``.
    """
    is_late = options == {"is_transactional": True}

    def make_builder():
        builder = records.BatchBuilder(1000, **options)
        return builder.build() if is_late else builder

    for call in (lambda: records.encode_batch(GOOD, **options), make_builder):
        with pytest.raises(kwire.EncodeError) as caught:
            call()
        assert caught.value.path == path
        assert words in caught.value.expected


def offset_row(records, offset):
    """Return a record with this offset."""
    return records.Record(offset=offset)


BAD_ROWS = {
    # (row, magics that reject it, path within the row, text in the message).
    "no row": (5, (0, 1, 2), "", "expected a record or a tuple of key, value"),
    "one part": ((b"k",), (0, 1, 2), "", "expected a record or a tuple of key"),
    "five parts": ((b"k", b"v", 5, (), 6), (0, 1, 2), "", "a record or a tuple"),
    "text for a key": (("k", b"v"), (0, 1, 2), ".key", "bytes or None, got str"),
    "a number for a value": ((b"k", 5), (0, 1, 2), ".value", "bytes or None, got int"),
    "gaps": (
        (b"k", memoryview(b"vvv")[::2]),
        (0, 1, 2),
        ".value",
        "expected bytes or None, got memoryview",
    ),
    "text for a timestamp": (
        (b"k", b"v", "now"),
        (0, 1, 2),
        ".timestamp",
        "expected an int64 from -1, got str",
    ),
    "half a millisecond": ((b"k", b"v", 0.5), (0, 1, 2), ".timestamp", "got float"),
    "a timestamp before -1": (
        (b"k", b"v", -2),
        (0, 1, 2),
        ".timestamp",
        "expected an int64 from -1, got -2",
    ),
    "a timestamp over 64 bits": (
        (b"k", b"v", 2**63),
        (0, 1, 2),
        ".timestamp",
        "got 9223372036854775808",
    ),
    "a timestamp of many digits": (
        (b"k", b"v", 10**6000),
        (0, 1, 2),
        ".timestamp",
        "expected an int64 from -1, got",
    ),
    "headers in a message": (
        (b"k", b"v", 5, [("h", b"v")]),
        (0, 1),
        ".headers",
        "expected no headers, which require magic 2",
    ),
    "headers by name": (
        (b"k", b"v", 5, {"h": b"v"}),
        (0, 1, 2),
        ".headers",
        "expected pairs of a string and bytes, got dict",
    ),
    "text for headers": ((b"k", b"v", 5, "hv"), (0, 1, 2), ".headers", "got str"),
    "a number for headers": ((b"k", b"v", 5, 7), (0, 1, 2), ".headers", "got int"),
    "text for a header": (
        (b"k", b"v", 5, ["hv"]),
        (2,),
        ".headers[0]",
        "a pair of a string and bytes, got str",
    ),
    "a header of three": (
        (b"k", b"v", 5, [("h", None), ("h", b"v", 1)]),
        (2,),
        ".headers[1]",
        "a pair of a string and bytes, got tuple",
    ),
    "a null header key": (
        (b"k", b"v", 5, [(None, b"v")]),
        (2,),
        ".headers[0].key",
        "expected a string, got NoneType",
    ),
    "bytes for a header key": (
        (b"k", b"v", 5, [("h", None), (b"h", b"v")]),
        (2,),
        ".headers[1].key",
        "expected a string, got bytes",
    ),
    "a lone surrogate": (
        (b"k", b"v", 5, [("\udcff", b"v")]),
        (2,),
        ".headers[0].key",
        "UTF-8 can encode",
    ),
    "text for a header value": (
        (b"k", b"v", 5, [("h", "v")]),
        (2,),
        ".headers[0].value",
        "expected bytes or None, got str",
    ),
}


@sweep("name", BAD_ROWS)
@sweep("codec", ["none", "gzip"])
def test_rejected_row_is_named_with_its_field(kwire, records, name, codec):
    """An invalid row raises an error with the row, the field and the expected value."""
    row, magics, path, words = BAD_ROWS[name]
    for magic in magics:
        with pytest.raises(kwire.EncodeError) as caught:
            records.encode_batch([*GOOD, row], magic=magic, compression=codec)
        assert caught.value.path == f"records[1]{path}"
        assert words in caught.value.expected


@sweep("magic", [0, 1, 2])
@sweep(
    ("base", "offsets", "row"),
    [
        (None, [5, 5], 1),
        (None, [5, 4], 1),
        (6, [5], 0),
        (0, [-1], 0),
        (0, [2**63], 0),
        (2**63 - 1, [2**63 - 1, None], 1),
    ],
)
def test_offsets_ascend(kwire, records, magic, base, offsets, row):
    """An offset that is not greater than the previous one raises an error.

    An offset that exceeds the int64 range is rejected as well.
    """
    rows = [(b"", b"") if o is None else offset_row(records, o) for o in offsets]
    with pytest.raises(kwire.EncodeError) as caught:
        records.encode_batch(rows, magic=magic, base_offset=base)
    assert caught.value.path == f"records[{row}].offset"
    assert "expected an" in caught.value.expected


def test_offsets_are_limited_by_the_delta(kwire, records):
    """In magic 2, an offset may be at most 2^31 - 1 above the base offset.

    Messages of magic 0 and 1 have no such limit.
    """
    far = [offset_row(records, 3), offset_row(records, 2**31 + 2)]
    (batch,) = records.decode_batches(records.encode_batch(far))
    assert [record.offset for record in batch.records] == [3, 2**31 + 2]
    far[1] = offset_row(records, 2**31 + 3)
    with pytest.raises(kwire.EncodeError) as caught:
        records.encode_batch(far)
    assert caught.value.path == "records[1].offset"
    assert "from 4 to 2147483650, got 2147483651" in caught.value.expected
    for magic in (0, 1):
        data = records.encode_batch(far, magic=magic)
        assert [len(batch.records) for batch in records.decode_batches(data)] == [2]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_encode_batch_rejects_zero_records(kwire, records, magic):
    """``encode_batch`` raises an error if there are no rows."""
    with pytest.raises(kwire.EncodeError) as caught:
        records.encode_batch([], magic=magic)
    assert caught.value.path == "records"


def odd_row(dice):
    """Return a row in which every field may be valid or invalid."""
    blob = (None, b"", b"k" * 70, bytearray(b"x"), "text", 5)
    number = (None, -1, 0, 2**63 - 1, -2, 2**63, "now", 1.5, True)
    header = (("h", b"v"), ["h", None], ("h", 5), (b"h", b""), (None, b""), "hv", ())
    headers = ((), None, [], "", {}, 7, *([a, b] for a in header for b in header))
    parts = (dice.choice(blob[:4] if dice.random() < 0.9 else blob) for _ in range(2))
    stamp = dice.choice(number[:4] if dice.random() < 0.8 else number)
    row = (*parts, stamp, dice.choice(headers[:3] if dice.random() < 0.5 else headers))
    return row[: dice.choice((2, 3, 4, 4, 4, 4))]


def test_both_engines_raise_the_same_errors(twins):
    """If a row has several errors, both engines report the same one."""
    dice = random.Random(11)
    error_paths = set()
    for _ in range(4000):
        rows = [odd_row(dice) for _ in range(dice.randint(1, 3))]
        magic = dice.choice((0, 1, 2, 2))
        outcomes = []
        for package in twins:
            try:
                outcomes.append(package.records.encode_batch(rows, magic=magic))
            except package.EncodeError as error:
                outcomes.append((error.path, str(error)))
        assert outcomes[0] == outcomes[1], rows
        error_paths.add(outcomes[0][0] if isinstance(outcomes[0], tuple) else bytes)
    assert {bytes, "records[0].key", "records[0].headers[1].value"} <= error_paths
    assert len(error_paths) > 15
