# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Metrics``: counters of a state machine, and their sums over a whole client.

Metrics whose name ends in ``_total`` or ``_total_s`` never decrease. All others are
current values. If Kafka has a metric, its name is used in Python's spelling. Durations
are in seconds. ``docs/reference/metrics.md`` describes each metric.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet


class Timer(NamedTuple):
    """Names under which the durations of an operation are measured.

    * ``attribute``: attribute of ``Metrics`` that contains the ``Latency``.
    * ``total``: metric with the number of durations.
    * ``total_s``: metric with the sum of all durations in seconds.
    * ``max_s``: metric with the maximum duration in seconds.
    """

    attribute: str
    total: str
    total_s: str
    max_s: str


REQUEST_LATENCY = Timer(
    "request_latency",
    "response_total",
    "request_latency_total_s",
    "request_latency_max_s",
)
THROTTLE_TIME = Timer(
    "throttle_time", "throttle_total", "throttle_time_total_s", "throttle_time_max_s"
)
FETCH_LATENCY = Timer(
    "fetch_latency", "fetch_total", "fetch_latency_total_s", "fetch_latency_max_s"
)
COMMIT_LATENCY = Timer(
    "commit_latency", "commit_total", "commit_latency_total_s", "commit_latency_max_s"
)
REBALANCE_LATENCY = Timer(
    "rebalance_latency",
    "rebalance_total",
    "rebalance_latency_total_s",
    "rebalance_latency_max_s",
)
PRODUCE_LATENCY = Timer(
    "produce_latency",
    "produce_total",
    "produce_latency_total_s",
    "produce_latency_max_s",
)
RECORD_QUEUE_TIME = Timer(
    "record_queue_time",
    "batch_send_total",
    "record_queue_time_total_s",
    "record_queue_time_max_s",
)

_TIMERS = (
    REQUEST_LATENCY,
    THROTTLE_TIME,
    FETCH_LATENCY,
    COMMIT_LATENCY,
    REBALANCE_LATENCY,
    PRODUCE_LATENCY,
    RECORD_QUEUE_TIME,
)

CLIENT_METRICS = (
    "connection_count",
    "connection_creation_total",
    "connection_failure_total",
    "request_total",
    *REQUEST_LATENCY[1:],
    "requests_in_flight",
    "outgoing_byte_total",
    "incoming_byte_total",
    *THROTTLE_TIME[1:],
    "metadata_refresh_total",
    "leader_change_total",
    "retry_total",
    "telemetry_push_total",
    "telemetry_rejection_total",
)
"""Names of the connection and request metrics, which all machines count."""

FETCH_METRICS = (
    *FETCH_LATENCY[1:],
    "bytes_consumed_total",
    "offsets_consumed_total",
    "data_loss_total",
)
"""Names of the metrics that only scans and consumers count."""

GROUP_METRICS = (
    "join_total",
    "fence_total",
    *REBALANCE_LATENCY[1:],
    "partition_loss_total",
    *COMMIT_LATENCY[1:],
    "commit_error_total",
)
"""Names of the metrics that only group consumers count."""

PRODUCE_METRICS = (
    *PRODUCE_LATENCY[1:],
    *RECORD_QUEUE_TIME[1:],
    "record_send_total",
    "record_retry_total",
    "record_error_total",
    "transaction_commit_total",
    "transaction_abort_total",
)
"""Names of the metrics that only producers count."""

METRICS = (*CLIENT_METRICS, *FETCH_METRICS, *GROUP_METRICS, *PRODUCE_METRICS)
"""Names of all counted metrics."""

SCAN_SNAPSHOT = (
    *CLIENT_METRICS,
    "metadata_age_s",
    *FETCH_METRICS,
    "held_bytes",
    "records_lag_max",
    "records_lag",
)
"""Names of all metrics of a scan. Metrics that are not in ``METRICS`` are not counted,
but computed from the state of the scan when they are read.
"""

CONSUMER_SNAPSHOT = (*SCAN_SNAPSHOT, *GROUP_METRICS, "assigned_partition_count")
"""Names of all metrics of a group consumer."""

PRODUCER_SNAPSHOT = (
    *CLIENT_METRICS,
    "metadata_age_s",
    *PRODUCE_METRICS,
    "held_bytes",
)
"""Names of all metrics of a producer."""

_COUNTS = tuple(name for name in METRICS if not any(name in each for each in _TIMERS))


def empty_snapshot(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the metrics of a scan, consumer or producer that has not connected yet."""
    return {name: {} if name == "records_lag" else 0 for name in names}


class Latency:
    """Number of durations, and their total and maximum in seconds."""

    __slots__ = ("_recent_max_s", "count", "max_s", "total_s")

    def __init__(self) -> None:
        self.count = 0
        self.total_s = 0.0
        self.max_s = 0.0
        self._recent_max_s = 0.0

    def add(self, duration_s: float) -> None:
        """Count one duration in seconds."""
        self.count += 1
        self.total_s += duration_s
        if duration_s > self._recent_max_s:
            self._recent_max_s = duration_s
            self.max_s = max(self.max_s, duration_s)

    def merge(self, other: Latency) -> None:
        """Add the count and the total of ``other``, and keep the larger maximum."""
        self.count += other.count
        self.total_s += other.total_s
        self.max_s = max(self.max_s, other.max_s)

    def take_recent_max(self) -> float:
        """Return the maximum duration since the last call, or 0.0."""
        recent, self._recent_max_s = self._recent_max_s, 0.0
        return recent


class Metrics:
    """Counters and latencies of one state machine since its creation.

    Every counter is an attribute, and each ``Timer`` has an attribute with a
    ``Latency``. Code that runs for every response or chunk changes the attributes
    directly, because the call of a method would take noticeable time there.
    """

    __slots__ = ("__weakref__", *_COUNTS, *(each.attribute for each in _TIMERS))

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

        def __setattr__(self, name: str, value: Any) -> None: ...

    def __init__(self) -> None:
        for name in _COUNTS:
            setattr(self, name, 0)
        for timer in _TIMERS:
            setattr(self, timer.attribute, Latency())

    def add(self, name: str, count: int = 1) -> None:
        """Increase the counter ``name`` by ``count``."""
        setattr(self, name, getattr(self, name) + count)

    def merge(self, other: Metrics) -> None:
        """Add the counters of another machine, and keep the larger maxima."""
        for name in _COUNTS:
            self.add(name, getattr(other, name))
        for timer in _TIMERS:
            getattr(self, timer.attribute).merge(getattr(other, timer.attribute))

    def snapshot(self, names: tuple[str, ...] = METRICS) -> dict[str, Any]:
        """Return the current value of every metric in ``names``."""
        values = {name: getattr(self, name) for name in _COUNTS}
        for timer in _TIMERS:
            latency = getattr(self, timer.attribute)
            values[timer.total] = latency.count
            values[timer.total_s] = latency.total_s
            values[timer.max_s] = latency.max_s
        return {name: values[name] for name in names}


class MetricsSum:
    """Metrics of one client, summed over all its machines, including closed machines.

    The methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: WeakSet[Metrics] = WeakSet()
        self._closed = Metrics()

    def open(self) -> Metrics:
        """Return empty metrics for a new machine, which are included in the sum."""
        metrics = Metrics()
        with self._lock:
            self._open.add(metrics)
        return metrics

    def close(self, metrics: Metrics) -> None:
        """Add the last values of a machine that is being closed to the sum.

        The sum no longer refers to ``metrics`` afterwards.
        """
        with self._lock:
            if metrics in self._open:
                self._open.remove(metrics)
                self._closed.merge(metrics)

    def snapshot(self) -> dict[str, float]:
        """Return the current value of every metric, summed over all machines."""
        result = Metrics()
        with self._lock:
            for metrics in (self._closed, *self._open):
                result.merge(metrics)
        return result.snapshot()
