# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the comparison: equal checksums first, then warm loops in rounds, then memory."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.harness.broker_runs import write_run
from benchmarks.languages import extension
from benchmarks.languages.cases import CASES, Case, expect, write_inputs
from benchmarks.languages.programs import (
    CONTENDERS,
    COUNTING,
    INPUTS,
    Contender,
    Program,
    build,
    find_versions,
)

TURN_SECONDS = 0.02
"""Processor time per turn, in seconds."""

WARM_SECONDS = {"java": 3, "java-parallel": 3}
"""Warm-up time before the first round, in seconds.

The JIT compiler must finish the hot methods.
"""

Turn = tuple[Contender, Case]


@contextmanager
def _start(names: Iterable[str]) -> Iterator[dict[str, Program]]:
    """Start the named programs. They end with the ``with`` block."""
    running: dict[str, Program] = {}
    try:
        for name in names:
            running[name] = Program(name)
        yield running
    finally:
        for program in running.values():
            program.close()


def check(programs: dict[str, Program], contenders: Iterable[Contender]) -> list[Turn]:
    """Compare the checksums of all contenders with the expected checksums.

    Returns the (contender, case) pairs that are supported. Raises ``SystemExit`` if a
    checksum is wrong.
    """
    turns = []
    expected = {case: expect(case) for case in CASES}
    for each in contenders:
        for case in CASES:
            checksum = programs[each.program].ask(
                "check", each.way, case.operation, case.name
            )
            if checksum is None:
                continue
            if checksum != expected[case]:
                raise SystemExit(
                    f"{each.key}, {case.key}: {checksum} is not {expected[case]}"
                )
            turns.append((each, case))
    return turns


def _find_loops(program: Program, turn: Turn) -> int:
    """Run a case until the program is warm.

    Returns the number of runs that take ``TURN_SECONDS`` seconds.
    """
    words = (turn[0].way, turn[1].operation, turn[1].name)
    left: float = WARM_SECONDS.get(turn[0].program, 0)
    loops = 1
    while True:
        each, count = program.seconds(*words, loops)
        left -= each * count
        if each * count >= TURN_SECONDS / 2 and left <= 0:
            return max(1, round(TURN_SECONDS / each))
        loops = max(1, min(loops * 4, round(TURN_SECONDS / max(each, 1e-9))))


def _run_rounds(
    programs: dict[str, Program], turns: list[Turn], rounds: int
) -> dict[str, Any]:
    """Run all turns in every round in random order.

    Returns the seconds per run for each case and contender.
    """
    loops = {turn: _find_loops(programs[turn[0].program], turn) for turn in turns}
    print("  all programs are warm", flush=True)
    seconds_by_case: dict[str, Any] = {case.key: {} for case in CASES}
    order, shuffled_turns = random.Random("languages"), list(turns)
    for _ in range(rounds):
        order.shuffle(shuffled_turns)
        for turn in shuffled_turns:
            each, case = turn
            words = (each.way, case.operation, case.name)
            taken, _ = programs[each.program].seconds(*words, loops[turn])
            seconds_by_case[case.key].setdefault(each.key, []).append(taken)
    return seconds_by_case


def weigh(programs: dict[str, Program], turns: list[Turn]) -> dict[str, Any]:
    """Return the memory in bytes for each case and contender.

    Each value is a pair: memory of one result, and peak of one call or None.
    """
    memory_by_case: dict[str, Any] = {case.key: {} for case in CASES}
    for each, case in turns:
        if each.program not in programs:
            continue
        words = (each.way, case.operation, case.name)
        answer = programs[each.program].ask("memory", *words)
        assert answer is not None
        memory_by_case[case.key][each.key] = [
            None if size == "-" else int(size) for size in answer.split()
        ]
    return memory_by_case


def measure(json_path: Path, rounds: int) -> None:
    """Build the programs, compare checksums, measure, and write the figures."""
    print("1/4 building the programs", flush=True)
    build()
    write_inputs(INPUTS)
    names = dict.fromkeys(each.program for each in CONTENDERS)
    with _start(names) as programs:
        print("2/4 comparing the values of all programs", flush=True)
        turns = check(programs, CONTENDERS)
        print("3/4 measuring, about four minutes", flush=True)
        load = [round(os.getloadavg()[0], 1)]
        seconds = _run_rounds(programs, turns, rounds)
        load.append(round(os.getloadavg()[0], 1))
        print("4/4 measuring memory", flush=True)
        plain = {name: programs[name] for name in ("kwire", "java", "go")}
        memory = weigh(plain, turns)
    crates = [
        (each._replace(program=COUNTING), case)
        for each, case in turns
        if each.program == "rust"
    ]
    with _start([COUNTING]) as programs:
        for key, found in weigh(programs, crates).items():
            memory[key] |= found
    versions = find_versions()
    write_run(
        json_path,
        ("pyarrow",),
        rounds=rounds,
        warm=WARM_SECONDS["java"],
        load=load,
        versions=versions,
        seconds=seconds,
        memory=memory,
        extension=extension.measure(),
    )


def read_run(json_path: Path) -> dict[str, Any]:
    """Read the figures of a run from its JSON file."""
    run: dict[str, Any] = json.loads(json_path.read_text())
    return run
