# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-capture`` in Spark: recorded frames as rows, and errors.

The columns are the same as in captures, and a schema selects columns. A damaged file
ends the job with an error that contains the path, unless the mode skips the file.
"""

import warnings
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from kwire.recording import CAPTURE_COLUMNS, CAPTURE_TYPES, read_captures
from kwire.recording.capture_files import CaptureWriter

with warnings.catch_warnings(action="ignore"):
    from pyspark.sql.types import StructType

    from kwire.spark import KafkaCaptureSource
    from kwire.spark.capture.source import CaptureReader

MICROSECONDS = 1_700_000_000_000_000


def write(folder, *files):
    """Write a recording with one file per argument, which is its number of frames."""
    writer = CaptureWriter(folder)
    first, paths = 0, []
    for count in files:
        rows = [
            (
                1,
                n,
                "request",
                MICROSECONDS + n,
                "10.0.0.1:5",
                "broker:9092",
                3,
                12,
                n,
                "shop",
                9,
                b"frame %03d" % n,
                False,
            )
            for n in range(first, first + count)
        ]
        paths.append(Path(writer.write(rows).path))
        first += count
    return paths


@pytest.fixture(scope="module")
def read(spark):
    """Return a reader of the format, which Spark finds without registration."""
    return lambda: spark.read.format("kafka-capture")


def test_rows_are_those_of_the_files(read, tmp_path):
    write(tmp_path, 3, 2)
    frame = read().load(str(tmp_path))
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema}
    assert kinds == CAPTURE_TYPES
    assert all(field.nullable for field in frame.schema)
    # Spark converts timestamps to the local time zone, so compare microseconds.
    exact = frame.selectExpr("*", "unix_micros(timestamp) AS micros")
    rows = sorted(exact.collect(), key=lambda row: row.sequence)
    assert [row.micros - MICROSECONDS for row in rows] == list(range(5))
    other_columns = [name for name in CAPTURE_COLUMNS if name != "timestamp"]
    stored = [
        row for b in read_captures(tmp_path, other_columns) for row in b.to_pylist()
    ]
    assert [{name: row[name] for name in other_columns} for row in rows] == stored
    assert stored[4]["frame"] == b"frame 004"


def test_each_file_is_a_task(tmp_path):
    paths = write(tmp_path, 3, 2)
    reader = CaptureReader(str(tmp_path), "FAILFAST", ["sequence"])
    tasks = reader.partitions()
    assert [task.value.path for task in tasks] == list(map(str, paths))
    rows = [[b.to_pydict() for b in reader.read(task)] for task in tasks]
    assert rows == [[{"sequence": [0, 1, 2]}], [{"sequence": [3, 4]}]]


def test_a_schema_chooses_columns(read, tmp_path):
    write(tmp_path, 2)
    frame = read().schema("frame binary, sequence bigint").load(str(tmp_path))
    rows = [tuple(row) for row in frame.collect()]
    assert rows == [(b"frame 000", 0), (b"frame 001", 1)]


def test_damaged_file_ends_the_job_with_its_path_or_is_skipped(read, tmp_path):
    good, bad = write(tmp_path, 3, 2)
    bad.write_bytes(bad.read_bytes()[:-30])
    with pytest.raises(Exception, match="set mode to DROPMALFORMED") as caught:
        read().load(str(tmp_path)).collect()
    assert f"{bad}: this file cannot be read as a capture" in str(caught.value)
    remaining = read().option("mode", "dropMalformed").load(str(tmp_path))
    assert remaining.count() == 3 and good.exists()


def source(**options):
    return KafkaCaptureSource(options)


def schema(text):
    """Parse the text of a Spark schema without a session."""
    fields = [field.strip().split(" ") for field in text.split(",")]
    return StructType.fromJson(
        {
            "fields": [
                {"name": name, "type": kind, "nullable": True, "metadata": {}}
                for name, kind in fields
            ]
        }
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("offset long", "no column 'offset'; it has recording, connection, "),
        ("api_key long", r"api_key of kafka-capture must be int \(got bigint\)"),
    ],
)
def test_unknown_columns_are_rejected(text, message):
    with pytest.raises(ValueError, match=message):
        source(path="x").reader(schema(text))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "requires a path"),
        ({"path": ""}, "requires a path"),
        ({"path": "x", "mode": "PERMISSIVE"}, "mode must be one of FAILFAST, DROP"),
        ({"path": "x", "subscribe": "a"}, "no option 'subscribe'; use one of path"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_read(options, message):
    with pytest.raises(ValueError, match=message):
        source(**options).schema()


def test_wrong_path_is_an_error_when_the_job_is_planned(tmp_path):
    reader = CaptureReader(str(tmp_path), "FAILFAST", ["frame"])
    with pytest.raises(FileNotFoundError, match="no captures in this directory"):
        reader.partitions()


def test_foreign_file_is_reported_or_skipped(tmp_path):
    path = tmp_path / "orders.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), path)
    strict = CaptureReader(str(tmp_path), "FAILFAST", ["frame"])
    with pytest.raises(
        ValueError, match=r"is not a capture: it lacks frame; .*, or set"
    ):
        list(strict.read(strict.partitions()[0]))
    lenient = CaptureReader(str(tmp_path), "DROPMALFORMED", list(CAPTURE_COLUMNS))
    assert list(lenient.read(lenient.partitions()[0])) == []


def test_spark_finds_the_source_without_registration():
    """Spark imports modules named ``pyspark_*`` and uses their ``DefaultSource``."""
    import pyspark_kwire_capture

    assert pyspark_kwire_capture.DefaultSource is KafkaCaptureSource
