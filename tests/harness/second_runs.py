# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Marks the test runs on the Python engine that ``make test`` does not include.

Tests in directories outside ``BOTH`` only run on the compiled engine, because they test
code that is identical for both engines. Their run on the Python engine has the marker
``night``. ``make pure`` runs all tests without the compiled engine.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.engines import PACKAGES

TESTS = Path(__file__).parents[1]
BOTH = {"engine", "messages", "records", "safety", "schema"}
"""Directories whose tests run on both engines."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that run a second time, on the Python engine.

    The marker is ``night`` outside ``BOTH``. In these directories, it is ``gate``, but
    only for tests that have the marker ``gate_on_pure``.
    """
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
