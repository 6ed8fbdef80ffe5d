# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterSettings``: settings that all state machines of a client share.

Durations are in seconds. TLS and the mapping of addresses belong to sockets, so
``runners/network.py`` contains them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from ..._limits import DEFAULT, Limits
from ...connection.negotiation import DEFAULT_POLICY
from ...messages.api_registry import KAFKA, ApiRegistry
from .metrics import MetricsSum

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...connection.negotiation import ApiVersionTable, VersionPolicy

MAX_UNKNOWN_TOPIC_S = 3.0
"""Time in seconds for which a topic must be unknown before it counts as missing. The
brokers of a cluster receive the metadata of a new topic at different times.
"""

MAX_EPOCH_RETRIES = 6
"""Number of retries after which an older leader epoch is accepted. With the default
backoff, the retries take about 3 seconds, in which a cluster normally agrees on a
leader.
"""

_BROKER_SHARE = 0.8
"""Share of the request timeout that a broker may use to process a request. The
remaining time is left for the transmission of the response.
"""


class Mechanism(Protocol):
    """Client side of one SASL exchange: ``sasl.Plain``, ``sasl.Scram``, or your own."""

    @property
    def mechanism(self) -> str:
        """Name of the mechanism in SaslHandshake, such as "PLAIN"."""

    def first(self) -> bytes:
        """Return the first bytes that the client sends in the exchange."""

    def challenge(self, data: bytes, /) -> bytes | None:
        """Return the response to the server's bytes.

        Returns None if the exchange is complete and nothing has to be sent.
        """


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """Identity, protocol options and timeouts of a client. Durations are in seconds.

    * ``client_id``: name of the client in requests, broker logs and quotas.
    * ``new_mechanism``: function that returns a mechanism for one SASL exchange. None:
      no SASL.
    * ``policy``: selects the API versions that the client may use.
    * ``registry``: message classes, including APIs that Kafka does not have.
    * ``limits``: maximum sizes of received data.
    * ``fallback``: release to assume for brokers before Kafka 0.10, such as "0.9.0".
      These brokers close the connection when they receive ApiVersions.
    * ``compat``: "java" reads responses as leniently as Kafka's own clients, for
      brokers of other vendors.
    * ``timeout_s``: maximum time without progress of a bounded task, including all
      retries.
    * ``connect_timeout_s``: maximum time for one connection attempt.
    * ``request_timeout_s``: maximum time until the response to one request.
    * ``retry_backoff_s``: first pause between two attempts. See ``backoff_s``.
    * ``retry_backoff_max_s``: maximum pause between two attempts.
    * ``metadata_max_age_s``: maximum time between two metadata refreshes.
    * ``metadata_recovery_strategy``: "rebootstrap" uses the bootstrap addresses again
      if a broker requires it, or if no broker has returned metadata for
      ``rebootstrap_trigger_s`` (KIP-899, KIP-1102).
    * ``enable_metrics_push``: push metrics to brokers that subscribe to them (KIP-714).
    """

    client_id: str | None = "kwire"
    # Exclude the function from the repr. If it is a functools.partial, its repr would
    # contain the credentials.
    new_mechanism: Callable[[], Mechanism] | None = field(default=None, repr=False)
    policy: VersionPolicy = DEFAULT_POLICY
    registry: ApiRegistry = KAFKA
    limits: Limits = DEFAULT
    fallback: str | None = None
    compat: Literal["java"] | None = "java"
    timeout_s: float = 60.0
    connect_timeout_s: float = 10.0
    request_timeout_s: float = 30.0
    retry_backoff_s: float = 0.1
    retry_backoff_max_s: float = 1.0
    metadata_max_age_s: float = 300.0
    metadata_recovery_strategy: Literal["rebootstrap", "none"] = "rebootstrap"
    rebootstrap_trigger_s: float = 300.0
    enable_metrics_push: bool = True
    # Versions for brokers that do not report them, by host and port: the version table
    # for the release ``fallback``, and the time until which it is used. All machines of
    # a client share this dict, because with Kafka 0.9, each new connection would take
    # seconds to detect such a broker. If a connection with these versions fails, they
    # are removed, because the broker may have been upgraded.
    assumed_versions: dict[tuple[str, int], tuple[ApiVersionTable, float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    # Metrics of all machines of one client.
    metrics: MetricsSum = field(
        default_factory=MetricsSum, init=False, repr=False, compare=False
    )

    @property
    def broker_timeout_ms(self) -> int:
        """Timeout in requests for operations of the broker, in milliseconds.

        It is 80 % of ``request_timeout_s``, so that the response arrives in time.
        """
        return int(self.request_timeout_s * _BROKER_SHARE * 1000)

    def backoff_s(
        self, failures: int, jitter: float, first_s: float | None = None
    ) -> float:
        """Return the pause in seconds before the next attempt (KIP-580).

        * ``failures``: number of failures in a row.
        * ``jitter``: random number from 0 to 1. The pause varies by 20 % in both
          directions, so that many clients do not repeat requests at the same time.
        * ``first_s``: first pause. Default: ``retry_backoff_s``.

        Every further failure doubles the pause, up to ``retry_backoff_max_s``.
        """
        first_s = self.retry_backoff_s if first_s is None else first_s
        pause = first_s * float(1 << min(max(failures - 1, 0), 16))
        return min(pause, self.retry_backoff_max_s) * (0.8 + 0.4 * jitter)
