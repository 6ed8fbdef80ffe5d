# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write to a topic with kwire and other producers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import chapters
from benchmarks.harness.broker_runs import (
    cpu_and_wall,
    describe_counts,
    describe_machine,
    find_micros,
    measure_in_turn,
    run_contender,
    write_run,
)
from benchmarks.harness.tables import table
from benchmarks.harness.verdicts import Verdict, target_table
from benchmarks.producer.contender import BATCH_BYTES, LINGER_MS, WRITERS
from kwire import client
from tools.interop.broker import broker as brokers
from tools.interop.broker import workloads

OPTIONS = {"rounds": 5, "scale": 1.0}
"""Default number of rounds, and factor for the number of records."""
TOPIC = "written"
PARTITIONS = 4
KINDS = ((100, "none"), (100, "lz4"), (1000, "none"))
RECORDS = {100: 400_000, 1000: 100_000}
SLOW = {"aiokafka send": 4, "kafka-python send": 20}
"""Slow clients only write 1/n of the records. The value is ``n``."""

HASH = "kwire murmur2_column"
WRITING = tuple(name for name in WRITERS if name != HASH)
PACKAGES = ("confluent-kafka", "aiokafka", "kafka-python", "pyarrow")

# A run writes several gigabytes. Delete old segments early to save disk space.
_BROKER = {
    "log.retention.bytes": "50000000",
    "log.retention.check.interval.ms": "5000",
    "log.segment.bytes": "20000000",
    "log.segment.delete.delay.ms": "1000",
}

HASH_NANOSECONDS = 20


class Lead(NamedTuple):
    """Requirement: ``name`` needs at most 1 / ``least`` of ``other``'s CPU time."""

    name: str
    size: int
    codec: str
    other: str
    least: float


_CONFLUENT, _AIOKAFKA = "confluent-kafka produce", "aiokafka send"
LEADS = (
    Lead("kwire send_many", 100, "none", _CONFLUENT, 3),
    Lead("kwire send_many", 100, "lz4", _CONFLUENT, 3),
    Lead("kwire send_many", 1000, "none", _CONFLUENT, 1.3),
    *(Lead("kwire send_many", *kind, _AIOKAFKA, 10) for kind in KINDS),
    *(Lead("kwire send_table", *kind, "kwire send_many", 1) for kind in KINDS),
    *(Lead("kwire send", *kind, _CONFLUENT, 1.7) for kind in KINDS[:2]),
)


def measure(json_path: Path, rounds: int, scale: float) -> None:
    """Start a broker, run all producers in turn, and save the figures as JSON."""
    counts = {size: int(count * scale) for size, count in RECORDS.items()}
    turns: list[tuple[Any, ...]] = [
        (name, size, codec) for name in WRITING for size, codec in KINDS
    ]
    with brokers.running("4.x", settings=_BROKER) as kafka:
        workloads.create_topic(kafka, TOPIC, partitions=PARTITIONS)

        def write(name: str, size: int, codec: str) -> dict[str, Any]:
            count = counts[size] // SLOW.get(name, 1)
            expected = count if name != HASH else 0
            before = _count_written(kafka.address)
            figures = run_contender(
                "benchmarks.producer.contender",
                name,
                kafka.address,
                TOPIC,
                count,
                size,
                codec,
            )
            written = _count_written(kafka.address) - before
            if (written, figures["records"]) != (expected, count):
                raise SystemExit(f"{name} wrote {written} records of {expected}")
            return figures

        turns.append((HASH, 100, "none"))
        readings = measure_in_turn("producer", turns, rounds, write)
        release = kafka.release
    write_run(
        json_path,
        PACKAGES,
        kafka=release,
        rounds=rounds,
        records=counts,
        readings=readings,
    )


def _count_written(address: str) -> int:
    """Return the number of records that have ever been written to the topic."""
    with client.connect_sync(address) as kafka:
        return sum(kafka.offsets(TOPIC).values())


def _verdicts(readings: dict[str, list[Any]]) -> Iterator[Verdict]:
    for lead in LEADS:
        own, other = (
            find_micros(readings[f"{name}/{lead.size}/{lead.codec}"])
            for name in (lead.name, lead.other)
        )
        yield Verdict(
            f"{lead.name}, {lead.size} B, {lead.codec}",
            f"at least {lead.least:g}x {lead.other}",
            f"{other / own:.3g}x",
            other / own >= lead.least,
        )
    nanoseconds = 1e3 * find_micros(readings[f"{HASH}/100/none"])
    yield Verdict(
        "murmur2 of a column of keys of 10 B",
        f"under {HASH_NANOSECONDS} ns a key",
        f"{nanoseconds:.3g} ns",
        nanoseconds < HASH_NANOSECONDS,
    )


def write_chapter(json_path: Path) -> str:
    """Write the chapter for a finished run into the report.

    Return the verdicts as text.
    """
    run = json.loads(json_path.read_text())
    readings = run["readings"]
    verdicts = list(_verdicts(readings))
    lines = []
    for name in WRITING:
        kind_readings = [readings[f"{name}/{size}/{codec}"] for size, codec in KINDS]
        lines.append([name, *map(cpu_and_wall, kind_readings)])
    head = ("µs CPU / wall", *(f"{size} B, {codec}" for size, codec in KINDS))
    slow = [f"{name} writes one in {share}" for name, share in SLOW.items()]
    return chapters.write_chapter(
        __file__,
        verdicts,
        run=run,
        partitions=PARTITIONS,
        counts=describe_counts(run["records"]),
        batch=BATCH_BYTES >> 10,
        linger=LINGER_MS,
        slow=", ".join(slow),
        machine=describe_machine(run),
        targets=target_table(verdicts),
        readings=table(head, lines),
    )
