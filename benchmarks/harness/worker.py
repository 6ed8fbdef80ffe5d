# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one library in a process of its own, which checks and times on request.

Run as ``python -m benchmarks.harness.worker LABEL``; requests and answers are JSON
lines. A task is an operation and its arguments, such as ``["decode", "metadata_v9"]``;
an answer is a result and a problem, one of which is null. The parent's side is
``Worker``. Contenders never share a process, so none pays for the objects and imports
of another.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib
import json
import os
import subprocess
import sys
import traceback
import tracemalloc
from pathlib import Path
from typing import Any

from benchmarks.contenders import CONTENDERS, Statement
from benchmarks.workloads.messages import integers, workload

ROOT = Path(__file__).resolve().parents[2]
LIVE_LISTS = 20_000


class Worker:
    """A running contender, spoken to from another process."""

    def __init__(self, label: str) -> None:
        """Start the process; its imports happen on the first request."""
        backend = CONTENDERS[label][1]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        if backend:
            environment["KWIRE_BACKEND"] = backend
        self.label = label
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.harness.worker", label],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, question: str, *arguments: Any) -> Any:
        """Send one request and wait for its answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([question, *arguments]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        result, problem = json.loads(answer or '[null, "it ended"]')
        if problem:
            raise RuntimeError(f"{self.label}, {question} {arguments}: {problem}")
        return result

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


class Desk:
    """Answers requests for one contender; each public method is a question."""

    def __init__(self, contender: Any) -> None:
        """Serve the module of a contender."""
        self._contender = contender
        # A program that has something in memory: what the collector has to walk.
        self._live = [[number] for number in range(LIVE_LISTS)]
        self._statement = functools.lru_cache(maxsize=2)(self._make_statement)

    def _make_statement(self, operation: str, *arguments: Any) -> Statement:
        contender = self._contender
        if operation.startswith("read_"):
            return getattr(contender, operation)()
        if operation == "encode_integers":
            return contender.encode_integers(*arguments)
        if operation == "decode_integers":
            data = bytes(contender.encode_integers(*arguments).result())
            return contender.decode_integers(*arguments, data)
        load = workload(*arguments)
        if operation == "frame":
            return contender.frame(load)
        encode = contender.encode(load, contender.build(load))
        if operation == "encode":
            return encode
        return getattr(contender, operation)(load, encode.result())

    def bytes_of(self, operation: str, *arguments: Any) -> dict[str, Any]:
        """Run an encoding task; return size and digest of its bytes."""
        data = bytes(self._statement(operation, *arguments).result())
        return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def difference(self, operation: str, *arguments: Any) -> str | None:
        """Run a decoding task; name the first value that differs, if any does."""
        result = self._statement(operation, *arguments).result()
        if operation == "decode_integers":
            expected: Any = integers(*arguments)
            return first_difference([int(value) for value in result], expected)
        load = workload(*arguments)
        suffix = operation.removeprefix("decode")
        found = getattr(self._contender, f"values{suffix}")(load, result)
        return first_difference(found, load.values)

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


def main() -> None:
    """Answer requests until the input ends."""
    from benchmarks.codec.connections.desk import ConnectionDesk
    from benchmarks.codec.records.desk import RecordDesk

    name = CONTENDERS[sys.argv[1]][0]
    contender = importlib.import_module(f"benchmarks.contenders.{name}")
    kind = "records" if name == "libraries" else name.rpartition("_")[2]
    desks = {"records": RecordDesk, "connections": ConnectionDesk}
    desk = desks.get(kind, Desk)(contender)
    for line in sys.stdin:
        question, *arguments = json.loads(line)
        try:
            answer = getattr(desk, question)(*arguments), None
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            answer = None, f"{type(error).__name__}: {error} ({where})"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
