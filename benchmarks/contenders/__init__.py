# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""One module per codec, each with the same functions.

``build`` makes the codec's own message from a workload, ``values`` turns one back to
plain values, and ``encode``, ``decode``, ``frame``, ``encode_integers`` and
``decode_integers`` give the ``Statement`` that is checked first and timed later. A
codec is used as its own documentation says; what can be looked up once is looked up
before the clock runs. A module lacks the functions that its codec cannot serve.
``BUILDS`` and ``CHECKS`` say what decoding gives and verifies.
"""

from __future__ import annotations

import timeit
from dataclasses import dataclass
from typing import Any

CLIENT_ID = "benchmark"
CORRELATION_ID = 7

#: Contenders by label: the module that serves them and kwire's backend, if any.
CONTENDERS = {
    "kwire": ("kwire", "fast"),
    "kwire pure": ("kwire", "pure"),
    "kio": ("kio", None),
    "kafka-python": ("kafka_python", None),
    "aiokafka": ("aiokafka", None),
    "C loop": ("c_loop", None),
}


@dataclass(frozen=True)
class Statement:
    """An expression and the names it uses, as ``timeit`` takes them.

    ``calls`` is how often the expression does the work that is reported.
    """

    text: str
    names: dict[str, Any]
    setup: str = "pass"
    calls: int = 1

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
