# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs targets in turn, each in a child process and for a part of the time.

The corpus of a target is stored below ``build/fuzz``, and the next run continues with
it. Time means the CPU time of the child process, which the operating system reports at
its end.
"""

from __future__ import annotations

import mmap
import os
import random
import shutil
import signal
import subprocess
import sys
import time

from fuzz import guided, ledger, process, seeds

_STOP: list[bool] = []


def run(targets, end, slice_seconds):
    """Run the targets in turn until ``end`` (seconds since the epoch).

    * ``slice_seconds``: CPU time of each turn.

    Returns the number of findings.
    """
    found = 0
    order = list(targets)
    random.shuffle(order)
    # Stop at the next occasion after SIGTERM, so that the ledger receives the results.
    signal.signal(signal.SIGTERM, lambda *_: _STOP.append(True))
    while True:
        for target in order:
            left = end - time.time()
            if left < 10 or _STOP:
                return found
            # On a busy machine a slice takes more wall time than CPU time. Limit it to
            # three times the CPU time.
            line = run_slice(target, slice_seconds, min(3 * slice_seconds, left))
            ledger.add(line)
            found += line["findings"]
            print(ledger.row(line), flush=True)


def run_slice(target, seconds, wall):
    """Run a target for ``seconds`` of CPU time, but at most ``wall`` seconds.

    Returns a line for the ledger.
    """
    corpus, seeded = process.WORK / "corpus" / target, process.WORK / "seeds" / target
    artifacts = process.WORK / "artifacts" / target
    for folder in (corpus, artifacts, process.FINDINGS):
        folder.mkdir(parents=True, exist_ok=True)
    _take_seeds(target, corpus, seeded)
    before = sum(1 for _ in corpus.iterdir())
    known = set(process.FINDINGS.glob(f"{target}-*.txt"))
    counts = process.WORK / f"{target}.counts"
    counts.write_bytes(bytes(16))
    dictionary = process.FILES / f"{target}.dict"
    options = [f"-dict={dictionary}"] if dictionary.exists() else []
    variables = process.environment() | {
        guided.COUNTS: str(counts),
        guided.FINDINGS: str(process.FINDINGS),
        guided.CPU_SECONDS: str(seconds),
    }
    with (process.WORK / f"{target}.log").open("wb") as log:
        child = subprocess.Popen(
            [*process.arguments(target, artifacts, *options), str(corpus)],
            env=variables,
            stdout=log,
            stderr=log,
            cwd=process.WORK,
        )
        usage = _wait(child, wall)
    kept = process.keep_artifacts(target, artifacts)
    failed = bool(child.returncode and not kept)
    if failed:
        print(f"{target} ended with {child.returncode}; see {log.name}", flush=True)
    with counts.open("rb") as file, mmap.mmap(file.fileno(), 16, prot=1) as numbers:
        inputs = int.from_bytes(numbers[:8], sys.byteorder)
    new = set(process.FINDINGS.glob(f"{target}-*.txt")) - known
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "target": target,
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "inputs": inputs,
        "new_inputs": sum(1 for _ in corpus.iterdir()) - before,
        "findings": len(new) + failed,
        "version": _version(),
    }


def _take_seeds(target, corpus, seeded):
    """Copy the seeds that add coverage into the corpus, if the seeds have changed.

    There are thousands of seeds. Without this step, the fuzzer would process all of
    them at every start of the target.
    """
    if not seeds.write(target, seeded):
        return
    process.merge(target, corpus, seeded)
    if not any(corpus.iterdir()):
        shutil.rmtree(seeded)
        raise SystemExit(f"no seed was taken; see {process.WORK / target}.merge.log")


def _version():
    import kwire

    return kwire.__version__


def _wait(child, wall):
    """Wait up to ``wall`` seconds for a child process, and then kill it.

    Returns the resource usage of the process.
    """
    end = time.monotonic() + wall
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return usage
        if time.monotonic() > end or _STOP:
            child.send_signal(signal.SIGKILL)
            _, _, usage = os.wait4(child.pid, 0)
            child.returncode = 0
            return usage
        time.sleep(0.2)
