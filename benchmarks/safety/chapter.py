# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure the cost of safety and print it. ``--record`` saves the figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import kwire
from benchmarks.safety import arrow, bombs, checks, imports, linear
from tools.generate import promises
from tools.generate.promises import Figure

OPTIONS = {"parts": ("time", "bombs", "import", "checks", "arrow"), "record": False}
TEST = "make bench-safety"


def time() -> Iterator[Figure]:
    """Measure how the time grows with the input size, and the time of a rejection."""
    growth = linear.run(kwire)
    for what, figure, most in (
        ("time for twice the input, 2 to 16 MB", growth.at_the_end, 2.3),
        ("the same, mean of 1 kB to 16 MB", growth.on_average, 2.1),
        (
            "the same, worst single doubling of all, where caches and fresh pages "
            "begin; 2.3 for each is not reached",
            growth.once,
            4.5,
        ),
    ):
        yield Figure("P8", what, figure, TEST, most=most, unit=" x")
    refusal = linear.refusal_us(kwire)
    print(f"{'1 MB of 0xff refused':24}{refusal:7.1f} us")
    what = "time to refuse 1 MB of 0xff"
    yield Figure("P8", what, refusal, TEST, most=20.0, unit=" us")


def bomb() -> Iterator[Figure]:
    """Measure the time until decompression bombs are rejected (promise P9)."""
    what = "time for a bomb beyond the permitted bytes"
    yield Figure("P9", what, bombs.run(), TEST, most=50.0, unit=" ms")


def start() -> Iterator[Figure]:
    """Measure the time of ``import kwire`` (promise P19)."""
    mine, other = imports.run()
    yield Figure("P19", "time of import kwire", mine, TEST, most=5.0, unit=" ms")
    if other is not None:
        what = "time of import kwire beside import msgspec"
        yield Figure("P19", what, mine / other, TEST, most=0.5, unit=" x")


def cost() -> Iterator[Figure]:
    """Measure the cost of the bounds checks (promise P6)."""
    seconds, work = checks.run()
    yield Figure(
        "P6", "time that bounds checks cost", seconds, TEST, most=5.0, unit=" %"
    )
    if work is not None:
        what = "instructions that bounds checks cost"
        yield Figure("P6", what, work, TEST, unit=" %")


def validation() -> Iterator[Figure]:
    """Measure the cost of validating Arrow data in a producer (promise P6)."""
    for size, added in arrow.run().items():
        what = f"time that the validation of Arrow data adds to send_table, {size} B"
        yield Figure("P6", what, added, TEST, most=5.0, unit=" %")


PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "time": time,
    "bombs": bomb,
    "import": start,
    "checks": cost,
    "arrow": validation,
}


def show(parts: Sequence[str], record: bool) -> int:
    """Measure the specified parts, or all parts. Prints the figures.

    Returns the exit code: 1 if a figure violates its limit.
    """
    if kwire.backend != "fast":
        raise SystemExit("there is no compiled engine to measure: make build")
    figures = [figure for part in parts or PARTS for figure in PARTS[part]()]
    broken = [figure for figure in figures if not figure.is_kept()]
    print()
    for figure in figures:
        print(f"{'missed' if figure in broken else 'kept':8}{figure.text()}")
    if record and not parts and not broken:
        promises.record("time", figures)
    return min(1, len(broken))
