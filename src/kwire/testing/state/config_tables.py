# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Properties of topics, brokers, groups and client metrics, with their defaults.

A row describes one property in some releases: name, type, default, valid values,
releases, and a last column that depends on the table.

* default: ``-`` is null, and ``""`` is the empty string. ``@protocol`` is the name of
  the newest protocol version of the release.
* valid values: ``*`` is everything, ``1..`` and ``0..1`` are ranges, and ``a|b`` are
  the allowed strings, or the allowed elements of a list.
* releases: ``-`` is all of them, and ``2.1-``, ``-3.9`` and ``0.10.0-3.9`` are ranges.

Source: ``LogConfig``, ``KafkaConfig``, ``ServerTopicConfigSynonyms``, ``GroupConfig``,
``ClientMetricsConfigs`` and ``DynamicBrokerConfig``.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ...schema import releases
from .features import is_since

READ_ONLY, PER_BROKER, CLUSTER_WIDE = "read-only", "per-broker", "cluster-wide"
"""Update modes of broker properties (KIP-226)."""

_MAX_LONG = "9223372036854775807"

# The last column is the broker property that determines the default.
_TOPIC = f"""
cleanup.policy list delete compact|delete - log.cleanup.policy
compression.gzip.level int -1 -1..9 3.8- compression.gzip.level
compression.lz4.level int 9 1..17 3.8- compression.lz4.level
compression.type string producer uncompressed|snappy|lz4|gzip|producer -2.0 \
compression.type
compression.type string producer uncompressed|zstd|lz4|snappy|gzip|producer 2.1- \
compression.type
compression.zstd.level int 3 -131072..22 3.8- compression.zstd.level
delete.retention.ms long 86400000 0.. - log.cleaner.delete.retention.ms
file.delete.delay.ms long 60000 0.. - log.segment.delete.delay.ms
flush.messages long {_MAX_LONG} 1.. - log.flush.interval.messages
flush.ms long {_MAX_LONG} 0.. - log.flush.interval.ms
follower.replication.throttled.replicas list "" * 0.10.1- -
index.interval.bytes int 4096 0.. - log.index.interval.bytes
leader.replication.throttled.replicas list "" * 0.10.1- -
local.retention.bytes long -2 -2.. 3.6- log.local.retention.bytes
local.retention.ms long -2 -2.. 3.6- log.local.retention.ms
max.compaction.lag.ms long {_MAX_LONG} 1.. 2.3- log.cleaner.max.compaction.lag.ms
max.message.bytes int 1000012 0.. -2.4 message.max.bytes
max.message.bytes int 1048588 0.. 2.5- message.max.bytes
message.downconversion.enable boolean true * 2.0-3.9 log.message.downconversion.enable
message.format.version string @protocol * 0.10.0-2.8 log.message.format.version
message.format.version string 3.0-IV1 * 3.0-3.9 log.message.format.version
message.timestamp.after.max.ms long {_MAX_LONG} 0.. 3.6-3.9 \
log.message.timestamp.after.max.ms
message.timestamp.after.max.ms long 3600000 0.. 4.0- log.message.timestamp.after.max.ms
message.timestamp.before.max.ms long {_MAX_LONG} 0.. 3.6- \
log.message.timestamp.before.max.ms
message.timestamp.difference.max.ms long {_MAX_LONG} 0.. 0.10.0-3.9 \
log.message.timestamp.difference.max.ms
message.timestamp.type string CreateTime CreateTime|LogAppendTime 0.10.0- \
log.message.timestamp.type
min.cleanable.dirty.ratio double 0.5 0..1 - log.cleaner.min.cleanable.ratio
min.compaction.lag.ms long 0 0.. 0.10.1- log.cleaner.min.compaction.lag.ms
min.insync.replicas int 1 1.. - min.insync.replicas
preallocate boolean false * - log.preallocate
remote.log.copy.disable boolean false * 3.9- -
remote.log.delete.on.disable boolean false * 3.9- -
remote.storage.enable boolean false * 3.6- -
retention.bytes long -1 * - log.retention.bytes
retention.ms long 604800000 -1.. - log.retention.ms
segment.bytes int 1073741824 14.. -3.9 log.segment.bytes
segment.bytes int 1073741824 1048576.. 4.0- log.segment.bytes
segment.index.bytes int 10485760 4.. - log.index.size.max.bytes
segment.jitter.ms long 0 0.. - log.roll.jitter.ms
segment.ms long 604800000 1.. - log.roll.ms
unclean.leader.election.enable boolean true * -0.10.2 unclean.leader.election.enable
unclean.leader.election.enable boolean false * 0.11.0- unclean.leader.election.enable
"""

# The last column is the update mode.
_BROKER = f"""
advertised.listeners string - * - per-broker
authorizer.class.name string "" * - read-only
auto.create.topics.enable boolean true * - read-only
auto.leader.rebalance.enable boolean true * - read-only
background.threads int 10 1.. - cluster-wide
broker.id int -1 * - read-only
broker.rack string - * 0.10.0- read-only
compression.gzip.level int -1 -1..9 3.8- cluster-wide
compression.lz4.level int 9 1..17 3.8- cluster-wide
compression.type string producer uncompressed|zstd|lz4|snappy|gzip|producer - \
cluster-wide
compression.zstd.level int 3 -131072..22 3.8- cluster-wide
connections.max.idle.ms long 600000 * - read-only
controlled.shutdown.enable boolean true * - read-only
controller.listener.names string - * 3.3- read-only
default.replication.factor int 1 1.. - read-only
delete.topic.enable boolean true * - read-only
fetch.max.bytes int 57671680 1024.. 2.5- read-only
fetch.purgatory.purge.interval.requests int 1000 * - read-only
group.consumer.heartbeat.interval.ms int 5000 1.. 3.7- read-only
group.consumer.max.heartbeat.interval.ms int 15000 1.. 3.7- read-only
group.consumer.max.session.timeout.ms int 60000 1.. 3.7- read-only
group.consumer.max.size int 2147483647 1.. 3.7- read-only
group.consumer.min.heartbeat.interval.ms int 5000 1.. 3.7- read-only
group.consumer.min.session.timeout.ms int 45000 1.. 3.7- read-only
group.consumer.session.timeout.ms int 45000 1.. 3.7- read-only
group.initial.rebalance.delay.ms int 3000 0.. 0.11.0- read-only
group.max.session.timeout.ms int 1800000 * - read-only
group.max.size int 2147483647 1.. 2.2- read-only
group.min.session.timeout.ms int 6000 * - read-only
group.share.heartbeat.interval.ms int 5000 1.. 4.0- read-only
group.share.record.lock.duration.ms int 30000 1000.. 4.0- read-only
group.share.session.timeout.ms int 45000 1.. 4.0- read-only
inter.broker.protocol.version string @protocol * -3.9 read-only
leader.imbalance.check.interval.seconds long 300 1.. - read-only
listener.security.protocol.map string \
PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL \
* 0.10.2- per-broker
listeners string PLAINTEXT://:9092 * - per-broker
log.cleaner.backoff.ms long 15000 0.. - cluster-wide
log.cleaner.dedupe.buffer.size long 134217728 * - cluster-wide
log.cleaner.delete.retention.ms long 86400000 0.. - cluster-wide
log.cleaner.enable boolean true * - read-only
log.cleaner.io.buffer.size int 524288 0.. - cluster-wide
log.cleaner.max.compaction.lag.ms long {_MAX_LONG} 1.. 2.3- cluster-wide
log.cleaner.min.cleanable.ratio double 0.5 0..1 - cluster-wide
log.cleaner.min.compaction.lag.ms long 0 0.. 0.10.1- cluster-wide
log.cleaner.threads int 1 0.. - cluster-wide
log.cleanup.policy list delete compact|delete - cluster-wide
log.dir string /tmp/kafka-logs * - read-only
log.dirs string - * - read-only
log.flush.interval.messages long {_MAX_LONG} 1.. - cluster-wide
log.flush.interval.ms long - * - cluster-wide
log.flush.scheduler.interval.ms long {_MAX_LONG} * - read-only
log.index.interval.bytes int 4096 0.. - cluster-wide
log.index.size.max.bytes int 10485760 4.. - cluster-wide
log.local.retention.bytes long -2 -2.. 3.6- cluster-wide
log.local.retention.ms long -2 -2.. 3.6- cluster-wide
log.message.downconversion.enable boolean true * 2.0-3.9 cluster-wide
log.message.format.version string @protocol * 0.10.0-2.8 read-only
log.message.format.version string 3.0-IV1 * 3.0-3.9 read-only
log.message.timestamp.after.max.ms long {_MAX_LONG} 0.. 3.6-3.9 cluster-wide
log.message.timestamp.after.max.ms long 3600000 0.. 4.0- cluster-wide
log.message.timestamp.before.max.ms long {_MAX_LONG} 0.. 3.6- cluster-wide
log.message.timestamp.difference.max.ms long {_MAX_LONG} 0.. 0.10.0-3.9 cluster-wide
log.message.timestamp.type string CreateTime CreateTime|LogAppendTime 0.10.0- \
cluster-wide
log.preallocate boolean false * - cluster-wide
log.retention.bytes long -1 * - cluster-wide
log.retention.check.interval.ms long 300000 1.. - read-only
log.retention.hours int 168 * - read-only
log.retention.minutes int - * - read-only
log.retention.ms long - * - cluster-wide
log.roll.hours int 168 1.. - read-only
log.roll.jitter.hours int 0 0.. - read-only
log.roll.jitter.ms long - * - cluster-wide
log.roll.ms long - * - cluster-wide
log.segment.bytes int 1073741824 14.. -3.9 cluster-wide
log.segment.bytes int 1073741824 1048576.. 4.0- cluster-wide
log.segment.delete.delay.ms long 60000 0.. - cluster-wide
max.connection.creation.rate int 2147483647 0.. 2.7- cluster-wide
max.connections int 2147483647 0.. 2.3- cluster-wide
max.connections.per.ip int 2147483647 0.. - cluster-wide
max.incremental.fetch.session.cache.slots int 1000 0.. 1.1- read-only
message.max.bytes int 1000012 0.. -2.4 cluster-wide
message.max.bytes int 1048588 0.. 2.5- cluster-wide
metric.reporters list "" * - cluster-wide
metrics.num.samples int 2 1.. - read-only
min.insync.replicas int 1 1.. - cluster-wide
node.id int - * 3.3- read-only
num.io.threads int 8 1.. - cluster-wide
num.network.threads int 3 1.. - cluster-wide
num.partitions int 1 1.. - read-only
num.recovery.threads.per.data.dir int 1 1.. -3.9 cluster-wide
num.recovery.threads.per.data.dir int 2 1.. 4.0- cluster-wide
num.replica.fetchers int 1 * - cluster-wide
offset.metadata.max.bytes int 4096 * - read-only
offsets.retention.minutes int 1440 1.. -1.1 read-only
offsets.retention.minutes int 10080 1.. 2.0- read-only
offsets.topic.num.partitions int 50 1.. - read-only
offsets.topic.replication.factor short 3 1.. - read-only
process.roles list "" * 3.3- read-only
producer.id.expiration.ms int 86400000 1.. 3.5- cluster-wide
queued.max.requests int 500 1.. - read-only
quota.window.num int 11 1.. - read-only
replica.fetch.max.bytes int 1048576 0.. - read-only
replica.lag.time.max.ms long 10000 * -2.4 read-only
replica.lag.time.max.ms long 30000 * 2.5- read-only
replica.selector.class string - * 2.4- read-only
request.timeout.ms int 30000 * - read-only
sasl.enabled.mechanisms list GSSAPI * 0.10.0- per-broker
security.inter.broker.protocol string PLAINTEXT \
PLAINTEXT|SSL|SASL_PLAINTEXT|SASL_SSL - read-only
socket.receive.buffer.bytes int 102400 * - read-only
socket.request.max.bytes int 104857600 1.. - read-only
socket.send.buffer.bytes int 102400 * - read-only
ssl.key.password password - * - per-broker
ssl.keystore.location string - * - per-broker
ssl.keystore.password password - * - per-broker
ssl.truststore.password password - * - per-broker
telemetry.max.bytes int 1048576 1.. 3.7- read-only
transaction.max.timeout.ms int 900000 1.. 0.11.0- read-only
transaction.partition.verification.enable boolean true * 3.6- cluster-wide
transaction.state.log.min.isr int 2 1.. 0.11.0- read-only
transaction.state.log.num.partitions int 50 1.. 0.11.0- read-only
transaction.state.log.replication.factor short 3 1.. 0.11.0- read-only
transactional.id.expiration.ms int 604800000 1.. 0.11.0- read-only
unclean.leader.election.enable boolean true * -0.10.2 cluster-wide
unclean.leader.election.enable boolean false * 0.11.0- cluster-wide
zookeeper.connect string - * -3.9 read-only
zookeeper.session.timeout.ms int 6000 * -2.4 read-only
zookeeper.session.timeout.ms int 18000 * 2.5-3.9 read-only
"""

# The last column is the broker property that determines the default.
_GROUP = """
consumer.heartbeat.interval.ms int 5000 5000..15000 3.8- \
group.consumer.heartbeat.interval.ms
consumer.session.timeout.ms int 45000 45000..60000 3.8- \
group.consumer.session.timeout.ms
share.auto.offset.reset string latest latest|earliest|by_duration:* 4.0- -
share.heartbeat.interval.ms int 5000 5000..15000 4.0- group.share.heartbeat.interval.ms
share.isolation.level string read_uncommitted read_uncommitted|read_committed 4.1- -
share.record.lock.duration.ms int 30000 15000..60000 4.0- \
group.share.record.lock.duration.ms
share.session.timeout.ms int 45000 45000..60000 4.0- group.share.session.timeout.ms
"""

_CLIENT_METRICS = """
interval.ms int 300000 100..3600000 - -
match list "" * - -
metrics list "" * - -
"""


class Property(NamedTuple):
    """Property of a resource.

    * ``kind``: boolean, string, int, short, long, double, list or password.
    * ``default``: value without any configuration, or None.
    * ``valid_values``: see the beginning of this module.
    * ``broker_property``: property of brokers that determines the default, or "".
    * ``update_mode``: whether a broker property can be changed.
    """

    name: str
    kind: str
    default: str | None
    valid_values: str
    broker_property: str = ""
    update_mode: str = CLUSTER_WIDE

    @property
    def is_sensitive(self) -> bool:
        """Whether brokers never return the value."""
        return self.kind == "password"


class PropertyTables(NamedTuple):
    """Properties of a release by name, for each type of resource."""

    topic: dict[str, Property]
    broker: dict[str, Property]
    group: dict[str, Property]
    client_metrics: dict[str, Property]


@cache
def load_tables(release: str) -> PropertyTables:
    """Return the properties that exist in a release."""
    return PropertyTables(
        _parse(_TOPIC, release),
        _parse(_BROKER, release),
        _parse(_GROUP, release),
        _parse(_CLIENT_METRICS, release),
    )


def _parse(table: str, release: str) -> dict[str, Property]:
    properties = {}
    for line in table.splitlines():
        if not line:
            continue
        name, kind, default, valid_values, range_text, last = line.split(" ")
        if not _is_in_range(release, range_text):
            continue
        is_mode = last in (READ_ONLY, PER_BROKER, CLUSTER_WIDE)
        properties[name] = Property(
            name,
            kind,
            _parse_default(default, release),
            valid_values,
            "" if is_mode or last == "-" else last,
            last if is_mode else CLUSTER_WIDE,
        )
    return properties


def _is_in_range(release: str, range_text: str) -> bool:
    first, _, last = range_text.partition("-")
    is_too_old = bool(first) and not is_since(release, first)
    is_too_new = bool(last) and not is_since(last, release)
    return not (is_too_old or is_too_new)


def _parse_default(text: str, release: str) -> str | None:
    if text == "@protocol":
        protocols = releases.protocol_versions()
        names = [protocol.name for protocol in protocols if protocol.release == release]
        return names[-1] if names else release
    return {"-": None, '""': ""}.get(text, text)
