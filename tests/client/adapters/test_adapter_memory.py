# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Limit a client's memory if batches grow when they are decompressed.

If a program reads single records, a response must not be completely decoded into
objects, whether it is large before or only after decompression.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kwire.client.adapters import runs
from kwire.records import encode_batch
from tests.client.adapters.fetched import CLIENTS, read_both

ROOT = Path(__file__).parents[3]
BATCHES = 12
MOST_MIB = 500
"""Limit for a client with the adapter, although the batches have 768 MiB."""

CHILD = """
import sys
sys.path[:0] = {path!r}
from tests.harness.bombs import make_batches
from tests.client.adapters import fetched
data = make_batches({count})
def resident(name):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name):
                return int(line.split()[1]) >> 10
with fetched.CLIENTS[{client!r}] as adapter:
    assert adapter.is_installed
    if {client!r} == "kafka-python":
        part = fetched._make_kafka(data)
        take = lambda: part.take(1)
    else:
        part = fetched._make_aiokafka(data)
        take = lambda: next(part, None)
    before = resident("VmRSS:")
    count = 0
    while take():
        count += 1
print(count, resident("VmHWM:") - before)
"""


@pytest.mark.parametrize("client", CLIENTS)
def test_batches_that_grow_are_taken_one_by_one_in_bounded_memory(client, monkeypatch):
    """A response of 24 KB decompresses to 768 MiB, but its batches are decoded singly.

    Every record arrives once.
    """
    monkeypatch.undo()
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            CHILD.format(path=[str(ROOT)], client=client, count=BATCHES),
        ],
        env={**os.environ, "KWIRE_BACKEND": "fast"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, peak = map(int, done.stdout.split())
    assert count == BATCHES
    assert peak < MOST_MIB


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("offset", [0, 7])
def test_runs_that_end_after_decompression_lose_no_record(client, offset, monkeypatch):
    """The next run continues with the next batch, and repeats no record."""
    data = b"".join(
        encode_batch(
            [(b"k", b"v" * 1000)] * 10,
            base_offset=10 * number,
            compression=("gzip", "zstd", "none")[number % 3],
        )
        for number in range(12)
    )
    ends = []
    for size in (1, 15_000, 25_000, 1 << 30):
        monkeypatch.setattr(runs, "RUN_DECOMPRESSED_BYTES", size)
        original, adapted = read_both(client, data, offset=offset)
        assert adapted == original
        assert len(original.records) == 120 - offset
        with CLIENTS[client]:
            ends.append(sum(1 for _ in runs.RunReader(data, offset, True, None, {})))
    assert ends[0] == 12 and ends[-1] == 1 and ends[1] > ends[2] > 1
