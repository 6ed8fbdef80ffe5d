# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""No reader holds a segment in memory completely."""

import os
import random
import struct
import subprocess
import sys

import pytest

from tests.log.log_files import ACCESS, Folder, batch

pytestmark = pytest.mark.gate

MIB = 1 << 20
SIZE = 400 * MIB
CEILING = 200 * MIB
STORE = 50 * MIB
"""Additional bytes for reading from a store: pyarrow itself, and pending requests."""

SCRIPT = """
import sys
from kwire import log
segment = log.Segment(sys.argv[1], access=sys.argv[2])
for item in eval(sys.argv[3]):
    pass
with open("/proc/self/status") as status:
    print(*[line.split()[1] for line in status if line.startswith("VmHWM")])
"""


def write(folder, data, count=None):
    """Write a segment with ``count`` copies of a batch, with ascending base offsets.

    If ``count`` is None, the segment has ``SIZE`` bytes. Return the path.
    """
    path = folder.path / f"{0:020}.log"
    count = SIZE // len(data) if count is None else count
    with path.open("wb") as file:
        for number in range(count):
            file.write(struct.pack(">q", number * 3))
            file.write(data[8:])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    large_folder = Folder(tmp_path_factory.mktemp("large") / "orders-0")
    yield large_folder
    for path in large_folder.path.iterdir():
        path.unlink()


def measure_peak(path, access, call, engine):
    """Return the peak memory in bytes of a process that iterates over ``call``.

    The process is a new interpreter, which uses one engine. ``call`` is an expression.
    """
    if access == "stored":
        path, access = path.as_uri(), "read"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), access, call],
        env=os.environ | {"KWIRE_BACKEND": engine},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout) * 1024


@pytest.mark.parametrize("access", ACCESS)
def test_plain_batches_are_read_in_bounded_memory(twins, folder, access):
    path = write(folder, batch(0, value=random.Random(1).randbytes(100_000)))
    for call in ("log.verify(segment)", "segment.batches()", "segment.columns()"):
        assert measure_peak(path, access, call, "fast") < CEILING, call
    assert measure_peak(path, access, "segment.headers()", "pure") < CEILING


@pytest.mark.parametrize("codec", ["zstd", "gzip"])
def test_compressed_batches_are_read_in_bounded_memory(twins, folder, codec):
    """Batches with many times their compressed size are read within the memory limit.

    Only the decompressed bytes of a few batches may exist at the same time.
    """
    words = random.Random(2).randbytes(20_000) + b"the quick brown fox " * 5000
    data = batch(0, value=words, codec=codec)
    path = write(folder, data, SIZE // len(data) // 8)
    for call in ("segment.batches()", "segment.columns()"):
        assert measure_peak(path, "map", call, "fast") < CEILING, call


def test_highly_compressed_batches_are_read_in_bounded_memory(twins, folder):
    """Batches that compress to a few bytes are read within the memory limit.

    300 batches have 6 MB each, so all of them together would need 1.8 GB.
    """
    data = batch(0, value=bytes(2_000_000), codec="zstd")
    path = write(folder, data, 300)
    assert measure_peak(path, "map", "segment.columns()", "fast") < CEILING


@pytest.mark.parametrize("access", ACCESS)
def test_damaged_batch_length_does_not_load_the_file(twins, folder, access):
    path = write(folder, batch(0, value=random.Random(1).randbytes(100_000)))
    with path.open("r+b") as file:
        file.seek(8)
        file.write(struct.pack(">i", SIZE - 1000))
    most = CEILING + (STORE if access == "stored" else 0)
    assert measure_peak(path, access, "segment.problems()", "fast") < most
