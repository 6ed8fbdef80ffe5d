# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Kill the driver of a ``kafka-live`` stream repeatedly while reading from a broker.

This is the counterpart of ``stream_kills.py``, which reads files. A query that writes
Parquet is killed (SIGKILL) at random moments, and between planning, writing and
committing a batch. Meanwhile the topics grow, and records are deleted after the query
has committed them. Finally the sink must contain every record exactly once.

    python -m tools.interop.spark.live_kills --kills 6 --seed 7
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from confluent_kafka import TopicPartition

from tools.interop.broker import broker as brokers
from tools.interop.broker import clients, workloads
from tools.interop.broker.broker import Broker
from tools.interop.spark.stream_kills import (
    MOMENTS,
    TOPICS,
    Query,
    committed_offsets,
    compare_sink,
    kill_at,
    run_query,
)

MODULE = "tools.interop.spark.live_kills"


def main() -> None:
    """Run the query in this process if ``--query`` is specified, otherwise the trial.

    Exits with 1 if the sink is incorrect.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--query", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.query:
        address, checkpoint, sink = chosen.query
        run_query(lambda reader: load(reader, address), checkpoint, sink)
        return
    folder = Path(tempfile.mkdtemp(prefix="kwire-live-kills-"))
    try:
        with brokers.running("4.x") as kafka:
            code = trial(kafka, folder, chosen.kills, random.Random(chosen.seed))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(code)


def load(reader: Any, address: str) -> Any:
    """Load a ``kafka-live`` stream that reads all topics from the earliest offsets."""
    reader = reader.format("kafka-live").option("kafka.bootstrap.servers", address)
    reader = reader.option("subscribe", ",".join(TOPICS))
    return reader.option("startingOffsets", "earliest").load()


def trial(kafka: Broker, folder: Path, kills: int, chance: random.Random) -> int:
    """Kill the query ``kills`` times and let it finish, while a thread writes records.

    Returns the exit code: 1 if the sink differs from the written records.
    """
    checkpoint, sink = folder / "checkpoint", folder / "sink"
    for topic, partitions in TOPICS.items():
        workloads.create_topic(kafka, topic, partitions=partitions)
    writer = TopicWriter(kafka, checkpoint, random.Random(chance.random()))
    writer.start()
    done = dict.fromkeys(MOMENTS, 0)
    for number in range(kills):
        moment = MOMENTS[number % len(MOMENTS)]
        with Query(folder, "go on", kafka.address, MODULE) as query:
            state = kill_at(query, moment, checkpoint, sink, chance)
        done[moment] += 1
        print(f"kill {number + 1:2}, {moment:7}: {state}", flush=True)
    writer.stop()
    with Query(folder, "to the end", kafka.address, MODULE) as query:
        query.wait()
    print(f"{len(writer.written):,} records written, {writer.deletions} deletions")
    there = compare_sink(folder, writer.written, done)
    return 1 if there is None or not writer.deletions else 0


class TopicWriter(threading.Thread):
    """Thread that writes records, and deletes records that the query has committed.

    ``written`` maps (topic, partition, offset) to the value of each record.
    """

    def __init__(self, kafka: Broker, checkpoint: Path, chance: random.Random) -> None:
        super().__init__(name="writer", daemon=True)
        self._kafka = kafka
        self._checkpoint = checkpoint
        self._chance = chance
        self._over = threading.Event()
        self._places = [(t, n) for t, count in TOPICS.items() for n in range(count)]
        self.written: dict[tuple[str, int, int], bytes] = {}
        self.deletions = 0

    def stop(self) -> None:
        """Stop the thread when all sent records have been acknowledged."""
        self._over.set()
        self.join()

    def run(self) -> None:
        """Write and delete records until ``stop`` is called.

        Raises ``BrokerError`` if a record is not acknowledged in the end.
        """
        chance = self._chance
        producer = clients.librdkafka_producer(self._kafka, enable_idempotence=True)
        while not self._over.is_set():
            topic, partition = chance.choice(self._places)
            for _ in range(chance.randrange(1, 30)):
                value = chance.randbytes(chance.randrange(5, 200))
                producer.produce(
                    topic, value, partition=partition, on_delivery=self._note
                )
            producer.poll(0)
            if chance.random() < 0.02:
                self._delete()
            time.sleep(chance.random() * 0.1)
        if producer.flush(clients.SECONDS):
            raise SystemExit("the broker did not take all records")
        self._delete()

    def _note(self, error: Any, message: Any) -> None:
        assert error is None, error
        place = message.topic(), message.partition(), message.offset()
        self.written[place] = message.value()

    def _delete(self) -> None:
        committed = committed_offsets(self._checkpoint)
        if committed:
            ends = [TopicPartition(*place, end) for place, end in committed.items()]
            workloads.administer(self._kafka, "delete_records", ends)
            self.deletions += 1


if __name__ == "__main__":
    main()
