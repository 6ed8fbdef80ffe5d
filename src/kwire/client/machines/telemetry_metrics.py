# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Window``: the metrics since the last push, with their names in OTLP.

The metrics are the standard metrics of KIP-714 that kwire measures, and further metrics
with the names that Java clients use. Durations are in milliseconds, as in Java.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .metrics import (
    FETCH_LATENCY,
    PRODUCE_LATENCY,
    RECORD_QUEUE_TIME,
    REQUEST_LATENCY,
    THROTTLE_TIME,
    Latency,
)
from .otlp import Point

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .link import Link
    from .metrics import Metrics

_COUNTERS = {
    "connection.creation": "connection_creation_total",
    "request": "request_total",
    "response": REQUEST_LATENCY.total,
    "outgoing.byte": "outgoing_byte_total",
    "incoming.byte": "incoming_byte_total",
    "fetch.manager.fetch": FETCH_LATENCY.total,
    "fetch.manager.bytes.consumed": "bytes_consumed_total",
    "record.send": "record_send_total",
    "record.retry": "record_retry_total",
    "record.error": "record_error_total",
}
"""Counters of kwire by name in OTLP. A counter is pushed as two metrics, whose names
end in ``.total`` and ``.rate`` (per second).
"""

_TIMERS = {
    "consumer": {
        "request.latency": REQUEST_LATENCY,
        "fetch.manager.fetch.latency": FETCH_LATENCY,
        "fetch.manager.fetch.throttle.time": THROTTLE_TIME,
    },
    "producer": {
        "request.latency": REQUEST_LATENCY,
        "produce.latency": PRODUCE_LATENCY,
        "produce.throttle.time": THROTTLE_TIME,
        "record.queue.time": RECORD_QUEUE_TIME,
    },
}
"""Timers of kwire by client type and name in OTLP. A timer is pushed as two metrics in
milliseconds, whose names end in ``.avg`` and ``.max``.
"""

_GAUGES = {
    "connection.count": "connection_count",
    "fetch.manager.records.lag.max": "records_lag_max",
}
"""Current values of kwire by name in OTLP. Each value is pushed as one gauge."""


class Window:
    """Time window since the last successful push, with the values at its beginning."""

    def __init__(
        self,
        kind: str,
        metrics: Metrics,
        read_metrics: Callable[[float], Mapping[str, Any]],
        now: float,
    ) -> None:
        self.read = read_metrics
        self._metrics = metrics
        self._prefix = f"org.apache.kafka.{kind}."
        self._timers = _TIMERS[kind]
        self._values: Mapping[str, Any] = {}
        self._begun_at = now

    def begin(self, values: Mapping[str, Any], now: float) -> None:
        """Begin the next window after a successful push of ``values``."""
        self._values = values
        self._begun_at = now

    def points(
        self,
        values: Mapping[str, Any],
        links: Sequence[Link],
        requested: Sequence[str],
        is_delta: bool,
        now: float,
    ) -> list[Point]:
        """Return the metrics that a broker has requested.

        * ``values``: current metrics.
        * ``links``: connections whose latencies are included.
        * ``requested``: name prefixes of the requested metrics.
        * ``is_delta``: return the growth of sums in this window instead of their
          values.
        """
        # KIP-714 specifies an empty prefix for all metrics, but the Java broker sends
        # "*".
        prefixes = tuple("" if prefix == "*" else prefix for prefix in requested)
        points = [*self._totals(values, is_delta, now), *_node_latencies(links)]
        return [
            point._replace(name=name)
            for point in points
            if (name := self._prefix + point.name).startswith(prefixes)
        ]

    def _totals(
        self, values: Mapping[str, Any], is_delta: bool, now: float
    ) -> Iterable[Point]:
        """Yield the points for all counters, timers and gauges.

        Timers without a duration in this window are omitted.
        """
        seconds = max(now - self._begun_at, 0.001)
        for name, key in _COUNTERS.items():
            if key in values:
                growth = values[key] - self._values.get(key, 0)
                yield Point(f"{name}.total", growth if is_delta else values[key], True)
                yield Point(f"{name}.rate", growth / seconds)
        for name, timer in self._timers.items():
            count = values.get(timer.total, 0) - self._values.get(timer.total, 0)
            if count:
                total_s = values[timer.total_s] - self._values.get(timer.total_s, 0)
                yield Point(f"{name}.avg", total_s / count * 1000.0)
                latency: Latency = getattr(self._metrics, timer.attribute)
                max_s = latency.take_recent_max()
                yield Point(f"{name}.max", max_s * 1000.0)
        for name, key in _GAUGES.items():
            if key in values:
                yield Point(name, values[key])


def _node_latencies(links: Sequence[Link]) -> Iterable[Point]:
    """Yield the average and the maximum request latency of every node, in milliseconds.

    Only requests since the last call of this function are included. Nodes without such
    requests are omitted.
    """
    nodes: dict[int, Latency] = {}
    for link in links:
        latency = link.take_latency()
        if link.node_id is not None:
            nodes.setdefault(link.node_id, Latency()).merge(latency)
    for node_id, latency in nodes.items():
        if latency.count:
            labels = {"node_id": str(node_id)}
            average_ms = latency.total_s / latency.count * 1000.0
            yield Point("node.request.latency.avg", average_ms, attributes=labels)
            max_ms = latency.max_s * 1000.0
            yield Point("node.request.latency.max", max_ms, attributes=labels)
