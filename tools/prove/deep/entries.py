# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs all functions that read bytes, but for single messages, on bad bytes.

The table is that of ``tests/safety/entries.py``. Each turn goes over all of it, with
inputs of its own: on both engines, whose outcomes are compared, and on the compiled one
once more on guarded memory. ``python -m tools.prove.deep.entries NAME HEX`` makes one
call.
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
"""Inputs of one turn of an entry, for each of its shares."""

LONGEST = 20
"""Seconds of work after which one input has hung its entry."""

_ROOM = 1 << 20
_COUNTS = struct.Struct("=qqq")


def attempt(entry: Any, packages: list[ModuleType], turn: int) -> tuple[int, int]:
    """Try one entry in a child process; give the inputs, and those on guarded memory.

    ``AssertionError`` with the command that makes the call again, for what goes wrong.
    """
    shared = mmap.mmap(-1, _ROOM)
    entry_calls.folder()  # of this process, which tidies up

    def work(note: Any) -> None:
        guarded, tried, views = guard_pages.Guarded(), 0, 0
        made = entry_inputs.damage_forever(entry, f"turn {turn}")
        for data in itertools.islice(made, SCALE * entry.share):
            if len(data) > _ROOM - _COUNTS.size:
                continue
            shared[_COUNTS.size : _COUNTS.size + len(data)] = data
            _COUNTS.pack_into(shared, 0, tried, views, len(data))
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            first, *others = (entries.outcome(entry, each, data) for each in packages)
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
    """Keep an input that went wrong; say what happened and how to see it again."""
    path: Path = corpus.keep_entry(name, data)
    again = f"python -m tools.prove.deep.entries '{name}' {data.hex() or '-'}"
    return f"{name}: {said[:300]}\n  kept as {path.relative_to(ROOT)}; again: {again}"


def run(state: dict[str, Any], until: float) -> Iterator[dict[str, Any]]:
    """Try entry by entry, turn by turn; the turns never end."""
    packages = list(engines.packages())
    packages.sort(key=lambda package: package.backend != "fast")
    table = list(entries.ENTRIES.values())
    # The gate has the inputs without a turn.
    state = {"steps": 0, "inputs": 0, "guarded": 0} | state
    while time.monotonic() < until:
        turn, place = divmod(state["steps"], len(table))
        tried, views = attempt(table[place], packages, turn)
        state["inputs"] += tried
        state["guarded"] += views if packages[0].backend == "fast" else 0
        state["steps"] += 1
        yield state


def figures(state: dict[str, Any]) -> list[Figure]:
    """Tell what was reached."""
    inputs, guarded = state.get("inputs", 0), state.get("guarded", 0)
    made, what = "make deep", "deep: inputs of other entries"
    return [
        Figure("P5", what, inputs, made, least=1_000_000),
        Figure("P3", f"{what}, on both engines", inputs, made, least=1_000_000),
        Figure("P6", f"{what}, on guard pages", guarded, made, least=500_000),
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
