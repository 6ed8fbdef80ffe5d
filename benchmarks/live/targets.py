# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check the targets for reading from a broker against the figures of a run.

A ratio compares the median CPU time per record of two clients in the same rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.harness.broker_runs import find_micros
from benchmarks.harness.verdicts import Verdict

RECEPTION_SECONDS = 0.5e-3
RECEPTION_RATIO = 1.3
LOGIC_SHARE = 0.05
MEMORY_OVER = 32 << 20


class Lead(NamedTuple):
    """Requirement: ``client`` needs at most 1 / ``least`` of ``other``'s CPU time."""

    task: str
    size: int
    codec: str
    client: str
    other: str
    least: float


def _leads() -> Iterator[Lead]:
    for codec in ("none", "zstd"):
        yield Lead("arrow", 100, codec, "kwire", "confluent-kafka", 6)
        yield Lead("arrow", 100, codec, "kwire", "aiokafka", 12)
    yield Lead("arrow", 1000, "none", "kwire", "confluent-kafka", 4)
    yield Lead("arrow", 1000, "zstd", "kwire", "confluent-kafka", 2.5)
    for size in (100, 1000):
        yield Lead("rows", size, "none", "kwire", "confluent-kafka", 2.2)
        yield Lead("rows", size, "none", "kwire", "aiokafka", 4)
        yield Lead("each", size, "none", "kwire asyncio", "aiokafka", 6)


LEADS = tuple(_leads())


def live_verdicts(run: dict[str, Any]) -> Iterator[Verdict]:
    """Yield the verdicts on all targets for reading live topics."""
    for lead in LEADS:
        own, other = (
            find_micros(run["readings"][f"{lead.task}/{lead.size}/{lead.codec}/{name}"])
            for name in (lead.client, lead.other)
        )
        ratio = other / own
        work = f"{lead.task}, {lead.size} B, {lead.codec}, {lead.client}"
        wanted = f"at least {lead.least:g}x"
        reached = f"{ratio:.3g}x {lead.other}"
        yield Verdict(work, wanted, reached, ratio >= lead.least)
    seconds = run["reception"]
    yield Verdict(
        "reception of a frame of 4 MiB",
        f"under {1e3 * RECEPTION_SECONDS:g} ms",
        f"{1e3 * seconds['splitter']:.3g} ms",
        seconds["splitter"] < RECEPTION_SECONDS,
    )
    ratio = seconds["splitter"] / seconds["filling"]
    yield Verdict(
        "reception of a frame of 4 MiB, over filling one buffer",
        f"at most {RECEPTION_RATIO:g}x",
        f"{ratio:.3g}x",
        ratio <= RECEPTION_RATIO,
    )
    for name, spent in run["overhead"].items():
        size, codec = name.split("/")
        share = spent["logic"] / spent["decoding"]
        yield Verdict(
            f"logic of a scan, fetches of 1 MiB, {size} B, {codec}",
            f"at most {LOGIC_SHARE:.0%} of decoding to Arrow",
            f"{share:.1%}",
            share <= LOGIC_SHARE,
        )
    for mib, grown in run["memory"].items():
        yield Verdict(
            f"memory of a scan with a budget of {mib} MiB",
            f"at most {MEMORY_OVER >> 20} MiB more",
            f"{grown / (1 << 20):.0f} MiB",
            grown <= (int(mib) << 20) + MEMORY_OVER,
        )
