# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Registers the format ``kafka-capture``: Spark imports modules ``pyspark_*``."""

from kwire.spark.capture.source import KafkaCaptureSource as DefaultSource

__all__ = ["DefaultSource"]
