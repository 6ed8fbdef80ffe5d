# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs over recordings and log directories: audit, export, offsets and restore.

Each job is a package (``export_job``) and has a function here. It returns a ``Result``
with Parquet tables and an HTML report, in this process or on Spark. Jobs share
``running`` (tasks), ``tables`` (files), ``report`` and ``charts`` (the page). Printing
does not belong here. May import: ``errors``, ``_limits``, ``_files``, ``_text``,
``schema``, ``messages``, ``records``, ``log``, ``client``, ``recording``, ``spark``.
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
