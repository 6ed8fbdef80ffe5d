# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Audit job entry point: runs the tasks, then writes tables and report."""

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
    """Find clients that break when brokers are upgraded to another Kafka release.

    Writes the tables ``requests``, ``clients``, ``breaks`` and ``problems``, and an
    HTML report.

    * ``paths``: captures from ``kwire record``, broker request logs, or directories
      that contain such files.
    * ``out``: local output directory. It must not exist, or be empty.
    * ``target``: release, for example "4.1".
    * ``spark``, ``progress``: see ``running.open_runner``.
    * ``timezone``: time zone for request log timestamps.

    Returns a ``Result``, where ``findings`` counts breaking clients. Raises
    ``ValueError`` if kwire does not know the release, ``FileNotFoundError`` if a path
    contains no input, ``FileExistsError`` if ``out`` exists and is not empty, and
    ``JobError`` if Spark fails.
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
