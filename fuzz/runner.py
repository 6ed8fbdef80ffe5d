# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs targets in turn, each in a child process and for a share of the time.

What a target has learnt is kept under ``build/fuzz`` and taken up again by the next
run. Time is what the child used of a processor, as the system reports when it ends.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from fuzz import guided, ledger, seeds

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
WORK = ROOT / "build" / "fuzz"
FINDINGS = HERE / "findings"
TARGETS = tuple(sorted(path.stem for path in HERE.glob("targets/fuzz_*.py")))

HANG = 20
"""Seconds of the clock after which an input is taken for a hang."""

_STOP: list[bool] = []

MEMORY = 2048
"""MiB that the process of a target may have."""

LARGEST = 8192
"""Bytes of an input."""


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


def arguments(target, folder, *options):
    """Give the command line of a target with the options that all runs share."""
    return [
        sys.executable,
        str(HERE / "targets" / f"{target}.py"),
        f"-timeout={HANG}",
        # A busy machine makes any input slow by the clock; a hang is what ends a run.
        f"-report_slow_units={HANG}",
        f"-rss_limit_mb={MEMORY}",
        f"-max_len={LARGEST}",
        f"-artifact_prefix={folder}/",
        *options,
    ]


def environment():
    """Let a target find the sources of kwire and of the fuzzing."""
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def run_slice(target, seconds, wall):
    """Run one target for some seconds of a processor; tell what came of it."""
    corpus, seeded = WORK / "corpus" / target, WORK / "seeds" / target
    artifacts = WORK / "artifacts" / target
    for folder in (corpus, artifacts, FINDINGS):
        folder.mkdir(parents=True, exist_ok=True)
    _take_seeds(target, corpus, seeded)
    before = sum(1 for _ in corpus.iterdir())
    known = set(FINDINGS.glob(f"{target}-*.txt"))
    counts = WORK / f"{target}.counts"
    counts.write_bytes(bytes(16))
    options = [
        f"-dict={path}"
        for path in (HERE / "targets" / f"{target}.dict",)
        if path.exists()
    ]
    variables = environment() | {
        guided.COUNTS: str(counts),
        guided.FINDINGS: str(FINDINGS),
        guided.CPU_SECONDS: str(seconds),
    }
    with (WORK / f"{target}.log").open("wb") as log:
        child = subprocess.Popen(
            [*arguments(target, artifacts, *options), str(corpus)],
            env=variables,
            stdout=log,
            stderr=log,
            cwd=WORK,
        )
        usage = _wait(child, wall)
    kept = _keep(target, artifacts)
    failed = bool(child.returncode and not kept)
    if failed:
        print(f"{target} ended with {child.returncode}; see {log.name}", flush=True)
    with counts.open("rb") as file, mmap.mmap(file.fileno(), 16, prot=1) as numbers:
        inputs = int.from_bytes(numbers[:8], sys.byteorder)
    new = set(FINDINGS.glob(f"{target}-*.txt")) - known
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
    merge(target, corpus, seeded)
    if not any(corpus.iterdir()):
        shutil.rmtree(seeded)
        raise SystemExit(f"no seed was taken; see {WORK / target}.merge.log")


def merge(target, into, more):
    """Copy what adds to the inputs of one folder from another one."""
    artifacts = WORK / "artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    with (WORK / f"{target}.merge.log").open("wb") as log:
        subprocess.run(
            [*arguments(target, artifacts, "-merge=1"), str(into), str(more)],
            env=environment(),
            stdout=log,
            stderr=log,
            cwd=WORK,
            check=True,
        )
    # Inputs of the corpus that fail now end the process of a merge.
    _keep(target, artifacts)


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


def _keep(target, artifacts):
    """Keep the inputs on which a process ended; tell how many there were."""
    kept = 0
    for path in sorted(artifacts.iterdir()):
        kept += 1
        data = path.read_bytes()
        name = f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
        shutil.copy(path, FINDINGS / name)
        text = f"{guided.ENDED}: {path.name.partition('-')[0]}\n"
        (FINDINGS / f"{name}.txt").write_text(text, encoding="utf-8")
        path.unlink()
    return kept
