# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Statement``: what is checked first and timed later, as ``timeit`` takes it."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Statement:
    """An expression and the names it uses, as ``timeit`` takes them.

    ``calls`` is how often the expression does the work that is reported. ``values``
    does the same work once more and gives plain values to compare; without it, the
    result itself is compared.
    """

    text: str
    names: dict[str, Any]
    setup: str = "pass"
    calls: int = 1
    values: Callable[[], Any] | None = None

    def result(self) -> Any:
        """Evaluate the expression once."""
        exec(self.setup, self.names)
        return eval(self.text, self.names)

    def seconds(self, loops: int, collector: bool) -> float:
        """Run the expression ``loops`` times; return the seconds of one piece of work.

        ``timeit`` turns the collector off; its documented way to turn it on again
        is the set-up statement.
        """
        setup = f"{self.setup}\nimport gc; gc.enable()" if collector else self.setup
        timer = timeit.Timer(self.text, setup, globals=self.names)
        return timer.timeit(loops) / (loops * self.calls)


@dataclass(frozen=True)
class Consuming(Statement):
    """A statement that uses up what it works on: ``subjects.pop()`` in its text.

    ``make`` makes a subject for each run before the clock is started.
    """

    make: Callable[[], Any] | None = None

    def _filled(self, count: int) -> Statement:
        assert self.make is not None
        names = self.names | {"subjects": [self.make() for _ in range(count)]}
        return Statement(self.text, names, self.setup, self.calls)

    def result(self) -> Any:
        """Make a subject and evaluate the expression once."""
        return self._filled(1).result()

    def seconds(self, loops: int, collector: bool) -> float:
        """Make the subjects, then run as often; as ``Statement.seconds``."""
        return self._filled(loops).seconds(loops, collector)
