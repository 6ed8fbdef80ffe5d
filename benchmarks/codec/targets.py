# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Check the targets for messages and startup against the figures from a run."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.codec.figures import COLLECTOR, Figures, row_verdict
from benchmarks.codec.rows import DECODE, ROWS, ZERO_COPY
from benchmarks.harness.verdicts import Verdict

IMPORT_SECONDS = 0.005
FIRST_MESSAGE_SECONDS = 0.015
BUILD_SECONDS = 60
STRIPPED_BYTES = 2_200_000
#: Maximum memory for the Python engine, relative to kio. The limit is above 1, because
#: the structs have an additional slot.
PURE_MEMORY = 1.05
OTHER_WISHES = (
    "memory of one decoded Metadata response, kwire pure. Wish: not more than kio's. "
    "A kwire struct has an additional slot for unknown tagged fields. This is the "
    "complete difference: 8 bytes in every struct, for 1,104 structs",
    "extension, stripped. Wish: under 1,000 KB, and under 1,700 KB before the engine "
    "decoded messages into Arrow in one loop and wrote rows from it. The extension has "
    "27 modules, so that a job only imports the modules it needs, and 27 empty Cython "
    "modules already have 980 KB",
)
FLAT_RATIO = 1.1
METADATA = ("Metadata response v9", "Metadata response v9, 100 brokers")


def wishes(figures: Figures) -> Iterator[str]:
    """Format the targets below the original wish, together with this wish."""
    for row in ROWS:
        for target in row.targets:
            if target.wish:
                verdict = row_verdict(figures, row, target)
                yield (
                    f"{verdict.work}: {verdict.reached} (target: {verdict.wanted})."
                    f" Wish: {target.wish}"
                )
    yield from OTHER_WISHES


def unclaimed(figures: Figures) -> Iterator[str]:
    """Format the comparisons in which kwire does not claim to be faster."""
    for row in ROWS:
        for target in row.unclaimed:
            verdict = row_verdict(figures, row, target)
            yield f"{verdict.work}: {verdict.reached}"


def verdicts(figures: Figures) -> Iterator[Verdict]:
    """Yield the verdicts on all targets for messages and startup."""
    for row in ROWS:
        for target in row.targets:
            yield row_verdict(figures, row, target)
    yield _flat_verdict(figures)
    for title in METADATA:
        for entry in ("kwire", "kwire pure"):
            yield _memory_verdict(figures, title, entry)
    yield from _start_verdicts(figures)


def _flat_verdict(figures: Figures) -> Verdict:
    """Check that the time for decoding with views does not depend on the record size.

    The slowest and the fastest median from 1 KB to 1 MB are compared.
    """
    titles = [
        row.title
        for row in ROWS
        if row.section == ZERO_COPY and row.title.startswith("Fetch")
    ][1:]
    spread = []
    for collector in COLLECTOR:
        medians = [
            figures.seconds(ZERO_COPY, title, "kwire zero_copy", collector)
            for title in titles
        ]
        spread.append(max(medians) / min(medians))
    return Verdict(
        "zero_copy Fetch v12, slowest over fastest from 1 KB to 1 MB records",
        f"at most {FLAT_RATIO}x",
        f"{spread[0]:.3g}x / {spread[1]:.3g}x",
        max(spread) <= FLAT_RATIO,
    )


def _memory_verdict(figures: Figures, title: str, entry: str) -> Verdict:
    kwire, kio = (
        figures.note(DECODE, title, name, "held_bytes") for name in (entry, "kio")
    )
    times = PURE_MEMORY if entry == "kwire pure" else 1
    share = f"{times} of " if times > 1 else ""
    return Verdict(
        f"memory of one decoded {title}, {entry}",
        f"not more than {share}kio's {kio / 1000:.0f} KB",
        f"{kwire / 1000:.0f} KB",
        kwire <= times * kio,
    )


def _start_verdicts(figures: Figures) -> Iterator[Verdict]:
    for entry in ("kwire", "kwire pure"):
        for title, limit in (
            ("import kwire", IMPORT_SECONDS),
            ("import and decode Metadata v9", FIRST_MESSAGE_SECONDS),
        ):
            seconds = figures.seconds("Start", title, entry, False)
            yield Verdict(
                f"{title}, {entry}",
                f"under {limit * 1000:.0f} ms",
                f"{seconds * 1000:.2f} ms",
                seconds < limit,
            )
        heavy = figures.note("Start", "import kwire", entry, "heavy")
        yield Verdict(
            f"heavy standard modules loaded by import kwire, {entry}",
            "none",
            ", ".join(heavy) or "none",
            not heavy,
        )
    seconds = figures.seconds("Start", "build", "kwire", False)
    wanted = f"under {BUILD_SECONDS} s"
    met = seconds < BUILD_SECONDS
    yield Verdict("build of the extension", wanted, f"{seconds:.1f} s", met)
    size = figures.note("Start", "build", "kwire", "stripped_bytes")
    wanted = f"under {STRIPPED_BYTES / 1000:,.0f} KB"
    met = size < STRIPPED_BYTES
    yield Verdict("extension, stripped", wanted, f"{size / 1000:,.0f} KB", met)
