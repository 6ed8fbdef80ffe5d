# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Break tree copies deliberately, and check that a harness detects every change.

A ``Change`` is a planted bug (``planted.py``), a planted bug for a sanitizer
(``sanitize.py``) or a mutant (``cursor_mutants.py``). Every harness must first pass
without a change. Results are stored in the copy, so that an interrupted run can be
continued.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import NamedTuple

from tools.prove.engine_copy import Copy

# Limits of 6 GiB and 120 s, because a change can make a harness allocate unlimited
# memory or run forever.
LIMITED = ("prlimit", f"--as={6 << 30}:", "--cpu=120:")
PYTEST = (
    "-m",
    "pytest",
    "-x",
    "-q",
    "--tb=line",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:randomly",
)

_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


def name_failure(done: subprocess.CompletedProcess[str]) -> str:
    """Return the name of the first failed test, or the last line of the output.

    Returns "" if the harness has passed.
    """
    if not done.returncode:
        return ""
    if failed := _FAILED.search(done.stdout):
        return failed[1].removeprefix("tests/")
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    return (done.stdout.strip().splitlines() or ["no output"])[-1][:100]


class Change(NamedTuple):
    """Modification of the engine, together with the harness that must detect it.

    * ``commands``: Python arguments. They run in this order until a command fails.
    * ``environment``: environment variables for all runs.
    * ``switch``: environment variables that are set only while the engine is broken.
    * ``apply``: returns a context manager that breaks the copy.
    * ``judge``: returns the printed text for a failed command, or "".
    * ``unnoticed``: printed text if no command fails.
    """

    name: str
    text: str
    commands: Sequence[Sequence[str]]
    environment: Mapping[str, str]
    switch: Mapping[str, str] = {}
    apply: Callable[[], AbstractContextManager[None]] = nullcontext
    judge: Callable[[subprocess.CompletedProcess[str]], str] = name_failure
    prefix: Sequence[str] = LIMITED
    unnoticed: str = "NOT NOTICED"

    def run(self, copy: Copy, switch: Mapping[str, str]) -> str:
        """Run the commands until one of them fails.

        Returns the text of ``judge``, or "".
        """
        for command in self.commands:
            environment = {**self.environment, **switch}
            done = copy.run(command, environment, prefix=self.prefix)
            if noticed := self.judge(done):
                return noticed
        return ""


def try_changes(
    copy: Copy, changes: Iterable[Change], go_on: bool = False, workers: int = 1
) -> dict[str, str]:
    """Apply each change to a copy and run its harness.

    Returns the text of what detected each change, by the name of the change. With
    ``go_on``, results of the previous run are reused if the copy has not changed.
    Raises ``SystemExit`` if a harness fails without a change.
    """
    notes, state = copy.root / "build" / "tried.json", copy.state()
    tried: dict[str, str] = {}
    if go_on and notes.exists():
        last = json.loads(notes.read_text(encoding="utf-8"))
        tried = last["tried"] if last["state"] == state else {}
    changes = [change for change in changes if change.name not in tried]
    harnesses = {repr(change.commands): change for change in changes}
    for change in harnesses.values():
        if failed := change.run(copy, {}):
            raise SystemExit(f"without a change the harness fails: {failed}")
    print(f"{len(harnesses)} harnesses pass", flush=True)
    writing = Lock()

    def attempt(change: Change) -> None:
        start = time.monotonic()
        with change.apply():
            noticed = change.run(copy, change.switch)
        seconds = time.monotonic() - start
        with writing:
            tried[change.name] = noticed
            text = json.dumps({"state": state, "tried": tried})
            notes.write_text(text, encoding="utf-8")
            word = noticed or change.unnoticed
            print(f"{seconds:4.0f} s  {change.text}: {word}", flush=True)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(attempt, changes))
    return tried
