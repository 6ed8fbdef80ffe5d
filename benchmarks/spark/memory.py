# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure how much memory Spark's Python workers use while a job runs.

Private memory (USS) would be released if the worker exited. Resident memory also
includes mapped file pages, which may be shared with other processes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.spark.session import worker_pids

_SECONDS_BETWEEN = 0.01


def _kilobytes(pid: int) -> tuple[int, int]:
    """Return the private and the resident memory of a process in KiB.

    Returns (0, 0) if ``/proc`` no longer contains the process.
    """
    private = resident = 0
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0, 0
    for line in lines:
        name, number, *_ = line.split()
        if name.startswith("Private_"):
            private += int(number)
        elif name == "Rss:":
            resident = int(number)
    return private, resident


def peak_memory(session: Any, job: Callable[[], None]) -> dict[str, int]:
    """Run a job. Returns the maximum memory of any worker in bytes, by type.

    Raises ``RuntimeError`` if no worker has been found.
    """
    peaks = {"private": 0, "resident": 0, "samples": 0}
    ended = threading.Event()

    def watch() -> None:
        while not ended.is_set():
            for pid in worker_pids(session):
                private, resident = _kilobytes(pid)
                peaks["private"] = max(peaks["private"], private * 1024)
                peaks["resident"] = max(peaks["resident"], resident * 1024)
            peaks["samples"] += 1
            time.sleep(_SECONDS_BETWEEN)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        job()
    finally:
        ended.set()
        watcher.join()
    if not peaks["private"]:
        raise RuntimeError("no worker of Spark was seen; is this Linux?")
    return peaks
