# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a streaming query to its end, and restarts it if a Python worker was late.

Spark plans the batches of a Python data source in a worker of its own, and ends the
query if that worker takes more than ten seconds to start. Spark has no option for this
time, and a busy machine exceeds it. The query has a checkpoint, so it continues where
it stopped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

STARTS = 5
LATE_WORKER = "Python worker failed to connect back"


def run_to_end(start: Callable[[], Any], timeout_s: float | None = None) -> Any:
    """Start a query with ``start`` and wait until it ends. Returns the query.

    A query that ends because of a late worker is started again, up to ``STARTS`` times.
    Raises ``TimeoutError`` if a query runs longer than ``timeout_s`` seconds, and the
    query's own error if it has another reason or occurs in the last start.
    """
    from pyspark.errors import StreamingQueryException

    for number in range(1, STARTS + 1):
        query = start()
        try:
            if timeout_s is None:
                query.awaitTermination()
            elif not query.awaitTermination(timeout_s):
                raise TimeoutError(f"the query has not ended after {timeout_s} s")
            break
        except StreamingQueryException as error:
            if LATE_WORKER not in str(error) or number == STARTS:
                raise
    return query
