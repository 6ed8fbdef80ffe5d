# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the clients in turn against one broker, with topics of all sizes and codecs.

Every reading runs in a separate process (``contender.py``). The order of the clients is
shuffled before every round. All clients must read the same records.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import confluent_kafka

from benchmarks.harness.broker_runs import measure_in_turn, run_contender, write_run
from benchmarks.live import machine
from benchmarks.live.contender import TASKS
from tools.interop.broker import broker as brokers
from tools.interop.broker import workloads
from tools.interop.broker.bulk_writing import BulkRecord, write_records

PARTITIONS = 4
SIZES = (100, 1000)
CODECS = ("none", "zstd")
BATCH_BYTES = {100: 16 << 10, 1000: 64 << 10}
RECORDS = {100: 400_000, 1000: 150_000}
SLOW = {"kafka-python": 20}
"""Slow clients stop after 1/n of the records. The value is ``n``."""

MEMORY_MIB = (8, 64)
PACKAGES = ("confluent-kafka", "aiokafka", "kafka-python", "pyarrow")


def topic_of(size: int, codec: str) -> str:
    """Return the name of the topic for a value size and a codec."""
    return f"live-{size}-{codec}"


def count_of(size: int, scale: float) -> int:
    """Return the number of records in a topic. It is a multiple of the partitions."""
    return int(RECORDS[size] * scale) // PARTITIONS * PARTITIONS


def fill(kafka: brokers.Broker, size: int, codec: str, count: int) -> None:
    """Create the topic for a value size and a codec, and write ``count`` records."""
    topic = topic_of(size, codec)
    workloads.create_topic(kafka, topic, partitions=PARTITIONS)
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": kafka.address,
            "compression.type": codec,
            "linger.ms": 50,
            "batch.size": BATCH_BYTES[size],
        }
    )
    # Only the first half of a value is random, so that it compresses to about 50 %.
    source = random.Random(size)
    half = size // 2
    values = [source.randbytes(half) + b"a" * (size - half) for _ in range(1000)]
    records = (
        BulkRecord(values[n % len(values)], n % PARTITIONS, b"key%07d" % n)
        for n in range(count)
    )
    write_records(producer, topic, records)


def _read(client: str, task: str, *arguments: Any) -> dict[str, Any]:
    return run_contender("benchmarks.live.contender", client, task, *arguments)


def _read_topics(address: str, rounds: int, scale: float) -> dict[str, list[Any]]:
    """Run all clients in turn. Returns the figures by task, size, codec and client.

    Raises ``SystemExit`` if a client has read other records.
    """
    turns = [
        (task, size, codec, client)
        for task, clients in TASKS.items()
        for size in SIZES
        for codec in CODECS
        for client in clients
    ]

    def read(task: str, size: int, codec: str, client: str) -> dict[str, Any]:
        record_count = count_of(size, scale)
        limit = record_count // SLOW.get(client, 1)
        topic = topic_of(size, codec)
        figures = _read(client, task, address, topic, PARTITIONS, limit)
        if client not in SLOW and (
            (figures["records"], figures["bytes"])
            != (record_count, record_count * size)
        ):
            raise SystemExit(f"{client} read other records: {figures}")
        return figures

    return measure_in_turn("live", turns, rounds, read)


def _memory(address: str, scale: float) -> dict[str, int]:
    """Return the memory growth of a scan in bytes, by its memory limit in MiB."""
    topic, records = topic_of(1000, "none"), count_of(1000, scale)
    return {
        str(mib): _read(
            "kwire", "arrow", address, topic, PARTITIONS, records, mib << 20
        )["memory"]
        for mib in MEMORY_MIB
    }


def measure(json_path: Path, rounds: int, scale: float) -> None:
    """Measure a scan without broker, the memory of a scan, and all clients.

    The figures are written as JSON.
    """
    print("reception and logic, without a broker", flush=True)
    reception = machine.reception()
    overhead = {
        f"{size}/{codec}": machine.overhead(size, codec)
        for size in SIZES
        for codec in CODECS
    }
    with brokers.running("4.x") as kafka:
        print("writing the topics", flush=True)
        for size in SIZES:
            for codec in CODECS:
                fill(kafka, size, codec, count_of(size, scale))
        memory = _memory(kafka.address, scale)
        readings = _read_topics(kafka.address, rounds, scale)
        release = kafka.release
    write_run(
        json_path,
        PACKAGES,
        kafka=release,
        rounds=rounds,
        records={str(size): count_of(size, scale) for size in SIZES},
        reception=reception,
        overhead=overhead,
        memory=memory,
        readings=readings,
    )
