# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Observed requests per client: the result of an audit task, and the merged total.

A client is identified by its address without the port, its client id, and the software
that it reports. ``verdicts.py`` decides about upgrade consequences.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ...schema import releases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ...recording.requests import Request

API_VERSIONS = releases.key_of("ApiVersions")

MINUTE = 60_000_000
"""Length of a minute in microseconds. All timestamps in this module are microseconds.
"""


class Client(NamedTuple):
    """Identity of a client.

    * ``address``: host of the client, without the port.
    * ``client_id``: client id in the requests.
    * ``software_name``, ``software_version``: software that the client reports.

    An attribute is None if the requests of the client do not contain its value.
    """

    address: str | None
    client_id: str | None
    software_name: str | None = None
    software_version: str | None = None


@dataclass(slots=True)
class SeenRequests:
    """Number of requests, with the timestamps of the first and the last request.

    Timestamps are microseconds since 1970. Both timestamps are None if no request has
    a timestamp.
    """

    count: int = 0
    first: int | None = None
    last: int | None = None

    def add(self, timestamp: int | None, count: int = 1) -> None:
        """Add ``count`` requests that were observed at ``timestamp``."""
        self.count += count
        if timestamp is not None:
            self.first = timestamp if self.first is None else min(self.first, timestamp)
            self.last = timestamp if self.last is None else max(self.last, timestamp)

    def merge(self, other: SeenRequests) -> None:
        """Add the requests that another task has counted."""
        self.add(other.first, other.count)
        self.add(other.last, 0)


@dataclass(slots=True)
class Usage:
    """Observed behaviour of one client.

    * ``versions``: requests by (API key, version).
    * ``brokers``: addresses of the brokers that received them, by API key.
    * ``unreadable``: frames with an unknown API key or version.
    * ``is_broker``: the client is a broker that replicates partitions.
    """

    versions: dict[tuple[int, int], SeenRequests] = field(default_factory=dict)
    brokers: dict[int, set[str]] = field(default_factory=dict)
    unreadable: SeenRequests = field(default_factory=SeenRequests)
    is_broker: bool = False

    @property
    def negotiates(self) -> bool:
        """Whether the client has requested supported versions from a broker."""
        return API_VERSIONS in self.by_api()

    def by_api(self) -> dict[int, list[int]]:
        """Return {API key: used versions}. Keys and versions are in ascending order."""
        versions_by_api: dict[int, list[int]] = {}
        for api_key, version in sorted(self.versions):
            versions_by_api.setdefault(api_key, []).append(version)
        return versions_by_api

    def merge(self, other: Usage) -> None:
        """Add the behaviour that another task has observed for the same client."""
        for pair, requests in other.versions.items():
            self.versions.setdefault(pair, SeenRequests()).merge(requests)
        for key, brokers in other.brokers.items():
            self.brokers.setdefault(key, set()).update(brokers)
        self.unreadable.merge(other.unreadable)
        self.is_broker |= other.is_broker

    def total(self) -> SeenRequests:
        """Return the sum of all requests, including unreadable frames."""
        total = SeenRequests()
        for requests in (*self.versions.values(), self.unreadable):
            total.merge(requests)
        return total


class InputProblem(NamedTuple):
    """Input file, or line in an input file, that could not be read.

    * ``line``: line number, or None if the whole file is affected.
    * ``position``: byte position of the line, or None.
    * ``reason``: description of the problem.
    * ``text``: beginning of the line, or None.
    """

    path: str
    line: int | None
    position: int | None
    reason: str
    text: str | None = None


@dataclass(slots=True)
class Sightings:
    """All observations that a task has made, or the merged total.

    * ``clients``: behaviour by client.
    * ``offered``: maximum version that a broker offers, by broker address and API key.
    * ``minutes``: number of watched requests by (API key, version, minute).
    * ``problems``: inputs that could not be read.
    """

    clients: defaultdict[Client, Usage] = field(
        default_factory=lambda: defaultdict(Usage)
    )
    offered: dict[str, dict[int, int]] = field(default_factory=dict)
    minutes: Counter[tuple[int, int, int]] = field(default_factory=Counter)
    problems: list[InputProblem] = field(default_factory=list)

    def add(
        self,
        request: Request,
        is_from_broker: bool = False,
        is_watched: Callable[[int, int], bool] | None = None,
    ) -> None:
        """Count a request.

        If ``is_watched`` returns True for its API key and version, the request is also
        counted in ``minutes``.
        """
        client = Client(
            split_host(request.client_address),
            request.client_id,
            request.software_name,
            request.software_version,
        )
        usage = self.clients[client]
        usage.is_broker |= is_from_broker
        api_key, version = request.api_key, request.api_version
        timestamp, broker = request.timestamp, request.broker_address
        if api_key is None or version is None:
            usage.unreadable.add(timestamp)
            return
        usage.versions.setdefault((api_key, version), SeenRequests()).add(timestamp)
        if broker is not None:
            usage.brokers.setdefault(api_key, set()).add(broker)
        if timestamp is not None and is_watched and is_watched(api_key, version):
            self.minutes[api_key, version, timestamp // MINUTE] += 1

    def offer(self, broker: str | None, highest: Iterable[tuple[int, int]]) -> None:
        """Remember the maximum versions that a broker offers.

        ``highest`` contains (API key, version) pairs.
        """
        if broker is not None:
            broker_versions = self.offered.setdefault(broker, {})
            for api_key, version in highest:
                broker_versions[api_key] = max(
                    version, broker_versions.get(api_key, version)
                )

    def merge(self, other: Sightings) -> None:
        """Add the observations from another task."""
        for client, usage in other.clients.items():
            self.clients[client].merge(usage)
        for broker, offered in other.offered.items():
            self.offer(broker, offered.items())
        self.minutes += other.minutes
        self.problems += other.problems

    def by_version(self) -> dict[tuple[int, int], SeenRequests]:
        """Return the requests from all clients, by (API key, version)."""
        totals: dict[tuple[int, int], SeenRequests] = {}
        for usage in self.clients.values():
            for pair, requests in usage.versions.items():
                totals.setdefault(pair, SeenRequests()).merge(requests)
        return totals

    def settle(self) -> None:
        """Assign ApiVersions requests without a software name to their sender.

        If a broker rejects the first ApiVersions request, the software name is only
        known from the second request. Both requests belong to the same client, so they
        are merged if exactly one client has the same address and client id.
        """
        for client, usage in list(self.clients.items()):
            if client.software_name is None and list(usage.by_api()) == [API_VERSIONS]:
                senders = [
                    candidate
                    for candidate in self.clients
                    if candidate[:2] == client[:2]
                    and candidate.software_name is not None
                ]
                if len(senders) == 1:
                    self.clients[senders[0]].merge(self.clients.pop(client))


def split_host(address: str | None) -> str | None:
    """Return the host of an address, without the port and without IPv6 brackets.

    None stays None.
    """
    if address is None:
        return None
    host, colon, port = address.rpartition(":")
    return (host if colon and port.isdigit() else address).strip("[]")
