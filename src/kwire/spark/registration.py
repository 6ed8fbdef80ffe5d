# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``register``: registers all data sources and functions with a Spark session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import functions

from .capture.request_log_source import KafkaRequestLogSource
from .capture.source import KafkaCaptureSource
from .functions import register_functions
from .live.source import KafkaLiveSource
from .log.source import KafkaLogSource
from .shipping.worker_python import find_worker_problem

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource

_SOURCES = (KafkaLogSource, KafkaLiveSource, KafkaCaptureSource, KafkaRequestLogSource)

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
"""Spark setting that passes query filters to Python data sources. Off by default."""


def register(spark: SparkSession) -> None:
    """Register the formats and functions of kwire, and enable filter push-down.

    The formats are ``kafka-log``, ``kafka-live``, ``kafka-capture`` and
    ``kafka-request-log``. Every format is also registered with underscores
    ("kafka_log"), because SQL accepts such names without quotes. On PySpark 4.1 and
    newer, the functions of ``kwire.spark.functions`` are registered for SQL under the
    same names. Call this function once per session. Repeated calls have no effect.

    The function first checks that Spark's workers can import kwire. If they cannot, it
    raises ``ImportError`` with the path of the workers' Python, the reason, and a line
    of code that fixes it. The check starts one Python process if the master is local,
    and runs a job with one task on a cluster.
    """
    problem = find_worker_problem(spark)
    if problem is not None:
        raise ImportError(f"kwire.spark.register: {problem}")
    for source in _SOURCES:
        alias = source.name().replace("-", "_")
        named = {"name": classmethod(lambda _, alias=alias: alias)}
        for each in (source, type(source.__name__, (source,), named)):
            _register_source(spark, each)
    spark.conf.set(PUSHDOWN, "true")
    if hasattr(functions, "arrow_udf"):
        register_functions(spark)


def _register_source(spark: SparkSession, source: type[DataSource]) -> None:
    try:
        spark.dataSource.register(source)
    except AnalysisException as error:
        # Spark 4.0 rejects a second registration. The existing source is kwire's own,
        # because Spark has discovered it automatically.
        if error.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise
