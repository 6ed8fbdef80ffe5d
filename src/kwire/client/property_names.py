# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Names of Kafka's client properties, grouped by the way kwire handles them.

Every property name appears in exactly one tuple. ``properties.py`` and
``spark/topics/option_names.py`` combine the tuples. The latter prefixes each name with
``kafka.``. This module imports only the registry of SASL mechanisms, so that
``kwire.spark`` can load the names without loading a client.
"""

from __future__ import annotations

from .sasl_mechanisms import SETTING_PROPERTIES

OF_CONNECTIONS = (
    "bootstrap.servers",
    "client.id",
    "client.rack",
    "client.dns.lookup",
    "metadata.recovery.strategy",
    "metadata.recovery.rebootstrap.trigger.ms",
    "request.timeout.ms",
    "broker.version.fallback",
    "enable.metrics.push",
    "socket.connection.setup.timeout.ms",
    "security.protocol",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.jaas.config",
    *SETTING_PROPERTIES,
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
"""Properties that every client supports, with the names of Kafka's Java client and of
librdkafka."""

OF_CONSUMERS = (
    "isolation.level",
    "default.api.timeout.ms",
)
"""Additional properties that scans and consumers support."""

OF_PRODUCERS = (
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
"""Additional properties that producers support."""

IGNORED_OF_CONNECTIONS = (
    "bootstrap.resolve.timeout.ms",
    "send.buffer.bytes",
    "receive.buffer.bytes",
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "retry.backoff.ms",
    "retry.backoff.max.ms",
    "socket.connection.setup.timeout.max.ms",
    "sasl.kerberos.kinit.cmd",
    "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor",
    "sasl.login.connect.timeout.ms",
    "sasl.login.read.timeout.ms",
    "sasl.login.retry.backoff.ms",
    "sasl.login.retry.backoff.max.ms",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.buffer.seconds",
    "connections.max.idle.ms",
    "metadata.max.age.ms",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "auto.include.jmx.reporter",
)
"""Properties of every client that kwire ignores, because they do not change which
records are read or written."""

IGNORED_OF_CONSUMERS = (
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
)
"""Consumer properties that kwire ignores, because they do not change which records are
read."""

IGNORED_OF_PRODUCERS = (
    "linger.ms",
    "retries",
    "max.in.flight.requests.per.connection",
    "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms",
    "partitioner.rack.aware",
    "buffer.memory.allocation.strategy",
    "transaction.timeout.ms",
    "transaction.two.phase.commit.enable",
    "metadata.max.idle.ms",
    "metadata.cluster.check.enable",
)
"""Producer properties that kwire ignores, because they do not change which records are
written or their order."""

REPLACED = (
    "key.deserializer",
    "value.deserializer",
    "enable.auto.commit",
    "auto.offset.reset",
    "interceptor.classes",
    "check.crcs",
)
"""Consumer properties that a client ignores, because its methods have corresponding
arguments or do not require them. The Spark sources use or reject these properties."""

KNOWN = (
    *OF_CONNECTIONS,
    *OF_CONSUMERS,
    *OF_PRODUCERS,
    *IGNORED_OF_CONNECTIONS,
    *IGNORED_OF_CONSUMERS,
    *IGNORED_OF_PRODUCERS,
    *REPLACED,
)
"""All property names in this module."""
