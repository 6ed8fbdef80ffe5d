# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Rows that cover all record features, and log directories for restores."""

import kwire as installed

START = 1_700_000_000_000


def make_rows(source, count):
    """Create rows with nulls, empty values, headers, and decreasing timestamps."""
    return [
        (
            source.choice([None, b"", b"key-%d" % (n % 5)]),
            source.choice([None, b"", b"value %d " % n + b"." * source.randrange(80)]),
            START + source.randrange(10_000),
            [("h", b"1"), ("h", None), ("", b"")] if n % 3 else [],
        )
        for n in range(count)
    ]


def write_log(folder, rows, source=None, **options):
    """Write the log of a partition. ``source`` chooses batch sizes and offset gaps."""
    folder.mkdir(parents=True)
    data, offset, start = b"", 0, 0
    while start < len(rows):
        size = 10 if source is None else source.randrange(1, 12)
        part = rows[start : start + size]
        data += installed.records.encode_batch(part, base_offset=offset, **options)
        start += len(part)
        # Create an offset gap, as compaction does.
        offset += len(part) + (0 if source is None else source.randrange(2))
    (folder / f"{0:020}.log").write_bytes(data)


def with_offsets(rows):
    """Return (offset, timestamp, key, value, headers) tuples with offsets from 0.

    ``KeptLog.rows`` has the same format.
    """
    return [
        (offset, timestamp, key, value, tuple(headers))
        for offset, (key, value, timestamp, headers) in enumerate(rows)
    ]


def rows_of(broker, topic="orders"):
    """Return the rows in the logs of a topic: one list for each partition."""
    return [log.rows() for log in broker.cluster_truth.topics[topic].logs]
