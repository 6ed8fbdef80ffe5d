# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``VersionPolicy``: versions that this side may use, independent of the broker.

A policy is configuration, so it is independent of connections. Broker versions are in
``tables.py``, and ``constraints.py`` defines the versions that a message requires.
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
    """Versions that a client may use.

    * ``speaks``: maps APIs (request classes or keys) to the range that the client was
      written for. APIs that are not listed can use all versions that kwire supports.
    * ``exclude``: maps APIs to versions that must not be used even if brokers support
      them, because they are deprecated or broken (KIP-35).
    * ``unstable``: whether versions may be used that Kafka marks as unstable.
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
        """Return the API versions that this side supports, or an empty range.

        The range also includes the versions in ``exclude``. ``versions`` omits them. If
        an API is not part of Kafka, pass its class, because its key is not known.
        """
        api_key = find_api_key(api)
        try:
            message = registry.load(registry.find_by_key(api_key, "request").name)
        except KeyError:
            if isinstance(api, int):
                return NONE
            message = binding_of(api).message
        versions = message.valid_versions
        if not self.unstable and message.latest_version_unstable:
            versions = VersionRange(versions.min, versions.max - 1)
        return versions & self._speaks.get(api_key, versions)

    def versions(self, api: Api) -> tuple[int, ...]:
        """List the API versions that this side may use, in ascending order."""
        usable_versions = self._versions.get(api)
        if usable_versions is None:
            excluded = self.excluded(find_api_key(api))
            versions = (v for v in self.range_of(api) if v not in excluded)
            usable_versions = self._versions[api] = tuple(versions)
        return usable_versions

    def excluded(self, api_key: int) -> frozenset[int]:
        """Return the API versions that are excluded individually."""
        return self._exclude.get(api_key, frozenset())

    def __repr__(self) -> str:
        speaks = {key: str(value) for key, value in self._speaks.items()}
        exclude = {key: sorted(value) for key, value in self._exclude.items()}
        return (
            f"VersionPolicy(speaks={speaks}, exclude={exclude},"
            f" unstable={self.unstable})"
        )


DEFAULT_POLICY = VersionPolicy()
"""All versions that kwire supports, except unstable versions."""
