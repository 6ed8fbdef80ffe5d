# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Client metrics of one broker: clients, subscriptions, received metrics (KIP-714).

Source: ``ClientMetricsManager`` and ``ClientMetricsInstance``.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from ...schema import error_codes
from .configs import CLIENT_METRICS, parse_match, split_list
from .rejection import Rejected

if TYPE_CHECKING:
    from .configs import Configs
    from .timers import Clock

ACCEPTED_CODECS = (4, 3, 1, 2)
"""Numbers of zstd, lz4, gzip and snappy, in the order of the broker's preference."""

MAX_PUSHES = 200
"""Number of received pushes that are remembered. Older pushes are forgotten."""

ALL_METRICS = "*"
_MAX_INSTANCES = 16_384
_MAX_MATCHED_LENGTH = 1_000
"""Maximum length of a client parameter that can match, which limits the time."""

_MIN_EXPIRY_MS = 60_000
_RESERVED_IDS = (UUID(int=0), UUID(int=1))


class ReceivedMetrics(NamedTuple):
    """Metrics that a client has pushed to a broker.

    * ``data``: ``MetricsData`` of OpenTelemetry in Protocol Buffers, decompressed.
    * ``is_last``: whether the client has announced that it terminates.
    """

    broker: int
    client_id: str
    client_instance_id: UUID
    data: bytes
    is_last: bool
    received_s: float


class _Instance:
    """One client, its subscription, and the times of its requests."""

    def __init__(self, instance_id: UUID, parameters: Mapping[str, str]) -> None:
        self.instance_id = instance_id
        self.parameters = parameters
        self.metrics: list[str] = []
        self.interval_ms = 0
        self.subscription_id = 0
        self.metrics_version = -1
        self.last_get_ms: int | None = None
        self.last_push_ms: int | None = None
        self.last_request_ms = 0
        self.is_terminating = False

    def subscribe(self, configs: Configs) -> None:
        """Compute the subscription, and accept requests immediately."""
        metrics: dict[str, None] = {}
        default_ms = int(configs.tables.client_metrics["interval.ms"].default or 0)
        self.interval_ms = default_ms
        for name in configs.list_names(CLIENT_METRICS):
            values = configs.dynamic(CLIENT_METRICS, name)
            if not self._matches(values.get("match", "")):
                continue
            metrics.update(dict.fromkeys(split_list(values.get("metrics", ""))))
            interval_ms = int(values.get("interval.ms", default_ms))
            self.interval_ms = min(self.interval_ms, interval_ms)
        self.metrics = [ALL_METRICS] if ALL_METRICS in metrics else list(metrics)
        text = f"{self.metrics}{self.interval_ms}{self.instance_id}"
        # The field of the response is a signed number of 32 bits.
        self.subscription_id = zlib.crc32(text.encode()) - (1 << 31)
        self.metrics_version = configs.metrics_version
        self.last_get_ms = self.last_push_ms = None
        self.is_terminating = False

    def _matches(self, text: str) -> bool:
        """Whether all patterns match the complete parameters of the client."""
        for parameter, pattern in parse_match(text).items():
            value = self.parameters.get(parameter, "")
            if len(value) > _MAX_MATCHED_LENGTH or not pattern.filter([value]):
                return False
        return True

    def note_get(self, now_ms: int) -> bool:
        """Record a request for the subscription; return whether it is early."""
        request_times = (self.last_get_ms, self.last_push_ms)
        times = [time_ms for time_ms in request_times if time_ms is not None]
        if times and now_ms - max(times) < self.interval_ms:
            return True
        self.last_get_ms = now_ms
        return False

    def note_push(self, now_ms: int) -> bool:
        """Record a push; return whether it is early.

        Clients delay the first push after a subscription by a random time.
        """
        last_push_ms, last_get_ms = self.last_push_ms, self.last_get_ms
        is_first = last_push_ms is None or (
            last_get_ms is not None and last_get_ms > last_push_ms
        )
        if not is_first and now_ms - (last_push_ms or 0) < self.interval_ms:
            return True
        self.last_push_ms = now_ms
        return False


class ClientTelemetry:
    """Clients that send metrics to one broker."""

    def __init__(self, clock: Clock, configs: Configs) -> None:
        self._clock = clock
        self._configs = configs
        self._instances: OrderedDict[UUID, _Instance] = OrderedDict()
        self._ids_by_connection: dict[int, UUID] = {}

    def clear(self) -> None:
        """Forget all clients, as a restart does."""
        self._instances.clear()
        self._ids_by_connection.clear()

    def forget_connection(self, connection_id: int) -> None:
        """Forget the client of a closed connection."""
        instance_id = self._ids_by_connection.pop(connection_id, None)
        if instance_id is not None:
            self._instances.pop(instance_id, None)

    def subscribe(
        self, instance_id: UUID, connection_id: int, parameters: Mapping[str, str]
    ) -> _Instance:
        """Return a client with its current subscription.

        Raises ``Rejected`` if the client asks again before its push interval ends.
        """
        instance = self._find(instance_id, connection_id, parameters)
        if instance.note_get(self._clock.unix_ms):
            raise Rejected(
                error_codes.THROTTLING_QUOTA_EXCEEDED,
                "Request arrived before the next push interval time",
            )
        return instance

    def check_push(
        self,
        instance_id: UUID,
        connection_id: int,
        parameters: Mapping[str, str],
        *,
        subscription_id: int,
        codec: int,
        size: int,
        max_bytes: int,
        is_terminating: bool,
    ) -> None:
        """Raise ``Rejected`` if the broker does not accept a push of metrics."""
        if instance_id in _RESERVED_IDS:
            text = "Invalid client instance id"
            raise Rejected(error_codes.INVALID_REQUEST, text)
        instance = self._find(instance_id, connection_id, parameters)
        was_terminating = instance.is_terminating
        instance.is_terminating = is_terminating
        if was_terminating:
            text = "The client has sent its last metrics before"
            raise Rejected(error_codes.INVALID_REQUEST, text)
        if instance.note_push(self._clock.unix_ms) and not is_terminating:
            raise Rejected(
                error_codes.THROTTLING_QUOTA_EXCEEDED,
                "Request arrived before the next push interval time",
            )
        if subscription_id != instance.subscription_id:
            text = "Unknown client subscription id"
            raise Rejected(error_codes.UNKNOWN_SUBSCRIPTION_ID, text)
        if codec not in (0, *ACCEPTED_CODECS):
            text = f"Unknown compression type {codec}"
            raise Rejected(error_codes.UNSUPPORTED_COMPRESSION_TYPE, text)
        if size > max_bytes:
            text = f"Metrics are larger than the maximum allowed size {max_bytes}"
            raise Rejected(error_codes.TELEMETRY_TOO_LARGE, text)

    def _find(
        self, instance_id: UUID, connection_id: int, parameters: Mapping[str, str]
    ) -> _Instance:
        """Return a client, and update its subscription if it has changed."""
        now_ms = self._clock.unix_ms
        instance = self._instances.pop(instance_id, None)
        if instance is not None:
            expiry_ms = max(_MIN_EXPIRY_MS, instance.interval_ms * 3)
            if now_ms - instance.last_request_ms > expiry_ms:
                instance = None
        if instance is None:
            instance = _Instance(
                instance_id, {**parameters, "client_instance_id": str(instance_id)}
            )
        if instance.metrics_version < self._configs.metrics_version:
            instance.subscribe(self._configs)
        instance.last_request_ms = now_ms
        self._instances[instance_id] = instance
        self._ids_by_connection[connection_id] = instance_id
        while len(self._instances) > _MAX_INSTANCES:
            self._instances.popitem(last=False)
        return instance
