# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``audit``: its tasks, and the tables and the page that they lead to."""

from __future__ import annotations

import os
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from .. import running
from ..tables import Output, make_table
from .findings import TABLES, find_breaks
from .page import write_page
from .tasks import AuditTask, find_sources, read_source
from .verdicts import BREAKS, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..tables import Result


def audit(
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    target: str,
    spark: Any = None,
    progress: Callable[[int], object] | None = None,
    timezone: tzinfo = UTC,
) -> Result:
    """Find the clients that break when brokers become ``target``, such as "4.1".

    ``paths`` are captures of ``kwire record`` and request logs of brokers, or folders
    with some of them. Writes the tables ``requests``, ``clients``, ``breaks`` and
    ``problems`` and a page to the folder ``out``; ``findings`` is the number of clients
    that break. ``timezone`` is that of times in request logs. ``ValueError`` for a
    release that kwire does not know, ``FileNotFoundError`` where nothing is to be read.
    """
    release = Target(target)
    sources, sizes = find_sources(paths)
    with (
        Output(out) as output,
        running.open_runner(spark, sum(sizes), progress) as run_tasks,
    ):
        tasks = [
            AuditTask(
                source, release.name, timezone, output.table_path("requests", number)
            )
            for number, source in enumerate(sources)
        ]
        findings = find_breaks(release, run_tasks(read_source, tasks, sizes=sizes))
        for name, columns in TABLES.items():
            output.write_table(name, make_table(columns, getattr(findings, name)))
        output.write_report(write_page(findings))
    return output.result(sum(row["verdict"] == BREAKS for row in findings.clients))
