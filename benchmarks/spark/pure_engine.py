# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure a log with the pure engine: ``python -m benchmarks.spark.pure_engine
LOG``.

This is a separate process, because Spark workers inherit the engine selection from its
environment. The figure is the best result from four runs, minus the job time for an
empty log. It is less accurate than the regular rounds.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import kwire.spark
from benchmarks.spark.cases import kafka_log
from benchmarks.spark.inputs import LogInput, write_log
from benchmarks.spark.session import open_session


def main() -> None:
    """Measure the log that the command line names, and print its seconds."""
    if kwire.backend != "pure":
        raise SystemExit("set KWIRE_BACKEND=pure")
    log = LogInput(sys.argv[1], 0, 0, 0, "")
    with tempfile.TemporaryDirectory() as name, open_session(Path(name)) as session:
        session.dataSource.register(kwire.spark.KafkaLogSource)
        best = []
        for each in (write_log(Path(name) / "empty", 0), log):
            seconds = []
            for _ in range(4):
                begun = time.perf_counter()
                table = kafka_log(session, each)
                table.write.format("noop").mode("overwrite").save()
                seconds.append(time.perf_counter() - begun)
            best.append(min(seconds))
    print(best[1] - best[0])


if __name__ == "__main__":
    main()
