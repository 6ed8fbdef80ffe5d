# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Responses of simulated brokers as coordinators of transactions and offset commits.

The state of a transactional id is in ``SimulatedCluster.transactions``. It does not
change when the coordinator moves, because its log is replicated. Markers are written
some time after the end of the transaction was decided. In between, the coordinator
responds with CONCURRENT_TRANSACTIONS.
"""

from __future__ import annotations

from tests.client.machines.coordinator_answers import GROUP, TRANSACTION
from tests.client.machines.partition_log import ABORT, COMMIT

LATE = 0.03
"""Probability that a coordinator is still loading its log."""


class SimulatedTransaction:
    """State of a transactional id in the transaction coordinator."""

    def __init__(self, producer_id):
        """Start without a transaction."""
        self.producer_id = producer_id
        self.epoch = -1
        self.state = "Empty"
        self.partitions = set()
        self.groups = set()
        self.timeout_s = 60.0
        self.number = 0
        """Number of transactions that were begun so far."""
        # Producer id and epoch before the last epoch bump, so that retries are
        # recognized.
        self.before = None


class TransactionAnswers:
    """Mixin of a simulated broker: transaction coordinator."""

    transaction_error = None
    """Error code of the next transaction request."""

    def _InitProducerIdRequest(self, request, version):
        make = self._cluster.messages.InitProducerIdResponse
        cluster, codes = self._cluster, self._cluster.codes
        if request.transactional_id is None:
            if cluster.random.random() < 0.2:
                return make(error_code=codes.COORDINATOR_LOAD_IN_PROGRESS)
            cluster.producer_ids += 1
            return make(producer_id=cluster.producer_ids, producer_epoch=0)
        transaction, code = self._coordinated(TRANSACTION, request.transactional_id)
        if code:
            return make(error_code=code)
        request_producer = None
        if version >= 3 and request.producer_id >= 0:
            request_producer = request.producer_id, request.producer_epoch
        current_producer = transaction.producer_id, transaction.epoch
        if request_producer is not None and request_producer == transaction.before:
            return make(
                producer_id=current_producer[0], producer_epoch=current_producer[1]
            )
        if request_producer is not None and request_producer != current_producer:
            return make(error_code=codes.PRODUCER_FENCED)
        if transaction.state.startswith("Prepare"):
            return make(error_code=codes.CONCURRENT_TRANSACTIONS)
        if transaction.state == "Ongoing":
            self._fence(transaction)
            return make(error_code=codes.CONCURRENT_TRANSACTIONS)
        self._raise_epoch(transaction)
        transaction.before = request_producer
        transaction.timeout_s = request.transaction_timeout_ms / 1000
        return make(
            producer_id=transaction.producer_id, producer_epoch=transaction.epoch
        )

    def _AddPartitionsToTxnRequest(self, request, version):
        make = self._cluster.messages.AddPartitionsToTxnResponse
        assert version <= 3, "newer versions are for brokers"
        transaction, code = self._in_transaction(
            request.v3_and_below_transactional_id,
            (request.v3_and_below_producer_id, request.v3_and_below_producer_epoch),
        )
        if not code:
            self._begin_transaction(transaction)
        topics = []
        for topic in request.v3_and_below_topics:
            for index in topic.partitions:
                if not code:
                    transaction.partitions.add((topic.name, index))
            topics.append(
                make.AddPartitionsToTxnTopicResult(
                    name=topic.name,
                    results_by_partition=[
                        make.AddPartitionsToTxnPartitionResult(
                            partition_index=index, partition_error_code=code
                        )
                        for index in topic.partitions
                    ],
                )
            )
        return make(results_by_topic_v3_and_below=topics)

    def _AddOffsetsToTxnRequest(self, request, version):
        make = self._cluster.messages.AddOffsetsToTxnResponse
        producer = request.producer_id, request.producer_epoch
        transaction, code = self._in_transaction(request.transactional_id, producer)
        if not code:
            self._begin_transaction(transaction)
            transaction.groups.add(request.group_id)
        return make(error_code=code)

    def _TxnOffsetCommitRequest(self, request, version):
        make = self._cluster.messages.TxnOffsetCommitResponse
        cluster = self._cluster
        _, code = self._coordinated(GROUP, request.group_id)
        producer = request.producer_id, request.producer_epoch
        if not code and version >= 5:
            assert cluster.transaction_version >= 2, "the protocol is not agreed on"
            transaction, code = self._judge_producer(request.transactional_id, producer)
            if not code:
                self._begin_transaction(transaction)
                transaction.groups.add(request.group_id)
        elif not code and self.verifies:
            transaction, code = self._judge_producer(request.transactional_id, producer)
            if not code and request.group_id not in transaction.groups:
                code = cluster.codes.INVALID_TXN_STATE
        # The offsets log also stores the producer epochs of its transaction markers.
        min_epoch = cluster.group_epochs.get(
            (request.group_id, request.producer_id), -1
        )
        if not code and request.producer_epoch < min_epoch:
            code = cluster.codes.INVALID_PRODUCER_EPOCH
        if not code:
            pending = cluster.pending_offsets.setdefault(
                (request.group_id, request.producer_id), {}
            )
            for topic in request.topics:
                for part in topic.partitions:
                    topic_partition = topic.name, part.partition_index
                    pending[topic_partition] = part.committed_offset
        return make(
            topics=[
                make.TxnOffsetCommitResponseTopic(
                    name=topic.name,
                    partitions=[
                        make.TxnOffsetCommitResponsePartition(
                            partition_index=part.partition_index, error_code=code
                        )
                        for part in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def _EndTxnRequest(self, request, version):
        make = self._cluster.messages.EndTxnResponse
        codes = self._cluster.codes
        transaction, code = self._coordinated(TRANSACTION, request.transactional_id)
        if code:
            return make(error_code=code)
        producer = request.producer_id, request.producer_epoch
        result = "Commit" if request.committed else "Abort"
        producer_fields = {
            "producer_id": transaction.producer_id,
            "producer_epoch": transaction.epoch,
        }
        if version >= 5 and producer == transaction.before:
            # Retry of an EndTxn request that has already bumped the epoch.
            is_same = transaction.state in (f"Prepare{result}", f"Complete{result}")
            return (
                make(**producer_fields)
                if is_same
                else make(error_code=codes.INVALID_TXN_STATE)
            )
        if producer != (transaction.producer_id, transaction.epoch):
            return make(error_code=codes.PRODUCER_FENCED)
        if transaction.state.startswith("Prepare"):
            is_same = transaction.state == f"Prepare{result}"
            code = codes.CONCURRENT_TRANSACTIONS if is_same else codes.INVALID_TXN_STATE
            return make(error_code=code)
        if transaction.state == "Ongoing":
            self._end_transaction(transaction, result, is_second=version >= 5)
        elif version >= 5 and result == "Abort":
            transaction.before = producer
            self._raise_epoch(transaction)
            transaction.state = "CompleteAbort"
        elif transaction.state != f"Complete{result}" or version >= 5:
            return make(error_code=codes.INVALID_TXN_STATE)
        if version < 5:
            return make()
        return make(
            producer_id=transaction.producer_id, producer_epoch=transaction.epoch
        )

    def join_transaction(self, topic_partition, batch, transactional_id, version):
        """Check a transactional batch before it is appended; return an error code."""
        codes = self._cluster.codes
        if not transactional_id:
            return codes.INVALID_TXN_STATE
        producer = batch.producer_id, batch.producer_epoch
        if version >= 12:
            assert self._cluster.transaction_version >= 2, "it is not agreed on"
            transaction, code = self._judge_producer(transactional_id, producer)
            if not code:
                self._begin_transaction(transaction)
                transaction.partitions.add(topic_partition)
            return code
        if not self.verifies:
            return 0
        transaction, code = self._judge_producer(transactional_id, producer)
        if code == codes.CONCURRENT_TRANSACTIONS:
            return codes.NOT_ENOUGH_REPLICAS
        if not code and topic_partition not in transaction.partitions:
            return codes.INVALID_TXN_STATE
        return code

    @property
    def verifies(self):
        """Whether the broker verifies transactions with their coordinator (KIP-890)."""
        return self.release in ("3.6", "3.9", "4.0", "4.1")

    def _coordinated(self, kind, key):
        """Return the transaction of a transactional id, or an error code."""
        cluster = self._cluster
        error, self.transaction_error = self.transaction_error, None
        if error is not None:
            return None, error
        if not self.coordinates(kind, key):
            return None, cluster.codes.NOT_COORDINATOR
        if cluster.random.random() < LATE:
            return None, cluster.codes.COORDINATOR_LOAD_IN_PROGRESS
        return cluster.transaction(key) if kind == TRANSACTION else None, 0

    def _in_transaction(self, transactional_id, producer):
        _, code = self._coordinated(TRANSACTION, transactional_id)
        if code:
            return None, code
        return self._judge_producer(transactional_id, producer)

    def _judge_producer(self, transactional_id, producer):
        transaction = self._cluster.transaction(transactional_id)
        if producer != (transaction.producer_id, transaction.epoch):
            return None, self._cluster.codes.PRODUCER_FENCED
        if transaction.state.startswith("Prepare"):
            return None, self._cluster.codes.CONCURRENT_TRANSACTIONS
        return transaction, 0

    def _begin_transaction(self, transaction):
        if transaction.state == "Ongoing":
            return
        transaction.state = "Ongoing"
        transaction.number = number = transaction.number + 1
        transaction.before = None

        def time_out():
            if transaction.number == number and transaction.state == "Ongoing":
                self._fence(transaction)

        self._cluster.world.after(transaction.timeout_s, time_out)

    def _fence(self, transaction):
        """Bump the epoch to fence the producer, and abort its transaction."""
        transaction.epoch += 1
        transaction.before = None
        self._end_transaction(transaction, "Abort", is_second=False)

    def _raise_epoch(self, transaction):
        if transaction.epoch >= self._cluster.last_epoch:
            self._cluster.producer_ids += 1
            transaction.producer_id, transaction.epoch = self._cluster.producer_ids, -1
        transaction.epoch += 1

    def _end_transaction(self, transaction, result, is_second):
        """Decide the end of a transaction. The markers are written after a delay."""
        cluster = self._cluster
        producer_id, epoch = transaction.producer_id, transaction.epoch
        transaction.state = f"Prepare{result}"
        if is_second:
            # The markers and the next transaction have the bumped epoch.
            transaction.before = producer_id, epoch
            self._raise_epoch(transaction)
            epoch += 1

        def complete():
            for name, index in transaction.partitions:
                log = cluster.topics[name].logs[index]
                end = COMMIT if result == "Commit" else ABORT
                log.end_transaction(producer_id, end, epoch)
            for group in transaction.groups:
                cluster.group_epochs[group, producer_id] = epoch
                pending = cluster.pending_offsets.pop((group, producer_id), {})
                if result == "Commit":
                    cluster.offsets.setdefault(group, {}).update(pending)
            transaction.partitions, transaction.groups = set(), set()
            transaction.state = f"Complete{result}"

        cluster.world.after(cluster.world.delay(), complete)
