# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The options of a scan, and ``Fetched``, the unit in which it returns records."""

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
    """Lookup of the offset of the first record with this timestamp (ms) or later.

    As in ListOffsets, -2 means the start of the log, and -1 the end.
    """

    timestamp: int


EARLIEST = Lookup(-2)
LATEST = Lookup(-1)


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """The topics, partitions and offsets to read, and limits.

    * ``topics``: topic names. If ``pattern`` is set, all matching topics instead.
    * ``partitions``: partitions to read by topic. Default: all partitions.
    * ``start`` and ``end``: an offset or lookup for all partitions, or a dict by
      (topic, partition). Partitions that are not in the dict are read from the start to
      the end of their log.
    * ``memory_bytes``: maximum size of the frames that are arriving, or that contain
      records which have not been released.
    * ``fetch_bytes``: maximum size of the records in one response.
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
    """Record batches of one partition, as a broker sent them.

    * ``start_offset`` and ``end_offset``: only the records from ``start_offset`` up to,
      and not including, ``end_offset`` were requested. ``data`` may contain others. No
      limit if ``end_offset`` is None.
    * ``next_offset``: offset at which reading continues.
    * ``aborted_transactions``: None unless committed records are read.
    * ``leader_epoch``: leader epoch of the last batch.
    * ``reader``: the ``PartitionReader`` of the partition.
    * ``frame``: the memory that ``data`` keeps alive.
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
    """Return the offset or lookup for one partition, or ``default``."""
    if isinstance(spec, (int, Lookup)):
        return spec
    return spec.get(place, default)


def partitions_in(spec: Spec | Mapping[tuple[str, int], Spec], topic: str) -> set[int]:
    """Return the partitions of a topic that are keys of ``spec``."""
    if isinstance(spec, (int, Lookup)):
        return set()
    return {partition for name, partition in spec if name == topic}
