# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run all functions that read bytes, except single messages, with invalid bytes.

The functions are listed in ``tests/safety/entries.py``. Every turn tests all of them
with new inputs: on both engines, whose results are compared, and on the compiled engine
again with guarded memory. ``python -m tools.prove.deep.entries NAME HEX`` repeats a
single call.
"""

from __future__ import annotations

import argparse
import itertools
import mmap
import os
import signal
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from fuzz import corpus, engines
from tests.harness import guard_pages
from tests.safety import entries, entry_calls, entry_inputs
from tools import ROOT
from tools.generate.promises import Figure

SCALE = 10
"""Number of inputs in a turn for each unit of an entry's ``share``."""

LONGEST = 20
"""Timeout for one input in seconds of processor time."""

_ROOM = 1 << 20
_COUNTS = struct.Struct("=qqq")


def attempt(entry: Any, packages: list[ModuleType], turn: int) -> tuple[int, int]:
    """Test one entry with the inputs of one turn in a child process.

    Returns the number of inputs, and how many of them were in guarded memory.

    Raises ``AssertionError`` if a call fails. The message contains a command that
    repeats the call.
    """
    shared = mmap.mmap(-1, _ROOM)
    # Create the temporary directory in the parent process, which deletes it at exit.
    entry_calls.folder()

    def work(note: Any) -> None:
        guarded, tried, views = guard_pages.Guarded(), 0, 0
        damaged_inputs = entry_inputs.damage_forever(entry, f"turn {turn}")
        for data in itertools.islice(damaged_inputs, SCALE * entry.share):
            if len(data) > _ROOM - _COUNTS.size:
                continue
            shared[_COUNTS.size : _COUNTS.size + len(data)] = data
            _COUNTS.pack_into(shared, 0, tried, views, len(data))
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            first, *others = (
                entries.outcome(entry, package, data) for package in packages
            )
            if any(other != first for other in others):
                raise AssertionError(f"the engines differ: {first}, {others}")
            if entry.is_view and len(data) <= guard_pages.ROOM:
                entries.ends(entry, packages[0], guarded.put(data))
                views += 1
            tried += 1
        signal.setitimer(signal.ITIMER_PROF, 0)
        _COUNTS.pack_into(shared, 0, tried, views, 0)

    status, said = guard_pages.in_child(work)
    tried, views, size = _COUNTS.unpack_from(shared)
    if status:
        if os.WIFSIGNALED(status):
            said = signal.Signals(os.WTERMSIG(status)).name
        data = shared[_COUNTS.size : _COUNTS.size + size]
        raise AssertionError(keep_input(entry.name, data, said))
    return tried, views


def keep_input(name: str, data: bytes, said: str) -> str:
    """Store a failing input in the corpus.

    ``said`` describes the failure. Returns a message with the command that repeats the
    call.
    """
    path: Path = corpus.keep_entry(name, data)
    again = f"python -m tools.prove.deep.entries '{name}' {data.hex() or '-'}"
    return f"{name}: {said[:300]}\n  kept as {path.relative_to(ROOT)}; again: {again}"


def run(state: dict[str, Any], until: float) -> Iterator[dict[str, Any]]:
    """Test one entry after the other, with new inputs in each turn, until ``until``."""
    packages = list(engines.packages())
    packages.sort(key=lambda package: package.backend != "fast")
    table = list(entries.ENTRIES.values())
    # The tests of the gate use inputs without a turn number, so turn 0 is new as well.
    state = {"steps": 0, "inputs": 0, "guarded": 0} | state
    while time.monotonic() < until:
        turn, index = divmod(state["steps"], len(table))
        tried, views = attempt(table[index], packages, turn)
        state["inputs"] += tried
        state["guarded"] += views if packages[0].backend == "fast" else 0
        state["steps"] += 1
        yield state


def figures(state: dict[str, Any]) -> list[Figure]:
    """Return the numbers of inputs as figures for the table of promises."""
    inputs, guarded = state.get("inputs", 0), state.get("guarded", 0)
    target, what = "make deep", "deep: inputs of other entries"
    return [
        Figure("P5", what, inputs, target, least=1_000_000),
        Figure("P3", f"{what}, on both engines", inputs, target, least=1_000_000),
        Figure("P6", f"{what}, on guard pages", guarded, target, least=500_000),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tools.prove.deep.entries")
    parser.add_argument("name", choices=entries.ENTRIES)
    parser.add_argument("hex", help="the bytes, or - for none")
    asked = parser.parse_args()
    entry = entries.ENTRIES[asked.name]
    given = bytes.fromhex(asked.hex.removeprefix("-"))
    found = []
    for package in engines.packages():
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        found.append(entries.outcome(entry, package, given))
        print(f"{package.backend}: {found[-1]}")
    sys.exit(any(each != found[0] for each in found))
