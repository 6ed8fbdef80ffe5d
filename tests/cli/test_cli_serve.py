# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire serve``: real clients use the cluster, and read the logs on a disk."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from kwire import client, log
from kwire.cli.input.stored_logs import StoredLog, StoredTopics
from tests.cli.made_logs import DATA, START, rows, write_log
from tests.cli.test_cli_process import SOURCE

TIMEOUT_S = 30
QUIET = {"log_level": 0, "socket.timeout.ms": 5000}


class Served:
    """Running command. ``out`` and ``err`` are complete after ``stop``."""

    def __init__(self, *args):
        environment = os.environ | {"PYTHONPATH": str(SOURCE)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kwire", "serve", "--port", "0", *map(str, args)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.err = ""
        while "listens on" not in self.err:
            line = self.process.stderr.readline()
            assert line, self.err
            self.err += line
        self.address = re.search(r"listens on (\S+);", self.err)[1]

    def stop(self, number=signal.SIGINT):
        """Send a signal, and return the exit status."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=TIMEOUT_S)
        self.out, self.err = out, self.err + err
        return self.process.returncode


@contextmanager
def serving(*args):
    served = Served(*args)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.process.kill()
            served.process.communicate()


def consume(address, topic, partition, count):
    """Read records with librdkafka, from the beginning of a partition."""
    group = {"group.id": "g", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": address, **group, **QUIET})
    consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING)])
    messages = consumer.consume(count, TIMEOUT_S)
    consumer.close()
    return [(message.offset(), message.value()) for message in messages]


def produce_errors(address, topic):
    """Produce a record, and return its delivery errors."""
    errors = []
    producer = Producer({"bootstrap.servers": address, **QUIET})
    producer.produce(topic, b"x", on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(TIMEOUT_S) == 0
    return errors


def test_a_client_writes_and_reads_and_each_request_is_a_line():
    with serving("--brokers", 2, "--topic", "orders:4", "--release", "3.9") as served:
        assert served.address.count("127.0.0.1:") == 2
        assert produce_errors(served.address, "orders") == [None]
        assert served.stop() == 0
    lines = served.out.splitlines()
    pattern = r"\d\d:\d\d:\d\d\.\d{3} [12] Produce v(\d+) rdkafka orders"
    matches = [re.fullmatch(pattern, line) for line in lines]
    versions = [match[1] for match in matches if match]
    assert len(versions) == 1 and 9 <= int(versions[0]) <= 11
    assert f"received {len(lines)} requests" in served.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_with_success(number):
    with serving() as served:
        assert served.stop(number) == 0
    assert "Traceback" not in served.err


def test_closed_pipe_ends_it_quietly():
    with serving("--topic", "orders") as served:
        served.process.stdout.close()
        with socket.create_connection(served.address.split(":")) as peer:
            peer.sendall(bytes.fromhex("0000000a0012000000000007ffff"))
            assert served.process.wait(TIMEOUT_S) == 141
        assert served.process.stderr.read() == ""
        served.process.stderr.close()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["--topic", "a b"], "a topic name must have"),
        (["--topic", "a:0"], "partitions must be 1 to 10000 (got 0)"),
        (["--topic", "a:x"], "'a:x' is not NAME:PARTITIONS, such as orders:4"),
        (["--topic", "a", "--topic", "a:2"], "'a' is specified twice"),
        (["--release", "9.9"], "release must be one of 0.8.0, 0.8.1,"),
        (["--port", "65535", "--brokers", "2"], "65535 leaves no ports for 2 brokers"),
        (["--host", "0.0.0.0"], "'0.0.0.0' is not one of '127.0.0.1', '::1'"),
        (["nowhere"], "nowhere"),
    ],
)
def test_bad_arguments_are_named_in_one_sentence(run, args, text):
    ran = run("serve", *args)
    assert ran.code == 2 and text in ran.err and ran.err.count("\n") == 1


def test_used_port_is_named(run):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        ran = run("serve", "--port", port)
    assert ran.code == 2
    assert f"cannot listen on 127.0.0.1 port {port}: address already in use" in ran.err


def test_consumers_read_the_logs_on_a_disk_and_producers_are_rejected(orders):
    files = {path: path.read_bytes() for path in orders.rglob("*.log")}
    with serving(orders) as served:
        expected = [(n, b"value %d" % n) for n in range(20)]
        assert consume(served.address, "orders", 0, 20) == expected
        assert len(consume(served.address, "orders", 1, 5)) == 5
        (error,) = produce_errors(served.address, "orders")
        assert error.name() == "TOPIC_AUTHORIZATION_FAILED"
        admin = AdminClient({"bootstrap.servers": served.address})
        records = [TopicPartition("orders", 0, 5)]
        (future,) = admin.delete_records(records).values()
        with pytest.raises(KafkaException, match="TOPIC_AUTHORIZATION_FAILED"):
            future.result(TIMEOUT_S)
        consumer = Consumer({"bootstrap.servers": served.address, "group.id": "g"})
        (topic,) = consumer.list_topics("typo", TIMEOUT_S).topics.values()
        assert topic.error.name() == "UNKNOWN_TOPIC_OR_PART"
        consumer.close()
        assert served.stop() == 0
    assert files == {path: path.read_bytes() for path in orders.rglob("*.log")}


def test_damaged_batches_are_omitted_and_named_once(damaged):
    with serving(damaged) as served:
        for _ in range(2):
            offsets = [n for n, _ in consume(served.address, "orders", 0, 15)]
            assert offsets == [*range(5), *range(10, 20)]
        assert served.stop() == 0
    assert served.err.count("omitted: ") == 1
    assert re.search(rf"omitted: {damaged}: byte \d+, \d+ bytes: crc: ", served.err)


def test_kwire_scans_a_disk_to_its_end_although_the_last_batch_is_damaged(tmp_path):
    path = write_log(tmp_path / "orders-0", [rows(0, 5), rows(5, 5)])
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    with (
        serving(tmp_path) as served,
        client.connect_sync(served.address.split(",")[0]) as kafka,
    ):
        assert [row.offset for row in kafka.scan("orders").records()] == [*range(5)]


def open_log(path, problems=None):
    (partition,) = log.LogDirectory(path)
    return StoredLog(partition, [].append if problems is None else problems.append)


def test_size_limits_return_a_complete_first_batch_and_truncate_the_next(tmp_path):
    path = write_log(tmp_path / "orders-0", [rows(0, 5), rows(5, 5)])
    data = path.read_bytes()
    stored = open_log(tmp_path)
    (first, _) = log.Segment(path).headers()
    assert stored.read(0, 1, 10, True) == data[: first.size]
    assert stored.read(0, 1, 10, False) == data[:1]
    assert stored.read(0, first.size + 7, 10, True) == data[: first.size + 7]
    assert stored.read(7, 1 << 20, 10, True) == data[first.size :]
    assert stored.read(0, 1 << 20, 5, True) == data[: first.size]


def test_reading_continues_where_the_previous_read_ended(tmp_path, monkeypatch):
    """Without an index, each read would otherwise begin at the start of the file."""
    batches = [rows(n, 5) for n in range(0, 100, 5)]
    path = write_log(tmp_path / "orders-0", batches)
    stored = open_log(tmp_path)
    starts = []
    original = log.Segment.headers

    def headers(segment, start=0, *args, **options):
        starts.append(start)
        return original(segment, start, *args, **options)

    monkeypatch.setattr(log.Segment, "headers", headers)
    size = path.stat().st_size // 20
    for offset in range(0, 95, 5):
        stored.read(offset, 2 * size, 100, True)
    positions = [header.position for header in original(log.Segment(path))]
    assert starts == positions[:19]
    starts.clear()
    assert stored.read(100, 1 << 20, 100, True) == b"" and starts == []


def test_timestamps_find_offsets(orders):
    (partition,) = (p for p in log.LogDirectory(orders) if p.partition == 0)
    stored = StoredLog(partition, [].append)
    assert stored.find_timestamp(START + 3000) == (3, START + 3000, -1)
    assert stored.find_timestamp(START + 10_000) == (10, START + 10_000, -1)
    assert stored.find_timestamp(START + 99_000) is None
    assert stored.find_max_timestamp() == (19, START + 19_000, -1)
    assert [record.offset for record in stored.records()] == [*range(20)]


@pytest.mark.parametrize("release", ["2.8.2", "3.9.2", "4.3.1"])
def test_logs_of_brokers_have_their_transactions_and_epochs(release):
    """The values are equal to those that ``kwire.log`` finds in the same directory."""
    checked = 0
    for partition in log.LogDirectory(DATA / release / "data"):
        stored = StoredLog(partition, [].append)
        transactions = partition.transactions()
        aborted = list(transactions.aborted)
        assert stored.find_aborted(0, stored.end_offset) == aborted
        stable = transactions.last_stable_offset
        assert stored.last_stable_offset == (
            stored.end_offset if stable is None else stable
        )
        assert stored.end_offset == partition.end_offset
        for epoch, start in partition.leader_epochs:
            assert stored.leader_epoch >= epoch
            assert stored.find_leader_epoch(start) == epoch
            assert stored.find_epoch_end(epoch)[0] == epoch
        checked += len(aborted)
    assert checked


def test_missing_partitions_are_empty_and_the_longest_replica_is_used(tmp_path):
    write_log(tmp_path / "a" / "orders-2", [rows(0, 5)])
    write_log(tmp_path / "b" / "orders-2", [rows(0, 5), rows(5, 2)])
    write_log(tmp_path / "b" / "__cluster_metadata-0", [rows(0, 2)])
    stored = StoredTopics(list(log.LogDirectory(tmp_path)), [].append)
    assert set(stored.logs) == {"orders"}
    assert [log.end_offset for log in stored.logs["orders"]] == [0, 0, 7]
    assert stored.missing == ["orders-0", "orders-1"]
    assert all(log.is_read_only for log in stored.logs["orders"])
