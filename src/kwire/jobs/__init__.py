# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Finished jobs over Kafka's bytes: tables in Parquet files, and a report to look at.

    from kwire import jobs

    result = jobs.export(["kafka-logs/"], "rescued")
    result.tables, result.counts, result.report, result.findings

``audit`` tells who breaks on an upgrade, ``export`` recovers segments, ``offsets``
tells what consumer groups did. Each one runs in this process or on Spark, from the
same functions. What they share is here: ``running`` (tasks), ``tables`` (files),
``report`` and ``charts`` (the page). They need ``pip install kwire[arrow,pages]``.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .audit_job.job import audit
    from .export_job.job import export
    from .offsets_job.job import offsets
    from .tables import Result

__all__ = ["Result", "audit", "export", "offsets"]

# A module of a job's own name would take the place of the function here.
_HOMES = {
    "Result": "tables",
    "audit": "audit_job.job",
    "export": "export_job.job",
    "offsets": "offsets_job.job",
}


def __getattr__(name: str) -> object:
    """Load a job when it is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found
    return found
