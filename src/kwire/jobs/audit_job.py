# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The upgrade audit: who breaks when the brokers become another release.

Tasks read captures and request logs (``audit_tasks``), what they saw is summed up
(``audit_sightings``) and judged (``audit_verdicts``); here it becomes tables, and the
page is ``audit_page``'s.
"""

from __future__ import annotations

import os
from datetime import UTC, tzinfo
from typing import NamedTuple

from ..arrow_types import load_arrow_types
from ..recording.requests import fate_of
from . import audit_page, running
from .audit_sightings import Client, Seen, Sightings, Usage
from .audit_tasks import Task, find_sources, run
from .audit_verdicts import (
    BREAKS,
    OK,
    UNKNOWN,
    Judgement,
    Target,
    breaking,
    judge,
    name_of,
    versions_text,
)
from .tables import Output, load_pyarrow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .tables import Result

_RISK = {BREAKS: 0, UNKNOWN: 1, OK: 2}

_CLIENT = {
    "address": "string",
    "client_id": "string",
    "software_name": "string",
    "software_version": "string",
}
_SEEN = {"requests": "bigint", "first_seen": "timestamp", "last_seen": "timestamp"}
CLIENTS = (
    _CLIENT
    | {"verdict": "string", "reason": "string", "apis": "string"}
    | {"negotiates": "boolean", "breaking_requests": "bigint"}
    | _SEEN
)
BREAKS_TABLE = (
    _CLIENT
    | {"api_key": "int", "api": "string", "api_version": "int"}
    | _SEEN
    | {"target_speaks": "string", "removed_in": "string", "what_to_do": "string"}
)
PROBLEMS = {
    "path": "string",
    "line": "bigint",
    "position": "bigint",
    "reason": "string",
    "text": "string",
}


class Found(NamedTuple):
    """What the audit found, the riskiest clients first."""

    target: Target
    sightings: Sightings
    clients: list[dict[str, Any]]
    breaks: list[dict[str, Any]]
    problems: list[dict[str, Any]]


def audit(
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    target: str,
    spark: Any = None,
    progress: Callable[[int], object] | None = None,
    timezone: tzinfo = UTC,
) -> Result:
    """Tell who breaks on an upgrade to the release ``target``, such as "4.1".

    ``paths`` are captures of ``kwire record`` and request logs of brokers, or folders
    with some of them. Writes the tables ``requests``, ``clients``, ``breaks`` and
    ``problems`` and a page to the folder ``out``; ``findings`` is the number of clients
    that break. ``timezone`` is that of times in request logs. ``ValueError`` for a
    release that kwire does not know, ``FileNotFoundError`` where nothing is to be read.
    """
    release = Target(target)
    sources, sizes = find_sources(paths)
    if spark is None:
        spark = running.choose_spark(None, sum(sizes))
    with Output(out) as output:
        tasks = [
            Task(source, release.name, timezone, output.table_path("requests", number))
            for number, source in enumerate(sources)
        ]
        found = _found(
            release,
            running.run_tasks(run, tasks, sizes=sizes, spark=spark, progress=progress),
        )
        output.write_table("clients", _table(CLIENTS, found.clients))
        output.write_table("breaks", _table(BREAKS_TABLE, found.breaks))
        output.write_table("problems", _table(PROBLEMS, found.problems))
        output.write_report(audit_page.page(found))
    return output.result(sum(row["verdict"] == BREAKS for row in found.clients))


def _found(target: Target, seen: Iterable[Sightings]) -> Found:
    whole = Sightings()
    for each in seen:
        whole.merge(each)
    whole.settle()
    clients, breaks = [], []
    for client, usage in whole.clients.items():
        judgement = judge(client, usage, target, whole.offered)
        clients.append(_client_row(client, usage, judgement))
        breaks += _break_rows(client, usage, judgement, target)
    clients.sort(key=_by_risk)
    breaks.sort(key=lambda row: (-row["requests"], *_names(row), row["api_key"]))
    problems = [each._asdict() for each in whole.problems]
    return Found(target, whole, clients, breaks, problems)


def _client_row(client: Client, usage: Usage, judgement: Judgement) -> dict[str, Any]:
    return {
        **client._asdict(),
        "verdict": judgement.verdict,
        "reason": judgement.reason or None,
        "apis": _apis(usage),
        "negotiates": usage.asks or client.software_name is not None,
        "breaking_requests": breaking(usage, judgement).count,
        **_seen(usage.total()),
    }


def _break_rows(
    client: Client, usage: Usage, judgement: Judgement, target: Target
) -> list[dict[str, Any]]:
    return [
        {
            **client._asdict(),
            "api_key": each.api_key,
            "api": name_of(each.api_key),
            "api_version": each.api_version,
            **_seen(usage.versions[each.api_key, each.api_version]),
            "target_speaks": str(target.speaks(each.api_key)),
            "removed_in": fate_of(each.api_key, each.api_version).removed_in,
            "what_to_do": each.what_to_do,
        }
        for each in judgement.breaks
    ]


def _apis(usage: Usage) -> str:
    versions: dict[int, list[int]] = {}
    for api_key, version in sorted(usage.versions):
        versions.setdefault(api_key, []).append(version)
    return "; ".join(
        f"{name_of(key)} {versions_text(each)}" for key, each in versions.items()
    )


def _seen(seen: Seen) -> dict[str, Any]:
    return {"requests": seen.count, "first_seen": seen.first, "last_seen": seen.last}


def _by_risk(row: dict[str, Any]) -> tuple[Any, ...]:
    risk = _RISK[row["verdict"]]
    return (risk, -row["breaking_requests"], -row["requests"], *_names(row))


def _names(row: dict[str, Any]) -> list[str]:
    return [row[name] or "" for name in _CLIENT]


def _table(columns: dict[str, str], rows: list[dict[str, Any]]) -> Any:
    pa = load_pyarrow()
    types = load_arrow_types()
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    return pa.Table.from_pylist(rows, schema=schema)
