# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``export`` from real brokers' data directories, and from tiered storage."""

import random
import shutil
from pathlib import Path

from kwire import jobs, log
from tests.jobs.broken_logs import (
    listed_losses,
    make_batch,
    read_table,
    recovered_rows,
)
from tests.jobs.exports import run_export

DATA = Path(__file__).parents[1] / "data"


def test_nothing_is_lost_of_real_brokers_disks(tmp_path):
    """All records of real brokers' data directories are exported, and none is lost.

    The directories contain all record formats, codecs, and transactions.
    """
    for release in ("2.8.2", "3.9.2", "4.3.1"):
        result = jobs.export([DATA / release], tmp_path / release)
        assert result.findings == 0, read_table(result, "lost")
        assert result.counts["problems"] == 0, read_table(result, "problems")
        rows = {
            key: [row[:3] for row in partition_rows]
            for key, partition_rows in recovered_rows(result).items()
        }
        expected = {}
        for partition in log.LogDirectory(DATA / release):
            key = partition.topic, partition.partition
            for batch in partition.batches():
                if not batch.is_control:
                    batch_rows = [(r.offset, r.key, r.value) for r in batch.records]
                    expected.setdefault(key, []).extend(batch_rows)
        assert rows == {
            k: sorted(v, key=lambda row: row[0]) for k, v in expected.items() if v
        }


def test_two_broken_copies_of_a_real_disk_make_a_whole_one(tmp_path):
    """Two damaged copies of a data directory together contain every record.

    All segments are damaged in one of the copies, at different positions.
    """
    generator = random.Random(4)
    for number in range(2):
        shutil.copytree(DATA / "4.3.1" / "data", tmp_path / "in" / f"broker-{number}")
    paths = sorted((tmp_path / "in" / "broker-0").rglob("*.log"))
    for path in paths:
        if path.stat().st_size:
            damaged_file = Path(
                str(path).replace("broker-0", f"broker-{generator.randrange(2)}")
            )
            data = bytearray(damaged_file.read_bytes())
            data[generator.randrange(61, len(data))] ^= 1
            damaged_file.write_bytes(data)
    undamaged = jobs.export([DATA / "4.3.1" / "data"], tmp_path / "whole")
    result = run_export(tmp_path)
    assert recovered_rows(result) == recovered_rows(undamaged)
    assert listed_losses(result) == listed_losses(undamaged)


def test_tiered_storage_fills_what_brokers_no_longer_have(tmp_path):
    """Tiered storage completes the local log of a broker.

    The local segments start at offset 160. If only they are exported, offsets 0 to 159
    are reported as lost.
    """
    data, remote = DATA / "4.3.1" / "data" / "tiered-0", DATA / "4.3.1" / "remote"
    local = jobs.export([data], tmp_path / "local")
    assert listed_losses(local) == {("tiered", 0): [(0, 159)]}
    assert "leader epochs" in read_table(local, "lost")[0]["detail"]
    merged = jobs.export([data, remote], tmp_path / "both")
    assert merged.findings == 0
    rows = recovered_rows(merged)["tiered", 0]
    assert [row[0] for row in rows] == list(range(200))


def test_a_segment_that_is_twice_in_tiered_storage_comes_once(tmp_path):
    folder = tmp_path / "in" / "tiered-AAAAAAAAAAAAAAAAAAAAAQ" / "0"
    folder.mkdir(parents=True)
    generator = random.Random(3)
    batches = [make_batch(generator, base, 5, 0) for base in range(0, 60, 5)]
    for name, part in (("A", batches[:8]), ("B", batches[:12])):
        path = folder / f"{0:020}-{name * 22}.log"
        path.write_bytes(b"".join(batch.data for batch in part))
    result = run_export(tmp_path)
    assert [row[0] for row in recovered_rows(result)["tiered", 0]] == list(range(60))
    assert result.counts["problems"] == 0
