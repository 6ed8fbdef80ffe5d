# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to GetTelemetrySubscriptions and PushTelemetry (KIP-714).

Brokers offer these APIs only if they have a receiver of client metrics. The cluster is
the receiver here, and ``Cluster.client_metrics`` returns what it has received.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from ..._limits import Limits
from ...errors import DecodeError
from ...messages import GetTelemetrySubscriptionsResponse, PushTelemetryResponse
from ...records import compression
from ...schema import error_codes
from ..state.rejection import Rejected
from ..state.telemetry import ACCEPTED_CODECS, ReceivedMetrics

if TYPE_CHECKING:
    from .context import Answer, RequestContext

_MAX_BYTES = 1 << 20
"""Default of the broker property ``telemetry.max.bytes``, after compression."""

_LIMITS = Limits(decompressed_bytes=4 << 20)


def answer_get_telemetry_subscriptions(context: RequestContext) -> Answer:
    """Return the metrics that the client must send, and the interval."""
    make = GetTelemetrySubscriptionsResponse
    state = context.state
    code = context.injected_error()
    if code:
        return make(error_code=code)
    instance_id = context.request.client_instance_id
    if not instance_id.int:
        instance_id = UUID(int=state.random.getrandbits(128), version=4)
    try:
        instance = context.broker.telemetry.subscribe(
            instance_id, context.connection_id, _list_parameters(context)
        )
    except Rejected as error:
        return make(error_code=error.code)
    return make(
        client_instance_id=instance_id,
        subscription_id=instance.subscription_id,
        accepted_compression_types=list(ACCEPTED_CODECS),
        push_interval_ms=instance.interval_ms,
        telemetry_max_bytes=_MAX_BYTES,
        delta_temporality=True,
        requested_metrics=instance.metrics,
    )


def answer_push_telemetry(context: RequestContext) -> Answer:
    """Receive the metrics of a client."""
    code = context.injected_error()
    if code:
        return PushTelemetryResponse(error_code=code)
    request = context.request
    metrics = bytes(request.metrics)
    try:
        context.broker.telemetry.check_push(
            request.client_instance_id,
            context.connection_id,
            _list_parameters(context),
            subscription_id=request.subscription_id,
            codec=request.compression_type,
            size=len(metrics),
            max_bytes=_MAX_BYTES,
            is_terminating=request.terminating,
        )
        data = _decompress(request.compression_type, metrics)
    except Rejected as error:
        return PushTelemetryResponse(error_code=error.code)
    if data:
        context.state.received_metrics.append(
            ReceivedMetrics(
                context.broker.node_id,
                context.client_id,
                request.client_instance_id,
                data,
                request.terminating,
                context.state.clock.now_s,
            )
        )
    return PushTelemetryResponse()


def _decompress(codec: int, metrics: bytes) -> bytes:
    if not metrics:
        return b""
    try:
        return bytes(compression.decompress(codec, metrics, 2, _LIMITS, 0))
    except DecodeError as error:
        raise Rejected(error_codes.INVALID_RECORD, str(error)) from None
    except ImportError as error:
        # The client can continue with another codec.
        code = error_codes.UNSUPPORTED_COMPRESSION_TYPE
        raise Rejected(code, str(error)) from None


def _list_parameters(context: RequestContext) -> dict[str, str]:
    """Return the parameters of the client that a subscription can select."""
    return {
        "client_id": context.client_id,
        "client_software_name": context.software_name,
        "client_software_version": context.software_version,
        "client_source_address": context.client_host,
    }
