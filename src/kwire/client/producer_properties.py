# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The properties of Kafka's producer, and how kwire treats each.

Those of connections, which consumers have as well, are in ``consumer_properties.py``.
"""

from __future__ import annotations

FOLLOWED = (
    "acks",
    "enable.idempotence",
    "compression.type",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "batch.size",
    "max.request.size",
    "buffer.memory",
    "delivery.timeout.ms",
    "max.block.ms",
)
"""Properties that a producer of kwire follows."""

PASSED_OVER = (
    "bootstrap.resolve.timeout.ms",
    "client.dns.lookup",
    "linger.ms",
    "retries",
    "retry.backoff.ms",
    "retry.backoff.max.ms",
    "max.in.flight.requests.per.connection",
    "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms",
    "partitioner.rack.aware",
    "buffer.memory.allocation.strategy",
    "transaction.timeout.ms",
    "transaction.two.phase.commit.enable",
    "send.buffer.bytes",
    "receive.buffer.bytes",
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "socket.connection.setup.timeout.max.ms",
    "connections.max.idle.ms",
    "metadata.max.age.ms",
    "metadata.max.idle.ms",
    "metadata.recovery.strategy",
    "metadata.cluster.check.enable",
    "metadata.recovery.rebootstrap.trigger.ms",
    "enable.metrics.push",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "auto.include.jmx.reporter",
)
"""Properties that cannot change which records are written, nor their order."""
