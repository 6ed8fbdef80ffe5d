# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Requests the nodes of a KRaft cluster from one of its controllers.

Controllers do not support Metadata. DescribeCluster returns their addresses (KIP-919).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...connection.negotiation import CONTROLLERS
from ...messages import DescribeClusterRequest, MetadataResponse

if TYPE_CHECKING:
    from ...connection.negotiation import ApiVersionTable

_CONTROLLERS = 2
"""The endpoint type of controllers in DescribeCluster."""


def can_describe(table: ApiVersionTable) -> bool:
    """Return whether a node supports DescribeCluster for controllers."""
    return bool(table.usable(DescribeClusterRequest, CONTROLLERS))


def make_request() -> DescribeClusterRequest:
    """Build the DescribeCluster request for a cluster's controllers."""
    return DescribeClusterRequest(endpoint_type=_CONTROLLERS)


def to_metadata(response: Any) -> MetadataResponse:
    """Convert a DescribeCluster response to a Metadata response.

    The brokers of the result are the controllers. It contains no topics.
    """
    node = MetadataResponse.MetadataResponseBroker
    return MetadataResponse(
        error_code=response.error_code,
        throttle_time_ms=response.throttle_time_ms,
        cluster_id=response.cluster_id,
        controller_id=response.controller_id,
        brokers=[
            node(
                node_id=controller.broker_id,
                host=controller.host,
                port=controller.port,
                rack=controller.rack,
            )
            for controller in response.brokers
        ],
    )
