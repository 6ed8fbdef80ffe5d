# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Permanent inputs of the fuzzer: ``corpus/TARGET.zip`` and ``findings/``.

A packed file contains the inputs of a target that cover more code than its seeds.
Findings are all inputs that have ever failed. They are preserved after the error has
been fixed.
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
"""Maximum size in bytes and maximum number of a target's packed inputs.

The smallest inputs are packed first.
"""


def pack(targets):
    """Write the inputs that cover more code than the seeds to ``corpus``."""
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
    """Write inputs to a packed file, beginning with the shortest.

    Returns the number of inputs that fit into the file. Equal inputs result in equal
    files.
    """
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
    """Yield the names and the bytes of a target's packed inputs."""
    path = FOLDER / f"{target}.zip"
    if not path.exists():
        return
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            yield name, file.read(name)


def findings(target):
    """Return the paths of a target's findings: inputs that have ever failed."""
    return sorted(
        path for path in process.FINDINGS.glob(f"{target}-*") if path.suffix != ".txt"
    )


def keep_entry(name, data):
    """Store an input with which the entry ``name`` has failed. Returns its path.

    Entries are defined in ``tests/safety/entries.py``.
    """
    process.FINDINGS.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(data).hexdigest()[:12]
    path = process.FINDINGS / f"entry-{name.replace(' ', '-')}-{digest}"
    path.write_bytes(data)
    path.with_name(f"{path.name}.txt").write_text(f"{name}\n", encoding="utf-8")
    return path


def entry_findings():
    """Yield (entry, input) for each failure in a deep run."""
    for path in sorted(process.FINDINGS.glob("entry-*.txt")):
        name = path.read_text(encoding="utf-8").strip()
        yield name, path.with_name(path.name.removesuffix(".txt")).read_bytes()


def judge(target):
    """Return the function of a target that checks an input."""
    return importlib.import_module(f"fuzz.targets.{target}").TestOneInput


def retry(targets=process.TARGETS):
    """Check all findings again, and return how many of them still fail.

    Each finding is checked in a separate process.
    """
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
    """Check a finding of a target. Returns a description of the error, or 0."""
    return _ended("fuzz.replay", target, str(path))


def _ended(module, *arguments):
    """Run a module in a separate process.

    Returns a description of the error, or 0 if the process was successful. An input
    that takes more than a minute is an error.
    """
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
    # Indented lines of the error output belong to a traceback, or to the values that
    # follow the message. Print the last line that is not indented.
    said += (line for line in done.stderr.decode().splitlines() if line[:1] > " ")
    return done.returncode and said[-1]
