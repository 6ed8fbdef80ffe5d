# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Registers the format ``kafka-request-log``: Spark imports modules ``pyspark_*``."""

from kwire.spark.capture.request_log_source import (
    KafkaRequestLogSource as DefaultSource,
)

__all__ = ["DefaultSource"]
