# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a target under atheris, guided by plain Python and checked on both engines.

The command ``python -m fuzz`` asks for two things by the environment: a file in which
inputs are counted, and a folder for findings, with which a run goes on after one. Left
alone, as a fuzzing service runs a target, the first finding ends the process.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import resource
import shlex
import sys
import time
import traceback
from pathlib import Path

from fuzz import engines
from fuzz.engines import Finding

COUNTS = "KWIRE_FUZZ_COUNTS"
FINDINGS = "KWIRE_FUZZ_FINDINGS"
CPU_SECONDS = "KWIRE_FUZZ_CPU_SECONDS"
LONGEST = 5.0
"""Seconds of work that one input may take."""

ENDED = "the process ended"
"""How the report of a finding begins that nothing else can be said of."""

_LEAP = 256 * 1024
"""KiB by which no input may raise the highest memory of the process."""


def main(test_one_input, modules):
    """Fuzz until the run is stopped; coverage of ``modules`` of kwire guides it."""
    import atheris

    with atheris.instrument_imports(include=[engines.PURE]):
        package = engines.pure()
        for name in modules:
            engines.module(package, name)
    if "messages" in modules:
        _instrument_emitted(atheris, engines.module(package, "_engine.pure.emitter"))
    if COUNTS in os.environ:
        test_one_input = _counted(test_one_input)
    # To merge a corpus the process starts itself again by its first argument.
    itself = sys.argv[0]
    if not getattr(sys, "frozen", False):
        itself = shlex.join((sys.executable, itself))
    atheris.Setup([itself, *sys.argv[1:]], test_one_input)
    atheris.Fuzz()


def _instrument_emitted(atheris, emitter):
    # The reader of each message is Python that is compiled when it is first needed.
    # There is an end to Kafka's messages, but none to what a schema can ask for.
    def compiled(source, name, mode):
        return atheris.instrument_bytecode.patch_code(
            compile(source, name, mode), trace_dataflow=True
        )

    emitter.compile = compiled


def _counted(test_one_input):
    """Count inputs, keep findings and go on, and end when the time is used up."""
    target = Path(sys.argv[0]).stem
    folder = Path(os.environ[FINDINGS])
    allowed = float(os.environ[CPU_SECONDS])
    with open(os.environ[COUNTS], "r+b") as file:
        counts = memoryview(mmap.mmap(file.fileno(), 16)).cast("Q")
    seen = set(_still_open(test_one_input, folder.glob(f"{target}-*.txt")))

    def check_input(data):
        try:
            measured(test_one_input, data)
        except Exception as error:
            keep(data, traceback.format_exc(), signature(error))
        counts[0] += 1
        if time.process_time() > allowed:
            os._exit(0)

    def keep(data, text, kind):
        counts[1] += 1
        if kind in seen:
            return
        seen.add(kind)
        path = folder / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        text = text.replace(f"{Path(__file__).parent.parent}/", "")
        path.with_suffix(".txt").write_text(text, encoding="utf-8")
        print(f"finding: {path}\n{text}", file=sys.stderr, flush=True)

    return check_input


def measured(test_one_input, data):
    """Judge an input, and what it takes of a processor and of memory."""
    start = time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    test_one_input(data)
    spent = time.process_time() - start
    if spent > LONGEST:
        raise Finding(f"slow: the input took {spent:.1f} s of work")
    leap = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if leap > _LEAP:
        raise Finding(f"large: the input took {leap} KiB of memory")


def _still_open(test_one_input, reports):
    """Give the signatures of findings whose cause is there: one of each is enough."""
    for report in reports:
        if report.read_text(encoding="utf-8").startswith(ENDED):
            continue
        try:
            measured(test_one_input, report.with_suffix("").read_bytes())
        except Exception as error:
            yield signature(error)


def signature(error):
    """Tell findings of different causes apart: where it was raised, and what it is."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.lineno) for frame in frames]
    return type(error).__name__, *places[-2:], str(error).partition(":")[0][:60]
