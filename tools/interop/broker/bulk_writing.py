# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Write many records with librdkafka, for benchmarks that read large topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tools.interop.broker.broker import BrokerError

SECONDS = 600


class BulkRecord(NamedTuple):
    """Record to write, and the partition to which it is written."""

    value: bytes
    partition: int
    key: bytes | None = None
    headers: list[tuple[str, bytes]] | None = None


def write_records(producer: Any, topic: str, records: Iterable[BulkRecord]) -> None:
    """Write records and wait until the broker has acknowledged all of them.

    Raises ``BrokerError`` if that takes more than ``SECONDS``.
    """
    for value, partition, key, headers in records:
        while True:
            try:
                producer.produce(
                    topic, value, key, partition=partition, headers=headers
                )
                break
            except BufferError:
                producer.poll(0.1)
    if producer.flush(SECONDS):
        raise BrokerError(f"topic {topic}: the broker did not take all records")
