# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``RequestContext``: one received request, and what its answer depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from ..state.timers import NEVER

if TYPE_CHECKING:
    from typing import Any

    from ...messages import Response
    from ..rules import RuleMatcher
    from ..state.cluster import BrokerState, ClusterState


class Waiting:
    """A response that is not ready yet.

    * ``attempt``: returns the response, or None to continue waiting. It is called
      after each change of the cluster's state.
    * ``deadline_s``: time when ``expire`` is called, which returns the response.
    """

    __slots__ = ("attempt", "deadline_s", "expire")

    def __init__(
        self,
        attempt: Callable[[], Response | None],
        deadline_s: float = NEVER,
        expire: Callable[[], Response] | None = None,
    ) -> None:
        self.attempt = attempt
        self.deadline_s = deadline_s
        self.expire = expire


class Close:
    """Answer that closes the connection without a response."""


Answer: TypeAlias = "Response | Waiting | Close | None"
"""Result of a function in this package."""


class RequestContext:
    """Request with its version and its client, and the broker that received it.

    * ``request``: message of ``kwire.messages``.
    * ``principal``: name of the authenticated user, or "ANONYMOUS".
    * ``software_name``, ``software_version``: from ApiVersions, or "".
    * ``connection_id``: number of the connection, which is unique in the cluster.
    """

    __slots__ = (
        "_matcher",
        "broker",
        "client_host",
        "client_id",
        "connection_id",
        "principal",
        "request",
        "software_name",
        "software_version",
        "state",
        "version",
    )

    def __init__(
        self,
        state: ClusterState,
        broker: BrokerState,
        request: Any,
        version: int,
        *,
        client_id: str | None = None,
        client_host: str = "127.0.0.1",
        principal: str = "ANONYMOUS",
        software_name: str = "",
        software_version: str = "",
        connection_id: int = 0,
        matcher: RuleMatcher | None = None,
    ) -> None:
        self.state = state
        self.broker = broker
        self.request = request
        self.version = version
        self.client_id = client_id or ""
        self.client_host = client_host
        self.principal = principal
        self.software_name = software_name
        self.software_version = software_version
        self.connection_id = connection_id
        self._matcher = matcher

    def injected_error(self, topic: str = "", partition: int = -1) -> int:
        """Return the error code of a rule for this request or partition, or 0.

        Functions call this before their own checks, once for each topic, partition,
        group or other resource. They call it without arguments if the response has a
        single error code.
        """
        return self._matcher.find_error(topic, partition) if self._matcher else 0
