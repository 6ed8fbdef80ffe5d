# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Responses of simulated brokers to GetTelemetrySubscriptions and PushTelemetry.

Follows ``ClientMetricsManager``: a push must have the id of the current subscription
and an accepted codec. Pushes after a terminating push are rejected.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID


class Push(NamedTuple):
    """Accepted PushTelemetry request.

    * ``at``: arrival time in simulated seconds.
    * ``request``: the request.
    """

    at: float
    request: object


class Receiver:
    """Client metrics plugin of a simulated cluster, and its subscription."""

    def __init__(self, **subscription):
        """Subscribe to all metrics.

        Keyword arguments override fields of the subscription.
        """
        self.pushes: list[Push] = []
        self.subscriptions: list[float] = []
        self.errors: list[int] = []
        """Error codes of the next pushes. Code 0 accepts a push."""
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
        """Change fields of the subscription, which increments its id."""
        self.subscription |= subscription
        self.subscription_id += 1

    def find_error(self, codes, request):
        """Return the error code for a push, or 0 if Kafka would accept it.

        The codes in ``errors`` are returned first.
        """
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
    """Mixin of a simulated broker: telemetry requests."""

    def _GetTelemetrySubscriptionsRequest(self, request, version):
        receiver = self._cluster.receiver
        receiver.subscriptions.append(self._cluster.world.now)
        instance_id = request.client_instance_id
        return self._cluster.messages.GetTelemetrySubscriptionsResponse(
            client_instance_id=instance_id if instance_id.int else UUID(int=77),
            subscription_id=receiver.subscription_id,
            **receiver.subscription,
        )

    def _PushTelemetryRequest(self, request, version):
        receiver = self._cluster.receiver
        code = receiver.find_error(self._cluster.codes, request)
        if not code:
            receiver.pushes.append(Push(self._cluster.world.now, request))
        return self._cluster.messages.PushTelemetryResponse(error_code=code)
