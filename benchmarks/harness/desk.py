# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Desk``: answers requests for one contender, in the contender's process."""

from __future__ import annotations

import functools
import gc
import hashlib
import tracemalloc
from typing import Any

from benchmarks.harness.statement import Statement

LIVE_LISTS = 20_000


class Desk:
    """Answers requests for one contender; each public method is a question.

    A task names a function of the contender's module, and its arguments.
    """

    def __init__(self, contender: Any) -> None:
        """Serve the module of a contender."""
        self._contender = contender
        # A program that has something in memory: what the collector has to walk.
        self._live = [[number] for number in range(LIVE_LISTS)]
        self._statement = functools.lru_cache(maxsize=2)(self.make_statement)

    def make_statement(self, operation: str, *arguments: Any) -> Statement:
        """Prepare a task."""
        statement: Statement = getattr(self._contender, operation)(*arguments)
        return statement

    def _find_values(self, operation: str, *arguments: Any) -> Any:
        """Run a task; return its values."""
        statement = self._statement(operation, *arguments)
        return statement.values() if statement.values else statement.result()

    def _expect_values(self, operation: str, *arguments: Any) -> Any:
        """Return the values that a task must give, which no contender made."""
        raise NotImplementedError

    def difference(self, *task: Any) -> str | None:
        """Run a task; name the first value that differs, if any does."""
        return first_difference(self._find_values(*task), self._expect_values(*task))

    def bytes_of(self, operation: str, *arguments: Any) -> dict[str, Any]:
        """Run an encoding task; return size and digest of its bytes."""
        data = bytes(self._statement(operation, *arguments).result())
        return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def seconds(self, loops: int, collector: bool, *task: Any) -> float:
        """Time a task; return the seconds of one piece of its work."""
        statement = self._statement(*task)
        statement.seconds(1, collector)
        return statement.seconds(loops, collector)

    def calls(self, *task: Any) -> int:
        """Return how many pieces of work one run of a task is."""
        return self._statement(*task).calls

    def held_bytes(self, count: int, *task: Any) -> float:
        """Return the bytes that one result keeps, over ``count`` held results."""
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
    """Name the first value that is not as expected, or not of its type."""
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
