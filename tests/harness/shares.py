# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Distributes test files over xdist workers, starting with the longest files.

All Spark tests form one share, because a second Spark process would only compete for
the same cores. After every completed test, xdist searches the list of all tests, which
takes longer than most tests. The classes in this module use a dict instead.
"""

from collections.abc import Sequence
from typing import Any

from xdist.scheduler import LoadScopeScheduling

SPARK = "tests/spark/"

LONGEST = (
    SPARK,
    "tests/jobs/test_export.py",
    "tests/records/test_call_limits.py",
    "tests/cli/test_cli_read.py",
    "tests/safety/test_single_allocations.py",
    "tests/client/machines/test_group_simulation.py",
    "tests/recording/test_record_process.py",
    "tests/safety/test_fuzz_corpus.py",
    "tests/messages/test_arrow.py",
    "tests/project/test_docs.py",
    "tests/log/test_storage.py",
    "tests/client/machines/test_transaction_simulation.py",
    "tests/safety/test_entries.py",
    "tests/client/adapters/test_adapter_memory.py",
    "tests/client/machines/test_scan_simulation.py",
)
"""Shares that take more than 7 seconds, in the order in which they start.

pytest-randomly shuffles the remaining short files. If a long file started last, the
other workers would be idle for up to 25 seconds. With this order they are idle for at
most 7 seconds (2,000 and 500 simulated orders with two workers). Entries for files that
do not exist have no effect.
"""


def share_of(nodeid: str) -> str:
    """Return the share of a test: its file, or one share for all Spark tests."""
    file = nodeid.partition("::")[0]
    return SPARK if file.startswith(SPARK) else file


class Places(list[str]):
    """List of a worker's tests whose ``index`` takes constant time."""

    def __init__(self, tests: Sequence[str]) -> None:
        """Store the position of each test."""
        super().__init__(tests)
        self.positions = {test: position for position, test in enumerate(tests)}

    def index(self, test: Any, *_: Any) -> int:
        """Return the position of a test."""
        return self.positions[test]


class Shares(LoadScopeScheduling):
    """Scheduler that assigns complete shares to workers."""

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """Store the tests that a worker has collected."""
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = Places(collection)

    def mark_test_complete(
        self, node: Any, item_index: int, duration: float = 0
    ) -> None:
        """Remove a completed test from its share.

        If necessary, assign more work to the worker.
        """
        test = self.registered_collections[node][item_index]
        shares = self.assigned_work[node]
        del shares[share_of(test)][test]
        if not shares[share_of(test)]:
            # If a worker crashes, its shares are reassigned. xdist would fail on an
            # empty share.
            del shares[share_of(test)]
        self._reschedule(node)

    def _assign_work_unit(self, node: Any) -> None:
        for share in LONGEST:
            if share in self.workqueue:
                self.workqueue.move_to_end(share, last=False)
                break
        super()._assign_work_unit(node)

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        return sum(map(len, workload.values()))

    def _split_scope(self, nodeid: str) -> str:
        return share_of(nodeid)
