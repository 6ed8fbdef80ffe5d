# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One run: a broker, topics of all kinds, and every client in turn, as JSON.

Each reading is a process of its own (``contender.py``); the order of a round is drawn
anew each time. All clients have to read the same records.
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
"""Clients that stop after a part of the topic: one in so many records."""

MEMORY_MIB = (8, 64)
PACKAGES = ("confluent-kafka", "aiokafka", "kafka-python", "pyarrow")


def topic_of(size: int, codec: str) -> str:
    """Name a topic."""
    return f"live-{size}-{codec}"


def count_of(size: int, scale: float) -> int:
    """Return how many records a topic has."""
    return int(RECORDS[size] * scale) // PARTITIONS * PARTITIONS


def fill(kafka: brokers.Broker, size: int, codec: str, count: int) -> None:
    """Write the topic of a size and a codec."""
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
    # Half of a value is random, so that it can be compressed to about half.
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
    """Return the figures of each round, by task, size, codec and client."""
    turns = [
        (task, size, codec, client)
        for task, clients in TASKS.items()
        for size in SIZES
        for codec in CODECS
        for client in clients
    ]

    def read(task: str, size: int, codec: str, client: str) -> dict[str, Any]:
        wanted = count_of(size, scale)
        limit = wanted // SLOW.get(client, 1)
        place = topic_of(size, codec)
        figures = _read(client, task, address, place, PARTITIONS, limit)
        if client not in SLOW and (
            (figures["records"], figures["bytes"]) != (wanted, wanted * size)
        ):
            raise SystemExit(f"{client} read other records: {figures}")
        return figures

    return measure_in_turn("live", turns, rounds, read)


def _memory(address: str, scale: float) -> dict[str, int]:
    """Return by how much the memory of a scan grows, by its budget in MiB."""
    topic, records = topic_of(1000, "none"), count_of(1000, scale)
    return {
        str(mib): _read(
            "kwire", "arrow", address, topic, PARTITIONS, records, mib << 20
        )["memory"]
        for mib in MEMORY_MIB
    }


def measure(json_path: Path, rounds: int, scale: float) -> None:
    """Measure everything and write it down."""
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
        found = _read_topics(kafka.address, rounds, scale)
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
        readings=found,
    )
