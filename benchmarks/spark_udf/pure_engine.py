# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.spark_udf.pure_engine ROWS``: times kwire in plain Python.

This is a separate process, because Spark workers inherit the engine selection from its
environment. The last line of its output contains the seconds per case as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import kwire
from benchmarks.spark.session import open_session
from benchmarks.spark_udf import cases as work
from benchmarks.spark_udf import inputs
from benchmarks.spark_udf.rounds import measure_cases

CASES = (work.BY_HAND, work.KWIRE, work.FROM_RECORDS, work.FROM_MESSAGE)


def main() -> None:
    """Measure some cases on columns with the number of rows in the command line."""
    if kwire.backend != "pure":
        raise SystemExit("set KWIRE_BACKEND=pure")
    rows = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as name, open_session(Path(name)) as session:
        columns = {
            work.RECORD_SETS: inputs.write_record_sets(Path(name) / "sets", rows),
            work.METADATA: inputs.write_responses(Path(name) / "responses", rows),
        }
        chosen = [case for case in work.make_cases() if case.name in CASES]
        rows_by_column = {
            column: work.read_column(session, file) for column, file in columns.items()
        }
        work.check(chosen, rows_by_column)
        seconds = measure_cases(chosen, rows_by_column, rounds=3, warm=1)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
