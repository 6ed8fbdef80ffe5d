# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Columns of PySpark 3.5 and 4.0 without ``arrow_udf``, on any PySpark release.

``make spark-clusters`` runs ``test_functions_in_spark.py`` on these releases. These
tests use the same code path on the installed release.
"""

import subprocess
import sys

import pytest

from kwire import messages, records
from kwire.messages import framing
from kwire.spark import functions as ks


@pytest.fixture
def without_arrow_udf(monkeypatch):
    """Hide ``arrow_udf``, as if PySpark were older than 4.1."""
    from pyspark.sql import functions

    monkeypatch.delattr(functions, "arrow_udf", raising=False)


def test_columns_through_pandas_equal_those_through_arrow(spark, monkeypatch):
    """Columns through pandas equal the columns through Arrow.

    The values are arrays, structs, strings, bytes, nulls, damage and distant times.
    """
    from pyspark.sql import functions

    far = records.encode_batch([(b"k", b"v", 253_402_300_800_000, [("h", b"x")])])
    data = records.encode_batch([(b"k", b"v", 1_700_000_000_123), (None, None)])
    sets = [far, None, data, data[:-1] + b"?", b""]
    frame = framing.encode_request(messages.HeartbeatRequest(group_id="g"), 4)[4:]
    frames = [frame, None, frame[:-1], b"", frame]
    rows = spark.createDataFrame(
        [*zip(range(5), sets, frames, [4, None, 4, 4, None], strict=True)],
        "id int, sets binary, frames binary, version int",
    ).coalesce(1)

    def collect():
        decoded = rows.select(
            "id",
            "frames",
            # Python's datetime does not support the year 10000, so the timestamps are
            # compared as microseconds, which Spark computes.
            ks.from_kafka_records("sets").alias("times"),
            ks.from_kafka_records("sets", schema="timestamp bigint").alias("bigints"),
            ks.kafka_header("frames").alias("h"),
            ks.from_kafka_message("frames", "Heartbeat", version="version").alias("m"),
            ks.from_kafka_message(
                "frames", None, options={"as": "json", "mode": "PERMISSIVE"}
            ).alias("j"),
        )
        return decoded.select(
            "id",
            "bigints",
            "h",
            "m",
            "j",
            functions.expr("transform(times, x -> unix_micros(x.timestamp))").alias(
                "t"
            ),
            functions.expr("transform(times, x -> x._error)").alias("e"),
        ).collect()

    through_arrow = collect()
    monkeypatch.delattr(functions, "arrow_udf", raising=False)
    through_pandas = collect()
    assert through_pandas == through_arrow
    assert through_pandas[0].t == [253_402_300_800_000_000]
    assert [row.h is None for row in through_pandas] == [False, True] + [False] * 3
    assert through_pandas[0].m.group_id == "g"


def test_functions_that_require_a_newer_spark_name_the_release(
    spark, without_arrow_udf
):
    """A function that requires a newer Spark raises an error.

    It contains the required release, the installed release, and an alternative.
    """
    for call in (
        lambda: ks.register_functions(spark),
        lambda: ks.to_kafka_message("m", "Heartbeat", "request", 4),
    ):
        with pytest.raises(ImportError, match=r"requires PySpark 4\.1 or newer \(inst"):
            call()


NO_SOURCES = """
import sys
sys.modules["pyspark.sql.datasource"] = None
import kwire.spark as ks
for name in ("register", "KafkaLogSource", "KafkaLiveSource"):
    try:
        getattr(ks, name)
    except ImportError as error:
        print(error)
print(ks.read_records.__name__)
"""


def test_sources_name_the_required_spark_release():
    """Before PySpark 4.0, data sources raise an error with the required release.

    Functions for columns and data frames do not require data sources.
    """
    done = subprocess.run(
        [sys.executable, "-c", NO_SOURCES], capture_output=True, text=True, check=True
    )
    *errors, function = done.stdout.splitlines()
    assert function == "read_records" and len(errors) == 3
    for error in errors:
        assert "requires PySpark 4.0 or newer, which has Python data sources" in error
        assert "(installed: " in error and "works on PySpark 3.5" in error
