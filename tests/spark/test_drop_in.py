# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The UDF of ``examples/drop_in`` and its replacement return equal rows.

Runs without Spark. Their times can only be compared if their results are equal.
"""

import pyarrow

from examples.drop_in import by_hand
from kwire import records
from kwire.records.arrow import record_sets_to_arrow


def test_both_ways_give_the_same_records():
    """The UDF and its replacement return equal records.

    The rows contain several batches, null keys and values, headers, and a null.
    """
    batch = [
        (b"k" * turn or None, None if turn % 3 else b"v" * turn, 1_000 + turn)
        for turn in range(70)
    ]
    batch.append((b"k", b"v", 5, [("a", b"1"), ("b", None)]))
    data = b"".join(
        records.encode_batch(batch, base_offset=71 * turn) for turn in (0, 1)
    )
    rows = pyarrow.array([data, None, b""], pyarrow.binary())
    header = pyarrow.struct([("key", pyarrow.string()), ("value", pyarrow.binary())])
    record = pyarrow.struct(
        [
            ("offset", pyarrow.int64()),
            ("timestamp", pyarrow.int64()),
            ("key", pyarrow.binary()),
            ("value", pyarrow.binary()),
            ("headers", pyarrow.list_(header)),
        ]
    )
    column = record_sets_to_arrow(rows, schema=pyarrow.list_(record))
    decoded = [
        row
        and [
            (
                record_row["offset"],
                record_row["timestamp"],
                record_row["key"],
                record_row["value"],
                record_row["headers"]
                and [
                    (header["key"], header["value"]) for header in record_row["headers"]
                ],
            )
            for record_row in row
        ]
        for row in column.to_pylist()
    ]
    assert decoded == [by_hand.decode_records(row) for row in rows.to_pylist()]
    assert len(decoded[0]) == 142 and decoded[1:] == [None, []]
