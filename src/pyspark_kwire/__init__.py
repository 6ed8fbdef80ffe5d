# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Where Spark looks for the format ``kafka-log`` by itself."""

from kwire.spark.log.source import KafkaLogSource as DefaultSource

__all__ = ["DefaultSource"]
