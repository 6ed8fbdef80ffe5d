# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Print topics with ``kwire read`` and with kcat into a pipe.

kcat must be installed, for example from the Debian package ``kcat``. All values are
text, because JSON output cannot contain arbitrary bytes.
"""

from __future__ import annotations

import compileall
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import confluent_kafka

from benchmarks.harness import ROOT, chapters
from benchmarks.harness.broker_runs import (
    cpu_and_wall,
    describe_counts,
    describe_machine,
    find_micros,
    measure_in_turn,
    write_run,
)
from benchmarks.harness.tables import table
from benchmarks.harness.verdicts import Verdict, target_table
from tools.interop.broker import broker as brokers
from tools.interop.broker import workloads
from tools.interop.broker.bulk_writing import BulkRecord, write_records

OPTIONS = {"rounds": 5, "scale": 1.0}
"""Default number of rounds, and factor for the number of records in each topic."""
PARTITIONS = 4
RECORDS = {100: 1_000_000, 1000: 200_000}
BATCH_BYTES = {100: 16 << 10, 1000: 64 << 10}
PACKAGES = ("click", "confluent-kafka")
PATTERN = r"%p,%o,%k,%s\n"

KWIRE = [sys.executable, "-m", "kwire", "read"]
COMMANDS = {
    "kcat -f": (["kcat", "-b"], ["-C", "-o", "beginning", "-e", "-q", "-f", PATTERN]),
    "kwire read -f": (KWIRE, ["-f", PATTERN]),
    "kcat -J": (["kcat", "-b"], ["-C", "-o", "beginning", "-e", "-q", "-J"]),
    "kwire read -o jsonl": (KWIRE, ["-o", "jsonl"]),
}
TARGETS = (("kwire read -f", "kcat -f", 2.0), ("kwire read -o jsonl", "kcat -J", 1.0))
"""Command, reference command, and maximum CPU time ratio between them."""


def _fill(kafka: brokers.Broker, size: int, count: int) -> None:
    """Write ``count`` records with JSON values of ``size`` bytes to a new topic."""
    workloads.create_topic(kafka, f"text-{size}", partitions=PARTITIONS)
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": kafka.address,
            "linger.ms": 50,
            "batch.size": BATCH_BYTES[size],
        }
    )
    source = random.Random(size)
    values = []
    for number in range(1000):
        fields = {"id": number, "price": source.random(), "name": "item", "text": ""}
        fields["text"] = "x" * (size - len(json.dumps(fields)))
        values.append(json.dumps(fields).encode())
    records = (
        BulkRecord(values[n % len(values)], n % PARTITIONS, b"key%07d" % n)
        for n in range(count)
    )
    write_records(producer, f"text-{size}", records)


def _run_command(name: str, address: str, topic: str) -> dict[str, Any]:
    """Run a command with its output connected to a pipe.

    Returns the CPU time and the elapsed time in seconds, and the number of printed
    lines and bytes.
    """
    program, options = COMMANDS[name]
    topics = ["-t", topic] if program[0] == "kcat" else [topic]
    # Start the clock before the process, because users also wait for its startup and
    # exit.
    began = time.monotonic()
    process = subprocess.Popen(
        [*program, address, *topics, *options], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    lines = size = 0
    while data := os.read(process.stdout.fileno(), 1 << 20):
        lines += data.count(b"\n")
        size += len(data)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode:
        raise SystemExit(f"{name} {topic} ended with {process.returncode}")
    cpu = usage.ru_utime + usage.ru_stime
    return {"cpu": cpu, "wall": wall, "records": lines, "bytes": size}


def measure(json_path: Path, rounds: int, scale: float) -> None:
    """Fill the topics, run all commands, and store the figures as JSON.

    * ``rounds``: number of runs of each command.
    * ``scale``: factor for the number of records.
    """
    if shutil.which("kcat") is None:
        raise SystemExit("kcat is not installed; install the package kcat")
    # Compile kwire to bytecode first. An installed package contains bytecode, but a
    # source checkout may not.
    compileall.compile_dir(ROOT / "src" / "kwire", quiet=1)
    counts = {size: int(count * scale) for size, count in RECORDS.items()}
    version = subprocess.run(["kcat", "-V"], capture_output=True, text=True).stdout
    with brokers.running("4.x") as kafka:
        workloads.create_topic(kafka, "empty", partitions=PARTITIONS)
        for size, count in counts.items():
            _fill(kafka, size, count)

        def read(name: str, size: int) -> dict[str, Any]:
            topic = f"text-{size}" if size else "empty"
            figures = _run_command(name, kafka.address, topic)
            if figures["records"] != counts.get(size, 0):
                raise SystemExit(f"{name} {topic} printed {figures['records']} lines")
            return figures

        turns = [(name, size) for name in COMMANDS for size in (0, *RECORDS)]
        readings = measure_in_turn("commands", turns, rounds, read)
        release = kafka.release
    for size in RECORDS:
        sizes = {readings[f"{name}/{size}"][0]["bytes"] for name in list(COMMANDS)[:2]}
        if len(sizes) != 1:
            raise SystemExit(f"the commands printed other bytes: {sizes}")
    write_run(
        json_path,
        PACKAGES,
        kafka=release,
        rounds=rounds,
        records=counts,
        readings=readings,
        kcat=re.sub(
            r".*Version (\S+) .*(librdkafka \S+) .*",
            r"kcat \1 with \2",
            version,
            flags=re.S,
        ),
        load=os.getloadavg()[0],
    )


def _find_start(readings: dict[str, list[Any]], name: str) -> float:
    """Return the median CPU time of a command for an empty topic, in seconds."""
    return statistics.median(each["cpu"] for each in readings[f"{name}/0"])


def _find_rest(readings: dict[str, list[Any]], name: str, size: int) -> float:
    """Return the median CPU time of a command without its startup time, in seconds."""
    cpu = statistics.median(each["cpu"] for each in readings[f"{name}/{size}"])
    return cpu - _find_start(readings, name)


def _verdicts(readings: dict[str, list[Any]]) -> Iterator[Verdict]:
    for name, other, most in TARGETS:
        for size in RECORDS:
            own = find_micros(readings[f"{name}/{size}"])
            ratio = own / find_micros(readings[f"{other}/{size}"])
            yield Verdict(
                f"{name}, {size} B",
                f"at most {most:g}x {other}",
                f"{ratio:.3g}x",
                ratio <= most,
            )


def write_chapter(json_path: Path) -> str:
    """Write the chapter for a finished run into the report.

    Returns the verdicts as text.
    """
    run = json.loads(json_path.read_text())
    readings = run["readings"]
    lines = [
        [
            name,
            *(cpu_and_wall(readings[f"{name}/{size}"]) for size in RECORDS),
            f"{1e3 * _find_start(readings, name):.0f} ms",
        ]
        for name in COMMANDS
    ]
    verdicts = list(_verdicts(readings))
    pairs = [(own, other, size) for own, other, _ in TARGETS for size in RECORDS]
    rests = [
        f"{_find_rest(readings, own, size) / _find_rest(readings, other, size):.3g}x"
        for own, other, size in pairs
    ]
    head = ("µs CPU / wall", *(f"{size} B" for size in RECORDS), "start")
    return chapters.write_chapter(
        __file__,
        verdicts,
        run=run,
        partitions=PARTITIONS,
        counts=describe_counts(run["records"]),
        machine=describe_machine(run),
        targets=target_table(verdicts, {"without start": rests}),
        readings=table(head, lines),
    )
