# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Kafka clusters for tests: loopback brokers of any release, with faults.

The clusters have the behaviour of Kafka for clients, but no replication and no storage.
The client is not used here, because its errors would hide in its own tests.
May import: ``errors``, ``_limits``, ``_text``, ``schema``, ``_engine``, ``messages``,
``records``, ``connection``.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Mapping

from ..schema import releases as _releases
from .answers.dispatch import SERVED
from .controls import Cluster
from .machine import ReceivedRequest
from .rules import Rule

__all__ = ["SERVED", "Cluster", "ReceivedRequest", "Rule", "cluster"]


def cluster(
    *,
    brokers: int = 1,
    topics: Mapping[str, int] | None = None,
    release: str = _releases.NAMES[-1],
    seed: int | None = None,
    faults: int | None = None,
    tls: bool | ssl.SSLContext = False,
    sasl: Mapping[str, str] | None = None,
    auto_create_topics: bool = True,
    client_metrics: Mapping[str, str] | None = None,
    ports: Iterable[int] = (),
    on_request: Callable[[ReceivedRequest], object] | None = None,
) -> Cluster:
    """Create a Kafka cluster for tests, which a ``with`` block starts and stops.

    * ``brokers``: number of brokers. Their node ids start at 1.
    * ``topics``: number of partitions by topic name.
    * ``release``: release line of Kafka, "0.8.0" to "4.4". The brokers offer exactly
      the APIs and versions of this release.
    * ``seed``: reproduces random ids. It does not control the order of clients.
    * ``faults``: seed of random faults. About one request in twenty is delayed or
      loses its connection.
    * ``tls``: True creates a certificate, which requires the package cryptography,
      and ``Cluster.ca_pem`` contains its authority. A context of the module ssl is used
      unchanged.
    * ``sasl``: passwords by user name for PLAIN and SCRAM, and tokens for OAUTHBEARER.
    * ``auto_create_topics``: whether brokers create topics that a client requests.
    * ``client_metrics``: properties of a client metrics subscription, such as
      {"metrics": "*", "interval.ms": "1000"} (KIP-714, since 3.7). Clients then push
      metrics, which ``Cluster.client_metrics`` returns.
    * ``ports``: port for each broker. By default, the system chooses free ports.
    * ``on_request``: function that is called for each received request before the
      broker answers it. It runs in the thread of the cluster and must not block.

    Raises ``ValueError``, which lists the available values, for an invalid argument.
    """
    return Cluster(
        brokers=brokers,
        topics=topics or {},
        release=release,
        seed=seed,
        faults=faults,
        tls=tls,
        sasl=sasl,
        auto_create_topics=auto_create_topics,
        client_metrics=client_metrics,
        ports=ports,
        on_request=on_request,
    )
