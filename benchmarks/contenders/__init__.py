# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The libraries that are measured: one module each, with the same functions.

``build`` makes the codec's own message from a workload, ``values`` turns one back to
plain values, and ``encode``, ``decode``, ``frame``, ``encode_integers`` and
``decode_integers`` give the ``Statement`` that is checked first and timed later. A
codec is used as its own documentation says; what can be looked up once is looked up
before the clock runs. A module lacks the functions that its codec cannot serve.
``BUILDS`` and ``CHECKS`` say what decoding gives and verifies.

The modules named ``*_records`` and ``libraries`` serve the rows of records, those named
``*_connections`` the rows of connections: each of their functions takes the arguments
of a task and gives its ``Statement``.
"""

from __future__ import annotations

import textwrap
import timeit
from collections.abc import Callable
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
    "C loop messages": ("c_loop_messages", None),
    "C loop views": ("c_loop_views", None),
    "kwire records": ("kwire_records", "fast"),
    "kwire pure records": ("kwire_records", "pure"),
    "kio records": ("kio_records", None),
    "kafka-python records": ("kafka_python_records", None),
    "aiokafka records": ("aiokafka_records", None),
    "libraries": ("libraries", None),
    "C loop records": ("c_loop_records", None),
    "kwire connections": ("kwire_connections", "fast"),
    "kwire pure connections": ("kwire_connections", "pure"),
    "kafka-python connections": ("kafka_python_connections", None),
}

#: What is read of every record.
FIELDS = ("offset", "timestamp", "key", "value", "headers")


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


class RecordLoop:
    """A loop over all records of ``data``, with ``USE`` where ``record`` is at hand.

    The same text is timed, checked and asked what its records weigh, so that none of
    the three can do less than another.
    """

    def __init__(self, text: str, names: dict[str, Any], data: bytes) -> None:
        """Keep the loop and what it runs on."""
        self._text = textwrap.indent(text.strip("\n"), "    ")
        self._names = names
        self._data = data

    def _function(self, use: str) -> tuple[Callable[[bytes], None], list[Any]]:
        found: list[Any] = []
        scope = {**self._names, "keep": found.append}
        exec(f"def read(data):\n{self._text.replace('USE', use)}", scope)
        return scope["read"], found

    def values(self) -> list[Any]:
        """Return every field of every record as plain values."""
        record = ", ".join(f"record.{name}" for name in FIELDS)
        read, found = self._function(f"keep([{record}])")
        read(self._data)
        for fields in found:
            fields[-1] = [[name, value] for name, value in fields[-1]]
        return found

    def reading(self) -> Statement:
        """Read every field of every record and keep none."""
        read, _ = self._function("; ".join(f"record.{name}" for name in FIELDS))
        names = {"read": read, "data": self._data}
        return Statement("read(data)", names, values=self.values)

    def keeping(self) -> Statement:
        """Keep every record."""

        def keep_all(data: bytes) -> list[Any]:
            read, found = self._function("keep(record)")
            read(data)
            return found

        names = {"keep_all": keep_all, "data": self._data}
        return Statement("keep_all(data)", names, values=self.values)
