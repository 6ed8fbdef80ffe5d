# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Test installed wheels: ``python -m tools.release.installed dist``.

Every wheel is installed into new environments for every available CPython: one without
any other package, and one with ``kwire[all]``. First a program tests the public names.
Then some of the tests run with the installed package, in a directory without the
sources.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools import ROOT
from tools.generate.promises import Figure, record
from tools.prove.pure_suite import Counts, count_tests
from tools.release.pythons import Python, environment, install, pythons, run

# Test files that require only pytest: messages and frames.
MESSAGES = [
    "messages/test_vectors.py",
    "messages/test_framing.py",
    "messages/test_frame_splitter.py",
    "engine/test_structs.py",
    "engine/test_references.py",
    "schema/test_definitions.py",
    "engine/test_encoder_edges.py",
    "messages/test_internal_topics.py",
    "messages/test_control_records.py",
    "engine/test_active.py",
    "engine/twins/test_agreement.py",
    "safety/test_message_bytes.py",
    "connection/test_client_connection.py",
]
# Test files that require extras: columns, Arrow, compression, logs, command line.
MORE = [
    "messages/test_wire.py",
    "messages/test_round_trip.py",
    "engine/test_checksums.py",
    "safety/test_guard_pages.py",
    "safety/test_threads.py",
    "records/test_columns.py",
    "records/test_formats.py",
    "records/test_batch_builder.py",
    "records/compression/test_framings.py",
    "log/test_log_segments.py",
    "cli/test_cli_dump.py",
    "schema/test_json_text.py",
]
# Libraries of the tests, which compare their results with kwire's.
TOOLS = ["hypothesis", "crc32c", "lz4", "python-snappy", "kafka-python", "aiokafka"]

SETTINGS = """[pytest]
pythonpath = .
addopts = -rs --strict-markers --strict-config -p no:cacheprovider
filterwarnings = error
markers =
    gate
    gate_on_pure
    night
"""


class Run(NamedTuple):
    """Environment for the tests: interpreter, engine of the wheel, and extras."""

    python: Python
    engine: str
    extras: bool


class Result(NamedTuple):
    """Result of a run. ``fault`` is the error that ended the run, or ""."""

    run: Run
    counts: Counts
    seconds: float
    fault: str

    def row(self) -> str:
        """Format the result as a row of the printed table."""
        one, state = self.run, "failed" if self.fault else "passed"
        return (
            f"{one.python!s:<17}{one.engine:<7}{'all' if one.extras else 'none':<7}"
            f"{self.counts.passed:>7,}{self.counts.skipped:>9,}"
            f"{self.counts.one_engine:>10,}"
            f"{self.seconds:>8.0f} s   {state}"
        )


HEAD = (
    f"{'CPython':<17}{'wheel':<7}{'extras':<7}{'passed':>7}{'skipped':>9}"
    f"{'two only':>10}{'time':>10}"
)


def wheel_for(one: Run, folder: Path) -> Path:
    """Return the wheel of a run from a directory with the wheels of a release.

    Exits with a message if it contains no such wheel or more than one.
    """
    tag = "py3-none-any" if one.engine == "pure" else f"-{one.python.tag}-manylinux"
    matches = [path for path in folder.glob("*.whl") if tag in path.name]
    if len(matches) != 1:
        sys.exit(f"{folder} has {len(matches)} wheels of {tag}: build them anew")
    return matches[0].resolve()


def try_out(one: Run, folder: Path, scratch: Path) -> Result:
    """Create an environment with a wheel, and run the smoke test and the tests in it.

    ``scratch`` is a temporary directory for the environment.
    """
    started = time.monotonic()
    empty = scratch / "empty"
    empty.mkdir(parents=True)
    python = environment(one.python, scratch / "environment")
    wheel = wheel_for(one, folder)
    install(python, f"{wheel}[all]" if one.extras else wheel)
    shutil.copy(ROOT / "tools" / "release" / "smoke.py", scratch)
    run([python, "-W", "error", scratch / "smoke.py", one.engine], empty)
    install(python, "pytest", *(TOOLS if one.extras else []))
    test_folder = scratch / "tests-alone"
    for name in ("tests", "tools", "fuzz"):
        shutil.copytree(
            ROOT / name,
            test_folder / name,
            ignore=shutil.ignore_patterns("__pycache__", "target", ".mypy_cache"),
        )
    (test_folder / "pytest.ini").write_text(SETTINGS, encoding="utf-8")
    chosen = [f"tests/{name}" for name in MESSAGES + (MORE if one.extras else [])]
    output = failure = ""
    try:
        output = run(
            [python, "-m", "pytest", "-q", "--no-header", "--tb=short", *chosen],
            test_folder,
            {
                "PYTHONDONTWRITEBYTECODE": "1",
                "KWIRE_HOSTILE_INPUTS": "5000",
            },
        )
    except SystemExit as fault:
        failure = str(fault)
    seconds = time.monotonic() - started
    shutil.rmtree(scratch)
    return Result(one, count_tests(output), seconds, failure)


def runs(found: list[Python]) -> Iterator[Run]:
    """Yield a run for each interpreter and engine, with and without extras."""
    for python in found:
        for engine in ("fast", "pure"):
            yield from (Run(python, engine, extras) for extras in (False, True))


def note_figures(results: list[Result], found: list[Python]) -> None:
    """Store the figures of the promise P20, which concerns wheels."""
    pure = [one.counts for one in results if one.run.engine == "pure"]
    good = {one.run.python for one in results}
    good -= {one.run.python for one in results if one.fault}
    rows = [
        ("tests passed from the pure wheel", sum(one.passed for one in pure), 1, None),
        ("tests skipped there", sum(one.skipped for one in pure), None, 0),
        ("CPythons where all wheels pass", len(good), max(3, len(found)), None),
    ]
    record(
        "wheels",
        [
            Figure("P20", what, count, "make wheels", least, most)
            for what, count, least, most in rows
        ],
    )


def main() -> None:
    """Test all wheels, two at the same time, and print a table.

    Exits with a message if a test fails.
    """
    parser = argparse.ArgumentParser(description="Test the wheels of a folder")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", help="the versions to test, as 3.12; all by default")
    parser.add_argument("--record", action="store_true", help="keep the figures")
    asked = parser.parse_args()
    interpreters = [
        one for one in pythons() if one.version.startswith(asked.only or "")
    ]
    results = []
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        print(HEAD, flush=True)
        todo = list(runs(interpreters))
        folders = [Path(scratch, str(number)) for number in range(len(todo))]
        for result in pool.map(try_out, todo, [asked.folder] * len(todo), folders):
            results.append(result)
            print(result.row(), flush=True)
    for result in results:
        if result.fault:
            print(f"\n{result.row()}\n{result.fault}")
    if any(result.fault for result in results) or not results:
        sys.exit("a wheel failed; see above" if results else "no CPython fits")
    if asked.record and not asked.only:
        note_figures(results, interpreters)


if __name__ == "__main__":
    main()
