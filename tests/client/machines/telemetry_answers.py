# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What simulated brokers answer to GetTelemetrySubscriptions and PushTelemetry.

The rules are those of ``ClientMetricsManager``: a push needs the subscription id of the
present subscription and an accepted codec, and nothing follows a terminating push.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID


class Push(NamedTuple):
    """A push that the receiver accepted, and when it arrived."""

    at: float
    request: object


class Receiver:
    """The plugin for client metrics of a simulated cluster, and its subscription."""

    def __init__(self, **subscription):
        """Subscribe to all metrics, unless the arguments say otherwise."""
        self.pushes: list[Push] = []
        self.subscriptions: list[float] = []
        self.errors: list[int] = []
        """Error codes of the next pushes, of which 0 accepts one."""
        self.subscription_id = 7
        self.subscription = {
            "push_interval_ms": 10_000,
            "telemetry_max_bytes": 1 << 20,
            "delta_temporality": True,
            "requested_metrics": ["*"],
            "accepted_compression_types": [],
        } | subscription
        self._terminated = set()

    def change(self, **subscription):
        """Change the subscription, which gives it another id."""
        self.subscription |= subscription
        self.subscription_id += 1

    def find_error(self, codes, request):
        """Return the error code of a push, by the rules of Kafka."""
        if self.errors:
            return self.errors.pop(0)
        if request.client_instance_id in self._terminated:
            return codes.INVALID_REQUEST
        if request.subscription_id != self.subscription_id:
            return codes.UNKNOWN_SUBSCRIPTION_ID
        accepted = (0, *self.subscription["accepted_compression_types"])
        if request.compression_type not in accepted:
            return codes.UNSUPPORTED_COMPRESSION_TYPE
        if len(request.metrics) > self.subscription["telemetry_max_bytes"]:
            return codes.TELEMETRY_TOO_LARGE
        if request.terminating:
            self._terminated.add(request.client_instance_id)
        return 0


class TelemetryAnswers:
    """The part of a broker that answers requests of telemetry."""

    def _GetTelemetrySubscriptionsRequest(self, request, version):
        receiver = self._cluster.receiver
        receiver.subscriptions.append(self._cluster.world.now)
        known = request.client_instance_id
        return self._cluster.messages.GetTelemetrySubscriptionsResponse(
            client_instance_id=known if known.int else UUID(int=77),
            subscription_id=receiver.subscription_id,
            **receiver.subscription,
        )

    def _PushTelemetryRequest(self, request, version):
        receiver = self._cluster.receiver
        code = receiver.find_error(self._cluster.codes, request)
        if not code:
            receiver.pushes.append(Push(self._cluster.world.now, request))
        return self._cluster.messages.PushTelemetryResponse(error_code=code)
