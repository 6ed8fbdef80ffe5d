# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the time by input size, from 1 kB to 16 MB, for all families.

The figures are the minimum thread CPU time in several rounds. When the objects no
longer fit into a CPU cache, or into memory that the process already owns, doubling the
size costs more than twice the time. Up to 3.7 times has been observed, therefore a
bound of 2.3 for every single doubling cannot be met. Instead, the range from 2 MB up
must be linear, because quadratic growth would be visible there. The mean over the whole
range must be linear as well. The worst single doubling has a wider bound.
"""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from typing import Any, NamedTuple

from benchmarks.safety.families import FAMILIES, Call

SIZES = [1000 * 2**step for step in range(15)]
LEAST_SECONDS = 0.01
ROUNDS = 7
LARGE = 11
"""Index of 2 MB in ``SIZES``. From this size on, every doubling must be linear."""
BAD_VARINTS = b"\xff" * 10**6


def least_seconds(call: Call, rounds: int = ROUNDS) -> float:
    """Return the minimum duration of a call in seconds.

    Short calls are repeated until their total is ``LEAST_SECONDS``.
    """
    durations, spent = [], 0.0
    while len(durations) < rounds or spent < LEAST_SECONDS:
        started = time.thread_time_ns()
        call()
        durations.append((time.thread_time_ns() - started) / 1e9)
        spent += durations[-1]
    return min(durations)


def curve(kwire: Any, family: str) -> list[float]:
    """Measure a family at all sizes in turn. Returns the minimum seconds."""
    calls = [FAMILIES[family](kwire, size) for size in SIZES]
    rounds = [[least_seconds(call, 1) for call in calls] for _ in range(ROUNDS)]
    return [min(found) for found in zip(*rounds, strict=True)]


class Growth(NamedTuple):
    """Ratio of the times for a doubled input size, as the maximum of all families.

    * ``at_the_end``: doublings from 2 MB on.
    * ``on_average``: mean of all doublings.
    * ``once``: worst single doubling.
    """

    at_the_end: float
    on_average: float
    once: float


def run(kwire: Any) -> Growth:
    """Measure all families, and print a row for each of them.

    Returns the maximum growth of all families.
    """
    print(
        f"\n{'time of the thread':23}{'1 kB':>11}{'16 MB':>11}{'a byte':>9}"
        f"{'end':>8}{'mean':>8}{'once':>8}"
    )
    growths = []
    gc.disable()
    try:
        for family in FAMILIES:
            seconds = curve(kwire, family)
            steps = [two / one for one, two in itertools.pairwise(seconds)]
            mean = statistics.geometric_mean(steps)
            growth = Growth(max(steps[LARGE:]), mean, max(steps))
            growths.append(growth)
            print(
                f"{family:23}{seconds[0] * 1e6:8,.1f} us{seconds[-1] * 1e3:8,.1f} ms"
                f"{seconds[-1] / SIZES[-1] * 1e9:6.1f} ns"
                + "".join(f"{step:6.2f} x" for step in growth),
                flush=True,
            )
    finally:
        gc.enable()
    return Growth(*map(max, zip(*growths, strict=True)))


def refusal_us(kwire: Any) -> float:
    """Return the time until 1 MB of 0xff is rejected, in microseconds."""

    def refused() -> None:
        try:
            kwire.decode(kwire.messages.MetadataResponse, BAD_VARINTS, 12)
        except kwire.DecodeError:
            return
        raise AssertionError("it was accepted")

    refused()
    return least_seconds(refused) * 1e6
