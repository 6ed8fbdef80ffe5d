# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Ledger of all fuzzing: ``ledger.jsonl`` has one line for each run of a target."""

from __future__ import annotations

import json
from pathlib import Path

LEDGER = Path(__file__).resolve().parent / "ledger.jsonl"
WANTED = 8
"""CPU time of fuzzing in hours that a release requires."""


def add(line):
    """Append a run of a target to the ledger."""
    with LEDGER.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def lines():
    """Return all runs in the ledger."""
    if not LEDGER.exists():
        return []
    return [json.loads(line) for line in LEDGER.read_text("utf-8").splitlines()]


def row(line):
    """Format a run as one line of text.

    ``line`` is a line of the ledger, or contains the sums of several lines.
    """
    return (
        f"{line['target']:18} {line['cpu_seconds'] / 60:8.1f} min"
        f" {line['inputs']:12,} inputs {line['new_inputs']:6,} new"
        f" {line['findings']:3} findings"
    )


def totals():
    """Return the total CPU time in hours, and the total number of inputs."""
    found = lines()
    hours = sum(line["cpu_seconds"] for line in found) / 3600
    return hours, sum(line["inputs"] for line in found)


def table():
    """Format a table with the sums of every target, and with the totals."""
    sums = {}
    for line in lines():
        total = sums.setdefault(line["target"], dict.fromkeys(_SUMMED, 0))
        for key in _SUMMED:
            total[key] += line[key]
    rows = [row({"target": target, **sums[target]}) for target in sorted(sums)]
    hours, inputs = totals()
    return "\n".join(
        (*rows, f"{hours:.2f} of {WANTED} hours before a release, {inputs:,} inputs")
    )


_SUMMED = ("cpu_seconds", "inputs", "new_inputs", "findings")


def record_figures(open_findings):
    """Record the figures for the promise about continuous fuzzing (P17)."""
    from tools.generate.promises import Figure, record

    hours, inputs = totals()
    test = "make fuzz"
    record(
        "fuzz",
        [
            Figure("P17", "CPU-hours of fuzzing", round(hours, 2), test, least=2),
            Figure("P17", "inputs fuzzed", inputs, test),
            Figure("P17", "open findings", open_findings, test, most=0),
        ],
    )
