# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a scan, and ``Fetched``, the unit in which it returns records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping
    from typing import Literal, TypeAlias

    from .frame_budget import HeldFrame

    Spec: TypeAlias = "int | Lookup"

_MIB = 1 << 20


class Lookup(NamedTuple):
    """Lookup of the first offset whose record has this timestamp (ms) or a later one.

    As in ListOffsets, -2 means the log start offset, and -1 the log end offset.
    """

    timestamp: int


EARLIEST = Lookup(-2)
LATEST = Lookup(-1)


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """Topics, partitions and offsets to read, and limits. Sizes are in bytes.

    * ``topics``, ``pattern``: topic names, or a pattern for topic names.
    * ``partitions``: partitions to read by topic. Default: all partitions.
    * ``start`` and ``end``: an offset or lookup for all partitions, or a dict by
      (topic, partition). Partitions that are not in the dict are read from the log
      start to the log end offset.
    * ``follow``: read without an end. ``end`` is ignored.
    * ``read_committed``: read only up to the last stable offset, and return the aborted
      transactions.
    * ``memory_bytes``: maximum size of all frames that are arriving, or that contain
      records which have not been released.
    * ``fetch_bytes``: maximum size of the records in one response.
    * ``max_wait_ms``: time that a broker may wait for new records before it answers.
    * ``on_data_loss``: "raise" ends the scan if records are lost. "earliest" and
      "latest" continue at the log start or end offset.
    * ``rack``: rack of the client, for which brokers choose a close replica (KIP-392).
    """

    topics: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    partitions: Mapping[str, frozenset[int]] | None = None
    start: Spec | Mapping[tuple[str, int], Spec] = EARLIEST
    end: Spec | Mapping[tuple[str, int], Spec] = LATEST
    follow: bool = False
    read_committed: bool = False
    memory_bytes: int = 64 * _MIB
    fetch_bytes: int = 4 * _MIB
    max_wait_ms: int = 500
    on_data_loss: Literal["raise", "earliest", "latest"] = "raise"
    rack: str = ""


class Fetched(NamedTuple):
    """Chunk: record batches of one partition, in the form in which a broker sent them.

    * ``data``: complete record batches. They may contain records outside the requested
      offsets.
    * ``start_offset``, ``end_offset``: requested offsets. ``end_offset`` is exclusive,
      and None means no limit.
    * ``next_offset``: offset at which reading continues.
    * ``aborted_transactions``: None unless only committed records are read.
    * ``leader_epoch``: leader epoch of the last batch, or -1 if it is unknown.
    * ``reader``: the ``PartitionReader`` of the partition.
    * ``frame``: memory that ``data`` keeps alive.
    """

    topic: str
    partition: int
    data: memoryview | bytes
    start_offset: int
    end_offset: int | None
    next_offset: int
    high_watermark: int
    aborted_transactions: tuple[Any, ...] | None
    leader_epoch: int = -1
    reader: Any = None
    frame: HeldFrame | None = None


def choose_spec(
    spec: Spec | Mapping[tuple[str, int], Spec], place: tuple[str, int], default: Spec
) -> Spec:
    """Return the offset or lookup of one partition, or ``default`` if it has none."""
    if isinstance(spec, (int, Lookup)):
        return spec
    return spec.get(place, default)


def partitions_in(spec: Spec | Mapping[tuple[str, int], Spec], topic: str) -> set[int]:
    """Return the partitions of a topic that ``spec`` contains as keys."""
    if isinstance(spec, (int, Lookup)):
        return set()
    return {partition for name, partition in spec if name == topic}
