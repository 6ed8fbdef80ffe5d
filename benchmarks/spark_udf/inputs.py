# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the two columns that the UDFs decode, as Parquet files.

Timestamps are multiples of 1,000 ms, because kio represents no fractions of a second.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

import kwire
from kwire import messages, records

CORES = 2
SETS, RECORDS = 20_000, 20
"""Number of record sets in the column, and of records in each record set."""
VALUE_BYTES = 100
RESPONSES = 40_000
"""Number of Metadata responses in the column."""
VERSION = 5
"""Metadata response version. It is the newest version that all libraries decode."""
BROKERS = TOPICS = PARTITIONS = 3
_FIRST_TIMESTAMP = 1_700_000_000_000
_DISTINCT = 1_000


@dataclass(frozen=True)
class Column:
    """Parquet file with one binary column ``data``.

    ``size`` is the total size in bytes.
    """

    path: Path
    rows: int
    size: int


def write_record_sets(path: Path, rows: int = SETS) -> Column:
    """Write a Parquet file with one uncompressed record batch in each row."""
    dice = random.Random(7)
    sets = []
    for number in range(rows):
        base_offset = number * RECORDS
        batch = [
            (
                b"customer-%d" % dice.randrange(10_000),
                dice.randbytes(VALUE_BYTES),
                _FIRST_TIMESTAMP + 1_000 * (base_offset + delta),
                [("trace", b"%016x" % dice.getrandbits(64))],
            )
            for delta in range(RECORDS)
        ]
        sets.append(records.encode_batch(batch, base_offset=base_offset))
    return _write(path, sets)


def write_responses(path: Path, rows: int = RESPONSES) -> Column:
    """Write a Parquet file with the body of one Metadata response in each row."""
    distinct = [_encode_response(seed) for seed in range(min(rows, _DISTINCT))]
    return _write(path, [distinct[row % len(distinct)] for row in range(rows)])


def _encode_response(seed: int) -> bytes:
    dice = random.Random(seed)
    response = messages.MetadataResponse
    broker = response.MetadataResponseBroker
    topic = response.MetadataResponseTopic
    partition = response.MetadataResponsePartition
    ids = list(range(1, BROKERS + 1))

    def partition_of(index: int) -> object:
        replicas = dice.sample(ids, len(ids))
        return partition(
            partition_index=index,
            leader_id=replicas[0],
            replica_nodes=replicas,
            isr_nodes=replicas,
        )

    message = response(
        brokers=[
            broker(node_id=node, host=f"broker-{node}.example.org", port=9092)
            for node in ids
        ],
        cluster_id="cluster",
        controller_id=dice.choice(ids),
        topics=[
            topic(
                name=f"topic-{dice.randrange(1_000)}",
                partitions=[partition_of(index) for index in range(PARTITIONS)],
            )
            for _ in range(TOPICS)
        ],
    )
    return kwire.encode(message, version=VERSION)


def _write(path: Path, column: list[bytes]) -> Column:
    table = pa.table({"data": pa.array(column, pa.binary())})
    # Write two row groups for each core. A task then reads two row groups.
    row_group_size = -(-len(column) // (2 * CORES))
    parquet.write_table(table, path, row_group_size=row_group_size)
    return Column(path, len(column), sum(map(len, column)))
