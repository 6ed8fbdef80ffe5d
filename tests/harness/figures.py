# SPDX-FileCopyrightText: 2026 The kwire authors
# SPDX-License-Identifier: Apache-2.0
"""Collects the figures of promises that tests note, for ``make promises``."""

from __future__ import annotations

import pytest

from tools.generate.promises import Figure, record


class Figures:
    """What the tests of a run reached; the worst of a figure's engines counts."""

    def __init__(self, source: str) -> None:
        """Begin with none; ``source`` names the file that they are recorded in."""
        self.source = source
        self.rows: dict[tuple[str, str, str], Figure] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the figures of one test that passed."""
        if report.when != "call" or not report.passed:
            return
        for kind, row in report.user_properties:
            if kind == "figure":
                new = Figure(**row)
                old = self.rows.setdefault((new.promise, new.what, new.test), new)
                worse = min if new.least is not None else max
                self.rows[new.promise, new.what, new.test] = worse(
                    old, new, key=lambda one: one.figure
                )

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write them down if the run passed."""
        if exitstatus == 0 and self.rows:
            record(self.source, self.rows.values())


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of ``make promises``."""
    parser.addoption("--figures", metavar="SOURCE", help="record figures reached")


def pytest_configure(config: pytest.Config) -> None:
    """Collect figures in the process that sees all reports."""
    source = config.getoption("--figures")
    if source and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Figures(source))
