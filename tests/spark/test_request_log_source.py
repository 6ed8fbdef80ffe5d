# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kafka-request-log``: rows, modes, splits of files, and wrong options.

Spark reads logs from real brokers. Tests that need no query run in this process.
"""

import importlib
from pathlib import Path

import pyarrow.parquet
import pytest
from pyspark.sql.types import StructType

from kwire import jobs
from kwire.recording.request_log import LoggedRequest, read_request_log
from kwire.recording.requests import REQUEST_TYPES
from kwire.spark.capture.request_log_source import CORRUPT, KafkaRequestLogSource

LOGS = Path(__file__).parents[1] / "data" / "request-logs"
LINES = (LOGS / "kafka-3.9.2.log").read_text("utf-8").splitlines(keepends=True)
BAD = "Completed request:{\n"

# The tests need a session, because Spark parses the text of a schema.
pytestmark = pytest.mark.usefixtures("spark")


def source(**options):
    return KafkaRequestLogSource({"path": str(LOGS)} | options)


def batches(log_source, schema=None):
    """Read a source in this process in the same way as Spark. Return the batches."""
    reader = log_source.reader(StructType.fromDDL(schema or log_source.schema()))
    for partition in reader.partitions():
        yield from reader.read(partition)


@pytest.fixture
def damaged(tmp_path):
    """Write a log of four lines, the third of which is invalid."""
    path = tmp_path / "request.log"
    path.write_text("".join((*LINES[:2], BAD, LINES[2])), "utf-8")
    return str(path)


@pytest.fixture(scope="module")
def known(spark):
    """Return a session, which finds the format without registration."""
    return spark


def test_spark_returns_the_rows_of_the_reader(known):
    """Spark returns the rows of the reader for all logs, in many splits.

    The columns have the declared types.
    """
    frame = (
        known.read.format("kafka-request-log")
        .option("maxPartitionBytes", "16k")
        .load(str(LOGS))
    )
    kinds = {column.name: column.dataType.simpleString() for column in frame.schema}
    assert kinds == REQUEST_TYPES
    assert frame.rdd.getNumPartitions() > 6
    rows = frame.selectExpr("unix_micros(timestamp)", *list(REQUEST_TYPES)[1:])
    expected = [
        tuple(request.request)
        for path in sorted(LOGS.glob("*.log"))
        for request in read_request_log(path)
        if isinstance(request, LoggedRequest)
    ]
    assert sorted(map(tuple, rows.collect()), key=repr) == sorted(expected, key=repr)


def test_spark_shows_invalid_lines_in_a_requested_column(known, damaged):
    """A requested column contains the file, line, reason and start of an invalid line.

    Valid lines are still returned.
    """
    frame = (
        known.read.format("kafka-request-log")
        .schema(f"api string, _corrupt_record {CORRUPT}")
        .option("mode", "permissive")
        .load(damaged)
    )
    rows = frame.collect()
    assert [row.api is None for row in rows] == [False, False, True, False]
    bad = rows[2]._corrupt_record
    assert (bad.path, bad.line, bad.text) == (damaged, 3, BAD.strip())
    assert "JSON is damaged" in bad.reason


def test_audit_gives_the_same_on_spark(known, tmp_path):
    """``audit`` writes the same tables on Spark as in this process."""
    paths = [LOGS / "kafka-2.8.2.log", LOGS / "kafka-3.9.2.log"]
    local = jobs.audit(paths, tmp_path / "here", target="4.1")
    on_spark = jobs.audit(paths, tmp_path / "there", target="4.1", spark=known)
    assert local.findings == on_spark.findings == 2
    for name in local.tables:
        local_table, spark_table = (
            pyarrow.parquet.read_table(result.tables[name])
            for result in (local, on_spark)
        )
        assert local_table.equals(spark_table), name
    pages = [Path(result.report).read_text("utf-8") for result in (local, on_spark)]
    assert pages[0] == pages[1]


def test_invalid_line_is_handled_according_to_the_mode(damaged):
    """FAILFAST raises an error for an invalid line, and the other modes continue.

    The error contains the path, the line, the byte and a solution.
    """
    location = (
        rf"request\.log: line 3, byte {sum(len(x.encode()) for x in LINES[:2])}: "
    )
    with pytest.raises(ValueError, match=location + ".*mode=PERMISSIVE"):
        list(batches(source(path=damaged)))
    dropped = list(batches(source(path=damaged, mode="DROPMALFORMED")))
    assert [batch.num_rows for batch in dropped] == [3]
    remaining = list(batches(source(path=damaged, mode="PERMISSIVE")))
    assert [batch.num_rows for batch in remaining] == [4]
    log_source = source(
        path=damaged, mode="PERMISSIVE", columnNameOfCorruptRecord="broken"
    )
    (batch,) = batches(log_source)
    assert batch.schema.names == [*REQUEST_TYPES, "broken"]
    assert [row is None for row in batch["broken"].to_pylist()] == [
        True,
        True,
        False,
        True,
    ]


def test_schema_chooses_columns():
    """A schema selects columns and their order.

    Unknown columns and wrong types raise an error.
    """
    (first, *_) = batches(source(), "api_version int, client_id string")
    assert first.schema.names == ["api_version", "client_id"]
    with pytest.raises(ValueError, match="no column 'offset'; it has timestamp, "):
        source().reader(StructType.fromDDL("offset bigint"))
    with pytest.raises(ValueError, match="'api_key' of kafka-request-log must be int "):
        source().reader(StructType.fromDDL("api_key string"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"startingOffsets": "earliest"},
            "no option 'startingOffsets'; use one of path",
        ),
        ({"mode": "LOUD"}, "mode must be one of FAILFAST, PERMISSIVE, DROPMALFORMED"),
        ({"maxPartitionBytes": "many"}, r"128m \(got 'many'\)"),
        ({"maxPartitionBytes": "0"}, r"must be 1 or more \(got 0\)"),
        ({"timeZone": "Mars/Phobos"}, "timeZone must be a name such as UTC"),
        ({"timeZone": "../etc/passwd"}, "timeZone must be a name such as UTC"),
        ({"path": ""}, "requires a path"),
        ({"paths": "a,b"}, "paths must be JSON"),
        ({"paths": "[1]"}, "paths must be JSON"),
    ],
)
def test_wrong_options_are_errors_with_the_choices(options, words):
    """A wrong option raises an error of one sentence with the valid choices."""
    with pytest.raises(ValueError, match=words):
        source(**options).schema()


def test_missing_and_empty_paths_are_errors(tmp_path):
    """A missing or empty path raises an error when the read is planned."""
    for path, words in ((tmp_path / "gone", "gone"), (tmp_path, "no request logs")):
        request_log = source(path=str(path))
        reader = request_log.reader(StructType.fromDDL(request_log.schema()))
        with pytest.raises(FileNotFoundError, match=words):
            reader.partitions()


def test_format_is_found_without_being_registered():
    """Spark finds the format without registration.

    It searches modules named ``pyspark_*`` for a class ``DefaultSource``.
    """
    module = importlib.import_module("pyspark_kwire_request_log")
    assert module.DefaultSource is KafkaRequestLogSource
    assert module.DefaultSource.name() == "kafka-request-log"
