# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run one library in a separate process, which verifies and measures on request.

Usage: ``python -m benchmarks.harness.worker LABEL``. Requests and responses are JSON
lines. A task is an operation with its arguments, for example ``["decode",
"metadata_v9"]``. A response is a pair (result, error message), and one of them is null.
``Worker`` is the client in the parent process. Contenders never share a process,
because their objects and imports would slow down other contenders.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT
from benchmarks.harness.contenders import CONTENDERS


class Worker:
    """Client for the process that runs the tasks of one contender."""

    def __init__(self, label: str) -> None:
        """Start the process. The process imports the contender at the first request."""
        backend = CONTENDERS[label].backend
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
        """Send a request to the process, and return the result in its response.

        Raises ``RuntimeError`` if the response contains an error.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([question, *arguments]) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        result, problem = json.loads(answer or '[null, "it ended"]')
        if problem:
            raise RuntimeError(f"{self.label}, {question} {arguments}: {problem}")
        return result

    def close(self) -> None:
        """Close the standard input of the process, and wait for its end."""
        self._process.communicate()


def main() -> None:
    """Answer the requests of the parent process until the standard input ends."""
    served = CONTENDERS[sys.argv[1]]
    module = importlib.import_module(f"benchmarks.contenders.{served.module}")
    desk = pkgutil.resolve_name(served.desk)(module)
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
