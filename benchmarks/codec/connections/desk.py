# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Run the connection tasks of one library in a separate process.

A task is the name of a function in the contender module. The expected results are
defined here, independently of the contenders.
"""

from __future__ import annotations

from typing import Any

from benchmarks.harness.desk import Desk
from benchmarks.workloads import connections as workloads


class ConnectionDesk(Desk):
    """Worker for the connection tasks of one contender.

    Its public methods can be called by name from the parent process.
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
