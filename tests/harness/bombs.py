# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Builds record batches of a few KiB that decompress to tens of MiB.

``measure`` decodes them in a child process and returns the peak memory usage.
"""

import functools
import importlib
import os
import subprocess
import sys
from pathlib import Path

MIB = 1 << 20
SMALLEST_RECORD = bytes.fromhex("0c000000010100")
"""Encoded record of 7 bytes: no key, no value, offset delta 0."""


@functools.cache
def make_batch(size=64 * MIB, record_count=1):
    """Build a zstd batch that decompresses to ``size`` bytes.

    The batch contains one record with a large value. If ``record_count`` is greater
    than 1, it contains that number of minimum-size records, and ``size`` is ignored.
    """
    import kwire
    from kwire._engine.active import record_engine
    from kwire.records import compression

    if record_count == 1:
        return kwire.records.encode_batch(
            [(None, bytes(size - 100), 1000)], compression="zstd"
        )
    head = kwire.records.encode_batch([(None, None, 1000)], compression="zstd")[:61]
    payload = compression.compress(4, SMALLEST_RECORD * record_count, 2)
    body = head[21:57] + record_count.to_bytes(4, "big") + payload
    crc = record_engine.crc32c(body)
    length = (9 + len(body)).to_bytes(4, "big")
    return head[:8] + length + head[12:17] + crc.to_bytes(4, "big") + body


def make_batches(count, **options):
    """Build ``count`` copies of a batch with ascending base offsets."""
    batch = make_batch(**options)
    # The checksum does not cover the base offset, so it stays valid.
    return b"".join(n.to_bytes(8, "big") + batch[8:] for n in range(count))


CHILD = """
import sys
sys.path[:0] = {path!r}
import kwire
from tests.harness.bombs import make_batches
data = make_batches({count}, **{options!r})
from kwire.client.chunks import COLUMNS, Chunk, DecodingOptions
from kwire.client.machines import Fetched
fetched = Fetched("orders", 0, data, 0, None, 1 << 40, 1 << 40, None)
options = DecodingOptions(COLUMNS, "ms", {views!r}, kwire.Limits(), True, "replace")
chunk = Chunk(fetched, options)
import pyarrow
pyarrow.record_batch(kwire.records.columns.decode_records(b""))
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
def resident(name):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name):
                return int(line.split()[1]) >> 10
before = resident("VmRSS:")
try:
    result = {expression}
except kwire.LimitExceeded as error:
    result = "LimitExceeded"
    assert "total_decompressed_bytes" in str(error), error
print(result, resident("VmHWM:") - before)
"""


def measure(kwire, expression, count, views=False, **options):
    """Evaluate an expression in a child process.

    The expression can use ``chunk`` and ``data``, which contain ``count`` batches of
    ``make_batch``. Returns the result as a string, and the peak growth of resident
    memory in MiB.
    """
    root = Path(__file__).parents[2]
    program = CHILD.format(
        path=[str(root)],
        count=count,
        options=options,
        views=views,
        expression=expression,
    )
    backend = importlib.import_module(f"{kwire.__name__}._engine.active").backend
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "KWIRE_BACKEND": backend},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result, peak = done.stdout.split()
    return result, int(peak)
