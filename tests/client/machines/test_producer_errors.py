# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Producer reactions to single broker errors, and its error messages."""

import importlib
import random
from uuid import UUID

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World

DELAY_S = 0.01


class Setting:
    """Brokers and a producer. The first broker leads the only partition."""

    def __init__(self, kwire, release="3.9", brokers=1, **options):
        """Start all brokers without faults."""
        self.kwire = kwire
        self.codes = kwire.error_codes
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, random.Random(1), brokers, [release])
        self.world = World(self.cluster, random.Random(2))
        self.topic = self.cluster.add_topic("orders", 1)
        self.log = self.topic.logs[0]
        self.topic.leaders[0] = 1
        self.broker = self.cluster.brokers[1]
        for broker in self.cluster.brokers.values():
            broker.learn()
        self.machine = self.module.ProducerMachine(
            [("sim", 9001)],
            self.module.ClusterSettings(request_timeout_s=3.0, timeout_s=20.0),
            self.module.ProducerOptions(**options),
            now=START_S,
            random=random.Random(3),
        )

    def find(self, name="orders"):
        """Look up a topic, and return its metadata."""
        machine = self.machine
        machine.want_topic(name, self.world.now)
        settled = lambda: machine.is_settled(name)  # noqa: E731
        assert self.world.run(machine, settled, self.world.now + 60)
        return machine.topic(name)

    def send(self, *values):
        """Send records in one batch, and wait until it is finished.

        Return a list with the batch, or with its parts if it was split.
        """
        topic = self.find()
        sender = self.module.RecordBatcher(self.machine, topic, 0)
        sender.add([(None, value) for value in values], 5, self.world.now)
        (batch,) = sender.finish(self.world.now)
        is_finished = lambda: batch.is_over  # noqa: E731
        assert self.world.run(self.machine, is_finished, self.world.now + 500)
        return list(batch.leaves())

    def values(self):
        """Return the values of all records in the log."""
        return [value for batch in self.log.batches for value in batch.values.values()]


def test_a_newer_producer_ends_this_one(kwire):
    """The error contains the reason and the fix. Later records are rejected."""
    setting = Setting(kwire)
    setting.send(b"a")
    setting.broker.produce_error = (setting.codes.INVALID_PRODUCER_EPOCH, False)
    (batch,) = setting.send(b"b")
    assert isinstance(batch.failure, setting.module.ProducerFenced)
    assert "a newer producer has fenced this one" in str(batch.failure)
    assert setting.machine.failure is batch.failure
    with pytest.raises(setting.module.ProducerFenced):
        setting.find()
    assert setting.machine.deliveries.held_bytes == 0


def test_unauthorized_write_is_an_error(kwire):
    """The error contains the required operations on the topic or the cluster."""
    setting = Setting(kwire)
    setting.send(b"a")
    setting.broker.produce_error = (setting.codes.TOPIC_AUTHORIZATION_FAILED, False)
    (batch,) = setting.send(b"b")
    assert isinstance(batch.failure, setting.module.NotAuthorized)
    assert "it needs the operations Write and Describe" in str(batch.failure)
    # Other topics are still writable.
    (batch,) = setting.send(b"c")
    assert batch.receipt
    assert setting.values() == [b"a", b"c"]
    setting.broker.produce_error = (setting.codes.CLUSTER_AUTHORIZATION_FAILED, False)
    (batch,) = setting.send(b"d")
    assert "IdempotentWrite" in str(batch.failure)


def test_a_batch_that_is_too_large_is_split(kwire):
    """A batch is split until it fits. Its records keep their sequence numbers."""
    setting = Setting(kwire)
    setting.log.max_bytes = 150
    leaves = setting.send(*(b"value-%02d" % n for n in range(32)))
    assert len(leaves) > 3
    assert setting.values() == [b"value-%02d" % n for n in range(32)]
    assert leaves[0].receipt.base_offset == 0
    (writer,) = setting.machine.deliveries.writers.values()
    assert writer.producer_epoch == 0


def test_a_record_that_is_too_large_has_failed(kwire):
    """A single record cannot be split. The records after it are written."""
    setting = Setting(kwire)
    setting.send(b"a")
    setting.broker.produce_error = (setting.codes.MESSAGE_TOO_LARGE, False)
    (batch,) = setting.send(b"b")
    assert isinstance(batch.failure, setting.module.DeliveryFailed)
    assert "raise the topic's max.message.bytes" in str(batch.failure)
    assert not batch.failure.is_in_doubt
    setting.send(b"c")
    assert setting.values() == [b"a", b"c"]


@pytest.mark.parametrize(
    "name", ["UNKNOWN_PRODUCER_ID", "OUT_OF_ORDER_SEQUENCE_NUMBER"]
)
def test_broker_that_forgot_the_producer_gets_a_new_epoch(kwire, name):
    """The producer bumps its epoch, and the record is written once."""
    setting = Setting(kwire)
    setting.send(b"a")
    setting.broker.produce_error = (getattr(setting.codes, name), False)
    (batch,) = setting.send(b"b")
    assert batch.receipt.base_offset == 1
    assert setting.values() == [b"a", b"b"]
    (writer,) = setting.machine.deliveries.writers.values()
    assert (writer.producer_epoch, batch.sequence) == (1, 0)


def test_after_the_last_epoch_there_is_another_producer(kwire):
    """After epoch 32767, the maximum INT16, the producer gets a new producer id."""
    setting = Setting(kwire)
    setting.send(b"a")
    (writer,) = setting.machine.deliveries.writers.values()
    first = writer.producer_id
    writer.producer_epoch = 32767
    setting.broker.produce_error = (setting.codes.UNKNOWN_PRODUCER_ID, False)
    (batch,) = setting.send(b"b")
    assert batch.receipt
    assert (writer.producer_id > first, writer.producer_epoch) == (True, 0)


def test_sequence_numbers_wrap_to_0_after_the_maximum(kwire):
    """Sequence number 2**31 - 1 is followed by 0."""
    setting = Setting(kwire)
    setting.send(b"a")
    (writer,) = setting.machine.deliveries.writers.values()
    last = setting.log.produced[-1]
    setting.log.produced[-1] = last._replace(first=2**31 - 3, last=2**31 - 3)
    writer._next_sequence = 2**31 - 2
    (batch,) = setting.send(b"b", b"c", b"d")
    assert (batch.sequence, batch.receipt.record_count) == (2**31 - 2, 3)
    (batch,) = setting.send(b"e")
    assert (batch.sequence, batch.receipt.base_offset) == (1, 4)


def test_newer_leader_is_written_to_immediately(kwire):
    """The KIP-951 hint is used without a metadata request or a backoff."""
    setting = Setting(kwire, "4.1", brokers=2)
    setting.world.delay = lambda: DELAY_S
    setting.send(b"a")
    setting.topic.leaders[0] = 2
    setting.log.new_leader()
    for broker in setting.cluster.brokers.values():
        broker.learn()
    # Delay the metadata refresh, which would also return the leader.
    setting.machine.cluster._refresh_at = setting.world.now + 1000
    requests_before, began_at = setting.world.requests, setting.world.now
    (batch,) = setting.send(b"b")
    assert batch.receipt.base_offset == 1
    # One Produce request to each broker, and the requests that open the second
    # connection.
    assert setting.world.requests - requests_before <= 3
    assert setting.world.now - began_at < 15 * DELAY_S


def test_a_broker_that_throttles_is_left_alone(kwire):
    """The producer waits for the throttle time (KIP-219), then sends the next batch."""
    setting = Setting(kwire)
    setting.world.delay = lambda: DELAY_S
    setting.send(b"a")
    setting.broker.throttle_ms = 700
    setting.send(b"b")
    setting.broker.throttle_ms = 0
    began_at = setting.world.now
    setting.send(b"c")
    assert 0.6 < setting.world.now - began_at < 0.8
    assert setting.values() == [b"a", b"b", b"c"]


def test_records_linger_until_their_linger_time_ends(kwire):
    """The linger time ends although no other event wakes the machine.

    A full batch is sent immediately.
    """
    setting = Setting(kwire, linger_s=2.0, max_batch_bytes=1000)
    setting.world.delay = lambda: DELAY_S
    topic, machine, world = setting.find(), setting.machine, setting.world
    began_at = world.now
    machine.send(topic, 0, (None, b"a", 5, ()), began_at)
    world.run(machine, lambda: False, began_at + 1.0)
    machine.send(topic, 0, (None, b"b", 5, ()), world.now)
    world.run(machine, lambda: False, began_at + 1.9)
    assert setting.values() == []
    assert world.run(machine, machine.is_idle, began_at + 5.0)
    assert 2.0 <= world.now - began_at < 2.0 + 10 * DELAY_S
    assert [len(batch.values) for batch in setting.log.batches] == [2]
    began_at = world.now
    for _ in range(3):
        machine.send(topic, 0, (None, bytes(500), 5, ()), world.now)
    world.run(machine, lambda: False, began_at + 0.5)
    assert len(setting.values()) > 2


def test_missing_topic_is_an_error_and_is_looked_up_again(kwire):
    """The error is raised after some time. Later, the topic can be looked up again."""
    setting = Setting(kwire)
    with pytest.raises(setting.module.TopicNotFound, match="topic 'other'"):
        setting.find("other")
    assert START_S + 2 < setting.world.now < START_S + 10
    setting.cluster.add_topic("other", 2)
    setting.broker.learn()
    assert len(setting.find("other").partitions) == 2


def test_topic_lookup_of_silent_brokers_times_out(kwire, monkeypatch):
    """The wait ends after the timeout in the settings."""
    setting = Setting(kwire)
    setting.send(b"a")
    monkeypatch.setattr("tests.client.machines.world.Wire._answer", lambda *_: None)
    with pytest.raises(setting.module.BrokersUnreachable, match="writing other"):
        setting.find("other")
    assert setting.world.now < START_S + 30


def test_records_that_no_broker_takes_have_failed(kwire):
    """The batch fails after the delivery timeout.

    The failure contains the reason, and whether the records may have been written.
    """
    setting = Setting(kwire, delivery_timeout_s=10.0)
    setting.send(b"a")
    setting.broker.is_up = False
    setting.world.break_wires(1)
    (batch,) = setting.send(b"b")
    assert "no acknowledgement within 10 s" in str(batch.failure)
    assert not batch.failure.is_in_doubt
    setting.broker.is_up = True
    setting.send(b"x")
    setting.broker.is_silent = True
    (batch,) = setting.send(b"c")
    assert batch.failure.is_in_doubt
    assert "the log may contain them nevertheless" in str(batch.failure)
    setting.world.wake_broker(1)
    setting.send(b"d")
    assert setting.values()[-1] == b"d"


def test_a_closed_producer_fails_what_it_has(kwire):
    """Records fail whether they are sent before or after the close."""
    setting = Setting(kwire, linger_s=100.0)
    topic = setting.find()
    setting.machine.send(topic, 0, (None, b"v", 5, ()), setting.world.now)
    sender = setting.module.RecordBatcher(setting.machine, topic, 0)
    sender.add([(b"k", b"v")], 5, setting.world.now)
    setting.machine.close(setting.world.now)
    (first,) = sender.finish(setting.world.now)
    assert "the producer is closed" in str(first.failure)
    assert setting.machine.has_room()
    assert setting.machine.deliveries.held_bytes == 0


@pytest.mark.parametrize("acks", [0, 1])
def test_acks_1_and_0_write_in_order_and_hold_no_memory(kwire, acks):
    """Batches are written in order, with acks=1 and with acks=0.

    With acks=0, a batch is finished when it is sent, and then uses no memory.
    """
    setting = Setting(kwire, acks=acks, is_idempotent=False, max_batch_bytes=100)
    for number in range(20):
        (batch,) = setting.send(b"v%d" % number)
        assert batch.receipt.base_offset == (number if acks else -1)
    assert setting.machine.deliveries.held_bytes == 0
    setting.world.run(setting.machine, lambda: False, setting.world.now + 60)
    assert setting.values() == [b"v%d" % number for number in range(20)]
    assert not any(link.in_flight for link in setting.machine.cluster.links())


def test_without_acknowledgement_the_network_holds_up_the_producer(kwire):
    """The next request waits until the runner has sent the previous one."""
    setting = Setting(kwire, acks=0, is_idempotent=False, max_request_bytes=1)
    setting.send(b"a")
    (link,) = setting.machine.cluster.links()
    topic = setting.find()
    sender = setting.module.RecordBatcher(setting.machine, topic, 0)
    for _ in range(3):
        sender.add([(None, b"v")], 5, setting.world.now)
        sender.finish(setting.world.now)
    for left in (2, 1, 0):
        setting.machine.advance(setting.world.now)
        assert sum(not batch.is_over for batch in sender.batches) == left
        assert link.has_unsent
        assert setting.machine.wake_at <= setting.world.now + 0.01
        while link.data_to_send():
            pass


@pytest.mark.parametrize("release", ["3.9", "4.1"])
@pytest.mark.parametrize("is_recreated", [False, True])
def test_a_response_is_read_after_its_topic_has_left_the_metadata(
    kwire, monkeypatch, release, is_recreated
):
    """The response to a Produce request is decoded although the topic was deleted.

    Covers a topic that was created again, too.
    """
    setting = Setting(kwire, release)
    module = importlib.import_module("tests.client.machines.world")
    answer, versions = module.Wire._answer, []

    def change_metadata(wire, event):
        answer(wire, event)
        if type(event.request).__name__ == "ProduceRequest":
            versions.append(event.version)
            topics = setting.machine.cluster.metadata.topics
            topic = topics.pop("orders")
            if is_recreated:
                topics["orders"] = topic._replace(topic_id=UUID(int=99))

    monkeypatch.setattr(module.Wire, "_answer", change_metadata)
    (batch,) = setting.send(b"a")
    assert batch.receipt
    assert setting.values() == [b"a"]
    assert len(versions) == 1
    assert (versions[0] >= 13) is (release == "4.1")
