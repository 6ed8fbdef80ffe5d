# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of a test cluster. Errors list the available values."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ..schema import releases
from .state.cluster import ClusterState
from .state.configs import (
    CLIENT_METRICS,
    check_metrics_configs,
    check_topic_configs,
)
from .state.features import RECEIVES_METRICS, find_magic
from .state.rejection import Rejected
from .state.topic import Partition, is_valid_topic_name

MAX_BROKERS = 100
MAX_PARTITIONS = 10_000


def make_state(
    broker_count: int,
    topics: Mapping[str, int],
    release: str,
    seed: int | None,
    auto_create_topics: bool,
    client_metrics: Mapping[str, str] | None = None,
) -> ClusterState:
    """Create the state of a cluster. Raises ``ValueError`` for invalid arguments."""
    if not isinstance(broker_count, int) or not 1 <= broker_count <= MAX_BROKERS:
        raise ValueError(f"brokers must be 1 to {MAX_BROKERS} (got {broker_count!r})")
    check_release(release)
    state = ClusterState(
        broker_count,
        release,
        magic=find_magic(release),
        auto_create_topics=auto_create_topics,
        seed=seed,
        epoch_ms=int(time.time() * 1000),
    )
    for name, count in topics.items():
        check_new_topic(state, name, count)
        state.create_topic(name, count)
    if client_metrics is not None:
        subscribe_metrics(state, client_metrics)
    return state


def subscribe_metrics(state: ClusterState, properties: Mapping[str, str]) -> None:
    """Receive client metrics, with a subscription unless there are no properties.

    Raises ``ValueError`` if a property is invalid, or the release is too old.
    """
    if not state.is_since(RECEIVES_METRICS):
        raise ValueError(
            f"client_metrics requires release {RECEIVES_METRICS} or newer"
            f" (got {state.release})"
        )
    try:
        check_metrics_configs(state.configs, properties)
    except Rejected as error:
        raise ValueError(f"client_metrics is invalid: {error}") from None
    state.has_metrics_receiver = True
    state.configs.replace(CLIENT_METRICS, "client_metrics", properties)


def check_release(release: str) -> None:
    """Raise ``ValueError`` if kwire does not know a release line."""
    if release not in releases.NAMES:
        names = ", ".join(releases.NAMES)
        raise ValueError(f"release must be one of {names} (got {release!r:.40})")


def check_new_topic(state: ClusterState, name: str, partition_count: int) -> None:
    """Raise ``ValueError`` if a topic with these arguments cannot be created."""
    if not is_valid_topic_name(name):
        raise ValueError(
            "a topic name must have 1 to 249 letters, digits, dots, underscores or"
            f" hyphens (got {name!r:.80})"
        )
    if name in state.topics:
        raise ValueError(f"topic {name!r} exists already")
    if not isinstance(partition_count, int) or not (
        1 <= partition_count <= MAX_PARTITIONS
    ):
        raise ValueError(
            f"partitions must be 1 to {MAX_PARTITIONS} (got {partition_count!r:.40})"
        )


def check_configs(state: ClusterState, configs: Mapping[str, str]) -> None:
    """Raise ``ValueError`` if brokers of the release reject properties of a topic."""
    for name, value in configs.items():
        if not isinstance(value, str):
            raise ValueError(f"configs must contain strings (got {name}={value!r:.40})")
    try:
        check_topic_configs(state.configs, configs)
    except Rejected as error:
        raise ValueError(f"configs is invalid: {error}") from None


def check_topic(state: ClusterState, name: str) -> None:
    """Raise ``ValueError`` if a topic does not exist."""
    if name not in state.topics:
        names = ", ".join(sorted(state.topics)) or "none"
        raise ValueError(f"topic must be one of {names} (got {name!r:.80})")


def check_partition(state: ClusterState, topic: str, index: int) -> Partition:
    """Return a partition. Raises ``ValueError`` if it does not exist."""
    partition = state.topics[topic].find_partition(index)
    if partition is None:
        last = len(state.topics[topic].partitions) - 1
        raise ValueError(
            f"partition of topic {topic!r} must be 0 to {last} (got {index!r:.40})"
        )
    return partition


def check_broker(
    state: ClusterState, node_id: int, is_running: bool | None = None
) -> None:
    """Raise ``ValueError`` if there is no such broker, or it is in the other state."""
    broker = state.brokers.get(node_id)
    if broker is None:
        nodes = ", ".join(map(str, state.brokers))
        raise ValueError(f"broker must be one of {nodes} (got {node_id!r:.40})")
    if is_running is not None and broker.is_running != is_running:
        current = "running" if broker.is_running else "stopped"
        raise ValueError(f"broker {node_id} is {current}")
