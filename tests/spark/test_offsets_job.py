# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``jobs.offsets`` on Spark writes the same tables as in one process."""

from pathlib import Path

import pyarrow.parquet

from kwire import jobs
from tests.jobs.made_groups import write_cluster

DATA = Path(__file__).resolve().parents[1] / "data" / "4.3.1" / "data"


def test_spark_makes_the_same_tables(spark, tmp_path):
    """``offsets`` on Spark writes the same tables and page as in one process.

    The inputs are a simulated cluster and a real broker's directory.
    """
    write_cluster(tmp_path / "cluster")
    for name, path in (("made", tmp_path / "cluster"), ("real", DATA)):
        progress = []
        local = jobs.offsets(path, tmp_path / name / "here")
        on_spark = jobs.offsets(
            path, tmp_path / name / "there", spark=spark, progress=progress.append
        )
        assert local.counts == on_spark.counts
        assert local.findings == on_spark.findings
        assert local.counts["commits"] > 0
        for table, folder in local.tables.items():
            local_table = pyarrow.parquet.read_table(folder)
            assert local_table.equals(
                pyarrow.parquet.read_table(on_spark.tables[table])
            ), table
        pages = [Path(result.report).read_text("utf-8") for result in (local, on_spark)]
        assert pages[0] == pages[1]
        assert sum(progress) == sum(log.stat().st_size for log in path.rglob("*.log"))
    states = spark.read.parquet(local.tables["group_state"])
    row = states.where("group = 'lasting-group'").selectExpr("members[0].host").first()
    assert row[0] == "/127.0.0.1"
