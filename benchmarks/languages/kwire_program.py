# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Serve kwire with the same protocol as the programs in other languages.

Usage: ``python -m benchmarks.languages.kwire_program FOLDER``. A request is the line
``ACTION WAY OPERATION CASE [LOOPS]``, and the response is a line as well. The ways are:

* ``objects``: messages and records as Python objects.
* ``zero_copy``: like ``objects``, but byte strings are views of the input.
* ``arrow`` and ``columns``: Arrow data without Python objects.
* ``arrow_views`` and ``column_views``: Arrow data whose values are views of the input.

The garbage collector is enabled, and the process has no other objects.
"""

from __future__ import annotations

import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from benchmarks.contenders import kwire, kwire_records
from benchmarks.contenders.arrow_lists import values_of
from benchmarks.harness.statement import Statement
from benchmarks.languages.cases import add_records, add_value
from benchmarks.workloads.messages import neutral, workload
from kwire import messages
from kwire.messages.arrow import messages_to_arrow
from kwire.records.columns import decode_records

WAYS = ("objects", "zero_copy", "columns", "column_views", "arrow", "arrow_views")
TOGETHER = 100
"""Number of messages per Arrow conversion. The figures are reported for one message."""

_HAS_BYTES = ("fetch_v12", "produce_v9")


class Work:
    """Statement that decodes or encodes a case in one way."""

    def __init__(self, way: str, operation: str, name: str, data: bytes) -> None:
        """Create the statement.

        Raises ``KeyError`` if kwire does not support the case in this way.
        """
        self._way, self._operation, self._name = way, operation, name
        make = {
            "objects": self._make_objects,
            "zero_copy": self._make_zero_copy,
            "columns": self._make_columns,
            "column_views": self._make_columns,
            "arrow": self._make_arrow,
            "arrow_views": self._make_arrow,
        }[way]
        self.statement: Statement = make(data)

    def _make_objects(self, data: bytes) -> Statement:
        if self._operation == "records":
            return kwire_records.decode_objects(self._name, "none", True)
        load = workload(self._name)
        decode = kwire.decode(load, data)
        if self._operation == "encode":
            return kwire.encode(load, decode.result())
        return decode

    def _make_zero_copy(self, data: bytes) -> Statement:
        if self._operation != "decode" or self._name not in _HAS_BYTES:
            raise KeyError(self._name)
        return kwire.decode_zero_copy(workload(self._name), data)

    def _make_columns(self, data: bytes) -> Statement:
        if self._operation != "records":
            raise KeyError(self._name)
        if self._way == "columns":
            return kwire_records.decode_columns(self._name, "none")
        names = {"decode_records": decode_records, "data": data}
        found = Statement("decode_records(data, views=True)", names)
        return replace(found, values=lambda: values_of(pa.record_batch(found.result())))

    def _make_arrow(self, data: bytes) -> Statement:
        views = self._way == "arrow_views"
        if self._operation != "decode" or (views and self._name not in _HAS_BYTES):
            raise KeyError(self._name)
        load = workload(self._name)
        names = {
            "messages_to_arrow": messages_to_arrow,
            "array": pa.array([data] * TOGETHER, pa.binary()),
            "cls": getattr(messages, load.message),
        }
        options = f"version={load.version}, views={views}"
        text = f"messages_to_arrow(array, cls, {options})"
        found = Statement(text, names)

        def values() -> object:
            return neutral(found.result()[0].as_py(), load.values, dict.__getitem__)

        return Statement(text, names, calls=TOGETHER, values=values)

    def check(self) -> str:
        """Return the checksum of the statement's result."""
        statement = self.statement
        if self._operation == "records":
            assert statement.values is not None
            return add_records(statement.values())
        if self._operation == "encode":
            return add_value(statement.result())
        if statement.values:
            return add_value(statement.values())
        return add_value(neutral(statement.result(), workload(self._name).values))

    def run(self, loops: int) -> str:
        """Run the statement about ``loops`` times.

        Returns the number of processed messages or batches as text.
        """
        runs = max(1, loops // self.statement.calls)
        self.statement.seconds(runs, collector=True)
        return str(runs * self.statement.calls)

    def _count_buffers(self) -> int:
        """Return the total size in bytes of the result's buffers outside the input."""
        found, names = self.statement.result(), self.statement.names
        if self._operation == "decode":
            arrays, source = [found], names["array"].buffers()[2]
        else:
            arrays, source = pa.record_batch(found).columns, pa.py_buffer(names["data"])
        inside = range(source.address, source.address + source.size)
        buffers = [each for array in arrays for each in array.buffers() if each]
        sizes = {each.address: each.size for each in buffers}
        return sum(size for start, size in sizes.items() if start not in inside)

    def memory(self, kept: int = 20) -> str:
        """Return the memory of one result and the peak memory of one call, in bytes.

        The peak is "-" for Arrow data.
        """
        if self._way.startswith(("column", "arrow")):
            # tracemalloc does not see the memory that Arrow allocates in C, so add up
            # the sizes of the buffers.
            return f"{self._count_buffers() // self.statement.calls} -"
        text, names = self.statement.text, self.statement.names
        if self._operation == "records" and "read" in names:
            text = "keep_all(data)"
            names = kwire_records.keep_objects(self._name).names
        code = compile(text, "<memory>", "eval")
        eval(code, names)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        held = [eval(code, names) for _ in range(kept)]
        left = tracemalloc.get_traced_memory()[0] - before
        start = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        held.append(eval(code, names))
        peak = tracemalloc.get_traced_memory()[1] - start
        tracemalloc.stop()
        return f"{left // kept} {peak}"


def answer(line: str, folder: Path, works: dict[tuple[str, ...], Work]) -> str:
    """Return the response to one request. ``works`` caches the prepared statements."""
    action, way, operation, name, *loops = line.split(" ")
    key = (way, operation, name)
    if key not in works:
        try:
            data = (folder / f"{name}.bin").read_bytes()
            works[key] = Work(way, operation, name, data)
        except KeyError:
            return "none"
    work = works[key]
    if action == "run":
        return work.run(int(loops[0]))
    return work.check() if action == "check" else work.memory()


def main() -> None:
    """Answer requests until the standard input ends."""
    works: dict[tuple[str, ...], Work] = {}
    for line in sys.stdin:
        print(answer(line.rstrip("\n"), Path(sys.argv[1]), works), flush=True)


if __name__ == "__main__":
    main()
