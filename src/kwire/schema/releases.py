# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Supported API versions and protocol versions by Kafka release.

``facts/releases.txt`` contains the facts with one line per change. Its header describes
the sources and how to add a release. ``connection/negotiation/release_guess.py`` infers
a broker's release.

``NAMES`` contains the names of the release lines, oldest first: "0.8.0", ... "4.4".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import registry
from .versions import NONE, VersionRange

if TYPE_CHECKING:
    NAMES: tuple[str, ...]

LISTENERS = ("zkBroker", "broker", "controller")
"""Listeners for clients: ZooKeeper brokers, KRaft brokers and KRaft controllers."""


class ProtocolVersion(NamedTuple):
    """One version of the protocol between brokers.

    * ``id``: number of the version, starting with 0 for 0.8.0. Up to release 2.8, it is
      identical to Kafka's own number.
    * ``feature_level``: Kafka's number for a ``metadata.version``. None before 3.0-IV1,
      because feature levels were introduced in that version.

    Source: ``ApiVersion`` and ``MetadataVersion``.
    """

    id: int
    name: str
    release: str
    feature_level: int | None


class Changes(NamedTuple):
    """Versions that an upgrade changes, by API key in ascending order.

    * ``removed``: versions that only the old release supports.
    * ``added``: versions that only the new release supports.
    """

    removed: dict[int, VersionRange]
    added: dict[int, VersionRange]


class _Row(NamedTuple):
    versions: VersionRange
    deprecated: VersionRange
    instead: tuple[VersionRange, ...]
    unstable: VersionRange
    listeners: tuple[str, ...]


class _Release(NamedTuple):
    listeners: tuple[str, ...]
    rows: dict[int, _Row]


class _Facts(NamedTuple):
    releases: dict[str, _Release]
    protocols: list[ProtocolVersion]


_read_once: list[_Facts] = []


def ranges(release: str, listener: str | None = None) -> dict[int, VersionRange]:
    """Return the stable versions of a release, by API key in ascending order.

    ``listener`` is an element of ``LISTENERS``. None combines all listeners. Before
    2.8, all brokers used ZooKeeper, so "broker" and "zkBroker" have the same versions.
    If the release does not have the listener, the result is empty.
    Raises ``KeyError`` if the release is unknown, and ``ValueError`` if the listener is
    unknown.
    """
    rows = _select_rows(release, listener)
    return {key: row.versions for key, row in rows.items() if row.versions}


def listeners(release: str) -> tuple[str, ...]:
    """Return the ``LISTENERS`` that a release's nodes have.

    Raises ``KeyError`` if the release is unknown.
    """
    return _find_release(release).listeners


def usual_listener(release: str) -> str:
    """Return the listener that clients of a release usually connect to.

    This is a ZooKeeper broker before 3.3, which was the first release with KRaft for
    production, and a KRaft broker since 3.3. Raises ``KeyError`` if the release is
    unknown.
    """
    _find_release(release)
    names = list(_load_facts().releases)
    return "zkBroker" if names.index(release) < names.index("3.3") else "broker"


def deprecated(release: str) -> dict[int, VersionRange]:
    """Return the versions that a release supports but marks as deprecated, by API key.

    Kafka's documentation has marked them since 3.7, and 4.0 removed most of them.
    Raises ``KeyError`` if the release is unknown.
    """
    rows = _find_release(release).rows
    return {key: row.deprecated for key, row in rows.items() if row.deprecated}


def changes(old: str, new: str) -> Changes:
    """Return the versions that an upgrade from ``old`` to ``new`` removes and adds.

    The versions of all listeners are combined. Raises ``KeyError`` if a release is
    unknown.
    """
    before, after = ranges(old), ranges(new)
    return Changes(_subtract_ranges(before, after), _subtract_ranges(after, before))


def advertisements(
    release: str, listener: str | None = None, *, unstable: bool = False
) -> dict[int, tuple[VersionRange, ...]]:
    """Return the version ranges that nodes of a release may advertise, by API key.

    The first range of an API contains the versions that the release supports.
    Additional ranges are alternatives, because nodes may advertise a different range.
    An empty range means that a response may omit the API. ``unstable`` selects nodes
    with ``unstable.api.versions.enable``. ``listener`` and exceptions are as in
    ``ranges``.
    """
    ranges_by_key: dict[int, tuple[VersionRange, ...]] = {}
    for key, row in _select_rows(release, listener).items():
        if unstable and row.unstable:
            min_version = row.versions.min if row.versions else row.unstable.min
            ranges_by_key[key] = (VersionRange(min_version, row.unstable.max),)
        elif row.versions:
            ranges_by_key[key] = (row.versions, *row.instead)
    return ranges_by_key


def protocol_versions() -> tuple[ProtocolVersion, ...]:
    """List all protocol versions, oldest first."""
    return tuple(_load_facts().protocols)


def protocol_version(id_or_name: int | str) -> ProtocolVersion:
    """Look up a protocol version by its number or by its name, such as "0.10.0-IV0".

    Raises ``KeyError`` with the available versions if there is no match, or if the name
    is that of a release with several protocol versions.
    """
    protocols = _load_facts().protocols
    for protocol in protocols:
        if id_or_name == (
            protocol.name if isinstance(id_or_name, str) else protocol.id
        ):
            return protocol
    steps = [protocol.name for protocol in protocols if protocol.release == id_or_name]
    if steps:
        raise KeyError(
            f"{id_or_name} has several protocol versions: give one of"
            f" {', '.join(steps)}"
        )
    first, last = protocols[0], protocols[-1]
    raise KeyError(
        f"no protocol version {id_or_name!r}; kwire has {first.id} ({first.name})"
        f" to {last.id} ({last.name})"
    )


def name_of(api_key: int) -> str:
    """Return Kafka's name of an API, for example "Fetch" for 1.

    Raises ``KeyError`` if kwire does not support the API key.
    """
    return registry.find_by_key(api_key, "request").name.removesuffix("Request")


def key_of(name: str) -> int:
    """Return an API's key, for example 1 for "Fetch" or "FetchRequest".

    Raises ``KeyError`` if kwire does not support the API.
    """
    api = name.removesuffix("Request").removesuffix("Response")
    try:
        key = registry.find(f"{api}Request").api_key
    except KeyError:
        key = None
    if key is None:
        raise KeyError(f"unknown API {name!r}")
    return key


def __getattr__(name: str) -> tuple[str, ...]:
    # The release file is parsed on first access, because importing this module must be
    # fast.
    if name == "NAMES":
        return tuple(_load_facts().releases)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _find_release(name: str) -> _Release:
    known_releases = _load_facts().releases
    if name not in known_releases:
        first, *_, last = known_releases
        raise KeyError(
            f"no release line {name!r}; kwire has {first!r} to {last!r}, such as '2.8'"
        )
    return known_releases[name]


def _select_rows(release: str, listener: str | None) -> dict[int, _Row]:
    known_release = _find_release(release)
    if listener is None:
        return known_release.rows
    if listener not in LISTENERS:
        raise ValueError(f"listener must be one of {LISTENERS} (got {listener!r})")
    if listener == "broker" and "broker" not in known_release.listeners:
        listener = "zkBroker"
    return {
        key: row for key, row in known_release.rows.items() if listener in row.listeners
    }


def _subtract_ranges(
    ranges_by_key: dict[int, VersionRange], other_ranges: dict[int, VersionRange]
) -> dict[int, VersionRange]:
    differences = {}
    for key, own_range in ranges_by_key.items():
        other_range = other_ranges.get(key, NONE)
        # Every change between releases affects only one end of a range. A test checks
        # this for all pairs of releases.
        below = VersionRange(own_range.min, min(own_range.max, other_range.min - 1))
        difference = below or VersionRange(
            max(own_range.min, other_range.max + 1), own_range.max
        )
        if difference:
            differences[key] = difference
    return differences


def _load_facts() -> _Facts:
    if not _read_once:
        # Store the parsed facts in one step, so that other threads see either none or
        # all of them.
        _read_once.append(_read_facts(registry.fact_text("releases")))
    return _read_once[0]


def _read_facts(text: str) -> _Facts:
    releases: dict[str, _Release] = {}
    protocols = []
    name = ""
    release_listeners: tuple[str, ...] = ()
    rows: dict[int, _Row] = {}
    for line in text.splitlines():
        words = line.split()
        if not words or words[0] == "#":
            continue
        if words[0] == "release":
            name, release_listeners = words[1], tuple(words[2].split(","))
            rows = {
                key: _narrow_listeners(row, release_listeners)
                for key, row in rows.items()
            }
            releases[name] = _Release(release_listeners, rows)
        elif words[0] == "protocol":
            level = int(words[4]) if len(words) > 3 else None
            protocols.append(ProtocolVersion(int(words[1]), words[2], name, level))
        else:
            key = int(words[0])
            previous_row = rows.pop(key, None)
            row = _parse_row(
                words, previous_row.listeners if previous_row else release_listeners
            )
            if row.versions or row.unstable:
                rows[key] = row
    ordered = {
        name: _Release(release.listeners, dict(sorted(release.rows.items())))
        for name, release in releases.items()
    }
    return _Facts(ordered, protocols)


def _parse_row(words: list[str], listeners: tuple[str, ...]) -> _Row:
    properties = dict(zip(words[3::2], words[4::2], strict=True))
    alternatives = properties.get("or")
    return _Row(
        VersionRange.from_text(words[2]),
        VersionRange.from_text(properties.get("deprecated", "none")),
        tuple(map(VersionRange.from_text, alternatives.split(",")))
        if alternatives
        else (),
        VersionRange.from_text(properties.get("unstable", "none")),
        tuple(properties["on"].split(",")) if "on" in properties else listeners,
    )


def _narrow_listeners(row: _Row, its_listeners: tuple[str, ...]) -> _Row:
    remaining_listeners = tuple(
        listener for listener in row.listeners if listener in its_listeners
    )
    return row._replace(listeners=remaining_listeners)
