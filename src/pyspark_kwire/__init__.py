# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Module in which Spark automatically looks for the format ``kafka-log``."""

from kwire.spark.log.source import KafkaLogSource as DefaultSource

__all__ = ["DefaultSource"]
