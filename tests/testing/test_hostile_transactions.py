# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Random transaction requests with unusual values, which a test cluster survives."""

from __future__ import annotations

import random

import pytest

from kwire import messages
from kwire.testing.machine import ClusterMachine
from kwire.testing.options import make_state
from kwire.testing.state.transactions import STATES
from tests.testing.machine_client import MachineClient

REQUESTS = 250
NAMES = (
    "",
    "t",
    "id-0",
    "id-1",
    "id-2",
    "x" * 3000,
    "\N{SNOWMAN}",
    "__consumer_offsets",
)
NUMBERS = (-(2**63), -(2**31), -2, -1, 0, 0, 0, 1, 2, 32_766, 32_767, 2**31 - 1, 2**63)


class HostileSource:
    """Draws field values that decode, although no client sends them."""

    def __init__(self, seed):
        """Start the sequence of a seed."""
        self.random = random.Random(seed)

    def number(self, bits):
        """Return a signed number, which is often an extreme value."""
        limit = 2 ** (bits - 1)
        return max(-limit, min(limit - 1, self.random.choice(NUMBERS)))

    def name(self):
        """Return a topic name, group name or transactional id."""
        return self.random.choice(NAMES)

    def array(self, make):
        """Return an array, which may be empty or contain duplicates."""
        values = [make() for _ in range(self.random.choice((0, 1, 1, 2, 5)))]
        return values + values[: self.random.choice((0, 0, 1))]

    def producer(self):
        """Return the producer fields of a request."""
        return {
            "transactional_id": self.name(),
            "producer_id": self.number(64),
            "producer_epoch": self.number(16),
        }

    def init(self):
        """Return InitProducerId, which often succeeds."""
        fields = self.producer() if self.random.random() < 0.3 else {}
        fields["transactional_id"] = self.random.choice((None, self.name(), "id-0"))
        timeout_ms = self.random.choice((self.number(32), 1000))
        return messages.InitProducerIdRequest(
            transaction_timeout_ms=timeout_ms, **fields
        )

    def add_partitions(self):
        """Return AddPartitionsToTxn with the fields of old and new versions."""
        make = messages.AddPartitionsToTxnRequest

        def topic():
            return make.AddPartitionsToTxnTopic(
                name=self.name(), partitions=self.array(lambda: self.number(32))
            )

        def transaction():
            return make.AddPartitionsToTxnTransaction(
                verify_only=self.random.random() < 0.5,
                topics=self.array(topic),
                **self.producer(),
            )

        old_fields = {
            f"v3_and_below_{name}": value for name, value in self.producer().items()
        }
        if self.random.random() < 0.5:
            return make(transactions=self.array(transaction))
        return make(v3_and_below_topics=self.array(topic), **old_fields)

    def add_offsets(self):
        """Return AddOffsetsToTxn."""
        return messages.AddOffsetsToTxnRequest(group_id=self.name(), **self.producer())

    def commit_offsets(self):
        """Return TxnOffsetCommit."""
        make = messages.TxnOffsetCommitRequest

        def part():
            return make.TxnOffsetCommitRequestPartition(
                partition_index=self.number(32),
                committed_offset=self.number(64),
                committed_metadata=self.random.choice((None, "", "x" * 5000)),
            )

        def topic():
            return make.TxnOffsetCommitRequestTopic(
                name=self.name(), partitions=self.array(part)
            )

        return make(group_id=self.name(), topics=self.array(topic), **self.producer())

    def end(self):
        """Return EndTxn."""
        is_commit = self.random.random() < 0.5
        return messages.EndTxnRequest(committed=is_commit, **self.producer())

    def describe_producers(self):
        """Return DescribeProducers."""
        make = messages.DescribeProducersRequest
        return make(
            topics=self.array(
                lambda: make.TopicRequest(
                    name=self.name(),
                    partition_indexes=self.array(lambda: self.number(32)),
                )
            )
        )

    def describe(self):
        """Return DescribeTransactions."""
        return messages.DescribeTransactionsRequest(
            transactional_ids=self.array(self.name)
        )

    def list_transactions(self):
        """Return ListTransactions."""
        return messages.ListTransactionsRequest(
            state_filters=self.array(self.name),
            producer_id_filters=self.array(lambda: self.number(64)),
        )


@pytest.mark.parametrize("release", ["0.11.0", "2.8", "3.9", "4.4"])
@pytest.mark.parametrize("seed", range(5))
def test_unusual_requests_are_answered(release, seed):
    machine = ClusterMachine(make_state(2, {"t": 2}, release, seed, True))
    source = HostileSource(seed)
    clients = [MachineClient(machine, node_id) for node_id in (1, 2)]
    makers = [
        source.init,
        source.init,
        source.add_partitions,
        source.add_offsets,
        source.commit_offsets,
        source.end,
        source.describe_producers,
        source.describe,
        source.list_transactions,
    ]
    answered = 0
    for _ in range(REQUESTS):
        request = source.random.choice(makers)()
        versions = machine.table.usable(type(request))
        if type(request) is messages.AddPartitionsToTxnRequest:
            has_new_fields = bool(request.transactions)
            versions = [v for v in versions if (v >= 4) == has_new_fields]
        if type(request) is messages.InitProducerIdRequest:
            has_producer = (request.producer_id, request.producer_epoch) != (-1, -1)
            versions = [v for v in versions if v >= 3 or not has_producer]
        if not versions:
            continue
        client = source.random.choice(clients)
        response = client.request(request, source.random.choice(list(versions)))
        assert response is not None, request
        answered += 1
        client.advance(source.random.choice((0, 0, 0.5, 100)))
        _check_state(machine)
    assert answered > REQUESTS // 3


def _check_state(machine):
    """Check what is true between two requests."""
    for transaction in machine.state.transactions.list_transactions():
        assert transaction.state in STATES
        is_open = transaction.state == "Ongoing"
        assert is_open or not (transaction.partitions or transaction.groups)
        assert -1 <= transaction.epoch <= 32_767
    for topic in machine.state.topics.values():
        for partition in topic:
            log = partition.log
            assert log.start_offset <= log.last_stable_offset <= log.end_offset
