# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Responses of simulated brokers to Produce requests, with the behavior of Kafka.

A batch is appended immediately and acknowledged later, after the time of replication.
If the leader changes in between, the records may or may not exist, and the producer
does not learn which.
"""

from __future__ import annotations

from typing import NamedTuple

CACHED = 5
"""Number of recent batches per producer in which a broker detects duplicates."""


class PendingAnswer(NamedTuple):
    """Result of one appended batch, until the response is sent.

    * ``topic``: the topic in the Produce request.
    * ``index``: partition number.
    * ``log``: log of the partition, or None if the broker is not its leader.
    * ``code``: error code, or 0 if the batch was appended.
    * ``base_offset``: offset of the first record.
    * ``append_time``: timestamp in ms, or -1 if the topic uses CreateTime.
    * ``end``: log end offset after the batch.
    """

    topic: object
    index: int
    log: object
    code: int
    base_offset: int
    append_time: int
    end: int


class ProduceAnswers:
    """Mixin of a simulated broker: Produce requests."""

    produce_error = None
    """(error code, whether the batch is still appended) for the next batch, or None."""

    def begin_produce(self, request, version):
        """Append the batches of a request; return their results."""
        done = []
        self._cluster.move_one(
            self.node,
            [
                (topic.name or self._name(topic.topic_id), part.index)
                for topic in request.topic_data
                for part in topic.partition_data
            ],
        )
        for topic in request.topic_data:
            topic_id = topic.topic_id if version >= 13 else None
            for part in topic.partition_data:
                code, log = self._find(topic.name, topic_id, part.index, -1)
                base = append_time = end = -1
                if log is not None:
                    name = topic.name or self._name(topic.topic_id)
                    context = (name, part.index), request.transactional_id, version
                    data = bytes(part.records)
                    code, base, append_time = self._append(log, data, *context)
                    end = log.end
                append_result = code, base, append_time, end
                done.append(PendingAnswer(topic, part.index, log, *append_result))
        return done

    def finish_produce(self, done, version):
        """Return the response, after the time of replication.

        A batch is acknowledged if this broker is still the leader and its log still
        contains the batch. Otherwise, its error is NOT_LEADER_OR_FOLLOWER.
        """
        make = self._cluster.messages.ProduceResponse
        codes = self._cluster.codes
        topics, endpoints = {}, {}
        for pending in done:
            code, log = pending.code, pending.log
            topic_id = pending.topic.topic_id if version >= 13 else None
            fields = {}
            if not code:
                code, now = self._find(pending.topic.name, topic_id, pending.index, -1)
                if not code and (now is not log or log.end < pending.end):
                    code = codes.NOT_LEADER_OR_FOLLOWER
            if not code:
                log.acknowledged = max(log.acknowledged, pending.end)
            if code == codes.NOT_LEADER_OR_FOLLOWER and self.gives_hints:
                fields, hint = self._produce_hint(pending, version)
                if hint is not None:
                    endpoints[hint.node_id] = hint
            part = make.PartitionProduceResponse(
                index=pending.index,
                error_code=code,
                base_offset=-1 if code else pending.base_offset,
                log_append_time_ms=-1 if code else pending.append_time,
                **fields,
            )
            topics.setdefault(pending.topic, []).append(part)
        return make(
            throttle_time_ms=self.throttle_ms,
            responses=[
                make.TopicProduceResponse(
                    name=topic.name if version < 13 else "",
                    topic_id=topic.topic_id,
                    partition_responses=parts,
                )
                for topic, parts in topics.items()
            ],
            node_endpoints=list(endpoints.values()) if version >= 10 else (),
        )

    def _append(self, log, data, topic_partition, transactional_id, version):
        """Append one batch, unless Kafka would reject it.

        Returns error code, base offset and append time. For a duplicate, Kafka returns
        the max timestamp of the batch, even if the topic uses CreateTime.
        """
        codes = self._cluster.codes
        error, self.produce_error = self.produce_error, None
        if error is not None and not error[1]:
            return error[0], -1, -1
        (batch,) = self._cluster.kwire.records.decode_batches(data)
        newest = 0 if version < 2 else 1 if version < 3 else 2
        if batch.magic != newest:
            return codes.CORRUPT_MESSAGE, -1, -1
        if len(data) > log.max_bytes and len(batch.records) > 1:
            return codes.MESSAGE_TOO_LARGE, -1, -1
        if any((row.value or b"").startswith(b"poison") for row in batch.records):
            return codes.INVALID_RECORD, -1, -1
        code, base, append_time = 0, -1, -1
        if batch.is_transactional:
            code = self.join_transaction(
                topic_partition, batch, transactional_id, version
            )
        if not code:
            code, base = self._check_sequence(log, batch)
        if not code and base < 0:
            base = log.take(batch)
        elif not code:
            append_time = batch.max_timestamp
        if error is not None:
            return error[0], -1, -1
        return code, base, append_time

    def _check_sequence(self, log, batch):
        """Check the sequence as ``ProducerAppendInfo`` does.

        Returns an error code, and the base offset if the batch is a duplicate.
        """
        codes = self._cluster.codes
        if batch.producer_id < 0:
            return 0, -1
        producer_batches = [
            stored_batch
            for stored_batch in log.produced
            if stored_batch.producer_id == batch.producer_id
        ]
        if not producer_batches:
            return 0, -1
        first, count = batch.base_sequence, len(batch.records)
        last = (first + count - 1) & 0x7FFFFFFF
        if batch.producer_epoch < producer_batches[-1].epoch:
            return codes.INVALID_PRODUCER_EPOCH, -1
        if batch.producer_epoch > producer_batches[-1].epoch:
            return (codes.OUT_OF_ORDER_SEQUENCE_NUMBER if first else 0), -1
        batches = [
            stored_batch for stored_batch in producer_batches if stored_batch.last >= 0
        ]
        for stored_batch in batches[-CACHED:]:
            same = (stored_batch.epoch, stored_batch.first, stored_batch.last)
            if same == (batch.producer_epoch, first, last):
                return 0, stored_batch.base_offset
        if first != (producer_batches[-1].last + 1) & 0x7FFFFFFF:
            return codes.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
        return 0, -1

    def _produce_hint(self, pending, version):
        """Return the leader in the broker's metadata, which may be stale (KIP-951)."""
        make = self._cluster.messages.ProduceResponse
        name = pending.topic.name or self._name(pending.topic.topic_id)
        believed = self.view.get((name, pending.index))
        if version < 10 or believed is None or believed[1] == self.node:
            return {}, None
        _, leader, epoch = believed
        current_leader = make.LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
        end = make.NodeEndpoint(node_id=leader, host="sim", port=9000 + leader)
        return {"current_leader": current_leader}, end
