# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs targets in turn, each in a child process and for a share of the time.

What a target has learnt is kept under ``build/fuzz`` and taken up again by the next
run. Time is what the child used of a processor, as the system reports when it ends.
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
    """Run the targets until ``end``; count the findings."""
    found = 0
    order = list(targets)
    random.shuffle(order)
    # A run that is ended early still writes what it did to the ledger.
    signal.signal(signal.SIGTERM, lambda *_: _STOP.append(True))
    while True:
        for target in order:
            left = end - time.time()
            if left < 10 or _STOP:
                return found
            # On a busy machine a slice takes longer by the clock, up to a point.
            line = run_slice(target, slice_seconds, min(3 * slice_seconds, left))
            ledger.add(line)
            found += line["findings"]
            print(ledger.row(line), flush=True)


def run_slice(target, seconds, wall):
    """Run one target for some seconds of a processor; tell what came of it."""
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
    """Take those seeds into the corpus that add to it, if they are not those of last.

    One pass over thousands of seeds is enough; each start of a target would make one.
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
    """Wait for a child, no longer than the time is; give what it used."""
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
