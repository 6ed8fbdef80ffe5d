# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decode a column in a Spark UDF with several libraries, compared with kwire's
functions.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.harness import chapters
from benchmarks.harness.broker_runs import describe_machine
from benchmarks.harness.tables import table
from benchmarks.spark_udf import cases, inputs
from benchmarks.spark_udf.pure_engine import CASES as PURE_CASES
from benchmarks.spark_udf.rounds import PURE_ROWS, measure
from benchmarks.spark_udf.targets import UdfFigures, udf_verdicts

__all__ = ("OPTIONS", "measure", "write_chapter")

OPTIONS: dict[str, object] = {}

_LIBRARIES = (
    cases.BY_HAND,
    cases.KAFKA_PYTHON,
    cases.KIO,
    cases.AIOKAFKA,
    cases.KWIRE,
    cases.PREPARED,
)
_FUNCTIONS = {
    cases.RECORD_SETS: (cases.FROM_RECORDS_ALL, cases.FROM_RECORDS, cases.READ_RECORDS),
    cases.METADATA: (cases.FROM_MESSAGE_ALL, cases.FROM_MESSAGE),
}


def _table(figures: UdfFigures, column: str) -> str:
    lines = []
    for name in (*_LIBRARIES, *_FUNCTIONS[column]):
        seconds = [f"{figures.seconds(column, name):.2f}", ""]
        if name in _LIBRARIES:
            without = figures.seconds(column, name + cases.WITHOUT_ARROW)
            seconds[1] = f"{without:.2f}"
        leads = [
            f"{figures.lead(column, name, other):.1f}x"
            for other in (cases.BY_HAND, cases.AIOKAFKA)
        ]
        shown = f"UDF: {name}" if name in _LIBRARIES else f"`{name}`"
        lines.append([shown, *seconds, *leads])
    head = ("job", "seconds", "useArrow=False", "over by hand", "over aiokafka")
    return table(head, lines)


def _pure_table(figures: UdfFigures) -> str:
    lines = []
    for column in (cases.RECORD_SETS, cases.METADATA):
        for name in PURE_CASES:
            if name in figures.run["pure"][column]:
                seconds = figures.seconds(column, name, "pure")
                lead = figures.lead(column, name, cases.BY_HAND, "pure")
                lines.append([column, name, f"{seconds:.2f}", f"{lead:.1f}x"])
    return table(("column", "job", "seconds", "over by hand"), lines)


def write_chapter(json_path: Path) -> str:
    """Write the chapter for a finished run into the report.

    Returns the verdicts as text.
    """
    figures = UdfFigures.read(json_path)
    sizes = figures.run["bytes"]
    return chapters.write_chapter(
        __file__,
        list(udf_verdicts(figures)),
        run=figures.run,
        inputs=inputs,
        record_count=inputs.SETS * inputs.RECORDS,
        set_mib=sizes[cases.RECORD_SETS] / 2**20,
        response_bytes=sizes[cases.METADATA] // inputs.RESPONSES,
        pure_rows=PURE_ROWS,
        machine=describe_machine(figures.run),
        records=_table(figures, cases.RECORD_SETS),
        metadata=_table(figures, cases.METADATA),
        pure=_pure_table(figures),
    )
