# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the format ``kafka-request-log`` known: Spark looks for ``pyspark_*``."""

from kwire.spark.request_log_source import KafkaRequestLogSource as DefaultSource

__all__ = ["DefaultSource"]
