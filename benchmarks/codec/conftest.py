# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixture: the contenders, for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.harness.interleave import Workers


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    """Run each contender from its first request to the end of a file."""
    running = Workers()
    yield running
    running.close()
