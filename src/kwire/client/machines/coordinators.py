# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Coordinators``: which broker coordinates a group or a transactional id.

A coordinator is found by FindCoordinator from any broker, and looked for again when it
cannot be reached or says that it is another one. What is sent to it is decided by the
machines that use this.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from ...connection.negotiation import TRANSACTIONS
from ...connection.negotiation.facts import first_version
from ...errors import KwireError
from ...messages import FindCoordinatorRequest
from ...schema import error_codes as codes
from ..errors import NotAuthorized, RequestRefused
from . import faults
from .metadata import Broker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    from ...connection.negotiation import Constraint
    from .cluster import ClusterMachine
    from .link import Link

    Place: TypeAlias = "tuple[CoordinatorType, str]"

_FIRST_WITH_MANY_KEYS = first_version("FindCoordinatorRequest", "coordinator_keys")


class CoordinatorType(IntEnum):
    """What a key of FindCoordinator is: its ``KeyType``."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


_CONSTRAINTS: Mapping[CoordinatorType, tuple[Constraint, ...]] = {
    CoordinatorType.GROUP: (),
    CoordinatorType.TRANSACTION: (TRANSACTIONS,),
    CoordinatorType.SHARE: (),
}
"""Requirements of FindCoordinator by key type: its first version knows groups only."""


class _Search:
    """What is known of the coordinator of one key."""

    __slots__ = ("failure", "is_asking", "lookups", "node_id", "retry_at")

    def __init__(self) -> None:
        self.node_id: int | None = None
        self.failure: KwireError | None = None
        self.is_asking = False
        # How many lookups there were since a connection was there, and when the next
        # may be.
        self.lookups = 0
        self.retry_at = 0.0


class Coordinators:
    """The coordinators of the keys that a machine uses, over the links of ``cluster``.

    ``link_to`` is what most callers need; ``failure`` is what is wrong with a key.
    With ``is_apart`` links are not those of other requests, which may take long.
    """

    def __init__(self, cluster: ClusterMachine, *, is_apart: bool = False) -> None:
        self._cluster = cluster
        self._is_apart = is_apart
        self._searches: dict[Place, _Search] = {}

    def want(self, kind: CoordinatorType, keys: Iterable[str]) -> None:
        """Look for the coordinators of several keys, in one request if possible."""
        for key in keys:
            self._searches.setdefault((kind, key), _Search())

    def link_to(self, kind: CoordinatorType, key: str, now: float) -> Link | None:
        """Return a link to the coordinator that takes a request now, or look for it.

        None until there is one, and for ever once ``failure`` is set; ``wake_at`` of
        the cluster covers the wait.
        """
        self.want(kind, [key])
        search = self._searches[kind, key]
        if search.failure is not None:
            return None
        link = None
        if search.node_id is not None:
            link = self._cluster.link_to(search.node_id, now, is_apart=self._is_apart)
        if link is not None:
            search.lookups = 0
        elif self._is_open(search):
            self._look_up(kind, now)
        return link

    def node_id(self, kind: CoordinatorType, key: str) -> int | None:
        """Return the node id of a coordinator, if it is known."""
        search = self._searches.get((kind, key))
        return None if search is None else search.node_id

    def failure(self, kind: CoordinatorType, key: str) -> KwireError | None:
        """Return why there will be no coordinator of a key."""
        search = self._searches.get((kind, key))
        return None if search is None else search.failure

    def forget(self, kind: CoordinatorType, key: str) -> None:
        """Look for a coordinator again, which says that it is none, or not yet.

        The caller has a pause before the next request.
        """
        search = self._searches.get((kind, key))
        if search is not None:
            search.node_id = None

    def _is_open(self, search: _Search) -> bool:
        """Whether a coordinator is not known, or may be somewhere else by now."""
        if search.failure is not None:
            return False
        return search.node_id is None or self._cluster.is_failing(search.node_id)

    def _look_up(self, kind: CoordinatorType, now: float) -> None:
        """Send a lookup of all keys of a type for which it is time."""
        due: dict[str, _Search] = {}
        for (each, key), search in self._searches.items():
            if each is kind and self._is_open(search) and not search.is_asking:
                if search.retry_at > now:
                    self._cluster.wake(search.retry_at)
                else:
                    due[key] = search
        while due:
            link = self._cluster.any_link(now)
            if link is None:
                return
            try:
                version = link.pick(FindCoordinatorRequest, *_CONSTRAINTS[kind])
            except KwireError as error:
                for search in due.values():
                    search.failure = error
                return
            chosen, due = due, {}
            if version < _FIRST_WITH_MANY_KEYS:
                due = chosen
                chosen = dict([due.popitem()])
            self._send(link, version, kind, chosen, now)

    def _send(
        self,
        link: Link,
        version: int,
        kind: CoordinatorType,
        chosen: dict[str, _Search],
        now: float,
    ) -> None:
        if version >= _FIRST_WITH_MANY_KEYS:
            request = FindCoordinatorRequest(
                key_type=int(kind), coordinator_keys=list(chosen)
            )
        else:
            (key,) = chosen
            request = FindCoordinatorRequest(key_type=int(kind), key=key)

        def done(response: Any, now: float) -> None:
            for search in chosen.values():
                search.is_asking = False
            if response is None:
                return
            if version < _FIRST_WITH_MANY_KEYS:
                for key, search in chosen.items():
                    self._take(kind, key, search, response)
            for each in response.coordinators:
                if each.key in chosen:
                    self._take(kind, each.key, chosen[each.key], each)

        for search in chosen.values():
            search.lookups += 1
            jitter = self._cluster.random.random()
            pause = self._cluster.settings.backoff_s(search.lookups, jitter)
            search.retry_at = now + pause
        try:
            link.send(request, done, now, version=version)
        except KwireError as error:
            for search in chosen.values():
                search.failure = error
            return
        for search in chosen.values():
            search.is_asking = True

    def _take(
        self, kind: CoordinatorType, key: str, search: _Search, found: Any
    ) -> None:
        if not found.error_code:
            brokers = self._cluster.metadata.brokers
            known = brokers.get(found.node_id)
            search.node_id = found.node_id
            brokers[found.node_id] = Broker(
                found.node_id,
                found.host,
                found.port,
                rack=None if known is None else known.rack,
            )
        elif not faults.may_pass(found.error_code):
            search.failure = _failure(kind, key, found.error_code)


def is_moved(error_code: int) -> bool:
    """Whether an error says that a broker does not coordinate a key, or not any more.

    ``forget`` the coordinator then, and send the request again after a pause.
    """
    return error_code in (codes.NOT_COORDINATOR, codes.COORDINATOR_NOT_AVAILABLE)


def _failure(kind: CoordinatorType, key: str, error_code: int) -> KwireError:
    what = "transactional id" if kind is CoordinatorType.TRANSACTION else "group"
    doing = f"finding the coordinator of the {what} {key!r}"
    if error_code in (
        codes.GROUP_AUTHORIZATION_FAILED,
        codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ):
        return NotAuthorized(
            f"{doing}: the user is not authorized; it needs the operation Describe"
        )
    return RequestRefused(
        f"{doing}: the broker answered {codes.name(error_code)}", error_code
    )
