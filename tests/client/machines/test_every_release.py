# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Clients in simulated clusters, per release in ``schema/facts/releases.txt``.

Operations return their records, or raise ``FeatureUnsupported`` with the release and
the feature. This file lists the releases that support each feature, because the library
uses the same tables as the simulated brokers.
"""

import dataclasses
import importlib
import random
import re
from functools import partial

import pytest

from kwire.connection import sasl
from kwire.schema import releases
from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.coordinator_answers import GROUP, TRANSACTION
from tests.client.machines.old_releases import magic_of
from tests.client.machines.telemetry_answers import Receiver
from tests.client.machines.world import World

NAMES = releases.NAMES
RECORDS = 12
LIMIT_S = 100.0


def since(release):
    """Return all releases from ``release`` on."""
    return NAMES[NAMES.index(release) :]


WITH_API_VERSIONS = since("0.10.0")
WITH_TIMES = since("0.10.1")
WITH_RECORD_BATCHES = since("0.11.0")
WITH_ZSTD = since("2.1")
WITH_TOPIC_DEFAULTS = since("2.4")
WITH_COMMITS = since("0.8.2")
WITH_LZ4 = since("0.8.2")
WITH_GROUPS = since("3.7")


class Setting:
    """Two brokers with the same release and the topic "orders"."""

    def __init__(self, kwire, release, records=RECORDS):
        """Write records to the two partitions of the topic."""
        self.kwire = kwire
        self.release = release
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.random = random.Random(release)
        self.cluster = SimulatedCluster(kwire, self.random, 2, [release])
        self.cluster.receiver = Receiver()
        self.world = World(self.cluster, self.random)
        self.topic = self.cluster.add_topic("orders", 2)
        self.topic.leaders[:] = 1, 2
        for log in self.topic.logs:
            log.magic = magic_of(release)
            for _ in range(records):
                log.append(self.random.randint(1, 3))
        self.cluster.add_group("etl", ["orders"])
        self.cluster.coordinator(GROUP, "etl")
        self.cluster.coordinator(TRANSACTION, "etl")
        negotiation = importlib.import_module(
            f"{kwire.__name__}.connection.negotiation"
        )
        for broker in self.cluster.brokers.values():
            broker.table = negotiation.ApiVersionTable.of_release(release)
            broker.clock = lambda: self.world.now
            broker.learn()
        fallback = None if release in WITH_API_VERSIONS else release
        self.settings = self.module.ClusterSettings(
            timeout_s=20.0, request_timeout_s=5.0, fallback=fallback
        )

    def make(self, machine, *arguments, **options):
        """Create a machine from ``kwire.client.machines``."""
        return getattr(self.module, machine)(
            [("sim", 9001), ("sim", 9002)],
            self.settings,
            *arguments,
            now=self.world.now,
            random=self.random,
            **options,
        )

    def run(self, machine, is_over):
        """Run a machine until ``is_over()`` is true. Raises its failure."""
        is_finished = lambda: machine.failure or is_over()  # noqa: E731
        assert self.world.run(machine, is_finished, self.world.now + LIMIT_S), "no end"
        if machine.failure is not None:
            raise machine.failure

    def result(self, machine):
        """Run a machine to its end. Return its result, or raise its failure."""
        self.run(machine, machine.has_result)
        return machine.result()

    def read(self, machine):
        """Run a scan to its end. Return {partition: {offset: value}}."""
        seen = {}
        while True:
            self.run(machine, machine.has_result)
            fetched = machine.take()
            if fetched is None:
                return seen
            rows, _ = self.kwire.records.decode_records(
                fetched.data,
                start_offset=fetched.start_offset,
                end_offset=fetched.end_offset,
            )
            values_by_offset = seen.setdefault(fetched.partition, {})
            values_by_offset.update((row.offset, row.value) for row in rows)
            machine.release(fetched)

    def truth(self):
        """Return {partition: {offset: value}} for all records in the logs."""
        return {
            index: log.readable(log.start, log.end, False)
            for index, log in enumerate(self.topic.logs)
            if log.end
        }

    def scan_options(self, **options):
        """Return scan options for the topic."""
        return self.module.ScanOptions(**{"topics": ("orders",), **options})

    def producer(self, **options):
        """Return a producer that already has the topic's metadata."""
        machine = self.make("ProducerMachine", self.module.ProducerOptions(**options))
        machine.want_topic("orders", self.world.now)
        self.run(machine, lambda: machine.is_settled("orders"))
        return machine

    def send(self, rows, **options):
        """Send rows to partition 0 in batches, and wait for the batches.

        Return them, or raise the failure of the first batch that has failed.
        """
        machine = self.producer(**options)
        sender = self.module.RecordBatcher(machine, machine.topic("orders"), 0)
        sender.add(rows, 5, self.world.now)
        batches = sender.finish(self.world.now)
        self.run(machine, lambda: all(batch.is_over for batch in batches))
        for batch in batches:
            if batch.failure:
                raise batch.failure
        return batches

    def is_named(self, text):
        """Return whether a text names the release, or a range that includes it.

        A range has the form "between 0.8.0 and 0.9.0".
        """
        low, _, high = text.removeprefix("between ").partition(" and ")
        return NAMES.index(low) <= NAMES.index(self.release) <= NAMES.index(high or low)

    def expect(self, has_feature, feature, action):
        """Run ``action``, and return its result.

        If the release lacks the feature, ``action`` must raise ``FeatureUnsupported``
        with the feature and the release.
        """
        if has_feature:
            return action()
        with pytest.raises(self.module.FeatureUnsupported) as caught:
            action()
        error = caught.value
        assert isinstance(error, self.module.ClusterError)
        assert feature in error.feature
        assert self.is_named(error.release)
        assert f"Kafka {error.release}" in str(error)
        assert self.release not in since(error.first_release)
        return None


@pytest.mark.parametrize("release", NAMES)
def test_a_scan_reads_all_records_from_brokers_of_every_release(kwire, release):
    """Covers both isolation levels, and Fetch limits that truncate batches."""
    for committed in (False, True):
        for fetch_bytes in (1 << 20, 300, 40):
            setting = Setting(kwire, release)
            options = setting.scan_options(
                read_committed=committed, fetch_bytes=fetch_bytes
            )
            machine = setting.make("ScanMachine", options)
            assert setting.read(machine) == setting.truth()
            assert not setting.cluster.created


@pytest.mark.parametrize("release", NAMES)
def test_topics_and_offsets_are_found_in_every_release(kwire, release):
    """Offset lookups by time require a release that supports them."""
    setting = Setting(kwire, release)
    topics = setting.result(setting.make("TopicsMachine"))
    assert list(topics) == ["orders"]
    assert sorted(topics["orders"].partitions) == [0, 1]
    ends = {("orders", index): log.end for index, log in enumerate(setting.topic.logs)}
    for timestamp, offsets in ((-1, ends), (-2, dict.fromkeys(ends, 0))):
        lookup = setting.module.Lookup(timestamp)
        machine = setting.make("OffsetsMachine", setting.scan_options(), lookup)
        assert setting.result(machine) == offsets
    lookup = setting.module.Lookup(1003)
    by_time = setting.make("OffsetsMachine", setting.scan_options(), lookup)
    offsets_by_time = setting.expect(
        release in WITH_TIMES,
        "offset lookups by time",
        lambda: setting.result(by_time),
    )
    assert offsets_by_time in (None, dict.fromkeys(ends, 2))


@pytest.mark.parametrize("release", NAMES)
def test_sizes_and_missing_topics_are_reported_in_every_release(kwire, release):
    """A missing topic is an error, and brokers do not create it automatically."""
    setting = Setting(kwire, release)
    sizes = setting.result(setting.make("SizesMachine", {"orders"}))
    assert set(sizes) <= {("orders", 0), ("orders", 1)}
    machine = setting.make("ScanMachine", setting.scan_options(topics=("missing",)))
    with pytest.raises(setting.module.TopicNotFound, match="'missing' does not exist"):
        setting.run(machine, machine.has_result)
    producer = setting.producer()
    producer.want_topic("missing", setting.world.now)
    setting.run(producer, lambda: producer.is_settled("missing"))
    with pytest.raises(setting.module.TopicNotFound, match="'missing' does not exist"):
        producer.topic("missing")
    assert not setting.cluster.created


@pytest.mark.parametrize("release", NAMES)
def test_a_producer_writes_the_format_of_every_release(kwire, release):
    """Releases without sequence numbers reject an idempotent producer.

    Without idempotence, the producer works with every release.
    """
    rows = [(None, b"value-%d" % number, 1000 + number) for number in range(5)]
    values = [row[1] for row in rows]
    for idempotent in (True, False):
        for compression in ("none", "gzip"):
            setting = Setting(kwire, release, records=0)
            options = {"is_idempotent": idempotent, "compression": compression}
            send = partial(setting.send, rows, **options)
            has_feature = not idempotent or release in WITH_RECORD_BATCHES
            batches = setting.expect(has_feature, "idempotent producers", send)
            log = setting.topic.logs[0]
            stored = [value for batch in log.batches for value in batch.values.values()]
            assert stored == (values if batches else [])
            for batch in batches or ():
                assert batch.receipt.base_offset == 0
                assert batch.receipt.record_count == 5


@pytest.mark.parametrize("release", NAMES)
def test_headers_are_written_only_to_releases_that_store_them(kwire, release):
    """If the release does not support headers, no record in the batch is written."""
    setting = Setting(kwire, release, records=0)
    rows = [(None, b"value", 1000, [("name", b"x")])]
    sent = setting.expect(
        release in WITH_RECORD_BATCHES,
        "record headers",
        lambda: setting.send(rows, is_idempotent=False),
    )
    assert setting.topic.logs[0].end == len(sent or ())


CODECS = {
    "none": NAMES,
    "gzip": NAMES,
    "snappy": NAMES,
    "lz4": WITH_LZ4,
    "zstd": WITH_ZSTD,
}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("release", NAMES)
def test_a_codec_that_the_release_lacks_is_named_and_not_written(kwire, release, codec):
    """The error recommends the codecs that the release supports."""
    setting = Setting(kwire, release, records=0)
    send = partial(
        setting.send, [(None, b"value")], is_idempotent=False, compression=codec
    )
    sent = setting.expect(release in CODECS[codec], f"{codec} compression", send)
    stored = setting.topic.logs[0].batches
    assert [batch.values for batch in stored] == ([{0: b"value"}] if sent else [])


@pytest.mark.parametrize("release", NAMES)
def test_a_transaction_needs_the_release_that_has_them(kwire, release):
    """Transactions succeed in all releases that support them."""
    setting = Setting(kwire, release, records=0)

    def commit():
        machine = setting.producer(transactional_id="etl")
        transactions = machine.transactions
        setting.run(machine, lambda: transactions.is_over and transactions.producer)
        machine.begin_transaction()
        sender = setting.module.RecordBatcher(machine, machine.topic("orders"), 0)
        sender.add([(None, b"value")], 5, setting.world.now)
        sender.finish(setting.world.now)
        machine.end_transaction(True, setting.world.now)
        setting.run(machine, lambda: transactions.is_over)
        return True

    setting.expect(release in WITH_RECORD_BATCHES, "transactions", commit)


@pytest.mark.parametrize("release", NAMES)
def test_a_group_is_joined_or_read_without_joining(kwire, release):
    """Joining a group requires KIP-848. Offsets are committed from 0.8.2 on."""
    setting = Setting(kwire, release)
    options = setting.scan_options(follow=True)
    group = setting.module.GroupOptions("etl")

    def poll(machine, action):
        machine.begin_wait(setting.world.now)
        setting.run(machine, action)
        machine.end_wait(setting.world.now)
        return machine.take()

    joined = setting.make("ConsumerMachine", options, group)
    chunk = setting.expect(
        release in WITH_GROUPS,
        "group protocol of KIP-848",
        lambda: poll(joined, joined.has_result),
    )
    assert (chunk is not None) == (release in WITH_GROUPS)
    if release in WITH_GROUPS:
        return
    partitions = {"orders": (0,)}
    options = setting.scan_options(follow=True, partitions=partitions)
    group = setting.module.GroupOptions("etl", joins=False)

    def commit():
        machine = setting.make("ConsumerMachine", options, group)
        fetched = poll(machine, machine.has_result)
        pending = machine.commit(setting.world.now)
        setting.run(machine, lambda: pending.is_over)
        if pending.failure:
            raise pending.failure
        return fetched

    fetched = setting.expect(release in WITH_COMMITS, "committed offsets", commit)
    if fetched is not None:
        again = setting.make("ConsumerMachine", options, group)
        setting.run(again, lambda: again.position())
        assert again.position() == {("orders", 0): fetched.next_offset}


@pytest.mark.parametrize("release", NAMES)
def test_a_topic_is_created_by_brokers_that_have_the_request(kwire, release):
    """Brokers without CreateTopics cause an error before a request is sent."""
    setting = Setting(kwire, release)
    request = kwire.messages.CreateTopicsRequest
    negotiation = importlib.import_module(f"{kwire.__name__}.connection.negotiation")

    def create(name, count, *constraints):
        topic = request.CreatableTopic(
            name=name, num_partitions=count, replication_factor=count
        )
        message = request(topics=[topic], timeout_ms=5000)
        machine = setting.make("RequestMachine", message, constraints=constraints)
        (created,) = setting.result(machine).topics
        return created.name, created.error_code

    created = setting.expect(
        release in WITH_TIMES, "creating topics", lambda: create("created", 2)
    )
    assert created in (None, ("created", 0))
    setting.expect(
        release in WITH_TOPIC_DEFAULTS,
        "default partition",
        lambda: create("defaults", -1, negotiation.TOPIC_DEFAULTS),
    )


@pytest.mark.parametrize(
    "release", [name for name in NAMES if name not in WITH_API_VERSIONS]
)
def test_brokers_without_api_versions_need_the_setting_that_the_error_names(
    kwire, release
):
    """Old brokers disconnect or do not respond. The error names ``fallback``."""
    setting = Setting(kwire, release)
    setting.settings = setting.module.ClusterSettings(timeout_s=20.0)
    machine = setting.make("TopicsMachine")
    pattern = r"older than 0\.10\.0 \(then set fallback to its release\)"
    with pytest.raises(setting.module.BrokersUnreachable, match=pattern):
        setting.result(machine)


@pytest.mark.parametrize(
    "release", [name for name in NAMES if name not in WITH_API_VERSIONS]
)
def test_sasl_names_the_release_that_its_handshake_requires(kwire, release):
    """Kafka 0.9 supports GSSAPI without a handshake. Older releases have no SASL."""
    setting = Setting(kwire, release)
    setting.settings = dataclasses.replace(
        setting.settings, new_mechanism=lambda: sasl.Plain("ann", "secret")
    )
    machine = setting.make("TopicsMachine")
    setting.expect(False, "SASL", lambda: setting.result(machine))
    assert machine.failure.first_release == "0.10.0"


@pytest.mark.parametrize(
    "release", [name for name in NAMES if name not in WITH_API_VERSIONS]
)
def test_versions_assumed_of_a_broker_are_shared_by_the_operations_of_a_client(
    kwire, release
):
    """Operations of a client share the release that the client assumes for a broker.

    Without this cache, each operation would wait for a broker that never responds. An
    idle client negotiates again, because the broker may have been upgraded.
    """
    setting = Setting(kwire, release)
    setting.result(setting.make("TopicsMachine"))
    for pause_s, is_assumed in ((0.0, True), (300.0, False)):
        setting.world.now += pause_s
        machine = setting.make("ScanMachine", setting.scan_options())
        machine.advance(setting.world.now)
        (link,) = machine.cluster.take_new_links()
        assert link.is_fallback == is_assumed


def test_assumed_versions_of_an_address_that_is_not_named_are_forgotten(kwire):
    """A cluster may advertise many addresses over time, so the cache is limited."""
    setting = Setting(kwire, "0.9.0")
    assumed = setting.settings.assumed_versions
    machine = setting.make("TopicsMachine")
    assumed["elsewhere", 9001] = setting.cluster.brokers[1].table, float("inf")
    setting.result(machine)
    assert set(assumed) <= {("sim", 9001), ("sim", 9002)}


def test_a_fallback_is_not_used_for_brokers_that_report_their_versions(kwire):
    """The fallback release is only used if a broker closes the connection.

    If a broker reports its versions, for example after an upgrade, these are used.
    """
    setting = Setting(kwire, "3.9")
    setting.settings = setting.module.ClusterSettings(timeout_s=20.0, fallback="0.9.0")
    topics = setting.result(setting.make("TopicsMachine"))
    assert topics["orders"].topic_id == setting.topic.topic_id


def test_a_pattern_matches_no_internal_topic_of_the_oldest_brokers(kwire):
    """The Metadata of these brokers does not mark internal topics."""
    setting = Setting(kwire, "0.9.0")
    setting.cluster.add_topic("__consumer_offsets", 1).logs[0].magic = 0
    for broker in setting.cluster.brokers.values():
        broker.learn()
    options = setting.scan_options(topics=(), pattern=re.compile(".*"))
    machine = setting.make("ScanMachine", options)
    assert setting.read(machine) == setting.truth()
    assert {name for name, _ in machine.fetcher.readers} == {"orders"}


@pytest.mark.parametrize("release", ["0.8.0", "0.9.0", "1.1", "3.9", NAMES[-1]])
@pytest.mark.parametrize("has_topic", [False, True])
def test_a_scan_that_follows_a_pattern_waits_for_topics(kwire, release, has_topic):
    """New topics are read from their start. Only the caller ends the scan."""
    setting = Setting(kwire, release, records=0)
    cluster, world = setting.cluster, setting.world
    if not has_topic:
        # An empty list is valid. Brokers before 0.9 then return no brokers either.
        cluster.topics.clear()
    for broker in cluster.brokers.values():
        broker.learn()
    pattern = re.compile("late-.*")
    options = setting.scan_options(topics=(), pattern=pattern, follow=True)
    machine = setting.make("ScanMachine", options)
    assert not world.run(machine, machine.has_result, world.now + 600), "it has ended"
    assert not machine.failure
    before, began = world.requests, world.now
    assert not world.run(machine, machine.has_result, began + 60)
    assert world.requests - before < 60
    log = cluster.add_topic("late-orders", 1).logs[0]
    log.magic = magic_of(release)
    log.append(3)
    for broker in cluster.brokers.values():
        broker.learn()
    appeared = world.now
    assert world.run(machine, machine.has_result, world.now + 60)
    assert not machine.failure
    assert world.now < appeared + 10
    fetched = machine.take()
    assert (fetched.topic, fetched.start_offset) == ("late-orders", 0)
    assert not machine.is_done


@pytest.mark.parametrize("release", ["0.8.0", "0.9.0", "2.8"])
def test_topics_of_an_empty_cluster_are_listed(kwire, release):
    """An empty list is valid. Brokers before 0.9 then return no brokers either."""
    setting = Setting(kwire, release)
    setting.cluster.topics.clear()
    for broker in setting.cluster.brokers.values():
        broker.learn()
    assert setting.result(setting.make("TopicsMachine")) == {}
