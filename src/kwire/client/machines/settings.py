# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``ClusterSettings``: the client id, SASL, limits and timeouts of a client.

Times are in seconds. What sockets need (TLS, addresses) is not here.
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
"""How long a topic may be unknown, in seconds, before it counts as missing. The brokers
of a cluster do not learn of a new topic at the same time.
"""

MAX_EPOCH_RETRIES = 6
"""Number of retries, some seconds in total, after which an older leader epoch is
accepted. The cluster agrees on a new leader within that time.
"""

_BROKER_SHARE = 0.8
"""Share of the request timeout that a broker may use to process a request."""


class Mechanism(Protocol):
    """One exchange of SASL: ``sasl.Plain``, ``sasl.Scram``, or your own."""

    @property
    def mechanism(self) -> str:
        """The name that SaslHandshake sends, such as "PLAIN"."""

    def first(self) -> bytes:
        """Return the bytes that open the exchange."""

    def challenge(self, data: bytes, /) -> bytes | None:
        """Answer the bytes of the server; None when it is over."""


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """How a client presents itself to each broker, and how long it waits.

    ``new_mechanism`` makes the mechanism of one SASL exchange. ``compat="java"`` reads
    responses as leniently as Kafka's own clients, for brokers that others wrote.
    ``policy`` selects the versions that the client uses, and ``registry`` contains the
    classes of APIs that Kafka does not have.
    ``fallback`` is the release to assume of brokers before Kafka 0.10, which close the
    connection when they are asked for their API versions ("0.9.0").
    ``metadata_recovery_strategy="rebootstrap"`` uses the bootstrap addresses again if
    brokers require it, or if no broker returns metadata for ``rebootstrap_trigger_s``
    (KIP-899, KIP-1102).
    ``timeout_s`` bounds how long nothing may come of a task that has an end, all
    retries included.
    """

    client_id: str | None = "kwire"
    # The repr of a function such as a functools.partial shows its arguments.
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
    # By host and port: the versions that ``fallback`` assumes of brokers that did not
    # report theirs, and the time until which they are assumed. All machines of a client
    # share them, because a broker of Kafka 0.9 costs each new connection seconds to
    # find that out. A connection that fails with them removes them, because the broker
    # may have been upgraded.
    assumed_versions: dict[tuple[str, int], tuple[ApiVersionTable, float]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    # The metrics of all machines of one client.
    metrics: MetricsSum = field(
        default_factory=MetricsSum, init=False, repr=False, compare=False
    )

    @property
    def broker_timeout_ms(self) -> int:
        """The timeout that requests specify for the broker, as in Kafka's messages.

        It is shorter than ``request_timeout_s``, so that the response arrives in time.
        """
        return int(self.request_timeout_s * _BROKER_SHARE * 1000)

    def backoff_s(
        self, failures: int, jitter: float, first_s: float | None = None
    ) -> float:
        """Return the pause after so many failures; ``jitter`` is from 0 to 1.

        It begins with ``retry_backoff_s``, or ``first_s``, doubles up to
        ``retry_backoff_max_s``, and varies by a fifth, so that many clients do not come
        back at the same time (KIP-580).
        """
        first_s = self.retry_backoff_s if first_s is None else first_s
        pause = first_s * float(1 << min(max(failures - 1, 0), 16))
        return min(pause, self.retry_backoff_max_s) * (0.8 + 0.4 * jitter)
