# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Partition offsets: Spark's JSON format, offset ranges, and data loss.

The modules of every format look up the offsets, in files or from brokers.
"""

from __future__ import annotations

import warnings

from ...client.errors import DataLost
from .options import name_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .options import Place

    StreamOffset: TypeAlias = dict[str, dict[str, int]]


SKIP_ADVICE = "set failOnDataLoss=false to read the remaining records"


def write_offsets(places: dict[Place, int]) -> StreamOffset:
    """Convert offsets to the format of Spark's Kafka source, sorted by partition."""
    offset: StreamOffset = {}
    for (topic, partition), number in sorted(places.items()):
        offset.setdefault(topic, {})[str(partition)] = number
    return offset


def read_offsets(offset: StreamOffset, source_name: str) -> dict[Place, int]:
    """Read checkpoint offsets from ``write_offsets`` or from Spark's own Kafka source.

    Raises ``ValueError`` if the offsets do not have this format.
    """
    try:
        return {
            (topic, int(partition)): int(number)
            for topic, numbers in offset.items()
            for partition, number in numbers.items()
        }
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            f'offsets of {source_name} must be JSON such as {{"orders": {{"0": 23}}}}'
            f" (got {offset!r:.200} from the checkpoint); give each query its own"
            " checkpointLocation"
        ) from None


def report_loss(
    source_name: str, topic_partition: Place, offset: int, reason: str, fails: bool
) -> None:
    """Raise ``DataLost`` for a partition if ``fails``, otherwise warn."""
    if fails:
        raise DataLost(*topic_partition, offset, reason, SKIP_ADVICE)
    where = f"reading {name_place(topic_partition)} at offset {offset}"
    warnings.warn(f"{source_name}: {where}: {reason}", stacklevel=2)


def divide(start: int, end: int, count: int) -> list[int]:
    """Return the offsets that split a range into ``count`` nearly equal parts.

    The result has ``count - 1`` offsets, without ``start`` and ``end``.
    """
    return [start + (end - start) * turn // count for turn in range(1, count)]
