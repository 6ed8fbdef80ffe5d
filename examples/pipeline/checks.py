# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""What the demo prints: steps, facts, and whether each check held."""

import textwrap
import time

WIDTH = 80
INDENT = 10


class Checks:
    """Prints lines of at most 80 columns and remembers what failed."""

    def __init__(self) -> None:
        """Start the clock."""
        self._started = time.monotonic()
        self._count = 0
        self.failed = 0

    @property
    def count(self) -> int:
        """How many checks there were."""
        return self._count

    def step(self, text: str) -> None:
        """Begin a part, with the seconds since the start."""
        print()
        self._print(f"[{time.monotonic() - self._started:6.1f}s] ", text)

    def say(self, text: str) -> None:
        """Print a fact."""
        self._print(" " * INDENT, text)

    def must(self, holds: bool, fact: str, otherwise: str) -> None:
        """Print and count a check; a failure changes the exit code alone."""
        self._count += 1
        if holds:
            self._print("       ok ", fact)
        else:
            self.failed += 1
            self._print("   FAILED ", otherwise)

    def _print(self, head: str, text: str) -> None:
        lines = textwrap.wrap(text, WIDTH - INDENT, break_on_hyphens=False) or [""]
        print(f"{head}{lines[0]}", flush=True)
        for line in lines[1:]:
            print(" " * INDENT + line, flush=True)


def difference(found: set, expected: set) -> str:
    """Describe how two sets differ, with an example of each side."""
    parts = []
    for title, rest in ("missing", expected - found), ("too many", found - expected):
        if rest:
            parts.append(f"{len(rest):,} {title}, such as {min(rest, key=str)}")
    return "; ".join(parts) or "no difference"
