# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Admin``: the operations of ``Kafka`` and ``KafkaSync`` that manage a cluster.

``request`` sends any request; the other operations write a request, and turn errors in
its response into exceptions.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from .queries import run_query
from .runners.operations import Operations, operation

if TYPE_CHECKING:
    from ..messages import Request
    from .machines import ClusterSettings
    from .runners.network import Network


class Admin(Operations):
    """Operations that manage a cluster."""

    addresses: list[tuple[str, int]]
    settings: ClusterSettings
    network: Network
    has_connected: bool

    @operation
    async def request(self, message: Request, to: int | None = None) -> Any:
        """Send any request of Kafka's protocol; return the response.

        * ``message``: the request, such as ``kwire.messages.DescribeAclsRequest``. The
          client chooses its version.
        * ``to``: node id of a broker. Default: the brokers that the API requires, such
          as the controller, the coordinator of a group, or the leaders of partitions.

        If the request is for several brokers, it is split, and the response has the
        items in the order of the request. The responses to ListGroups, DescribeLogDirs
        and ListTransactions are concatenated from all brokers in the order of their
        node ids. With ``to``, nothing is split, and the response is that of the node.

        A part of the request is sent again if the broker answers that another one is
        responsible, or that it is not ready yet; and after a lost connection if a
        second copy has no effect of its own. All other errors are error codes in the
        response. After ``timeout_s``, the last answer of each broker counts.

        Raises ``BrokersUnreachable`` if a broker did not answer, ``OutcomeUnknown`` if
        a connection was lost after a request that must not be sent twice, and
        ``UnsupportedVersion``, ``FeatureUnsupported`` or ``EncodeError`` if a broker
        does not support the request or a field of it.
        """
        return await self._request(message, to)

    async def _request(self, message: Request, to: int | None = None) -> Any:
        from .machines import RequestMachine

        return await run_query(self, partial(RequestMachine, request=message, to=to))
