# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes small logs for the tests of the command line, and finds the recorded ones."""

from pathlib import Path

import kwire as installed

DATA = Path(__file__).parents[1] / "data"
START = 1_700_000_000_000
"""The time of the first record of the logs made here, in ms."""


def write_log(folder, batches, base_offset=0, name=None):
    """Write a segment: each batch a list of rows, or (rows, options)."""
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
    """Make rows (key, value, timestamp, headers) with a number in each."""
    return [
        (
            f"key-{n % 3}".encode(),
            f"value {n}".encode(),
            START + 1000 * n,
            [("n", str(n).encode())],
        )
        for n in range(first, first + count)
    ]
