# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Compare machine metrics with the simulated events."""

import importlib
import random as random_module
import sys

import pytest

from kwire.client.machines.metrics import METRICS, MetricsSum
from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.world import START_S, World


def test_metrics_of_a_closed_machine_stay_in_the_sum():
    total = MetricsSum()
    first, second = total.open(), total.open()
    first.add("request_total", 2)
    second.add("request_total", 3)
    first.request_latency.add(0.5)
    second.request_latency.add(0.25)
    assert total.snapshot()["request_total"] == 5
    total.close(first)
    total.close(first)
    del first
    snapshot = total.snapshot()
    assert snapshot["request_total"] == 5
    assert snapshot["request_latency_max_s"] == 0.5
    assert tuple(snapshot) == METRICS


class Setting:
    """Simulated cluster with a two-partition topic."""

    def __init__(self, kwire, brokers=2):
        """Write three records per partition."""
        self.machines = importlib.import_module(f"{kwire.__name__}.client.machines")
        self.random = random_module.Random(5)
        self.cluster = SimulatedCluster(kwire, self.random, brokers, ["4.1"])
        self.world = World(self.cluster, self.random)
        self.topic = self.cluster.add_topic("orders", 2)
        for log in self.topic.logs:
            log.append(3)
        for broker in self.cluster.brokers.values():
            broker.clock = lambda: self.world.now
            broker.learn()
        self.settings = self.machines.ClusterSettings()

    def make(self, name, *options):
        return getattr(self.machines, name)(
            [("sim", 9000 + node) for node in self.cluster.brokers],
            self.settings,
            *options,
            now=START_S,
            random=self.random,
        )

    def run(self, machine, seconds):
        self.world.run(machine, lambda: False, self.world.now + seconds)


def test_metrics_of_a_scan_count_what_was_read(kwire):
    setting = Setting(kwire)
    options = setting.machines.ScanOptions(topics=("orders",), follow=True)
    machine = setting.make("ScanMachine", options)
    setting.run(machine, 5)
    chunks = []
    while machine.fetcher.has_chunk():
        chunks.append(machine.take())
    for log in setting.topic.logs:
        log.append(2)
    setting.run(machine, 5)
    metrics = machine.fetcher.read_metrics(setting.world.now)
    assert metrics["offsets_consumed_total"] == 6
    assert metrics["bytes_consumed_total"] == sum(len(chunk.data) for chunk in chunks)
    # Fetched records count as lag until they are returned.
    assert metrics["records_lag"] == {("orders", 0): 2, ("orders", 1): 2}
    assert metrics["records_lag_max"] == 2
    assert metrics["held_bytes"] > metrics["bytes_consumed_total"]
    assert metrics["connection_count"] == len(machine.cluster.links())
    in_flight = sum(link.in_flight for link in machine.cluster.links())
    assert metrics["requests_in_flight"] == in_flight
    assert metrics["request_total"] == metrics["response_total"] + in_flight
    assert metrics["incoming_byte_total"] > metrics["bytes_consumed_total"]
    assert 0 < metrics["fetch_latency_max_s"] <= metrics["fetch_latency_total_s"]
    assert metrics["fetch_latency_max_s"] < 2.5
    assert 0 <= metrics["metadata_age_s"] <= 10
    machine.close(setting.world.now)
    total = setting.settings.metrics.snapshot()
    assert total["connection_count"] == total["requests_in_flight"] == 0
    assert total["offsets_consumed_total"] == 6


def count_calls(function):
    """Run a function. Return the number of calls into metrics, events and logging."""
    calls = 0
    files = "machines/metrics.py", "machines/events.py", "logging/__init__.py"

    def profile(frame, event, _):
        nonlocal calls
        if event == "call":
            calls += frame.f_code.co_filename.replace("\\", "/").endswith(files)

    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("partitions", [2, 20])
def test_unread_metrics_cost_two_calls_for_each_response(kwire, partitions):
    """Each response needs two calls, for its latency. Chunks need no calls."""
    setting = Setting(kwire, brokers=1)
    topic = setting.cluster.add_topic("wide", partitions)
    for broker in setting.cluster.brokers.values():
        broker.learn()
    options = setting.machines.ScanOptions(topics=("wide",), follow=True)
    machine = setting.make("ScanMachine", options)
    setting.run(machine, 5)
    before = machine.read_metrics(setting.world.now)
    chunk_count = 0

    def read():
        nonlocal chunk_count
        for _ in range(20):
            for log in topic.logs:
                log.append(1)
            setting.run(machine, 1)
            while (fetched := machine.take()) is not None:
                machine.release(fetched)
                chunk_count += 1

    calls = count_calls(read)
    after = machine.read_metrics(setting.world.now)
    assert chunk_count >= 20 * partitions
    responses = after["response_total"] - before["response_total"]
    assert 20 <= responses <= 100
    assert calls <= 2 * responses


def test_throttle_time_is_the_sum_of_the_pauses(kwire):
    setting = Setting(kwire, brokers=1)
    setting.cluster.brokers[1].throttle_ms = 250
    options = setting.machines.ScanOptions(topics=("orders",), follow=True)
    machine = setting.make("ScanMachine", options)
    setting.run(machine, 5)
    metrics = machine.fetcher.read_metrics(setting.world.now)
    assert metrics["throttle_total"] > 2
    assert metrics["throttle_time_max_s"] == 0.25
    assert metrics["throttle_time_total_s"] == 0.25 * metrics["throttle_total"]


def test_metrics_of_a_producer_count_records_and_attempts(kwire):
    setting = Setting(kwire, brokers=1)
    machine = setting.make("ProducerMachine", setting.machines.ProducerOptions())
    machine.want_topic("orders", START_S)
    setting.run(machine, 5)
    batcher = setting.machines.RecordBatcher(machine, machine.topic("orders"), 0)
    batcher.add([(None, b"a"), (None, b"b")], 5, setting.world.now)
    (first,) = batcher.finish(setting.world.now)
    setting.world.run(machine, lambda: first.is_in_flight, setting.world.now + 5)
    # The request is lost with its connection, and retried on another one.
    setting.world.break_wires(1)
    setting.run(machine, 5)
    assert first.receipt is not None
    metrics = machine.read_metrics(setting.world.now)
    assert metrics["record_send_total"] == 2
    assert metrics["record_retry_total"] == 2
    assert metrics["record_error_total"] == 0
    assert metrics["batch_send_total"] == 1
    assert metrics["produce_total"] == 2
    assert 0 < metrics["produce_latency_max_s"] < 5
    assert 0 <= metrics["record_queue_time_max_s"] < 5
    assert metrics["held_bytes"] == 0
    batcher = setting.machines.RecordBatcher(machine, machine.topic("orders"), 0)
    batcher.add([(None, b"c")], 5, setting.world.now)
    (second,) = batcher.finish(setting.world.now)
    held = machine.read_metrics(setting.world.now)["held_bytes"]
    assert held == second.size > 0
    machine.close(setting.world.now)
    metrics = machine.read_metrics(setting.world.now)
    assert metrics["record_error_total"] == 1
    assert metrics["held_bytes"] == 0
