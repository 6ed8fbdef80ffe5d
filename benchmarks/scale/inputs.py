# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Logs of arbitrary size on little disk space: sparse segments, complete indexes.

A segment only contains real batches in the positions that planning and listing read: at
its start, around the positions where a 128 MiB split may end, and at its end.
Everything between them is a hole in the file. The indexes have one entry per batch, as
if a broker had written batches of 16 KB. All partitions are hard links to the first
partition's files.
"""

from __future__ import annotations

import itertools
import os
import struct
from pathlib import Path

from kwire import records

SEGMENT_BYTES = 256 << 20
SEGMENTS = 20
BATCH_RECORDS = 45

_SPLIT_BYTES = 128 << 20
_AROUND = 8
"""Number of real batches on each side of a split boundary."""

_FIRST_TIMESTAMP = 1_700_000_000_000
_BASE_OFFSET = struct.Struct(">q")
_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")


def _batch() -> bytes:
    rows = [(b"k" * 16, bytes(320), _FIRST_TIMESTAMP)] * BATCH_RECORDS
    return records.encode_batch(rows)


def _write_segment(path: Path, batch: bytes, count: int) -> None:
    """Write a segment of ``count`` batches with its indexes."""
    base = int(path.stem)
    middle = range(0, count * len(batch), _SPLIT_BYTES)
    real = {0, *range(count - _AROUND, count)}
    for near in (place // len(batch) for place in middle):
        real.update(range(max(0, near - _AROUND), min(count, near + _AROUND)))
    with open(path, "wb") as segment:
        for number in sorted(real):
            segment.seek(number * len(batch))
            segment.write(_BASE_OFFSET.pack(base + number * BATCH_RECORDS))
            segment.write(batch[_BASE_OFFSET.size :])
    lasts = [(number + 1) * BATCH_RECORDS - 1 for number in range(1, count)]
    places = itertools.count(len(batch), len(batch))
    path.with_suffix(".index").write_bytes(
        b"".join(map(_OFFSET_ENTRY.pack, lasts, places))
    )
    path.with_suffix(".timeindex").write_bytes(
        b"".join(
            _TIME_ENTRY.pack(_FIRST_TIMESTAMP + base + each, each) for each in lasts
        )
    )


def write_logs(folder: Path, segments: int) -> int:
    """Write logs of ``segments`` segments in total, ``SEGMENTS`` in each partition.

    Returns their total size in bytes.
    """
    batch = _batch()
    count = SEGMENT_BYTES // len(batch)
    first = folder / "orders-0"
    first.mkdir(parents=True)
    names = []
    for number in range(SEGMENTS):
        path = first / f"{number * count * BATCH_RECORDS:020}.log"
        _write_segment(path, batch, count)
        names += [
            path.with_suffix(end).name for end in (".log", ".index", ".timeindex")
        ]
    for number in range(1, segments // SEGMENTS):
        other = folder / f"orders-{number}"
        other.mkdir()
        for name in names:
            os.link(first / name, other / name)
    return segments * count * len(batch)
