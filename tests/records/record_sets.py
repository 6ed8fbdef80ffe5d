# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Valid record sets of every kind, and functions to compare two readers.

``SETS`` is used to test columns, hostile input and both engines. ``rows_of`` and
``table_of`` convert objects and columns to a common form.
"""

import struct
import sys
from itertools import pairwise

import kwire.records
from kwire.records.compression import NAMES
from tests.records.record_bytes import batch, compressed_batch, message, record, wrapper

ABORT, COMMIT = 0, 1

HEADERS = [
    (b"h", None),
    (b"", b""),
    ("zw\u00f6lf".encode(), b"\0\xff"),
    (b"h", b"twice"),
]
ROWS = [
    (None, None, None),
    (b"", b"", 0),
    (b"key", b"value" * 9, 1_700_000_000_000),
    (b"key", None, 1_700_000_000_001, [("a", b"b"), ("c", None), ("a", b"")]),
    (None, bytes(range(256)), 5),
]


def marker(kind, producer_id, offset, epoch=0, **fields):
    """Encode the control batch that ends a transaction. ``kind`` is ABORT or COMMIT."""
    content = record(key=struct.pack(">hh", 0, kind), value=struct.pack(">hi", 0, 7))
    return batch(
        content,
        attributes=0x30,
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=epoch,
        **fields,
    )


def transactional(producer_id, offset, *values):
    """Encode a transactional batch that contains ``values``."""
    return batch(
        *(record(offset=i, value=value) for i, value in enumerate(values)),
        attributes=0x10,
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
    )


def _written(magic, name, **options):
    rows = [row[: 4 if magic == 2 else 3] for row in ROWS]
    return kwire.records.encode_batch(
        rows, magic=magic, compression=name, base_offset=100, **options
    )


SETS = {
    f"magic {magic} {name}": _written(magic, name)
    for magic in (0, 1, 2)
    for name in NAMES
    if magic == 2 or name != "zstd"
}
SETS |= {
    "headers": batch(record(key=b"k", value=b"v", headers=HEADERS), record(1, 2)),
    "holes": batch(record(3, 9), record(7, -9), base_offset=40, last_delta=12),
    "log append time": batch(record(timestamp=4), attributes=8, max_timestamp=77),
    "delete horizon": batch(record(timestamp=4), attributes=0x40, base_timestamp=900),
    "emptied": batch(last_delta=5, base_offset=10, base_timestamp=-1, max_timestamp=3),
    "extremes": batch(
        record(2**31 - 1, 2**63 - 1),
        record(-(2**31), -(2**63)),
        base_offset=2**63 - 1,
        base_timestamp=-(2**63),
        last_delta=-(2**31),
        leader_epoch=2**31 - 1,
        producer_id=2**63 - 1,
        producer_epoch=2**15 - 1,
        base_sequence=2**31 - 1,
    ),
    "transactions": b"".join(
        (
            transactional(7, 0, b"a", b"b"),
            transactional(8, 2, b"c"),
            marker(ABORT, 7, 3),
            transactional(7, 4, b"d"),
            marker(COMMIT, 8, 5),
            marker(COMMIT, 7, 6),
        )
    ),
    "relative": wrapper(1, message(1, 0, b"k"), message(1, 3, None, b"v"), offset=20),
    "append time inside": wrapper(
        1, message(1, 0), message(1, 1, b"k"), offset=9, timestamp=5, attributes=8
    ),
    "absolute": wrapper(0, message(0, 17, b"k", b"v"), message(0, 19)),
    "run": b"".join(message(1, i, b"k", bytes(i), 10 * i) for i in range(4)),
    "gzipped headers": compressed_batch(
        record(headers=HEADERS), record(1, 1, b"k", b"v"), base_offset=5
    ),
    "all magics": b"".join(
        (
            message(0, 0, b"k", b"v"),
            message(0, 1, b"k", None),
            message(1, 2, None, b"", 5),
            wrapper(1, message(1, 0, b"x"), message(1, 1, b"y"), offset=4),
            batch(record(value=b"z"), record(1), base_offset=5),
            message(1, 7, b"last", b"one", 6, 8),
            compressed_batch(record(value=b"q"), base_offset=8),
        )
    ),
    "nothing": b"",
}


def row_of(record):
    """Return a record as (offset, timestamp, key, value, headers).

    The record may belong to either engine.
    """
    return (
        record.offset,
        record.timestamp,
        record.key,
        record.value,
        tuple(record.headers),
    )


def header_of(header):
    """Return all fields of a batch header as a tuple."""
    return tuple(getattr(header, name) for name in header.__match_args__)


def rows_of(batches, control=True):
    """Return the fields of every record and its timestamp type as a tuple.

    If ``control`` is false, control batches are omitted.
    """
    return [
        (*row_of(decoded_record), decoded.timestamp_type)
        for decoded in batches
        if control or not decoded.is_control
        for decoded_record in decoded.records
    ]


def texts_of(column, whole=True):
    """Return the values of a bytes column, which are read from its Arrow buffers.

    A view column has no flat buffers, so its values are read row by row. ``whole`` is
    false if the column is a slice.
    """
    assert column.validity.shape == (len(column),)
    if not hasattr(column, "offsets"):
        return [column[row] for row in range(len(column))]
    content = column.data.tobytes()
    bounds = column.offsets.tolist()
    assert bounds[:1] == [0] or not whole
    assert len(bounds) == len(column) + 1
    return [
        content[start:end] if valid else None
        for start, end, valid in zip(
            bounds[:-1], bounds[1:], column.validity.tolist(), strict=True
        )
    ]


def table_of(table, whole=True):
    """Convert columns to the tuples that ``rows_of`` returns."""
    lists = [()] * len(table)
    if table.headers is not None:
        pairs = list(
            zip(
                [name.decode() for name in texts_of(table.headers.key)],
                texts_of(table.headers.value),
                strict=True,
            )
        )
        bounds = table.headers.offsets.tolist()
        assert len(bounds) == len(table) + 1
        # A slice has all headers of the whole table, and its own part of the offsets.
        assert bounds[-1] == len(pairs) or not whole
        lists = [tuple(pairs[start:end]) for start, end in pairwise(bounds)]
    return list(
        zip(
            table.offset.tolist(),
            table.timestamp.tolist(),
            texts_of(table.key, whole),
            texts_of(table.value, whole),
            lists,
            table.timestamp_type.tolist(),
            strict=True,
        )
    )


def package_of(module):
    """Return the package of a module's engine, which has the error classes."""
    return sys.modules[module.__name__.partition(".")[0]]
