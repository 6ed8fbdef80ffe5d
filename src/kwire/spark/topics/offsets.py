# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Offsets of partitions: Spark's JSON of them, ranges, and lost ones.

Other modules find the offsets, in files or from brokers.
"""

from __future__ import annotations

import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from .options import Place

    StreamOffset: TypeAlias = dict[str, dict[str, int]]


class DataLoss(ValueError):
    """Offsets that were asked for, or are between others, are gone."""


def write_offsets(places: dict[Place, int]) -> StreamOffset:
    """Write offsets as Spark's Kafka source does, in a fixed order."""
    offset: StreamOffset = {}
    for (topic, partition), number in sorted(places.items()):
        offset.setdefault(topic, {})[str(partition)] = number
    return offset


def read_offsets(offset: StreamOffset, source_name: str) -> dict[Place, int]:
    """Read what ``write_offsets`` wrote, or Spark's own source, in a checkpoint."""
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


def report_loss(source_name: str, what: str, fails: bool) -> None:
    """Raise ``DataLoss`` if the query is to fail for it; warn if not."""
    if fails:
        raise DataLoss(f"{what}; failOnDataLoss=false reads what there is")
    warnings.warn(f"{source_name}: {what}", stacklevel=2)


def divide(start: int, end: int, count: int) -> list[int]:
    """Return the offsets that cut a range into ``count`` of about the same size."""
    return [start + (end - start) * turn // count for turn in range(1, count)]
