# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The rules of the audit: which clients break when brokers become another release.

A client breaks if it needs a version that the target does not speak. A client that
never requests the versions of brokers sends the versions it was seen with, whatever the
broker is. One that negotiates takes the highest version that both sides have; so the
version that it took is its own limit only if the broker had offered more.
``docs/operators/audit.md`` has the rules for users. No files here, and no tables.
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

_JAVA = "apache-kafka-java"
_release_number = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")

_FROM_BROKERS_TOO = {releases.key_of("WriteTxnMarkers")}
"""APIs that only brokers send, though every listener offers them."""


class VersionBreak(NamedTuple):
    """A version that a client needs and the target does not speak."""

    api_key: int
    api_version: int
    what_to_do: str


class Judgement(NamedTuple):
    """The verdict on a client, the reason, and the versions that it breaks on."""

    verdict: str
    reason: str
    breaks: tuple[VersionBreak, ...] = ()


class Target:
    """The release to upgrade to; ``ValueError`` if there is none of the name.

    A patch release is taken for its line: "4.1.2" is "4.1".
    """

    def __init__(self, name: str) -> None:
        self.name = find_release(name)
        self._ranges = releases.ranges(self.name)
        self._deprecated = releases.deprecated(self.name)

    def speaks(self, api_key: int) -> VersionRange:
        """Give the versions of an API that the target speaks, on any listener."""
        return self._ranges.get(api_key, NONE)

    def deprecates(self, api_key: int, api_version: int) -> bool:
        """Whether the target speaks a version and calls it deprecated."""
        return api_version in self._deprecated.get(api_key, NONE)

    def phases_out(self, api_key: int, api_version: int) -> bool:
        """Whether clients get no answer to a version, or some release deprecates it."""
        return self.refuses(api_key, api_version) or bool(
            find_fate(api_key, api_version).deprecated
        )

    def refuses(self, api_key: int, api_version: int) -> bool:
        """Whether clients get no answer to a version."""
        return (
            api_key not in find_broker_apis()
            and api_key != API_VERSIONS
            and api_version not in self.speaks(api_key)
        )


@cache
def find_broker_apis() -> frozenset[int]:
    """List the APIs that no client uses: brokers of KRaft do not offer them."""
    found: set[int] = set()
    for release in releases.NAMES:
        if "broker" in releases.listeners(release):
            offered = releases.ranges(release, "broker").keys()
            found |= releases.ranges(release).keys() - offered
            found -= offered
    return frozenset(found | _FROM_BROKERS_TOO)


def find_release(name: str) -> str:
    """Find the release line of a name such as "4.1" or "4.1.2"."""
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
    """Judge a client; ``offered`` is what brokers were seen to offer."""
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
        known = [version for version in versions if _is_of_kafka(api_key, version)]
        if len(known) < len(versions):
            rest = [version for version in versions if version not in known]
            unknown.append(f"{_format_break(api_key, rest)} is of no release of Kafka")
        gone = [version for version in known if target.refuses(api_key, version)]
        if not gone:
            old = [each for each in known if target.deprecates(api_key, each)]
            if old:
                notes.append(f"{target.name} deprecates {_format_break(api_key, old)}")
            continue
        speaks = target.speaks(api_key)
        verdict, why = BREAKS, ""
        if negotiates:
            verdict, why = _judge_negotiation(
                client, usage, api_key, known, speaks, offered
            )
        if verdict == BREAKS:
            broken.append(
                f"{_format_break(api_key, gone)} ({_format_spoken(target, api_key)})"
            )
            advice = _advise(client, target, api_key, negotiates)
            breaks += (VersionBreak(api_key, version, advice) for version in gone)
        elif verdict == UNKNOWN:
            unknown.append(
                f"{_format_break(api_key, gone)} {why}; whether it has {speaks} as well"
                " was not seen"
            )
        else:
            notes.append(f"has versions besides {_format_break(api_key, gone)}")
    if usage.unreadable.count:
        unknown.append("frames that cannot be read; they may be TLS, or not Kafka")
    if breaks:
        why = "it has no higher ones" if negotiates else "it never asks for versions"
        return Judgement(BREAKS, "; ".join((*broken, why)), tuple(breaks))
    if unknown:
        return Judgement(UNKNOWN, "; ".join(unknown))
    if not is_judged:
        notes.append("speaks as brokers do among themselves; they are upgraded too")
    return Judgement(OK, "; ".join(notes))


def _is_of_kafka(api_key: int, version: int) -> bool:
    """Whether some release spoke a version; else it is nonsense, or a vendor's."""
    fate = find_fate(api_key, version)
    return fate.removed_in is not None or version in _find_newest().get(api_key, NONE)


@cache
def _find_newest() -> dict[int, VersionRange]:
    return releases.ranges(releases.NAMES[-1])


def _judge_negotiation(
    client: Client,
    usage: Usage,
    api_key: int,
    versions: list[int],
    speaks: VersionRange,
    offered: Mapping[str, Mapping[int, int]],
) -> tuple[str, str]:
    """Judge an API of a client that takes the highest version both sides have."""
    if not speaks:
        return BREAKS, ""
    if any(version in speaks for version in versions):
        return OK, ""
    if own := _find_java_versions(client, api_key):
        return (OK if own & speaks else BREAKS), ""
    highest = max(versions)
    if highest > speaks.max:
        return UNKNOWN, "is newer"
    brokers = usage.brokers.get(api_key, ())
    ends = [offered.get(broker, {}).get(api_key, -1) for broker in brokers]
    end = max(ends, default=-1)
    if end > highest:
        return BREAKS, ""
    return (
        UNKNOWN,
        "is all that its broker has" if end >= 0 else "is all it was seen with",
    )


def _find_java_versions(client: Client, api_key: int) -> VersionRange:
    """Give what a Java client speaks, which is what its release speaks."""
    found = _find_java_release(client)
    return NONE if found is None else releases.ranges(found).get(api_key, NONE)


def _find_java_release(client: Client) -> str | None:
    match = _release_number.match(client.software_version or "")
    if client.software_name != _JAVA or match is None:
        return None
    for name in (match[0], f"{match[1]}.{match[2]}"):
        if name in releases.NAMES:
            return name
    return None


def _advise(client: Client, target: Target, api_key: int, negotiates: bool) -> str:
    name, speaks = find_api_name(api_key), target.speaks(api_key)
    if not speaks:
        return f"Stop using {name}: {target.name} has nothing in its place by this name"
    since = next(
        each
        for each in releases.NAMES
        if speaks.min in releases.ranges(each).get(api_key, NONE)
    )
    update = f"Update it to one that speaks {name} {speaks.min}"
    if client.software_name == _JAVA:
        update = f"Update it to the Java client of {since} or newer"
    else:
        update += f", as clients of Kafka {since} do"
    if not negotiates:
        update += "; or, if it can, let it ask brokers for their versions"
    return update


def format_versions(versions: Iterable[int]) -> str:
    """Write versions in short: 0-2, 5."""
    runs: list[list[int]] = []
    for version in sorted(versions):
        if runs and version == runs[-1][1] + 1:
            runs[-1][1] = version
        else:
            runs.append([version, version])
    return ", ".join(f"{low}-{high}" if low < high else f"{low}" for low, high in runs)


def find_api_name(api_key: int) -> str:
    """Name an API, also one that Kafka does not have."""
    return find_fate(api_key, 0).api or f"API key {api_key}"


def _format_break(api_key: int, versions: Iterable[int]) -> str:
    text = format_versions(versions)
    if find_fate(api_key, 0).api is None:
        return f"version {text} of API key {api_key}"
    return f"{find_api_name(api_key)} {text}"


def _format_spoken(target: Target, api_key: int) -> str:
    speaks = target.speaks(api_key)
    if not speaks:
        return f"gone in {target.name}"
    return f"{target.name} speaks {speaks}"
