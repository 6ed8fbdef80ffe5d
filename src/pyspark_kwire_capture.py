# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Spark finds modules ``pyspark_*`` by itself: this one brings ``kafka-capture``."""

from kwire.spark.capture_source import KafkaCaptureSource as DefaultSource

__all__ = ["DefaultSource"]
