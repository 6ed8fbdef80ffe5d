# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Rules and faults on real clients: errors, delays, lost connections, own answers."""

import time

import pytest

from kwire import client, testing
from kwire.messages import FetchResponse, ListOffsetsResponse
from kwire.schema import error_codes

confluent_kafka = pytest.importorskip("confluent_kafka")

TIMEOUT_S = 30


@pytest.fixture
def kafka():
    with testing.cluster(topics={"orders": 2, "payments": 1}) as cluster:
        yield cluster


def produce(kafka, topic="orders", partition=0, **settings):
    """Write a record with librdkafka; return the error name or None."""
    errors = []
    settings = {key.replace("_", "."): value for key, value in settings.items()}
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0, **settings}
    )
    producer.produce(
        topic,
        b"one",
        partition=partition,
        on_delivery=lambda error, _: errors.append(error and error.name()),
    )
    assert producer.flush(TIMEOUT_S) == 0
    return errors[0]


def scan(kafka, topic="orders", **options):
    """Read the values of a topic with kwire."""
    with client.connect_sync(kafka.bootstrap_servers, **options) as reader:
        return [row.value for row in reader.scan(topic).records()]


def count_requests(kafka, api):
    return sum(item.api == api for item in kafka.requests)


def test_error_is_returned_for_a_number_of_requests_and_then_removed(kafka):
    rule = kafka.fail("Produce", "NOT_ENOUGH_REPLICAS", times=2)
    assert produce(kafka, retry_backoff_ms=1) is None
    assert (rule.hits, rule.remaining) == (2, 0)
    assert count_requests(kafka, "Produce") == 3
    assert len(kafka.records("orders")[0]) == 1


def test_final_error_reaches_the_program(kafka):
    kafka.fail("Produce", "TOPIC_AUTHORIZATION_FAILED")
    assert produce(kafka) == "TOPIC_AUTHORIZATION_FAILED"
    assert kafka.records("orders")[0] == []


def test_error_number_has_the_same_effect_as_its_name(kafka):
    kafka.fail("Produce", error_codes.TOPIC_AUTHORIZATION_FAILED)
    assert produce(kafka) == "TOPIC_AUTHORIZATION_FAILED"


def test_conditions_limit_a_rule(kafka):
    rules = [
        kafka.fail("Produce", "INVALID_TOPIC_EXCEPTION", topic="payments"),
        kafka.fail("Produce", "INVALID_TOPIC_EXCEPTION", topic="orders", partition=1),
        kafka.fail("Produce", "INVALID_TOPIC_EXCEPTION", client_id="other"),
    ]
    assert produce(kafka) is None
    assert [rule.hits for rule in rules] == [0, 0, 0]
    assert produce(kafka, "payments") == "TOPIC_EXCEPTION"
    assert produce(kafka, "orders", 1) == "TOPIC_EXCEPTION"
    assert produce(kafka, client_id="other") == "TOPIC_EXCEPTION"
    assert [rule.hits for rule in rules] == [1, 1, 1]


def test_rule_for_one_broker_does_not_affect_others():
    with testing.cluster(brokers=2, topics={"orders": 2}) as kafka:
        with kafka.fail("Produce", "INVALID_TOPIC_EXCEPTION", broker=2, times=None):
            results = {produce(kafka, "orders", partition) for partition in (0, 1)}
            assert results == {None, "TOPIC_EXCEPTION"}
        assert produce(kafka, "orders", 0) is produce(kafka, "orders", 1) is None


def test_rule_is_removed_at_the_end_of_its_block(kafka):
    with kafka.fail("Produce", "INVALID_TOPIC_EXCEPTION", times=None) as rule:
        assert produce(kafka) == produce(kafka) == "TOPIC_EXCEPTION"
    assert rule.hits == 2
    rule.remove()
    assert produce(kafka) is None


def test_delay_makes_requests_of_a_topic_late(kafka):
    """From version 13 on, Produce and Fetch requests contain topic ids."""
    kafka.write("payments", [b"one"])
    rule = kafka.delay("Fetch", seconds=0.5, topic="payments")
    began = time.monotonic()
    assert scan(kafka, "orders") == []
    assert rule.hits == 0
    assert scan(kafka, "payments") == [b"one"]
    assert rule.hits == 1
    assert time.monotonic() - began >= 0.5


def test_lost_request_is_not_processed(kafka):
    rule = kafka.cut("Produce")
    assert produce(kafka, message_timeout_ms=200, retries=0) is not None
    assert rule.hits == 1
    assert kafka.records("orders")[0] == []


def test_lost_response_is_processed(kafka):
    kafka.cut("Produce", processed=True)
    produce(kafka, retries=0)
    assert len(kafka.records("orders")[0]) == 1


def test_idempotent_producer_writes_once_although_responses_are_lost(kafka):
    kafka.cut("Produce", processed=True, times=2)
    assert produce(kafka, enable_idempotence=True, retry_backoff_ms=1) is None
    assert len(kafka.records("orders")[0]) == 1


def test_scan_continues_after_lost_fetches(kafka):
    kafka.write("orders", [b"one", b"two"])
    kafka.cut("Fetch", times=2)
    assert scan(kafka) == [b"one", b"two"]


def test_answer_of_the_test_replaces_the_response(kafka):
    versions = []

    def answer(request, version):
        versions.append(version)
        partition = ListOffsetsResponse.ListOffsetsPartitionResponse(offset=7)
        topic = ListOffsetsResponse.ListOffsetsTopicResponse(
            name="orders", partitions=[partition]
        )
        return ListOffsetsResponse(topics=[topic])

    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g"}
    )
    partition = confluent_kafka.TopicPartition("orders", 0)
    with kafka.answer("ListOffsets", answer):
        assert consumer.get_watermark_offsets(partition, TIMEOUT_S) == (7, 7)
    assert versions
    assert consumer.get_watermark_offsets(partition, TIMEOUT_S) == (0, 0)
    consumer.close()


def test_answer_without_a_response_lets_the_broker_answer(kafka):
    kafka.write("orders", [b"one"])
    versions = []
    rule = kafka.answer("Fetch", lambda request, version: versions.append(version))
    assert scan(kafka) == [b"one"]
    assert rule.hits == len(versions) > 0


def test_answer_can_return_an_error_of_any_kind(kafka):
    kafka.write("orders", [b"one"])
    code = error_codes.FETCH_SESSION_ID_NOT_FOUND
    kafka.answer("Fetch", lambda *_: FetchResponse(error_code=code), times=2)
    assert scan(kafka) == [b"one"]


@pytest.mark.parametrize("seed", range(3))
def test_clients_survive_faults_from_a_seed(seed):
    with testing.cluster(brokers=2, topics={"orders": 2}, faults=seed) as kafka:
        producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": kafka.bootstrap_servers,
                "enable.idempotence": True,
                "batch.num.messages": 1,
                "log_level": 0,
            }
        )
        for number in range(100):
            producer.produce("orders", b"%d" % number, partition=number % 2)
        assert producer.flush(TIMEOUT_S) == 0
        values = [
            [int(record.value) for record in records]
            for records in kafka.records("orders").values()
        ]
        assert values == [[*range(0, 100, 2)], [*range(1, 100, 2)]]
        assert sorted(map(int, scan(kafka))) == [*range(100)]
