# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""How a producer writes, and what it returns for a batch. How is ``machine.py``'s."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Partitioner: TypeAlias = Callable[[bytes | None, Sequence[int], Sequence[int]], int]

_KIB, _MIB = 1 << 10, 1 << 20


class Receipt(NamedTuple):
    """A record batch that the cluster has acknowledged.

    Its ``record_count`` records have the offsets from ``base_offset`` on, which is -1
    where the broker only reports that it had the batch already. ``timestamp`` (ms) is
    that of the broker where the topic has log append time, otherwise -1.
    """

    topic: str
    partition: int
    base_offset: int
    timestamp: int
    record_count: int


@dataclass(frozen=True, slots=True)
class ProducerOptions:
    """How to write: sizes in bytes, times in seconds.

    ``acks`` is -1 for all replicas in sync, 1 for the leader, 0 for none. ``hash`` is
    the number of the engine's hash of keys; ``partitioner``, if there is one, chooses
    instead.
    With a ``transactional_id``, all records are parts of transactions.
    ``batch_bytes`` bounds one batch, ``request_bytes`` one request unless a single
    batch is larger, and ``memory_bytes`` what was given and is not acknowledged yet;
    appended records that no batch has yet may take about an eighth more.
    """

    compression: str = "none"
    compression_level: int | None = None
    acks: Literal[-1, 0, 1] = -1
    is_idempotent: bool = True
    linger_s: float = 0.005
    batch_bytes: int = 128 * _KIB
    request_bytes: int = _MIB
    memory_bytes: int = 32 * _MIB
    max_in_flight: int = 5
    delivery_timeout_s: float = 120.0
    hash: int = 0
    partitioner: Partitioner | None = None
    transactional_id: str | None = None
    transaction_timeout_s: float = 60.0
