# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a producer, and the receipt of an acknowledged batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Partitioner: TypeAlias = Callable[[bytes | None, Sequence[int], Sequence[int]], int]

_KIB, _MIB = 1 << 10, 1 << 20


class Receipt(NamedTuple):
    """Receipt of a record batch that the cluster has acknowledged.

    * ``base_offset``: offset of the first record. The other records have the following
      offsets. -1 if it is unknown: with ``acks=0``, or if the broker only reports that
      the batch is a duplicate.
    * ``timestamp`` (ms): log append time, or -1 if the topic keeps the timestamps of
      the records.
    * ``record_count``: number of records in the batch.
    """

    topic: str
    partition: int
    base_offset: int
    timestamp: int
    record_count: int


@dataclass(frozen=True, slots=True)
class ProducerOptions:
    """Options of a producer. Sizes are in bytes, durations in seconds.

    * ``compression``: codec of the batches.
    * ``compression_level``: level of the codec. None means its default level.
    * ``acks``: -1 to wait for all in-sync replicas, 1 for the leader, 0 for nothing.
    * ``is_idempotent``: number the batches, so that the broker detects duplicates.
    * ``linger_s``: maximum time for which a single record waits for further records.
    * ``max_batch_bytes``: maximum size of a batch before compression.
    * ``max_request_bytes``: maximum size of a Produce request. A larger batch is sent
      in a request of its own.
    * ``memory_bytes``: maximum size of all batches without an acknowledgement.
      Lingering records that are not in a batch yet may need about an eighth more.
    * ``max_in_flight``: maximum number of Produce requests in flight per broker, and of
      batches in flight per partition. Without idempotence, each partition has at most
      one batch in flight.
    * ``delivery_timeout_s``: a batch that is not acknowledged within this time fails.
    * ``hash``: number of the engine's hash function for keys.
    * ``partitioner``: function that chooses the partition instead of the hash.
    * ``transactional_id``: if set, all records belong to transactions.
    * ``transaction_timeout_s``: the coordinator aborts a transaction after this time.
    """

    compression: str = "none"
    compression_level: int | None = None
    acks: Literal[-1, 0, 1] = -1
    is_idempotent: bool = True
    linger_s: float = 0.005
    max_batch_bytes: int = 128 * _KIB
    max_request_bytes: int = _MIB
    memory_bytes: int = 32 * _MIB
    max_in_flight: int = 5
    delivery_timeout_s: float = 120.0
    hash: int = 0
    partitioner: Partitioner | None = None
    transactional_id: str | None = None
    transaction_timeout_s: float = 60.0
