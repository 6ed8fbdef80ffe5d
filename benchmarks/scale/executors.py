# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure a ``kafka-log`` read with COUNT executors: ``executors COUNT FOLDER``.

Spark runs as a ``local-cluster``, whose executors are processes with one core per
executor. The job creates all rows with eight columns and discards them.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.spark.session import cpu_seconds, open_session

MEMORY_MB = 1024
SPLIT = "32m"
WARM, ROUNDS = 2, 5


def _tasks(session: Any) -> dict[str, int]:
    """Return the number of tasks that each executor has completed."""
    executors = session.sparkContext._jsc.sc().statusStore().executorList(True)
    rows = [executors.apply(number) for number in range(executors.size())]
    return {row.id(): row.completedTasks() for row in rows if row.id() != "driver"}


def main(count: str, folder: str) -> None:
    """Run the job, and print its figures as JSON.

    * ``count``: number of executors.
    * ``folder``: directory of the log.
    """
    walls, cpus = [], []
    with (
        tempfile.TemporaryDirectory(prefix="kwire-executors-") as scratch,
        open_session(
            Path(scratch), master=f"local-cluster[{count},1,{MEMORY_MB}]"
        ) as session,
    ):
        # Wait for all executors, because Spark also starts a job while some are
        # missing.
        while len(_tasks(session)) < int(count):
            time.sleep(0.1)
        table = (
            session.read.format("kafka-log")
            .option("maxPartitionBytes", SPLIT)
            .load(folder)
        )
        rows = table.count()
        for number in range(WARM + ROUNDS):
            before = _tasks(session)
            begun = time.perf_counter(), cpu_seconds(session)
            table.write.format("noop").mode("overwrite").save()
            wall, cpu = time.perf_counter() - begun[0], cpu_seconds(session) - begun[1]
            if number >= WARM:
                walls.append(wall)
                cpus.append(cpu)
        after = _tasks(session)
    print(
        json.dumps(
            {
                "rows": rows,
                "wall": statistics.median(walls),
                "cpu": statistics.median(cpus),
                "tasks": [after[name] - before[name] for name in sorted(after)],
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
