# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Row``, ``Entry`` and ``Target``: the parts of a measured task.

A row is one piece of work, done by several entries. A target compares one entry with
others of its row: how many times as fast as the fastest of them it must be.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One part of a row: its name there, the process that does it, and its task."""

    name: str
    worker: str
    task: tuple[str | int | bool, ...]


@dataclass(frozen=True)
class Target:
    """``entry`` must be ``least`` times as fast as the fastest of ``others``.

    ``wish`` says what was hoped for, where a measured floor keeps the target from it.
    """

    entry: str
    others: tuple[str, ...]
    least: float
    wish: str = ""


@dataclass(frozen=True)
class Row:
    """One piece of work: a line of the report."""

    section: str
    title: str
    entries: tuple[Entry, ...]
    targets: tuple[Target, ...] = ()
    # Comparisons that kwire does not claim to win.
    unclaimed: tuple[Target, ...] = ()
