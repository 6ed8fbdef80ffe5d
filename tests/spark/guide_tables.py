# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read the option tables in the guides, and the options of Spark's own Kafka source."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"

SPARKS_OPTIONS = {
    "assign",
    "subscribe",
    "subscribePattern",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsets",
    "endingTimestamp",
    "endingOffsetsByTimestamp",
    "endingOffsets",
    "failOnDataLoss",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "groupIdPrefix",
    "kafka.group.id",
    "kafka.bootstrap.servers",
    "includeHeaders",
    "startingOffsetsByTimestampStrategy",
}
"""Options that ``KafkaSourceProvider`` of Spark 4.0 to 4.3 reads."""

SPARK_REFUSES = {
    "kafka.auto.offset.reset",
    "kafka.key.deserializer",
    "kafka.value.deserializer",
    "kafka.enable.auto.commit",
    "kafka.interceptor.classes",
}
"""Options that ``KafkaSourceProvider`` of Spark rejects."""


def listed_options(guide, title):
    """Return the options in the table below a heading of a guide, sorted."""
    text = (DOCS / guide).read_text().split(f"# {title}\n", 1)[1]
    section = re.split(r"(?m)^##+ ", text)[0]
    rows = re.findall(r"(?m)^\| (`.*?) \|", section)
    listed = " ".join(rows) if rows else section
    return sorted(re.findall(r"`([^`]+)`", listed))
