# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Administration of a test cluster with the clients of three libraries."""

from __future__ import annotations

import time

import pytest

from kwire import client, testing

confluent = pytest.importorskip("confluent_kafka")
confluent_admin = pytest.importorskip("confluent_kafka.admin")
kafka_admin = pytest.importorskip("kafka.admin")

TOPICS = {"orders": 2}


@pytest.fixture(params=["2.8", "3.9", "4.4"])
def cluster(request):
    with testing.cluster(brokers=3, topics=TOPICS, release=request.param) as kafka:
        yield kafka


def list_sizes(kafka, topic):
    return len(kafka.records(topic))


def test_kwire_administers_a_cluster(cluster):
    with client.connect_sync(cluster.bootstrap_servers) as admin:
        admin.create_topics({"new": 3}, configs={"retention.ms": "100"})
        assert admin.configs("topic", "new")["retention.ms"].value == "100"
        admin.add_partitions({"new": 5})
        assert list_sizes(cluster, "new") == 5
        admin.set_configs("topic", "new", {"retention.ms": None})
        assert admin.configs("topic", "new")["retention.ms"].value == "604800000"
        admin.set_configs("broker", "", {"log.retention.ms": "9"})
        entry = admin.configs("topic", "new")["retention.ms"]
        assert (entry.value, entry.source) == ("9", "dynamic_default_broker")
        assert admin.configs("broker", 2)["broker.id"].value == "2"
        cluster.write("new", [b"1"])
        cluster.write("new", [b"2"])
        assert admin.sizes("new")["new", 0] > 0
        assert admin.delete_records({("new", 0): 1}) == {("new", 0): 1}
        assert [record.value for record in cluster.records("new")[0]] == [b"2"]
        admin.delete_topics("new")
        with pytest.raises(client.TopicNotFound):
            admin.delete_topics("new")
        with pytest.raises(client.RequestRefused, match="INVALID_REPLICATION_FACTOR"):
            admin.create_topics({"big": 1}, replication_factor=4)


def collect_errors(futures):
    """Return the name of the error of each future, or None."""
    names = {}
    for key, future in futures.items():
        try:
            future.result(10)
            names[key] = None
        except confluent.KafkaException as error:
            names[key] = error.args[0].name()
    return names


def test_confluent_kafka_administers_a_cluster(cluster):
    admin = confluent_admin.AdminClient(
        {"bootstrap.servers": cluster.bootstrap_servers}
    )
    new = confluent_admin.NewTopic
    futures = admin.create_topics(
        [new("new", 3, 2, config={"cleanup.policy": "compact"}), new("big", 1, 4)]
    )
    errors = collect_errors(futures)
    assert errors == {"new": None, "big": "INVALID_REPLICATION_FACTOR"}
    counts = admin.create_partitions([confluent_admin.NewPartitions("new", 5)])
    assert collect_errors(counts) == {"new": None}
    resource = confluent_admin.ConfigResource("topic", "new")
    entry = admin.describe_configs([resource])[resource].result(10)["cleanup.policy"]
    assert (entry.value, entry.is_default) == ("compact", False)
    change = confluent_admin.ConfigEntry(
        "cleanup.policy",
        "delete",
        incremental_operation=confluent_admin.AlterConfigOpType.APPEND,
    )
    resource = confluent_admin.ConfigResource("topic", "new")
    resource.add_incremental_config(change)
    assert set(
        collect_errors(admin.incremental_alter_configs([resource])).values()
    ) == {None}
    cluster.write("new", [(b"k", b"1")])
    part = confluent.TopicPartition("new", 0, 1)
    (future,) = admin.delete_records([part]).values()
    assert future.result(10).low_watermark == 1
    errors = collect_errors(admin.delete_topics(["new", "nope"]))
    assert errors == {"new": None, "nope": "UNKNOWN_TOPIC_OR_PART"}
    assert set(admin.list_topics(timeout=10).topics) == {"orders"}


def test_kafka_python_administers_a_cluster(cluster):
    admin = kafka_admin.KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    try:
        admin.create_topics([kafka_admin.NewTopic("new", 2, 2)])
        admin.create_partitions({"new": kafka_admin.NewPartitions(4)})
        topic = kafka_admin.ConfigResourceType.TOPIC
        resource = kafka_admin.ConfigResource
        admin.alter_configs([resource(topic, "new", configs={"retention.ms": "5"})])
        configs = admin.describe_configs([resource(topic, "new")])
        assert configs["topic"]["new"]["retention.ms"]["value"] == "5"
        directories = admin.describe_log_dirs()
        topics = [
            entry["name"]
            for broker in directories
            for directory in broker["log_dirs"]
            for entry in directory["topics"]
        ]
        assert topics.count("orders") == 3
        assert topics.count("new") >= 2
        admin.delete_topics(["new"])
        assert list(cluster.records("orders")) == [0, 1]
    finally:
        admin.close()


def test_librdkafka_pushes_its_metrics():
    properties = {"metrics": "*", "interval.ms": "100"}
    with testing.cluster(topics=TOPICS, client_metrics=properties) as cluster:
        producer = confluent.Producer(
            {"bootstrap.servers": cluster.bootstrap_servers, "client.id": "billing"}
        )
        producer.produce("orders", b"1")
        producer.flush(10)
        deadline = time.monotonic() + 10
        while not cluster.client_metrics and time.monotonic() < deadline:
            time.sleep(0.05)
        metrics = cluster.client_metrics[0]
        assert metrics.client_id == "billing"
        assert b"org.apache.kafka.producer" in metrics.data


def test_delivery_report_names_the_rejected_record():
    configs = {"cleanup.policy": "compact"}
    with testing.cluster() as cluster:
        cluster.create_topic("compacted", configs=configs)
        producer = confluent.Producer({"bootstrap.servers": cluster.bootstrap_servers})
        errors = []
        producer.produce(
            "compacted", b"1", on_delivery=lambda error, _: errors.append(error)
        )
        producer.flush(10)
        assert [error.name() for error in errors] == ["INVALID_RECORD"]
