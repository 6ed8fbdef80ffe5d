# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the tests with the address sanitizer and the undefined behaviour sanitizer.

Every planted bug in ``tools/prove/bugs`` for the sanitizers must be reported first,
because an allocator that hides over-reads, or a sanitizer runtime that is not loaded,
would not report anything either. Then hostile inputs are decoded, each in heap memory
with exactly its size, and the test suite runs. Reports of invalid addresses are written
to files, so that reports from child processes are not lost. Reports of undefined
behaviour are written to the standard error of the process that they abort.

``--gate`` skips the suite. ``--record`` stores the figures of a complete run.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tools.generate.promises import Figure, record
from tools.prove.breaks import Change, try_changes
from tools.prove.engine_copy import Bug, Copy, bugs

INPUTS = 1_000_000
"""Number of hostile inputs. Two processes decode half of them each."""

TESTS = 10_000
"""Minimum number of passed tests, because a suite that does not run reports nothing."""

WORKERS = 2

MEASURED = "measures memory, of which the runtime takes some"
TIMED = "bounds processor time, of which the runtime takes some"
HURRIED = "gives up, or has a peer that gives up, where everything is slow"
LEFT_OUT = {
    "tests/spark": "starts Java, which takes signals and memory its own way",
    "tests/project/typing": "runs Node.js, and nothing of the engine",
    "tests/safety/test_import_cost.py": "counts what the runtimes load as well",
    "tests/safety/test_failing_allocations.py": "lets another allocator fail",
    "tests/safety/test_memory.py::"
    "test_a_thousand_bombs_leave_the_process_as_it_was": MEASURED,
    "tests/log/test_log_memory.py": MEASURED,
    "tests/records/test_column_costs.py": MEASURED,
    "tests/jobs/test_export_failures.py::"
    "test_memory_does_not_grow_with_a_segment": MEASURED,
    "tests/cli/test_cli_process.py::test_memory_does_not_grow_with_the_file": MEASURED,
    "tests/records/test_batch_builder.py::test_size_bound_holds_for_all_rows": HURRIED,
    "tests/records/test_writing.py::test_both_engines_write_the_same_bytes": HURRIED,
    "tests/records/compression/test_compression_damage.py::"
    "test_bombs_stop_at_the_ceiling": TIMED,
    "tests/records/compression/test_empty_blocks.py::"
    "test_a_megabyte_of_empty_blocks_is_refused_soon": TIMED,
    "tests/log/test_log_damage_speed.py": TIMED,
    "tests/connection/test_real_clients.py": HURRIED,
    "tests/client/requests/test_connections.py::"
    "test_large_messages_pass_both_ways": HURRIED,
    "tests/recording/test_record_process.py::"
    "test_a_kill_costs_the_last_second_at_most": HURRIED,
}
"""Tests without meaning when the sanitizer runtimes are loaded, and the reasons."""

REPORT = re.compile(r"(?:AddressSanitizer|runtime error): *(.*?)(?=$| 0x| on a)", re.M)


class Sanitized(Copy):
    """Copy of the tree whose engine is compiled with the sanitizers."""

    def __init__(self) -> None:
        """Use the directory ``build/sanitize`` and its subdirectory for reports."""
        super().__init__("sanitize", "KWIRE_BUILD_SANITIZE")
        self.reports = self.root / "build" / "reports"

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the environment that preloads the sanitizers and checks allocations.

        The reports are written to ``folder``, which is emptied first.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for report in folder.iterdir():
            report.unlink()
        log = f"log_path={folder / 'report'}"
        # The tests handle the faults of guard pages themselves, and expect that a huge
        # allocation returns NULL. Memory that Python keeps until its exit is not a
        # leak.
        address = (
            "detect_leaks=0:handle_segv=0:handle_sigbus=0:abort_on_error=1:"
            f"allocator_may_return_null=1:quarantine_size_mb=16:{log}"
        )
        return {
            "LD_PRELOAD": " ".join(map(runtime, ("libasan.so", "libubsan.so"))),
            "PYTHONMALLOC": "malloc",
            # Arrow's own allocator would hide reads beyond the end of a buffer.
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "ASAN_OPTIONS": address,
            "UBSAN_OPTIONS": "print_stacktrace=1:abort_on_error=1",
        }

    def change(self, bug: Bug) -> Change:
        """Return the change that plants a bug, which a sanitizer must report."""
        folder = self.reports / bug.patch.stem

        def judge(done: subprocess.CompletedProcess[str]) -> str:
            report = REPORT.search("".join([*texts(folder), done.stdout]))
            return report[1] if report else ""

        return Change(
            bug.patch.stem,
            bug.name,
            [["-c", bug.arguments]],
            self.environment(folder),
            apply=partial(self.patched, bug),
            judge=judge,
            # The sanitizers reserve more address space than ``prlimit`` in ``breaks``
            # allows.
            prefix=(),
        )


def runtime(library: str) -> str:
    """Return the path of a runtime library of gcc, for example of libasan.so."""
    asked = ["gcc", f"-print-file-name={library}"]
    return subprocess.run(asked, capture_output=True, text=True).stdout.strip()


def texts(folder: Path) -> list[str]:
    """Return the texts of all reports in a directory."""
    return [path.read_text(errors="replace") for path in sorted(folder.iterdir())]


def check(what: str, done: subprocess.CompletedProcess[str], folder: Path) -> None:
    """Raise ``SystemExit`` if a sanitizer has reported an error or the run has failed.

    ``what`` names the run in the message.
    """
    for report in [*texts(folder), done.stdout]:
        if match := REPORT.search(report):
            print(report[match.start() : match.start() + 4000], file=sys.stderr)
            raise SystemExit(f"{what}: the sanitizers reported this")
    if done.returncode:
        raise SystemExit(f"{what}: ended badly\n{done.stdout[-4000:]}")


def inputs_of(worker: int, count: int) -> int:
    """Decode ``count`` hostile inputs in a worker process.

    The inputs are messages and record sets, and inputs of all other functions that read
    bytes. Returns the number of inputs.
    """
    import kwire
    from kwire.records import columns
    from tests.harness import hostile
    from tests.records import hostile_records
    from tests.safety import entries, entry_inputs

    ways: list[dict[str, Any]] = [{}, {"compat": "java"}, {"zero_copy": True}]
    done = 0
    families = list(hostile.FAMILIES)[worker::WORKERS]
    for family in families:
        for hostile_input in hostile.take(family, count * 7 // 10 // len(families)):
            cls = getattr(kwire.messages, hostile_input.message)
            data = bytes(bytearray(hostile_input.data))
            with contextlib.suppress(kwire.DecodeError):
                kwire.decode(cls, data, hostile_input.version, **ways[done % 3])
            done += 1
    families = list(hostile_records.FAMILIES)[worker::WORKERS]
    for family in families:
        for data in hostile_records.take(family, count // 10 // len(families)):
            data = bytes(bytearray(data))
            with contextlib.suppress(kwire.DecodeError):
                list(kwire.records.decode_batches(data, check_crc=False))
            with contextlib.suppress(kwire.DecodeError):
                columns.decode_records(data, check_crc=False)
            done += 1
    chosen = list(entries.ENTRIES.values())[worker::WORKERS]
    shares = sum(entry.share for entry in chosen)
    left = count - done
    for entry in chosen:
        input_count = left * entry.share // shares + 1
        damaged = entry_inputs.damage_forever(entry)
        for data, _ in zip(damaged, range(input_count), strict=False):
            entries.ends(entry, kwire, bytes(bytearray(data)))
            done += 1
    return done


def run_inputs(copy: Sanitized, count: int) -> int:
    """Decode ``count`` hostile inputs in two worker processes.

    Returns the number of inputs. Raises ``SystemExit`` if a sanitizer reports an error.
    """
    folder = copy.reports / "inputs"
    environment = copy.environment(folder)

    def work(worker: int) -> int:
        command = ["-m", "tools.prove.sanitize", "--worker", str(worker)]
        command += ["--inputs", str(count // WORKERS + 1)]
        done = copy.run(command, more=environment)
        check("hostile inputs", done, folder)
        return int(done.stdout.split()[-1])

    with ThreadPoolExecutor(WORKERS) as pool:
        return sum(pool.map(work, range(WORKERS)))


def run_suite(copy: Sanitized) -> int:
    """Run the test suite without the tests in ``LEFT_OUT``.

    Returns the number of passed tests. Raises ``SystemExit`` if a test fails or a
    sanitizer reports an error.
    """
    folder = copy.reports / "suite"
    command = ["-m", "pytest", "-q", "-s", "-p", "no:randomly"]
    command += ["-p", "no:cacheprovider"]
    command += ["-n", str(WORKERS), "--dist", "loadfile"]
    for test, reason in LEFT_OUT.items():
        print(f"          left out: {test} ({reason})")
        command += ["--deselect" if "::" in test else "--ignore", test]
    more = {"KWIRE_HOSTILE_INPUTS": "20000"}
    more |= copy.environment(folder)
    done = copy.run(command, more, log=copy.reports / "suite.txt")
    check("the suite", done, folder)
    passed = re.search(r"(\d+) passed", done.stdout)
    return int(passed.group(1)) if passed else 0


def main() -> int:
    """Check that the sanitizers report all planted bugs, and run inputs and tests.

    Exits with a message if a planted bug is not reported or another bug is.
    """
    parser = argparse.ArgumentParser(description="kwire under gcc's sanitizers")
    parser.add_argument("--gate", action="store_true", help="leave the suite out")
    parser.add_argument("--inputs", type=int, default=INPUTS, help="hostile inputs")
    parser.add_argument("--record", action="store_true", help="note the figures")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.record and asked.gate:
        parser.error("--record is for a whole run")
    if asked.worker is not None:
        print(inputs_of(asked.worker, asked.inputs))
        return 0
    copy, start = Sanitized(), time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - start:6.0f} s  {text}", flush=True)

    copy.refresh()
    copy.build()
    say("built with the address and undefined-behaviour sanitizers")
    planted = [bug for bug in bugs() if bug.harness == "sanitizer"]
    reports = try_changes(copy, map(copy.change, planted))
    if not all(reports.values()):
        return 1
    done = run_inputs(copy, asked.inputs)
    say(f"{done:,} hostile inputs, no report")
    figures = [
        Figure("P10", "hostile inputs", done, "make sanitize", least=INPUTS),
        Figure("P10", "planted bugs reported", len(planted), "make sanitize", least=2),
    ]
    if not asked.gate:
        passed = run_suite(copy)
        say(f"{passed:,} tests passed, no report")
        figures.append(
            Figure("P10", "tests passed", passed, "make sanitize", least=TESTS)
        )
    if asked.record:
        record("sanitize", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
