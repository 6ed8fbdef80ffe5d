# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Kill kwire's commands at hundreds of random moments, and check the remaining files.

    python -m tools.prove.faults --kills 200 --seed 7

Every command that writes files is killed repeatedly between its start and its end, in
the same directory, so that every run encounters files left by previous runs. The output
must be either complete or missing. Every fifth time, a run without a kill must produce
the complete output despite these files. If mounting is permitted, every command also
runs on disks with increasing sizes until one is large enough. ``--record`` writes the
figures to the table of promises. ``tests/safety/faults`` is the smaller version for the
gate.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tools.generate.promises import Figure, record
from tools.prove.fault_runs import (
    KILLED,
    NONE,
    Fault,
    Runner,
    Work,
    content,
    judge,
    make_inputs,
    works,
)

DISKS = 12
"""Number of parts that an output is divided into. Disks have 1 to ``LARGE`` parts."""

LARGE = DISKS + 2
"""Number of parts for which a disk has enough space, including directories."""

PAGE = 4096


class Counts(NamedTuple):
    """Results of the runs of one command.

    * ``kills``: runs that were killed.
    * ``ended_before``: runs that ended before they were killed.
    * ``whole``, ``nothing``: runs after which the output was complete or missing.
    * ``partial``: runs after which the output was incomplete.
    * ``whole_after``: runs without kill that wrote the complete output afterwards.
    """

    kills: int = 0
    ended_before: int = 0
    whole: int = 0
    nothing: int = 0
    partial: int = 0
    whole_after: int = 0


TITLES = ("killed", "ended before", "whole", "nothing", "partial", "whole after")


def main() -> int:
    """Kill the commands and run them on small disks.

    Returns the exit code: 1 if an output was incomplete.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", action="store_true", help="note the figures")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kwire-faults-"))
    try:
        return trial(folder, asked.kills, random.Random(asked.seed), asked.record)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def trial(folder: Path, kills: int, chance: random.Random, keep: bool) -> int:
    """Kill all commands in turn, and print a row of results for each of them.

    Returns the exit code.
    """
    inputs = folder / "inputs"
    make_inputs(inputs)
    before = content(inputs)
    commands = works(inputs)
    rows = {}
    disks = 0
    with Runner() as runner:
        print(f"{'':16}" + "".join(f"{title:>14}" for title in TITLES))
        for number, work in enumerate(commands):
            share = kills // len(commands) + (number < kills % len(commands))
            run_folder = folder / f"runs-{number}"
            run_folder.mkdir()
            rows[work.name] = killed(runner, work, run_folder, share, chance)
            print(line(work.name, rows[work.name]), flush=True)
        total = Counts(*map(sum, zip(*rows.values(), strict=True)))
        print(line("all", total))
        for work in commands:
            disks += small_disks(runner, work, folder / "disk")
    if disks:
        print(f"disks too small: {disks}, each reported in one line, no partial file")
    else:
        print("small disks: left out, they need the right to mount")
    if content(inputs) != before:
        print("FAILED: the input has changed")
        return 1
    if total.partial or not total.kills:
        print("FAILED: half an output under its final name")
        return 1
    if keep:
        figures = [
            Figure("P12", "kills survived", total.kills, "make faults", least=100),
            Figure("P12", "outputs left half", total.partial, "make faults", most=0),
        ]
        if disks:
            figures.append(
                Figure("P12", "full disks survived", disks, "make faults", least=20)
            )
        record("faults", figures)
    return 0


def line(name: str, counts: Counts) -> str:
    """Format the results of a command as a row of the printed table."""
    return f"{name:16}" + "".join(f"{count:14,}" for count in counts)


def killed(
    runner: Runner, work: Work, folder: Path, kills: int, chance: random.Random
) -> Counts:
    """Kill a command ``kills`` times in the same directory.

    The moments are random, between the start and the median duration of three runs.
    """
    arguments = list(work.arguments)
    out = folder / work.output
    times = []
    for _ in range(3):
        done = runner.run(arguments, folder=folder)
        assert done.code == work.code, done.err
        times.append(done.seconds)
        whole = content(out)
        remove(out)
    longest = sorted(times)[1]
    seen = dict.fromkeys(Counts._fields, 0)
    while seen["kills"] < kills:
        moment = Fault(kill_after_s=chance.uniform(0.001, longest))
        ended = runner.run(arguments, moment, folder)
        if ended.code in KILLED:
            seen["kills"] += 1
        else:
            assert ended.code == work.code, ended.err
            seen["ended_before"] += 1
        try:
            is_there = judge(folder, work, whole)
        except AssertionError as error:
            print(error)
            seen["partial"] += 1
            remove(out)
            continue
        seen["whole" if is_there else "nothing"] += 1
        if not is_there and not seen["kills"] % 5:
            again = runner.run(arguments, NONE, folder)
            assert again.code == work.code, again.err
            assert judge(folder, work, whole), f"{work.name}: nothing, undisturbed"
            seen["whole_after"] += 1
        remove(out)
    return Counts(**seen)


def remove(path: Path) -> None:
    """Remove a file or directory if it exists."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def small_disks(runner: Runner, work: Work, disk: Path) -> int:
    """Run a command on disks that are too small. Returns the number of these disks.

    Returns 0 if mounting is not permitted. The last disk is large enough, which shows
    that the size was the only reason for the failures.
    """
    disk.mkdir(exist_ok=True)
    if not mounted(disk, 64 << 20):
        return 0
    full = 0
    whole: dict[str, bytes] = {}
    try:
        ended = runner.run(list(work.arguments), folder=disk)
        assert ended.code == work.code, ended.err
        whole = content(disk / work.output)
    finally:
        unmount(disk)
    needed = sum(-(-len(data) // PAGE) * PAGE for data in whole.values())
    for number in range(1, LARGE + 1):
        size = needed * number // DISKS // PAGE * PAGE
        if not size:
            continue
        assert mounted(disk, size), size
        try:
            ended = runner.run(list(work.arguments), folder=disk)
            if ended.code == work.code:
                assert judge(disk, work, whole)
                continue
            assert number < LARGE, f"{work.name}: {ended}"
            said = ended.err.removesuffix("\n")
            assert ended.code == 2 and "\n" not in said, ended
            assert work.output in said, said
            assert said.endswith(": no space left on device"), said
            assert not list(disk.iterdir()), list(disk.iterdir())
            full += 1
        finally:
            unmount(disk)
    return full


def mounted(folder: Path, size: int) -> bool:
    """Mount a disk in memory with ``size`` bytes.

    Returns False if that is not permitted.
    """
    if os.geteuid() or not shutil.which("mount"):
        return False
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "kwire-faults"]
    return not subprocess.run(
        [*command, str(folder)], capture_output=True, check=False
    ).returncode


def unmount(folder: Path) -> None:
    """Unmount a disk that ``mounted`` has mounted."""
    subprocess.run(["umount", str(folder)], check=True)


if __name__ == "__main__":
    sys.exit(main())
