# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What all runs beside a broker do: readings in turn, their JSON, and the machine."""

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
    """Run a module in a process of its own; return the figures that it prints."""
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
    """Call ``read`` for each turn in each round; return the figures by turn.

    The order of a round is drawn anew, and ``name`` is where the drawing begins.
    """
    order, left = random.Random(name), list(turns)
    found: dict[str, list[Any]] = {"/".join(map(str, turn)): [] for turn in turns}
    for number in range(rounds):
        order.shuffle(left)
        for turn in left:
            found["/".join(map(str, turn))].append(read(*turn))
        print(f"  round {number + 1} of {rounds}", flush=True)
    return found


def write_run(json_path: Path, packages: Sequence[str], **figures: Any) -> None:
    """Write the figures of one run, with the day and the machine."""
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
    """Write the machine, the day and the packages of a run into two lines."""
    machine = run["machine"]
    packages = [f"{name} {version}" for name, version in machine["packages"].items()]
    java = f", {run['java']}" if "java" in run else ""
    return (
        f"{machine['cpus']} CPUs, Python {machine['python']}{java}, {run['when']}.\n"
        f"{', '.join(packages)}."
    )


def describe_counts(records: dict[str, int]) -> str:
    """Write how many records of which size there are."""
    return " and ".join(
        f"{count:,} records of {size} B" for size, count in records.items()
    )


def cpu_and_wall(readings: Sequence[dict[str, Any]]) -> str:
    """Write the median microseconds a record: CPU / wall."""
    return f"{find_micros(readings):.3g} / {find_micros(readings, 'wall'):.3g}"


def find_micros(readings: Sequence[dict[str, Any]], kind: str = "cpu") -> float:
    """Return the median microseconds a record, of "cpu" or "wall"."""
    return 1e6 * statistics.median(each[kind] / each["records"] for each in readings)
