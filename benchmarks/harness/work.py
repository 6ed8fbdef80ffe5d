# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Row``, ``Entry`` and ``Target``: the parts of a measured task.

A row is a task with several entries. A target is an entry's minimum speedup compared
with the fastest of some other entries in the row.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """Contender of a row.

    * ``name``: name of the entry in the report.
    * ``worker``: label of the worker process.
    * ``task``: operation and its arguments.
    """

    name: str
    worker: str
    task: tuple[str | int | bool, ...]


@dataclass(frozen=True)
class Target:
    """Requirement: ``entry`` is ``least`` times as fast as the fastest of ``others``.

    ``wish`` describes the original goal if a measured lower bound makes it unreachable.
    """

    entry: str
    others: tuple[str, ...]
    least: float
    wish: str = ""


@dataclass(frozen=True)
class Row:
    """Task that is measured for several entries. It becomes a line in the report."""

    section: str
    title: str
    entries: tuple[Entry, ...]
    targets: tuple[Target, ...] = ()
    # Comparisons that are printed although kwire does not claim to be faster.
    unclaimed: tuple[Target, ...] = ()
