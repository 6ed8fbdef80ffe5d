# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a target under atheris, guided by the Python engine and checked on both engines.

``python -m fuzz`` sets environment variables with a file in which inputs are counted,
the CPU time limit, and a directory for findings. A run with these variables continues
after a finding. Without them, the first finding ends the process, as fuzzing services
expect.
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
"""Maximum CPU time for one input in seconds."""

ENDED = "the process ended"
"""Beginning of a report if the process ended without an exception."""

_LEAP = 256 * 1024
"""Maximum growth of the process's peak memory in KiB that one input may cause."""


def main(test_one_input, modules):
    """Fuzz until the run is stopped.

    The coverage of ``modules`` in kwire's Python engine guides the fuzzer.
    """
    import atheris

    with atheris.instrument_imports(include=[engines.PURE]):
        package = engines.pure()
        for name in modules:
            engines.module(package, name)
    if "messages" in modules:
        _instrument_emitted(atheris, engines.module(package, "_engine.pure.emitter"))
    if COUNTS in os.environ:
        test_one_input = _counted(test_one_input)
    # To merge a corpus, libFuzzer starts a new process with this command.
    itself = sys.argv[0]
    if not getattr(sys, "frozen", False):
        itself = shlex.join((sys.executable, itself))
    atheris.Setup([itself, *sys.argv[1:]], test_one_input)
    atheris.Fuzz()


def _instrument_emitted(atheris, emitter):
    # Readers of messages are Python code, which is generated and compiled on first use.
    # Only instrument them for targets that use Kafka's messages. Their number is
    # limited, while arbitrary schemas could generate any number of readers.
    def compiled(source, name, mode):
        return atheris.instrument_bytecode.patch_code(
            compile(source, name, mode), trace_dataflow=True
        )

    emitter.compile = compiled


def _counted(test_one_input):
    """Return a function that checks an input, counts it, and continues after a finding.

    Findings are stored in a directory. The process ends when it has used its CPU time.
    """
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
    """Check an input. Raises ``Finding`` if it takes too much CPU time or memory."""
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
    """Yield the signature of each finding that still fails.

    The run does not store such findings again, because one input is enough for each
    cause.
    """
    for report in reports:
        if report.read_text(encoding="utf-8").startswith(ENDED):
            continue
        try:
            measured(test_one_input, report.with_suffix("").read_bytes())
        except Exception as error:
            yield signature(error)


def signature(error):
    """Return a key that differs for findings with different causes.

    It consists of the exception class, the last two source positions in its traceback,
    and the beginning of its message.
    """
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.lineno) for frame in frames]
    return type(error).__name__, *places[-2:], str(error).partition(":")[0][:60]
