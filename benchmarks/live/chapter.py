# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read topics of a running broker with kwire and other clients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.harness import chapters
from benchmarks.harness.broker_runs import (
    cpu_and_wall,
    describe_counts,
    describe_machine,
)
from benchmarks.harness.tables import table
from benchmarks.live.contender import TASKS
from benchmarks.live.rounds import CODECS, PARTITIONS, SIZES, SLOW, measure
from benchmarks.live.targets import live_verdicts

__all__ = ("OPTIONS", "measure", "write_chapter")

OPTIONS = {"rounds": 5, "scale": 1.0}
"""Default number of rounds, and factor for the number of records in each topic."""


def _task_table(readings: dict[str, Any], task: str) -> str:
    kinds = [(size, codec) for size in SIZES for codec in CODECS]
    lines = [
        [
            client,
            *(
                cpu_and_wall(readings[f"{task}/{size}/{codec}/{client}"])
                for size, codec in kinds
            ),
        ]
        for client in TASKS[task]
    ]
    head = [f"{size} B, {codec}" for size, codec in kinds]
    return table(("µs CPU / wall", *head), lines)


def _cost_table(run: dict[str, Any]) -> str:
    reception = run["reception"]
    lines = [
        ["a frame of 4 MiB", f"{1e6 * reception['splitter']:.0f}"],
        ["filling one buffer of 4 MiB", f"{1e6 * reception['filling']:.0f}"],
    ]
    for name, spent in run["overhead"].items():
        size, codec = name.split("/")
        for kind in ("logic", "decoding"):
            lines.append([f"{kind}, {size} B, {codec}", f"{1e6 * spent[kind]:.0f}"])
    for mib, grown in run["memory"].items():
        budget = f"memory over that of the imports, budget {mib} MiB"
        lines.append([budget, f"{grown / (1 << 20):.0f} MiB"])
    return table(("", "µs"), lines)


def write_chapter(json_path: Path) -> str:
    """Write the chapter for a finished run into the report.

    Return the verdicts as text.
    """
    run = json.loads(json_path.read_text())
    return chapters.write_chapter(
        __file__,
        list(live_verdicts(run)),
        run=run,
        partitions=PARTITIONS,
        counts=describe_counts(run["records"]),
        slow=SLOW["kafka-python"],
        machine=describe_machine(run),
        costs=_cost_table(run),
        arrow=_task_table(run["readings"], "arrow"),
        rows=_task_table(run["readings"], "rows"),
        each=_task_table(run["readings"], "each"),
    )
