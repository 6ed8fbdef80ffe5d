# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Start Spark in this process tree, with two threads by default."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT


@contextmanager
def _quiet() -> Iterator[None]:
    """Redirect the standard error output of new processes to /dev/null."""
    ours = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)
        os.close(nowhere)


@contextmanager
def open_session(
    folder: Path, jars: Sequence[str] = (), master: str = "local[2]"
) -> Iterator[Any]:
    """Start Spark on the loopback interface. Its files are written to ``folder``.

    Raises SystemExit if Java is not installed.
    """
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise SystemExit("Spark needs Java 17: put java on the PATH or set JAVA_HOME")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession
    builder = (
        SparkSession.builder.master(master)
        .appName("kwire benchmarks")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.jars", ",".join(jars))
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    )
    with _quiet():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        gateway = session.sparkContext._gateway
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=30)


def _processes() -> dict[int, list[str]]:
    """Return the fields of ``/proc/PID/stat`` by process id.

    The first two fields, the process id and the name, are omitted.
    """
    fields_by_pid = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            fields_by_pid[int(entry.name)] = fields
    return fields_by_pid


def _children(processes: dict[int, list[str]]) -> dict[int, list[int]]:
    parents: dict[int, list[int]] = {}
    for pid, fields in processes.items():
        parents.setdefault(int(fields[1]), []).append(pid)
    return parents


def worker_pids(session: Any) -> list[int]:
    """Return the process ids of the Python workers, the children of Spark's daemons."""
    parents = _children(_processes())
    daemons = parents.get(session.sparkContext._gateway.proc.pid, [])
    return [worker for daemon in daemons for worker in parents.get(daemon, [])]


def cpu_seconds(session: Any) -> float:
    """Return the total CPU seconds for Spark's Java process and all its descendants."""
    processes = _processes()
    parents = _children(processes)
    waiting, ticks = [session.sparkContext._gateway.proc.pid], 0
    while waiting:
        pid = waiting.pop()
        # User and system time of the process, and of its children that have ended.
        ticks += sum(map(int, processes[pid][11:15]))
        waiting += parents.get(pid, [])
    return ticks / os.sysconf("SC_CLK_TCK")
