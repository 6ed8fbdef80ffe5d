# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decode the same bytes with codecs for Rust, Java and Go."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import chapters
from benchmarks.harness.tables import amount, table
from benchmarks.harness.verdicts import Verdict
from benchmarks.languages.cases import CASES, Case
from benchmarks.languages.kwire_program import WAYS as KWIRE_WAYS
from benchmarks.languages.programs import CONTENDERS, COUNTING, Contender
from benchmarks.languages.rounds import measure, read_run
from benchmarks.languages.ways import WAYS

__all__ = ("OPTIONS", "measure", "write_chapter")

OPTIONS = {"rounds": 21}
LANGUAGES = ("Rust", "Java", "Go")
LEADS = (
    "decode metadata_v9_ids",
    "decode offset_fetch_v8",
    "decode fetch_v12",
    "records 1k_100B",
    "records 10k_1KB",
)
"""Cases in which kwire's fastest variant must be faster than all eager decoders."""


def best(
    case: Case, figures: dict[str, Any], language: str, eager: bool
) -> tuple[Contender, list[float]]:
    """Return the contender of a language with the lowest median, and its seconds.

    If ``eager`` is True, contenders that defer work are ignored.
    """
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
    """Return the name of a contender and its program's settings, for the report."""
    return f"{WAYS[each.way].name}{SETTINGS.get(each.program, '')}"


SETTINGS = {
    "rust-mimalloc": ", mimalloc",
    "java-parallel": ", parallel",
    "go-800": ", GOGC 800",
}


def verdicts(figures: dict[str, Any]) -> Iterator[Verdict]:
    """Yield a verdict for each case in which kwire claims to be the fastest.

    kwire's fastest variant is compared with the fastest eager decoder of all languages.
    """
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


def _size_table(head: str, sizes: dict[str, int]) -> str:
    rows = [[kind, f"{size / 1000:,.0f}"] for kind, size in sizes.items()]
    return table((head, "KB"), rows)


def write_chapter(json_path: Path) -> str:
    """Write the chapter for a finished run into the report.

    Return the verdicts as text.
    """
    run = read_run(json_path)
    extension = run["extension"]
    debug = extension["sections"].get("debug information", 0)
    return chapters.write_chapter(
        __file__,
        list(verdicts(run)),
        run=run,
        versions=", ".join(f"{n} {v}" for n, v in run["versions"].items()),
        best=_best_table(run),
        all=_all_table(run),
        memory=_memory_table(run),
        modules=extension["modules"],
        debug=f"{debug / 1000:,.0f} KB of debug information"
        if debug
        else "no debug information",
        **{
            kind: f"{extension[kind] / 1000:,.0f}"
            for kind in ("bytes", "stripped", "compressed")
        },
        sections=_size_table("section", extension["sections"]),
        functions=_size_table("code", extension["functions"]),
    )
