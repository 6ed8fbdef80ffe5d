# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure ``import kwire`` in a new interpreter, compared with ``import msgspec``."""

from __future__ import annotations

import importlib.util
import random
import statistics
import subprocess
import sys
import sysconfig

from benchmarks.harness import ROOT

ROUNDS = 31
PROGRAM = """
import sys, time
sys.path[:0] = {paths!r}
started = time.perf_counter()
import {name}
print(time.perf_counter() - started)
"""


def run() -> tuple[float, float | None]:
    """Measure both imports in turn, and print the median times.

    Returns the medians in milliseconds: kwire, and msgspec or None.
    """
    names = ["kwire"] + ["msgspec"] * (importlib.util.find_spec("msgspec") is not None)
    paths = [str(ROOT / "src"), sysconfig.get_path("purelib")]
    times_by_name: dict[str, list[float]] = {name: [] for name in names}
    order = random.Random(0)
    for _ in range(ROUNDS):
        for name in order.sample(names, len(names)):
            code = PROGRAM.format(paths=paths, name=name)
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", code],
                check=True,
                capture_output=True,
                text=True,
            )
            times_by_name[name].append(1000 * float(done.stdout))
    medians = {name: statistics.median(times) for name, times in times_by_name.items()}
    print()
    for name, median in medians.items():
        print(f"import {name:17}{median:9.2f} ms")
    return medians["kwire"], medians.get("msgspec")
