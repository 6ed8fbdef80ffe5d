# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Workloads of the test cluster. The process prints seconds as JSON.

``python -m benchmarks.testing.workload start CYCLES`` starts and stops three brokers.
``python -m benchmarks.testing.workload records COUNT`` writes and reads records with
librdkafka. The client and the cluster share this process, which uses one processor.
"""

from __future__ import annotations

import json
import os
import sys
import time

import confluent_kafka

from kwire import testing

BROKERS = 3
TOPIC = "records"
PARTITIONS = 4
VALUE_BYTES = 100
_TIMEOUT_S = 60


def measure_start(cycles: int) -> dict[str, list[float]]:
    """Start and stop clusters; return the seconds of each cycle."""
    seconds = []
    for _ in range(cycles):
        began = time.perf_counter()
        with testing.cluster(brokers=BROKERS, topics={TOPIC: PARTITIONS}):
            pass
        seconds.append(time.perf_counter() - began)
    return {"starts": seconds}


def measure_records(count: int) -> dict[str, float]:
    """Write records and read them again; return the processor seconds of both."""
    with testing.cluster(topics={TOPIC: PARTITIONS}) as kafka:
        address = kafka.bootstrap_servers
        began = time.process_time()
        _produce(address, count)
        produced = time.process_time()
        _consume(address, count)
        consumed = time.process_time()
    return {"produce": produced - began, "consume": consumed - produced}


def _produce(address: str, count: int) -> None:
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": address,
            "linger.ms": 50,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": count + 1,
        }
    )
    value = bytes(VALUE_BYTES)
    for number in range(count):
        producer.produce(TOPIC, value, partition=number % PARTITIONS)
    if producer.flush(_TIMEOUT_S):
        raise RuntimeError("the cluster has not acknowledged all records")


def _consume(address: str, count: int) -> None:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "benchmark",
            "enable.auto.commit": False,
        }
    )
    beginning = confluent_kafka.OFFSET_BEGINNING
    consumer.assign(
        [
            confluent_kafka.TopicPartition(TOPIC, partition, beginning)
            for partition in range(PARTITIONS)
        ]
    )
    remaining = count
    while remaining:
        messages = consumer.consume(min(remaining, 10_000), _TIMEOUT_S)
        if not messages:
            raise RuntimeError(f"{remaining} records were not read")
        remaining -= len(messages)
    consumer.close()


def main() -> None:
    """Run the workload from the command line on one processor."""
    kind, count = sys.argv[1], int(sys.argv[2])
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    measure = measure_start if kind == "start" else measure_records
    print(json.dumps(measure(count)))


if __name__ == "__main__":
    main()
