# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Which client was seen sending what: the result of a task of the audit, and their sum.

A client is an address without its port, a client id and the software that it reports.
What follows for an upgrade is decided in ``verdicts.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ...schema import releases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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

    def add(self, timestamp: int | None) -> None:
        """Count one more."""
        self.count += 1
        if timestamp is not None:
            if self.first is None or timestamp < self.first:
                self.first = timestamp
            if self.last is None or timestamp > self.last:
                self.last = timestamp

    def merge(self, other: SeenRequests) -> None:
        """Count what was seen elsewhere."""
        self.count += other.count
        firsts = [each for each in (self.first, other.first) if each is not None]
        lasts = [each for each in (self.last, other.last) if each is not None]
        self.first = min(firsts, default=None)
        self.last = max(lasts, default=None)


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
        return any(key == API_VERSIONS for key, _ in self.versions)

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

    clients: dict[Client, Usage] = field(default_factory=dict)
    offered: dict[str, dict[int, int]] = field(default_factory=dict)
    minutes: dict[tuple[int, int, int], int] = field(default_factory=dict)
    problems: list[InputProblem] = field(default_factory=list)

    def add(
        self,
        request: Request,
        is_from_broker: bool = False,
        is_watched: Callable[[int, int], bool] | None = None,
    ) -> None:
        """Count a request; by the minute as well if its version ``is_watched``."""
        usage = self.usage(
            Client(
                split_host(request.client_address),
                request.client_id,
                request.software_name,
                request.software_version,
            )
        )
        usage.is_broker |= is_from_broker
        api_key, version, timestamp = (
            request.api_key,
            request.api_version,
            request.timestamp,
        )
        if api_key is None or version is None:
            usage.unreadable.add(timestamp)
            return
        seen = usage.versions.get((api_key, version))
        if seen is None:
            seen = usage.versions[api_key, version] = SeenRequests()
        seen.add(timestamp)
        if request.broker_address is not None:
            usage.brokers.setdefault(api_key, set()).add(request.broker_address)
        if timestamp is not None and is_watched and is_watched(api_key, version):
            minute = api_key, version, timestamp // MINUTE
            self.minutes[minute] = self.minutes.get(minute, 0) + 1

    def usage(self, client: Client) -> Usage:
        """Find or make the usage of a client."""
        found = self.clients.get(client)
        if found is None:
            found = self.clients[client] = Usage()
        return found

    def offer(self, broker: str | None, highest: Iterable[tuple[int, int]]) -> None:
        """Note what a broker offers."""
        if broker is not None:
            known = self.offered.setdefault(broker, {})
            for api_key, version in highest:
                known[api_key] = max(version, known.get(api_key, version))

    def merge(self, other: Sightings) -> None:
        """Add what another task saw."""
        for client, usage in other.clients.items():
            self.usage(client).merge(usage)
        for broker, offered in other.offered.items():
            self.offer(broker, offered.items())
        for minute, count in other.minutes.items():
            self.minutes[minute] = self.minutes.get(minute, 0) + count
        self.problems += other.problems

    def settle(self) -> None:
        """Count ApiVersions requests without a software for the client that sent them.

        A broker that refuses such a request does not know the software of its sender,
        and learns it from the next one: the two are one client.
        """
        for client, usage in list(self.clients.items()):
            only_negotiates = all(key == API_VERSIONS for key, _ in usage.versions)
            if client.software_name is None and usage.versions and only_negotiates:
                same = list(self._others(client))
                if len(same) == 1:
                    self.clients[same[0]].merge(self.clients.pop(client))

    def _others(self, client: Client) -> Iterator[Client]:
        for each in self.clients:
            if each[:2] == client[:2] and each.software_name is not None:
                yield each


def split_host(address: str | None) -> str | None:
    """Take the port off an address."""
    if address is None:
        return None
    host, colon, port = address.rpartition(":")
    return (host if colon and port.isdigit() else address).strip("[]")
