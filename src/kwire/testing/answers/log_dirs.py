# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Answers to DescribeLogDirs. Source: ``ReplicaManager.describeLogDirs``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages import DescribeLogDirsResponse
from ..state.cluster import LOG_DIRECTORY

if TYPE_CHECKING:
    from .context import Answer, RequestContext

_TOTAL_BYTES = 1 << 40
"""Size of the imaginary disk of a broker."""


def answer_describe_log_dirs(context: RequestContext) -> Answer:
    """Return the sizes of the logs of which the broker has a replica.

    Unknown partitions are omitted.
    """
    request, version = context.request, context.version
    make = DescribeLogDirsResponse
    code = context.injected_error()
    if code:
        # Before version 3, only a directory can have an error.
        directory = make.DescribeLogDirsResult(error_code=code, log_dir=LOG_DIRECTORY)
        is_global = version >= 3
        return make(error_code=code) if is_global else make(results=[directory])
    requested: dict[str, set[int]] | None = None
    if request.topics is not None:
        requested = {}
        for entry in request.topics:
            requested.setdefault(entry.topic, set()).update(entry.partitions)
    topics = []
    used_bytes = 0
    for topic in context.state.topics.values():
        partitions = []
        has_replica = False
        for partition in topic:
            if context.broker.node_id not in partition.replicas:
                continue
            has_replica = True
            used_bytes += partition.log.size_bytes
            indexes = None if requested is None else requested.get(topic.name, set())
            if indexes is not None and partition.index not in indexes:
                continue
            partitions.append(
                make.DescribeLogDirsPartition(
                    partition_index=partition.index,
                    partition_size=partition.log.size_bytes,
                    offset_lag=0,
                    is_future_key=False,
                )
            )
        # ZooKeeper brokers also list topics of which no partition is requested.
        if partitions or (context.state.has_zookeeper and has_replica):
            topics.append(
                make.DescribeLogDirsTopic(name=topic.name, partitions=partitions)
            )
    result = make.DescribeLogDirsResult(
        log_dir=LOG_DIRECTORY,
        topics=topics,
        total_bytes=_TOTAL_BYTES,
        usable_bytes=max(_TOTAL_BYTES - used_bytes, 0),
    )
    return make(results=[result])
