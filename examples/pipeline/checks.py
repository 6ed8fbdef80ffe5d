# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the output of the demo: steps, observations and the results of checks.

The verbose output and the log file contain all lines. The brief output contains one
line for each step. If a check fails, it contains all lines of this step.
"""

import textwrap
import time
import traceback
from typing import TextIO

from .screen import Screen

WIDTH = 80
INDENT = 10


class Checks:
    """Counts checks, and writes lines of at most 80 columns to a screen and a log.

    If an exception ends the ``with`` block, the hidden lines of the last step are
    printed.
    """

    def __init__(self, screen: Screen, log: TextIO, *, verbose: bool) -> None:
        """Start to measure the duration of the demo.

        * ``screen``: receives the lines of the brief or the verbose output.
        * ``log``: file that receives all lines.
        """
        self._started = time.monotonic()
        self._screen = screen
        self._log = log
        self._is_verbose = verbose
        self._shows_step = verbose
        self._hidden: list[str] = []
        self._count = 0
        self.failed = 0

    def __enter__(self) -> "Checks":
        """Return the checks themselves."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Print the hidden lines of the step if an exception ends it."""
        if kind is not None and issubclass(kind, Exception):
            self._show_hidden()

    @property
    def count(self) -> int:
        """Number of completed checks."""
        return self._count

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def step(self, text: str, title: str, seconds: float) -> None:
        """Begin a step, and print the seconds since the start.

        ``title`` is shown next to the progress bar. ``seconds`` is the usual duration.
        """
        self._hidden.clear()
        self._shows_step = self._is_verbose
        self._write("")
        self._write_wrapped(f"[{self.seconds:6.1f}s] ", text)
        self.progress(title, seconds)

    def progress(self, title: str, seconds: float) -> None:
        """Advance the bar to the next part. ``seconds`` is its usual duration."""
        self._screen.begin(title, seconds)

    def say(self, text: str) -> None:
        """Print an observation, which is not a check."""
        self._write_wrapped(" " * INDENT, text)

    def say_lines(self, lines: list[str]) -> None:
        """Print the lines of a table without wrapping them."""
        for line in lines:
            self._write(" " * INDENT + line if line else "")

    def must(self, holds: bool, fact: str, otherwise: str) -> None:
        """Print and count a check.

        * ``holds``: whether the check has succeeded.
        * ``fact``, ``otherwise``: text of a success, and text of a failure.

        A failure does not end the demo, but the exit code is then 1.
        """
        self._count += 1
        if holds:
            self._write_wrapped("       ok ", fact)
        else:
            self.failed += 1
            self._show_hidden()
            self._write_wrapped("   FAILED ", otherwise)

    def fail(self, failure: Exception) -> None:
        """Print and count an exception that ended the demo, with its traceback."""
        self.must(False, "", f"{type(failure).__name__}: {failure}")
        for line in "".join(traceback.format_exception(failure)).splitlines():
            self._write(line)

    def result(self, text: str) -> None:
        """End a step.

        The brief output shows ``text``, unless a check of the step has failed.
        """
        if not self._shows_step:
            self.summarize(f"[{self.seconds:3.0f} s] {text}")

    def summarize(self, line: str) -> None:
        """Print a line in the brief output only."""
        if not self._is_verbose:
            self._screen.show(line)

    def show(self, line: str) -> None:
        """Print a line in both outputs.

        The brief output then shows all lines of this step.
        """
        self._shows_step = True
        self._write(line)

    def _show_hidden(self) -> None:
        for line in self._hidden:
            self._screen.show(line)
        self._hidden.clear()
        self._shows_step = True

    def _write_wrapped(self, head: str, text: str) -> None:
        lines = textwrap.wrap(text, WIDTH - INDENT, break_on_hyphens=False) or [""]
        self._write(f"{head}{lines[0]}")
        for line in lines[1:]:
            self._write(" " * INDENT + line)

    def _write(self, line: str) -> None:
        print(line, file=self._log, flush=True)
        if self._shows_step:
            self._screen.show(line)
        else:
            self._hidden.append(line)


def difference(found: set, expected: set) -> str:
    """Describe which elements are missing and which are unexpected.

    The description contains the numbers of elements and an example of each.
    """
    parts = []
    for title, rest in ("missing", expected - found), ("too many", found - expected):
        if rest:
            parts.append(f"{len(rest):,} {title}, such as {min(rest, key=str)}")
    return "; ".join(parts) or "no difference"
