# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read topics of a running broker with kwire and other clients."""

from __future__ import annotations

from pathlib import Path

from benchmarks.harness.broker_runs import describe_counts, describe_machine
from benchmarks.harness.chapters import RESULTS, put_chapter
from benchmarks.harness.tables import table
from benchmarks.harness.verdicts import summary
from benchmarks.live.contender import TASKS
from benchmarks.live.rounds import CODECS, PARTITIONS, SIZES, SLOW, measure
from benchmarks.live.targets import LiveFigures, live_verdicts

__all__ = ("OPTIONS", "measure", "write_chapter")

HEADING = "## Live topics"
OPTIONS = {"rounds": 5, "scale": 1.0}
"""Rounds, and the share of the records that are written."""

_METHOD = """\
Written by `python -m benchmarks live`. A broker of Kafka {kafka} and one client at a
time on the same machine; topics of {partitions} partitions, {counts},
keys of 10 B, half of each value random. Each reading is a process of its own, {rounds}
rounds in an order drawn anew; figures are medians of microseconds a record, CPU of the
client (user and system, all threads) / wall. Imports are not counted, connecting is.
Checksums are checked by all, and all read the same records; kafka-python stops after
one in {slow} of them."""

_ABOUT = {
    "arrow": """\
To Arrow: record batches with offset, timestamp, key and value. confluent-kafka and
aiokafka have no such call; lists are made of their messages, and arrays of these.""",
    "rows": """\
Rows: lists of records, of which all fields are read. `chunk.rows()`, `consume(5000)`,
`getmany()` and `poll()`.""",
    "each": """\
Record by record: `async for`, or `for` where the client blocks, all fields read.""",
}

_COSTS = """\
Without a broker: what a scan does beside decoding. The frame of 4 MiB comes in reads of
64 KiB. Logic is everything from the bytes of a Fetch response of 1 MiB (batches of
16 KiB) to the next request, without the writing of the bytes themselves."""


def _task_table(figures: LiveFigures, task: str) -> str:
    lines = []
    for client in TASKS[task]:
        cells = []
        for size in SIZES:
            for codec in CODECS:
                place = task, size, codec, client
                cpu, wall = (figures.micros(kind, *place) for kind in ("cpu", "wall"))
                cells.append(f"{cpu:.3g} / {wall:.3g}")
        lines.append([client, *cells])
    head = [f"{size} B, {codec}" for size in SIZES for codec in CODECS]
    return table(("µs CPU / wall", *head), lines)


def _cost_table(figures: LiveFigures) -> str:
    run = figures.run
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
    """Put the chapter of one run into the report; return its verdicts as text."""
    figures = LiveFigures.read(json_path)
    run = figures.run
    found = list(live_verdicts(figures))
    parts = [
        _METHOD.format(
            kafka=run["kafka"],
            partitions=PARTITIONS,
            counts=describe_counts(run["records"]),
            rounds=run["rounds"],
            slow=SLOW["kafka-python"],
        ),
        describe_machine(run),
        summary(found),
    ]
    for task, about in _ABOUT.items():
        parts += [about, _task_table(figures, task)]
    parts += [_COSTS, _cost_table(figures)]
    put_chapter(RESULTS, HEADING, "\n\n".join(parts))
    return summary(found)
