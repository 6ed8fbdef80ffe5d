# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``metrics()`` in clients, scans, consumers and producers, and its reference page.

``tests/client/machines/test_metrics.py`` checks the values.
"""

import asyncio
import importlib
import logging
import re
import sys
import threading
from pathlib import Path

import pytest

from kwire.client.machines.events import Event
from kwire.client.machines.metrics import (
    CONSUMER_SNAPSHOT,
    METRICS,
    PRODUCER_SNAPSHOT,
    SCAN_SNAPSHOT,
)
from tests.client.log_broker import LogBroker

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
COUNT = 40

READERS = {
    "scan": (SCAN_SNAPSHOT, lambda kafka: kafka.scan("orders")),
    "consumer": (
        CONSUMER_SNAPSHOT,
        lambda kafka: kafka.consumer("orders", group_id="etl", partitions="all"),
    ),
}


@pytest.fixture
def broker():
    """Broker with a two-partition topic."""
    with LogBroker({"orders": [COUNT, COUNT], "copies": [0]}) as broker:
        broker.cluster_truth.add_group("etl", ["orders"])
        broker.cluster_truth.coordinator(0, "etl")
        yield broker


@pytest.fixture
def client(kwire):
    """Client package on the tested engine."""
    return importlib.import_module(f"{kwire.__name__}.client")


def check_numbers(metrics, names):
    """Check the names of metrics, and that no value is negative."""
    assert set(metrics) == set(names)
    lags = metrics.get("records_lag", {})
    numbers = [*lags.values(), *(v for v in metrics.values() if v is not lags)]
    assert all(isinstance(n, int | float) and n >= 0 for n in numbers)


@pytest.mark.parametrize("kind", READERS)
def test_metrics_of_a_reader_before_during_and_after_reading(client, broker, kind):
    names, make = READERS[kind]
    with client.connect_sync(broker.address) as kafka:
        reader = make(kafka)
        before = reader.metrics()
        check_numbers(before, names)
        assert not any(before.values())
        offsets = 0
        for chunk in reader:
            offsets += chunk.next_offset - chunk.fetched.start_offset
            during = reader.metrics()
            check_numbers(during, names)
            assert during["offsets_consumed_total"] == offsets
            assert during["connection_count"] > 0
            if offsets == 2 * COUNT:
                break
        assert sum(during["records_lag"].values()) == during["records_lag_max"] == 0
        assert set(during["records_lag"]) == {("orders", 0), ("orders", 1)}
        reader.close()
        after = reader.metrics()
        check_numbers(after, names)
        assert after == reader.metrics()
        assert after["offsets_consumed_total"] == 2 * COUNT
        assert after["bytes_consumed_total"] == during["bytes_consumed_total"] > 0
        assert after["connection_count"] == after["requests_in_flight"] == 0
        assert kafka.metrics()["offsets_consumed_total"] == 2 * COUNT


def test_metrics_of_a_producer_before_during_and_after_writing(client, broker):
    with client.connect_sync(broker.address) as kafka:
        producer = kafka.producer()
        assert not any(producer.metrics().values())
        producer.send_many("copies", [(b"k", b"v")] * 3)
        during = producer.metrics()
        check_numbers(during, PRODUCER_SNAPSHOT)
        assert during["record_send_total"] == 3
        assert during["held_bytes"] == 0
        producer.close()
        after = producer.metrics()
        check_numbers(after, PRODUCER_SNAPSHOT)
        assert after == producer.metrics()
        assert after["record_send_total"] == 3
        assert after["connection_count"] == 0


def test_metrics_of_a_client_are_sums_over_open_and_closed_objects(client, broker):
    with client.connect_sync(broker.address) as kafka:
        assert not any(kafka.metrics().values())
        for _ in range(2):
            list(kafka.scan("orders"))
        kafka.topics()
        metrics = kafka.metrics()
        check_numbers(metrics, METRICS)
        assert metrics["offsets_consumed_total"] == 4 * COUNT
        assert metrics["connection_creation_total"] >= 3
        assert metrics["connection_count"] == metrics["requests_in_flight"] == 0
    assert kafka.metrics() == metrics


def test_asyncio_objects_have_the_same_metrics(client, broker):
    async def run():
        async with client.connect(broker.address) as kafka:
            scan = kafka.scan("orders")
            async for _ in scan:
                check_numbers(scan.metrics(), SCAN_SNAPSHOT)
            async with kafka.producer() as producer:
                await producer.send_many("copies", [(b"k", b"v")])
        return scan, producer, kafka

    scan, producer, kafka = asyncio.run(run())
    # The metrics must remain available after the event loop is closed.
    assert scan.metrics()["offsets_consumed_total"] == 2 * COUNT
    assert producer.metrics()["record_send_total"] == 1
    check_numbers(kafka.metrics(), METRICS)


def test_another_thread_may_read_metrics_while_the_machine_runs(client, broker):
    problems, is_over = [], threading.Event()
    interval = sys.getswitchinterval()
    with client.connect_sync(broker.address) as kafka:
        scan = kafka.scan("orders", follow=True)

        def watch():
            while not is_over.is_set():
                try:
                    scan.metrics()
                    kafka.metrics()
                except Exception as error:
                    problems.append(error)
                    return

        thread = threading.Thread(target=watch)
        sys.setswitchinterval(1e-5)
        thread.start()
        try:
            seen = 0
            for chunk in scan:
                seen += chunk.next_offset - chunk.fetched.start_offset
                if seen >= 2000:
                    break
                broker.log("orders", seen % 2).append(10)
        finally:
            is_over.set()
            thread.join()
            sys.setswitchinterval(interval)
    assert problems == []


def read_page():
    """Return {heading: {metric name: (unit, meaning)}} from the tables of the page."""
    sections = PAGE.read_text("utf-8").split("\n## ")[1:]
    row = re.compile(r"^\| `(\w+)` \| (.+?) \| (.+) \|$", re.M)
    return {
        text.partition("\n")[0]: {
            name: (unit, meaning) for name, unit, meaning in row.findall(text)
        }
        for text in sections
    }


def test_the_reference_has_each_event_with_its_logger_and_level_and_no_other():
    text = PAGE.read_text("utf-8").split("\n## Events\n")[1]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (\w+) \| .+ \|$", text, re.M)
    events = [
        (
            event.name.lower(),
            event.logger.name.removeprefix("kwire.client."),
            logging.getLevelName(event.level),
        )
        for event in Event
    ]
    assert sorted(rows) == sorted(events)


def test_the_reference_has_each_metric_with_its_unit_and_no_other():
    page = read_page()
    common = page["All objects"]
    scans = common | page["Scans and consumers"]
    consumers = scans | page["Consumers"]
    producers = common | page["Producers"]
    assert set(scans) == set(SCAN_SNAPSHOT)
    assert set(consumers) == set(CONSUMER_SNAPSHOT)
    assert set(producers) == set(PRODUCER_SNAPSHOT)
    counted = {
        name
        for name, (_, meaning) in (consumers | producers).items()
        if "*object only*" not in meaning
    }
    assert counted == set(METRICS)
    for name, (unit, _) in (consumers | producers).items():
        assert (unit == "seconds") is name.endswith("_s"), name
        is_bytes = "byte" in name
        assert (unit == "bytes") is is_bytes, name
