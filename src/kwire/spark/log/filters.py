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
    for query_filter in filters:
        attribute = getattr(query_filter, "attribute", ())
        if attribute == ("topic",):
            bounds.topics = _intersect(bounds.topics, _find_values(query_filter))
        elif attribute == ("partition",):
            bounds.partitions = _intersect(
                bounds.partitions, _find_values(query_filter)
            )
        elif attribute == ("offset",) and view == "records":
            low, high = _find_range(query_filter, getattr(query_filter, "value", None))
            bounds.start_offset = _choose_bound(max, bounds.start_offset, low)
            end = None if high is None else high + 1
            bounds.end_offset = _choose_bound(min, bounds.end_offset, end)
        elif attribute == ("timestamp",) and view == "records":
            low, high = _find_range(
                query_filter, _to_milliseconds(getattr(query_filter, "value", None))
            )
            bounds.start_timestamp = _choose_bound(max, bounds.start_timestamp, low)
            bounds.end_timestamp = _choose_bound(min, bounds.end_timestamp, high)
    return bounds


def _find_values(query_filter: Filter) -> frozenset[Any] | None:
    if isinstance(query_filter, EqualTo):
        return frozenset((query_filter.value,))
    return frozenset(query_filter.value) if isinstance(query_filter, In) else None


def _intersect(
    first: frozenset[Any] | None, second: frozenset[Any] | None
) -> frozenset[Any] | None:
    return first if second is None else second if first is None else first & second


def _find_range(query_filter: Filter, value: Any) -> tuple[Any, Any]:
    """Return the smallest and the largest value that can pass a filter.

    None means no limit. For a strict inequality, the result includes the compared value
    itself. This is harmless, because Spark applies the filters again.
    """
    if value is None:
        return None, None
    if isinstance(query_filter, EqualTo):
        return value, value
    if isinstance(query_filter, (GreaterThan, GreaterThanOrEqual)):
        return value, None
    if isinstance(query_filter, (LessThan, LessThanOrEqual)):
        return None, value
    return None, None


def _to_milliseconds(value: Any) -> int | None:
    """Convert a datetime to whole milliseconds since 1970, as in record timestamps.

    A datetime without a time zone is UTC. Returns None for any other value.
    """
    if not isinstance(value, datetime):
        return None
    moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _choose_bound(choose: Any, first: int | None, second: int | None) -> int | None:
    return (
        first if second is None else second if first is None else choose(first, second)
    )
