# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Reactions to single errors in a transactional producer, and its error messages."""

import importlib
import random

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.coordinator_answers import GROUP, TRANSACTION
from tests.client.machines.world import START_S, World

SECOND = "4.1"


class Setting:
    """One broker with one topic, and a producer with the transactional id "etl"."""

    def __init__(self, kwire, release="3.9", **options):
        """Start the broker and the producer, without faults."""
        self.codes = kwire.error_codes
        self.module = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.cluster = SimulatedCluster(kwire, random.Random(1), 1, [release])
        self.cluster.transaction_version = 2 if release == SECOND else 0
        self.world = World(self.cluster, random.Random(2))
        self.log = self.cluster.add_topic("orders", 2).logs[0]
        self.broker = self.cluster.brokers[1]
        self.broker.become(release)
        self.cluster.coordinator(GROUP, "readers")
        self.cluster.coordinator(TRANSACTION, "etl")
        self.broker.learn()
        self.requests = []
        answer, begin = self.broker.answer, self.broker.begin_produce

        def note(request, version, call):
            name = type(request).__name__.removesuffix("Request")
            self.requests.append(f"{name} v{version}")
            return call(request, version)

        self.broker.answer = lambda *arguments: note(*arguments, answer)
        self.broker.begin_produce = lambda *arguments: note(*arguments, begin)
        self.machine = self.new_machine(**options)

    def new_machine(self, **options):
        """Create another producer with the same transactional id."""
        return self.module.ProducerMachine(
            [("sim", 9001)],
            self.module.ClusterSettings(request_timeout_s=3.0, timeout_s=20.0),
            self.module.ProducerOptions(transactional_id="etl", **options),
            now=self.world.now,
            random=random.Random(3),
        )

    def run(self, is_over, machine=None):
        """Run the machine until ``is_over()`` is true or the machine has failed.

        Fail after 500 simulated seconds.
        """
        machine = machine or self.machine
        is_finished = lambda: machine.failure or is_over()  # noqa: E731
        assert self.world.run(machine, is_finished, self.world.now + 500)

    def begin(self, machine=None):
        """Begin a transaction, and look up the topic.

        Raise the failure of the machine if the producer cannot begin a transaction.
        """
        machine = machine or self.machine
        self.run(lambda: machine.transactions.is_settled, machine)
        if machine.failure:
            raise machine.failure
        machine.begin_transaction()
        machine.want_topic("orders", self.world.now)
        self.run(lambda: machine.is_settled("orders"), machine)

    def give(self, *values, machine=None):
        """Send records in one batch, wait for its end, and return the batch."""
        machine = machine or self.machine
        topic = machine.topic("orders")
        sender = self.module.RecordBatcher(machine, topic, 0)
        sender.add([(None, value) for value in values], 5, self.world.now)
        (batch,) = sender.finish(self.world.now)
        self.run(lambda: batch.is_over, machine)
        return batch

    def end(self, is_commit=True, machine=None):
        """End the transaction. Return its failure, or None."""
        machine = machine or self.machine
        machine.end_transaction(is_commit, self.world.now)
        self.run(lambda: machine.transactions.is_over, machine)
        self.world.run(machine, lambda: False, self.world.now + 2)
        return machine.failure or machine.transactions.result

    def seen(self):
        """Return the values that a read_committed consumer sees."""
        assert not self.log.open
        return list(self.log.readable(0, self.log.end, committed=True).values())


@pytest.mark.parametrize("release", ["2.3", "3.9", SECOND])
def test_only_the_first_protocol_adds_partitions_explicitly(kwire, release):
    """The first protocol adds partitions and groups explicitly. The second does not."""
    setting = Setting(kwire, release)
    setting.begin()
    setting.give(b"a")
    member = setting.module.GroupMetadata("readers", "", -1, None)
    offsets = {("in", 0): 7}
    pending = setting.machine.add_offsets(member, offsets, setting.world.now)
    setting.run(lambda: pending.is_over)
    assert (pending.failure, setting.cluster.offsets) == (None, {})
    assert setting.end() is None
    assert setting.seen() == [b"a"]
    assert setting.cluster.offsets == {"readers": {("in", 0): 7}}
    names = {request.split()[0] for request in setting.requests}
    is_first = release != SECOND
    assert ("AddPartitionsToTxn" in names) is is_first
    assert ("AddOffsetsToTxn" in names) is is_first
    assert ("EndTxn v5" in setting.requests) is not is_first
    assert setting.machine.transactions.producer == (1, 0 if is_first else 1)
    setting.begin()
    setting.give(b"b")
    assert setting.end() is None
    assert setting.seen() == [b"a", b"b"]


def test_brokers_that_have_not_agreed_get_the_first_protocol(kwire):
    """Brokers support the second protocol, but its feature is not finalized.

    They must not get requests of this protocol.
    """
    setting = Setting(kwire, SECOND)
    setting.cluster.transaction_version = 1
    setting.broker.become(SECOND)
    setting.begin()
    setting.give(b"a")
    assert setting.end() is None
    assert setting.seen() == [b"a"]
    assert {"Produce v11", "EndTxn v4"} <= set(setting.requests)


@pytest.mark.parametrize("release", ["3.9", SECOND])
def test_an_aborted_transaction_is_not_seen(kwire, release):
    """Unsent records are dropped, and the next transaction succeeds."""
    setting = Setting(kwire, release, linger_s=100.0)
    setting.begin()
    setting.give(b"a")
    topic = setting.machine.topic("orders")
    setting.machine.send(topic, 0, (None, b"waiting", 5, ()), setting.world.now)
    assert setting.end(is_commit=False) is None
    assert setting.machine.deliveries.held_bytes == 0
    setting.begin()
    setting.give(b"b")
    assert setting.end() is None
    assert setting.seen() == [b"b"]
    written = {value for values in setting.log.ever.values() for value in values}
    assert written == {b"a", b"b"}


@pytest.mark.parametrize("release", ["3.9", SECOND])
def test_a_transaction_without_records_sends_nothing(kwire, release):
    """An empty transaction sends neither a commit nor an abort."""
    setting = Setting(kwire, release)
    for is_commit in (True, False):
        setting.begin()
        assert setting.end(is_commit) is None
    assert not [request for request in setting.requests if "EndTxn" in request]


@pytest.mark.parametrize("release", ["2.3", "3.9", SECOND])
def test_a_record_that_is_refused_aborts_the_transaction(kwire, release):
    """If the caller commits nevertheless, the error contains the rejected record."""
    setting = Setting(kwire, release)
    setting.begin()
    setting.give(b"a")
    assert isinstance(setting.give(b"poison").failure, setting.module.DeliveryFailed)
    with pytest.raises(setting.module.TransactionFailed, match="cannot be committed"):
        setting.give(b"b")
    failure = setting.end()
    assert isinstance(failure, setting.module.TransactionFailed)
    assert "transaction of 'etl': it was aborted: writing 1 records" in str(failure)
    assert not failure.is_in_doubt
    assert isinstance(failure.__cause__, setting.module.DeliveryFailed)
    assert setting.seen() == []
    setting.begin()
    assert setting.machine.take_background_failure() is None
    batch = setting.give(b"c")
    if release == "2.3":
        # These brokers cannot assign the next epoch to the same producer.
        assert "make a new producer" in str(batch.failure)
        return
    assert setting.end() is None
    assert setting.seen() == [b"c"]


@pytest.mark.parametrize(
    "name", ["OUT_OF_ORDER_SEQUENCE_NUMBER", "TRANSACTION_ABORTABLE", "INVALID_RECORD"]
)
def test_produce_error_aborts_only_its_transaction(kwire, name):
    """The same producer commits its next transaction."""
    setting = Setting(kwire, SECOND)
    setting.begin()
    setting.give(b"a")
    setting.broker.produce_error = (getattr(setting.codes, name), False)
    assert name in str(setting.give(b"b").failure)
    assert "it was aborted" in str(setting.end())
    setting.begin()
    setting.give(b"c")
    assert setting.end() is None
    assert setting.seen() == [b"c"]


@pytest.mark.parametrize("release", ["3.9", SECOND])
def test_a_newer_producer_ends_this_one(kwire, release):
    """The older producer's transaction is aborted, and it cannot commit again."""
    setting = Setting(kwire, release)
    setting.begin()
    setting.give(b"old")
    newer = setting.new_machine()
    setting.begin(newer)
    setting.give(b"new", machine=newer)
    assert setting.end(machine=newer) is None
    failure = setting.end()
    assert isinstance(failure, setting.module.ProducerFenced)
    text = "committing a transaction of 'etl': a newer producer with the"
    assert str(failure).startswith(text)
    assert "make a new producer" in str(failure)
    assert setting.seen() == [b"new"]
    with pytest.raises(setting.module.ProducerFenced):
        setting.begin()


@pytest.mark.parametrize("release", ["3.9", SECOND])
def test_transaction_over_its_timeout_is_fenced(kwire, release):
    """The coordinator aborts the transaction. The error contains the option."""
    setting = Setting(kwire, release, transaction_timeout_s=5.0)
    setting.begin()
    setting.give(b"a")
    setting.world.run(setting.machine, lambda: False, setting.world.now + 10)
    failure = setting.end()
    assert isinstance(failure, setting.module.ProducerFenced)
    assert "exceeded transaction_timeout_s" in str(failure)
    assert setting.seen() == []


def test_a_commit_without_an_answer_is_in_doubt(kwire):
    """The error says that the transaction may be committed.

    A new producer finds the transaction decided.
    """
    setting = Setting(kwire, SECOND, delivery_timeout_s=10.0)
    setting.begin()
    setting.give(b"a")
    answer = setting.broker.answer

    def lose(request, version):
        response = answer(request, version)
        if type(request).__name__ == "EndTxnRequest":
            setting.broker.is_up = False
            setting.world.after(0.0, lambda: setting.world.break_wires(1))
        return response

    setting.broker.answer = lose
    failure = setting.end()
    assert isinstance(failure, setting.module.TransactionFailed)
    assert failure.is_in_doubt
    assert "its commit was not acknowledged within 10 s" in str(failure)
    assert "it may have been committed nevertheless" in str(failure)
    assert setting.seen() == [b"a"]


def test_no_coordinator_is_reported_in_time(kwire):
    """The first transaction fails after the timeout in the settings."""
    setting = Setting(kwire)
    busy = setting.codes.COORDINATOR_LOAD_IN_PROGRESS
    setting.broker._coordinated = lambda kind, key: (None, busy)
    with pytest.raises(
        setting.module.BrokersUnreachable, match="the transactional id 'etl'"
    ) as caught:
        setting.begin()
    assert "COORDINATOR_LOAD_IN_PROGRESS" in str(caught.value)
    assert START_S + 19 < setting.world.now < START_S + 30


def test_unauthorized_transactional_id_is_an_error(kwire):
    """The error contains the required operation."""
    setting = Setting(kwire)
    setting.broker.refused_keys = {"etl"}
    with pytest.raises(setting.module.NotAuthorized, match="needs the operation"):
        setting.begin()


def test_a_group_that_the_user_may_not_read_aborts_the_transaction(kwire):
    """The next transaction may contain the offsets of another group."""
    setting = Setting(kwire)
    setting.broker.refused_keys = {"secret"}
    setting.begin()
    now, module = setting.world.now, setting.module
    pending = setting.machine.add_offsets(
        module.GroupMetadata("secret", "", -1, None), {("in", 0): 1}, now
    )
    setting.run(lambda: pending.is_over)
    assert "the group 'secret'" in str(pending.failure)
    assert "it was aborted" in str(setting.end())
    setting.begin()
    member = module.GroupMetadata("readers", "", -1, None)
    setting.machine.add_offsets(member, {("in", 0): 1}, setting.world.now)
    assert setting.end() is None
    assert setting.cluster.offsets == {"readers": {("in", 0): 1}}


def test_overlapping_transactions_are_rejected(kwire):
    """Transactions cannot overlap, and records require a transaction."""
    setting = Setting(kwire)
    setting.begin()
    with pytest.raises(ValueError, match="has an open transaction"):
        setting.machine.begin_transaction()
    assert setting.end() is None
    with pytest.raises(setting.module.TransactionFailed, match="it has ended"):
        setting.machine.topic("orders")


def test_a_closed_producer_fails_offsets_too(kwire):
    """The pending offsets fail, because otherwise the caller would wait forever."""
    setting = Setting(kwire)
    setting.begin()
    pending = setting.machine.add_offsets(
        setting.module.GroupMetadata("readers", "", -1, None),
        {("in", 0): 1},
        setting.world.now,
    )
    setting.machine.close(setting.world.now)
    assert pending.is_over
    assert "the producer is closed" in str(pending.failure)
