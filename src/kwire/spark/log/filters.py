# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Computes from the filters of a query which files can be skipped.

Spark also applies each filter to the rows, so this module can ignore filters that it
does not support.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from .planning import Bounds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql.datasource import Filter

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def gather_bounds(filters: Iterable[Filter], view: str) -> Bounds:
    """Return bounds that contain every row which passes all filters."""
    bounds = Bounds()
    for each in filters:
        attribute = getattr(each, "attribute", ())
        if attribute == ("topic",):
            bounds.topics = _common(bounds.topics, _values(each))
        elif attribute == ("partition",):
            bounds.partitions = _common(bounds.partitions, _values(each))
        elif attribute == ("offset",) and view == "records":
            low, high = _range(each, getattr(each, "value", None))
            bounds.start_offset = _most(max, bounds.start_offset, low)
            behind = None if high is None else high + 1
            bounds.end_offset = _most(min, bounds.end_offset, behind)
        elif attribute == ("timestamp",) and view == "records":
            low, high = _range(each, _milliseconds(getattr(each, "value", None)))
            bounds.start_timestamp = _most(max, bounds.start_timestamp, low)
            bounds.end_timestamp = _most(min, bounds.end_timestamp, high)
    return bounds


def _values(each: Filter) -> frozenset[Any] | None:
    if isinstance(each, EqualTo):
        return frozenset((each.value,))
    return frozenset(each.value) if isinstance(each, In) else None


def _common(
    one: frozenset[Any] | None, other: frozenset[Any] | None
) -> frozenset[Any] | None:
    return one if other is None else other if one is None else one & other


def _range(each: Filter, value: Any) -> tuple[Any, Any]:
    """Return the smallest and largest matching value.

    A strict inequality also returns its own value. This is harmless, because Spark
    applies the filters again.
    """
    if value is None:
        return None, None
    if isinstance(each, EqualTo):
        return value, value
    if isinstance(each, (GreaterThan, GreaterThanOrEqual)):
        return value, None
    if isinstance(each, (LessThan, LessThanOrEqual)):
        return None, value
    return None, None


def _milliseconds(value: Any) -> int | None:
    """Convert a datetime to whole milliseconds, the resolution of record timestamps."""
    if not isinstance(value, datetime):
        return None
    moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _most(choose: Any, one: int | None, other: int | None) -> int | None:
    return one if other is None else other if one is None else choose(one, other)
