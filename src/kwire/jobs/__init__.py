# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Jobs that analyse recordings and log directories: audit, export, offsets, restore.

Every job is a package, for example ``export_job``, whose entry point can be imported
from here. Jobs write Parquet tables and an HTML report, in this process or on Spark,
and return a ``Result``. The modules ``running``, ``tables``, ``report`` and ``charts``
are shared by all jobs. Jobs never print, because console output belongs to the command
line interface.
May import: ``errors``, ``_limits``, ``_files``, ``_text``, ``schema``, ``messages``,
``records``, ``log``, ``client``, ``recording``, ``spark``.
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

# Location of every public name. The packages have the suffix "_job", because importing
# a submodule named "export" would replace the function ``export`` in this module.
_HOMES = {
    "JobError": "running",
    "Result": "tables",
    "audit": "audit_job.job",
    "export": "export_job.job",
    "offsets": "offsets_job.job",
}


def __getattr__(name: str) -> object:
    """Import a job on first use, because jobs depend on optional packages."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
