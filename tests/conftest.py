# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""The fixtures of all tests. What else pytest needs here is in ``tests.harness``.

``kwire`` is the package on one engine; a test that takes it has a run on each
(``harness.second_runs``). ``twins`` is the package on both, for tests that
compare them.
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
    """The package on one engine; the test runs once on each."""
    return PACKAGES[request.param]


@pytest.fixture(scope="session")
def plain_kwire() -> ModuleType:
    """The package in plain Python, which every build has."""
    return PACKAGES["pure"]


@pytest.fixture(scope="session")
def twins() -> Twins:
    """Both engines at once. Only a pure build, which has none to compare, lacks it."""
    if "fast" not in PACKAGES:
        pytest.skip("this build has one engine, there is nothing to compare")
    return Twins(PACKAGES["fast"], PACKAGES["pure"])


@pytest.fixture
def figure(request: pytest.FixtureRequest):
    """Note a figure of a promise, and fail if it breaks its bound."""

    def note(promise, what, value, *, least=None, most=None, unit=""):
        test = request.node.nodeid.partition("[")[0]
        row = Figure(promise, what, value, test, least, most, unit)
        assert row.is_kept(), row.text()
        request.node.user_properties.append(("figure", row._asdict()))
        print(f"{promise}: {row.text()}")

    return note


@pytest.fixture(scope="module", autouse=True)
def freeze_garbage() -> None:
    """Spare what is alive before a file each look for garbage in its tests.

    A collected suite is many objects, and tests that count objects look often.
    """
    gc.collect()
    gc.freeze()
