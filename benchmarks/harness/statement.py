# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""``Statement``: an expression that is first verified and later timed with
``timeit``.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Statement:
    """Expression with the names it uses, in ``timeit`` format.

    * ``calls``: number of operations per evaluation. Figures are reported per
      operation.
    * ``values``: repeats the work and returns plain values for comparison. If it is
      None, the result itself is compared.
    """

    text: str
    names: dict[str, Any]
    setup: str = "pass"
    calls: int = 1
    values: Callable[[], Any] | None = None

    def result(self) -> Any:
        """Evaluate the expression once and return its result."""
        exec(self.setup, self.names)
        return eval(self.text, self.names)

    def seconds(self, loops: int, collector: bool) -> float:
        """Run the expression ``loops`` times. Returns the seconds per operation.

        ``timeit`` disables the garbage collector. If ``collector`` is True, the setup
        statement enables it again, as the documentation of ``timeit`` recommends.
        """
        setup = f"{self.setup}\nimport gc; gc.enable()" if collector else self.setup
        timer = timeit.Timer(self.text, setup, globals=self.names)
        return timer.timeit(loops) / (loops * self.calls)


@dataclass(frozen=True)
class Consuming(Statement):
    """Statement that consumes one object in each run with ``subjects.pop()``.

    ``make`` creates the objects before the clock starts.
    """

    make: Callable[[], Any] | None = None

    def _filled(self, count: int) -> Statement:
        assert self.make is not None
        names = self.names | {"subjects": [self.make() for _ in range(count)]}
        return Statement(self.text, names, self.setup, self.calls)

    def result(self) -> Any:
        """Create one subject, evaluate the expression once, and return its result."""
        return self._filled(1).result()

    def seconds(self, loops: int, collector: bool) -> float:
        """Create ``loops`` subjects, and run the expression as many times.

        Returns the seconds per operation, like ``Statement.seconds``.
        """
        return self._filled(loops).seconds(loops, collector)
