# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Marks the runs on plain Python that ``make test`` leaves out.

The tests of folders that are not in ``BOTH`` run on the compiled engine alone: their
subject is above or below the engines and has the same code on both. Their second run
has the marker ``night``. ``make pure`` runs all tests with no compiled engine.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.engines import PACKAGES

TESTS = Path(__file__).parents[1]
BOTH = {"engine", "messages", "records", "safety", "schema"}
"""The folders whose tests run on both engines."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark second runs ``night``, or ``gate`` if the test has ``gate_on_pure``."""
    if len(PACKAGES) == 1:
        return
    for item in items:
        call = getattr(item, "callspec", None)
        if call is None or call.params.get("kwire") != "pure":
            continue
        if item.path.relative_to(TESTS).parts[0] not in BOTH:
            item.add_marker(pytest.mark.night)
        elif item.get_closest_marker("gate_on_pure"):
            item.add_marker(pytest.mark.gate)
