# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write small logs for CLI tests, and locate the recorded logs."""

from pathlib import Path

import kwire as installed

DATA = Path(__file__).parents[1] / "data"
START = 1_700_000_000_000
"""Timestamp (ms) of the first record in these logs."""


def write_log(folder, batches, base_offset=0, name=None):
    """Write one segment of a partition, and return its path.

    A batch is a list of rows, or (rows, options of ``encode_batch``). ``folder`` is the
    directory of the partition.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = b""
    offset = base_offset
    for batch in batches:
        rows, options = batch if isinstance(batch, tuple) else (batch, {})
        options = {"base_offset": offset} | options
        data += installed.records.encode_batch(rows, **options)
        offset = options["base_offset"] + len(rows)
    path = folder / (name or f"{base_offset:020}.log")
    path.write_bytes(data)
    return path


def rows(first, count):
    """Create ``count`` rows from the number ``first`` on.

    A row is (key, value, timestamp in ms, headers). Value and header contain its
    number.
    """
    return [
        (
            f"key-{n % 3}".encode(),
            f"value {n}".encode(),
            START + 1000 * n,
            [("n", str(n).encode())],
        )
        for n in range(first, first + count)
    ]
