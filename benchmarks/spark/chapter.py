# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Read Kafka's log files as tables of Spark, beside a replay and other clients."""

from __future__ import annotations

from pathlib import Path

from benchmarks.harness.chapters import PICTURES, RESULTS, put_chapter
from benchmarks.harness.tables import table
from benchmarks.harness.verdicts import summary
from benchmarks.spark import inputs, picture
from benchmarks.spark.cases import (
    EMPTY,
    HEADERS,
    HEADERS_REPLAY,
    LOG,
    LOG_VALUE,
    PEERS,
    REPLAY,
    REPLAY_VALUE,
    SIZES,
    log_case,
)
from benchmarks.spark.reading import LEAST
from benchmarks.spark.rounds import measure
from benchmarks.spark.targets import SHARES, SparkFigures, spark_verdicts

__all__ = ("OPTIONS", "measure", "write_chapter")

HEADING = "## Spark"
OPTIONS: dict[str, object] = {}

_SHAPE = (inputs.RECORDS, inputs.KEY_BYTES, inputs.VALUE_BYTES, inputs.HEADER_BYTES)
_METHOD = """\
Written by `python -m benchmarks spark`. Segments as a broker writes them, not
compressed: batches of {0} records with keys of {1} B, values of {2} B of random bytes
and one header of {3} B; after them the next segment, empty so far. Every job runs in
one Spark of two threads and writes its rows to nowhere (`noop`). A replay is a Python
data source that replays one prepared Arrow batch, the first that `kafka-log` gives, in
as many tasks and rows: what Spark takes when nothing is decoded. That of
`read_headers` is a `mapInArrow` over the same frames that gives prepared columns. All
cases take turns,
{measured} rounds after {warm} that are not counted; who is compared runs side by side,
and figures are medians. Before anything was timed, `kafka-log`, aiokafka and
kafka-python gave equal Arrow tables, and every job the right number of rows. CRCs are
checked by all."""

_ABOUT_READING = """\
What a row takes of a core, in ns: in the replay, all of Spark included; in the reading
of `kafka-log` without Spark, one process that drops the batches; and in one CRC and
one copy of the file's bytes, which no reader can leave out. The last columns say how
much of the replay's rate that would leave if Spark's work did not become slower by it,
as both use the same caches."""

_ABOUT_PEERS = """\
Beside the peers: their consumers' record classes in a Python data source of the same
eight columns, records gathered in lists, arrays made by pyarrow, batches of 2 MiB of
input, two tasks. Rows per second less the time of an empty job in the same round."""

_ABOUT_FLAT = """\
Cost of a row of `kafka-log` with 8 columns, less the time of an empty job in the same
round; `4 GiB` is four partitions of one segment each."""

_ABOUT_MEMORY = """\
Memory of the largest Python worker while it reads a segment of 1 GiB, sampled every
10 ms: private is what would be free without it, resident counts the mapped pages of
files as well."""


def _machine(figures: SparkFigures) -> str:
    machine = figures.run["machine"]
    packages = [f"{name} {version}" for name, version in machine["packages"].items()]
    return (
        f"{machine['cpus']} CPUs, Python {machine['python']}, {machine['java']},"
        f" {figures.run['when']}.\n{', '.join(packages)}."
    )


def _case_table(figures: SparkFigures) -> str:
    replays = {case: replay for case, replay, _ in SHARES}
    lines = []
    for case in (
        LOG,
        REPLAY,
        LOG_VALUE,
        REPLAY_VALUE,
        *PEERS,
        HEADERS,
        HEADERS_REPLAY,
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
    for case, replay in ((LOG, REPLAY), (LOG_VALUE, REPLAY_VALUE)):
        given = figures.core_seconds(replay)
        own, least = figures.reading(case), figures.reading(LEAST)
        lines.append(
            [
                case,
                *(f"{1e9 * seconds:.0f}" for seconds in (given, own, least)),
                *(f"{given / (given + more):.1%}" for more in (own, least)),
            ]
        )
    head = ("case", "replay", "reading", LEAST, "with reading", "with the least")
    return table(head, lines)


def _peer_table(figures: SparkFigures) -> str:
    lines = []
    for case in (REPLAY, LOG, *PEERS):
        leads = [
            f"{figures.lead(case, peer):.3g}x" if case not in PEERS else ""
            for peer in PEERS
        ]
        lines.append([case, f"{1e-6 / figures.row(case):.2f}", *leads])
    return table(("8 columns", "M rows/s", *(f"over {p}" for p in PEERS)), lines)


def _flat_table(figures: SparkFigures) -> str:
    lines = []
    for size in SIZES:
        case = log_case(size)
        found = [1e9 * seconds for seconds in figures.row_seconds(case)]
        lines.append(
            [
                size,
                f"{figures.rows(case):,}",
                f"{figures.seconds(case):.2f}",
                f"{1e9 * figures.row(case):.0f}",
                f"{min(found):.0f}-{max(found):.0f}",
            ]
        )
    empty = f"{figures.seconds(EMPTY):.2f}"
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
    """Put the chapter of one run into the report; return its verdicts as text."""
    figures = SparkFigures.read(json_path)
    found = list(spark_verdicts(figures))
    pure = figures.run["pure"]
    parts = [
        _METHOD.format(*_SHAPE, **figures.run["rounds"]),
        _machine(figures),
        summary(found),
        "![Rows per second, and the cost of a row by the size of the input]"
        "(pictures/spark.png)",
        _case_table(figures),
        _ABOUT_READING,
        _reading_table(figures),
        _ABOUT_PEERS,
        _peer_table(figures),
        _ABOUT_FLAT,
        _flat_table(figures),
        _ABOUT_MEMORY,
        _memory_table(figures),
        f"The engine in plain Python gives {pure['rows'] / pure['seconds'] / 1e3:.0f}"
        " thousand rows a second\nof 8 columns, in a Spark of its own.",
    ]
    put_chapter(RESULTS, HEADING, "\n\n".join(parts))
    picture.draw(figures, PICTURES / "spark.png")
    return summary(found)
