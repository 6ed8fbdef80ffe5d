# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Audit results as rows of the tables ``clients``, ``breaks`` and ``problems``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...recording.requests import find_fate
from .sightings import Client, SeenRequests, Sightings, Usage
from .verdicts import (
    BREAKS,
    OK,
    UNKNOWN,
    Judgement,
    Target,
    find_api_name,
    format_versions,
    judge,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_RISK_ORDER = {BREAKS: 0, UNKNOWN: 1, OK: 2}

_CLIENT_COLUMNS = {
    "address": "string",
    "client_id": "string",
    "software_name": "string",
    "software_version": "string",
}
_COUNT_COLUMNS = {
    "requests": "bigint",
    "first_seen": "timestamp",
    "last_seen": "timestamp",
}
TABLES: dict[str, dict[str, Any]] = {
    "clients": {
        **_CLIENT_COLUMNS,
        "verdict": "string",
        "reason": "string",
        "apis": "string",
        "negotiates": "boolean",
        "breaking_requests": "bigint",
        **_COUNT_COLUMNS,
    },
    "breaks": {
        **_CLIENT_COLUMNS,
        "api_key": "int",
        "api": "string",
        "api_version": "int",
        **_COUNT_COLUMNS,
        "target_speaks": "string",
        "removed_in": "string",
        "what_to_do": "string",
    },
    "problems": {
        "path": "string",
        "line": "bigint",
        "position": "bigint",
        "reason": "string",
        "text": "string",
    },
}
"""Column types by table name and column name."""


class AuditFindings(NamedTuple):
    """Audit results. Clients with the highest risk come first.

    ``clients``, ``breaks`` and ``problems`` are rows for the tables with these names.
    """

    target: Target
    sightings: Sightings
    clients: list[dict[str, Any]]
    breaks: list[dict[str, Any]]
    problems: list[dict[str, Any]]

    def list_broken(self) -> set[tuple[int, int]]:
        """Return (API key, version) pairs on which at least one client breaks."""
        return {(row["api_key"], row["api_version"]) for row in self.breaks}


def find_breaks(target: Target, seen: Iterable[Sightings]) -> AuditFindings:
    """Merge the sightings of all tasks, and judge every client."""
    total = Sightings()
    for task_sightings in seen:
        total.merge(task_sightings)
    total.settle()
    clients, breaks = [], []
    for client, usage in total.clients.items():
        judgement = judge(client, usage, target, total.offered)
        clients.append(_make_client_row(client, usage, judgement))
        breaks += _make_break_rows(client, usage, judgement, target)
    clients.sort(key=_order_by_risk)
    breaks.sort(
        key=lambda row: (-row["requests"], *_list_client_names(row), row["api_key"])
    )
    problems = [problem._asdict() for problem in total.problems]
    return AuditFindings(target, total, clients, breaks, problems)


def _make_client_row(
    client: Client, usage: Usage, judgement: Judgement
) -> dict[str, Any]:
    breaking_counts = (
        usage.versions[version_break[:2]].count for version_break in judgement.breaks
    )
    apis = (
        f"{find_api_name(key)} {format_versions(versions)}"
        for key, versions in usage.by_api().items()
    )
    return {
        **client._asdict(),
        "verdict": judgement.verdict,
        "reason": judgement.reason or None,
        "apis": "; ".join(apis),
        "negotiates": usage.negotiates or client.software_name is not None,
        "breaking_requests": sum(breaking_counts),
        **_make_count_columns(usage.total()),
    }


def _make_break_rows(
    client: Client, usage: Usage, judgement: Judgement, target: Target
) -> list[dict[str, Any]]:
    return [
        {
            **client._asdict(),
            "api_key": version_break.api_key,
            "api": find_api_name(version_break.api_key),
            "api_version": version_break.api_version,
            **_make_count_columns(usage.versions[version_break[:2]]),
            "target_speaks": str(target.speaks(version_break.api_key)),
            "removed_in": find_fate(*version_break[:2]).removed_in,
            "what_to_do": version_break.what_to_do,
        }
        for version_break in judgement.breaks
    ]


def _make_count_columns(requests: SeenRequests) -> dict[str, Any]:
    return {
        "requests": requests.count,
        "first_seen": requests.first,
        "last_seen": requests.last,
    }


def _order_by_risk(row: dict[str, Any]) -> tuple[Any, ...]:
    risk = _RISK_ORDER[row["verdict"]]
    return (risk, -row["breaking_requests"], -row["requests"], *_list_client_names(row))


def _list_client_names(row: dict[str, Any]) -> list[str]:
    return [row[name] or "" for name in _CLIENT_COLUMNS]
