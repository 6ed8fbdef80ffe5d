# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decode the same bytes with codecs of Rust, Java and Go."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness.chapters import RESULTS, put_chapter
from benchmarks.harness.tables import amount, table
from benchmarks.harness.verdicts import Verdict, summary
from benchmarks.languages.cases import CASES, Case
from benchmarks.languages.kwire_program import WAYS as KWIRE_WAYS
from benchmarks.languages.programs import CONTENDERS, COUNTING, Contender
from benchmarks.languages.rounds import measure, read_run
from benchmarks.languages.ways import WAYS, Way

__all__ = ("OPTIONS", "measure", "write_chapter")

HEADING = "## Languages"
OPTIONS = {"rounds": 21}
LANGUAGES = ("Rust", "Java", "Go")
LEADS = (
    "decode metadata_v9_ids",
    "decode offset_fetch_v8",
    "decode fetch_v12",
    "records 1k_100B",
    "records 10k_1KB",
)
"""Cases in which kwire's fastest way is to lead every eager decoder."""

_METHOD = """\
Written by `make bench-languages`. Every program decodes the same bytes, which kio and
the rows of this report have encoded. Before anything was timed, all of them returned
the checksum of the fields that were encoded, and the same bytes when they encode.

Each program is one process for the whole run. In each of {rounds} rounds, in an order
drawn anew, it runs each of its cases for 20 ms. The clock is the processor time of that
process with all its threads, so a collector that runs beside the program counts, and
other processes count little. Java ran for {warm} s on each case before the rounds. Rust
is compiled with optimisation 3, link-time optimisation and one code unit, for the
system's allocator and for mimalloc. Java has a heap of 1 GB, with G1 and with the
parallel collector; Go has GOGC at 100 and at 800. Freeing a result is part of its call.
Every field of each record is read; messages are decoded alone, as eager decoders have
made all fields. Encoders of Rust and Go write into a buffer that has the right size.
Figures are the median / the least of the rounds, in µs.

{versions}.
{cpus} CPUs, {when}, load {load} before and after the rounds."""

_BEST = """\
The fastest way of kwire, columns and Arrow included, and the fastest eager one of each
language: one that makes all values before it returns. Whether strings and byte strings
are copies or share the input is in the table of ways."""

_WAYS = """\
What each way makes. "Shares" means that a value keeps the input, or one copy of it, in
memory as long as it lives."""

_MEMORY = """\
KB that one result holds / the most that a call takes, without the input. For Java and
Go the second figure is what a call allocates, as nothing of it is freed before the next
collection. Columns and Arrow count their buffers. What is made when it is read is not
in the first figure."""

_SIZE = """\
{modules} modules, {bytes} KB; stripped {stripped} KB, which a wheel compresses to
{compressed} KB. There is {debug}.
Each module has its own copy of the helpers that Cython writes, and its own table of the
names that it takes from Python."""


def best(
    case: Case, figures: dict[str, Any], language: str, eager: bool
) -> tuple[Contender, list[float]]:
    """Return the contender of a language with the least median in a case."""
    found = [
        (each, figures["seconds"][case.key][each.key])
        for each in CONTENDERS
        if each.language == language
        and each.key in figures["seconds"][case.key]
        and (WAYS[each.way].eager(case) or not eager)
    ]
    return min(found, key=lambda pair: statistics.median(pair[1]))


def _cell(seconds: list[float]) -> str:
    return f"{amount(statistics.median(seconds))} / {amount(min(seconds))}"


def _name(each: Contender) -> str:
    """Name a contender with what its program was started with."""
    return f"{WAYS[each.way].name}{SETTINGS.get(each.program, '')}"


SETTINGS = {
    "rust-mimalloc": ", mimalloc",
    "java-parallel": ", parallel",
    "go-800": ", GOGC 800",
}


def verdicts(figures: dict[str, Any]) -> Iterator[Verdict]:
    """Compare kwire's fastest way with the fastest eager one of any language."""
    for case in CASES:
        if case.key not in LEADS:
            continue
        own = statistics.median(best(case, figures, "Python", eager=False)[1])
        others = [best(case, figures, each, eager=True) for each in LANGUAGES]
        first = min(others, key=lambda pair: statistics.median(pair[1]))
        reached = statistics.median(first[1]) / own
        yield Verdict(
            f"{case.title}, kwire",
            f"at least {first[0].language}'s speed",
            f"{reached:.3g}x",
            reached >= 1,
        )


def _best_table(figures: dict[str, Any]) -> str:
    lines = []
    for case in CASES:
        objects = figures["seconds"][case.key]["kwire objects"]
        cells = [case.title, _cell(objects)]
        for language in ("Python", *LANGUAGES):
            each, seconds = best(case, figures, language, eager=language != "Python")
            cells.append(f"{_cell(seconds)}<br>{_name(each)}")
        lines.append(cells)
    head = ("µs", "kwire's objects", "kwire's fastest", *LANGUAGES)
    return table(head, lines)


def _all_table(figures: dict[str, Any]) -> str:
    lines = []
    for each in CONTENDERS:
        seconds = (figures["seconds"][case.key].get(each.key) for case in CASES)
        cells = ["-" if at is None else _cell(at) for at in seconds]
        if set(cells) != {"-"}:
            lines.append([_name(each), *cells])
    return table(("µs", *(case.title for case in CASES)), lines)


def _memory_table(figures: dict[str, Any]) -> str:
    cases = [case for case in CASES if case.operation != "encode"]
    contenders = [
        each for each in CONTENDERS if each.program in ("kwire", "java", "go")
    ]
    contenders[len(KWIRE_WAYS) : len(KWIRE_WAYS)] = [
        each._replace(program=COUNTING) for each in CONTENDERS if each.program == "rust"
    ]
    lines = []
    for each in contenders:
        cells = []
        for case in cases:
            sizes = figures["memory"][case.key].get(each.key, [])
            cells.append(" / ".join(map(_kilobytes, sizes)) or "-")
        if set(cells) != {"-"}:
            lines.append([WAYS[each.way].name, *cells])
    return table(("KB", *(case.title for case in cases)), lines)


def _kilobytes(size: int | None) -> str:
    return "-" if size is None else f"{size / 1000:,.1f}"


def _ways_table() -> str:
    def line(way: Way) -> list[str]:
        return [way.name, way.strings, way.byte_strings, way.records]

    head = ("way", "strings", "byte strings", "records")
    rows = table(head, map(line, WAYS.values()))
    return rows.replace("--:", "---")


def _size_tables(sizes: dict[str, Any]) -> str:
    debug = sizes["sections"].get("debug information", 0)
    text = _SIZE.format(
        modules=sizes["modules"],
        **{
            kind: f"{sizes[kind] / 1000:,.0f}"
            for kind in ("bytes", "stripped", "compressed")
        },
        debug=f"{debug / 1000:,.0f} KB of debug information"
        if debug
        else "no debug information",
    )
    parts = []
    for head, key in (("section", "sections"), ("code", "functions")):
        rows = [[kind, f"{size / 1000:,.0f}"] for kind, size in sizes[key].items()]
        parts.append(table((head, "KB"), rows))
    return "\n\n".join([text, *parts])


def write_chapter(json_path: Path) -> str:
    """Put the chapter of one run into the report; return its verdicts as text."""
    figures = read_run(json_path)
    found = list(verdicts(figures))
    method = _METHOD.format(
        rounds=figures["rounds"],
        warm=figures["warm"],
        versions=", ".join(f"{n} {v}" for n, v in figures["versions"].items()),
        cpus=figures["machine"]["cpus"],
        when=figures["when"],
        load=" and ".join(map(str, figures["load"])),
    )
    parts = [
        method,
        summary(found),
        _BEST,
        _best_table(figures),
        f"### Ways\n\n{_WAYS}",
        _ways_table(),
        _all_table(figures),
        f"### Memory of one result\n\n{_MEMORY}",
        _memory_table(figures),
        f"### Size of the compiled engine\n\n{_size_tables(figures['extension'])}",
    ]
    put_chapter(RESULTS, HEADING, "\n\n".join(parts))
    return summary(found)
