# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Measure one case in a separate process: ``worker CASE FOLDER [PAUSE_MS]``.

The case ``plan`` plans a ``kafka-log`` read without Spark, and ``list`` is ``kwire
ls``. If PAUSE_MS is specified, the directory is served as an object store with that
delay per request.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path


def _plan(path: str) -> int:
    from kwire.spark.log.options import read_options
    from kwire.spark.log.planning import Bounds, find_partitions, pack, plan_pieces

    options = read_options({"path": path})
    pieces = plan_pieces(find_partitions(options), options, Bounds())
    return len(pack(pieces, options))


def _list(path: str) -> int:
    from kwire.cli.commands import ls

    with (
        open(os.devnull, "w") as nothing,
        redirect_stdout(nothing),
        redirect_stderr(nothing),
    ):
        code = ls.command.main([path, "--segments"], standalone_mode=False)
    if code:
        raise SystemExit(f"kwire ls {path} ended with {code}")
    return 0


def _peak_memory() -> int:
    """Return this program's peak resident memory, in bytes.

    ``getrusage`` would include the peak memory of the parent process.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


CASES: dict[str, Callable[[str], int]] = {"plan": _plan, "list": _list}


def main(case: str, folder: str, pause_ms: str = "") -> None:
    """Run a case, and print its figures as JSON.

    * ``folder``: directory of the logs.
    * ``pause_ms``: delay of each request in milliseconds, or "" to read local files.
    """
    path, requests = folder, None
    if pause_ms:
        from benchmarks.scale.store import LateStore

        path = LateStore.serve(Path(folder), float(pause_ms) / 1000)
        requests = LateStore.requests
    before = time.perf_counter(), time.process_time()
    splits = CASES[case](path)
    wall, cpu = time.perf_counter() - before[0], time.process_time() - before[1]
    figures = {"wall": wall, "cpu": cpu, "peak": _peak_memory(), "splits": splits}
    print(json.dumps(figures | {"requests": requests}))


if __name__ == "__main__":
    main(*sys.argv[1:])
