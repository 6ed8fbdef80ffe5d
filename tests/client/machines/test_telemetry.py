# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Clients push their metrics to brokers that subscribe to them (KIP-714)."""

import importlib
import random as random_module
from itertools import pairwise
from uuid import UUID

import pytest

from tests.client.machines.brokers import SimulatedCluster
from tests.client.machines.scan_scenario import Scenario
from tests.client.machines.telemetry_answers import Receiver
from tests.client.machines.world import START_S, World

WALL_NS = 1_700_000_000 * 10**9
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4


class Client:
    """Machine that keeps a connection to one simulated broker, with telemetry."""

    def __init__(self, kwire, seed=1, brokers=1, **subscription):
        """Start the machine. Keyword arguments are subscription fields."""
        machines = importlib.import_module(f"{kwire.__name__}.client.machines")
        cluster_module = importlib.import_module(f"{machines.__name__}.cluster")
        random = random_module.Random(seed)
        self.codes = kwire.error_codes
        self.brokers = SimulatedCluster(kwire, random, brokers, ["4.1"])
        self.receiver = self.brokers.receiver = Receiver(**subscription)
        for broker in self.brokers.brokers.values():
            broker.become("4.1")
            broker.learn()
        self.world = World(self.brokers, random)
        self.settings = machines.ClusterSettings(metadata_max_age_s=5.0)
        self.cluster = cluster_module.ClusterMachine(
            [("sim", 9001)], self.settings, now=START_S, random=random
        )
        self.cluster.topics = None
        self.metrics = self.cluster.metrics
        resource = {"group_id": "etl"}
        self.cluster.push_metrics("consumer", self.read_metrics, resource, START_S)
        if self.telemetry is not None:
            self.telemetry.unix_time_ns = self.read_clock

    @property
    def telemetry(self):
        return self.cluster._telemetry

    @property
    def wake_at(self):
        return self.cluster.wake_at

    def advance(self, now):
        self.cluster.advance(now)
        # The address of the broker is also the bootstrap address.
        self.cluster.link_to(1, now)

    def read_metrics(self, now):
        return self.metrics.snapshot()

    def read_clock(self):
        return WALL_NS + int(self.world.now * 1e9)

    def run(self, seconds):
        self.world.run(self, lambda: False, self.world.now + seconds)

    def close(self, seconds=5.0):
        begun = self.world.now
        self.cluster.begin_close(begun)
        closed = self.world.run(self, lambda: self.cluster.is_closable, begun + seconds)
        self.cluster.close(self.world.now)
        return self.world.now - begun if closed else None


def intervals(pushes):
    return [later.at - push.at for push, later in pairwise(pushes)]


def test_pushes_follow_the_interval_of_the_subscription(kwire):
    client = Client(kwire)
    client.run(60)
    pushes = client.receiver.pushes
    assert len(client.receiver.subscriptions) == 1
    assert len(pushes) in (5, 6)
    assert all(9.9 < pause < 11 for pause in intervals(pushes))
    assert {push.request.client_instance_id for push in pushes} == {UUID(int=77)}
    assert not any(push.request.terminating for push in pushes)
    # The metric counts responses. The last push may not have a response yet.
    counted = client.metrics.snapshot()["telemetry_push_total"]
    assert len(pushes) - 1 <= counted <= len(pushes)


def test_the_first_push_comes_at_another_time_for_each_client(kwire):
    """A random factor from 0.5 to 1.5 avoids a burst after a restart."""
    firsts = []
    for seed in range(12):
        client = Client(kwire, seed)
        client.run(20)
        firsts.append(client.receiver.pushes[0].at - client.receiver.subscriptions[0])
    assert all(4.9 < first < 16.6 for first in firsts)
    assert max(firsts) - min(firsts) > 4


def test_a_broker_without_a_receiver_gets_no_request(kwire):
    client = Client(kwire)
    client.brokers.brokers[1]._cluster.receiver = None
    client.brokers.brokers[1].become("4.1")
    client.run(700)
    # The client has one connection, and refreshes its metadata every five seconds.
    assert client.world.requests < 150
    assert client.close() == 0


def test_a_receiver_is_found_after_brokers_are_configured(kwire):
    client = Client(kwire)
    receiver, client.brokers.receiver = client.receiver, None
    client.brokers.brokers[1].become("4.1")
    client.run(100)
    client.brokers.receiver = receiver
    client.brokers.brokers[1].become("4.1")
    client.world.break_wires(1)
    client.run(400)
    assert receiver.pushes


def test_push_can_be_turned_off(kwire):
    machines = importlib.import_module(f"{kwire.__name__}.client.machines")
    cluster_module = importlib.import_module(f"{machines.__name__}.cluster")
    settings = machines.ClusterSettings(enable_metrics_push=False)
    cluster = cluster_module.ClusterMachine(
        [("sim", 9001)], settings, now=0.0, random=random_module.Random(1)
    )
    cluster.push_metrics("producer", dict, {}, 0.0)
    assert cluster._telemetry is None
    assert cluster.is_closable


def test_nothing_is_pushed_while_no_metric_is_requested(kwire):
    """The subscription is requested after every interval, because it may change."""
    client = Client(kwire, requested_metrics=[])
    client.run(35)
    assert len(client.receiver.subscriptions) == 4
    assert client.receiver.pushes == []
    client.receiver.change(requested_metrics=["org.apache.kafka.consumer."])
    client.run(30)
    assert client.receiver.pushes


def test_a_changed_subscription_is_requested_again(kwire):
    client = Client(kwire)
    client.run(30)
    client.receiver.change(push_interval_ms=2_000)
    before = len(client.receiver.pushes)
    client.run(30)
    assert len(client.receiver.subscriptions) == 2
    assert len(client.receiver.pushes) - before > 7
    ids = [push.request.subscription_id for push in client.receiver.pushes]
    assert sorted(set(ids)) == [7, 8]


def test_a_broker_that_never_knows_the_subscription_gets_few_requests(kwire):
    client = Client(kwire, push_interval_ms=1)
    client.receiver.errors = [client.codes.UNKNOWN_SUBSCRIPTION_ID] * 10_000
    client.run(60)
    assert client.receiver.pushes == []
    assert 100 < len(client.receiver.subscriptions) < 60 / 0.1


@pytest.mark.parametrize(
    ("interval_ms", "fewest", "most"),
    [(1, 250, 600), (0, 0, 0), (-5, 0, 0), (2**31 - 1, 0, 0)],
)
def test_a_hostile_interval_is_limited(kwire, interval_ms, fewest, most):
    """A client sends at most ten pushes per second.

    If the broker specifies no interval, the client sends one push in five minutes.
    """
    client = Client(kwire, push_interval_ms=interval_ms)
    client.run(60)
    assert fewest <= len(client.receiver.pushes) <= most
    client.run(6000)
    assert len(client.receiver.pushes) > 0


def test_the_first_accepted_codec_compresses_the_payload(kwire):
    compression = importlib.import_module(f"{kwire.__name__}.records.compression")
    for codecs in ([ZSTD, GZIP], [LZ4], [SNAPPY], [GZIP], [99, -1, GZIP]):
        client = Client(kwire, accepted_compression_types=codecs)
        client.run(20)
        request = client.receiver.pushes[0].request
        chosen = next(codec for codec in codecs if 0 < codec < 5)
        assert request.compression_type == chosen
        plain = compression.decompress(
            chosen, request.metrics, 2, kwire.Limits(), position=0
        )
        assert b"org.apache.kafka.consumer.connection.creation.total" in bytes(plain)


def test_a_codec_without_its_library_is_not_used(kwire, monkeypatch):
    telemetry = importlib.import_module(f"{kwire.__name__}.client.machines.telemetry")

    def fail(*arguments):
        raise ImportError

    monkeypatch.setattr(telemetry, "compress", fail)
    client = Client(kwire, accepted_compression_types=[ZSTD])
    client.run(20)
    assert client.receiver.pushes[0].request.compression_type == 0


def test_a_codec_that_a_broker_rejects_is_not_used_again(kwire):
    client = Client(kwire, accepted_compression_types=[ZSTD, GZIP])
    client.receiver.errors = [client.codes.UNSUPPORTED_COMPRESSION_TYPE] * 2
    client.run(60)
    assert len(client.receiver.subscriptions) == 3
    used = {push.request.compression_type for push in client.receiver.pushes}
    assert used == {0}


def test_a_payload_over_the_limit_is_not_sent(kwire):
    client = Client(kwire, telemetry_max_bytes=100)
    client.run(60)
    assert client.receiver.pushes == []
    assert client.metrics.snapshot()["telemetry_rejection_total"] > 3
    assert client.close() == 0


@pytest.mark.parametrize("name", ["TELEMETRY_TOO_LARGE", "THROTTLING_QUOTA_EXCEEDED"])
def test_an_error_that_may_pass_waits_for_the_next_interval(kwire, name):
    client = Client(kwire)
    client.receiver.errors = [getattr(client.codes, name)] * 2
    client.run(60)
    assert len(client.receiver.subscriptions) == 1
    assert len(client.receiver.pushes) in (3, 4)


@pytest.mark.parametrize("name", ["INVALID_REQUEST", "INVALID_RECORD"])
def test_an_error_that_no_repetition_repairs_ends_telemetry(kwire, name):
    client = Client(kwire)
    client.receiver.errors = [getattr(client.codes, name)]
    client.run(100)
    assert client.receiver.pushes == []
    assert client.telemetry.is_over


def test_the_last_push_is_sent_at_close(kwire):
    client = Client(kwire)
    client.run(30)
    before = len(client.receiver.pushes)
    assert client.close() < 1.0
    assert len(client.receiver.pushes) == before + 1
    assert [push.request.terminating for push in client.receiver.pushes] == [
        *[False] * before,
        True,
    ]


def test_a_silent_broker_delays_close_by_a_second(kwire):
    client = Client(kwire)
    client.run(30)
    client.brokers.brokers[1].is_silent = True
    assert client.close() == pytest.approx(1.0, abs=0.01)


def test_pushes_continue_on_another_broker_with_the_same_instance(kwire):
    client = Client(kwire, brokers=2)
    client.run(30)
    first = len(client.receiver.pushes)
    client.world.break_wires(1)
    client.world.break_wires(2)
    client.run(60)
    assert len(client.receiver.pushes) > first
    assert len(client.receiver.subscriptions) == 1
    ids = {push.request.client_instance_id for push in client.receiver.pushes}
    assert ids == {UUID(int=77)}


def test_close_without_a_connection_is_not_delayed(kwire):
    client = Client(kwire)
    client.run(30)
    client.brokers.brokers[1].is_up = False
    client.world.break_wires(1)
    client.run(1)
    assert client.close() < 0.1


class ModernScenario(Scenario):
    """Scan simulation in which all brokers support telemetry."""

    def _draw_releases(self):
        return ("3.9", "4.1")


def test_scans_are_correct_while_their_metrics_are_pushed(kwire):
    """Runs the simulated faults with up to ten pushes per second."""
    codes = kwire.error_codes
    passing = [
        codes.UNKNOWN_SUBSCRIPTION_ID,
        codes.UNSUPPORTED_COMPRESSION_TYPE,
        codes.TELEMETRY_TOO_LARGE,
        codes.THROTTLING_QUOTA_EXCEEDED,
    ]
    accepted = 0
    for seed in range(12):
        scenario = ModernScenario(kwire, seed)
        receiver = scenario.cluster.receiver = Receiver(push_interval_ms=100)
        receiver.errors = [0, *[scenario.random.choice(passing) for _ in range(5)]]
        for broker in scenario.cluster.brokers.values():
            broker.become(broker.release)
            broker.learn()
        scenario.run()
        accepted += len(receiver.pushes)
    assert accepted > 20


def read_payloads(client):
    """Return {name: data point} from all pushes, decoded by OpenTelemetry."""
    proto = pytest.importorskip("opentelemetry.proto.metrics.v1.metrics_pb2")
    payloads = []
    for push in client.receiver.pushes:
        data = proto.MetricsData.FromString(bytes(push.request.metrics))
        (resource_metrics,) = data.resource_metrics
        (attribute,) = resource_metrics.resource.attributes
        assert (attribute.key, attribute.value.string_value) == ("group_id", "etl")
        (scope_metrics,) = resource_metrics.scope_metrics
        payloads.append({metric.name: metric for metric in scope_metrics.metrics})
    return payloads


PREFIX = "org.apache.kafka.consumer."


@pytest.mark.parametrize("is_delta", [True, False])
def test_opentelemetry_reads_the_sums_of_all_pushes(kwire, is_delta):
    client = Client(kwire, delta_temporality=is_delta)
    client.receiver.errors = [0, client.codes.TELEMETRY_TOO_LARGE]
    client.run(60)
    values, points = [], []
    for metrics in read_payloads(client):
        total = metrics[f"{PREFIX}request.total"].sum
        assert total.is_monotonic
        assert total.aggregation_temporality == (1 if is_delta else 2)
        (point,) = total.data_points
        values.append(point.as_int)
        points.append(point)
    assert all(value > 0 for value in values)
    sent = sum(values) if is_delta else values[-1]
    # The metrics do not include requests after the last push: the push itself and
    # Metadata requests.
    assert 0 < client.metrics.snapshot()["request_total"] - sent < 4
    for point, later in pairwise(points):
        begun = point.time_unix_nano if is_delta else point.start_time_unix_nano
        assert later.start_time_unix_nano == begun
        assert later.time_unix_nano > point.time_unix_nano


def test_opentelemetry_reads_gauges_and_labels(kwire):
    client = Client(kwire)
    client.run(30)
    metrics = read_payloads(client)[-1]
    (latency,) = metrics[f"{PREFIX}node.request.latency.avg"].gauge.data_points
    (label,) = latency.attributes
    assert (label.key, label.value.string_value) == ("node_id", "1")
    assert 0.5 < latency.as_double < 3000
    (count,) = metrics[f"{PREFIX}connection.count"].gauge.data_points
    assert count.as_int == 1
    assert set(metrics) >= {
        f"{PREFIX}connection.creation.rate",
        f"{PREFIX}connection.creation.total",
        f"{PREFIX}node.request.latency.max",
    }


def test_only_metrics_with_a_requested_prefix_are_pushed(kwire):
    client = Client(
        kwire,
        requested_metrics=[f"{PREFIX}connection", "org.apache.kafka.producer."],
    )
    client.run(30)
    names = set(read_payloads(client)[0])
    assert names
    assert all(name.startswith(f"{PREFIX}connection") for name in names)


def test_a_payload_has_the_bytes_that_opentelemetry_writes(kwire):
    """The bytes are recorded from opentelemetry-proto, which is not required here."""
    otlp = importlib.import_module(f"{kwire.__name__}.client.machines.otlp")
    points = [
        otlp.Point("a", 3, is_sum=True),
        otlp.Point("b", 0.5, attributes={"node_id": "1"}),
    ]
    data = otlp.encode_metrics(
        points, {"group_id": "etl"}, start_ns=1, now_ns=2, is_delta=True
    )
    assert data.hex() == RECORDED


RECORDED = (
    "0a730a130a110a0867726f75705f696412050a0365746c125c12260a01613a210a1b11010000"
    "00000000001902000000000000003103000000000000001001180112320a01622a2d0a2b1101"
    "0000000000000019020000000000000021000000000000e03f3a0e0a076e6f64655f69641203"
    "0a0131"
)
