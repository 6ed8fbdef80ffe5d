# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measured jobs. A job decodes a whole column and discards the rows.

Before anything is timed, every job has to return the same values as the UDF by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.spark_udf import decoders, inputs
from benchmarks.spark_udf.inputs import Column

RECORD_SETS, METADATA = "record sets", "Metadata responses"
BY_HAND, AIOKAFKA, KAFKA_PYTHON, KIO = "by hand", "aiokafka", "kafka-python", "kio"
KWIRE, PREPARED = "kwire", "nothing is decoded"
FROM_RECORDS, FROM_RECORDS_ALL = "from_kafka_records, schema", "from_kafka_records"
READ_RECORDS = "read_records, schema"
FROM_MESSAGE, FROM_MESSAGE_ALL = "from_kafka_message, schema", "from_kafka_message"
WITHOUT_ARROW = ", useArrow=False"

RECORD_DECODERS = {
    BY_HAND: decoders.records_by_hand,
    KAFKA_PYTHON: decoders.records_by_kafka_python,
    AIOKAFKA: decoders.records_by_aiokafka,
    KIO: decoders.records_by_kio,
    KWIRE: decoders.records_by_kwire,
    PREPARED: decoders.Prepared(decoders.records_by_hand),
}
METADATA_DECODERS = {
    BY_HAND: decoders.metadata_by_hand,
    KAFKA_PYTHON: decoders.metadata_by_kafka_python,
    AIOKAFKA: decoders.metadata_by_aiokafka,
    KIO: decoders.metadata_by_kio,
    KWIRE: decoders.metadata_by_kwire,
    PREPARED: decoders.Prepared(decoders.metadata_by_hand),
}
"""Functions that decode a Metadata response in a UDF, by library."""

_RECORD_SUMS = (
    "count(*)",
    "sum(r.offset)",
    "sum(CAST(r.timestamp AS bigint))",
    "sum(hash(r.key, r.value, r.headers))",
)
_MESSAGE_SUMS = (
    "count(*)",
    "sum(hash(m.brokers, m.controller_id))",
    "sum(hash(m.topics))",
)


@dataclass(frozen=True)
class Case:
    """One way to decode one column.

    * ``decode``: from the DataFrame with the column ``data`` to the decoded one.
    * ``sums``: expressions over the decoded rows, which all cases for a column share.
      There are no expressions if the result has other types or is not decoded.
    * ``explode``: True if the decoded column is an array with records.
    """

    name: str
    column: str
    decode: Callable[[Any], Any]
    sums: Sequence[str] = ()
    explode: bool = False


def make_cases() -> list[Case]:
    """Return the cases of both columns. A Spark session must be active."""
    return [*_record_cases(), *_metadata_cases()]


def _udf_cases(
    column: str,
    bodies: dict[str, Any],
    result: str,
    sums: Sequence[str],
    explode: bool,
) -> list[Case]:
    from pyspark.sql.functions import udf

    def case(name: str, body: Any, use_arrow: bool) -> Case:
        function = udf(body, result, useArrow=use_arrow)
        return Case(
            name if use_arrow else name + WITHOUT_ARROW,
            column,
            lambda rows: rows.select(function("data").alias("m")),
            () if name == PREPARED else sums,
            explode,
        )

    return [
        case(name, body, use_arrow)
        for name, body in bodies.items()
        for use_arrow in (True, False)
    ]


def _record_cases() -> list[Case]:
    from kwire.spark.functions import from_kafka_records, read_records

    wanted = decoders.RECORDS_TYPE
    return [
        *_udf_cases(RECORD_SETS, RECORD_DECODERS, wanted, _RECORD_SUMS, explode=True),
        Case(
            FROM_RECORDS,
            RECORD_SETS,
            lambda rows: rows.select(
                from_kafka_records("data", schema=wanted).alias("m")
            ),
            _RECORD_SUMS,
            explode=True,
        ),
        Case(
            FROM_RECORDS_ALL,
            RECORD_SETS,
            lambda rows: rows.select(from_kafka_records("data").alias("m")),
        ),
        Case(
            READ_RECORDS,
            RECORD_SETS,
            lambda rows: read_records(rows, "data", schema=decoders.RECORD_TYPE),
            _RECORD_SUMS,
        ),
    ]


def _metadata_cases() -> list[Case]:
    from kwire.spark.functions import from_kafka_message

    wanted, bodies = decoders.METADATA_TYPE, {"framed": "false"}
    message = "Metadata", "response", inputs.VERSION
    return [
        *_udf_cases(METADATA, METADATA_DECODERS, wanted, _MESSAGE_SUMS, explode=False),
        Case(
            FROM_MESSAGE,
            METADATA,
            lambda rows: rows.select(
                from_kafka_message("data", *message, bodies, schema=wanted).alias("m")
            ),
            _MESSAGE_SUMS,
        ),
        Case(
            FROM_MESSAGE_ALL,
            METADATA,
            lambda rows: rows.select(
                from_kafka_message("data", *message, bodies).alias("m")
            ),
        ),
    ]


def read_column(session: Any, column: Column) -> Any:
    """Return the DataFrame of a column."""
    return session.read.parquet(str(column.path))


def run(case: Case, rows: Any) -> None:
    """Run the job of a case and discard its rows."""
    case.decode(rows).write.format("noop").mode("overwrite").save()


def run_reading(rows: Any) -> None:
    """Run the job that reads the column and decodes nothing."""
    rows.selectExpr("length(data)").write.format("noop").mode("overwrite").save()


def check(cases: Sequence[Case], rows_by_column: dict[str, Any]) -> None:
    """Check that all cases of a column return the same values.

    Raises ``SystemExit`` if they differ.
    """
    expected: dict[str, Any] = {}
    for case in cases:
        if not case.sums:
            continue
        decoded = case.decode(rows_by_column[case.column])
        if case.explode:
            decoded = decoded.selectExpr("explode(m) AS r")
        elif case.column == RECORD_SETS:
            decoded = decoded.selectExpr("struct(*) AS r")
        sums = decoded.selectExpr(*case.sums).first()
        if sums != expected.setdefault(case.column, sums):
            raise SystemExit(
                f"{case.column}, {case.name}: {sums}, not {expected[case.column]}"
            )
