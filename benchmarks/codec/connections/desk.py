# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one library's connections in a process of its own, on request.

Its tasks name functions of its module; what they must give is known here.
"""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Statement
from benchmarks.harness.worker import Desk, first_difference
from benchmarks.workloads import connections as workloads


class ConnectionDesk(Desk):
    """Answers requests for one contender; each public method is a question."""

    def _make_statement(self, operation: str, *arguments: Any) -> Statement:
        statement: Statement = getattr(self._contender, operation)(*arguments)
        return statement

    def difference(self, operation: str, *arguments: Any) -> str | None:
        """Run a task; name the first value that differs, if any does."""
        statement = self._statement(operation, *arguments)
        assert statement.values is not None
        return first_difference(statement.values(), _expected(operation, *arguments))


def _expected(operation: str, *arguments: Any) -> Any:
    if operation != "negotiate":
        return workloads.expected(*arguments)
    from kwire.schema import releases

    (release,) = arguments
    rows = {
        key: [each.min, each.max]
        for key, each in releases.ranges(release, "broker").items()
    }
    return {
        "rows": rows,
        "version": workloads.FETCH_PICKED[release],
        "questions": workloads.QUESTIONS[release],
    }
