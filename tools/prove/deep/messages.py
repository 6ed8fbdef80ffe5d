# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Decode every single-byte change of every vector on guarded memory (P5 and P6).

The run starts with one vector for every (message, version), continues with all vectors,
and finally decodes all of them leniently without copying. ``python -m
tools.prove.deep.messages NAME VERSION MODE HEX`` decodes one input on each engine, also
on guarded memory, and prints the result.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

from fuzz import engines
from tests.engine.twins import test_agreement
from tests.harness import golden, guard_pages, hostile
from tests.safety import broken_messages
from tools.generate.promises import Figure

STEP = {"fast": 400_000, "pure": 20_000}
"""Minimum number of inputs in one child process, by engine.

A run that is stopped repeats the inputs of its last child process.
"""


def stages() -> Iterator[tuple[str, str, bool, Any]]:
    """Yield (engine, decoding mode, is complete, tables) for each stage.

    A complete stage decodes all vectors, another stage one vector for each message and
    version. The tables determine the changes of each byte. None selects truncation.
    """
    yield "fast", "strict", False, broken_messages.ALL
    yield "fast", "strict", True, None
    yield "fast", "java-zero-copy", True, None
    yield "pure", "strict", True, None
    yield "pure", "strict", False, broken_messages.HOSTILE
    yield "fast", "strict", True, broken_messages.ALL
    yield "fast", "java-zero-copy", True, broken_messages.ALL


def steps() -> Iterator[tuple[str, list[Any]]]:
    """Yield (engine, tasks) for each child process.

    Each list of tasks has at least ``STEP`` inputs, except for the last list of a
    stage.
    """
    for engine, mode, every, tables in stages():
        tasks: list[Any] = []
        inputs, inputs_per_byte = 0, 1 if tables is None else len(tables[0][0])
        seeds = golden.vectors() if every else broken_messages.middle_vectors()
        for vector in seeds:
            tasks.append(broken_messages.Task(vector, mode, tables))
            inputs += len(vector.data) * inputs_per_byte
            if inputs >= STEP[engine]:
                yield engine, tasks
                tasks, inputs = [], 0
        yield engine, tasks


def run(state: dict[str, Any], until: float) -> Iterator[dict[str, Any]]:
    """Run the steps after the stored step until the time ``until``.

    The steps of the compiled engine are skipped if it is not available.
    """
    packages = {package.backend: package for package in engines.packages()}
    memory = broken_messages.Input()
    state = {"steps": 0, "changes": 0, "prefixes": 0, "messages": 0} | state
    for number, (engine, tasks) in enumerate(steps()):
        if number < state["steps"]:
            continue
        if time.monotonic() >= until:
            return
        if engine in packages:
            tried, messages = broken_messages.attempt(packages[engine], tasks, memory)
            cut = bool(tasks) and tasks[0].tables is None
            state["prefixes" if cut else "changes"] += tried
            state["messages"] += messages
        state["steps"] += 1
        yield state


def figures(state: dict[str, Any]) -> list[Figure]:
    """Return the numbers of inputs as figures for the table of promises."""
    reached = {"changes": 0, "prefixes": 0} | state
    changes, cuts = reached["changes"], reached["prefixes"]
    target = "make deep"
    return [
        Figure("P5", "single-byte changes", changes, target, least=10_000_000),
        Figure("P5", "prefixes refused", cuts, target, least=1_000_000),
        Figure("P6", "guarded inputs", changes + cuts, target, least=10**7),
    ]


def retry(name: str, version: int, mode: str, data: bytes) -> int:
    """Decode one input on each engine in a child process, and print the results.

    Returns the exit code: 1 if the results differ or a child process fails.
    """
    ends = set()
    for package in engines.packages():
        given = hostile.Input(name, version, broken_messages.Input().put(data))

        def work(note: Any, package: Any = package, given: Any = given) -> None:
            signal.alarm(int(broken_messages.HANG))
            options = hostile.MODES[mode]
            note(test_agreement.describe_outcome(package, given, options))

        status, said = guard_pages.in_child(work)
        if os.WIFSIGNALED(status):
            said = signal.Signals(os.WTERMSIG(status)).name
        print(f"{package.backend}: {said}")
        ends.add((status, said))
    return 0 if len(ends) == 1 and not status else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.prove.deep.messages")
    parser.add_argument("name")
    parser.add_argument("version", type=int)
    parser.add_argument("mode", choices=hostile.MODES)
    parser.add_argument("hex", help="the bytes, or - for none")
    asked = parser.parse_args()
    given = bytes.fromhex(asked.hex.removeprefix("-"))
    sys.exit(retry(asked.name, asked.version, asked.mode, given))
