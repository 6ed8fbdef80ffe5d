# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decision rules of the audit: which clients break after a broker upgrade.

A client breaks if it needs a version that the target release does not support. Clients
behave in one of two ways:

* A client that never requests supported versions always sends the observed versions,
  independently of the broker.
* A client that negotiates uses the maximum version that both sides support. The
  observed version is therefore the client's own limit only if the broker has offered a
  higher version.

The rules are documented for users in ``docs/operators/audit.md``. This module reads no
files and writes no tables.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ...recording.requests import find_fate
from ...schema import releases
from ...schema.versions import NONE, VersionRange
from .sightings import API_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .sightings import Client, Usage

OK, UNKNOWN, BREAKS = "OK", "UNKNOWN", "BREAKS"

_JAVA_CLIENT_NAME = "apache-kafka-java"
_release_number = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")

_BROKER_ONLY_APIS = {releases.key_of("WriteTxnMarkers")}
"""APIs that only brokers send, although all listeners offer them."""


class VersionBreak(NamedTuple):
    """API version that a client needs, but the target release does not support.

    ``what_to_do`` is the recommended action.
    """

    api_key: int
    api_version: int
    what_to_do: str


class Judgement(NamedTuple):
    """Decision about a client.

    * ``verdict``: "OK", "UNKNOWN" or "BREAKS".
    * ``reason``: sentence that explains the verdict.
    * ``breaks``: API versions on which the client breaks. Empty if it does not break.
    """

    verdict: str
    reason: str
    breaks: tuple[VersionBreak, ...] = ()


class Target:
    """Target release for an upgrade.

    A patch release is treated as its release line: "4.1.2" is "4.1". Raises
    ``ValueError`` if there is no such release.
    """

    def __init__(self, name: str) -> None:
        self.name = find_release(name)
        self._ranges = releases.ranges(self.name)
        self._deprecated = releases.deprecated(self.name)

    def speaks(self, api_key: int) -> VersionRange:
        """Return the versions of an API that the target supports on any listener."""
        return self._ranges.get(api_key, NONE)

    def deprecates(self, api_key: int, api_version: int) -> bool:
        """Return whether the target supports a version, but has deprecated it."""
        return api_version in self._deprecated.get(api_key, NONE)

    def phases_out(self, api_key: int, api_version: int) -> bool:
        """Return whether a version is unsupported by the target, or deprecated.

        The deprecation in the newest release that supports the version decides, even if
        this release is newer than the target.
        """
        return self.refuses(api_key, api_version) or bool(
            find_fate(api_key, api_version).deprecated
        )

    def refuses(self, api_key: int, api_version: int) -> bool:
        """Return whether the target rejects a version that clients send.

        Always False for APIs that clients never use, and for ApiVersions, because
        brokers answer every version of it.
        """
        return (
            api_key not in find_broker_apis()
            and api_key != API_VERSIONS
            and api_version not in self.speaks(api_key)
        )


@cache
def find_broker_apis() -> frozenset[int]:
    """Find the APIs that clients never use.

    KRaft brokers do not offer these APIs on their broker listener.
    """
    broker_apis: set[int] = set()
    for release in releases.NAMES:
        if "broker" in releases.listeners(release):
            offered = releases.ranges(release, "broker").keys()
            broker_apis |= releases.ranges(release).keys() - offered
            broker_apis -= offered
    return frozenset(broker_apis | _BROKER_ONLY_APIS)


def find_release(name: str) -> str:
    """Find the release line for a name, for example "4.1" for "4.1.2".

    Raises ``ValueError`` if the release line is unknown.
    """
    if name in releases.NAMES:
        return name
    line, _, patch = name.rpartition(".")
    if line in releases.NAMES and patch.isdecimal() and line.count("."):
        return line
    raise ValueError(
        f"no release line {name!r} of Kafka; use one of {', '.join(releases.NAMES)}"
    )


def judge(
    client: Client,
    usage: Usage,
    target: Target,
    offered: Mapping[str, Mapping[int, int]],
) -> Judgement:
    """Decide whether a client breaks.

    * ``client``: client identity.
    * ``usage``: observed requests.
    * ``target``: target release.
    * ``offered``: maximum versions that brokers were observed to offer, by broker
      address and API key.
    """
    if usage.is_broker:
        return Judgement(OK, "a broker, which is upgraded itself")
    breaks: list[VersionBreak] = []
    broken: list[str] = []
    unknown: list[str] = []
    notes: list[str] = []
    is_judged = False
    negotiates = usage.negotiates or client.software_name is not None
    for api_key, versions in usage.by_api().items():
        if api_key in find_broker_apis():
            continue
        is_judged = True
        kafka_versions = [
            version for version in versions if _was_ever_supported(api_key, version)
        ]
        if len(kafka_versions) < len(versions):
            other_versions = [
                version for version in versions if version not in kafka_versions
            ]
            unknown.append(
                f"{_format_break(api_key, other_versions)} is not part of any Kafka"
                " release"
            )
        refused = [
            version for version in kafka_versions if target.refuses(api_key, version)
        ]
        if not refused:
            deprecated = [
                version
                for version in kafka_versions
                if target.deprecates(api_key, version)
            ]
            if deprecated:
                notes.append(
                    f"{target.name} deprecates {_format_break(api_key, deprecated)}"
                )
            continue
        speaks = target.speaks(api_key)
        verdict, explanation = BREAKS, ""
        if negotiates:
            verdict, explanation = _judge_negotiation(
                client, usage, api_key, kafka_versions, speaks, offered
            )
        if verdict == BREAKS:
            broken.append(
                f"{_format_break(api_key, refused)} ({_format_spoken(target, api_key)})"
            )
            advice = _make_advice(client, target, api_key, negotiates)
            breaks += (VersionBreak(api_key, version, advice) for version in refused)
        elif verdict == UNKNOWN:
            unknown.append(
                f"{_format_break(api_key, refused)} {explanation}; it is unknown"
                f" whether the client supports {speaks}"
            )
        else:
            notes.append(
                f"also supports versions other than {_format_break(api_key, refused)}"
            )
    if usage.unreadable.count:
        unknown.append(
            "some frames cannot be decoded; they may be TLS or another protocol"
        )
    if breaks:
        explanation = (
            "it supports no newer versions"
            if negotiates
            else "it never requests the versions of brokers"
        )
        return Judgement(BREAKS, "; ".join((*broken, explanation)), tuple(breaks))
    if unknown:
        return Judgement(UNKNOWN, "; ".join(unknown))
    if not is_judged:
        notes.append("uses only APIs between brokers, which are upgraded themselves")
    return Judgement(OK, "; ".join(notes))


def _was_ever_supported(api_key: int, version: int) -> bool:
    """Return whether any Kafka release has supported a version.

    Otherwise the request is invalid, or a vendor extension.
    """
    fate = find_fate(api_key, version)
    return fate.removed_in is not None or version in _get_newest_ranges().get(
        api_key, NONE
    )


@cache
def _get_newest_ranges() -> dict[int, VersionRange]:
    return releases.ranges(releases.NAMES[-1])


def _judge_negotiation(
    client: Client,
    usage: Usage,
    api_key: int,
    versions: list[int],
    speaks: VersionRange,
    offered: Mapping[str, Mapping[int, int]],
) -> tuple[str, str]:
    """Decide about one API of a client that negotiates versions.

    Returns the verdict, and the reason if it is UNKNOWN.
    """
    if not speaks:
        return BREAKS, ""
    if any(version in speaks for version in versions):
        return OK, ""
    if own_versions := _find_java_versions(client, api_key):
        return (OK if own_versions & speaks else BREAKS), ""
    highest = max(versions)
    if highest > speaks.max:
        return UNKNOWN, "is newer than the target"
    brokers = usage.brokers.get(api_key, ())
    offered_versions = [offered.get(broker, {}).get(api_key, -1) for broker in brokers]
    highest_offered = max(offered_versions, default=-1)
    if highest_offered > highest:
        return BREAKS, ""
    return (
        UNKNOWN,
        "is the newest version of its broker"
        if highest_offered >= 0
        else "is the newest version observed",
    )


def _find_java_versions(client: Client, api_key: int) -> VersionRange:
    """Return the versions that a Java client supports, according to its Kafka release.

    The result is empty if it is not a Java client, or its release is unknown.
    """
    release = _find_java_release(client)
    return NONE if release is None else releases.ranges(release).get(api_key, NONE)


def _find_java_release(client: Client) -> str | None:
    match = _release_number.match(client.software_version or "")
    if client.software_name != _JAVA_CLIENT_NAME or match is None:
        return None
    for name in (match[0], f"{match[1]}.{match[2]}"):
        if name in releases.NAMES:
            return name
    return None


def _make_advice(client: Client, target: Target, api_key: int, negotiates: bool) -> str:
    name, speaks = find_api_name(api_key), target.speaks(api_key)
    if not speaks:
        return f"Stop using {name}: {target.name} does not support this API"
    since = next(
        release
        for release in releases.NAMES
        if speaks.min in releases.ranges(release).get(api_key, NONE)
    )
    update = f"Update it to a version that supports {name} {speaks.min}"
    if client.software_name == _JAVA_CLIENT_NAME:
        update = f"Update it to the Java client of {since} or newer"
    else:
        update += f", as clients of Kafka {since} do"
    if not negotiates:
        update += "; or configure it to request the versions of brokers, if it can"
    return update


def format_versions(versions: Iterable[int]) -> str:
    """Format versions in a compact form, for example "0-2, 5"."""
    runs: list[list[int]] = []
    for version in sorted(versions):
        if runs and version == runs[-1][1] + 1:
            runs[-1][1] = version
        else:
            runs.append([version, version])
    return ", ".join(f"{low}-{high}" if low < high else f"{low}" for low, high in runs)


def find_api_name(api_key: int) -> str:
    """Return an API's name. Also works for keys that Kafka does not define."""
    return find_fate(api_key, 0).api or f"API key {api_key}"


def _format_break(api_key: int, versions: Iterable[int]) -> str:
    text = format_versions(versions)
    if find_fate(api_key, 0).api is None:
        return f"version {text} of API key {api_key}"
    return f"{find_api_name(api_key)} {text}"


def _format_spoken(target: Target, api_key: int) -> str:
    speaks = target.speaks(api_key)
    if not speaks:
        return f"not supported by {target.name}"
    return f"{target.name} supports {speaks}"
