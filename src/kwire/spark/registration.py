# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``register``: registers all formats and functions with a session of Spark."""

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
"""Spark's setting that lets Python sources take filters; off unless it is set."""


def register(spark: SparkSession) -> None:
    """Register the formats and functions of kwire, and turn filter push-down on.

    Formats: ``kafka-log``, ``kafka-live``, ``kafka-capture`` and ``kafka-request-log``;
    each with underscores too, which SQL takes without quotes. The functions of
    ``kwire.spark.functions`` get the same names in SQL, from PySpark 4.1 on. To be
    called once a session; again does no harm.

    First ``import kwire`` is tried in the Python of Spark's workers: ``ImportError``
    says which one that is, what is wrong, and the line that mends it. A local Spark
    costs the start of a Python, a cluster a job of one task.
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
        # Spark 4.0 takes no second one; there it is ours, which Spark found by itself.
        if error.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise
