# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``VersionPolicy``: which versions this side may use, whatever a broker offers.

A policy is configuration and outlives connections; what a broker offers is a table of
``tables.py``, and what one message needs is a constraint of ``constraints.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...messages.codec import binding_of
from ...schema import registry
from ...schema.versions import NONE, VersionRange
from .facts import as_range, find_api_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .facts import Api, Range


class VersionPolicy:
    """The versions that a client lets itself use.

    APIs are request classes or keys. ``speaks`` maps them to the range that the client
    was written for, where that is less than all that kwire knows; one that it lacks is
    not narrowed.
    ``exclude`` maps APIs to single versions that must not be used although brokers
    offer them (deprecated or broken ones, KIP-35). A version that Kafka marks as
    unstable is used with ``unstable=True`` alone.
    """

    __slots__ = ("_exclude", "_speaks", "_versions", "unstable")

    def __init__(
        self,
        speaks: Mapping[int, Range] | Mapping[type, Range] | None = None,
        exclude: Mapping[int, Iterable[int]]
        | Mapping[type, Iterable[int]]
        | None = None,
        *,
        unstable: bool = False,
    ) -> None:
        self._speaks = {find_api_key(k): as_range(v) for k, v in (speaks or {}).items()}
        self._exclude = {
            find_api_key(k): frozenset(v) for k, v in (exclude or {}).items()
        }
        self._versions: dict[Api, tuple[int, ...]] = {}
        self.unstable = unstable

    def range_of(self, api: Api) -> VersionRange:
        """Return the versions of an API that this side knows, empty if none.

        An API that Kafka does not have is known by its class, not by its key.
        """
        api_key = find_api_key(api)
        try:
            ours = registry.load(registry.find_by_key(api_key, "request").name)
        except KeyError:
            if isinstance(api, int):
                return NONE
            ours = binding_of(api).message
        versions = ours.valid_versions
        if not self.unstable and ours.latest_version_unstable:
            versions = VersionRange(versions.min, versions.max - 1)
        return versions & self._speaks.get(api_key, versions)

    def versions(self, api: Api) -> tuple[int, ...]:
        """List the versions this side may use of an API, ascending."""
        found = self._versions.get(api)
        if found is None:
            excluded = self.excluded(find_api_key(api))
            versions = (v for v in self.range_of(api) if v not in excluded)
            found = self._versions[api] = tuple(versions)
        return found

    def excluded(self, api_key: int) -> frozenset[int]:
        """Return the versions of an API that are excluded one by one."""
        return self._exclude.get(api_key, frozenset())

    def __repr__(self) -> str:
        speaks = {key: str(value) for key, value in self._speaks.items()}
        exclude = {key: sorted(value) for key, value in self._exclude.items()}
        return (
            f"VersionPolicy(speaks={speaks}, exclude={exclude},"
            f" unstable={self.unstable})"
        )


DEFAULT_POLICY = VersionPolicy()
"""All that kwire knows, but no unstable versions."""
