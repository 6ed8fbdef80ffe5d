# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire topics`` with librdkafka's mock cluster, and without a broker."""

import csv
import json
import socket

import pytest
from confluent_kafka import Producer


@pytest.fixture(scope="module")
def address():
    """Address of one of three brokers with two topics of four partitions.

    Partition 1 of "orders" has two records.
    """
    handle = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 3})
    for partition in (1, 1):
        handle.produce("orders", b"value", partition=partition)
    handle.produce("other", b"value", partition=0)
    assert handle.flush(10) == 0
    broker = handle.list_topics(timeout=10).brokers[2]
    yield f"{broker.host}:{broker.port}"
    del handle


def test_a_table_has_each_partition_below_its_topic(run, address):
    """The table contains leader, replicas and offsets. stderr has the count."""
    ran = run("topics", address)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].split() == (
        ["PARTITION", "LEADER", "REPLICAS", "IN", "SYNC", "START", "END", "OFFSETS"]
    )
    assert lines[1] == "orders" and lines[6] == "other"
    assert lines[3].split()[0] == "1" and lines[3].split()[-3:] == ["0", "2", "2"]
    assert ran.err == "kwire: 2 topics, 8 partitions\n"


def test_rows_contain_all_known_fields(run, address):
    """JSON lines and CSV have the same fields."""
    rows = run("topics", address, "orders", "-o", "jsonl").rows
    assert [row["partition"] for row in rows] == [0, 1, 2, 3]
    assert [row["end_offset"] for row in rows] == [0, 2, 0, 0]
    for row in rows:
        assert row["topic"] == "orders" and row["start_offset"] == 0
        assert row["leader"] in row["replicas"] and row["is_internal"] is False
    table = list(csv.DictReader(run("topics", address, "-o", "csv").out.splitlines()))
    assert [row["topic"] for row in table] == ["orders"] * 4 + ["other"] * 4
    assert json.loads(table[1]["replicas"]) == rows[1]["replicas"]
    assert table[1]["end_offset"] == "2"


def test_offsets_can_be_omitted(run, address):
    """The option is useful for clusters with many partitions."""
    rows = run("topics", address, "--no-offsets", "-o", "jsonl").rows
    assert {row["end_offset"] for row in rows} == {None}


def test_an_unknown_topic_names_those_that_are_near(run, address):
    """The error suggests a similar name, and no rows are printed."""
    ran = run("topics", address, "order")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == ("kwire: topic 'order' does not exist; did you mean orders?\n")


def test_partitions_without_a_leader_are_problems(run, kwire, address, monkeypatch):
    """Partitions without a leader have no offsets. The command does not wait."""
    client = __import__(f"{kwire.__name__}.client", fromlist=["KafkaSync"])
    original_topics = client.KafkaSync.topics

    def topics(self):
        topics = original_topics(self)
        parts = topics["orders"].partitions
        parts[2] = parts[2]._replace(leader=-1)
        return topics

    monkeypatch.setattr(client.KafkaSync, "topics", topics)
    ran = run("topics", address, "orders", "-o", "jsonl")
    assert ran.code == 1
    assert (ran.rows[2]["leader"], ran.rows[2]["end_offset"]) == (None, None)
    assert ran.rows[1]["end_offset"] == 2
    assert "without a leader: 1" in ran.err


@pytest.mark.parametrize("command", [["topics"], ["read", "orders"]])
def test_closed_port_is_one_sentence(run, command):
    """The error contains the address. The exit code is that of ``kwire versions``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        ran = run(command[0], address, *command[1:])
    assert ran.code == 2
    assert ran.err.count("\n") == 1 and address in ran.err


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--ca", __file__], "--ca requires --tls"),
        (["--username", "u"], "--username requires --sasl-mechanism"),
        (["--timeout", "0"], "--timeout"),
    ],
)
def test_options_are_those_of_versions(run, options, reason):
    """Contradicting options are rejected with exit code 2, as in ``kwire versions``."""
    ran = run("topics", "127.0.0.1:1", *options)
    assert ran.code == 2 and reason in ran.err
    assert run("read", "127.0.0.1:1", "t", *options).err.count("\n") == 1


def test_tls_to_a_plain_port_is_one_sentence(run, address):
    """The command fails after its timeout with an error of one line."""
    ran = run("topics", address, "--tls", "--timeout", "2")
    assert ran.code == 2 and ran.err.count("\n") == 1 and address in ran.err
