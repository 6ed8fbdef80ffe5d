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
        """Number of transactions so far."""
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
        found, code = self._coordinated(TRANSACTION, request.transactional_id)
        if code:
            return make(error_code=code)
        given = None
        if version >= 3 and request.producer_id >= 0:
            given = request.producer_id, request.producer_epoch
        known = found.producer_id, found.epoch
        if given is not None and given == found.before:
            return make(producer_id=known[0], producer_epoch=known[1])
        if given is not None and given != known:
            return make(error_code=codes.PRODUCER_FENCED)
        if found.state.startswith("Prepare"):
            return make(error_code=codes.CONCURRENT_TRANSACTIONS)
        if found.state == "Ongoing":
            self._fence(found)
            return make(error_code=codes.CONCURRENT_TRANSACTIONS)
        self._raise_epoch(found)
        found.before = given
        found.timeout_s = request.transaction_timeout_ms / 1000
        return make(producer_id=found.producer_id, producer_epoch=found.epoch)

    def _AddPartitionsToTxnRequest(self, request, version):
        make = self._cluster.messages.AddPartitionsToTxnResponse
        assert version <= 3, "newer versions are for brokers"
        found, code = self._in_transaction(
            request.v3_and_below_transactional_id,
            (request.v3_and_below_producer_id, request.v3_and_below_producer_epoch),
        )
        if not code:
            self._begin_transaction(found)
        topics = []
        for topic in request.v3_and_below_topics:
            for index in topic.partitions:
                if not code:
                    found.partitions.add((topic.name, index))
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
        found, code = self._in_transaction(request.transactional_id, producer)
        if not code:
            self._begin_transaction(found)
            found.groups.add(request.group_id)
        return make(error_code=code)

    def _TxnOffsetCommitRequest(self, request, version):
        make = self._cluster.messages.TxnOffsetCommitResponse
        cluster = self._cluster
        _, code = self._coordinated(GROUP, request.group_id)
        producer = request.producer_id, request.producer_epoch
        if not code and version >= 5:
            assert cluster.transaction_version >= 2, "the protocol is not agreed on"
            found, code = self._judge_producer(request.transactional_id, producer)
            if not code:
                self._begin_transaction(found)
                found.groups.add(request.group_id)
        elif not code and self.verifies:
            found, code = self._judge_producer(request.transactional_id, producer)
            if not code and request.group_id not in found.groups:
                code = cluster.codes.INVALID_TXN_STATE
        # The offsets log also stores the producer epochs of its transaction markers.
        least = cluster.group_epochs.get((request.group_id, request.producer_id), -1)
        if not code and request.producer_epoch < least:
            code = cluster.codes.INVALID_PRODUCER_EPOCH
        if not code:
            pending = cluster.pending_offsets.setdefault(
                (request.group_id, request.producer_id), {}
            )
            for topic in request.topics:
                for part in topic.partitions:
                    place = topic.name, part.partition_index
                    pending[place] = part.committed_offset
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
        found, code = self._coordinated(TRANSACTION, request.transactional_id)
        if code:
            return make(error_code=code)
        producer = request.producer_id, request.producer_epoch
        kind = "Commit" if request.committed else "Abort"
        now = {"producer_id": found.producer_id, "producer_epoch": found.epoch}
        if version >= 5 and producer == found.before:
            # Retry of an EndTxn request that has already bumped the epoch.
            is_same = found.state in (f"Prepare{kind}", f"Complete{kind}")
            return make(**now) if is_same else make(error_code=codes.INVALID_TXN_STATE)
        if producer != (found.producer_id, found.epoch):
            return make(error_code=codes.PRODUCER_FENCED)
        if found.state.startswith("Prepare"):
            is_same = found.state == f"Prepare{kind}"
            code = codes.CONCURRENT_TRANSACTIONS if is_same else codes.INVALID_TXN_STATE
            return make(error_code=code)
        if found.state == "Ongoing":
            self._end_transaction(found, kind, is_second=version >= 5)
        elif version >= 5 and kind == "Abort":
            found.before = producer
            self._raise_epoch(found)
            found.state = "CompleteAbort"
        elif found.state != f"Complete{kind}" or version >= 5:
            return make(error_code=codes.INVALID_TXN_STATE)
        if version < 5:
            return make()
        return make(producer_id=found.producer_id, producer_epoch=found.epoch)

    def join_transaction(self, place, batch, transactional_id, version):
        """Check a transactional batch before it is appended; return an error code."""
        codes = self._cluster.codes
        if not transactional_id:
            return codes.INVALID_TXN_STATE
        producer = batch.producer_id, batch.producer_epoch
        if version >= 12:
            assert self._cluster.transaction_version >= 2, "it is not agreed on"
            found, code = self._judge_producer(transactional_id, producer)
            if not code:
                self._begin_transaction(found)
                found.partitions.add(place)
            return code
        if not self.verifies:
            return 0
        found, code = self._judge_producer(transactional_id, producer)
        if code == codes.CONCURRENT_TRANSACTIONS:
            return codes.NOT_ENOUGH_REPLICAS
        if not code and place not in found.partitions:
            return codes.INVALID_TXN_STATE
        return code

    @property
    def verifies(self):
        """Whether this broker verifies transactions with the coordinator (KIP-890)."""
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
        found = self._cluster.transaction(transactional_id)
        if producer != (found.producer_id, found.epoch):
            return None, self._cluster.codes.PRODUCER_FENCED
        if found.state.startswith("Prepare"):
            return None, self._cluster.codes.CONCURRENT_TRANSACTIONS
        return found, 0

    def _begin_transaction(self, found):
        if found.state == "Ongoing":
            return
        found.state = "Ongoing"
        found.number = number = found.number + 1
        found.before = None

        def time_out():
            if found.number == number and found.state == "Ongoing":
                self._fence(found)

        self._cluster.world.after(found.timeout_s, time_out)

    def _fence(self, found):
        """Bump the epoch to fence the producer, and abort its transaction."""
        found.epoch += 1
        found.before = None
        self._end_transaction(found, "Abort", is_second=False)

    def _raise_epoch(self, found):
        if found.epoch >= self._cluster.last_epoch:
            self._cluster.producer_ids += 1
            found.producer_id, found.epoch = self._cluster.producer_ids, -1
        found.epoch += 1

    def _end_transaction(self, found, kind, is_second):
        """Decide the end of a transaction. The markers are written after a delay."""
        cluster = self._cluster
        producer_id, epoch = found.producer_id, found.epoch
        found.state = f"Prepare{kind}"
        if is_second:
            # The markers and the next transaction have the bumped epoch.
            found.before = producer_id, epoch
            self._raise_epoch(found)
            epoch += 1

        def complete():
            for name, index in found.partitions:
                log = cluster.topics[name].logs[index]
                end = COMMIT if kind == "Commit" else ABORT
                log.end_transaction(producer_id, end, epoch)
            for group in found.groups:
                cluster.group_epochs[group, producer_id] = epoch
                pending = cluster.pending_offsets.pop((group, producer_id), {})
                if kind == "Commit":
                    cluster.offsets.setdefault(group, {}).update(pending)
            found.partitions, found.groups = set(), set()
            found.state = f"Complete{kind}"

        cluster.world.after(cluster.world.delay(), complete)
