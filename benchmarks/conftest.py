# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixture with a Spark session, shared by all benchmark tests."""

from __future__ import annotations

import pytest

from benchmarks.spark.session import open_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Spark session whose workers import kwire from this source tree."""
    with open_session(tmp_path_factory.mktemp("spark")) as session:
        yield session
