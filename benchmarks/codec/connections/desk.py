# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run one library's connection tasks in a separate process.

A task names a function in the contender module. The expected results are defined here,
so that no contender affects them.
"""

from __future__ import annotations

from typing import Any

from benchmarks.harness.desk import Desk
from benchmarks.workloads import connections as workloads


class ConnectionDesk(Desk):
    """Desk that runs the connection tasks of one contender.

    The parent process calls its public methods by name.
    """

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
