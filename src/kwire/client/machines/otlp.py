# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Encodes metrics as OTLP: ``MetricsData`` of OpenTelemetry in Protocol Buffers.

PushTelemetry (KIP-714) uses this format. Only gauges and monotonic sums with integer or
float values are supported, which are a dozen fields. The packages opentelemetry-proto
and protobuf would be the only required dependencies of kwire, so only tests use them.
Source: ``opentelemetry/proto/metrics/v1/metrics.proto``, version 1.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_DELTA, _CUMULATIVE = 1, 2
"""Values of ``AggregationTemporality``.

* ``_DELTA``: a sum counts the events since the previous push.
* ``_CUMULATIVE``: a sum counts the events since the beginning of the measurement.
"""


class Point(NamedTuple):
    """Value of one metric.

    * ``is_sum``: True if the metric is a monotonic sum, False if it is a gauge.
    * ``attributes``: attributes of the data point, such as the node id of a broker.
    """

    name: str
    value: float
    is_sum: bool = False
    attributes: Mapping[str, str] = {}


def encode_metrics(
    points: Iterable[Point],
    resource: Mapping[str, str],
    *,
    start_ns: int,
    now_ns: int,
    is_delta: bool,
) -> bytes:
    """Encode one ``MetricsData`` message.

    * ``resource``: attributes of the resource.
    * ``start_ns``, ``now_ns``: beginning and end of the measurement, in nanoseconds
      since 1970.
    * ``is_delta``: True if sums have delta temporality, False if they are cumulative.
    """
    temporality = _DELTA if is_delta else _CUMULATIVE
    metrics = b""
    for point in points:
        data = _bytes_field(1, _encode_point(point, start_ns, now_ns))
        if point.is_sum:
            data += _int_field(2, temporality) + _int_field(3, 1)
        body = _text_field(1, point.name) + _bytes_field(7 if point.is_sum else 5, data)
        metrics += _bytes_field(2, body)
    scope_metrics = _bytes_field(2, metrics)
    resource_field = _bytes_field(1, _encode_attributes(1, resource))
    return _bytes_field(1, resource_field + scope_metrics)


def _encode_point(point: Point, start_ns: int, now_ns: int) -> bytes:
    """Encode the value and attributes of a metric as a ``NumberDataPoint``."""
    data = struct.pack("<BQBQ", 2 << 3 | 1, start_ns, 3 << 3 | 1, now_ns)
    if isinstance(point.value, int):
        data += struct.pack("<Bq", 6 << 3 | 1, point.value)
    else:
        data += struct.pack("<Bd", 4 << 3 | 1, point.value)
    return data + _encode_attributes(7, point.attributes)


def _encode_attributes(number: int, attributes: Mapping[str, str]) -> bytes:
    """Encode a repeated ``KeyValue`` field with string values."""
    return b"".join(
        _bytes_field(
            number, _text_field(1, key) + _bytes_field(2, _text_field(1, value))
        )
        for key, value in attributes.items()
    )


def _text_field(number: int, text: str) -> bytes:
    # Replace lone surrogates, which ids may contain, because UTF-8 cannot encode them.
    return _bytes_field(number, text.encode("utf-8", "replace"))


def _bytes_field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _int_field(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)
