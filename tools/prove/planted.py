# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Plants known bugs in a copy of the tree, and runs the tests that have to fail.

A patch of ``tools/prove/bugs`` says in its head what it breaks and which harness
notices. The harnesses have to pass on a copy of the tree first; then each patch is put
in, its harness has to fail, and it is taken out again. Every promise of SECURITY.md
needs a patch that shows it. ``--only`` tries some by name; ``--go-on`` leaves out
what was noticed by the last run, if the tree is still the same.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sys
import time
from collections.abc import Iterator

from tools.generate.promises import PROMISES, Figure, figures, record
from tools.prove.engine_copy import PLANTED, ROOT, Bug, Copy, bugs
from tools.prove.sanitize import Sanitized

MEMORY = 6 << 30
CPU_SECONDS = 120
"""Some of the bugs ask for all the memory there is, or never come to an end."""

OTHERS = {"sanitizer": "tools.prove.sanitize", "clock": "benchmarks"}
"""What is run by those harnesses that are named by a word."""

INPUTS = {"KWIRE_HOSTILE_INPUTS": "50000"}
PYTEST = ("-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider")

CLOCK = """
import sys
import kwire
from benchmarks.safety import linear
linear.SIZES[:] = [32_000, 64_000, 128_000]
first, _, last = linear.curve(kwire, sys.argv[1])
growth = (last / first) ** 0.5
print(f"{growth:.2f} times as long for twice the input")
sys.exit(growth > 2.3)
"""
"""``python -m benchmarks safety time``, with its bound, on a family and few sizes."""

WITHOUT_A_PATCH = {
    "P18": "this tool is its harness, and so are mutants, which are planted bugs too;"
    " coverage takes a quarter of an hour; test_unreached_lines.py is what it found",
}
"""Promises that no patch shows, and why."""

STAND_INS = {
    "P4": "make interop needs Java; test_deviations.py asks the same of the same page",
    "P20": "make pure and make wheels run the whole suite; test_layers.py is in it",
}
"""Promises whose figures come from more than a patch can run, and what is run."""


def limited() -> None:
    """Let no process of this one take all there is; the sanitizers need far more."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, resource.RLIM_INFINITY))


def unlimited() -> None:
    """Take the limits away again."""
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
        resource.setrlimit(kind, (resource.RLIM_INFINITY,) * 2)


def unshown(every: list[Bug], rows: list[Figure]) -> Iterator[str]:
    """Name the promises that no patch shows, or none by a harness of their figures."""
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8")
    for promise in PROMISES.keys() - WITHOUT_A_PATCH.keys():
        mine = [bug for bug in every if promise in bug.shows]
        if not mine:
            yield f"no patch shows {promise}: {PROMISES[promise]}"
            continue
        tests = {row.test for row in rows if row.promise == promise}
        if not tests or promise in STAND_INS:
            continue
        harnesses = {name for bug in mine for name in harnesses_of(bug)}
        if not any(recorded(test, recipes) & harnesses for test in tests):
            yield f"{promise} is shown by none of the harnesses that have its figures"
    for bug in every:
        for name in set(bug.shows) - PROMISES.keys():
            yield f"{bug.patch.name} shows {name}, which is no promise"


def harnesses_of(bug: Bug) -> set[str]:
    """Name the files or modules that a bug's harness is made of."""
    if bug.harness == "pytest":
        return set(re.findall(r"[\w/]+\.py", bug.arguments))
    return {OTHERS.get(bug.harness, bug.harness)}


def recorded(test: str, recipes: str) -> set[str]:
    """Name the file of a test, or the files and modules of a target of make."""
    if not test.startswith("make "):
        return {test.partition("::")[0]}
    recipe = re.search(rf"^{test[5:]}:.*\n((?:\t.*\n)+)", recipes, re.MULTILINE)
    return set(re.findall(r"[\w/]+\.py|(?<=-m )[\w.]+", recipe[1])) if recipe else set()


def command(bug: Bug) -> list[str]:
    """Write down how the harness of a bug is run."""
    if bug.harness == "pytest":
        return [*PYTEST, "-x", "--tb=line", *bug.arguments.split()]
    if bug.harness == "clock":
        return ["-c", CLOCK, bug.arguments]
    return ["-m", bug.harness, *bug.arguments.split()]


def run(copy: Copy, bug: Bug) -> tuple[int, str]:
    """Run the harness of a bug; give its exit code and what it said."""
    done = copy.run(command(bug), more=INPUTS)
    return done.returncode, done.stdout


def harness_fails(copy: Copy, bug: Bug) -> str:
    """Run a harness on a planted bug; say how it noticed, or nothing if it did not."""
    with copy.patched(bug):
        code, said = run(copy, bug)
    if code == 0:
        return ""
    if code < 0:
        return f"the tests ended by signal {-code}"
    if bug.harness != "pytest":
        return said.strip().splitlines()[-1][:100]
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    if code != 1 or not failed:
        raise SystemExit(f"{bug.name}: the tests did not run ({code})\n{said[-3000:]}")
    return failed.group(1).removeprefix("tests/")


def healthy(copy: Copy, chosen: list[Bug]) -> Iterator[tuple[str, ...]]:
    """Run the harnesses where nothing is planted; give those that pass."""
    for bug in {tuple(command(each)): each for each in chosen}.values():
        code, said = run(copy, bug)
        if not code:
            yield tuple(command(bug))
        else:
            print(f"fails without a bug: {bug.harness} {bug.arguments}\n{said[-2000:]}")


def main() -> int:
    """Plant all bugs, one after the other; fail if one is not noticed."""
    parser = argparse.ArgumentParser(description="bugs that the harnesses must notice")
    parser.add_argument("--only", metavar="NAME", action="append", help="this one")
    parser.add_argument("--go-on", action="store_true", help="where the last run ended")
    parser.add_argument("--record", action="store_true", help="note the figures")
    asked = parser.parse_args()
    if asked.record and asked.only:
        parser.error("--record is for a run over all")
    every = bugs()
    names = {bug.patch.stem: bug for bug in every}
    if unknown := set(asked.only or ()) - names.keys():
        raise SystemExit(f"no patch {', '.join(sorted(unknown))} in {PLANTED.name}")
    if not asked.only and (lacking := sorted(unshown(every, figures()))):
        raise SystemExit("\n".join(lacking))
    chosen = [names[name] for name in asked.only] if asked.only else every
    start = time.monotonic()
    copy, sanitized = Copy("planted", "KWIRE_BUILD_QUICK"), Sanitized()
    copy.refresh()
    notes = copy.root / "build" / "noticed.json"
    state = copy.state()
    noticed: dict[str, str] = {}
    if asked.go_on and notes.exists():
        before = json.loads(notes.read_text(encoding="utf-8"))
        noticed = before["noticed"] if before["state"] == state else {}
    chosen = [bug for bug in chosen if bug.patch.stem not in noticed]
    # The sanitizers have a copy of their own, which takes its time to build.
    chosen.sort(key=lambda bug: bug.harness == "sanitizer")
    is_sanitized = False
    copy.build()
    print(f"{time.monotonic() - start:4.0f} s  built", flush=True)
    limited()
    sound = set(healthy(copy, [b for b in chosen if b.harness != "sanitizer"]))
    print(f"{time.monotonic() - start:4.0f} s  {len(sound)} harnesses pass", flush=True)
    for bug in chosen:
        before, missed = time.monotonic(), "NOT NOTICED"
        if bug.harness == "sanitizer":
            unlimited()
            if not is_sanitized:
                sanitized.refresh()
                sanitized.build()
                is_sanitized = True
            how = sanitized.finds(bug)
        elif tuple(command(bug)) in sound:
            how = harness_fails(copy, bug)
        else:
            how, missed = "", "NOT TRIED, as its harness fails without it"
        seconds = time.monotonic() - before
        print(f"{seconds:4.0f} s  {bug.name}: {how or missed}", flush=True)
        if how:
            noticed[bug.patch.stem] = how
            text = json.dumps({"state": state, "noticed": noticed})
            notes.write_text(text, encoding="utf-8")
    wanted = set(asked.only) if asked.only else names.keys()
    left = wanted - noticed.keys()
    print(f"{len(noticed)} planted bugs noticed, {len(left)} not")
    if asked.record and not left:
        text = "planted bugs noticed by the harness that has to"
        test = "make planted"
        record("planted", [Figure("P18", text, len(noticed), test, least=len(every))])
    return min(1, len(left))


if __name__ == "__main__":
    sys.exit(main())
