# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The inputs that fuzzing keeps: ``corpus/TARGET.zip`` and ``findings/``.

A packed file holds the inputs of a target that reach further than its seeds. Findings
are every input that ever failed; they stay when their cause is gone.
"""

from __future__ import annotations

import hashlib
import importlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from fuzz import process, seeds

FOLDER = Path(__file__).resolve().parent / "corpus"
MOST, MOST_INPUTS = 128 * 1024, 300
"""Bytes and number of one target's packed inputs; the smallest ones come first."""


def pack(targets):
    """Put what the runs found, and the seeds do not reach, into the packed files."""
    FOLDER.mkdir(exist_ok=True)
    for target in targets:
        merged = process.WORK / "merged" / target
        shutil.rmtree(merged, ignore_errors=True)
        seeds.write(target, merged)
        seeded = {path.name for path in merged.iterdir()}
        found = process.WORK / "corpus" / target
        found.mkdir(parents=True, exist_ok=True)
        for name, data in packed(target):
            (found / name).write_bytes(data)
        process.merge(target, merged, found)
        new = {p.name: p.read_bytes() for p in merged.iterdir() if p.name not in seeded}
        kept = _write(FOLDER / f"{target}.zip", new)
        print(f"{target:18} {kept:5} of {len(new)} inputs beyond the seeds", flush=True)


def _write(path, inputs):
    """Write a packed file, the same for the same inputs; count what fitted."""
    kept = size = 0
    if not inputs:
        path.unlink(missing_ok=True)
        return 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name in sorted(inputs, key=lambda name: (len(inputs[name]), name)):
            size += len(inputs[name]) + 150
            if size > MOST or kept == MOST_INPUTS:
                break
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, inputs[name])
            kept += 1
    return kept


def packed(target):
    """Give the names and the bytes of a target's packed inputs."""
    path = FOLDER / f"{target}.zip"
    if not path.exists():
        return
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            yield name, file.read(name)


def findings(target):
    """Give the paths of all inputs that ever failed in a target."""
    return sorted(
        path for path in process.FINDINGS.glob(f"{target}-*") if path.suffix != ".txt"
    )


def keep_entry(name, data):
    """Keep an input that went wrong at an entry of ``tests/safety/entries.py``."""
    process.FINDINGS.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(data).hexdigest()[:12]
    path = process.FINDINGS / f"entry-{name.replace(' ', '-')}-{digest}"
    path.write_bytes(data)
    path.with_name(f"{path.name}.txt").write_text(f"{name}\n", encoding="utf-8")
    return path


def entry_findings():
    """Give the entries and the inputs of all that ever failed in a deep run."""
    for path in sorted(process.FINDINGS.glob("entry-*.txt")):
        name = path.read_text(encoding="utf-8").strip()
        yield name, path.with_name(path.name.removesuffix(".txt")).read_bytes()


def judge(target):
    """Give the function that judges an input."""
    return importlib.import_module(f"fuzz.targets.{target}").TestOneInput


def retry(targets=process.TARGETS):
    """Try all findings again, each in a process of its own; count those still open."""
    still = 0
    for target in targets:
        for path in findings(target):
            wrong = _try_finding(target, path)
            if wrong:
                still += 1
                print(f"open: {path.name}: {wrong}")
    for name, data in entry_findings():
        wrong = _ended("tools.prove.deep.entries", name, data.hex() or "-")
        if wrong:
            still += 1
            print(f"open: {name} {data.hex()[:99]}: {wrong}")
    return still


def _try_finding(target, path):
    """Try one finding; tell what is wrong, if something is."""
    return _ended("fuzz.replay", target, str(path))


def _ended(module, *arguments):
    """Run a module in a process of its own; tell what is wrong, if something is."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            env=process.environment(),
            capture_output=True,
            timeout=60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "no end within a minute"
    said = [f"exit code {done.returncode}"]
    # What is indented belongs to a traceback, or to the values after the message.
    said += (line for line in done.stderr.decode().splitlines() if line[:1] > " ")
    return done.returncode and said[-1]
