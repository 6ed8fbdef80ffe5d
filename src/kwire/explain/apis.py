# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Lists the APIs that a release supports, and looks up messages by user input.

``schema/releases.py`` and ``schema/registry.py`` contain the facts, and ``guide.py``
contains message layouts.
"""

from __future__ import annotations

from typing import NamedTuple

from .._text import suggest_names
from ..schema import registry, releases
from ..schema.versions import NONE, VersionRange


class Api(NamedTuple):
    """One API in one release.

    * ``versions``: versions that the release supports. Empty if the API was removed.
    * ``listeners``: node types that support the API.
    * ``status``: status of every version up to this release: "deprecated", "removed in
      4.0", "unstable" or "".
    """

    api_key: int
    name: str
    versions: VersionRange
    listeners: tuple[str, ...]
    status: dict[int, str]

    def notes(self, versions: VersionRange | None = None) -> list[tuple[str, str]]:
        """List the version ranges with a status, for example ("0-3", "deprecated").

        If ``versions`` is specified, other versions are ignored.
        """
        notes_by_range: list[tuple[VersionRange, str]] = []
        for version, note in self.status.items():
            if not note or (versions is not None and version not in versions):
                continue
            min_version = version
            if notes_by_range and (
                notes_by_range[-1][0].max,
                notes_by_range[-1][1],
            ) == (version - 1, note):
                min_version = notes_by_range.pop()[0].min
            notes_by_range.append((VersionRange(min_version, version), note))
        return [(str(versions_range), note) for versions_range, note in notes_by_range]


NEWEST = releases.NAMES[-1]
"""Newest supported release, whose documentation kwire includes."""


def release_name(text: str) -> str:
    """Return the release line for a Kafka version, for example "3.9" for "3.9.1".

    Raises ``KeyError`` if the release is unknown.
    """
    for name in (text, text.rpartition(".")[0]):
        if name in releases.NAMES:
            return name
    first, *_, last = releases.NAMES
    raise KeyError(f"no release {text:.40}; kwire has {first} to {last}, such as 2.8")


def apis(release: str = NEWEST) -> list[Api]:
    """List the APIs that a release or a previous release supports, by API key.

    ``release`` is a release line such as "3.9", as ``release_name`` returns it. Raises
    ``ValueError`` if kwire does not know it.
    """
    names = releases.NAMES[: releases.NAMES.index(release) + 1]
    stable = releases.ranges(release)
    deprecated = releases.deprecated(release)
    history = [_find_offers(name) for name in names]
    offers_by_listener = {
        name: _find_offers(release, name) for name in releases.listeners(release)
    }
    listed_apis = []
    for key in sorted({key for ranges in history for key in ranges}):
        status: dict[int, str] = {}
        offered = NONE
        for name, ranges in zip(names, history, strict=True):
            previous, offered = offered, ranges.get(key, NONE)
            removed_versions = (
                version for version in previous if version not in offered
            )
            status |= dict.fromkeys(removed_versions, f"removed in {name}")
        stable_versions = stable.get(key, NONE)
        status |= dict.fromkeys(offered, "unstable") | dict.fromkeys(
            stable_versions, ""
        )
        status |= dict.fromkeys(deprecated.get(key, NONE), "deprecated")
        listeners = tuple(
            name for name, ranges in offers_by_listener.items() if key in ranges
        )
        status = dict(sorted(status.items()))
        listed_apis.append(
            Api(key, releases.name_of(key), stable_versions, listeners, status)
        )
    return listed_apis


def _find_offers(release: str, listener: str | None = None) -> dict[int, VersionRange]:
    """Return {API key: versions} that a release can advertise.

    Unstable versions are included.
    """
    offers = releases.advertisements(release, listener, unstable=True)
    return {key: choices[0] for key, choices in offers.items()}


def other_messages() -> list[tuple[str, list[str]]]:
    """List all messages that do not belong to an API, sorted by group.

    An element is a group heading and its message names: ("Metadata records", names).
    """
    families: dict[str, list[str]] = {}
    for name in registry.names():
        entry = registry.find(name)
        if entry.kind not in ("request", "response"):
            heading = entry.family.replace("-", " ").capitalize()
            families.setdefault(heading, []).append(name)
    for names in families.values():
        names.sort(key=_make_sort_key)
    return sorted(families.items())


def _make_sort_key(name: str) -> tuple[int, str]:
    key = registry.find(name).api_key
    return (-1 if key is None else key), name


_ENDINGS = ("Request", "Response"), ("Key", "Value"), ("Record",)


def find_messages(text: str) -> list[str]:
    """Look up messages by message name, API name or API key.

    Matching is case-insensitive.

    "Fetch" and "1" return ``FetchRequest`` and ``FetchResponse``. "TopicRecord" and
    "topic" return one record.
    Raises ``KeyError`` with suggestions if there is no matching message.
    """
    by_name = {name.lower(): name for name in registry.names()}
    searched_name = text.lower()
    if text.isascii() and text.isdecimal():
        keys = {str(key): key for key in registry.keys("request")}
        if text not in keys:
            raise KeyError(
                f"unknown API key {text:.40}; kwire supports 0 to {max(keys.values())}"
            )
        searched_name = releases.name_of(keys[text]).lower()
    for endings in ("",), *_ENDINGS:
        candidates = [
            by_name.get(f"{searched_name}{ending}".lower()) for ending in endings
        ]
        names = [name for name in candidates if name is not None]
        if names:
            return names
    suggestions = suggest_names(
        text, [*map(_strip_ending, by_name.values()), *by_name.values()]
    )
    suggestions = suggestions or "; kwire schema --all lists every message"
    raise KeyError(f"no message {text:.40}{suggestions}")


def _strip_ending(name: str) -> str:
    for ending in (ending for endings in _ENDINGS for ending in endings):
        name = name.removesuffix(ending)
    return name
