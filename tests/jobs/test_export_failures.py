# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``export`` after failures and kills, and with large input: memory and time."""

import importlib
import os
import random
import signal
import subprocess
import sys
import tempfile

import pytest

from kwire import jobs
from kwire.jobs import running
from kwire.jobs.export_job import records
from tests.harness.processor_time import growth
from tests.jobs.broken_logs import (
    make_batch,
)
from tests.jobs.exports import run_export
from tests.jobs.small_logs import one_log


@pytest.mark.parametrize("failing", [records.write, running.run_tasks])
def test_failed_export_leaves_no_files(tmp_path, monkeypatch, failing):
    """If writing the tables or running the tasks fails, no files remain."""
    one_log(tmp_path)
    before = sorted(tmp_path.iterdir())

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    for module in ("export_job.job", "running"):
        target = importlib.import_module(f"kwire.jobs.{module}")
        if hasattr(target, failing.__name__):
            monkeypatch.setattr(target, failing.__name__, fail)
    with pytest.raises(OSError, match="No space left"):
        run_export(tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_a_killed_export_leaves_no_result(tmp_path):
    """If ``export`` is killed while it writes, no result directory exists.

    The partial files are in a directory with another name.
    """
    one_log(tmp_path)
    script = (
        "import sys, time\n"
        "from kwire import jobs\n"
        "from kwire.jobs.export_job import job\n"
        "def slow(task):\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "job.write = slow\n"
        "jobs.export([sys.argv[1]], sys.argv[2])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, tmp_path / "in", tmp_path / "out"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "out").exists()
    # The remaining files of a killed run do not block later runs.
    assert run_export(tmp_path).counts["records"] == 84


def test_file_that_changes_during_the_export_is_reported(tmp_path, monkeypatch):
    """A segment that changes during the export is an error.

    ``export`` reads a segment twice. Without this check, a change between the two reads
    would result in wrong records.
    """
    folders, _ = one_log(tmp_path, brokers=1)
    path = folders[0] / f"{28:020}.log"
    export_job = sys.modules["kwire.jobs.export_job.job"]
    decide = export_job.decide

    def shortened(task):
        decision = decide(task)
        os.truncate(path, path.stat().st_size - 30)
        return decision

    monkeypatch.setattr(export_job, "decide", shortened)
    with pytest.raises(running.JobError, match=r"28\.log changed while it was read"):
        run_export(tmp_path)


MEMORY = """
import sys
import pyarrow.compute, pyarrow.parquet
from kwire import jobs
jobs.export([sys.argv[1]], sys.argv[2])
with open("/proc/self/status") as status:
    print(*[line.split()[1] for line in status if line.startswith("VmHWM")])
"""


@pytest.mark.gate
def test_memory_does_not_grow_with_a_segment(tmp_path):
    """Peak memory does not grow with the size of a segment.

    The test exports segments of 32 MiB and 128 MiB, in separate processes.
    """
    peaks = []
    batch = make_batch(random.Random(1), 0, 3000, 0, codec="none").data
    for number, size in enumerate((32, 128)):
        folder = tmp_path / str(size) / "big-0"
        folder.mkdir(parents=True)
        with (folder / f"{0:020}.log").open("wb") as file:
            for base in range(0, 3000 * (size << 20) // len(batch), 3000):
                file.write(base.to_bytes(8) + batch[8:])
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, folder, tmp_path / f"out{number}"],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout) >> 10)
    assert peaks[1] < 300
    assert peaks[1] - peaks[0] < 48


def test_many_damaged_batches_take_linear_time(tmp_path):
    """The export time grows linearly with the number of damaged batches.

    Every second batch has a wrong checksum in both replicas. The other batches have
    different records in the two replicas.
    """
    generator = random.Random(9)

    def make_export(count):
        root = tmp_path / str(count)
        for broker in ("a", "b"):
            folder = root / broker / "t-0"
            folder.mkdir(parents=True)
            data = b""
            for base in range(count):
                batch = bytearray(make_batch(generator, base, 1, 0, codec="none").data)
                batch[-1] ^= base % 2
                data += batch
            (folder / f"{0:020}.log").write_bytes(data)

        def export():
            target = tempfile.mkdtemp(dir=tmp_path)
            assert jobs.export([root], target).findings == count // 2

        return export

    # The time is linear: it grows by 16, not by 256.
    assert growth(make_export, 100, 1600, most=64) < 64
