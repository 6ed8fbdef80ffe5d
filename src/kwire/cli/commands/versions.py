# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``kwire versions``: lists the API versions that brokers support, and usable versions.

All brokers are queried, because they may run different releases.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..._text import escape_line, format_address, format_count
from ...connection.negotiation import (
    DEFAULT_POLICY,
    FEATURES,
    ClusterVersions,
    guess_release,
    name_of,
)
from ...errors import KwireError
from ...schema import registry, releases
from ...schema.versions import NONE, VersionRange
from ..input.brokers import (
    add_broker_options,
    connect_with,
    read_access,
    read_addresses,
)
from ..main import CANNOT, EXIT_CODES, FINE, PROBLEMS, explain
from ..output.tables import JsonLines, Table, open_output
from ..output.terminal import say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...client import BrokerVersions
    from ...connection.negotiation import ApiVersionTable
    from ..input.brokers import Access
    from ..output.tables import Output

_FEATURE_NAMES = {feature.name: feature for feature in FEATURES}

_WRAPPED = 79
"""Maximum line width for name lists in characters, which fits into a terminal with 80
columns.
"""


class Alike(NamedTuple):
    """Brokers that advertise identical API versions.

    * ``nodes``: the brokers.
    * ``table``: the versions that each of these brokers advertises.
    """

    nodes: list[BrokerVersions]
    table: ApiVersionTable

    @property
    def title(self) -> str:
        """Column title: up to three node ids, or two node ids and an ellipsis."""
        ids = [str(node.node_id) for node in self.nodes]
        return ",".join(ids if len(ids) < 4 else [*ids[:2], "…"])


def _read_features(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> list[str]:
    names = {name.lower(): name for name in _FEATURE_NAMES}
    for text in texts:
        if text.lower() not in names:
            known = ", ".join(_FEATURE_NAMES)
            raise click.BadParameter(f"unknown feature {text!r}; kwire knows {known}")
    return [names[text.lower()] for text in texts]


@click.command(
    epilog=EXIT_CODES, short_help="List the API versions of brokers; guess the release."
)
@add_broker_options
@click.option(
    "--require",
    multiple=True,
    metavar="FEATURE",
    callback=_read_features,
    help="Exit with 1 if a broker lacks this feature; repeatable.",
)
@click.option(
    "--format",
    "-o",
    "form",
    type=click.Choice(("table", "jsonl", "compat")),
    default="table",
    help="A table (the default), JSON lines, or the text of Kafka's own tool.",
)
def command(
    form: str, bootstrap: tuple[str, ...], require: list[str], **options: Any
) -> int:
    """List the versions of each API that the brokers of a cluster support.

    All brokers are found through the first HOST:PORT that answers. An IPv6 address is
    in brackets: [::1]:9092. Without an address, KWIRE_BOOTSTRAP_SERVERS in the
    environment has them. USABLE is the version that kwire would choose.
    """
    access = read_access(**options)
    return _report(form, _find_brokers(read_addresses(bootstrap), access), require)


def _find_brokers(
    bootstrap: Sequence[tuple[str, int]], access: Access
) -> list[BrokerVersions]:
    """Return the brokers from the first reachable address, sorted by node id.

    Errors for preceding addresses are printed. Raises the last error if no address is
    reachable.
    """
    for number, (host, port) in enumerate(bootstrap, 1):
        try:
            with connect_with(format_address(host, port), access) as kafka:
                return list(kafka.broker_versions().values())
        except KwireError as error:
            if number == len(bootstrap):
                raise
            say(explain(error))
    raise AssertionError("at least one address is required (got none)")


def _report(form: str, nodes: list[BrokerVersions], require: Sequence[str]) -> int:
    reached = [(node, node.table) for node in nodes if node.table is not None]
    cluster = ClusterVersions({node.address: table for node, table in reached})
    with open_output() as output:
        if form == "compat":
            for node in nodes:
                output.write(_compat_text(node) + "\n")
        elif form == "jsonl":
            _write_json(output, nodes, cluster)
        elif reached:
            _write_tables(output, _groups(reached), cluster)
    unreached = [node for node in nodes if node.table is None]
    for node in unreached:
        say(node.error)
    lacking = _lacking(require, reached)
    for feature, addresses in lacking.items():
        say(f"{feature} is missing on {', '.join(addresses)}")
    summary = format_count(len(nodes), "broker")
    say(f"{summary}, not reached: {len(unreached):,}" if unreached else summary)
    if unreached:
        return CANNOT
    return PROBLEMS if lacking else FINE


def _lacking(
    require: Sequence[str], reached: Sequence[tuple[BrokerVersions, ApiVersionTable]]
) -> dict[str, list[str]]:
    """Find the required features that at least one broker does not support.

    Returns the addresses of these brokers by feature name.
    """
    addresses_by_feature = {
        name: [
            node.address
            for node, table in reached
            if not table.supports(_FEATURE_NAMES[name])
        ]
        for name in require
    }
    return {
        name: addresses for name, addresses in addresses_by_feature.items() if addresses
    }


def _groups(reached: Sequence[tuple[BrokerVersions, ApiVersionTable]]) -> list[Alike]:
    """Group the brokers that could be reached by their advertised API versions."""
    groups: list[Alike] = []
    for node, table in reached:
        for group in groups:
            if group.table.advertised == table.advertised:
                group.nodes.append(node)
                break
        else:
            groups.append(Alike([node], table))
    return groups


def _write_tables(
    output: Output, groups: Sequence[Alike], cluster: ClusterVersions
) -> None:
    _write_brokers(output, groups)
    output.write("\n")
    _write_apis(output, groups, cluster)
    output.write("\n")
    usable = cluster.features()
    _write_names(output, "Usable features", usable)
    missing = [name for name in _FEATURE_NAMES if name not in usable]
    _write_names(output, "Missing features", missing)
    agreed = cluster.finalized_features()
    _write_names(
        output,
        f"Finalized features (epoch {agreed.epoch})",
        [f"{escape_line(name)} {agreed.level(name)}" for name in sorted(agreed.levels)],
    )


def _write_brokers(output: Output, groups: Sequence[Alike]) -> None:
    rows = sorted(
        (node.node_id, escape_line(node.rack or "-"), guess, escape_line(node.address))
        for group in groups
        for guess in [str(guess_release(group.table))]
        for node in group.nodes
    )
    lines = [[str(number), *others] for number, *others in rows]
    racks, guesses = (max(len(row[index]) for row in lines) for index in (1, 2))
    columns = [("ID", -4), ("RACK", max(4, racks)), ("RELEASE", max(7, guesses))]
    table = Table(output, [*columns, ("BROKER", 0)])
    for line in lines:
        table.write(line)


def _write_names(output: Output, what: str, names: Sequence[str]) -> None:
    if names:
        # A name may be followed by a space and its level. Replace these spaces, so that
        # ``textwrap`` only breaks lines after commas.
        text = ", ".join(name.replace(" ", "\0") for name in names)
        lines = textwrap.wrap(f"{what}: {text}", _WRAPPED, subsequent_indent="  ")
        output.write("\n".join(lines).replace("\0", " ") + "\n")


def _write_apis(
    output: Output, groups: Sequence[Alike], cluster: ClusterVersions
) -> None:
    """Write a line per API with its versions by broker, and its usable version."""
    keys = sorted({key for group in groups for key in group.table.advertised})
    shared = cluster.ranges()
    marked = _find_deprecated(groups)
    names = {key: escape_line(name_of(key)) for key in keys}
    columns = [("API", max(map(len, names.values()), default=0)), ("KEY", -3)]
    if len(groups) == 1:
        columns += [("BROKERS", -7)]
    else:
        columns += [(group.title, -max(5, len(group.title))) for group in groups]
        columns += [("ALL", -5)]
    table = Table(output, [*columns, ("USABLE", -6), ("NOTE", 0)])
    for key in keys:
        cells = [_range_text(group.table.advertised.get(key)) for group in groups]
        if len(groups) > 1:
            cells.append(str(shared.get(key, NONE)))
        usable = cluster.usable(key)
        note = _note(key, shared.get(key, NONE), marked.get(key, NONE), groups)
        picked = str(usable[-1]) if usable else "-"
        table.write([names[key], str(key), *cells, picked, note])


def _range_text(ends: tuple[int, int] | None) -> str:
    if ends is None:
        return "-"
    low, high = ends
    return str(low) if low == high else f"{low}-{high}"


def _find_deprecated(groups: Sequence[Alike]) -> Mapping[int, VersionRange]:
    """Return the versions that the newest release among the brokers deprecates.

    The result is a mapping by API key. It is empty if no release can be guessed.
    """
    guesses = [guess_release(group.table).min_release for group in groups]
    release_indexes = [releases.NAMES.index(release) for release in guesses if release]
    return (
        releases.deprecated(releases.NAMES[max(release_indexes)])
        if release_indexes
        else {}
    )


def _note(
    key: int, spoken: VersionRange, marked: VersionRange, groups: Sequence[Alike]
) -> str:
    """Return the notes about an API, for example "too new" or "0-3 deprecated".

    * ``key``: API key.
    * ``spoken``: versions that all brokers support.
    * ``marked``: deprecated versions.
    * ``groups``: brokers by advertised versions.
    """
    ours = DEFAULT_POLICY.range_of(key)
    notes = []
    if not ours:
        notes.append("unknown to kwire" if not _is_known(key) else "unstable")
    elif not spoken:
        notes.append("not on all brokers" if len(groups) > 1 else "no valid range")
    elif not ours & spoken:
        notes.append("too old" if spoken.max < ours.min else "too new")
    for group in groups:
        refused = _find_refused(key, group.table)
        if refused:
            notes.append(f"{refused} refused")
            break
    if marked & spoken:
        notes.append(f"{marked & spoken} deprecated")
    return ", ".join(notes)


def _find_refused(key: int, table: ApiVersionTable) -> VersionRange:
    """Return the versions that a broker advertises although it rejects them.

    ``key`` is the API key. The result is empty if there are no such versions.
    """
    low, high = table.advertised.get(key, (0, -1))
    first = table.range_of(key).min
    return VersionRange(low, first - 1) if 0 <= low < first <= high else NONE


def _is_known(key: int) -> bool:
    return key in registry.keys("request")


def _write_json(
    output: Output, nodes: Sequence[BrokerVersions], cluster: ClusterVersions
) -> None:
    lines = JsonLines(output)
    for node in nodes:
        row: dict[str, object] = {
            "kind": "broker",
            "address": node.address,
            "id": node.node_id,
            "rack": node.rack,
        }
        table = node.table
        if table is None:
            lines.write({**row, "error": node.error})
            continue
        advertised = sorted(table.advertised.items())
        lines.write(
            {
                **row,
                "release": str(guess_release(table)),
                "apis": [_api(key, ends, table) for key, ends in advertised],
                "features": list(table.features()),
                "supported_features": _levels(table.supported_features),
                "finalized_features": _levels(table.finalized_features),
                "finalized_features_epoch": table.finalized_features_epoch,
            }
        )
    agreed = cluster.finalized_features()
    lines.write(
        {
            "kind": "cluster",
            "brokers": len(cluster.brokers),
            "apis": [
                _api(key, (spoken.min, spoken.max), cluster)
                for key, spoken in cluster.ranges().items()
                if spoken
            ],
            "features": list(cluster.features()),
            "finalized_features": _levels(agreed.levels),
            "finalized_features_epoch": agreed.epoch,
        }
    )


def _api(
    key: int, ends: tuple[int, int], versions: ApiVersionTable | ClusterVersions
) -> dict[str, object]:
    usable = versions.usable(key)
    return {
        "key": key,
        "name": name_of(key) if _is_known(key) else None,
        "min": ends[0],
        "max": ends[1],
        "usable": usable[-1] if usable else None,
    }


def _levels(features: Mapping[str, VersionRange]) -> dict[str, list[int]]:
    return {name: [levels.min, levels.max] for name, levels in features.items()}


def _compat_text(node: BrokerVersions) -> str:
    """Format broker versions like ``kafka-broker-api-versions.sh``.

    "usable" is the version that Kafka's own client would choose in the newest release
    that kwire supports.
    """
    rack = "null" if node.rack is None else node.rack
    head = (
        f"{node.host}:{node.port} (id: {node.node_id} rack: {rack} isFenced: false) -> "
    )
    if node.table is None:
        return escape_line(f"{head}ERROR: {node.error}")
    newest = releases.NAMES[-1]
    spoken = {
        key: ranges[0]
        for key, ranges in releases.advertisements(newest, unstable=True).items()
    }
    advertised = node.table.advertised
    lines = {key: _compat_line(key, *ends, spoken) for key, ends in advertised.items()}
    for key in releases.ranges(newest, "broker"):
        lines.setdefault(key, f"{name_of(key)}({key}): UNSUPPORTED")
    body = ",\n\t".join(lines[key] for key in sorted(lines))
    return f"{escape_line(head)}(\n\t{body}\n)"


def _compat_line(
    key: int, low: int, high: int, spoken: Mapping[int, VersionRange]
) -> str:
    versions = str(low) if low == high else f"{low} to {high}"
    if not _is_known(key):
        return f"UNKNOWN({key}): {versions}"
    ours = spoken.get(key, NONE)
    if not ours or low > ours.max:
        fit = "unusable: node too new"
    elif high < ours.min:
        fit = "unusable: node too old"
    else:
        fit = f"usable: {min(ours.max, high)}"
    return f"{name_of(key)}({key}): {versions} [{fit}]"
