# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: runs the tests on the installed wheel and its engine.

Tests that compare the two engines have nothing to compare where a wheel has one: they
are left out there by name of their fixture, and counted. What came of the others is
written down for ``installed.py``.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

import kwire

ENGINE = os.environ["KWIRE_INSTALLED_ENGINE"]
COUNTS = Path(os.environ["KWIRE_INSTALLED_COUNTS"])

counts: Counter[str] = Counter()


def pytest_configure() -> None:
    """Refuse to test anything else than the wheel."""
    if Path(kwire.__file__).parent.parent.name != "site-packages":
        raise pytest.UsageError(f"{kwire.__file__} is not an installed kwire")
    if kwire.backend != ENGINE:
        raise pytest.UsageError(f"this kwire runs {kwire.backend}, not {ENGINE}")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what compares engines where there is one."""
    if ENGINE == "fast":
        return
    both = [item for item in items if "twins" in getattr(item, "fixturenames", ())]
    items[:] = [item for item in items if item not in both]
    counts["left out"] = len(both)
    config.hook.pytest_deselected(items=both)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count each test once."""
    if report.when == "call" or report.outcome != "passed":
        counts[report.outcome] += 1


def pytest_sessionfinish() -> None:
    """Write down the counts."""
    COUNTS.write_text(json.dumps(counts), encoding="utf-8")
