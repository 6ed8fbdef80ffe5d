# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the brokers of a cluster and keeps a connection to each, with asyncio."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from ...client import net
from ...connection.negotiation import CONTROLLERS
from ...errors import KwireError
from ...messages import DescribeClusterRequest, MetadataRequest
from ..main import explain
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AsyncExitStack

    from .brokers import Access

_AT_ONCE = 64
"""Brokers that are connected to at the same time: a process may have so many."""

_CONTROLLERS = 2
"""What DescribeCluster calls the nodes that a controller may tell of."""

_LAST_CLASSIC = MetadataRequest.flexible_versions.min - 1
"""Of Metadata: it has all there is to know of brokers, in the plainest encoding."""


class Node(NamedTuple):
    """A broker as its cluster describes it, and the connection to it or its error.

    ``node_id`` is -1 and ``rack`` None where the cluster does not report them.
    """

    host: str
    port: int
    node_id: int = -1
    rack: str | None = None
    broker: net.Broker | None = None
    error: str = ""

    @property
    def address(self) -> str:
        """Its host and port."""
        return net.address_text(self.host, self.port)


async def reach_all(
    bootstrap: Sequence[tuple[str, int]], access: Access, stack: AsyncExitStack
) -> list[Node]:
    """Get the list of brokers from the first that answers, and connect to each.

    The connections close with ``stack``. The nodes are sorted by id; one that cannot
    be reached has an error instead. Raises the last error if no broker answers.
    """
    nodes = await _find(bootstrap, access)
    turns = asyncio.Semaphore(_AT_ONCE)

    async def reach(node: Node) -> Node:
        try:
            async with turns:
                broker = await _connect(access, node.host, node.port)
        except KwireError as error:
            return node._replace(error=explain(error))
        return node._replace(broker=await stack.enter_async_context(broker))

    return list(await asyncio.gather(*map(reach, sorted(nodes, key=_by_id))))


async def _find(bootstrap: Sequence[tuple[str, int]], access: Access) -> list[Node]:
    for number, (host, port) in enumerate(bootstrap, 1):
        try:
            async with await _connect(access, host, port) as broker:
                return await _nodes(broker)
        except KwireError as error:
            if number == len(bootstrap):
                raise
            say(explain(error))
    raise AssertionError("at least one address is required (got none)")


async def _nodes(broker: net.Broker) -> list[Node]:
    nodes = []
    if usable := broker.table.usable(MetadataRequest):
        # No topics: an empty list, which only the oldest version takes for all.
        version = max((v for v in usable if v <= _LAST_CLASSIC), default=usable[0])
        answer = await broker.ask(MetadataRequest(topics=()), version)
        nodes = [Node(b.host, b.port, b.node_id, b.rack) for b in answer.brokers]
    elif broker.table.usable(DescribeClusterRequest, CONTROLLERS):
        request = DescribeClusterRequest(endpoint_type=_CONTROLLERS)
        answer = await broker.ask(request, constraints=(CONTROLLERS,))
        nodes = [Node(b.host, b.port, b.broker_id, b.rack) for b in answer.brokers]
    if not nodes:
        raise net.NetworkError(
            broker.address,
            "its metadata lists no brokers; it may still be starting, try again",
        )
    return nodes


def _by_id(node: Node) -> tuple[int, str, int]:
    return node.node_id, node.host, node.port


async def _connect(access: Access, host: str, port: int) -> net.Broker:
    return await net.connect(
        host,
        port,
        ssl=access.context,
        sasl=None if access.new_mechanism is None else access.new_mechanism(),
        timeout_s=access.timeout_s,
        fallback=access.fallback,
    )
