# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The properties of Kafka's consumer, and how kwire treats each.

One list for ``kwire.client`` and for the sources of Spark, which write ``kafka.`` in
front of each. What the values mean is in ``client/properties.py``.
"""

from __future__ import annotations

FOLLOWED = (
    "bootstrap.servers",
    "client.id",
    "client.rack",
    "isolation.level",
    "request.timeout.ms",
    "default.api.timeout.ms",
    "broker.version.fallback",
    "socket.connection.setup.timeout.ms",
    "security.protocol",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.jaas.config",
    "sasl.username",
    "sasl.password",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.certificates",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "ssl.endpoint.identification.algorithm",
    "ssl.ca.pem",
    "ssl.certificate.pem",
    "ssl.key.pem",
)
"""Properties that a connection or a scan follows; the last are librdkafka's."""

PASSED_OVER = (
    "bootstrap.resolve.timeout.ms",
    "client.dns.lookup",
    "group.id",
    "group.instance.id",
    "group.protocol",
    "group.remote.assignor",
    "partition.assignment.strategy",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.records",
    "max.poll.interval.ms",
    "fetch.min.bytes",
    "fetch.max.bytes",
    "fetch.max.wait.ms",
    "max.partition.fetch.bytes",
    "auto.commit.interval.ms",
    "allow.auto.create.topics",
    "exclude.internal.topics",
    "send.buffer.bytes",
    "receive.buffer.bytes",
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "retry.backoff.ms",
    "retry.backoff.max.ms",
    "socket.connection.setup.timeout.max.ms",
    "connections.max.idle.ms",
    "metadata.max.age.ms",
    "metadata.recovery.strategy",
    "metadata.recovery.rebootstrap.trigger.ms",
    "enable.metrics.push",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "auto.include.jmx.reporter",
)
"""Properties that cannot change which records are read."""

OF_CONSUMERS = (
    "key.deserializer",
    "value.deserializer",
    "enable.auto.commit",
    "auto.offset.reset",
    "interceptor.classes",
    "check.crcs",
)
"""Properties for which a scan has arguments of its own, or no use."""
