# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for all tests. ``tests.harness`` contains the pytest plugins.

``kwire`` is the package on one engine. pytest runs a test that uses this fixture once
per engine (``harness.second_runs``). ``twins`` is the package on both engines, for
tests that compare the engines.
"""

from __future__ import annotations

import gc
from types import ModuleType

import pytest

from tests.harness.engines import PACKAGES, Twins
from tools.generate.promises import Figure

pytest_plugins = (
    "tests.harness.process",
    "tests.harness.second_runs",
    "tests.harness.figures",
    "tests.harness.quick_lane",
)


@pytest.fixture(scope="session", params=sorted(PACKAGES))
def kwire(request: pytest.FixtureRequest) -> ModuleType:
    """Return the package on one engine. The test runs once per engine."""
    return PACKAGES[request.param]


@pytest.fixture(scope="session")
def plain_kwire() -> ModuleType:
    """Return the package on the Python engine, which every build has."""
    return PACKAGES["pure"]


@pytest.fixture(scope="session")
def twins() -> Twins:
    """Return the package on both engines.

    If the build has only one engine, the test is skipped.
    """
    if "fast" not in PACKAGES:
        pytest.skip("this build has one engine, there is nothing to compare")
    return Twins(PACKAGES["fast"], PACKAGES["pure"])


@pytest.fixture
def figure(request: pytest.FixtureRequest):
    """Return a function that records the measured figure of a promise in the report.

    The function raises AssertionError if the figure is below ``least`` or above
    ``most``.
    """

    def note(promise, what, value, *, least=None, most=None, unit=""):
        test = request.node.nodeid.partition("[")[0]
        row = Figure(promise, what, value, test, least, most, unit)
        assert row.is_kept(), row.text()
        request.node.user_properties.append(("figure", row._asdict()))
        print(f"{promise}: {row.text()}")

    return note


@pytest.fixture(scope="module", autouse=True)
def freeze_garbage() -> None:
    """Exclude all existing objects from garbage collections during a test file.

    The collected suite has many objects, and tests that count objects run the garbage
    collector often.
    """
    gc.collect()
    gc.freeze()
