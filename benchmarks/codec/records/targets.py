# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Record targets that do not compare two entries in a row.

They cover memory, the heartbeat rate, and the commands that read log segments.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.codec.figures import COLLECTOR, Figures
from benchmarks.codec.records.rows import NESTED
from benchmarks.harness.verdicts import Verdict

MEMORY = "Records in memory"
HELD_TITLE = "1,000 x 100 B, every record kept"
HELD_TASK = ("keep_objects", "1k_100B")
HELD_COUNT = 1_000
HOLDERS = ("kwire", "kwire pure", "aiokafka", "kafka-python", "kio")
#: Tasks that decode 1,000 and 10,000 records into columns.
COLUMN_TASKS = {
    count: ("decode_columns", name, "none")
    for count, name in ((1_000, "1k_100B"), (10_000, "10k_100B"))
}
COLUMN_HOLDERS = ("kwire", "kwire pure")
#: Maximum difference between two small object counts. The interpreter may allocate or
#: free a few unrelated objects between the measurements.
STRAY_BLOCKS = 20

HEARTBEATS_PER_SECOND = 20e6
HEARTBEATS_BESIDE_OBJECTS = 5

SEGMENTS = "Segments"
VERIFY = "kwire verify, 1 GiB"
VERIFY_SMALL = "kwire verify, one batch"
CRC_ALONE = "CRC alone, 1 GiB"
DUMP = "kwire dump, 1 GiB"
VERIFY_BYTES_PER_SECOND = 3e9
VERIFY_BESIDE_CRC = 1.5
COMMAND_BYTES = 200_000_000
FIRST_LINE_SECONDS = 1


def held_title(count: int) -> str:
    """Return the title of the memory row for columns of ``count`` records."""
    return f"{count:,} x 100 B as columns"


def verify_seconds(figures: Figures) -> float:
    """Return the seconds that verifying the large segment takes without the startup.

    The duration for a small segment is subtracted.
    """
    whole, start = (
        figures.seconds(SEGMENTS, title, "kwire", False)
        for title in (VERIFY, VERIFY_SMALL)
    )
    return whole - start


def record_verdicts(figures: Figures) -> Iterator[Verdict]:
    """Yield the verdicts on all record targets that this module defines."""
    yield _heartbeat_verdict(figures)
    for entry in COLUMN_HOLDERS:
        few, many = (
            figures.note(MEMORY, held_title(count), entry, "blocks")
            for count in COLUMN_TASKS
        )
        yield Verdict(
            f"small objects kept by columns of 1,000 and of 10,000 records, {entry}",
            "as many",
            f"{few:,} and {many:,}",
            abs(many - few) <= STRAY_BLOCKS,
        )
    yield from _segment_verdicts(figures)


def _heartbeat_verdict(figures: Figures) -> Verdict:
    row = NESTED, "Heartbeat request v4"
    rates, ratios = [], []
    for collector in COLLECTOR:
        seconds = figures.seconds(*row, "kwire", collector)
        rates.append(1 / seconds)
        ratios.append(figures.seconds(*row, "objects", collector) / seconds)
    return Verdict(
        f"{NESTED}, {row[1]}, kwire",
        f"at least {HEARTBEATS_PER_SECOND / 1e6:.0f} M/s "
        f"or {HEARTBEATS_BESIDE_OBJECTS}x decoding to objects",
        f"{rates[0] / 1e6:.3g} / {rates[1] / 1e6:.3g} M/s, "
        f"{ratios[0]:.3g}x / {ratios[1]:.3g}x",
        min(rates) >= HEARTBEATS_PER_SECOND or min(ratios) >= HEARTBEATS_BESIDE_OBJECTS,
    )


def _segment_verdicts(figures: Figures) -> Iterator[Verdict]:
    rate = figures.note(SEGMENTS, VERIFY, "kwire", "bytes") / verify_seconds(figures)
    alone = figures.seconds(SEGMENTS, CRC_ALONE, "crc32c", False)
    beside = verify_seconds(figures) / alone
    yield Verdict(
        f"{VERIFY}, without its start",
        f"at least {VERIFY_BYTES_PER_SECOND / 1e9:.0f} GB/s "
        f"or at most {VERIFY_BESIDE_CRC} of the time of the CRC alone",
        f"{rate / 1e9:.3g} GB/s, {beside:.3g}",
        rate >= VERIFY_BYTES_PER_SECOND or beside <= VERIFY_BESIDE_CRC,
    )
    first = figures.seconds(SEGMENTS, DUMP, "kwire", False)
    yield Verdict(
        f"{DUMP}, first line",
        f"within {FIRST_LINE_SECONDS} s",
        f"{first:.2f} s",
        first <= FIRST_LINE_SECONDS,
    )
    for title in (VERIFY, DUMP):
        largest = figures.note(SEGMENTS, title, "kwire", "max_rss_bytes")
        yield Verdict(
            f"{title}, memory at its largest",
            f"under {COMMAND_BYTES / 1e6:.0f} MB",
            f"{largest / 1e6:.0f} MB",
            largest < COMMAND_BYTES,
        )
