# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The chapters of ``RESULTS.md``: most come from one run, some from their own.

What is in a chapter is the business of its own module.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness import ROOT

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
    "## Live topics in Spark",
)
"""Headings of the chapters with a run of their own, in order, at the end."""


def put_chapters(path: Path, parts: Sequence[str]) -> None:
    """Write the parts of the common run; chapters with a run of their own stay."""
    _, separate = _read(path)
    path.write_text("\n\n".join([*parts, *_in_order(separate)]) + "\n")


def put_chapter(path: Path, heading: str, text: str) -> None:
    """Write one chapter with a run of its own, in place of the one that is there."""
    common, separate = _read(path)
    separate[heading] = f"{heading}\n\n{text}"
    path.write_text("\n\n".join([*common, *_in_order(separate)]) + "\n")


def _read(path: Path) -> tuple[list[str], dict[str, str]]:
    """Return the chapters of the common run, and the others by heading."""
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
