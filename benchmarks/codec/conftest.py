# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixture with the contenders' worker processes, shared by all tests in a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.harness.interleave import Workers


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Start a worker process for a contender on first use, and stop all workers when
    the last test in the module is finished.
    """
    running = Workers()
    yield running
    running.close()
