# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs one library's connections in a process of its own, on request.

Its tasks name functions of its module; what they must give is known here.
"""

from __future__ import annotations

from typing import Any

from benchmarks.harness.desk import Desk
from benchmarks.workloads import connections as workloads


class ConnectionDesk(Desk):
    """Answers requests for one contender; each public method is a question."""

    def _expect_values(self, operation: str, *arguments: Any) -> Any:
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
