# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Which client was seen sending what: the result of a task of the audit, and their sum.

A client is an address without its port, a client id and the software that it reports.
What follows for an upgrade is decided in ``verdicts.py``.
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
"""In microseconds, as all times here."""


class Client(NamedTuple):
    """Who sends; None is what is not known."""

    address: str | None
    client_id: str | None
    software_name: str | None = None
    software_version: str | None = None


@dataclass(slots=True)
class SeenRequests:
    """How often something was seen, and when first and last; times may be unknown."""

    count: int = 0
    first: int | None = None
    last: int | None = None

    def add(self, timestamp: int | None, count: int = 1) -> None:
        """Count requests that were seen at a time."""
        self.count += count
        if timestamp is not None:
            self.first = timestamp if self.first is None else min(self.first, timestamp)
            self.last = timestamp if self.last is None else max(self.last, timestamp)

    def merge(self, other: SeenRequests) -> None:
        """Count the requests that were seen elsewhere."""
        self.add(other.first, other.count)
        self.add(other.last, 0)


@dataclass(slots=True)
class Usage:
    """What one client was seen doing.

    ``versions`` counts by (API key, version), ``brokers`` says by API key where,
    ``unreadable`` counts frames of an unknown API. ``is_broker`` is set for a
    broker that fetches what it keeps a copy of.
    """

    versions: dict[tuple[int, int], SeenRequests] = field(default_factory=dict)
    brokers: dict[int, set[str]] = field(default_factory=dict)
    unreadable: SeenRequests = field(default_factory=SeenRequests)
    is_broker: bool = False

    @property
    def negotiates(self) -> bool:
        """Whether it was seen to request the versions of a broker."""
        return API_VERSIONS in self.by_api()

    def by_api(self) -> dict[int, list[int]]:
        """Group the versions by API key, both in ascending order."""
        found: dict[int, list[int]] = {}
        for api_key, version in sorted(self.versions):
            found.setdefault(api_key, []).append(version)
        return found

    def merge(self, other: Usage) -> None:
        """Add what the same client did elsewhere."""
        for pair, seen in other.versions.items():
            self.versions.setdefault(pair, SeenRequests()).merge(seen)
        for key, brokers in other.brokers.items():
            self.brokers.setdefault(key, set()).update(brokers)
        self.unreadable.merge(other.unreadable)
        self.is_broker |= other.is_broker

    def total(self) -> SeenRequests:
        """Count everything."""
        whole = SeenRequests()
        for seen in (*self.versions.values(), self.unreadable):
            whole.merge(seen)
        return whole


class InputProblem(NamedTuple):
    """An input, or a line of one, that could not be read."""

    path: str
    line: int | None
    position: int | None
    reason: str
    text: str | None = None


@dataclass(slots=True)
class Sightings:
    """All that was seen.

    ``offered`` has the highest version that a broker offered, by its address and API
    key; ``minutes`` counts the requests worth a look by (API key, version, minute).
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
        """Count a request; by the minute as well if its version ``is_watched``."""
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
        """Note what a broker offers."""
        if broker is not None:
            known = self.offered.setdefault(broker, {})
            for api_key, version in highest:
                known[api_key] = max(version, known.get(api_key, version))

    def merge(self, other: Sightings) -> None:
        """Add what another task saw."""
        for client, usage in other.clients.items():
            self.clients[client].merge(usage)
        for broker, offered in other.offered.items():
            self.offer(broker, offered.items())
        self.minutes += other.minutes
        self.problems += other.problems

    def by_version(self) -> dict[tuple[int, int], SeenRequests]:
        """Sum up what all clients sent by (API key, version)."""
        found: dict[tuple[int, int], SeenRequests] = {}
        for usage in self.clients.values():
            for pair, seen in usage.versions.items():
                found.setdefault(pair, SeenRequests()).merge(seen)
        return found

    def settle(self) -> None:
        """Count ApiVersions requests without a software for the client that sent them.

        A broker that rejects such a request does not know the software of its sender,
        and learns it from the next one: the two are one client.
        """
        for client, usage in list(self.clients.items()):
            if client.software_name is None and list(usage.by_api()) == [API_VERSIONS]:
                same = [
                    each
                    for each in self.clients
                    if each[:2] == client[:2] and each.software_name is not None
                ]
                if len(same) == 1:
                    self.clients[same[0]].merge(self.clients.pop(client))


def split_host(address: str | None) -> str | None:
    """Take the port off an address."""
    if address is None:
        return None
    host, colon, port = address.rpartition(":")
    return (host if colon and port.isdigit() else address).strip("[]")
