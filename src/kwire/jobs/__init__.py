# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs over captures and log directories: each writes Parquet tables and a report.

    from kwire import jobs

    result = jobs.export(["kafka-logs/"], "rescued")
    result.tables, result.counts, result.report, result.findings

``audit`` finds the clients that break on an upgrade, ``export`` recovers segments,
``offsets`` reports what consumer groups did. Each runs in this process or on Spark,
with the same functions, and is a package of its own (``export_job``). They share
``running`` (tasks), ``tables`` (files), ``report`` and ``charts`` (the page), and
require ``pip install kwire[arrow,pages]``.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .audit_job.job import audit
    from .export_job.job import export
    from .offsets_job.job import offsets
    from .running import JobError
    from .tables import Result

__all__ = ["JobError", "Result", "audit", "export", "offsets"]

# A module of a job's own name would take the place of the function here.
_HOMES = {
    "JobError": "running",
    "Result": "tables",
    "audit": "audit_job.job",
    "export": "export_job.job",
    "offsets": "offsets_job.job",
}


def __getattr__(name: str) -> object:
    """Import a job on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found
    return found
