# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Chapters of ``RESULTS.md``: most are written by a common run, others by separate
runs.

The text of a chapter is the template ``chapter.md``. The module ``chapter.py`` in the
same directory computes its figures and tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT
from benchmarks.harness.verdicts import Verdict, summary

RESULTS = ROOT / "benchmarks" / "RESULTS.md"
PICTURES = ROOT / "benchmarks" / "pictures"

SEPARATE = (
    "## Live topics",
    "## Leaders that move",
    "## Adapters",
    "## Producers",
    "## Commands",
    "## Languages",
    "## Spark",
    "## Spark UDFs",
    "## Live topics in Spark",
    "## Test clusters",
)
"""Chapter headings for separate runs, in their order at the end of the report."""


def fill(module: str, **figures: Any) -> str:
    """Fill in the template ``chapter.md`` beside a module.

    ``module`` is the ``__file__`` of the module.
    """
    return Path(module).with_suffix(".md").read_text("utf-8").format(**figures)


def write_chapter(module: str, found: Sequence[Verdict], **figures: Any) -> str:
    """Fill in the template of a module, and write the chapter into the report.

    Returns the verdicts ``found`` as text.
    """
    shown = summary(found)
    put_chapter(RESULTS, fill(module, summary=shown, **figures))
    return shown


def put_common(path: Path, text: str) -> None:
    """Replace the chapters of the common run.

    Chapters of separate runs remain unchanged.
    """
    _, separate = _read(path)
    path.write_text("\n\n".join([text.strip("\n"), *_in_order(separate)]) + "\n")


def put_chapter(path: Path, text: str) -> None:
    """Replace the chapter whose heading is the first line of ``text``."""
    common, separate = _read(path)
    separate[text.partition("\n")[0]] = text.strip("\n")
    path.write_text("\n\n".join([*common, *_in_order(separate)]) + "\n")


def _read(path: Path) -> tuple[list[str], dict[str, str]]:
    """Return the chapters of the common run, and the separate chapters by heading."""
    common: list[str] = []
    separate: dict[str, str] = {}
    text = path.read_text() if path.exists() else ""
    for each in re.split(r"\n(?=## )", text.strip("\n")):
        heading = each.partition("\n")[0]
        if heading in SEPARATE:
            separate[heading] = each.strip("\n")
        elif each:
            common.append(each.strip("\n"))
    return common, separate


def _in_order(separate: dict[str, str]) -> list[str]:
    return [separate[heading] for heading in SEPARATE if heading in separate]
