# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decode one fetched partition with and without an adapter. No broker or socket is
used.

Usage: ``python -m benchmarks.adapters.fetches CLIENT FETCH``. Both variants are
measured alternately, and the minimum processor times are printed in seconds. The
fetches are cases in which an adapter might be slower than its client: few records, or
only one record per batch.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from kwire.client import adapters
from kwire.records import encode_batch

TURNS = 25
BYTES = 1 << 19
"""Bytes to decode per turn. Short fetches are decoded at most 2,000 times instead."""

_FIELDS = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0}
_ROW = (b"k" * 10, b"v" * 100)
_MARKER = (b"\0\0\0\1", bytes(6))


def write_batches(count: int, **options: Any) -> bytes:
    """Encode ``count`` record batches that contain one record each."""
    return b"".join(
        encode_batch([_ROW], base_offset=offset, **options) for offset in range(count)
    )


def write_transactions(count: int) -> bytes:
    """Encode ``count`` transactions, each with one record and its commit marker."""
    data: dict[str, Any] = {**_FIELDS, "is_transactional": True}
    return b"".join(
        encode_batch([_ROW], base_offset=2 * n, **data)
        + encode_batch([_MARKER], base_offset=2 * n + 1, is_control=True, **data)
        for n in range(count)
    )


FETCHES: dict[str, Callable[[], bytes]] = {
    "1 record": lambda: write_batches(1),
    "3 batches of 1 record": lambda: write_batches(3),
    "20 batches of 1 record": lambda: write_batches(20),
    "1,000 batches of 1 record": lambda: write_batches(1000),
    "1 batch of 1,000 records": lambda: encode_batch([_ROW] * 1000),
    "20 transactions of 1 record": lambda: write_transactions(20),
}
"""Fetched data by name.

Fetches with "transaction" in their name are decoded with the isolation level
read_committed.
"""


def _drain_kafka_python(data: bytes, is_committed: bool) -> int:
    from kafka import TopicPartition
    from kafka.consumer import fetcher

    part = fetcher.Fetcher.PartitionRecords(
        0,
        TopicPartition("topic", 0),
        fetcher.MemoryRecords(data),
        key_deserializer=None,
        value_deserializer=None,
        check_crcs=True,
        isolation_level=int(is_committed),
        aborted_transactions=(),
    )
    return len(part.take())


def _drain_aiokafka(data: bytes, is_committed: bool) -> int:
    from aiokafka.consumer import fetcher

    place = fetcher.TopicPartition("topic", 0)
    fetched = fetcher.MemoryRecords(data)
    part = fetcher.PartitionRecords(
        place, fetched, [], 0, None, None, True, int(is_committed)
    )
    return len(list(part))


CLIENTS = {
    "kafka-python": (adapters.kafka_python, _drain_kafka_python),
    "aiokafka": (adapters.aiokafka, _drain_aiokafka),
}


def main() -> None:
    """Measure the decoding of the fetch that the command line names.

    Prints the minimum seconds without and with the adapter as JSON.
    """
    client, name = sys.argv[1:]
    adapter, drain = CLIENTS[client]
    warnings.simplefilter("ignore", DeprecationWarning)
    data, is_committed = FETCHES[name](), "transaction" in name
    count = drain(data, is_committed)
    rounds = max(1, min(BYTES // len(data), 2000))

    def take_seconds() -> float:
        start = time.process_time()
        for _ in range(rounds):
            if drain(data, is_committed) != count:
                raise SystemExit("other records were read")
        return (time.process_time() - start) / rounds

    least = [float("inf")] * 2
    for _ in range(TURNS):
        least[0] = min(least[0], take_seconds())
        if not adapter.install():
            raise SystemExit(f"there is no adapter for this version of {client}")
        least[1] = min(least[1], take_seconds())
        adapter.uninstall()
    print(json.dumps({"seconds": least}))


if __name__ == "__main__":
    main()
