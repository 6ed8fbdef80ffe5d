# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``export`` on Spark writes the same tables as in one process."""

from pathlib import Path

import pytest

from kwire import jobs, log
from kwire.jobs.export_job import job as export_job
from tests.jobs.broken_logs import Disks, read_table

TABLES = ("records", "batches", "problems", "coverage", "lost")


@pytest.fixture
def disks(tmp_path, monkeypatch):
    """Return damaged disks. The task size is so small that the job has many tasks."""
    monkeypatch.setattr(export_job, "TASK_BYTES", 20_000)
    monkeypatch.setattr(export_job, "_TASK_BATCHES", 1)
    disks = Disks(tmp_path / "in", 2)
    disks.break_some(30)
    return disks


def test_spark_makes_the_tables_that_one_process_makes(spark, disks, tmp_path):
    """``export`` on Spark writes the same rows as in one process.

    The workers report every byte of the input exactly once.
    """
    progress = []
    alone = jobs.export([disks.root], tmp_path / "alone")
    on_spark = jobs.export(
        [disks.root], tmp_path / "spark", spark=spark, progress=progress.append
    )
    for name in TABLES:
        local_rows, spark_rows = read_table(alone, name), read_table(on_spark, name)
        assert local_rows == spark_rows, name
        assert len(local_rows) == alone.counts[name] == on_spark.counts[name]
    assert alone.findings == on_spark.findings > 0
    segments = log.LogDirectory(disks.root).segments
    assert sum(progress) == sum(segment.size for segment in segments)
    assert len(list(Path(on_spark.tables["records"]).iterdir())) > 1
    assert spark.read.parquet(on_spark.tables["records"]).count() == len(
        read_table(on_spark, "records")
    )


def test_spark_reads_the_columns_of_its_own_kafka_source(spark, disks, tmp_path):
    """Spark reads the exported records with the types of its own Kafka source.

    Spark's Kafka sink requires these types to restore the records.
    """
    result = jobs.export([disks.root], tmp_path / "out")
    frame = spark.read.parquet(result.tables["records"])
    assert frame.drop(
        "file_path", "batch_position", "partition_leader_epoch"
    ).dtypes == [
        ("key", "binary"),
        ("value", "binary"),
        ("topic", "string"),
        ("partition", "int"),
        ("offset", "bigint"),
        ("timestamp", "timestamp"),
        ("timestampType", "int"),
        ("headers", "array<struct<key:string,value:binary>>"),
    ]
