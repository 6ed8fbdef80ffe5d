# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run one library's message tasks in a separate process."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.desk import Desk
from benchmarks.harness.statement import Statement
from benchmarks.workloads.messages import integers, workload


class MessageDesk(Desk):
    """Desk that runs the message tasks of one contender.

    Decoding tasks use bytes that the same contender has encoded.
    """

    def make_statement(self, operation: str, *arguments: Any) -> Statement:
        """Prepare the statement of a task.

        The input of a decoding task is encoded with the same contender first.
        """
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

    def _find_values(self, operation: str, *arguments: Any) -> Any:
        result = self._statement(operation, *arguments).result()
        if operation == "decode_integers":
            return [int(value) for value in result]
        suffix = operation.removeprefix("decode")
        values = getattr(self._contender, f"values{suffix}")
        return values(workload(*arguments), result)

    def _expect_values(self, operation: str, *arguments: Any) -> Any:
        if operation == "decode_integers":
            return integers(*arguments)
        return workload(*arguments).values
