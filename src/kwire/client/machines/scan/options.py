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
    """An offset to find: of the first record at ``timestamp`` (ms) or later.

    -2 is the start of the log and -1 its end, as in ListOffsets.
    """

    timestamp: int


EARLIEST = Lookup(-2)
LATEST = Lookup(-1)


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What to read: ``topics`` by name, or all that match ``pattern``.

    ``partitions`` leaves out others of a topic. ``start`` and ``end`` are offsets or
    lookups, for all partitions or for each (topic, partition); one that is not named
    is read from its start and to its end. ``memory_bytes`` bounds the frames that
    arrive or contain records which are not released yet, ``fetch_bytes`` the records of
    one response.
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

    Records from ``start_offset`` on and before ``end_offset`` (None: all) are meant;
    ``next_offset`` is where reading goes on. ``aborted_transactions`` is None unless
    committed records are read. ``leader_epoch`` is that of the last batch; ``reader``
    is the ``PartitionReader`` that fetched it. ``frame`` is the memory that ``data``
    keeps alive.
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
    """Return what holds for one partition."""
    if isinstance(spec, (int, Lookup)):
        return spec
    return spec.get(place, default)


def partitions_in(spec: Spec | Mapping[tuple[str, int], Spec], topic: str) -> set[int]:
    """Return the partitions of a topic that are named."""
    if isinstance(spec, (int, Lookup)):
        return set()
    return {partition for name, partition in spec if name == topic}
