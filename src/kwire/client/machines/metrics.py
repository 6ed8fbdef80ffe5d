# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Metrics``: the numbers that a state machine counts, and their sum for a client.

A name that ends in ``_total`` or ``_total_s`` only grows. All other names are present
values. Names are Kafka's names in Python's spelling if Kafka has the metric. Times are
in seconds. ``docs/reference/metrics.md`` describes each name.
"""

from __future__ import annotations

import threading
from typing import NamedTuple
from weakref import WeakSet


class Timer(NamedTuple):
    """The three metrics of something that takes time: how often, how long, longest."""

    total: str
    total_s: str
    max_s: str


REQUEST_LATENCY = Timer(
    "response_total", "request_latency_total_s", "request_latency_max_s"
)
THROTTLE_TIME = Timer("throttle_total", "throttle_time_total_s", "throttle_time_max_s")

CLIENT_METRICS = (
    "connection_count",
    "connection_creation_total",
    "connection_failure_total",
    "request_total",
    *REQUEST_LATENCY,
    "requests_in_flight",
    "outgoing_byte_total",
    "incoming_byte_total",
    *THROTTLE_TIME,
    "metadata_refresh_total",
    "leader_change_total",
    "retry_total",
    "telemetry_push_total",
    "telemetry_rejection_total",
)
"""Metrics of everything that talks to brokers."""

FETCH_LATENCY = Timer("fetch_total", "fetch_latency_total_s", "fetch_latency_max_s")

FETCH_METRICS = (
    *FETCH_LATENCY,
    "bytes_consumed_total",
    "offsets_consumed_total",
    "data_loss_total",
)
"""Metrics of scans and consumers."""

PRODUCE_LATENCY = Timer(
    "produce_total", "produce_latency_total_s", "produce_latency_max_s"
)
RECORD_QUEUE_TIME = Timer(
    "batch_send_total", "record_queue_time_total_s", "record_queue_time_max_s"
)

PRODUCE_METRICS = (
    *PRODUCE_LATENCY,
    *RECORD_QUEUE_TIME,
    "record_send_total",
    "record_retry_total",
    "record_error_total",
    "transaction_commit_total",
    "transaction_abort_total",
)
"""Metrics of producers."""

METRICS = (*CLIENT_METRICS, *FETCH_METRICS, *PRODUCE_METRICS)
"""All metrics that are counted."""


class Latency:
    """How often something took time, how long in all, and the longest time."""

    __slots__ = ("count", "max_s", "total_s")

    def __init__(self) -> None:
        self.count = 0
        self.total_s = 0.0
        self.max_s = 0.0

    def add(self, duration_s: float) -> None:
        """Count one duration."""
        self.count += 1
        self.total_s += duration_s
        self.max_s = max(self.max_s, duration_s)

    def merge(self, other: Latency) -> None:
        """Add the durations of another object."""
        self.count += other.count
        self.total_s += other.total_s
        self.max_s = max(self.max_s, other.max_s)


class Metrics:
    """The numbers of one state machine since it was made."""

    __slots__ = ("__weakref__", "_recent_maxima", "_values")

    def __init__(self) -> None:
        self._values: dict[str, float] = dict.fromkeys(METRICS, 0)
        self._recent_maxima: dict[Timer, float] = {}

    def add(self, name: str, count: float = 1) -> None:
        """Increase a number, or decrease it by a negative count."""
        self._values[name] += count

    def time(self, timer: Timer, duration_s: float) -> None:
        """Count something that took ``duration_s``."""
        values = self._values
        values[timer.total] += 1
        values[timer.total_s] += duration_s
        if duration_s > values[timer.max_s]:
            values[timer.max_s] = duration_s
        if duration_s > self._recent_maxima.get(timer, -1.0):
            self._recent_maxima[timer] = duration_s

    def take_recent_max(self, timer: Timer) -> float:
        """Return the longest duration since the last call, or 0.0."""
        return self._recent_maxima.pop(timer, 0.0)

    def merge(self, other: Metrics) -> None:
        """Add the numbers of another machine; of maxima, the larger one remains."""
        values = self._values
        for name, value in other._values.items():
            is_max = name.endswith("_max_s")
            values[name] = max(values[name], value) if is_max else values[name] + value

    def snapshot(self, names: tuple[str, ...] = METRICS) -> dict[str, float]:
        """Return the present value of each name."""
        return {name: self._values[name] for name in names}


class MetricsSum:
    """The metrics of all machines of one client, also of those that are closed.

    Its methods may be called from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: WeakSet[Metrics] = WeakSet()
        self._closed = Metrics()

    def open(self) -> Metrics:
        """Return the metrics of a new machine."""
        metrics = Metrics()
        with self._lock:
            self._open.add(metrics)
        return metrics

    def close(self, metrics: Metrics) -> None:
        """Keep the numbers of a machine that is closed."""
        with self._lock:
            if metrics in self._open:
                self._open.remove(metrics)
                self._closed.merge(metrics)

    def snapshot(self) -> dict[str, float]:
        """Return the present value of each name, over all machines."""
        result = Metrics()
        with self._lock:
            for metrics in (self._closed, *self._open):
                result.merge(metrics)
        return result.snapshot()
