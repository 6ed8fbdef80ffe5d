# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test column memory with ``struct``, in the machine's byte order.

The tests need no Arrow library, because some processors have none.
"""

import importlib
import struct

ROWS = [
    (b"key", b"value", 1_700_000_000_000, [("name", b"text"), ("none", None)]),
    (None, b"", 1_700_000_000_258, []),
    (b"", None, 1_700_000_065_537, [("name", b"")]),
]


def numbers(memory, kind):
    """Decode the numbers of a column in the native byte order."""
    data = bytes(memory)
    return struct.unpack(f"={len(data) // struct.calcsize(kind)}{kind}", data)


def test_records_are_columns_in_the_order_of_the_machine(kwire):
    """The numbers of record columns are in the native byte order.

    Numbers, offsets, strings and validity bitmaps are tested.
    """
    data = kwire.records.encode_batch(ROWS, base_offset=258)
    records = kwire.records.columns.decode_records(data)
    assert records.offset.tolist() == [258, 259, 260]
    assert records.timestamp.tolist() == [row[2] for row in ROWS]
    assert [records.key[row] for row in range(3)] == [row[0] for row in ROWS]
    assert [records.value[row] for row in range(3)] == [row[1] for row in ROWS]
    assert records.key.offsets.tolist() == [0, 3, 3, 3]
    assert records.key.validity.tolist() == [True, False, True]
    assert records.headers.offsets.tolist() == [0, 2, 2, 3]


def test_encoding_columns_restores_the_batch(kwire):
    """Encoding columns restores the original batch."""
    data = kwire.records.encode_batch(ROWS, base_offset=258)
    records = kwire.records.columns.decode_records(data)
    assert kwire.records.columns.encode_batch(records) == data


def test_messages_are_columns_in_the_order_of_the_machine(kwire):
    """The numbers of message columns are in the native byte order.

    Fields of 16, 32 and 64 bits, strings and arrays are tested.
    """
    columns = importlib.import_module(
        f"{kwire.__name__}._engine.{kwire.backend}.message_columns"
    )
    cls = kwire.messages.OffsetFetchResponse
    partition = cls.OffsetFetchResponsePartition(
        partition_index=66_051, committed_offset=2**33 + 1, metadata="é", error_code=258
    )
    topic = cls.OffsetFetchResponseTopic(name="orders", partitions=[partition] * 2)
    message = cls(throttle_time_ms=16_909_060, topics=[topic], error_code=-2)
    data = kwire.encode(message, 7)
    offsets = struct.pack("=3i", 0, len(data), 2 * len(data))
    column = columns.decode_messages(
        cls, 7, None, offsets, 2 * data, 0, 2, False, False
    )
    fields = {child.name: child for child in column.children}
    assert numbers(fields["throttle_time_ms"].buffers[1], "i") == (16_909_060,) * 2
    assert numbers(fields["error_code"].buffers[1], "h") == (-2, -2)
    assert numbers(fields["topics"].buffers[1], "i") == (0, 1, 2)
    (topics,) = fields["topics"].children
    below = {child.name: child for child in topics.children}
    assert bytes(below["name"].buffers[2]) == b"ordersorders"
    (partitions,) = below["partitions"].children
    leaves = {child.name: child for child in partitions.children}
    assert numbers(leaves["partition_index"].buffers[1], "i") == (66_051,) * 4
    assert numbers(leaves["committed_offset"].buffers[1], "q") == (2**33 + 1,) * 4
    assert numbers(leaves["error_code"].buffers[1], "h") == (258,) * 4
    assert bytes(leaves["metadata"].buffers[2]) == "éééé".encode()
