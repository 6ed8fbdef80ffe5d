# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Coordinators``: looks up the brokers that coordinate groups and transactional ids.

Any broker answers FindCoordinator. A coordinator is looked up again if it cannot be
reached, or if it answers that it does not coordinate the key. The machines that use
this class send their own requests to the coordinator.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from ...connection.negotiation import TRANSACTIONS
from ...connection.negotiation.facts import first_version
from ...errors import KwireError
from ...messages import FindCoordinatorRequest
from ...schema import error_codes as codes
from . import faults
from .backoff import Backoff
from .events import Event
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
    """Type of a coordinator. The values are those of ``KeyType`` in FindCoordinator."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


_CONSTRAINTS: Mapping[CoordinatorType, tuple[Constraint, ...]] = {
    CoordinatorType.GROUP: (),
    CoordinatorType.TRANSACTION: (TRANSACTIONS,),
    CoordinatorType.SHARE: (),
}
"""Version constraints by key type. FindCoordinator 0 supports only groups."""


class _Search:
    """Lookup of the coordinator for one key.

    * ``node_id``: node id of the coordinator, or None until the lookup has succeeded.
    * ``failure``: error that has ended the lookup, or None.
    """

    __slots__ = ("backoff", "failure", "is_in_flight", "node_id")

    def __init__(self, cluster: ClusterMachine) -> None:
        self.node_id: int | None = None
        self.failure: KwireError | None = None
        self.is_in_flight = False
        # Pause before the next lookup. It is reset when a connection to the coordinator
        # is available, not by a response: a broker may name an unreachable coordinator.
        self.backoff = Backoff(cluster)


class Coordinators:
    """Coordinators of the keys that one machine uses.

    Call ``link_to`` before every request. If it returns None, check ``failure``, and
    call ``link_to`` again during the next ``advance``. If the broker answers that it
    does not coordinate the key (``is_moved``), call ``forget`` and repeat the request
    after a pause.

    ``is_apart`` selects separate connections, so that the requests do not wait for slow
    requests to the same broker, for example a Fetch.
    """

    def __init__(self, cluster: ClusterMachine, *, is_apart: bool = False) -> None:
        self._cluster = cluster
        self._is_apart = is_apart
        self._searches: dict[Place, _Search] = {}

    def want(self, kind: CoordinatorType, keys: Iterable[str]) -> None:
        """Add keys whose coordinators will be looked up.

        All keys are sent in one request if the broker supports several keys per
        request. Otherwise, there is one request per key.
        """
        for key in keys:
            self._searches.setdefault((kind, key), _Search(self._cluster))

    def link_to(self, kind: CoordinatorType, key: str, now: float) -> Link | None:
        """Return a link to the coordinator that accepts a request now.

        Looks up the coordinator if this is necessary. Returns None until a link is
        available, and always after ``failure`` is set. The ``wake_at`` of the cluster
        includes the next step.
        """
        self.want(kind, [key])
        search = self._searches[kind, key]
        if search.failure is not None:
            return None
        link = None
        if search.node_id is not None:
            link = self._cluster.link_to(search.node_id, now, is_apart=self._is_apart)
        if link is not None:
            search.backoff.reset()
        elif self._needs_lookup(search):
            self._look_up(kind, now)
        return link

    def node_id(self, kind: CoordinatorType, key: str) -> int | None:
        """Return a coordinator's node id, or None if it is unknown."""
        search = self._searches.get((kind, key))
        return None if search is None else search.node_id

    def failure(self, kind: CoordinatorType, key: str) -> KwireError | None:
        """Return the error that ended a coordinator's lookup, or None."""
        search = self._searches.get((kind, key))
        return None if search is None else search.failure

    def forget(self, kind: CoordinatorType, key: str) -> None:
        """Look up a coordinator again, because the broker does not coordinate the key.

        The caller must pause before the next request.
        """
        search = self._searches.get((kind, key))
        if search is not None:
            search.node_id = None

    def _needs_lookup(self, search: _Search) -> bool:
        """Return whether a coordinator has to be looked up.

        This is the case if it is unknown, or if connections to its broker fail: by now,
        another broker may be the coordinator.
        """
        if search.failure is not None:
            return False
        return search.node_id is None or self._cluster.is_failing(search.node_id)

    def _look_up(self, kind: CoordinatorType, now: float) -> None:
        """Send the lookups that are due for keys of the type ``kind``."""
        due = {
            key: search
            for (key_type, key), search in self._searches.items()
            if key_type is kind
            and self._needs_lookup(search)
            and not search.is_in_flight
            if not search.backoff.must_wait(now)
        }
        while due and (link := self._cluster.any_link(now)) is not None:
            try:
                version = link.pick(FindCoordinatorRequest, *_CONSTRAINTS[kind])
            except KwireError as error:
                for search in due.values():
                    search.failure = error
                return
            has_many = version >= _FIRST_WITH_MANY_KEYS
            keys = list(due) if has_many else [next(iter(due))]
            chosen = {key: due.pop(key) for key in keys}
            self._send(link, version, kind, chosen, now)

    def _send(
        self,
        link: Link,
        version: int,
        kind: CoordinatorType,
        chosen: dict[str, _Search],
        now: float,
    ) -> None:
        """Send one FindCoordinator request for the keys in ``chosen``.

        Every attempt counts as a failure in advance. ``link_to`` resets the backoff
        when a connection to the coordinator is available.
        """
        keys = list(chosen)
        has_many = version >= _FIRST_WITH_MANY_KEYS
        request = FindCoordinatorRequest(
            key_type=int(kind),
            **({"coordinator_keys": keys} if has_many else {"key": keys[0]}),
        )

        def done(response: Any, now: float) -> None:
            results = {}
            if response is not None:
                results = {result.key: result for result in response.coordinators}
                results = results if has_many else {keys[0]: response}
            for key, search in chosen.items():
                search.is_in_flight = False
                code = codes.NETWORK_EXCEPTION
                if key in results:
                    self._process_result(kind, key, search, results[key])
                    code = results[key].error_code
                if code and search.failure is None:
                    self._cluster.report(
                        Event.RETRY,
                        operation="finding the coordinator of the"
                        f" {_describe_key(kind, key)}",
                        pause_s=max(search.backoff.retry_at - now, 0.0),
                        reason=codes.name(code),
                    )

        for search in chosen.values():
            search.backoff.fail(now)
            search.is_in_flight = True
        try:
            link.send(request, done, now, version=version)
        except KwireError as error:
            for search in chosen.values():
                search.is_in_flight = False
                search.failure = error

    def _process_result(
        self, kind: CoordinatorType, key: str, search: _Search, result: Any
    ) -> None:
        """Store the coordinator of a key, or the error that ended its lookup.

        A temporary error changes nothing, so that the lookup is repeated.
        The coordinator is added to the brokers in the metadata, because the metadata
        may not contain it yet.
        """
        if not result.error_code:
            brokers = self._cluster.metadata.brokers
            broker = brokers.get(result.node_id)
            rack = None if broker is None else broker.rack
            search.node_id = result.node_id
            event, name = Event.COORDINATOR_FOUND, _describe_key(kind, key)
            self._cluster.report(event, node_id=result.node_id, key=name)
            brokers[result.node_id] = Broker(
                result.node_id, result.host, result.port, rack=rack
            )
        elif not faults.may_pass(result.error_code):
            search.failure = faults.refusal(
                f"finding the coordinator of the {_describe_key(kind, key)}",
                result.error_code,
                "the operation Describe",
            )


def _describe_key(kind: CoordinatorType, key: str) -> str:
    """Format a key for errors and events, such as "group 'orders'"."""
    is_transaction = kind is CoordinatorType.TRANSACTION
    return f"{'transactional id' if is_transaction else 'group'} {key!r}"


def is_moved(error_code: int) -> bool:
    """Return whether an error means that a broker does not coordinate a key.

    The caller must call ``Coordinators.forget``, and repeat the request after a pause.
    """
    return error_code in (codes.NOT_COORDINATOR, codes.COORDINATOR_NOT_AVAILABLE)
