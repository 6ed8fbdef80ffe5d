# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.spark.pure_engine LOG``: times a log in plain Python.

A process of its own, as the workers of a Spark have the engine of its environment.
The best of a few runs, less the job of an empty log; informally.
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
    """Time the log that the command line names."""
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
