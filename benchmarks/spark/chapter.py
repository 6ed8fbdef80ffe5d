# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read Kafka's log files as Spark tables, compared with a replay and other clients."""

from __future__ import annotations

from pathlib import Path

from benchmarks.harness import chapters
from benchmarks.harness.broker_runs import describe_machine
from benchmarks.harness.chapters import PICTURES
from benchmarks.harness.tables import table
from benchmarks.spark import cases, inputs, picture
from benchmarks.spark.reading import LEAST
from benchmarks.spark.rounds import measure
from benchmarks.spark.targets import SHARES, SparkFigures, spark_verdicts

__all__ = ("OPTIONS", "measure", "write_chapter")

OPTIONS: dict[str, object] = {}


def _case_table(figures: SparkFigures) -> str:
    replays = {case: replay for case, replay, _ in SHARES}
    lines = []
    for case in (
        cases.LOG,
        cases.REPLAY,
        cases.LOG_VALUE,
        cases.REPLAY_VALUE,
        *cases.PEERS,
        cases.HEADERS,
        cases.HEADERS_REPLAY,
    ):
        share = ""
        if case in replays:
            share = f"{figures.share(case, replays[case]):.1%}"
        seconds = figures.seconds(case)
        lines.append(
            [
                case,
                f"{figures.rows(case):,}",
                f"{seconds:.2f}",
                f"{figures.rate(case) / 1e6:.2f}",
                f"{figures.size(case) / seconds / 1e6:,.0f}",
                share,
            ]
        )
    head = ("case", "rows", "seconds", "M rows/s", "MB/s of input", "of its replay")
    return table(head, lines)


def _reading_table(figures: SparkFigures) -> str:
    lines = []
    for case, replay in (
        (cases.LOG, cases.REPLAY),
        (cases.LOG_VALUE, cases.REPLAY_VALUE),
    ):
        replay_seconds = figures.core_seconds(replay)
        own, least = figures.reading(case), figures.reading(LEAST)
        lines.append(
            [
                case,
                *(f"{1e9 * seconds:.0f}" for seconds in (replay_seconds, own, least)),
                *(
                    f"{replay_seconds / (replay_seconds + more):.1%}"
                    for more in (own, least)
                ),
            ]
        )
    head = ("case", "replay", "reading", LEAST, "with reading", "with the least")
    return table(head, lines)


def _peer_table(figures: SparkFigures) -> str:
    lines = []
    for case in (cases.REPLAY, cases.LOG, *cases.PEERS):
        leads = [
            f"{figures.lead(case, peer):.3g}x" if case not in cases.PEERS else ""
            for peer in cases.PEERS
        ]
        lines.append([case, f"{1e-6 / figures.row(case):.2f}", *leads])
    return table(("8 columns", "M rows/s", *(f"over {p}" for p in cases.PEERS)), lines)


def _flat_table(figures: SparkFigures) -> str:
    lines = []
    for size in cases.SIZES:
        case = cases.log_case(size)
        nanoseconds = [1e9 * seconds for seconds in figures.row_seconds(case)]
        lines.append(
            [
                size,
                f"{figures.rows(case):,}",
                f"{figures.seconds(case):.2f}",
                f"{1e9 * figures.row(case):.0f}",
                f"{min(nanoseconds):.0f}-{max(nanoseconds):.0f}",
            ]
        )
    empty = f"{figures.seconds(cases.EMPTY):.2f}"
    lines.append(["empty", "0", empty, "", ""])
    return table(("input", "rows", "seconds", "ns a row", "of all rounds"), lines)


def _memory_table(figures: SparkFigures) -> str:
    memory = figures.run["memory"]
    lines = [
        [
            words,
            *(f"{memory[kind][name] / 1e6:.0f} MB" for name in ("private", "resident")),
        ]
        for kind, words in (("splits", "splits of 128 MiB"), ("whole", "one task"))
    ]
    return table(("1 GiB in", "private", "resident"), lines)


def write_chapter(json_path: Path) -> str:
    """Write the chapter for a finished run into the report.

    Return the verdicts as text.
    """
    figures = SparkFigures.read(json_path)
    pure = figures.run["pure"]
    picture.draw(figures, PICTURES / "spark.png")
    return chapters.write_chapter(
        __file__,
        list(spark_verdicts(figures)),
        run=figures.run,
        inputs=inputs,
        machine=describe_machine(figures.run),
        cases=_case_table(figures),
        reading=_reading_table(figures),
        peers=_peer_table(figures),
        flat=_flat_table(figures),
        memory=_memory_table(figures),
        pure=pure["rows"] / pure["seconds"] / 1e3,
    )
