# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read topics with kafka-python and aiokafka, with and without the adapters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.adapters.contender import READERS
from benchmarks.adapters.fetches import CLIENTS, FETCHES, TURNS
from benchmarks.harness import chapters
from benchmarks.harness.broker_runs import (
    describe_counts,
    describe_machine,
    find_micros,
    measure_in_turn,
    run_contender,
    write_run,
)
from benchmarks.harness.tables import amount, table
from benchmarks.harness.verdicts import Verdict, at_least
from benchmarks.live.rounds import PARTITIONS, brokers, fill, topic_of

OPTIONS = {"rounds": 5, "scale": 1.0}
"""Default number of rounds, and factor for the number of records in each topic."""
TOPICS = ((100, "none"), (100, "zstd"), (1000, "none"))
RECORDS = {100: 200_000, 1000: 50_000}
"""Records per topic, by value size in bytes.

The counts are high enough that connecting, which costs 50 ms of CPU time in
kafka-python, hardly affects the result.
"""

TARGETS = {
    "kafka-python poll": 3,
    "kafka-python poll, no crc32c": 10,
    "kafka-python for": 2,
    "aiokafka async for": 3,
    "aiokafka getmany": 1.6,
}
"""Minimum ratio between the client's own CPU time and the CPU time with the adapter,
for uncompressed values of 100 bytes.
"""

FETCH_TARGET = 1.0
"""Minimum ratio between the client's own decoding time for a fetch and the time with
the adapter.
"""
LEFT_TO_THE_CLIENT = {"aiokafka/1 record", "aiokafka/3 batches of 1 record"}
LEFT_TARGET = 0.9
"""Minimum ratio for fetches below 1,024 bytes.

The adapter passes them on to the client, so it only adds one function call.
"""

PACKAGES = ("kafka-python", "aiokafka", "crc32c")


def measure(json_path: Path, rounds: int, scale: float) -> None:
    """Fill the topics, run all readers and fetches, and store the figures as JSON.

    * ``rounds``: number of runs of each reader.
    * ``scale``: factor for the number of records.
    """
    counts = {
        size: int(count * scale) // PARTITIONS * PARTITIONS
        for size, count in RECORDS.items()
    }
    turns = [
        (reader, size, codec, adapted)
        for reader in READERS
        for size, codec in TOPICS
        for adapted in (0, 1)
    ]
    with brokers.running("4.x") as kafka:
        for size, codec in TOPICS:
            fill(kafka, size, codec, counts[size])

        def read(reader: str, size: int, codec: str, adapted: int) -> dict[str, Any]:
            return _read(adapted, reader, kafka.address, size, codec, counts)

        readings = measure_in_turn("adapters", turns, rounds, read)
        release = kafka.release
    fetches = measure_fetches()
    write_run(
        json_path,
        PACKAGES,
        kafka=release,
        rounds=rounds,
        records=counts,
        readings=readings,
        fetches=fetches,
    )


def measure_fetches() -> dict[str, list[float]]:
    """Measure the decoding of fetches by client and name.

    Each value is a pair of seconds per fetch: without and with the adapter.
    """
    return {
        f"{client}/{name}": run_contender("benchmarks.adapters.fetches", client, name)[
            "seconds"
        ]
        for client in CLIENTS
        for name in FETCHES
    }


def _read(
    adapted: int, reader: str, address: str, size: int, codec: str, counts: Any
) -> dict[str, Any]:
    figures = run_contender(
        "benchmarks.adapters.contender",
        adapted,
        reader,
        address,
        topic_of(size, codec),
        PARTITIONS,
        counts[size],
    )
    if (figures["records"], figures["bytes"]) != (counts[size], counts[size] * size):
        raise SystemExit(f"{reader}, {adapted=}, read other records: {figures}")
    return figures


def _verdicts(
    readings: dict[str, list[Any]], fetches: dict[str, list[float]]
) -> Iterator[Verdict]:
    for reader, least in TARGETS.items():
        own, adapted = (find_micros(readings[f"{reader}/100/none/{n}"]) for n in (0, 1))
        yield at_least(f"{reader}, 100 B, none", own / adapted, least)
    for name, (own, adapted) in fetches.items():
        least = LEFT_TARGET if name in LEFT_TO_THE_CLIENT else FETCH_TARGET
        yield at_least(f"fetch, {name}", own / adapted, least)


def write_chapter(json_path: Path) -> str:
    """Write the chapter for a finished run into the report.

    Returns the verdicts as text.
    """
    run = json.loads(json_path.read_text())
    readings, fetches = run["readings"], run["fetches"]
    head = [f"{size} B, {codec}" for size, codec in TOPICS]
    return chapters.write_chapter(
        __file__,
        list(_verdicts(readings, fetches)),
        run=run,
        partitions=PARTITIONS,
        counts=describe_counts(run["records"]),
        machine=describe_machine(run),
        readings=table(("µs CPU without / with", *head), _reader_lines(readings)),
        turns=TURNS,
        fetches=table(("µs CPU without / with", *CLIENTS), _fetch_lines(fetches)),
    )


def _reader_lines(readings: dict[str, list[Any]]) -> Iterator[list[str]]:
    for reader in READERS:
        cells = []
        for size, codec in TOPICS:
            own, adapted = (
                find_micros(readings[f"{reader}/{size}/{codec}/{n}"]) for n in (0, 1)
            )
            cells.append(f"{own:.3g} / {adapted:.3g} ({own / adapted:.2g}x)")
        yield [reader, *cells]


def _fetch_lines(fetches: dict[str, list[float]]) -> Iterator[list[str]]:
    for name in FETCHES:
        cells = []
        for client in CLIENTS:
            own, adapted = fetches[f"{client}/{name}"]
            shown = f"{amount(own)} / {amount(adapted)}"
            cells.append(f"{shown} ({own / adapted:.2g}x)")
        yield [name, *cells]
