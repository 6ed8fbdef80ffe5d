# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Where Spark looks for the format ``kafka-live`` by itself."""

from kwire.spark.live_source import KafkaLiveSource as DefaultSource

__all__ = ["DefaultSource"]
