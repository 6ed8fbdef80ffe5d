# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Desk``: handles requests for one contender, in the process of the contender."""

from __future__ import annotations

import functools
import gc
import hashlib
import tracemalloc
from typing import Any

from benchmarks.harness.statement import Statement

LIVE_LISTS = 20_000


class Desk:
    """Request handler for one contender. Its public methods can be called by name.

    A task consists of a function name in the contender module and its arguments.
    """

    def __init__(self, contender: Any) -> None:
        """Serve the tasks of a contender module."""
        self._contender = contender
        # Keep some live objects, because the garbage collector would have less work
        # than in a real program otherwise.
        self._live = [[number] for number in range(LIVE_LISTS)]
        self._statement = functools.lru_cache(maxsize=2)(self.make_statement)

    def make_statement(self, operation: str, *arguments: Any) -> Statement:
        """Return the statement of a task."""
        statement: Statement = getattr(self._contender, operation)(*arguments)
        return statement

    def _find_values(self, operation: str, *arguments: Any) -> Any:
        """Run a task. Returns its result as plain values, which are then compared."""
        statement = self._statement(operation, *arguments)
        return statement.values() if statement.values else statement.result()

    def _expect_values(self, operation: str, *arguments: Any) -> Any:
        """Return the expected values of a task. They do not depend on any contender."""
        raise NotImplementedError

    def difference(self, *task: Any) -> str | None:
        """Run a task. Return a description of the first wrong value, or None."""
        return first_difference(self._find_values(*task), self._expect_values(*task))

    def bytes_of(self, operation: str, *arguments: Any) -> dict[str, Any]:
        """Run an encoding task. Return the size and the SHA-256 digest of its bytes."""
        data = bytes(self._statement(operation, *arguments).result())
        return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def seconds(self, loops: int, collector: bool, *task: Any) -> float:
        """Run a task ``loops`` times after one warm-up run.

        Returns the seconds per operation. ``collector`` enables the garbage collector.
        """
        statement = self._statement(*task)
        statement.seconds(1, collector)
        return statement.seconds(loops, collector)

    def calls(self, *task: Any) -> int:
        """Return the number of operations in one run of a task."""
        return self._statement(*task).calls

    def held_bytes(self, count: int, *task: Any) -> float:
        """Return the average memory of a result in bytes.

        ``count`` results exist at the same time.
        """
        statement = self._statement(*task)
        statement.result()
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        held = [eval(statement.text, statement.names) for _ in range(count)]
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return (after - before) / len(held)


def first_difference(found: Any, expected: Any, path: str = "") -> str | None:
    """Describe the first value that differs from the expected value or its type.

    Return None if all values are equal.
    """
    if isinstance(expected, dict):
        for name in expected:
            step = f"{path}.{name}"
            if problem := first_difference(found[name], expected[name], step):
                return problem
        return None
    if isinstance(expected, list) and len(found) == len(expected):
        for index, pair in enumerate(zip(found, expected, strict=True)):
            if problem := first_difference(*pair, f"{path}[{index}]"):
                return problem
        return None
    if found == expected and type(found) is type(expected):
        return None
    return f"{path}: {str(found)[:60]} is not {str(expected)[:60]}"
