# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``register``: everything of kwire made known to one session of Spark."""

from __future__ import annotations

from .capture_source import KafkaCaptureSource
from .log_source import KafkaLogSource
from .request_log_source import KafkaRequestLogSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
"""Spark's setting that lets Python sources take filters; off unless it is set."""


def register(spark: SparkSession) -> None:
    """Register the formats and functions of kwire, and turn filter push-down on.

    Formats: ``kafka-log``, ``kafka-capture``, ``kafka-request-log``, and each with
    underscores, which SQL takes without quotes. The functions of
    ``kwire.spark.functions`` get the same names in SQL. To be called once a session;
    again does no harm. Works through Spark Connect too.
    """
    from .functions import register_functions

    for source in (KafkaLogSource, KafkaCaptureSource, KafkaRequestLogSource):
        spark.dataSource.register(source)
        alias = source.name().replace("-", "_")
        named = {"name": classmethod(lambda _, alias=alias: alias)}
        spark.dataSource.register(type(source.__name__, (source,), named))
    spark.conf.set(PUSHDOWN, "true")
    register_functions(spark)
