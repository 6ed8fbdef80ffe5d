# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixture with the contenders' worker processes, shared by all tests in a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.harness.interleave import Workers


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Worker processes of the contenders.

    A worker starts at its first use. All workers end with the last test of the module.
    """
    running = Workers()
    yield running
    running.close()
