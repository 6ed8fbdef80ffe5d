# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Registers the format ``kafka-live``: Spark imports modules ``pyspark_*``."""

from kwire.spark.live.source import KafkaLiveSource as DefaultSource

__all__ = ["DefaultSource"]
