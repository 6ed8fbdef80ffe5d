# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write ``tests/data``: data directories of real brokers, written by real clients.

    python -m tools.interop.broker.write_data 4.3.1 3.9.2 2.8.2

This module runs the steps, copies the files, and records the results of a real
consumer. ``workloads.py`` and ``old_formats.py`` write the records, and ``dump.py``
creates the manifest. tests/data/README.md describes the directories. No check
regenerates tests/data, because brokers and clients choose times and ids, so that every
run is different.
"""

from __future__ import annotations

import argparse
import base64
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tools.interop.broker import broker, clients, dump, old_formats, workloads
from tools.interop.broker.broker import Broker, BrokerError

DATA = broker.HERE.parents[2] / "tests" / "data"

# The log cleaner and the retention check run every 200 and 500 ms, because this program
# waits for them.
SETTINGS = {
    "log.cleaner.backoff.ms": "200",
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "500",
    "log.segment.delete.delay.ms": "100",
}
KRAFT_SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "metadata.log.max.record.bytes.between.snapshots": "4000",
    "metadata.max.idle.interval.ms": "10000",
    "super.users": "User:ANONYMOUS",
}
NEWEST_SETTINGS = {
    "remote.log.manager.task.interval.ms": "500",
    "remote.log.metadata.manager.listener.name": "PLAINTEXT",
    "remote.log.storage.manager.class.name": (
        "org.apache.kafka.server.log.remote.storage.LocalTieredStorage"
    ),
    "remote.log.storage.system.enable": "true",
    "rlmm.config.remote.log.metadata.topic.num.partitions": "1",
    "rlmm.config.remote.log.metadata.topic.replication.factor": "1",
    "rsm.config.dir": "remote",
    "share.coordinator.snapshot.update.records.per.snapshot": "3",
}

Step = Callable[[Broker], Any]

# Steps for the first and for the second run of the broker. A restart increments the
# leader epoch of all partitions.
FIRST_LIFE: list[Step] = [
    workloads.create_internal_topics,
    workloads.write_codecs,
    workloads.write_odd_rows,
    workloads.write_append_time,
    workloads.write_segments,
    workloads.write_transactions,
    workloads.write_compacted,
]
SECOND_LIFE: list[Step] = [
    workloads.write_partitions,
    workloads.write_more_transactions,
    workloads.write_emptied,
    workloads.write_classic_groups,
    workloads.write_metadata,
    workloads.leave_transaction_open,
]
ONLY_NEWEST: list[Step] = [
    workloads.write_tiered,
    workloads.write_consumer_groups,
    workloads.write_share_group,
]
LIVES: dict[str, tuple[list[Step], list[Step]]] = {
    "4": (FIRST_LIFE, SECOND_LIFE + ONLY_NEWEST),
    "3": (FIRST_LIFE, SECOND_LIFE),
    "2": (
        [old_formats.write_formats, old_formats.write_compacted_formats],
        [old_formats.write_after_upgrade, workloads.write_classic_groups],
    ),
}


def write(version: str) -> None:
    """Write the data directory of a release, its manifest and consumer results."""
    release = broker.find_release(version)
    line = release[0]
    settings = dict(SETTINGS)
    settings |= KRAFT_SETTINGS if line > "2" else {}
    settings |= NEWEST_SETTINGS if line > "3" else {}
    with tempfile.TemporaryDirectory(prefix="kwire-data-") as folder:
        running = Broker(release, Path(folder), settings)
        # Keep the results of the steps (producers and group members) alive until the
        # broker stops.
        held = []
        try:
            for steps in LIVES[line]:
                running.start()
                for step in steps:
                    held.append(step(running))
                    print(f"{release}: {step.__name__}", file=sys.stderr)
                seen = consumed(running)
                running.stop()
        finally:
            running.stop()
        copy(running, seen)


def copy(stopped: Broker, seen: dict[str, Any]) -> None:
    """Copy the files of a stopped broker to tests/data, with their manifest.

    ``seen`` contains the results of the consumer, which are stored as well.
    """
    target = DATA / stopped.release
    shutil.rmtree(target, ignore_errors=True)
    ignored = shutil.ignore_patterns(".lock", "*-delete")
    shutil.copytree(stopped.data, target / "data", ignore=ignored)
    tiered = stopped.folder / "remote" / "kafka-tiered-storage"
    if tiered.exists():
        shutil.copytree(tiered, target / "remote")
    manifest = dump.manifest_of(stopped.release, target / "data")
    dump.write_packed(target / "manifest.json.xz", manifest)
    dump.write_packed(target / "consumed.json.xz", seen)
    sizes = [path.stat().st_size for path in target.rglob("*") if path.is_file()]
    files = manifest["files"].values()
    batches = [batch for file in files for batch in file.get("batches", [])]
    records = sum(len(batch["records"]) for batch in batches)
    print(
        f"{stopped.release}: {len(sizes)} files, {sum(sizes) / 1000:.0f} kB, "
        f"{len(batches)} batches, {records} records"
    )


def consumed(running: Broker) -> dict[str, Any]:
    """Read all partitions of applications with librdkafka.

    Returns the rows of each partition, and the offsets of the committed records.
    """
    partitions = sorted(
        path.name for path in running.data.iterdir() if is_partition(path)
    )
    seen: dict[str, Any] = {}
    for name in partitions:
        topic, _, number = name.rpartition("-")
        of_partition = running, topic, int(number)
        messages = clients.librdkafka_messages(*of_partition)
        committed = clients.librdkafka_messages(*of_partition, committed=True)
        seen[name] = {
            "read_uncommitted": [row_of(message) for message in messages],
            "read_committed": [message.offset() for message in committed],
        }
    return seen


def is_partition(path: Path) -> bool:
    """Return whether a directory contains a partition of a public topic."""
    return re.fullmatch(r"(?!__).+-\d+", path.name) is not None


def row_of(message: Any) -> list[Any]:
    """Return offset, timestamp type, timestamp, key, value and headers as a list."""
    kind, timestamp = message.timestamp()
    headers = [[name, packed(value)] for name, value in message.headers() or []]
    key, value = packed(message.key()), packed(message.value())
    return [message.offset(), kind, timestamp, key, value, headers]


def packed(data: bytes | None) -> str | None:
    """Encode bytes as base64 text. None remains None."""
    return None if data is None else base64.b64encode(data).decode()


def main() -> None:
    """Write the data directories of the releases that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("releases", nargs="+", help="such as 4.3.1, or 4.x")
    try:
        for release in parser.parse_args().releases:
            write(release)
    except BrokerError as error:
        sys.exit(f"write_data: {error}")


if __name__ == "__main__":
    main()
