# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Distributes the test files over the workers of xdist, the tests of Spark first.

A second Spark would only wait for the first one's cores. xdist's own bookkeeping goes
through all tests for each one, which takes longer than most of them; here it does not.
"""

from collections.abc import Sequence
from typing import Any

from xdist.scheduler import LoadScopeScheduling

SPARK = "tests/spark/"


def share_of(nodeid: str) -> str:
    """Name the share of a test: its file, or the folder of Spark."""
    file = nodeid.partition("::")[0]
    return SPARK if file.startswith(SPARK) else file


class Places(list[str]):
    """The tests of a worker; each is found without a search."""

    def __init__(self, tests: Sequence[str]) -> None:
        """Note where each one stands."""
        super().__init__(tests)
        self.places = {test: place for place, test in enumerate(tests)}

    def index(self, test: Any, *_: Any) -> int:
        """Return the position of a test."""
        return self.places[test]


class Shares(LoadScopeScheduling):
    """What one worker runs from its first test to its last."""

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        """Take note of the tests that a worker has found."""
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = Places(collection)

    def mark_test_complete(
        self, node: Any, item_index: int, duration: float = 0
    ) -> None:
        """Forget a test, and give its worker more where it has little left."""
        test = self.registered_collections[node][item_index]
        shares = self.assigned_work[node]
        del shares[share_of(test)][test]
        if not shares[share_of(test)]:
            # After a crash others take the rest; an empty share would stop them.
            del shares[share_of(test)]
        self._reschedule(node)

    def _assign_work_unit(self, node: Any) -> None:
        # What takes longest comes first.
        if SPARK in self.workqueue:
            self.workqueue.move_to_end(SPARK, last=False)
        super()._assign_work_unit(node)

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        return sum(map(len, workload.values()))

    def _split_scope(self, nodeid: str) -> str:
        return share_of(nodeid)
