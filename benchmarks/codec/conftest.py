# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixture with the worker processes of the contenders, shared by the tests of a
module.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.harness.interleave import Workers


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Start a worker process for a contender on first use, and stop all workers
    after the last test of the module.
    """
    running = Workers()
    yield running
    running.close()
