# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the measurement: three brokers under load, moving leaders, and two scans.

A move changes a partition's replica order (AlterPartitionReassignments), and elects the
first replica as its leader (ElectLeaders). Both scans run simultaneously and see the
same moves. The next move starts when both scans receive records again.
"""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import confluent_kafka

from benchmarks.harness import ROOT
from benchmarks.harness.broker_runs import write_run
from kwire import error_codes
from kwire.client import connect
from kwire.messages import AlterPartitionReassignmentsRequest, ElectLeadersRequest
from tools.interop.broker import broker as brokers
from tools.interop.broker import cluster as clusters
from tools.interop.broker.bulk_writing import BulkRecord, write_records

TOPIC = "moves"
PARTITIONS = 6
RECORDS = 16_000
VALUE_BYTES = 1_000
BATCH_BYTES = 16_000
WRITES_PER_SECOND = 300
WARM_MOVES = 4
PAUSE_S = 0.5
SECONDS = 60
KINDS = ("hints", "none")


class Reader:
    """Process that runs a scan, and the gaps in its service that it has reported."""

    def __init__(self, addresses: str, kind: str) -> None:
        """Start the process. ``kind`` is "hints", or "none" to ignore leader hints."""
        self.gaps: list[dict[str, Any]] = []
        self._kind = kind
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "benchmarks.leaders.reader",
                addresses,
                TOPIC,
                str(RECORDS),
                kind,
            ],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()

    def gap_since(self, partition: int, begun: float) -> dict[str, Any]:
        """Wait until a partition is served again after a move, and return its gap.

        ``begun`` is the monotonic time when the move began. While the metadata
        propagates, more than one Fetch can be rejected, so the longest gap is used.
        Raises SystemExit if the scan exits, or after ``SECONDS`` without service.
        """
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            later_gaps = [
                each
                for each in self.gaps
                if each["partition"] == partition and each["at"] > begun
            ]
            if later_gaps:
                return max(later_gaps, key=lambda each: float(each["gap"]))
            if self._process.poll() is not None:
                break
            time.sleep(0.01)
        raise SystemExit(f"the scan with {self._kind} was not served after a move")

    def close(self) -> None:
        """Stop the process. Kill it if it does not exit within ``SECONDS``."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.gaps.append(json.loads(line))


def _producer(addresses: str) -> Any:
    return confluent_kafka.Producer(
        {
            "bootstrap.servers": addresses,
            "enable.idempotence": True,
            "linger.ms": 5,
            "batch.size": BATCH_BYTES,
            "log_level": 0,
        }
    )


def _fill(addresses: str) -> None:
    """Write the ``RECORDS`` records per partition that the scans read repeatedly."""
    value = random.Random(951).randbytes(VALUE_BYTES)
    numbers = range(RECORDS * PARTITIONS)
    records = (BulkRecord(value, number % PARTITIONS) for number in numbers)
    write_records(_producer(addresses), TOPIC, records)


def _write(addresses: str, is_over: threading.Event) -> None:
    """Write ``WRITES_PER_SECOND`` records per second until ``is_over`` is set."""
    producer, number, begun = _producer(addresses), 0, time.monotonic()
    while not is_over.is_set():
        while number < (time.monotonic() - begun) * WRITES_PER_SECOND:
            producer.produce(TOPIC, b"%d" % number, partition=number % PARTITIONS)
            number += 1
        producer.poll(0.005)
    producer.flush(SECONDS)


async def _move(kafka: clusters.Cluster, partition: int, replicas: list[int]) -> None:
    """Make the first broker in ``replicas`` the leader for a partition.

    Raises SystemExit if a response contains an error.
    """
    reassign, elect = AlterPartitionReassignmentsRequest, ElectLeadersRequest
    entry = reassign.ReassignablePartition(partition_index=partition, replicas=replicas)
    topic = reassign.ReassignableTopic(name=TOPIC, partitions=[entry])
    chosen = elect.TopicPartitions(topic=TOPIC, partitions=[partition])
    first = next(iter(kafka.nodes.values()))
    async with connect(f"{brokers.LOOPBACK}:{first.port}") as client:
        moved = await client.request(reassign(topics=[topic]))
        elected = await client.request(elect(topic_partitions=[chosen]))
    codes = [
        moved.error_code,
        moved.responses[0].partitions[0].error_code,
        elected.error_code,
        *(
            each.error_code
            for result in elected.replica_election_results
            for each in result.partition_result
        ),
    ]
    for code in codes:
        if code:
            raise SystemExit(f"a leader did not move: {error_codes.name(code)}")


def _move_leaders(
    kafka: clusters.Cluster, readers: dict[str, Reader], moves: int
) -> list[dict[str, Any]]:
    source = random.Random(951)
    replicas = {
        each: [leader, *(node for node in kafka.nodes if node != leader)]
        for each, leader in kafka.leaders(TOPIC).items()
    }
    rows = []
    for number in range(-WARM_MOVES, moves):
        time.sleep(PAUSE_S + source.random() * PAUSE_S)
        partition = source.randrange(PARTITIONS)
        order = replicas[partition] = [*replicas[partition][1:], replicas[partition][0]]
        begun = time.monotonic()
        asyncio.run(_move(kafka, partition, order))
        row: dict[str, Any] = {"partition": partition, "leader": order[0]}
        for kind, reader in readers.items():
            gap = reader.gap_since(partition, begun)
            row[kind] = {"seconds": gap["gap"], "refusals": gap["refusals"]}
        if number >= 0:
            rows.append(row)
            shown = ", ".join(f"{1e3 * row[each]['seconds']:.0f} ms" for each in KINDS)
            print(f"  move {number + 1} of {moves}: {shown}", flush=True)
    return rows


def measure(json_path: Path, moves: int) -> None:
    """Start brokers and load, move the leaders, and write the figures as JSON."""
    with clusters.running("4.x") as kafka:
        kafka.create_topic(TOPIC, PARTITIONS)
        _fill(kafka.address)
        is_over = threading.Event()
        writer = threading.Thread(target=_write, args=(kafka.address, is_over))
        writer.start()
        readers = {kind: Reader(kafka.address, kind) for kind in KINDS}
        try:
            for reader in readers.values():
                for partition in range(PARTITIONS):
                    reader.gap_since(partition, 0)
            measured_moves = _move_leaders(kafka, readers, moves)
        finally:
            for each in readers.values():
                each.close()
            is_over.set()
            writer.join()
        release = kafka.release
    write_run(json_path, ("confluent-kafka",), kafka=release, moves=measured_moves)
