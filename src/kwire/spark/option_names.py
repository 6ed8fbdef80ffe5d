# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The names of all options of ``kafka-log``, and what becomes of each.

Here are the options of Spark's own Kafka source, those of Kafka's consumer
(``kafka.*``), and ours. What their values mean is in ``options.py``; the tests compare
the names with ``docs/spark.md``.
"""

from __future__ import annotations

from difflib import get_close_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ISOLATION = "kafka.isolation.level"

HONOURED = (
    *("path", "paths", "subscribe", "subscribePattern", "assign", "startingOffsets"),
    *("endingOffsets", "startingTimestamp", "endingTimestamp"),
    *("startingOffsetsByTimestamp", "endingOffsetsByTimestamp"),
    *("startingOffsetsByTimestampStrategy", "includeHeaders", "minPartitions"),
    *("maxRecordsPerPartition", "maxOffsetsPerTrigger", "minOffsetsPerTrigger"),
    *("maxTriggerDelay", "failOnDataLoss", "mode", "columnNameOfCorruptRecord"),
    *("view", "duplicates", "isolationLevel", "strictTail", "maxPartitionBytes"),
    *("maxBatchBytes", "includeBatchColumns", "includeFilePath", "verifyCrc"),
    *("errors", "pushDownFilters", ISOLATION),
)
"""Options that change which rows there are, their columns, or how they are read."""

IGNORED = (
    *("groupIdPrefix", "kafkaConsumer.pollTimeoutMs"),
    *("fetchOffset.numRetries", "fetchOffset.retryIntervalMs"),
    *("kafka.bootstrap.servers", "kafka.bootstrap.resolve.timeout.ms"),
    *("kafka.client.dns.lookup", "kafka.client.id", "kafka.client.rack"),
    *("kafka.group.id", "kafka.group.instance.id", "kafka.group.protocol"),
    *("kafka.group.remote.assignor", "kafka.partition.assignment.strategy"),
    *("kafka.session.timeout.ms", "kafka.heartbeat.interval.ms"),
    *("kafka.max.poll.records", "kafka.max.poll.interval.ms"),
    *("kafka.fetch.min.bytes", "kafka.fetch.max.bytes", "kafka.fetch.max.wait.ms"),
    *("kafka.max.partition.fetch.bytes", "kafka.check.crcs"),
    *("kafka.auto.commit.interval.ms", "kafka.allow.auto.create.topics"),
    "kafka.exclude.internal.topics",
    *("kafka.send.buffer.bytes", "kafka.receive.buffer.bytes"),
    *("kafka.request.timeout.ms", "kafka.default.api.timeout.ms"),
    *("kafka.reconnect.backoff.ms", "kafka.reconnect.backoff.max.ms"),
    *("kafka.retry.backoff.ms", "kafka.retry.backoff.max.ms"),
    "kafka.socket.connection.setup.timeout.ms",
    "kafka.socket.connection.setup.timeout.max.ms",
    *("kafka.connections.max.idle.ms", "kafka.metadata.max.age.ms"),
    "kafka.metadata.recovery.strategy",
    "kafka.metadata.recovery.rebootstrap.trigger.ms",
    *("kafka.enable.metrics.push", "kafka.metric.reporters"),
    *("kafka.metrics.num.samples", "kafka.metrics.recording.level"),
    *("kafka.metrics.sample.window.ms", "kafka.auto.include.jmx.reporter"),
    *("kafka.config.providers", "kafka.security.protocol"),
    *("kafka.security.providers", "kafka.ssl.*", "kafka.sasl.*"),
)
"""Options that are about brokers and connections, and cannot change a row."""

REFUSED = {
    "kafka.auto.offset.reset": (
        "startingOffsets says where to begin, and failOnDataLoss what happens where"
        " offsets are gone"
    ),
    "kafka.key.deserializer": "key is binary; cast or decode the column",
    "kafka.value.deserializer": "value is binary; cast or decode the column",
    "kafka.enable.auto.commit": (
        "nothing is committed to Kafka; a stream keeps its offsets in its checkpoint"
    ),
    "kafka.interceptor.classes": (
        "interceptors may change records, and run in Java only; change the rows in"
        " the query"
    ),
}
"""Options that Spark's own source refuses too, with what to do instead."""

_BY_LOWER = {name.lower(): name for name in (*HONOURED, *IGNORED)}
_LIKE_IT = 0.8
"""How much alike a name and ``ISOLATION`` are where one is a slip for the other; no
other setting of Kafka's consumer comes near that."""


def choose_options(given: Mapping[str, str]) -> dict[str, str]:
    """Keep the options that are honoured, under the names of ``HONOURED``.

    Names count without case. A setting that Kafka's consumer does not know is ignored,
    as Kafka ignores it. Raises ``ValueError`` for options that are refused, for unknown
    ones, and for a slip in ``kafka.isolation.level``.
    """
    found: dict[str, str] = {}
    for name, text in given.items():
        lower = name.lower()
        if lower in REFUSED:
            raise ValueError(f"kafka-log does not take {name}: {REFUSED[lower]}")
        known = _BY_LOWER.get(lower)
        if known in HONOURED:
            found[known] = str(text)
        elif known is None:
            _check_unknown(name, lower)
    return found


def _check_unknown(name: str, lower: str) -> None:
    """Refuse an unknown name, unless it is a setting for Kafka's clients."""
    if lower.startswith("kafka."):
        near = get_close_matches(lower, (ISOLATION,), 1, _LIKE_IT)
        if not near:
            return
    else:
        near = get_close_matches(lower, _BY_LOWER, 1)
    if near:
        hint = f"did you mean {_BY_LOWER[near[0]]}?"
    else:
        hint = f"it knows {', '.join(HONOURED)}"
    raise ValueError(f"kafka-log has no option {name!r}: {hint}")
