# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measures time by the size of the input, from 1 kB to 16 MB, in every family.

Times are those of the thread, not of the wall, and the least of several. Where the
objects begin to outgrow a cache, or the memory that the process has anyway, a doubling
costs more than twice, once: up to 3.7 times was seen, so 2.3 for each single doubling
is not reached. What has to be linear is the end, from 2 MB on, where a square would
show, and the whole range on the average; the worst single doubling has a wider bound.
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
"""Which of the sizes is 2 MB."""
BAD_VARINTS = b"\xff" * 10**6


def least_seconds(call: Call, rounds: int = ROUNDS) -> float:
    """Time a call: the least of several rounds, more of them where they are short."""
    found, spent = [], 0.0
    while len(found) < rounds or spent < LEAST_SECONDS:
        started = time.thread_time_ns()
        call()
        found.append((time.thread_time_ns() - started) / 1e9)
        spent += found[-1]
    return min(found)


def curve(kwire: Any, family: str) -> list[float]:
    """Time a family at each size: all sizes in turn, round after round."""
    calls = [FAMILIES[family](kwire, size) for size in SIZES]
    rounds = [[least_seconds(call, 1) for call in calls] for _ in range(ROUNDS)]
    return [min(found) for found in zip(*rounds, strict=True)]


class Growth(NamedTuple):
    """What a doubling of the size does to the time, at the worst of all families."""

    at_the_end: float
    on_average: float
    once: float


def run(kwire: Any) -> Growth:
    """Time all families and print them."""
    print(
        f"\n{'time of the thread':23}{'1 kB':>11}{'16 MB':>11}{'a byte':>9}"
        f"{'end':>8}{'mean':>8}{'once':>8}"
    )
    found = []
    gc.disable()
    try:
        for family in FAMILIES:
            seconds = curve(kwire, family)
            steps = [two / one for one, two in itertools.pairwise(seconds)]
            mean = statistics.geometric_mean(steps)
            growth = Growth(max(steps[LARGE:]), mean, max(steps))
            found.append(growth)
            print(
                f"{family:23}{seconds[0] * 1e6:8,.1f} us{seconds[-1] * 1e3:8,.1f} ms"
                f"{seconds[-1] / SIZES[-1] * 1e9:6.1f} ns"
                + "".join(f"{step:6.2f} x" for step in growth),
                flush=True,
            )
    finally:
        gc.enable()
    return Growth(*map(max, zip(*found, strict=True)))


def refusal_us(kwire: Any) -> float:
    """Time how long a megabyte of 0xff is read before it is refused."""

    def refused() -> None:
        try:
            kwire.decode(kwire.messages.MetadataResponse, BAD_VARINTS, 12)
        except kwire.DecodeError:
            return
        raise AssertionError("it was accepted")

    refused()
    return least_seconds(refused) * 1e6
