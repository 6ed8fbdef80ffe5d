# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Collects measured values from tests for the promise table.

``pytest --figures SOURCE`` activates the collector. ``make promises`` passes this
option.
"""

from __future__ import annotations

import pytest

from tools.generate.promises import Figure, record


class Figures:
    """Figures that the tests of this run have reported.

    If both engines report the same figure, the worse value is kept.
    """

    def __init__(self, source: str) -> None:
        """Start without figures. ``source`` is the file that records them."""
        self.source = source
        self.rows: dict[tuple[str, str, str], Figure] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store the figures of a test that has passed."""
        if report.when != "call" or not report.passed:
            return
        for kind, row in report.user_properties:
            if kind == "figure":
                new = Figure(**row)
                old = self.rows.setdefault((new.promise, new.what, new.test), new)
                worse = min if new.least is not None else max
                self.rows[new.promise, new.what, new.test] = worse(
                    old, new, key=lambda figure: figure.figure
                )

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Record the figures in the file ``source``, but only if the run has passed."""
        if exitstatus == 0 and self.rows:
            record(self.source, self.rows.values())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that ``make promises`` uses."""
    parser.addoption("--figures", metavar="SOURCE", help="record figures reached")


def pytest_configure(config: pytest.Config) -> None:
    """Register the collector in the main process, which receives all reports."""
    source = config.getoption("--figures")
    if source and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Figures(source))
