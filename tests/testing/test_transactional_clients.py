# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Transactions of real clients in a test cluster on sockets."""

from __future__ import annotations

import time

import confluent_kafka
import pytest
from confluent_kafka import KafkaException, TopicPartition

from kwire import testing
from kwire.client import ClusterError, ProducerFenced, TransactionFailed, connect_sync

RELEASES = ["0.11.0", "2.4", "2.8", "3.6", "3.9", "4.0", "4.4"]
PRODUCE_TIMEOUT_S = 10


def read_values(cluster, topic, isolation_level):
    """Return the values of a topic, as kwire's client reads them."""
    with connect_sync(cluster.bootstrap_servers) as kafka:
        scan = kafka.scan(topic, start="earliest", isolation_level=isolation_level)
        return sorted(r.value for chunk in scan for r in chunk.records())


@pytest.mark.parametrize("release", RELEASES)
def test_readers_of_committed_records_do_not_see_aborted_ones(release):
    with testing.cluster(brokers=3, topics={"t": 3}, release=release) as cluster:
        with (
            connect_sync(cluster.bootstrap_servers) as kafka,
            kafka.producer(transactional_id="id") as producer,
        ):
            for number in range(3):
                with producer.transaction() as transaction:
                    for partition in range(3):
                        value = b"%d" % (number * 3 + partition)
                        producer.send("t", value=value, partition=partition)
                    transaction.send_offsets("g", {("t", 0): number})
            with pytest.raises(KeyError), producer.transaction() as transaction:
                producer.send("t", value=b"aborted", partition=0)
                producer.flush()
                transaction.send_offsets("g", {("t", 0): 99})
                raise KeyError
        committed = [b"%d" % number for number in range(9)]
        assert read_values(cluster, "t", "read_committed") == committed
        values = read_values(cluster, "t", "read_uncommitted")
        assert values == [*committed, b"aborted"]
        apis = {request.api for request in cluster.requests}
        assert ("AddPartitionsToTxn" in apis) == (release not in ("4.0", "4.4"))


@pytest.mark.parametrize("release", RELEASES)
def test_second_client_fences_the_first(release):
    with (
        testing.cluster(topics={"t": 1}, release=release) as cluster,
        connect_sync(cluster.bootstrap_servers) as kafka,
        kafka.producer(transactional_id="id") as first,
    ):
        with pytest.raises(ProducerFenced), first.transaction():
            first.send("t", value=b"first")
            first.flush()
            with (
                kafka.producer(transactional_id="id") as second,
                second.transaction(),
            ):
                second.send("t", value=b"second")
        assert read_values(cluster, "t", "read_committed") == [b"second"]


# Brokers since 4.0 return INVALID_TXN_STATE for a commit after the timeout.
@pytest.mark.parametrize(
    ("release", "error"), [("2.8", ProducerFenced), ("4.4", ClusterError)]
)
def test_slow_transaction_is_aborted_after_its_timeout(release, error):
    with (
        testing.cluster(topics={"t": 1}, release=release) as cluster,
        connect_sync(cluster.bootstrap_servers) as kafka,
        kafka.producer(transactional_id="id", transaction_timeout_s=0.2) as producer,
    ):
        with pytest.raises(error), producer.transaction():
            producer.send("t", value=b"late")
            producer.flush()
            time.sleep(0.4)
        assert read_values(cluster, "t", "read_committed") == []


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.4"])
@pytest.mark.parametrize("api", ["Produce", "EndTxn", "TxnOffsetCommit"])
def test_lost_responses_do_not_write_twice(release, api):
    with (
        testing.cluster(brokers=2, topics={"t": 1}, release=release) as cluster,
        connect_sync(cluster.bootstrap_servers) as kafka,
        kafka.producer(transactional_id="id") as producer,
    ):
        for number in range(3):
            cluster.cut(api, processed=True)
            with producer.transaction() as transaction:
                producer.send("t", value=b"%d" % number)
                transaction.send_offsets("g", {("t", 0): number})
        assert read_values(cluster, "t", "read_committed") == [b"0", b"1", b"2"]
        assert len(cluster.records("t")[0]) == 3


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.4"])
def test_errors_of_rules_are_retried_by_the_client(release):
    with (
        testing.cluster(brokers=2, topics={"t": 1}, release=release) as cluster,
        connect_sync(cluster.bootstrap_servers) as kafka,
    ):
        cluster.fail("InitProducerId", "COORDINATOR_LOAD_IN_PROGRESS")
        cluster.fail("AddPartitionsToTxn", "CONCURRENT_TRANSACTIONS")
        cluster.fail("EndTxn", "COORDINATOR_NOT_AVAILABLE")
        with (
            kafka.producer(transactional_id="id") as producer,
            producer.transaction(),
        ):
            producer.send("t", value=b"value")
        assert read_values(cluster, "t", "read_committed") == [b"value"]


def test_transaction_continues_after_the_coordinator_has_stopped():
    with (
        testing.cluster(brokers=3, topics={"t": 3}) as cluster,
        connect_sync(cluster.bootstrap_servers) as kafka,
        kafka.producer(transactional_id="id") as producer,
    ):
        with producer.transaction():
            for partition in range(3):
                producer.send("t", value=b"%d" % partition, partition=partition)
            producer.flush()
            (end,) = [r.broker for r in cluster.requests if r.api == "InitProducerId"]
            cluster.stop(end)
        assert read_values(cluster, "t", "read_committed") == [b"0", b"1", b"2"]


def test_rejected_record_aborts_the_transaction():
    with (
        testing.cluster(topics={"t": 1}, release="3.9") as cluster,
        connect_sync(cluster.bootstrap_servers) as kafka,
        kafka.producer(transactional_id="id") as producer,
    ):
        cluster.fail("Produce", "TRANSACTION_ABORTABLE")
        with pytest.raises(TransactionFailed), producer.transaction():
            producer.send("t", value=b"rejected")
        with producer.transaction():
            producer.send("t", value=b"next")
        assert read_values(cluster, "t", "read_committed") == [b"next"]


@pytest.mark.parametrize("release", ["1.0", "2.8", "4.4"])
def test_idempotent_client_does_not_write_twice(release):
    with (
        testing.cluster(topics={"t": 1}, release=release) as cluster,
        connect_sync(cluster.bootstrap_servers) as kafka,
    ):
        with kafka.producer() as producer:
            for number in range(5):
                cluster.cut("Produce", processed=True)
                producer.send("t", value=b"%d" % number)
                producer.flush()
        values = [record.value for record in cluster.records("t")[0]]
        assert values == [b"0", b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("release", ["0.11.0", "2.8", "3.9", "4.4"])
def test_librdkafka_commits_and_aborts_transactions(release):
    with testing.cluster(brokers=3, topics={"t": 2}, release=release) as cluster:
        servers = {"bootstrap.servers": cluster.bootstrap_servers}
        producer = confluent_kafka.Producer({**servers, "transactional.id": "id"})
        producer.init_transactions(PRODUCE_TIMEOUT_S)
        for name in (b"committed", b"aborted", b"committed"):
            producer.begin_transaction()
            for partition in range(2):
                producer.produce("t", name, partition=partition)
            producer.flush(PRODUCE_TIMEOUT_S)
            if name == b"aborted":
                producer.abort_transaction(PRODUCE_TIMEOUT_S)
            else:
                producer.commit_transaction(PRODUCE_TIMEOUT_S)
        consumer = confluent_kafka.Consumer(
            {
                **servers,
                "group.id": "g",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "enable.auto.commit": False,
            }
        )
        try:
            consumer.assign([TopicPartition("t", index, 0) for index in range(2)])
            values, ends = [], 0
            while ends < 2:
                message = consumer.poll(PRODUCE_TIMEOUT_S)
                assert message is not None
                ends += message.error() is not None
                values += [] if message.error() else [message.value()]
        finally:
            consumer.close()
        assert values == [b"committed"] * 4
        assert len(cluster.records("t")[0]) == 3


def test_librdkafka_is_fenced_by_a_second_producer():
    with testing.cluster(topics={"t": 1}) as cluster:
        options = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "transactional.id": "id",
        }
        first = confluent_kafka.Producer(options)
        first.init_transactions(PRODUCE_TIMEOUT_S)
        first.begin_transaction()
        first.produce("t", b"first")
        first.flush(PRODUCE_TIMEOUT_S)
        second = confluent_kafka.Producer(options)
        second.init_transactions(PRODUCE_TIMEOUT_S)
        with pytest.raises(KafkaException) as raised:
            first.commit_transaction(PRODUCE_TIMEOUT_S)
        assert raised.value.args[0].code() == confluent_kafka.KafkaError._FENCED
        assert read_values(cluster, "t", "read_committed") == []
