# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Common functions for broker benchmarks: rounds, JSON figures, machine description."""

from __future__ import annotations

import datetime
import json
import os
import platform
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT


def run_contender(module: str, *arguments: Any) -> dict[str, Any]:
    """Run a module in a separate process. Returns the figures that it prints as JSON.

    Raises ``SystemExit`` with the error output if the process fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        shown = " ".join(map(str, arguments))
        raise SystemExit(f"{module} {shown}: {done.stderr[-2000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def measure_in_turn(
    name: str,
    turns: Sequence[tuple[Any, ...]],
    rounds: int,
    read: Callable[..., dict[str, Any]],
) -> dict[str, list[Any]]:
    """Call ``read`` for every turn in every round.

    ``name`` is the seed that determines the order of the turns in each round. Returns a
    list of figures for each turn, whose key consists of the turn's arguments.
    """
    order, shuffled_turns = random.Random(name), list(turns)
    figures_by_turn: dict[str, list[Any]] = {
        "/".join(map(str, turn)): [] for turn in turns
    }
    for number in range(rounds):
        order.shuffle(shuffled_turns)
        for turn in shuffled_turns:
            figures_by_turn["/".join(map(str, turn))].append(read(*turn))
        print(f"  round {number + 1} of {rounds}", flush=True)
    return figures_by_turn


def write_run(json_path: Path, packages: Sequence[str], **figures: Any) -> None:
    """Write the figures of a run as JSON, together with the date and the machine.

    ``packages`` names the packages whose versions are stored.
    """
    run = {
        "when": datetime.date.today().isoformat(),
        "machine": {
            "cpus": os.cpu_count(),
            "python": platform.python_version(),
            "packages": {name: metadata.version(name) for name in packages},
        },
        **figures,
    }
    json_path.write_text(json.dumps(run, indent=1))


def describe_machine(run: dict[str, Any]) -> str:
    """Describe a run's machine, date and package versions in two lines."""
    machine = run["machine"]
    packages = [f"{name} {version}" for name, version in machine["packages"].items()]
    java = f", {run['java']}" if "java" in run else ""
    return (
        f"{machine['cpus']} CPUs, Python {machine['python']}{java}, {run['when']}.\n"
        f"{', '.join(packages)}."
    )


def describe_counts(records: dict[str, int]) -> str:
    """Describe the number of records by value size in bytes."""
    return " and ".join(
        f"{count:,} records of {size} B" for size, count in records.items()
    )


def cpu_and_wall(readings: Sequence[dict[str, Any]]) -> str:
    """Format the median CPU time and elapsed time per record in microseconds."""
    return f"{find_micros(readings):.3g} / {find_micros(readings, 'wall'):.3g}"


def find_micros(readings: Sequence[dict[str, Any]], kind: str = "cpu") -> float:
    """Return the median time per record in microseconds.

    ``kind`` is "cpu" or "wall".
    """
    return 1e6 * statistics.median(each[kind] / each["records"] for each in readings)
